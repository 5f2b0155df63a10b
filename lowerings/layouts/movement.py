"""How many bytes the operations of a program move because of layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, Operation, SSAValue

from lowerings.layouts.alignment import (
    Alignment,
    alignment_of,
    edges_of,
    forwards_values,
    is_computable,
    is_free_reshape,
    renamed_order,
    reshaped_order,
)
from lowerings.layouts.memory_order import (
    MemoryOrder,
    canonical,
    memory_order,
)
from xla_dialect import ops
from xla_dialect.dimensions import OpOperand
from xla_dialect.op import XlaOp
from xla_dialect.types import Array, byte_size, is_array
from xla_dialect.xdsl.traversal import tensor_shape

OrderOf: TypeAlias = Callable[[SSAValue], MemoryOrder]
"""The order that an array has, or may be given."""

Choice: TypeAlias = tuple[SSAValue, MemoryOrder]

Mover: TypeAlias = Operation | OpOperand
"""What moves data: an operation, or an array that a function returns. It may return thousands."""


def movers(block: Block) -> Iterator[Mover]:
    """
    The operations of a block and of loops and branches in it, with the arrays that the function
    returns one by one; no computations on scalars.
    """
    for op in block.ops:
        if isinstance(op, func.ReturnOp):
            yield from (OpOperand(op, index) for index, _ in _arrays(op.operands))
            continue
        yield op
        if op.regions and forwards_values(type(op)):
            for region in op.regions:
                yield from movers(region.block)


def bytes_moved(module: ModuleOp) -> tuple[int, int]:
    """
    What copies move at the xla level, written ones and those where operands meet an operation in
    another order, and what transposes move; raises LayoutNotLowered.
    """
    copied = transposed = 0
    for function in module.ops:
        if isinstance(function, func.FuncOp) and function.body.blocks:
            for op in movers(function.body.block):
                moved = bytes_moved_by(op, declared_order)
                if isinstance(op, ops.data_movement.TransposeOp):
                    transposed += moved
                else:
                    copied += moved
    return copied, transposed


def declared_order(value: SSAValue) -> MemoryOrder:
    """The order that the type of an array says, without padding; raises LayoutNotLowered."""
    order = memory_order(cast(Array, value.type)).without_padding
    return canonical(order, tensor_shape(value))


def bytes_moved_by(op: Mover, order_of: OrderOf) -> int:
    """
    The sizes of the arrays that one operation brings to another order, if arrays are in these
    orders: each array counts once, and so does a transpose that does more than rename dimensions.
    """
    if isinstance(op, OpOperand):
        return 0 if order_of(op.value) == _returned_order(op) else _bytes(op.value)
    if isinstance(op, ops.data_movement.TransposeOp):
        return _moved_by_transpose(op, order_of)
    rule = _rule_of(op, order_of)
    return _out_of_default(op, order_of) if rule is None else rule.moved(op, order_of)


def bytes_read_apart(op: Mover, order_of: OrderOf) -> int:
    """
    The bytes of an array of which a slice takes single elements of the rows in memory.

    Nothing is moved, but in a loop the array had better be brought to another order once.
    """
    if not isinstance(op, ops.data_movement.DynamicSliceOp):
        return 0
    order = order_of(op.operand)
    if order.is_default or order.tiles:
        return 0
    minor = order.major_to_minor[-1]
    is_cut = tensor_shape(op.result)[minor] < tensor_shape(op.operand)[minor]
    return _bytes(op.operand) if is_cut else 0


def orders_that_agree(op: Mover, value: SSAValue, order_of: OrderOf) -> list[Choice]:
    """
    Orders for the other operands and results of an operation with which it moves nothing.

    `value` is one of its operands or results, or what a computation of it returns.
    """
    if isinstance(op, OpOperand):
        return [(op.value, _returned_order(op))]
    rule = _rule_of(op, order_of)
    return [] if rule is None else list(rule.agree(op, value, order_of))


def misplaced(op: Operation, order_of: OrderOf) -> Iterator[tuple[Operation, int, MemoryOrder]]:
    """The operands that have to be copied: where they are operands, and the order they need."""
    rule = _rule_of(op, order_of)
    if isinstance(op, ops.data_movement.TransposeOp):
        # It moves what it reads anyway.
        return
    if rule is not None:
        yield from rule.misplaced(op, order_of)
    elif isinstance(op, XlaOp) and not isinstance(op, ops.control_flow.ReturnOp):
        for index, operand in _arrays(op.operands):
            if not order_of(operand).is_default:
                yield op, index, MemoryOrder.default(len(tensor_shape(operand)))


def _choice(value: SSAValue, order: MemoryOrder) -> Choice:
    return value, canonical(order, tensor_shape(value))


def _default_order(value: SSAValue) -> MemoryOrder:
    return MemoryOrder.default(len(tensor_shape(value)) if is_array(value.type) else 0)


def _bytes(value: SSAValue) -> int:
    return byte_size(cast(Array, value.type))


def _arrays(values: Iterable[SSAValue]) -> Iterator[tuple[int, SSAValue]]:
    return (
        (number, value) for number, value in enumerate(values) if isinstance(value.type, TensorType)
    )


def _out_of_default(op: Operation, order_of: OrderOf) -> int:
    """Of an operation that is computed in default order only."""
    if not isinstance(op, XlaOp) or isinstance(op, ops.control_flow.ReturnOp):
        return 0
    values = (value for _, value in _arrays((*op.operands, *op.results)))
    return sum(_bytes(value) for value in values if not order_of(value).is_default)


def _moved_by_transpose(op: ops.data_movement.TransposeOp, order_of: OrderOf) -> int:
    before, after = order_of(op.operand), order_of(op.result)
    if not before.tiles and not after.tiles:
        if _choice(op.result, renamed_order(op, before))[1] == after:
            return 0
    return _bytes(op.result)


class LayoutRule:
    """What operations of a kind ask of the orders of their operands and results."""

    def moved(self, op: Operation, order_of: OrderOf) -> int:
        """Bytes, but for transposes."""
        return sum(_bytes(user.operands[index]) for user, index, _ in self.misplaced(op, order_of))

    def agree(self, op: Operation, value: SSAValue, order_of: OrderOf) -> Iterable[Choice]:
        """As `orders_that_agree`."""
        return ()

    def misplaced(
        self, op: Operation, order_of: OrderOf
    ) -> Iterable[tuple[Operation, int, MemoryOrder]]:
        """As the function of this name."""
        return ()


@dataclass(frozen=True)
class _Aligned(LayoutRule):
    """Operands and results follow one of them, as the relations of their dimensions have it."""

    alignment: Alignment

    def _wanted(self, op: Operation, lead: MemoryOrder) -> list[MemoryOrder] | None:
        """The orders of all arrays for one of the leader; None where it is not computed in that."""
        alignment = self.alignment
        if lead.tiles and not alignment.is_elementwise:
            return None
        orders = [alignment.follow(number, lead) for number in range(len(alignment.followers))]
        return orders if is_computable(cast(XlaOp, op), orders) else None

    def _out_of_order(
        self, op: Operation, order_of: OrderOf
    ) -> Iterator[tuple[int, SSAValue, MemoryOrder]]:
        """The arrays, by number, that are not in the order that goes with that of the leader."""
        values = (*op.operands, *op.results)
        wanted = self._wanted(op, order_of(values[self.alignment.leader]))
        if wanted is None:
            wanted = [_default_order(value) for value in values]
        for number, value in _arrays(values):
            order = wanted[number]
            found = order_of(value)
            if found != order and found != _choice(value, order)[1]:
                yield number, value, order

    def moved(self, op: Operation, order_of: OrderOf) -> int:
        return sum(_bytes(value) for _, value, _ in self._out_of_order(op, order_of))

    def agree(self, op: Operation, value: SSAValue, order_of: OrderOf) -> Iterable[Choice]:
        values = (*op.operands, *op.results)
        lead = self.alignment.lead(values.index(value), order_of(value))
        wanted = None if lead is None else self._wanted(op, lead)
        if wanted is None:
            return
        for number, other in _arrays(values):
            if other is not value and self.alignment.followers[number] is not None:
                yield _choice(other, wanted[number])

    def misplaced(
        self, op: Operation, order_of: OrderOf
    ) -> Iterable[tuple[Operation, int, MemoryOrder]]:
        for number, _, order in self._out_of_order(op, order_of):
            if number < len(op.operands):
                yield op, number, order


class _AnyOrder(LayoutRule):
    """Operands are read, and results written, in whatever order they have, but for tiles."""

    def moved(self, op: Operation, order_of: OrderOf) -> int:
        values = (value for _, value in _arrays((*op.operands, *op.results)))
        return sum(_bytes(value) for value in values if order_of(value).tiles)


class _Reshape(LayoutRule):
    def moved(self, op: Operation, order_of: OrderOf) -> int:
        before, after = op.operands[0], op.results[0]
        orders = order_of(before), order_of(after)
        if is_free_reshape(tensor_shape(before), orders[0], tensor_shape(after), orders[1]):
            return 0
        return _out_of_default(op, order_of)

    def agree(self, op: Operation, value: SSAValue, order_of: OrderOf) -> Iterable[Choice]:
        other = op.results[0] if value is op.operands[0] else op.operands[0]
        found = reshaped_order(tensor_shape(value), order_of(value), tensor_shape(other))
        return () if found is None else [_choice(other, found)]


class _DataFlow(LayoutRule):
    """What becomes a result of a loop or branch is in the order of that, throughout."""

    def agree(self, op: Operation, value: SSAValue, order_of: OrderOf) -> Iterable[Choice]:
        for result, sources in _forwarded(op):
            for source in sources:
                if source.value is value:
                    yield _choice(result, order_of(value))
                elif result is value:
                    yield _choice(source.value, order_of(value))

    def misplaced(
        self, op: Operation, order_of: OrderOf
    ) -> Iterable[tuple[Operation, int, MemoryOrder]]:
        for result, sources in _forwarded(op):
            wanted = order_of(result)
            for source in sources:
                if order_of(source.value) != wanted:
                    yield source.operation, source.number, wanted


def _forwarded(op: Operation) -> Iterator[tuple[SSAValue, Sequence[OpOperand]]]:
    """The results that are arrays, each with what is forwarded to it."""
    for edge in edges_of(op):
        if edge.result is not None and isinstance(edge.result.type, TensorType):
            yield edge.result, edge.sources


def _returned_order(operand: OpOperand) -> MemoryOrder:
    function = operand.operation.parent_op()
    assert isinstance(function, func.FuncOp)
    type_ = cast(Array, function.function_type.outputs.data[operand.number])
    return canonical(memory_order(type_).without_padding, type_.get_shape())


_ANY_ORDER = _AnyOrder()
_DATA_FLOW = _DataFlow()

LAYOUT_RULES: Mapping[type[Operation], LayoutRule] = {
    ops.contraction.DotOp: _ANY_ORDER,
    ops.creation.ConstantOp: _ANY_ORDER,
    ops.data_movement.ReshapeOp: _Reshape(),
}
"""The operations that have a rule of their own; for others it follows from their relations."""


def _rule_of(op: Operation, order_of: OrderOf) -> LayoutRule | None:
    """None for operations that are computed in default order."""
    rule = LAYOUT_RULES.get(type(op))
    if rule is not None:
        return rule
    if forwards_values(type(op)):
        return _DATA_FLOW
    values = (value for _, value in _arrays((*op.operands, *op.results)))
    if type(op) is not ops.data_movement.TransposeOp and all(
        order_of(v).is_default for v in values
    ):
        # Nothing moves.
        return _ANY_ORDER
    alignment = alignment_of(op)
    if alignment is None:
        return None
    return _ANY_ORDER if alignment.is_free else _Aligned(alignment)
