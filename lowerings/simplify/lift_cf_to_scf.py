"""
The pass `lift-cf-to-scf`: functions of several blocks become ones of a single block.

From a graph of blocks to structured control flow, after Bahmann, Reissmann, Jahre and Meyer,
"Perfect Reconstructability of Control Flow from Demand Dependence Graphs" (2015). Blocks are gone
through in the order of control. What only one way out of a branch leads to becomes a region of it,
and what follows goes on behind. Blocks that reach each other become one loop, which runs its body
at least once and then says whether it goes round again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, cf, func, scf, tensor
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    ModuleOp,
    TensorType,
    UnknownLoc,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use

from lowerings.ir.branches import edges_of, flag_bits, switch_cases
from lowerings.rewriting.conversion import ConversionFailed, illegal_op
from lowerings.rewriting.levels import ON_TENSORS
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.xdsl.dominance import immediate_dominators, reverse_postorder, successors
from xla_dialect.xdsl.linking import insert_before, replace_uses
from xla_dialect.xdsl.traversal import ancestors, block_of

__all__ = ["CannotBeStructured", "Flow", "Structurer"]

OperationT = TypeVar("OperationT", bound=Operation)

_INDEX = IndexType()


class CannotBeStructured(Exception):
    """Why a function cannot be structured."""


@dataclass(frozen=True)
class Flow:
    """Where control goes next: to one of some blocks."""

    targets: Mapping[Block, Sequence[SSAValue | None]]
    """For each the values of its arguments; None where any value will do."""
    selector: SSAValue | None = None
    """Which of them, by its number: an i1 where there are two, else an index."""
    numbers: Mapping[Block, int] = field(default_factory=dict[Block, int])

    def only(self, targets: Iterable[Block]) -> Flow:
        """The flow where it is known that control goes to one of these."""
        kept = {target: self.targets[target] for target in targets}
        return Flow(kept, self.selector if len(kept) > 1 else None, self.numbers)


def _numbered(targets: Sequence[Block]) -> tuple[Attribute, dict[Block, int]]:
    """The type of a selector, and the numbers of its targets."""
    if len(targets) == 2:
        return i1, {targets[0]: 1, targets[1]: 0}
    return _INDEX, {target: number for number, target in enumerate(targets)}


class _Order:
    """
    Some blocks in the order of control: those that reach each other are one part, and parts come
    after all from which they are reached.
    """

    def __init__(self, first: Iterable[Block], inside: set[Block]) -> None:
        start, targets = Block(), [block for block in first if block in inside]

        def following(block: Block) -> Sequence[Block]:
            if block is start:
                return targets
            return [each for each in successors(block) if each in inside]

        order = reverse_postorder(start, following)[1:]
        before: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for each in following(block):
                before[each].append(block)
        self.parts: list[list[Block]] = []
        self.number: dict[Block, int] = {}
        """Of the part that a block is in."""
        for block in order:
            if block not in self.number:
                self.parts.append(self._reaching(block, before))
        self._before = [
            {self.number[each] for block in part for each in before[block]} for part in self.parts
        ]
        self.done: set[int] = set()
        """Parts that control has come through."""

    def _reaching(self, block: Block, before: Mapping[Block, Sequence[Block]]) -> list[Block]:
        """The blocks without a part from which one is reached, made a part."""
        waiting, part = [block], list[Block]()
        while waiting:
            each = waiting.pop()
            if each not in self.number:
                self.number[each] = len(self.parts)
                part.append(each)
                waiting.extend(before[each])
        return part

    def is_loop(self, part: int) -> bool:
        """Whether the blocks of a part reach themselves."""
        return part in self._before[part]

    def reached_only(self, targets: Iterable[Block], others: Iterable[Block]) -> set[int]:
        """The parts that are reached from some targets, and not from the other ones."""
        here = {self.number[block] for block in targets if block in self.number}
        elsewhere = {self.number[block] for block in others if block in self.number}
        found: set[int] = set()
        if len(here) == 1 and here.isdisjoint(elsewhere):
            (first,) = here
            for part in range(first, len(self.parts)):
                left = self._before[part] - self.done - found - {part}
                is_reached = part == first or not found.isdisjoint(self._before[part])
                if is_reached and not left and part not in elsewhere and part not in self.done:
                    found.add(part)
        return found

    def blocks(self, parts: Iterable[int]) -> set[Block]:
        """The blocks of parts."""
        return {block for part in parts for block in self.parts[part]}


class Structurer:
    """Structures the blocks of one function."""

    def __init__(self, blocks: Sequence[Block], end: Block) -> None:
        """`blocks` from the first on; `end` is where all returns go to."""
        self._dominators = immediate_dominators(reverse_postorder(blocks[0]))
        self._end = end
        self.location: LocationAttr = UnknownLoc()
        """Of the last branch."""

    def run(self, into: Block, flow: Flow, inside: set[Block]) -> Flow:
        """Puts what runs inside of some blocks behind `into`; where control goes from there."""
        order = _Order(flow.targets, inside)
        while parts := [order.number[each] for each in flow.targets if each in order.number]:
            part = min(parts)
            here = [each for each in flow.targets if order.number.get(each) == part]
            if len(here) < len(flow.targets):
                flow = self._choose(into, flow, here, order)
                continue
            order.done.add(part)
            if order.is_loop(part):
                flow = self._loop(into, flow, order.parts[part])
            else:
                flow = self._block(into, here[0], flow.targets[here[0]], order)
        return flow

    def defined(
        self, into: Block, values: Sequence[SSAValue | None], types: Sequence[Attribute]
    ) -> list[SSAValue]:
        """Values, and any value of its type for those that are not known."""
        pairs = zip(values, types, strict=True)
        return [self._any(into, type_) if each is None else each for each, type_ in pairs]

    # Blocks and branches

    def _block(
        self, into: Block, block: Block, values: Sequence[SSAValue | None], order: _Order
    ) -> Flow:
        """Moves the operations of a block, and goes on behind it."""
        self._move(into, block, self.defined(into, values, block.arg_types))
        branch = block.last_op
        edges = edges_of(branch)
        assert branch is not None and edges is not None
        self.location = branch.location
        decides = branch.operands[0] if branch.operands else None
        values_of = list(switch_cases(branch)) if isinstance(branch, cf.SwitchOp) else None
        bits = flag_bits(branch) if isinstance(branch, cf.SwitchOp) else 1
        block.erase_op(branch)
        flows = [Flow({target: operands}) for target, operands in edges]
        if len(flows) == 1:
            return flows[0]
        assert decides is not None
        if values_of is None:
            return self._branch(into, decides, flows, order)
        # As numbers with a sign: that is what `arith.index_cast` makes of them.
        cases = [each - ((each >> (bits - 1)) << bits) for each in values_of]
        if decides.type != _INDEX:
            decides = self._insert(into, arith.IndexCastOp(decides, _INDEX)).result
        return self._branch(into, decides, flows, order, cases)

    def _move(self, into: Block, block: Block, values: Sequence[SSAValue]) -> None:
        """Moves all but the terminator of a block, with values for its arguments."""
        for argument, value in zip(block.args, values, strict=True):
            replace_uses(argument, value)
        for op in list(block.ops)[:-1]:
            op.detach()
            into.add_op(op)

    def _choose(self, into: Block, flow: Flow, here: Sequence[Block], order: _Order) -> Flow:
        """Branches to some of the targets, which control can go on from, or to the others."""
        others = [each for each in flow.targets if each not in here]
        condition = self._is_one_of(into, flow, here)
        return self._branch(into, condition, [flow.only(here), flow.only(others)], order)

    def _branch(
        self,
        into: Block,
        decides: SSAValue,
        flows: Sequence[Flow],
        order: _Order,
        cases: Sequence[int] | None = None,
    ) -> Flow:
        """
        Puts an `scf.if`, or an `scf.index_switch` with `cases`, with what each flow alone leads to
        behind `into`; how it goes on from there.
        """
        arms = [Block() for _ in flows]
        regions: list[set[int]] = []
        for number, flow in enumerate(flows):
            others = [
                each for other in (*flows[:number], *flows[number + 1 :]) for each in other.targets
            ]
            regions.append(order.reached_only(flow.targets, others))
        outcomes: list[Flow] = []
        for arm, flow, parts in zip(arms, flows, regions, strict=True):
            order.done |= parts
            outcomes.append(self.run(arm, flow, order.blocks(parts)))
        return self._merge(into, decides, arms, outcomes, cases)

    def _merge(
        self,
        into: Block,
        decides: SSAValue,
        arms: Sequence[Block],
        outcomes: Sequence[Flow],
        cases: Sequence[int] | None,
    ) -> Flow:
        """Puts a branch with these regions behind `into`; how it goes on from any of them."""
        targets = list(dict.fromkeys(target for each in outcomes for target in each.targets))
        type_, numbers = _numbered(targets)
        columns: list[tuple[Attribute, list[SSAValue | None]]] = []
        selector: SSAValue | None = None
        if cases is None and len(targets) == len(outcomes) == 2 == sum(
            len(o.targets) for o in outcomes
        ):
            selector = decides
        elif len(targets) > 1:
            pairs = zip(arms, outcomes, strict=True)
            columns.append((type_, [self._renumbered(a, o, type_, numbers) for a, o in pairs]))
        for target in targets:
            for index, argument in enumerate(target.args):
                found = [
                    o.targets[target][index] if target in o.targets else None for o in outcomes
                ]
                columns.append((argument.type, found))
        merged = iter(self._merged(into, decides, arms, columns, cases))
        if selector is None and len(targets) > 1:
            selector = next(merged)
        return Flow({t: [next(merged) for _ in t.args] for t in targets}, selector, numbers)

    def _merged(
        self,
        into: Block,
        decides: SSAValue,
        arms: Sequence[Block],
        columns: Sequence[tuple[Attribute, Sequence[SSAValue | None]]],
        cases: Sequence[int] | None,
    ) -> list[SSAValue | None]:
        """Puts a branch behind `into`; for each column, a value from each arm, what it becomes."""
        found: list[SSAValue | None] = []
        yielded: list[int] = []
        for number, (_, values) in enumerate(columns):
            known = set(values) - {None}
            value = known.pop() if len(known) == 1 else None
            if known or (
                value is not None and any(arm.is_ancestor(block_of(value)) for arm in arms)
            ):
                yielded.append(number)
                value = None
            found.append(value)
        types = [columns[number][0] for number in yielded]
        for index, arm in enumerate(arms):
            values = [columns[number][1][index] for number in yielded]
            self._insert(arm, scf.YieldOp(*self.defined(arm, values, types)))
        if not yielded and all(arm.first_op is arm.last_op for arm in arms):
            return found
        *regions, default = [Region(arm) for arm in arms]
        if cases is None:
            branch = self._insert(into, scf.IfOp(decides, types, regions[0], default))
        else:
            numbers = DenseArrayBase.from_list(i64, cases)
            branch = self._insert(
                into, scf.IndexSwitchOp(decides, numbers, default, regions, types)
            )
        for number, result in zip(yielded, branch.results, strict=True):
            found[number] = result
        return found

    # Loops

    def _loop(self, into: Block, flow: Flow, part: Sequence[Block]) -> Flow:
        """
        Puts an `scf.while` with the blocks of a part behind `into`, which the flow enters; how it
        goes on from there. All of the body stands before the condition.
        """
        inside = set(part)
        exits = list(dict.fromkeys(e for b in part for e in successors(b) if e not in inside))
        outer = self._used_outside(part)
        type_, numbers = _numbered(exits)
        selectors = (type_,) if len(exits) > 1 else ()
        arguments = [argument.type for each in exits for argument in each.args]
        # Where all ways out go to.
        left = Block(arg_types=[*selectors, *arguments, *(value.type for value in outer)])
        for block in part:
            inside |= self._leave(block, inside, exits, left, tuple(outer))
        values = iter(self._while(into, flow, inside, left))
        if not exits:
            # It never ends.
            return Flow({self._end: [None] * len(self._end.args)})
        selector = next(values) if selectors else None
        targets = {each: [next(values) for _ in each.args] for each in exits}
        for uses, value in zip(outer.values(), values, strict=True):
            for use in uses:
                use.operation.operands[use.index] = value
        return Flow(targets, selector, numbers)

    def _leave(
        self,
        block: Block,
        inside: set[Block],
        exits: Sequence[Block],
        left: Block,
        outer: Sequence[SSAValue],
    ) -> set[Block]:
        """Has the branches of a block that leave a loop go to `left`, by way of new blocks."""
        branch = block.last_op
        assert branch is not None
        added: set[Block] = set()
        type_, numbers = _numbered(exits)
        for index, target in enumerate(branch.successors):
            if target in inside:
                continue
            way = Block(arg_types=target.arg_types)
            self.location = branch.location
            values: list[SSAValue | None] = []
            if len(exits) > 1:
                values.append(self._constant(way, numbers[target], type_))
            for each in exits:
                values.extend(way.args if each is target else [None] * len(each.args))
            values.extend(v if self._dominates(block_of(v), block) else None for v in outer)
            self._insert(way, cf.BranchOp(left, *self.defined(way, values, left.arg_types)))
            branch.successors[index] = way
            added.add(way)
        return added

    def _while(self, into: Block, flow: Flow, inside: set[Block], left: Block) -> list[SSAValue]:
        """Puts the loop behind `into`; what it hands to `left`."""
        entries = list(flow.targets)
        type_, numbers = _numbered(entries)
        selectors = (type_,) if len(entries) > 1 else ()
        types = [*selectors, *(type_ for each in entries for type_ in each.arg_types)]
        initial = [self._renumbered(into, flow, type_, numbers) for _ in selectors]
        initial += [v for e in entries for v in self.defined(into, flow.targets[e], e.arg_types)]
        before = Block(arg_types=types)
        values = iter(before.args)
        selector = next(values) if selectors else None
        # Branches to an entry go round again, so what stands in it goes to a block of its own.
        bodies = [self._body_of(each) for each in entries]
        targets = {body: [next(values) for _ in body.args] for body in bodies}
        start = Flow(targets, selector, dict(zip(bodies, numbers.values(), strict=True)))
        outcome = self.run(before, start, (inside - set(entries)) | set(bodies))
        again = [each for each in entries if each in outcome.targets]
        condition = self._is_one_of(before, outcome, again)
        following: list[SSAValue | None] = [
            self._renumbered(before, outcome.only(again), type_, numbers) for _ in selectors
        ]
        for each in entries:
            following.extend(outcome.targets.get(each, [None] * len(each.args)))
        pairs = zip(following, before.args, strict=True)
        kept = [old if value is None else value for value, old in pairs]
        handed = self.defined(
            before, outcome.targets.get(left, [None] * len(left.args)), left.arg_types
        )
        passed = list(dict.fromkeys((*kept, *handed)))
        place = {value: number for number, value in enumerate(passed)}
        self._insert(before, scf.ConditionOp(condition, *passed))
        after = Block(arg_types=[value.type for value in passed])
        self._insert(after, scf.YieldOp(*(after.args[place[value]] for value in kept)))
        types = [value.type for value in passed]
        loop = self._insert(into, scf.WhileOp(initial, types, Region(before), Region(after)))
        return [loop.results[place[value]] for value in handed]

    def _body_of(self, block: Block) -> Block:
        """A new block with what stands in another one."""
        body = Block(arg_types=block.arg_types)
        for old, new in zip(block.args, body.args, strict=True):
            replace_uses(old, new)
        for op in list(block.ops):
            op.detach()
            body.add_op(op)
        return body

    def _used_outside(self, part: Sequence[Block]) -> dict[SSAValue, list[Use]]:
        """The values of blocks that others use, and where."""
        inside, found = set(part), dict[SSAValue, list[Use]]()
        for block in part:
            for value in (*block.args, *(result for op in block.ops for result in op.results)):
                uses = [use for use in value.uses if not _is_in(use.operation, inside)]
                if uses:
                    found[value] = uses
        return found

    def _dominates(self, block: Block, other: Block) -> bool:
        above: Block | None = other
        while above is not None and above is not block:
            above = self._dominators.get(above)
        return above is not None

    # Selectors and constants

    def _is_one_of(self, into: Block, flow: Flow, targets: Sequence[Block]) -> SSAValue:
        """Whether control goes to one of some targets of a flow, as an i1."""
        selector, numbers = flow.selector, flow.numbers
        if selector is None or len(targets) == len(flow.targets):
            return self._constant(into, int(bool(targets)), i1)
        if selector.type == i1:
            (target,) = targets
            if numbers[target]:
                return selector
            return self._insert(into, arith.XOrIOp(selector, self._constant(into, 1, i1))).result
        found: SSAValue | None = None
        for target in targets:
            number = self._constant(into, numbers[target], _INDEX)
            this = self._insert(into, arith.CmpiOp(selector, number, "eq")).result
            found = this if found is None else self._insert(into, arith.OrIOp(found, this)).result
        assert found is not None
        return found

    def _renumbered(
        self, into: Block, flow: Flow, type_: Attribute, numbers: Mapping[Block, int]
    ) -> SSAValue:
        """A selector for other numbers of the targets of a flow."""
        *others, last = flow.targets
        value = self._constant(into, numbers[last], type_)
        for target in others:
            condition = self._is_one_of(into, flow, [target])
            number = self._constant(into, numbers[target], type_)
            value = self._insert(into, arith.SelectOp(condition, number, value)).result
        return value

    def _constant(self, into: Block, value: int, type_: Attribute) -> SSAValue:
        number = IntegerAttr(value, cast("IntegerType | IndexType", type_))
        return self._insert(into, arith.ConstantOp(number)).result

    def _any(self, into: Block, type_: Attribute) -> SSAValue:
        """A value that nothing depends on."""
        if isinstance(type_, AnyFloat):
            return self._insert(into, arith.ConstantOp(FloatAttr(0.0, type_))).result
        if isinstance(type_, TensorType):
            array = cast("TensorType[Attribute]", type_)
            if all(size >= 0 for size in array.get_shape()):
                return self._insert(into, tensor.EmptyOp((), array)).tensor
        if isinstance(type_, IntegerType | IndexType):
            return self._constant(into, 0, cast(Attribute, type_))
        raise CannotBeStructured(f"a way through its blocks leaves {type_} undefined")

    def _insert(self, into: Block, op: OperationT) -> OperationT:
        op.location = self.location
        into.add_op(op)
        return op


def _is_in(op: Operation, blocks: set[Block]) -> bool:
    """Whether an operation stands in one of some blocks, or inside of what does."""
    return any(each.parent in blocks for each in (op, *ancestors(op)))


class LiftCfToScfPass(ReportingPass):
    """
    Replaces branches between blocks by structured control flow, as the pass of MLIR does.

    ```
    func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      cf.cond_br %c, ^bb1, ^bb2(%x : tensor<4xf32>)
    ^bb1:
      %y = xla.negate %x : tensor<4xf32>
      cf.br ^bb2(%y : tensor<4xf32>)
    ^bb2(%z: tensor<4xf32>):
      func.return %z : tensor<4xf32>
    }
    // becomes
    func.func @main(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
      %z = scf.if %c -> (tensor<4xf32>) {
        %y = xla.negate %x : tensor<4xf32>
        scf.yield %y : tensor<4xf32>
      } else {
        scf.yield %x : tensor<4xf32>
      }
      func.return %z : tensor<4xf32>
    }
    ```

    No operation is duplicated. Loops may have several entries and exits: a number says which one
    was taken. Blocks that are never reached are left out.
    """

    name = "lift-cf-to-scf"
    takes = ON_TENSORS

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Raises ConversionFailed for terminators that are not of `cf`, and for values no default
        of whose type is known where a way through the function leaves them undefined."""
        functions = [
            each for each in op.ops if isinstance(each, func.FuncOp) and len(each.body.blocks) > 1
        ]
        for function in functions:
            try:
                _structure(function)
            except CannotBeStructured as error:
                raise ConversionFailed(self.name, [illegal_op(function, str(error))]) from error
        return bool(functions)


