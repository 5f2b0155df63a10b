"""Choosing the orders of arrays: trial by trial, each kept if it spares bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from lowerings.layouts.movement import (
    Choice,
    OrderOf,
    bytes_moved_by,
    declared_order,
    operations_on_arrays,
    orders_that_agree,
)
from lowerings.memory_order import MemoryOrder
from xla_dialect.layout import LayoutAttr
from xla_dialect.ops.control_flow import ConditionalOp, ReturnOp, WhileOp
from xla_dialect.types import Array, is_array

MAX_CHANGES = 256
"""Arrays that one trial may change: what is far away has its own trials."""

MAX_ROUNDS = 4
"""How often all operations that move something are tried again, as long as one helps."""


@dataclass(eq=False)
class LayoutAssignment:
    """
    The orders of the arrays of a function.

    A trial gives one array another order and lets its neighbours follow, as long as that leaves no
    operation moving something that did not do so before. All is as if every copy and transpose
    read and wrote its array once; fusion may do better.
    """

    operations: list[Operation]
    orders: dict[SSAValue, MemoryOrder] = field(default_factory=dict[SSAValue, MemoryOrder])
    """Those that were chosen."""
    same: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """For the parameters of loops and branches the value whose order they have."""
    names: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    """For these values the parameters."""

    @staticmethod
    def of(block: Block) -> LayoutAssignment:
        """Chooses the orders for a function's body."""
        assignment = LayoutAssignment(list(operations_on_arrays(block)))
        for op in assignment.operations:
            assignment._note_parameters(op)
        for _ in range(MAX_ROUNDS):
            improved = [assignment._improve(op) for op in assignment.operations]
            if not any(improved):
                break
        return assignment

    def chosen(self) -> Iterator[Choice]:
        """All values whose order is not what their type says."""
        for value, order in self.orders.items():
            if order != declared_order(value):
                yield value, order
        for parameter in self.same:
            order = self.order(parameter)
            if order != declared_order(parameter):
                yield parameter, order

    def order(self, value: SSAValue) -> MemoryOrder:
        """The order of an array."""
        value = self._root(value)
        found = self.orders.get(value)
        return declared_order(value) if found is None else found

    def _root(self, value: SSAValue) -> SSAValue:
        while value in self.same:
            value = self.same[value]
        return value

    def _note_parameters(self, op: Operation) -> None:
        if isinstance(op, WhileOp):
            for region in op.regions:
                self._join(list(region.block.args), list(op.results))
        elif isinstance(op, ConditionalOp):
            operands = list(op.branch_operands)
            for region in op.regions:
                count = len(region.block.args)
                self._join(list(region.block.args), operands[:count])
                operands = operands[count:]

    def _join(self, parameters: list[BlockArgument], values: list[SSAValue]) -> None:
        for parameter, value in zip(parameters, values, strict=True):
            if is_array(parameter.type):
                self.same[parameter] = value
                self.names.setdefault(value, []).append(parameter)

    def _improve(self, op: Operation) -> bool:
        """Tries to have an operation move less; whether something was changed."""
        if not bytes_moved_by(op, self.order).total:
            return False
        for value in (*op.results, *op.operands, *_returned(op)):
            if not is_array(value.type):
                continue
            for other, order in orders_that_agree(op, value, self.order):
                changes = self._trial(self._root(other), order)
                if changes is not None:
                    self.orders.update(changes)
                    return True
        return False

    def _trial(self, value: SSAValue, order: MemoryOrder) -> dict[SSAValue, MemoryOrder] | None:
        """The changes that begin with this one, if they spare something."""
        if not self._is_free(value) or self.order(value) == order:
            return None
        changes = {value: order}

        def order_of(value: SSAValue) -> MemoryOrder:
            value = self._root(value)
            found = changes.get(value)
            return self.order(value) if found is None else found

        waiting = [value]
        touched: dict[Operation, None] = {}
        while waiting:
            changed = waiting.pop()
            for op, name in self._neighbours(changed):
                touched[op] = None
                if not self._is_worse(op, order_of):
                    continue
                for other, wanted in orders_that_agree(op, name, order_of):
                    root = self._root(other)
                    if root not in changes and self._is_free(root):
                        if len(changes) >= MAX_CHANGES:
                            return None
                        changes[root] = wanted
                        waiting.append(root)
        before = sum(bytes_moved_by(op, self.order).total for op in touched)
        after = sum(bytes_moved_by(op, order_of).total for op in touched)
        return changes if after < before else None

    def _is_worse(self, op: Operation, order_of: OrderOf) -> bool:
        now = bytes_moved_by(op, order_of).total
        return now > 0 and now >= bytes_moved_by(op, self.order).total

    def _neighbours(self, value: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
        """The operations that have a say in the order of a value, and its name there."""
        if isinstance(value, OpResult):
            yield value.op, value
        for name in (value, *self._all_names(value)):
            for use in name.uses:
                op = use.operation
                if isinstance(op, ReturnOp):
                    parent = op.parent_op()
                    assert parent is not None
                    op = parent
                yield op, name

    def _all_names(self, value: SSAValue) -> Iterator[SSAValue]:
        for name in self.names.get(value, ()):
            yield name
            yield from self._all_names(name)

    def _is_free(self, value: SSAValue) -> bool:
        """Whether no layout is written for a value."""
        if not isinstance(value, OpResult):
            return False
        return not any(
            isinstance(cast(Array, name.type).encoding, LayoutAttr)
            for name in (value, *self._all_names(value))
        )


def _returned(op: Operation) -> Iterator[SSAValue]:
    """What the computations of a loop or branch return."""
    if isinstance(op, WhileOp | ConditionalOp):
        for region in op.regions:
            last = region.block.last_op
            if last is not None:
                yield from last.operands
