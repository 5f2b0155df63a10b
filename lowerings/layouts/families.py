"""How operations are computed on arrays in memory order: their dimension numbers change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.layouts.expansion import ExpandFunction, Expansion, Placed
from lowerings.layouts.memory_order import MemoryOrder, canonical, reshaped, sizes_of
from lowerings.layouts.orders import (
    ELEMENTWISE,
    dot_result_order,
    is_free_reshape,
    is_order_free,
    kept_order,
    renamed_order,
)
from xla_dialect import ops
from xla_dialect.literals.arrays import from_numpy, to_numpy
from xla_dialect.op import decode
from xla_dialect.shapes.size_arithmetic import permuted
from xla_dialect.types import is_array

Ints = tuple[int, ...]


def _dense(values: Sequence[int]) -> Attribute:
    return DenseArrayBase.from_list(i64, values)


def _integers(op: Operation, name: str) -> Ints:
    value = op.properties.get(name)
    return () if value is None else cast(Ints, decode(value))


def _places(order: MemoryOrder, dimensions: Sequence[int]) -> Attribute:
    """The numbers that dimensions have in memory order."""
    return _dense([order.place_of(d) for d in dimensions])


def _elementwise(op: Operation, expansion: Expansion) -> Sequence[Placed]:
    """In any order, tiled ones included; scalars go everywhere."""
    order = expansion.declared(op.results[0])
    rank = len(order.major_to_minor)
    operands = [
        expansion.value_in(value, order) if len(sizes_of(value)) == rank else expansion.plain(value)
        for value in op.operands
    ]
    expansion.simplify_computations(op)
    return expansion.rebuild(op, operands, [order])


def _copy(op: Operation, expansion: Expansion) -> Sequence[Placed]:
    """The operand in the order of the result."""
    order = expansion.declared(op.results[0])
    return [(expansion.value_in(op.operands[0], order), order)]


def _transpose(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """Nothing, where the result has the order that the operand has under other names."""
    assert isinstance(op, ops.data_movement.TransposeOp)
    order = expansion.order(op.operand)
    if order.tiles or expansion.declared(op.result).tiles:
        return None
    value = expansion.value_in(op.operand, order)
    return [(value, renamed_order(_integers(op, "dimensions"), order))]


def _takes_part(op: Operation, expansion: Expansion) -> bool:
    """
    Whether an operation takes a part of an array in the order that the array has.

    Where a static slice needs another order, a transpose in front of it fuses with what is before.
    """
    source, result = op.operands[0], op.results[0]
    if isinstance(op, ops.data_movement.SliceOp):
        found = canonical(expansion.order(source), sizes_of(result))
        return found == expansion.declared(result)
    return isinstance(op, ops.data_movement.DynamicSliceOp)


def _dimension_by_dimension(arrays: int, **names: str) -> ExpandFunction:
    """
    Operations that do the same to each dimension by itself; the first operands are the arrays.

    `names`: of properties with a value for each dimension, `lists`, and with the numbers of
    dimensions, `numbers`, separated by blanks.
    """
    lists, numbers = names.get("lists", "").split(), names.get("numbers", "").split()

    def expand(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
        result = op.results[0]
        order = expansion.declared(result)
        if arrays and _takes_part(op, expansion):
            order = expansion.order(op.operands[0])
        if order.tiles or expansion.declared(result).tiles:
            return None
        rest = [expansion.plain(value) for value in op.operands[arrays:]]
        if arrays and len(rest) == len(order.major_to_minor):
            rest = [rest[d] for d in order.major_to_minor]
        properties = dict(op.properties)
        for name in lists:
            properties[name] = _dense(permuted(_integers(op, name), order.major_to_minor))
        for name in numbers:
            properties[name] = _places(order, _integers(op, name))
        values = [expansion.value_in(value, order) for value in op.operands[:arrays]]
        return expansion.rebuild(op, [*values, *rest], [order], properties)

    return expand


def _concatenate(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    assert isinstance(op, ops.data_movement.ConcatenateOp)
    order = expansion.declared(op.result)
    if order.tiles:
        return None
    place = order.place_of(op.dimension.value.data)
    values = [expansion.value_in(value, order) for value in op.operands]
    return expansion.rebuild(op, values, [order], {"dimension": IntegerAttr(place, i64)})


def _broadcast(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    assert isinstance(op, ops.data_movement.BroadcastOp)
    before, after = expansion.order(op.operand), expansion.declared(op.result)
    if before.tiles or after.tiles:
        return None
    dimensions = permuted(_integers(op, "dimensions"), before.major_to_minor)
    value = expansion.value_in(op.operand, before)
    return expansion.rebuild(op, [value], [after], {"dimensions": _places(after, dimensions)})


def _iota(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    assert isinstance(op, ops.creation.IotaOp)
    order = expansion.declared(op.result)
    if order.tiles:
        return None
    place = order.place_of(op.iota_dimension.value.data)
    return expansion.rebuild(op, [], [order], {"iota_dimension": IntegerAttr(place, i64)})


def _constant(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """The literal in memory order."""
    assert isinstance(op, ops.creation.ConstantOp)
    order = expansion.declared(op.result)
    if order.tiles:
        return None
    found = to_numpy(op.value)
    value = from_numpy(cast(Any, found).transpose(order.major_to_minor))
    return expansion.rebuild(op, [], [order], {"value": value})


def _reduce(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    assert isinstance(op, ops.reduction.ReduceOp)
    order = expansion.order(op.inputs[0])
    dimensions = _integers(op, "dimensions")
    if order.tiles or not is_order_free(op, order):
        return None
    values = [expansion.value_in(value, order) for value in op.inputs]
    results = [kept_order(order, dimensions)] * len(values)
    values.extend(expansion.plain(value) for value in op.init_values)
    expansion.simplify_computations(op)
    properties = {**op.properties, "dimensions": _places(order, sorted(dimensions))}
    return expansion.rebuild(op, values, results, properties)


def _dot(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    assert isinstance(op, ops.contraction.DotOp)
    left, right = expansion.order(op.lhs), expansion.order(op.rhs)
    if left.tiles or right.tiles:
        return None
    properties = {
        name: _places(left if name.startswith("lhs") else right, _integers(op, name))
        for name in op.properties
    }
    values = [expansion.value_in(op.lhs, left), expansion.value_in(op.rhs, right)]
    return expansion.rebuild(op, values, [dot_result_order(op, left, right)], properties)


def _reshape(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """The bytes in memory, where they stay where they are."""
    assert isinstance(op, ops.data_movement.ReshapeOp)
    before, after = expansion.order(op.operand), expansion.declared(op.result)
    before_sizes, after_sizes = sizes_of(op.operand), sizes_of(op.result)
    if not is_free_reshape(before_sizes, before, after_sizes, after):
        return None
    value = expansion.value_in(op.operand, before)
    return [(reshaped(expansion.insert, value, after.physical_sizes(after_sizes)), after)]


def _while(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """What a loop carries is in the order of the loop's results."""
    assert isinstance(op, ops.control_flow.WhileOp)
    if not all(map(is_array, op.result_types)):
        return None
    orders = [expansion.declared(result) for result in op.results]
    operands = _in_orders(op.operands, orders, expansion)
    expansion.expand_computation(op.condition.block, orders)
    expansion.expand_computation(op.body.block, orders, orders)
    return expansion.rebuild(op, operands, orders)


