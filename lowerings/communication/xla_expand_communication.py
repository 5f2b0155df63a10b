"""The pass `xla-expand-communication`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue, Use
from xdsl.rewriter import Rewriter

from lowerings.communication.process_calls import GATHER, HANDLE, START, process_call
from lowerings.expand.building import build_before
from lowerings.layouts.memory_order import in_layout
from lowerings.rewriting.conversion import ConversionFailed, illegal_op
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from lowerings.simplify.xla_flatten_tuples import Flattening
from xla_dialect.analysis.computations import note_tokens
from xla_dialect.devices.process_grid import piece_length
from xla_dialect.dimensions import OpOperand
from xla_dialect.literals.arrays import from_numpy, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import (
    asynchronous,
    collectives,
    control_flow,
    operations_of,
    random,
    transfers,
)
from xla_dialect.ops.collectives import CollectiveOp, GroupedOp, process_counts
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import (
    BY_NAME,
    Array,
    TokenType,
    array,
    element_count,
    sizes_of,
    without_layout,
)
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import inventory, operations_in

Values: TypeAlias = list[SSAValue]


class XlaExpandCommunicationPass(ReportingPass):
    """
    Lowers communication to custom calls of the runtime: the process that runs the program.

    A collective becomes an exchange of operands and, if it reduces, a fold of what was received. An
    asynchronous operation becomes a call that starts and a call that waits, or is inlined if it
    involves no other process. Infeeds, outfeeds, sends, receives, process ids and random state are
    calls too. Tokens are erased: calls keep their order in the program. The number of replicas and
    partitions is that of the module, 1 by default.

    ```
    %y = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<4xf32>
           to_apply (%a: tensor<f32>, %b: tensor<f32>) { ... }
    // becomes
    %all, %count = xla.custom_call %x {custom_call_target = "xla.all_reduce",
        custom_call_has_side_effect = true} attributes {replica_groups = "{{0,1}}", site = 0 : i64}
      : (tensor<4xf32>) -> (tensor<2x4xf32>, tensor<i32>)
    %0 = xla.slice %all {limit_indices = array<i64: 1, 4>} ...
    %1 = xla.slice %all {start_indices = array<i64: 1, 0>} ...
    %y = xla.map %0, %1 ...
    ```

    Of a large operand of an `all_reduce` every member folds a piece, and a second call,
    `xla.all_reduce_of_pieces`, gives all of them the whole.
    """

    name = "xla-expand-communication"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Raises ConversionFailed for contexts that cannot be tracked, and for tuples."""
        contents = inventory(op)
        has_tokens = any(isinstance(type_, TokenType) for type_ in contents.types)
        if not has_tokens and contents.operations.isdisjoint(CONVERSIONS):
            return False
        found = [(each, _objection(each)) for each in operations_in(op)]
        objections = [illegal_op(each, reason) for each, reason in found if reason is not None]
        if objections:
            raise ConversionFailed(self.name, objections)
        try:
            contexts = Contexts.of(op)
        except ContextFault as fault:
            raise ConversionFailed(self.name, [illegal_op(fault.operation, str(fault))]) from None
        replicas, partitions = process_counts(op)
        Communication(replicas=replicas, partitions=partitions, contexts=contexts).flatten(op)
        return True


def _objection(op: Operation) -> str | None:
    """Why an operation cannot be expanded; None if it can, or has nothing to do with it."""
    if type(op) not in CONVERSIONS:
        return None
    types = [value.type for value in (*op.operands, *op.results)]
    is_tuple = any(isinstance(type_, TupleType) for type_ in types)
    return "xla-flatten-tuples takes tuples apart" if is_tuple else None


