"""Reductions (operations.md, section 42)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, overload

from xdsl.ir import SSAValue

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.recorder import Operand, all_normalized
from xla_dialect.builder.value import XlaValue
from xla_dialect.ops.reduction import ReduceOp
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
