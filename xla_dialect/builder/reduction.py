"""Reductions, over windows too, and `map` (docs/generated/ops.md#reduction)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, overload

from xdsl.ir import SSAValue

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.recorder import all_normalized
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.builder.window_arguments import Padding, make_window
from xla_dialect.ops.reduction import MapOp, ReduceOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.shapes.window import WindowAttr
from xla_dialect.types import array


class ReductionMethods(Computations):
    """Methods that fold many elements into one."""

    @overload
    def reduce(
        self,
        operands: XlaValue,
        init_values: Operand,
        computation: Computation,
        dimensions: Sequence[int],
    ) -> XlaValue: ...

    @overload
    def reduce(
        self,
        operands: Sequence[XlaValue],
        init_values: Sequence[Operand],
        computation: Computation,
        dimensions: Sequence[int],
    ) -> tuple[XlaValue, ...]: ...

    def reduce(
        self,
        operands: XlaValue | Sequence[XlaValue],
        init_values: Operand | Sequence[Operand],
        computation: Computation,
        dimensions: Sequence[int],
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        Folds the dimensions: `accumulator = computation(accumulator, element)` from `init_values`.

        Several operands of the same sizes are folded at once; the computation then takes all
        accumulators, then all elements, and returns all new accumulators.
        Example: `b.reduce(x, 0, b.add, [1])`.
        """
        inputs, inits = self._inputs_and_inits("reduce", operands, init_values)
        scalars = [array(value.element_type, ()) for value in inputs]
        results = self._append(
            ReduceOp,
            self._all_ssa(inputs),
            inits,
            dimensions=all_normalized(dimensions, inputs[0].rank if inputs else 0),
            regions=[self._region(computation, scalars * 2)],
        )
        return results[0] if isinstance(operands, XlaValue) else results

    @overload
    def reduce_window(
        self,
        operands: XlaValue,
        init_values: Operand,
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = "VALID",
    ) -> XlaValue: ...

    @overload
    def reduce_window(
        self,
        operands: Sequence[XlaValue],
        init_values: Sequence[Operand],
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = "VALID",
    ) -> tuple[XlaValue, ...]: ...

    def reduce_window(
        self,
        operands: XlaValue | Sequence[XlaValue],
        init_values: Operand | Sequence[Operand],
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = "VALID",
    ) -> XlaValue | tuple[XlaValue, ...]:
        """
        As `reduce`, for every placement of a window; there is one entry per dimension in each list.

        `padding`: "SAME", "VALID" or pairs (low, high). An empty list of strides or dilations means
        1. Example: `b.reduce_window(x, -np.inf, b.max, [2, 2], [2, 2], padding="SAME")`.
        """
        inputs, inits = self._inputs_and_inits("reduce_window", operands, init_values)
        window = make_window(
            "reduce_window",
            "C3",
            inputs[0].shape,
            window_dimensions,
            window_strides,
            padding,
            base_dilations,
            window_dilations,
        )
        scalars = [array(value.element_type, ()) for value in inputs]
        results = self._append(
            ReduceWindowOp,
            self._all_ssa(inputs),
            inits,
            window=WindowAttr(window),
            regions=[self._region(computation, scalars * 2)],
        )
        return results[0] if isinstance(operands, XlaValue) else results

    def select_and_scatter(
        self,
        operand: XlaValue,
        select: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Padding,
        source: XlaValue,
        init_value: Operand,
        scatter: Computation,
    ) -> XlaValue:
        """
        Adds up, with `scatter`, elements of `source` where `select` picks one in a window.

        The window slides as in `reduce_window`; the first element e with `select(e, other)` for all
        later ones is picked.
        Example: `b.select_and_scatter(x, b.ge, [2, 4], [2, 4], "VALID",
        b.slice(y, [0, 0], [2, 2]), 0, b.add)`.
        """
        ssa = self._checked_array(operand)
        window = make_window(
            "select_and_scatter",
            "C4",
            operand.shape,
            window_dimensions,
            window_strides,
            padding,
        )
        scalars = [array(operand.element_type, ())] * 2
        return self._append_one(
            SelectAndScatterOp,
            ssa,
            self._ssa(source, "source"),
            self._operand(init_value, operand.element_type, "init_value"),
            window=WindowAttr(window),
            regions=[self._region(select, scalars), self._region(scatter, scalars)],
        )

    def map(
        self,
        operands: Sequence[XlaValue],
        computation: Computation,
        dimensions: Sequence[int] | None = None,
    ) -> XlaValue:
        """
        A function of scalars at every index; `dimensions`, if given, are all in order.

        Example: `b.map([x, y], lambda p, q: b.max(p, q * 2))`.
        """
        values = self._all_ssa(operands)
        scalars = [array(value.element_type, ()) for value in operands]
        rank = operands[0].rank if operands else 0
        return self._append_one(
            MapOp,
            values,
            dimensions=None if dimensions is None else all_normalized(dimensions, rank),
            regions=[self._region(computation, scalars)],
        )

    def _inputs_and_inits(
        self,
        method: str,
        operands: XlaValue | Sequence[XlaValue],
        init_values: Operand | Sequence[Operand],
    ) -> tuple[Sequence[XlaValue], list[SSAValue]]:
        """Operands and init values as lists; a number takes the element type of its operand."""
        inputs = [operands] if isinstance(operands, XlaValue) else list(operands)
        inits = list(init_values) if isinstance(init_values, list | tuple) else [init_values]
        if len(inputs) != len(inits) or not inputs:
            raise build_error(f"{method}: (C1) {len(inputs)} operands and {len(inits)} init values")
        return inputs, [
            self._operand(init, value.element_type, f"init value {i}")
            for i, (init, value) in enumerate(
                zip(cast("list[Operand]", inits), inputs, strict=True)
            )
        ]