@dataclass(eq=False, kw_only=True)
class Communication(Flattening):
    """Erases tokens, and replaces the operations that they order by calls."""

    replicas: int
    partitions: int
    contexts: Contexts
    _sites: int = 0

    def is_compound(self, type_: Attribute) -> bool:
        """Whether it is a token."""
        return isinstance(type_, TokenType)

    def leaf_types(self, types: Sequence[Attribute]) -> list[Attribute]:
        """The types that are no tokens."""
        return [type_ for type_ in types if not self.is_compound(type_)]

    def flatten_operation(self, op: Operation) -> None:
        """Converts what is in the table; of all other operations, takes the tokens away."""
        convert = CONVERSIONS.get(type(op))
        if isinstance(op, CustomCallOp):
            note_tokens(op)
        if convert is None:
            super().flatten_operation(op)
            return
        values = iter(convert(self, op))
        self.replace(
            op,
            [
                [] if self.is_compound(result.type) else [in_layout(next(values), result.type, op)]
                for result in op.results
            ],
        )

    def call(
        self,
        op: XlaOp,
        types: Sequence[Attribute],
        place: Operation,
        operands: Sequence[SSAValue] | None = None,
        target: str | None = None,
    ) -> Values:
        """The results, of these types, of the call for an operation, made in front of another."""
        given = self.flat(op.operands) if operands is None else operands
        call = process_call(op, self._sites, given, [*map(_plain, types)], target)
        self._sites += 1
        self.insert([call], place)
        return list(call.results)

    def zeros(self, types: Sequence[Attribute], op: Operation) -> Values:
        """Constants for what a context has besides operands and results."""
        made: list[ConstantOp] = []
        for type_ in self.leaf_types(types):
            leaf = cast(Array, type_)
            zeros = np.zeros(sizes_of(leaf), numpy_dtype(leaf.element_type))
            made.append(ConstantOp.make((), {"value": from_numpy(zeros)}))
        self.insert(made, op)
        return [constant.result for constant in made]

    def group_sizes(self, op: GroupedOp) -> list[int]:
        """How many members each group has."""
        return op.group_sizes(self.replicas, self.partitions)

    def piece(self, op: XlaOp, type_: Array) -> int | None:
        """How much of an array each member folds; None if all of what it is given."""
        if not isinstance(op, collectives.AllReduceOp | asynchronous.AllReduceStartOp):
            return None
        size = numpy_dtype(type_.element_type).itemsize
        return piece_length(element_count(sizes_of(type_)), size, min(self.group_sizes(op)))

    def exchanged(self, op: XlaOp, types: Sequence[Attribute]) -> list[Attribute]:
        """
        What the call for a collective gives whose results have these types: stacks of what members
        bring and their number, where there is something to fold.
        """
        arrays = [cast(Array, _plain(type_)) for type_ in types]
        match op:
            case collectives.AllReduceOp() | asynchronous.AllReduceStartOp():
                places = max(self.group_sizes(op))
            case collectives.ReduceScatterOp():
                dimension = op.dimension.value.data
                whole, part = (
                    sizes_of(cast(Array, v.type))[dimension] for v in (op.inputs[0], op.outputs[0])
                )
                places = whole // part if part else max(self.group_sizes(op))
            case _:
                return list[Attribute](arrays)
        stacks: list[Attribute] = []
        for each in arrays:
            length = self.piece(op, each)
            row = sizes_of(each) if length is None else (length,)
            stacks.append(array(each.element_type, (places, *row)))
        return [*stacks, _COUNT]

    def folded(
        self, op: XlaOp, types: Sequence[Attribute], values: Values, place: Operation
    ) -> Values:
        """What a collective makes of what was exchanged, in results of these types."""
        if not op.regions:
            return values
        fold = resolve_name("lowerings.communication.computations:fold")
        (computation,) = op.regions
        is_full = isinstance(op, GroupedOp) and op.groups.size is not None
        found = build_before(place, values, fold, computation, is_full)
        plain = [_plain(type_) for type_ in types]
        cut = [n for n, type_ in enumerate(plain) if self.piece(op, cast(Array, type_)) is not None]
        if cut:
            pieces, target = [found[n] for n in cut], collectives.AllReduceOp.name + GATHER
            wholes = self.call(op, [plain[n] for n in cut], place, pieces, target)
            for number, whole in zip(cut, wholes, strict=True):
                found[number] = whole
        return found


_COUNT = array(BY_NAME["s32"].type, ())
_STATE = array(BY_NAME["u64"].type, (3,))


def _plain(type_: Attribute) -> Attribute:
    return without_layout(cast(Array, type_))


