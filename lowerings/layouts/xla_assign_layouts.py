"""The pass `xla-assign-layouts`."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from lowerings.layouts.alignment import edges_of, forwards_values
from lowerings.layouts.entry_layout import entry_type
from lowerings.layouts.expansion import is_laid_out, require_lowered_layouts, retyped
from lowerings.layouts.memory_order import MemoryOrder
from lowerings.layouts.movement import (
    Choice,
    Mover,
    OrderOf,
    bytes_moved,
    bytes_moved_by,
    bytes_read_apart,
    declared_order,
    misplaced,
    movers,
    orders_that_agree,
)
from lowerings.rewriting.conversion import require_single_blocks
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.dimensions import OpOperand
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.custom_calls import LAYOUT_CONSTRAINT, CustomCallOp
from xla_dialect.ops.data_movement import CopyOp, TransposeOp
from xla_dialect.types import Array, array, is_array
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import inventory, operations_in

_Copies: TypeAlias = dict[tuple[Block, SSAValue, Attribute], CopyOp]
"""The copies of a block so far, by what is copied and to which type."""


@dataclass(frozen=True)
class XlaAssignLayoutsPass(ModulePass):
    """
    Chooses layouts, so that little is moved, and copies arrays where two layouts meet.

    What is written stays: the layouts of parameters and results of functions (as
    `entry_computation_layout` has them, where HLO text says that), those of instructions, and
    JAX's layout constraints. An
    instruction without a layout may get that of its operands, under the names that its dimensions
    have; a transpose does, where that spares its movement. Where an operand still is in another
    layout than its instruction needs, `xla.copy` brings it there.

    ```
    func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<3x5xf32> {
      %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
      %1 = xla.dot %0, %y ... : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
    // becomes
      %0 = xla.transpose %x {dimensions = [1, 0]}
          : (tensor<2x3xf32>) -> tensor<3x2xf32, #xla.layout<{0,1}>>
      %1 = xla.dot %0, %y ...
          : (tensor<3x2xf32, #xla.layout<{0,1}>>, tensor<2x5xf32>) -> tensor<3x5xf32>
    ```

    Calls have to be inlined, tuples flattened and bitcasts expanded before.
    """

    name = "xla-assign-layouts"
    takes = UNLOWERED

    report: bool = False
    """Says on stderr how many bytes copies and transposes move before and afterwards."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through every function; raises ConversionFailed for layouts that are not lowered."""
        require_single_blocks(self.name, op)
        functions = [
            inner for inner in op.ops if isinstance(inner, func.FuncOp) and inner.body.blocks
        ]
        for function in functions:
            _take_entry_type(function, entry_type(op, function))
            _take_constraints(function)
        contents = inventory(op)
        in_default = not any(map(is_laid_out, contents.types))
        if in_default and not self.report and TransposeOp not in contents.operations:
            # Nothing moves.
            return
        require_lowered_layouts(self.name, op)
        before = bytes_moved(op) if self.report else None
        for function in functions:
            block = function.body.block
            choices = list(LayoutAssignment.of(block, in_default=in_default).chosen())
            if in_default and not choices:
                continue
            for value, order in choices:
                attempt(partial(retyped, value, _type_in(value, order)))
            copies: _Copies = {}
            _copy_misplaced(block, copies)
            _copy_results(function, copies)
        if before is not None:
            for when, (copied, transposed) in (("before", before), ("after", bytes_moved(op))):
                moved = f"{copied} bytes copied, {transposed} bytes transposed"
                print(f"{self.name}: {when}: {moved}", file=sys.stderr)


def _take_entry_type(function: func.FuncOp, type_: FunctionType) -> None:
    """Gives parameters and results the layouts that callers see."""
    for argument, wanted in zip(tuple(function.body.block.args), type_.inputs, strict=True):
        retyped(argument, wanted)
    function.properties["function_type"] = type_


