"""Reductions, also over windows, `map`, scatter and sort: computations of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from xdsl.ir import Attribute

from xla_dialect.builder.caller import build_error
from xla_dialect.builder.computations import Computation, Computations
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.properties import all_normalized
from xla_dialect.builder.recorder import as_list
from xla_dialect.builder.value import Operand, XlaValue
from xla_dialect.builder.window_arguments import Padding, make_window
from xla_dialect.op import XlaOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import MapOp, ReduceOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.ops.sorting import SortOp
from xla_dialect.types import array

Values: TypeAlias = XlaValue | Sequence[XlaValue]
"""One value, or several."""
Operands: TypeAlias = Operand | Sequence[Operand]
"""As `Values`; numbers have the element types of the arrays that they belong to."""
Results: TypeAlias = XlaValue | tuple[XlaValue, ...]
"""One value for one operand, a tuple for a sequence of operands."""


def scalars(values: Values) -> list[Attribute]:
    """The types of single elements of the values."""
    return [array(value.element_type, ()) for value in as_list(values)]


class ReductionMethods(Computations):
    """Methods that fold, order and overwrite elements by a computation of their own."""

    @appends(ReduceOp)
    def reduce(
        self,
        operands: Values,
        init_values: Operands,
        computation: Computation,
        dimensions: Sequence[int],
    ) -> Results:
        """
        Folds the dimensions: `accumulator = computation(accumulator, element)` from `init_values`.

        Several operands of the same sizes are folded at once; the computation then takes all
        accumulators, then all elements, and returns all new accumulators.
        Example: `b.reduce(x, 0, b.add, [1])`.
        """
        return self._reduce(ReduceOp, operands, init_values, computation, dimensions=dimensions)

    @appends(ReduceWindowOp)
    def reduce_window(
        self,
        operands: Values,
        init_values: Operands,
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = "VALID",
    ) -> Results:
        """
        As `reduce`, for every placement of a window; there is one entry per dimension in each list.

        `padding`: "SAME", "VALID" or pairs (low, high). An empty list of strides or dilations means
        1. Example: `b.reduce_window(x, -np.inf, b.max, [2, 2], [2, 2], padding="SAME")`.
        """
        window = make_window(
            "reduce_window",
            "C3",
            next((value.shape for value in as_list(operands)), ()),
            window_dimensions,
            window_strides,
            padding,
            base_dilations,
            window_dilations,
        )
        return self._reduce(ReduceWindowOp, operands, init_values, computation, window=window)

    def _reduce(
        self,
        operation: type[XlaOp],
        operands: Values,
        init_values: Operands,
        computation: Computation,
        **properties: Any,
    ) -> Results:
        """Numbers among the init values take the element types of their operands."""
        inputs = as_list(operands)
        inits = list(init_values) if isinstance(init_values, list | tuple) else [init_values]
        if len(inputs) != len(inits) or not inputs:
            method = operation.name.removeprefix("xla.")
            raise build_error(f"{method}: (C1) {len(inputs)} operands and {len(inits)} init values")
        first = [
            self._operand(init, value.element_type, f"init value {i}")
            for i, (init, value) in enumerate(
                zip(cast("list[Operand]", inits), inputs, strict=True)
            )
        ]
        body = self._region(computation, scalars(inputs) * 2)
        return self._append(operation, operands, first, regions=[body], **properties)

    @appends(SelectAndScatterOp)
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
        window = make_window(
            "select_and_scatter",
            "C4",
            operand.shape,
            window_dimensions,
            window_strides,
            padding,
        )
        pair = scalars(operand) * 2
        return self._append(
            SelectAndScatterOp,
            operand,
            source,
            self._operand(init_value, operand.element_type, "init_value"),
            window=window,
            regions=[self._region(select, pair), self._region(scatter, pair)],
        )

    @appends(MapOp)
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
        body = self._region(computation, scalars(operands))
        if dimensions is not None and operands:
            dimensions = all_normalized(dimensions, operands[0].rank)
        return self._append(MapOp, operands, dimensions=dimensions, regions=[body])

    @appends(ScatterOp)
    def scatter(
        self,
        operands: Values,
        scatter_indices: XlaValue,
        updates: Values,
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> Results:
        """
        The arrays, with updates combined into windows that start where `scatter_indices` says.

        `update_computation` takes the current values, then the updates; to overwrite, return the
        latter. The numbers are those of `gather`, the other way round; a window that does not lie
        inside as a whole is skipped.
        Example: `b.scatter(x, k, b.slice(y, [0, 0], [3, 8]), b.add, 1, [1], [0], [0])`.
        """
        return self._append(
            ScatterOp,
            operands,
            scatter_indices,
            updates,
            index_vector_dim=index_vector_dim,
            update_window_dims=update_window_dims,
            inserted_window_dims=inserted_window_dims,
            scatter_dims_to_operand_dims=scatter_dims_to_operand_dims,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            input_batching_dims=input_batching_dims,
            scatter_indices_batching_dims=scatter_indices_batching_dims,
            regions=[self._region(update_computation, scalars(operands) * 2)],
        )

    @appends(SortOp)
    def sort(
        self,
        operands: Values,
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> Results:
        """
        Every line along a dimension sorted; several operands are sorted together, as tuples.

        The comparator takes two elements of each operand, one pair after the other, and says
        whether the first of the pairs come first. With NaN, `b.lt` is no order: that is
        `b.lt_total_order`. Example: `b.sort([x, n], lambda a, c, i, j: b.lt_total_order(a, c), 0)`.
        """
        pairs = [scalar for scalar in scalars(operands) for _ in range(2)]
        body = self._region(comparator, pairs)
        return self._append(
            SortOp, operands, dimension=dimension, is_stable=is_stable, regions=[body]
        )