def convert_call(to: Communication, op: XlaOp) -> Values:
    """A call with arrays for results."""
    return to.call(op, to.leaf_types(op.result_types), op)


def convert_collective(to: Communication, op: XlaOp) -> Values:
    """An exchange, and a fold of what was exchanged if there is a computation."""
    types = to.leaf_types(op.result_types)
    return to.folded(op, types, to.call(op, to.exchanged(op, types), op), op)


def convert_start(to: Communication, op: Starts) -> Values:
    """Operands, a number for what is under way, and zeros."""
    start = Start.of(op)
    if start.begun is None:
        return _at_once(to, op, start)
    target = op.name if start.begun is op else start.begun.name + START
    inputs = to.flat(op.operands)
    (handle,) = to.call(start.begun, [HANDLE], op, inputs, target)
    under_way = start.places
    rest = op.result_types[under_way.stop :]
    results = [handle] * (under_way.stop - under_way.start)
    return [*inputs[: under_way.start], *results, *to.zeros(rest, op)]


def _at_once(to: Communication, op: XlaOp, start: Start) -> Values:
    """The context of what is computed where it starts."""
    if isinstance(op, asynchronous.CopyStartOp):
        copied = in_layout(op.operand, op.results[0].type, op)
        return [copied, op.operand, *to.zeros(op.result_types[2:], op)]
    assert isinstance(op, asynchronous.AsyncStartOp)
    results = _inlined(to, op)
    return [*to.flat(op.inputs), *results, *to.zeros(op.result_types[start.places.stop :], op)]


def _inlined(to: Communication, op: asynchronous.AsyncStartOp) -> Values:
    """Moves an asynchronous computation in front of its start; gives what it returns."""
    block, around = op.calls.block, op.parent
    assert around is not None
    for argument, value in zip(block.args, op.inputs, strict=True):
        if to.is_compound(argument.type):
            to.leaves[argument] = []
        else:
            argument.replace_all_uses_with(value)
    last = block.last_op
    for inner in list(block.ops):
        if inner is not last:
            inner.detach()
            around.insert_ops_before([inner], op)
            to.flatten_operation(inner)
    return to.flat(returned(op))


def convert_update(to: Communication, op: XlaOp) -> Values:
    """The context."""
    return to.flat(op.operands)


def convert_done(to: Communication, op: XlaOp) -> Values:
    """Waits, and folds; or gives what is there already."""
    start, places = to.contexts.dones[op]
    if start.begun is None:
        return to.flat([op.operands[place] for place in sorted(places)])
    handle = op.operands[places[0]]
    types = to.leaf_types(op.result_types)
    exchanged = to.call(op, to.exchanged(start.begun, types), op, [handle])
    return to.folded(start.begun, types, exchanged, op)


def convert_receive(to: Communication, op: transfers.RecvOp) -> Values:
    """A number for what comes, and the id of a request, on which nothing depends."""
    (handle,) = to.call(op, [HANDLE], op)
    count = len(Start.of(op).results)
    return [*[handle] * count, *to.zeros(op.result_types[count:], op)]


def convert_send(to: Communication, op: transfers.SendOp) -> Values:
    """The operand, and the id of a request, on which nothing depends."""
    to.call(op, [], op)
    return [*op.operand, *to.zeros(op.result_types[len(op.operand) :], op)]


def convert_infeed(to: Communication, op: transfers.InfeedOp) -> Values:
    """The next item; nothing is read for an empty one."""
    types = to.leaf_types(op.result_types)
    return to.call(op, types, op) if types else []


def convert_nothing(to: Communication, op: XlaOp) -> Values:
    """Has token results only, which are erased."""
    return []


def convert_dependency(to: Communication, op: transfers.AddDependencyOp) -> Values:
    """The operand: calls are in order already."""
    return to.flat([op.operand])


def convert_random(to: Communication, op: random.RngOp) -> Values:
    """Numbers made from a state that the process gives."""
    wanted = element_count(sizes_of(cast(Array, op.result.type)))
    count = ConstantOp.make((), {"value": from_numpy(np.array(wanted, np.uint64))})
    to.insert([count], op)
    (state,) = to.call(op, [_STATE], op, [op.a, op.b, count.result])
    numbers = resolve_name("lowerings.communication.computations:numbers")
    return build_before(op, [state, op.a, op.b], numbers, op)