def _take_constraints(function: func.FuncOp) -> None:
    """Makes the custom calls with which JAX says a layout copies to that layout."""
    for op in operations_in(function):
        if not isinstance(op, CustomCallOp) or op.custom_call_target.data != LAYOUT_CONSTRAINT:
            continue
        (operand,), (result,) = op.operands, op.results
        copy = CopyOp.make([operand], {}, result_types=[_constrained(op, cast(Array, result.type))])
        result.replace_all_uses_with(insert_before(copy, op).result)
        erase(op)


def _constrained(op: CustomCallOp, type_: Array) -> Array:
    """The result type of a layout constraint; StableHLO says the layout in an attribute."""
    layouts = op.attributes.get("xla.result_layouts")
    if not isinstance(layouts, ArrayAttr):
        return type_
    (written,) = cast("ArrayAttr[DenseIntOrFPElementsAttr[Any]]", layouts).data
    order = Layout(tuple(int(value) for value in written.get_values()))
    return array(type_.element_type, type_.get_shape(), LayoutAttr(order))


def _copy_misplaced(block: Block, copies: _Copies) -> None:
    """Copies operands to the layouts in which they are needed; what a function returns is left."""
    for op in tuple(block.ops):
        if op.regions and forwards_values(type(op)):
            for region in op.regions:
                _copy_misplaced(region.block, copies)
        if isinstance(op, CopyOp):
            copies[block, op.operand, op.result.type] = op
        elif not isinstance(op, func.ReturnOp):
            for user, index, order in tuple(misplaced(op, declared_order)):
                _copy_operand(user, index, _type_in(user.operands[index], order), copies)


def _copy_results(function: func.FuncOp, copies: _Copies) -> None:
    """Copies what is returned to the layouts that the function's type says."""
    last = function.body.block.last_op
    assert last is not None
    for index, wanted in enumerate(function.function_type.outputs):
        if last.operands[index].type != wanted and is_array(wanted):
            _copy_operand(last, index, wanted, copies)


def _type_in(value: SSAValue, order: MemoryOrder) -> Array:
    type_ = cast(Array, value.type)
    encoding = None if order.is_default else LayoutAttr(order.layout)
    return array(type_.element_type, type_.get_shape(), encoding)


def _copy_operand(op: Operation, index: int, type_: Attribute, copies: _Copies) -> None:
    """Has an operation take a copy of an operand; one for all operations of a block."""
    operand, block = op.operands[index], op.parent
    assert block is not None
    copy = copies.get((block, operand, type_))
    if copy is None:
        copy = insert_before(CopyOp.make([operand], {}, result_types=[type_]), op)
        copies[block, operand, type_] = copy
    op.operands[index] = copy.result


ROUNDS = (8, 8, 32, 128)
"""How many arrays a trial changes at most, in each round: what is near is tried first."""

WORTH = 2
"""How many bytes less must be moved for each one that is moved instead: a transpose is often fused
with what it feeds, and better stays than turns into a copy elsewhere."""

MAX_NEIGHBOURS = 64
"""Users of an array that may change: what many use, they use in the order that it has."""

MAX_EFFORT = 8
"""How often the cost of an operation is counted in a round, on average."""


@dataclass
class _Trial:
    """Another order for an array and for those that follow it."""

    changes: dict[SSAValue, MemoryOrder] = field(default_factory=dict[SSAValue, MemoryOrder])
    costs: dict[Mover, int] = field(default_factory=dict[Mover, int])
    """Of the operations next to what changes, with the changes."""
    gain: int = 0
    loss: int = 0
    is_cut_short: bool = False
    """Whether it ended because it may change so many arrays only."""

    @property
    def is_worth_it(self) -> bool:
        """Whether operations spare much for what others move instead."""
        return self.gain > 0 and self.gain >= WORTH * self.loss

    def count(self, op: Mover, before: int, cost: int) -> None:
        """Notes what an operation costs that cost so much before all changes."""
        for saved, sign in ((before - self.costs.get(op, before), -1), (before - cost, 1)):
            self.gain += sign * max(saved, 0)
            self.loss += sign * max(-saved, 0)
        self.costs[op] = cost


