"""How operations are computed on arrays in memory order: their dimension numbers change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.layouts.alignment import (
    Alignment,
    alignment_of,
    forwards_values,
    is_computable,
    is_pointwise,
    relisted,
    renumbered,
)
from lowerings.layouts.expansion import ExpandFunction, Expansion, Placed
from lowerings.layouts.memory_order import MemoryOrder, canonical, reshaped, sizes_of
from lowerings.layouts.orders import dot_result_order, is_free_reshape, renamed_order
from xla_dialect import ops
from xla_dialect.dimensions import OpOperand, Traversal, terminator
from xla_dialect.literals.arrays import from_numpy, to_numpy
from xla_dialect.op import Ints, XlaOp, decode
from xla_dialect.types import is_array
from xla_dialect.xdsl.operation_table import OperationTable


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
        expansion.value_in(value, order)
        if is_array(value.type) and len(sizes_of(value)) == rank
        else expansion.plain(value)
        for value in op.operands
    ]
    expansion.simplify_computations(op)
    return expansion.rebuild(op, operands, [order])


def _copy(op: Operation, expansion: Expansion) -> Sequence[Placed]:
    """The operand in the order of the result."""
    order = expansion.declared(op.results[0])
    return [(expansion.value_in(op.operands[0], order), order)]


def _transpose(op: ops.data_movement.TransposeOp, expansion: Expansion) -> Sequence[Placed] | None:
    """Nothing, where the result has the order that the operand has under other names."""
    order = expansion.order(op.operand)
    if order.tiles or expansion.declared(op.result).tiles:
        return None
    value = expansion.value_in(op.operand, order)
    return [(value, renamed_order(_integers(op, "dimensions"), order))]


def _aligned(alignment: Alignment, op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """With other numbers of dimensions, where operands and results follow one of them."""
    assert isinstance(op, XlaOp)
    count = len(op.operands)
    found = [expansion.order(value) for value in op.operands]
    found += [expansion.declared(value) for value in op.results]
    is_tiled = any(order.tiles for order in found[count:])
    if not alignment.is_free:
        lead = _lead(op, alignment, found)
        found = [alignment.follow(number, lead) for number in range(len(found))]
    if is_tiled or any(order.tiles for order in found) or not is_computable(op, found):
        return None
    operands = _in_orders(op.operands, found[:count], expansion)
    expansion.simplify_computations(op)
    properties = renumbered(op, found)
    return expansion.rebuild(op, relisted(op, operands, found), found[count:], properties)


def _lead(op: XlaOp, alignment: Alignment, found: Sequence[MemoryOrder]) -> MemoryOrder:
    """
    The order of the leader to compute in: its own.

    Where a static slice needs another order, a transpose in front of it fuses with what is before.
    """
    count = len(op.operands)
    lead = found[alignment.leader]
    of_result = alignment.lead(count, found[count])
    if alignment.leader == count or of_result is None or lead.tiles:
        return lead
    relations = op.dimension_relations()
    assert relations is not None
    if any(factor.along is Traversal.INDEXED for factor in relations.factors):
        return lead
    kept = canonical(alignment.follow(count, lead), sizes_of(op.results[0]))
    return lead if kept == found[count] else of_result


def _constant(op: ops.creation.ConstantOp, expansion: Expansion) -> Sequence[Placed] | None:
    """The literal in memory order."""
    order = expansion.declared(op.result)
    if order.tiles:
        return None
    found = to_numpy(op.value)
    value = from_numpy(cast(Any, found).transpose(order.major_to_minor))
    return expansion.rebuild(op, [], [order], {"value": value})


def _dot(op: ops.contraction.DotOp, expansion: Expansion) -> Sequence[Placed] | None:
    left, right = expansion.order(op.lhs), expansion.order(op.rhs)
    if left.tiles or right.tiles:
        return None
    properties = {
        name: _places(left if name.startswith("lhs") else right, _integers(op, name))
        for name in op.properties
    }
    values = [expansion.value_in(op.lhs, left), expansion.value_in(op.rhs, right)]
    return expansion.rebuild(op, values, [dot_result_order(op, left, right)], properties)


def _reshape(op: ops.data_movement.ReshapeOp, expansion: Expansion) -> Sequence[Placed] | None:
    """The bytes in memory, where they stay where they are."""
    before, after = expansion.order(op.operand), expansion.declared(op.result)
    before_sizes, after_sizes = sizes_of(op.operand), sizes_of(op.result)
    if not is_free_reshape(before_sizes, before, after_sizes, after):
        return None
    value = expansion.value_in(op.operand, before)
    return [(reshaped(expansion.insert, value, after.physical_sizes(after_sizes)), after)]


def _forwarding(op: Operation, expansion: Expansion) -> Sequence[Placed] | None:
    """
    What a loop or branch forwards to a result is in the order of that, throughout; its computations
    take other operands as they are.
    """
    assert isinstance(op, XlaOp)
    if not all(map(is_array, (*op.operand_types, *op.result_types))):
        return None
    of_values: dict[SSAValue, MemoryOrder] = {}
    of_operands: dict[OpOperand, MemoryOrder] = {}
    for edge in op.data_flow_edges():
        result = edge.result
        order = expansion.order(edge.sources[0].value)
        order = order if result is None else expansion.declared(result)
        of_values.update(dict.fromkeys(edge.targets, order))
        of_operands.update(dict.fromkeys(edge.sources, order))
    operands = [
        expansion.value_in(value, of_operands[OpOperand(op, i)])
        if OpOperand(op, i) in of_operands
        else expansion.plain(value)
        for i, value in enumerate(op.operands)
    ]
    for region in op.regions:
        arguments = [of_values[argument] for argument in region.block.args]
        last = terminator(region)
        expansion.expand_computation(
            region.block,
            arguments,
            [
                of_operands.get(OpOperand(last, i)) or MemoryOrder.default(len(sizes_of(value)))
                for i, value in enumerate(last.operands)
            ],
        )
    return expansion.rebuild(op, operands, [of_values[result] for result in op.results])


def _in_orders(
    values: Sequence[SSAValue], orders: Sequence[MemoryOrder], expansion: Expansion
) -> list[SSAValue]:
    return [expansion.value_in(value, order) for value, order in zip(values, orders, strict=True)]


FAMILIES = (
    OperationTable[ExpandFunction]()
    .add(ops.data_movement.CopyOp, _copy)
    .add(ops.data_movement.ReshapeOp, _reshape)
    .add(ops.data_movement.TransposeOp, _transpose)
    .add(ops.creation.ConstantOp, _constant)
    .add(ops.contraction.DotOp, _dot)
)
"""The operations that are computed in memory order in a way of their own."""


def expansion_of(op: Operation, touched: bool) -> ExpandFunction | None:
    """
    How an operation is computed in memory order; None if in default order.

    `touched`: whether an operand or result is in another one. Computations may be, in any case.
    """
    found = FAMILIES.get(type(op))
    if found is not None:
        return found
    if forwards_values(type(op)):
        return _forwarding
    if not touched:
        return None
    if is_pointwise(type(op)):
        return _elementwise if is_array(op.results[0].type) else None
    alignment = alignment_of(op)
    return None if alignment is None else partial(_aligned, alignment)