_STARTS = (
    asynchronous.AllGatherStartOp,
    asynchronous.AllReduceStartOp,
    asynchronous.AsyncStartOp,
    asynchronous.CollectivePermuteStartOp,
    asynchronous.CopyStartOp,
)
_DONES = (
    asynchronous.AllGatherDoneOp,
    asynchronous.AllReduceDoneOp,
    asynchronous.AsyncDoneOp,
    asynchronous.CollectivePermuteDoneOp,
    asynchronous.CopyDoneOp,
    transfers.RecvDoneOp,
)
CONVERSIONS = (
    OperationTable[Callable[[Communication, Operation], Values]]()
    .add(operations_of(collectives), convert_collective)
    .add(_STARTS, convert_start)
    .add(_DONES, convert_done)
    .add(asynchronous.AsyncUpdateOp, convert_update)
    .add(random.RngGetAndUpdateStateOp, convert_call)
    .add(random.RngOp, convert_random)
    .add(transfers.AddDependencyOp, convert_dependency)
    .add(transfers.AfterAllOp, convert_nothing)
    .add(transfers.InfeedOp, convert_infeed)
    .add(transfers.OutfeedOp, convert_call)
    .add(transfers.RecvOp, convert_receive)
    .add(transfers.SendDoneOp, convert_nothing)
    .add(transfers.SendOp, convert_send)
)
"""What becomes of each operation; the values take the place of its results, tokens left out."""


Starts = (
    asynchronous.AllGatherStartOp
    | asynchronous.AllReduceStartOp
    | asynchronous.AsyncStartOp
    | asynchronous.CollectivePermuteStartOp
    | asynchronous.CopyStartOp
    | transfers.RecvOp
)


Dones = asynchronous.DoneOp | transfers.RecvDoneOp


class ContextFault(Exception):
    """A context that cannot be followed; `operation` is where the error points."""

    def __init__(self, operation: Operation, reason: str):
        self.operation = operation
        super().__init__(reason)


@dataclass(frozen=True)
class Start:
    """The start of an operation whose results come later."""

    op: Starts
    begun: XlaOp | None
    """The operation that the process begins; None where the results are computed at once."""

    @staticmethod
    def of(op: Starts) -> Start:
        """A start; of an asynchronous computation, that of the one collective that it is."""
        match op:
            case asynchronous.CopyStartOp():
                return Start(op, None)
            case asynchronous.AsyncStartOp():
                return Start(op, only_collective(op))
            case _:
                return Start(op, op)

    @property
    def results(self) -> Sequence[SSAValue]:
        """The leaves of the context that stand for pending results."""
        return self.op.results[self.places]

    @property
    def places(self) -> slice:
        """Where they are among the leaves of the context, which begin with operands."""
        first, count = 0, len(self.op.results)
        match self.op:
            case asynchronous.AsyncStartOp():
                first, count = len(self.op.inputs), len(returned(self.op))
            case asynchronous.AllGatherStartOp():
                first = count = len(self.op.inputs)
            case asynchronous.CollectivePermuteStartOp():
                first = count = self.op.held
            case asynchronous.CopyStartOp():
                count = 1
            case transfers.RecvOp():
                # In the context of a `recv` without data, the request id stands for the result.
                count = max(count - 2, 1)
            case _:
                pass
        return slice(first, first + count)


def returned(op: asynchronous.AsyncStartOp) -> Sequence[SSAValue]:
    """What an asynchronous computation returns."""
    last = op.calls.block.last_op
    return () if last is None else last.operands


def only_collective(op: asynchronous.AsyncStartOp) -> XlaOp | None:
    """The collective that an asynchronous computation consists of; None if it is something else."""
    block = op.calls.block
    first, last = block.first_op, block.last_op
    if (
        isinstance(first, CollectiveOp)
        and first.next_op is last
        and tuple(returned(op)) == tuple(first.results)
        and tuple(first.operands) == tuple(block.args)
    ):
        return first
    return None


