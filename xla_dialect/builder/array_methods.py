"""
The methods on arrays that do not follow from a class alone (docs/generated/builder.md).

Their callers say numbers, sizes and windows in more ways than operations have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute

from xla_dialect.attributes import RandomAlgorithm, RandomDistribution
from xla_dialect.builder.arguments import (
    ArrayLike,
    ElementTypeLike,
    Padding,
    TypeLike,
    all_normalized,
    as_array,
    as_array_type,
    as_element_type,
    as_sizes,
    as_type,
    build_error,
    make_window,
    names_element_type,
)
from xla_dialect.builder.operation_methods import appends
from xla_dialect.builder.recorder import (
    Computation,
    Computations,
    Operand,
    XlaValue,
    as_list,
    violated,
)
from xla_dialect.constraints import require_same_elements
from xla_dialect.literals.arrays import from_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement as ops
from xla_dialect.ops.contraction import ConvolutionOp, DotOp, RaggedDotOp, ScaledDotOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp, SetDimensionSizeOp
from xla_dialect.ops.elementwise import ClampOp, SelectOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.random import RngBitGeneratorOp, RngOp
from xla_dialect.ops.reduction import MapOp, ReduceOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.ops.sorting import SortOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.shapes.size_arithmetic import Sizes, is_ascending
from xla_dialect.shapes.window import ConvolutionLabels, Window
from xla_dialect.types import (
    PRED,
    S32,
    array,
    array_like,
    is_array,
    is_scalar,
    spell,
    spell_all,
    tuple_elements,
)
from xla_dialect.violations import Violation, require


class PaddingDimension(NamedTuple):
    """How `pad` treats one dimension; negative edge padding removes elements."""

    edge_padding_low: int = 0
    edge_padding_high: int = 0
    interior_padding: int = 0
    """How many copies of the padding value come between two neighbouring elements."""


Values: TypeAlias = XlaValue | Sequence[XlaValue]
"""One value, or several."""


Operands: TypeAlias = Operand | Sequence[Operand]
"""As `Values`; numbers have the element types of the arrays that they belong to."""


Results: TypeAlias = XlaValue | tuple[XlaValue, ...]
"""One value for one operand, a tuple for a sequence of operands."""


@dataclass(frozen=True)
class DotDimensionNumbers:
    """Which dimensions of the operands of `dot_general` are summed over, and which go in pairs."""

    lhs_contracting_dimensions: Sequence[int] = ()
    rhs_contracting_dimensions: Sequence[int] = ()
    lhs_batch_dimensions: Sequence[int] = ()
    rhs_batch_dimensions: Sequence[int] = ()

    def properties(self, lhs: XlaValue, rhs: XlaValue) -> dict[str, Sizes]:
        """The properties of an operation on these operands."""
        return {
            "lhs_batch_dims": all_normalized(self.lhs_batch_dimensions, lhs.rank),
            "lhs_contracting_dims": all_normalized(self.lhs_contracting_dimensions, lhs.rank),
            "rhs_batch_dims": all_normalized(self.rhs_batch_dimensions, rhs.rank),
            "rhs_contracting_dims": all_normalized(self.rhs_contracting_dimensions, rhs.rank),
        }


class ArrayMethods(Computations):
    """
    Methods that make arrays, choose between them, move, fold and multiply their elements.

    Of products, `preferred_element_type` is that of the result, and of sums of integers; without
    it, it is that of the operands, which have the same one in any case.
    """

    @appends(ConstantOp)
    def constant(
        self, value: ArrayLike | tuple[object, ...], shape: TypeLike | ElementTypeLike | None = None
    ) -> XlaValue:
        """
        A constant: an array, a number, lists of numbers, or a Python tuple of these for a tuple.

        `shape` is its type, or its element type only. Without it, arrays keep their element type;
        Python numbers are pred, s32, f32 or c64. A number with the type of an array fills it.
        Raises BuildError where `shape` would not hold the value, up to rounding.

        Example: `b.constant([[1, 2], [3, 4]], "f32")`.
        """
        if isinstance(value, XlaValue):
            raise build_error("constant: this is a value already")
        if shape is None:
            return self._append(ConstantOp, value=_literal(value, None))
        if names_element_type(shape):
            element_type = as_element_type(cast("ElementTypeLike", shape))
            return self._literal(as_array(value, element_type))
        type_ = as_type(cast("TypeLike", shape))
        if is_array(type_) and np.ndim(cast(Any, value)) == 0 and type_.has_static_shape():
            scalar = self._literal(as_array(value, type_.element_type))
            return self._expanded(scalar, type_.get_shape(), ())
        return self._append(ConstantOp, value=_literal(value, type_))

    @appends(RngOp)
    def rng_normal(self, mu: Operand, sigma: Operand, shape: TypeLike) -> XlaValue:
        """
        Numbers of a normal distribution with mean `mu` and standard deviation `sigma`.

        Example: `b.rng_normal(0, 1, "f32[4,8]")`.
        """
        return self._rng(RandomDistribution.NORMAL, mu, sigma, shape)

    @appends(RngOp)
    def rng_uniform(self, a: Operand, b: Operand, shape: TypeLike) -> XlaValue:
        """
        Numbers of the half-open interval [a, b), all equally likely.

        Example: `b.rng_uniform(0, 10, "s32[4,8]")`.
        """
        return self._rng(RandomDistribution.UNIFORM, a, b, shape)

    def _rng(
        self, distribution: RandomDistribution, a: Operand, b: Operand, shape: TypeLike
    ) -> XlaValue:
        type_ = as_array_type(shape)
        return self._append(
            RngOp,
            self._operand(a, type_.element_type, "the first parameter"),
            self._operand(b, type_.element_type, "the second parameter"),
            [],
            distribution=distribution,
            result_types=[type_],
        )

    @appends(RngBitGeneratorOp)
    def rng_bit_generator(
        self, algorithm: RandomAlgorithm | str, initial_state: XlaValue, shape: TypeLike
    ) -> tuple[XlaValue, ...]:
        """
        The state to go on with, and random bits that follow from the initial state alone.

        `algorithm`: rng_three_fry (state u64[2]), rng_philox (u64[2] or u64[3]) or
        rng_default (u64[2] or more).
        Example: `b.rng_bit_generator("rng_philox", b.constant([1, 2], "u64"), "u32[8]")`.
        """
        result_types = [initial_state.type, as_array_type(shape)]
        return self._append(
            RngBitGeneratorOp, initial_state, algorithm=algorithm, result_types=result_types
        )

    @appends(ClampOp)
    def clamp(self, min: Operand, operand: XlaValue, max: Operand) -> XlaValue:
        """
        `min(max(min, operand), max)`; the bounds are scalars or as large as the operand.

        NaN in any of them gives NaN. Example: `b.clamp(0, x, 1)`.
        """
        low = self._operand(min, operand.element_type, "min")
        high = self._operand(max, operand.element_type, "max")
        return self._append(ClampOp, low, operand, high)

    @appends(SelectOp)
    def select(self, pred: XlaValue, on_true: Operand, on_false: Operand) -> XlaValue:
        """
        `pred ? on_true : on_false`, element by element.

        A scalar `pred` picks one of the two as a whole, and these may then be tuples: (C2) both of
        one type, and (C4) only so. A scalar or a number goes with arrays in the other places.

        Example: `b.select(p, x, 0)`.
        """
        self._ssa(pred, "pred")
        for chosen in (on_true, on_false):
            if isinstance(chosen, XlaValue) and tuple_elements(chosen.type) is not None:
                return self._select_tuple(pred, on_true, on_false)
        pair = self._pair("select", on_true, on_false)
        sizes = [value.shape for value in (*pair, pred)]
        common = next((found for found in sizes if found), ())
        chosen = (v if v.shape else self._expanded(v, common, ()) for v in pair)
        return self._append(SelectOp, pred, *chosen)

    def _select_tuple(self, pred: XlaValue, on_true: Operand, on_false: Operand) -> XlaValue:
        """Tuples count as scalars, as a whole; in HLO each of their elements is selected."""
        left, right = self._ssa(on_true, "on_true"), self._ssa(on_false, "on_false")
        if left.type != right.type:
            found = spell_all([left.type, right.type])
            raise build_error(f"select: (C2) on_true and on_false are {found}")
        if not is_scalar(pred.type, PRED):
            raise build_error(f"select: (C4) pred is {spell(pred.type)}, the others are tuples")
        pairs = zip(cast(XlaValue, on_true), cast(XlaValue, on_false), strict=True)
        return self._append(TupleOp, [self.select(pred, *pair) for pair in pairs])

    @appends(ops.BroadcastOp)
    def broadcast(self, operand: XlaValue, broadcast_sizes: Sequence[int]) -> XlaValue:
        """
        The array, repeated along new leading dimensions. (C2) their sizes are not negative.

        Example: `b.broadcast(v, [2, 3])`.
        """
        before, new = operand.shape, as_sizes(broadcast_sizes)
        if any(size < 0 for size in new):
            raise build_error(f"broadcast: (C2) broadcast_sizes are {list(new)}")
        result = array(operand.element_type, (*new, *before))
        return self._append(
            ops.BroadcastOp,
            operand,
            dimensions=range(len(new), len(new) + len(before)),
            result_types=[result],
        )

    @appends(ops.BroadcastOp)
    def broadcast_in_dim(
        self,
        operand: XlaValue,
        out_dim_size: Sequence[int],
        broadcast_dimensions: Sequence[int],
    ) -> XlaValue:
        """
        The array of sizes `out_dim_size`; dimension i becomes `broadcast_dimensions[i]`.

        Size 1 is stretched, and values are repeated along the other dimensions.

        (C1) there is an entry for each dimension of the operand. (C2) the rank does not get less.
        (C3) entries are dimensions of the result, and ascend. (C4) sizes are 1, or those of the
        result. (C5) sizes of the result are not negative.

        Example: `b.broadcast_in_dim(v, [4, 8], [1])`.
        """
        self._ssa(operand)
        sizes = as_sizes(out_dim_size)
        try:
            _require_in_dim(operand.shape, sizes, broadcast_dimensions)
        except Violation as violation:
            raise violated("broadcast_in_dim", violation) from None
        return self._expanded(operand, sizes, broadcast_dimensions)

    @appends(ops.ReshapeOp)
    def collapse(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        """
        The array with neighbouring dimensions made one, the first of them slowest.

        (C1) the dimensions are neighbours, in order.

        Example: `b.collapse(x, [0, 1])`.
        """
        sizes = operand.shape
        found = all_normalized(dimensions, len(sizes))
        self._ssa(operand)
        first, last = (found[0], found[-1]) if found else (0, -1)
        if found != tuple(range(first, last + 1)) or first < 0 or last >= len(sizes):
            raise build_error(
                f"collapse: (C1) {list(dimensions)} are not neighbouring dimensions, in order, "
                f"of rank {len(sizes)}"
            )
        if len(found) < 2:
            return operand
        collapsed = (*sizes[:first], prod(sizes[first : last + 1]), *sizes[last + 1 :])
        result = array(operand.element_type, collapsed)
        return self._append(ops.ReshapeOp, operand, result_types=[result])

    @appends(ops.ReshapeOp)
    def reshape(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        """
        The elements in row-major order, in an array of sizes `dimensions`.

        (C1) these are not negative.

        Example: `b.reshape(x, [2, 2, 8])`.
        """
        sizes = as_sizes(dimensions)
        if any(size < 0 for size in sizes):
            raise build_error(f"reshape: (C1) sizes are {list(sizes)}")
        result = array(operand.element_type, sizes)
        return self._append(ops.ReshapeOp, operand, result_types=[result])

    @appends(ops.SliceOp)
    def slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[int],
        limit_indices: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> XlaValue:
        """
        Every `strides[d]`-th element from start to before limit, per dimension.

        Example: `b.slice(x, [0, 2], [4, 8], [1, 2])`.
        """
        return self._append(
            ops.SliceOp,
            operand,
            start_indices=start_indices,
            limit_indices=limit_indices,
            strides=[1] * operand.rank if strides is None else strides,
        )

    @appends(ops.PadOp)
    def pad(
        self,
        operand: XlaValue,
        padding_value: Operand,
        padding_config: Sequence[PaddingDimension | tuple[int, int] | tuple[int, int, int]],
    ) -> XlaValue:
        """
        The array with copies of `padding_value` around and between its elements.

        `padding_config`: (C2) per dimension (low, high) or (low, high, interior), as
        `PaddingDimension` names them. Example: `b.pad(x, 0, [(1, 1), (0, 2, 1)])`.
        """
        value = self._operand(padding_value, operand.element_type, "padding_value")
        if any(len(entry) not in (2, 3) for entry in padding_config):
            raise build_error(f"pad: (C2) entries of {list(padding_config)} are no (low, high)")
        config = [PaddingDimension(*entry) for entry in padding_config]
        return self._append(
            ops.PadOp,
            operand,
            value,
            edge_padding_low=[entry.edge_padding_low for entry in config],
            edge_padding_high=[entry.edge_padding_high for entry in config],
            interior_padding=[entry.interior_padding for entry in config],
        )

    @appends(ops.DynamicSliceOp)
    def dynamic_slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[XlaValue | int],
        size_indices: Sequence[int],
    ) -> XlaValue:
        """
        The box of sizes `size_indices` at a start that is computed, and clamped to fit.

        One scalar, or Python integer, per dimension. Example: `b.dynamic_slice(x, [i, 0], [2, 8])`.
        """
        return self._append(
            ops.DynamicSliceOp,
            operand,
            self._start_indices(start_indices),
            dynamic_slice_sizes=size_indices,
        )

    @appends(ops.DynamicUpdateSliceOp)
    def dynamic_update_slice(
        self, operand: XlaValue, update: XlaValue, start_indices: Sequence[XlaValue | int]
    ) -> XlaValue:
        """
        The array with the box at a computed start replaced by `update`.

        The start is clamped so that the box fits. Example: `b.dynamic_update_slice(x, x, [i, 0])`.
        """
        return self._append(
            ops.DynamicUpdateSliceOp,
            operand,
            update,
            self._start_indices(start_indices),
        )

    def _start_indices(self, indices: Sequence[XlaValue | int]) -> list[XlaValue]:
        """Scalars; Python integers have the type of the other indices, s32 if there are none."""
        given = (index.element_type for index in indices if isinstance(index, XlaValue))
        element_type = next(given, S32)
        return [
            self._operand(index, element_type, f"start index {i}")
            for i, index in enumerate(indices)
        ]

    @appends(SetDimensionSizeOp)
    def set_dimension_size(
        self, operand: XlaValue, size: XlaValue | int, dimension: int
    ) -> XlaValue:
        """Example: `b.set_dimension_size(x, i, 0)`."""
        count = self._operand(size, S32, "size")
        return self._append(SetDimensionSizeOp, operand, count, dimension=dimension)

    @appends(DynamicReshapeOp)
    def dynamic_reshape(
        self, operand: XlaValue, dim_sizes: Sequence[XlaValue | int], shape: TypeLike
    ) -> XlaValue:
        """
        The elements in row-major order, in an array of computed sizes that `shape` bounds.

        Example: `b.dynamic_reshape(x, [i, 8], "f32[<=4,8]")`.
        """
        sizes = [self._operand(size, S32, f"size {d}") for d, size in enumerate(dim_sizes)]
        return self._append(DynamicReshapeOp, operand, sizes, result_types=[as_array_type(shape)])

    @appends(ConvertOp)
    def convert_element_type(
        self, operand: XlaValue, new_element_type: ElementTypeLike
    ) -> XlaValue:
        """Example: `b.convert_element_type(x, "bf16")`."""
        result = array_like(operand.array_type, as_element_type(new_element_type))
        return self._append(ConvertOp, operand, result_types=[result])

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

    @appends(DotOp)
    def dot(self, lhs: XlaValue, rhs: XlaValue) -> XlaValue:
        """
        The product of vectors and matrices, over the last dimension of `lhs`, the first of `rhs`.

        (C2) operands of other ranks there are not.

        Example: `b.dot(x, v)`.
        """
        for operand in (lhs, rhs):
            self._ssa(operand)
            if operand.rank not in (1, 2):
                raise build_error(
                    f"dot: (C2) {spell(operand.type)} is neither a vector nor a matrix; "
                    "dot_general takes any rank, mul scalars"
                )
        numbers = DotDimensionNumbers([lhs.rank - 1], [0])
        return self.dot_general(lhs, rhs, numbers)

    @appends(DotOp)
    def dot_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        Sums of products over the contracting dimensions, for each index of the batch dimensions.

        The result has the batch dimensions, those left of `lhs`, and those left of `rhs`.

        (C1) both operands have the same element type.
        Example: `b.dot_general(x, y, DotDimensionNumbers([1], [1]), "f64")`.
        """
        properties = dimension_numbers.properties(lhs, rhs)
        return self._contract(
            "dot_general", "C1", DotOp, lhs, rhs, preferred=preferred_element_type, **properties
        )

    @appends(RaggedDotOp)
    def ragged_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        group_sizes: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        lhs_ragged_dimensions: Sequence[int],
        rhs_group_dimensions: Sequence[int] = (),
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        A dot whose one ragged dimension of `lhs` is cut into groups, each with its part of `rhs`.

        (C1) both operands have the same element type.

        Example: `b.ragged_dot(x, b.broadcast(x, [3]), k, DotDimensionNumbers([1], [2]), [0], [0])`.
        """
        return self._contract(
            "ragged_dot",
            "C1",
            RaggedDotOp,
            lhs,
            rhs,
            group_sizes,
            preferred=preferred_element_type,
            lhs_ragged_dims=all_normalized(lhs_ragged_dimensions, lhs.rank),
            rhs_group_dims=all_normalized(rhs_group_dimensions, rhs.rank),
            **dimension_numbers.properties(lhs, rhs),
        )

    @appends(ScaledDotOp)
    def scaled_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        lhs_scale: XlaValue,
        rhs_scale: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        A dot of operands whose blocks are multiplied by scales first; a scalar scale is none.

        (C1) both operands have the same element type.

        Example: `b.scaled_dot(x, v, b.slice(x, [0, 0], [2, 2]), s, DotDimensionNumbers([1], [0]))`.
        """
        return self._contract(
            "scaled_dot",
            "C1",
            ScaledDotOp,
            lhs,
            rhs,
            lhs_scale,
            rhs_scale,
            preferred=preferred_element_type,
            **dimension_numbers.properties(lhs, rhs),
        )

    @appends(ConvolutionOp)
    def conv(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        The convolution of `lhs` [batch, feature, spatial..] with `rhs` [output, input, spatial..].

        `padding`: "SAME" (the sizes of the input, were the strides 1), "VALID" (none), or pairs.
        Example: `b.conv(b.reshape(x, [1, 4, 8]), b.reshape(x, [2, 4, 4]), [1], "SAME")`.
        """
        return self.conv_with_general_padding(
            lhs,
            rhs,
            window_strides,
            padding,
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
            preferred_element_type=preferred_element_type,
        )

    @appends(ConvolutionOp)
    def conv_with_general_padding(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        lhs_dilation: Sequence[int] = (),
        rhs_dilation: Sequence[int] = (),
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        As `conv`; `padding` has a pair (low, high) per spatial dimension, which may be negative.

        Dilation d puts d - 1 zeros between neighbouring elements of the input (`lhs_dilation`), or
        of the kernel (`rhs_dilation`). (C1) each list has an entry for each spatial dimension.

        Example: `b.conv_with_general_padding(b.broadcast(x, [1]), b.broadcast(y, [2]), [2],
        [(0, 7)])`.
        """
        spatial = max(lhs.rank - 2, 0)
        digits = "".join(map(str, range(spatial)))
        window = make_window(
            "conv_with_general_padding",
            "C1",
            lhs.shape[2:],
            rhs.shape[2:],
            window_strides,
            padding,
            lhs_dilation,
            rhs_dilation,
        )
        return self.conv_general(
            lhs,
            rhs,
            window,
            f"bf{digits}_oi{digits}->bf{digits}",
            feature_group_count,
            batch_group_count,
            preferred_element_type=preferred_element_type,
        )

    @appends(ConvolutionOp)
    def conv_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window: Window | str,
        dim_labels: ConvolutionLabels | str,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        """
        The convolution with any order of dimensions; window and labels as HLO text has them.

        (C2) both operands have the same element type.

        Example: `b.conv_general(b.broadcast(x, [1]), b.broadcast(y, [5]), "size=4",
        "b0f_o0i->b0f")`.
        """
        return self._contract(
            "conv_general",
            "C2",
            ConvolutionOp,
            lhs,
            rhs,
            preferred=preferred_element_type,
            window=window,
            dim_labels=dim_labels,
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
        )

    def _contract(
        self,
        method: str,
        label: str,
        op_class: type[XlaOp],
        lhs: XlaValue,
        rhs: XlaValue,
        *others: XlaValue,
        preferred: ElementTypeLike | None = None,
        **properties: Any,
    ) -> XlaValue:
        """Appends a contraction; `label`: of the rule that operands have one element type."""
        try:
            require_same_elements(lhs.array_type, rhs.array_type, "lhs and rhs", label)
        except Violation as violation:
            raise violated(method, violation) from None
        element_type = None if preferred is None else as_element_type(preferred)
        return self._append(op_class, lhs, rhs, *others, element_type=element_type, **properties)


def _literal(value: object, type_: Attribute | None) -> Attribute:
    """The literal of a value, of this type or else of the one that the value has."""
    if isinstance(type_, TupleType) or (type_ is None and isinstance(value, tuple)):
        if not isinstance(value, list | tuple):
            raise build_error(f"constant: a Python {type(value).__name__} is not a tuple")
        elements = cast("Sequence[object]", value)
        types = [None] * len(elements) if type_ is None else type_.types.data
        if len(elements) != len(types):
            raise build_error(
                f"constant: {len(elements)} elements for the tuple {spell(cast(Attribute, type_))}"
            )
        return ArrayAttr([_literal(*pair) for pair in zip(elements, types, strict=True)])
    if type_ is None:
        return from_numpy(as_array(value))
    if not is_array(type_):
        raise build_error(f"constant: there are no constants of type {spell(type_)}")
    array = as_array(value, type_.element_type)
    if array.shape != type_.get_shape():
        raise build_error(
            f"constant: the value has sizes {list(array.shape)}, not those of {spell(type_)}"
        )
    return from_numpy(array, type_)


def _require_in_dim(
    before: Sequence[int], after: Sequence[int], broadcast_dimensions: Sequence[int]
) -> None:
    """The constraints of `broadcast_in_dim`; raises Violation (C1) to (C5)."""
    dimensions = list(broadcast_dimensions)
    rank = len(after)
    require(
        len(dimensions) == len(before),
        "C1",
        "broadcast_dimensions {} for an array of rank {}",
        dimensions,
        len(before),
    )
    require(len(before) <= rank, "C2", "an array of rank {} becomes one of {}", len(before), rank)
    require(
        all(0 <= d < rank for d in dimensions) and is_ascending(dimensions),
        "C3",
        "broadcast_dimensions {} are not ascending dimensions of rank {}",
        dimensions,
        rank,
    )
    require(all(size >= 0 for size in after), "C5", "out_dim_size is {}", list(after))
    for size, d in zip(before, dimensions, strict=True):
        require(
            size in (1, after[d]), "C4", "size {} becomes {} in dimension {}", size, after[d], d
        )


def scalars(values: Values) -> list[Attribute]:
    """The types of single elements of the values."""
    return [array(value.element_type, ()) for value in as_list(values)]