def _conditional(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """Branches take their operands as they are; their results are in the order of the operation."""
    assert isinstance(op, ops.control_flow.ConditionalOp)
    if not all(map(is_array, (*op.operand_types, *op.result_types))):
        return None
    orders = [expansion.declared(result) for result in op.results]
    given = [expansion.order(value) for value in op.branch_operands]
    operands = _in_orders(op.branch_operands, given, expansion)
    start = 0
    for region in op.branch:
        count = len(region.block.args)
        expansion.expand_computation(region.block, given[start : start + count], orders)
        start += count
    return expansion.rebuild(op, [expansion.plain(op.branch_index), *operands], orders)


def _in_orders(
    values: Sequence[SSAValue], orders: Sequence[MemoryOrder], expansion: Expansion
) -> list[SSAValue]:
    return [expansion.value_in(value, order) for value, order in zip(values, orders, strict=True)]


_EACH_DIMENSION: dict[type[Operation], ExpandFunction] = {
    ops.data_movement.SliceOp: _dimension_by_dimension(
        1, lists="start_indices limit_indices strides"
    ),
    ops.data_movement.PadOp: _dimension_by_dimension(
        1, lists="edge_padding_low edge_padding_high interior_padding"
    ),
    ops.data_movement.ReverseOp: _dimension_by_dimension(1, numbers="dimensions"),
    ops.data_movement.DynamicSliceOp: _dimension_by_dimension(1, lists="dynamic_slice_sizes"),
    ops.data_movement.DynamicUpdateSliceOp: _dimension_by_dimension(2),
}

FAMILIES: dict[type[Operation], ExpandFunction] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **_EACH_DIMENSION,
    ops.data_movement.BroadcastOp: _broadcast,
    ops.data_movement.ConcatenateOp: _concatenate,
    ops.data_movement.CopyOp: _copy,
    ops.data_movement.ReshapeOp: _reshape,
    ops.data_movement.TransposeOp: _transpose,
    ops.creation.ConstantOp: _constant,
    ops.creation.IotaOp: _iota,
    ops.reduction.ReduceOp: _reduce,
    ops.contraction.DotOp: _dot,
    ops.control_flow.WhileOp: _while,
    ops.control_flow.ConditionalOp: _conditional,
}
"""The operations that are computed in memory order; all others are in default order."""