@dataclass(eq=False)
class Contexts:
    """The contexts of a module without tuples."""

    starts: dict[SSAValue, Start] = field(default_factory=dict[SSAValue, Start])
    """The start of every value that stands for a pending result."""
    dones: dict[Operation, tuple[Start, list[int]]] = field(
        default_factory=dict[Operation, tuple[Start, list[int]]]
    )
    """For every `*-done` its start, or one of the same kind, and the numbers of the operands that
    stand for the pending results."""

    @staticmethod
    def of(module: ModuleOp) -> Contexts:
        """
        Follows all contexts of a module; pending results that the process computes become handles.

        Raises ContextFault where an operation other than a `*-done` uses a pending result.
        """
        contexts = Contexts()
        for op in operations_in(module):
            if isinstance(op, Starts):
                start = Start.of(op)
                for result in start.results:
                    contexts._follow(result, start)
        for op in operations_in(module):
            if isinstance(op, Dones) and op not in contexts.dones:
                raise ContextFault(op, "nothing in the program began what it waits for")
        contexts._verify_ways()
        for value, start in contexts.starts.items():
            if start.begun is not None:
                Rewriter.replace_value_with_new_type(cast(Any, value), HANDLE)
        return contexts

    def _follow(self, value: SSAValue, start: Start) -> None:
        waiting = [value]
        while waiting:
            current = waiting.pop()
            known = self.starts.get(current)
            if known is not None:
                _require_same(known, start)
                continue
            self.starts[current] = start
            for use in tuple(current.uses):
                waiting.extend(self._ways_on(use, start))

    def _ways_on(self, use: Use, start: Start) -> Iterator[SSAValue]:
        """The values that a use forwards a pending result to; adds a `*-done` to `dones`."""
        op, index = use.operation, use.index
        around = op.parent_op() if isinstance(op, control_flow.ReturnOp) else op
        assert around is not None
        forwarded = tuple(_forwarded(around, OpOperand(op, index)))
        if forwarded:
            yield from forwarded
            return
        match op:
            case asynchronous.DoneOp() | transfers.RecvDoneOp():
                self.dones.setdefault(op, (start, []))[1].append(index)
            case asynchronous.AsyncUpdateOp():
                yield op.results[index]
            case control_flow.OptBarrierOp() | control_flow.DomainOp():
                yield op.results[0]
            case control_flow.ReturnOp():
                raise ContextFault(op, "returns what has not finished")
            case _ if start.begun is not None:
                raise ContextFault(op, _misuse(op, start))
            case _:
                pass

    def _verify_ways(self) -> None:
        """Checks that loops and branches forward a pending result on all control-flow edges."""
        for value, start in self.starts.items():
            owner = value.owner
            if start.begun is None or not isinstance(owner, Operation):
                continue
            edges = owner.data_flow_edges() if isinstance(owner, XlaOp) else ()
            for source in (s for edge in edges if value in edge.targets for s in edge.sources):
                if self.starts.get(source.value) is None:
                    raise ContextFault(owner, f"hands on what {start.op.name} began, or has not")


def _require_same(known: Start, start: Start) -> None:
    """A `*-done` is lowered for one start: others that reach it must run the same operation."""
    if known.op is start.op:
        return
    first, second = known.begun or known.op, start.begun or start.op
    same = (
        type(first) is type(second)
        and len(known.results) == len(start.results)
        and all(
            one.is_structurally_equivalent(other)
            for one, other in zip(first.regions, second.regions, strict=True)
        )
        and first.properties.keys() == second.properties.keys()
    )
    if not same:
        raise ContextFault(start.op, f"its context comes together with that of {known.op.name}")


def _misuse(op: Operation, start: Start) -> str:
    if isinstance(op, func.ReturnOp):
        return "the program returns what an asynchronous operation has not finished"
    return f"uses what {start.op.name} has not finished"


def _forwarded(op: Operation, operand: OpOperand) -> Iterator[SSAValue]:
    """The values that an operation forwards one of its operands, or of a terminator in it, to."""
    edges = op.data_flow_edges() if isinstance(op, XlaOp) else ()
    return (target for edge in edges if operand in edge.sources for target in edge.targets)