@dataclass(eq=False)
class LayoutAssignment:
    """
    The orders of the arrays of a function.

    A trial gives one array another order and lets its neighbours follow, until all of it together
    spares bytes. All is as if every copy and transpose read and wrote its array once; fusion may do
    better.
    """

    movers: list[Mover]
    in_default: bool
    """Whether no type has a layout, so that every order begins as row-major."""
    row_major: set[SSAValue]
    """What operations of other dialects take, such as loops of `scf`: they know no layouts."""
    orders: dict[SSAValue, MemoryOrder] = field(default_factory=dict[SSAValue, MemoryOrder])
    """Those that were chosen."""
    same: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """For the parameters of loops and branches the value whose order they have."""
    names: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    """For these values the parameters."""
    effort: int = 0
    """How often costs were counted in this round."""
    _costs: dict[Mover, int] = field(default_factory=dict[Mover, int])
    _settled: dict[Mover, int] = field(default_factory=dict[Mover, int])
    """How many changes do not improve an operation as things stand."""
    _watchers: dict[Mover, list[Mover]] = field(default_factory=dict[Mover, list[Mover]])
    """For an operation those that are settled because of what it costs."""
    _declared: dict[SSAValue, MemoryOrder] = field(default_factory=dict[SSAValue, MemoryOrder])

    @staticmethod
    def of(block: Block, *, in_default: bool) -> LayoutAssignment:
        """Chooses the orders for a function's body; `in_default`: no type there says one."""
        row_major = {
            operand
            for op in operations_in(block)
            if not isinstance(op, XlaOp | func.ReturnOp)
            for operand in op.operands
        }
        assignment = LayoutAssignment(list(movers(block)), in_default, row_major)
        for op in assignment.movers:
            if isinstance(op, Operation):
                assignment._note_parameters(op)
        for limit in ROUNDS:
            assignment.effort = 0
            for op in assignment.movers:
                assignment._improve(op, limit)
        return assignment

    def chosen(self) -> Iterator[Choice]:
        """All values whose order is not what their type says."""
        for value in (*self.orders, *self.same):
            order = self.order(value)
            if order != declared_order(value):
                yield value, order

    def order(self, value: SSAValue) -> MemoryOrder:
        """The order of an array."""
        value = self._root(value)
        found = self.orders.get(value) or self._declared.get(value)
        if found is None:
            found = self._declared[value] = declared_order(value)
        return found

    def _root(self, value: SSAValue) -> SSAValue:
        while value in self.same:
            value = self.same[value]
        return value

    def _note_parameters(self, op: Operation) -> None:
        for edge in edges_of(op):
            value = edge.sources[0].value if edge.result is None else edge.result
            for parameter in edge.parameters:
                if is_array(parameter.type):
                    self.same[parameter] = value
                    self.names.setdefault(value, []).append(parameter)

    def _improve(self, op: Mover, limit: int) -> None:
        """Tries to have an operation move less, by at most `limit` changes."""
        if self._settled.get(op, 0) >= limit or self.effort > MAX_EFFORT * len(self.movers):
            return
        if not self._cost(op):
            return
        looked_at, settled = {op}, ROUNDS[-1]
        for value in _values_of(op):
            for other, order in orders_that_agree(op, value, self.order):
                trial = self._trial(self._root(other), order, limit)
                if trial.is_worth_it:
                    self._accept(trial)
                    return
                looked_at.update(trial.costs)
                if trial.is_cut_short:
                    settled = limit
        self._settled[op] = settled
        for other in looked_at:
            self._watchers.setdefault(other, []).append(op)

    def _accept(self, trial: _Trial) -> None:
        self.orders.update(trial.changes)
        self._costs.update(trial.costs)
        for op in trial.costs:
            for watcher in self._watchers.pop(op, ()):
                self._settled.pop(watcher, None)

    def _cost(self, op: Mover) -> int:
        """What an operation moves as things stand."""
        found = self._costs.get(op)
        if found is None:
            # As long as all layouts are row-major only transposes move data; operations next to a
            # changed layout were put into `_costs` when it was changed.
            moves = not self.in_default or isinstance(op, TransposeOp)
            found = self._costs[op] = _cost(op, self.order) if moves else 0
        return found

    def _trial(self, value: SSAValue, order: MemoryOrder, limit: int) -> _Trial:
        """Begins with this change, and ends as soon as all changes together spare something."""
        trial = _Trial()
        changes = trial.changes
        if not self._is_free(value):
            return trial

        def order_of(value: SSAValue) -> MemoryOrder:
            value = self._root(value)
            found = changes.get(value)
            return self.order(value) if found is None else found

        waiting = deque([(value, order)])
        while waiting and len(changes) < limit:
            value, order = waiting.popleft()
            if value in changes or self.order(value) == order:
                continue
            neighbours = list(islice(self._neighbours(value), MAX_NEIGHBOURS + 1))
            if len(neighbours) > MAX_NEIGHBOURS:
                return trial
            changes[value] = order
            for op, name in neighbours:
                self.effort += 1
                before, cost = self._cost(op), _cost(op, order_of)
                trial.count(op, before, cost)
                if cost and cost >= before:
                    agreeing = orders_that_agree(op, name, order_of)
                    choices = [(self._root(other), wanted) for other, wanted in agreeing]
                    waiting.extend(c for c in choices if self._follows(c[0], op))
            if trial.is_worth_it:
                return trial
        trial.is_cut_short = bool(waiting)
        return trial

    def _follows(self, value: SSAValue, op: Mover) -> bool:
        """Whether a value may change for an operation: one that others use too would move them."""
        if not self._is_free(value):
            return False
        return value.owner is op or all(user == op for user, _ in self._uses(value))

    def _neighbours(self, value: SSAValue) -> Iterator[tuple[Mover, SSAValue]]:
        """The operations that have a say in the order of a value, and its name there."""
        if isinstance(value, OpResult):
            yield value.op, value
        yield from self._uses(value)

    def _uses(self, value: SSAValue) -> Iterator[tuple[Mover, SSAValue]]:
        for name in (value, *self._all_names(value)):
            for use in name.uses:
                op = use.operation
                if isinstance(op, ReturnOp):
                    parent = op.parent_op()
                    assert parent is not None
                    op = parent
                yield OpOperand(op, use.index) if isinstance(op, func.ReturnOp) else op, name

    def _all_names(self, value: SSAValue) -> Iterator[SSAValue]:
        for name in self.names.get(value, ()):
            yield name
            yield from self._all_names(name)

    def _is_free(self, value: SSAValue) -> bool:
        """Whether no layout is written for a value, and its operation may have any."""
        if not isinstance(value, OpResult) or not isinstance(value.op, XlaOp):
            return False
        return not any(
            isinstance(cast(Array, name.type).encoding, LayoutAttr) or name in self.row_major
            for name in (value, *self._all_names(value))
        )


def _cost(op: Mover, order_of: OrderOf) -> int:
    return bytes_moved_by(op, order_of) + bytes_read_apart(op, order_of)


def _values_of(op: Mover) -> Iterator[SSAValue]:
    """The arrays whose orders an operation has a say in."""
    if isinstance(op, OpOperand):
        yield op.value
        return
    for value in (*op.results, *op.operands, *_returned(op)):
        if is_array(value.type):
            yield value


def _returned(op: Operation) -> Iterator[SSAValue]:
    """What the computations of a loop or branch return to it."""
    for edge in edges_of(op):
        yield from (source.value for source in edge.sources if source.operation is not op)