def _structure(function: func.FuncOp) -> None:
    """Leaves a function one block."""
    entry = function.body.blocks[0]
    reached = reverse_postorder(entry)
    for block in set(function.body.blocks).difference(reached):
        function.body.detach_block(block)
        block.drop_all_references()
    end = _common_end(function, reached)
    body = Block(arg_types=entry.arg_types)
    for old, new in zip(entry.args, body.args, strict=True):
        new.name_hint = old.name_hint
    structurer = Structurer(reached, end)
    flow = structurer.run(body, Flow({entry: list(body.args)}), set(reached))
    values = structurer.defined(body, flow.targets[end], end.arg_types)
    returned = func.ReturnOp(*values)
    returned.location = structurer.location
    body.add_op(returned)
    for block in reached:
        function.body.detach_block(block)
    function.body.add_block(body)


def _common_end(function: func.FuncOp, blocks: list[Block]) -> Block:
    """A block that all returns of a function go to, with what is returned as its arguments."""
    end = Block(arg_types=function.function_type.outputs.data)
    for block in blocks:
        last = block.last_op
        if edges_of(last) is not None:
            continue
        if not isinstance(last, func.ReturnOp):
            name = "a block without a terminator" if last is None else last.name
            raise CannotBeStructured(f"{name} ends a block: only cf branches and func.return may")
        insert_before(cf.BranchOp(end, *last.arguments), last)
        block.erase_op(last)
    return end
