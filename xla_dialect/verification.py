"""Verification of a whole module, with an error that says where.

Beyond xDSL's verifier: operands are defined before they are used, calls agree with their functions,
channels have two ends that do not wait for each other in a cycle, and the error points into the
source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import FunctionType, LocationAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import HasAncestor, HasParent, IsTerminator, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from xla_dialect.analysis.computations import (
    RUN_PARALLEL,
    Call,
    callee,
    callees,
    is_call,
    runs_functions,
)
from xla_dialect.analysis.mixed_precision import require_one_precision
from xla_dialect.diagnostics import LocatedError, line_at
from xla_dialect.op import XlaOp
from xla_dialect.ops.asynchronous import as_one
from xla_dialect.ops.collectives import CollectiveOp, process_counts
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.transfers import (
    RecvDoneOp,
    RecvOp,
    SendOp,
    TransferOp,
    TransferStartOp,
    transferred,
)
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    SHARDING,
    SHARDING_RULE,
    ShardingAttr,
    ShardingRuleAttr,
    check_sharding,
    meshes_of,
    result_shardings,
)
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.types import (
    all_compatible,
    compatible,
    extents,
    flatten,
    is_array,
    keeps_marks,
    spell,
    spell_all,
)
from xla_dialect.violations import Violation, described, innermost, place_of
from xla_dialect.xdsl.dominance import NotDefined, verify_alone, visit_in_order
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import (
    AttributeIdentities,
    deep_recursion,
    function_of,
    operands_of,
    operations_in,
)

if TYPE_CHECKING:
    from xla_dialect.self_checking import RunParallelOp


class Fault(Exception):
    """A rule that a module breaks as a whole; `operation` is where the error points."""

    def __init__(self, operation: Operation, message: str):
        self.operation = operation
        super().__init__(message)


# Channels between devices: what is certain about them before anything runs.
#
# A channel has one `send` and one `recv` (C1) of one type (C4). A `send` comes after its `recv`,
# and what `recv_done` waits for comes after the `send` (Send, "schedule"). Where these orders and
# the dependences of the programs form a cycle, none of its operations can ever be the first to be
# executed: whatever reaches it waits forever.
#
# Left to the run are: a channel of which a program has one end only, because the other may be in
# another program, and ends that are executed unequally often. An order that is written in control
# predecessors or in a schedule, and what branches and loops compute, count as no dependence. Host
# transfers are no channels between devices, and number 0 stands for no channel. Transfers with
# source-target pairs are executed by every device, whether it sends and receives or not.


def _channel_fault(op: Operation, message: str) -> Fault:
    """A rule that transfers break together."""
    return Fault(op, f"{op.name}: {message}")


@dataclass
class Channel:
    """The ends of a channel that a module has."""

    number: int
    send: SendOp | None = None
    recv: RecvOp | None = None

    def add(self, end: TransferStartOp) -> None:
        """Adds an end; raises Fault for a second one of its kind (C1)."""
        known = self.send if isinstance(end, SendOp) else self.recv
        if known is not None:
            raise _channel_fault(end, f"(C1) channel {self.number} has another {described(known)}")
        if isinstance(end, SendOp):
            self.send = end
        elif isinstance(end, RecvOp):
            self.recv = end

    def verify_type(self) -> None:
        """Raises Fault where the ends have different types (C4)."""
        if self.send is None or self.recv is None:
            return
        sent = as_one([value.type for value in self.send.operand])
        received = transferred(tuple(self.recv.result_types), "Result")
        if not compatible(sent, received):
            raise _channel_fault(
                self.recv,
                f"(C4) receives {spell(received)} on channel {self.number}, "
                f"{described(self.send)} sends {spell(sent)}",
            )


def verify_channels(
    transfers: Iterable[TransferStartOp],
    functions: Mapping[str, FuncOp],
    calls: Iterable[Call],
) -> None:
    """
    Checks the transfers of a module, all of them; raises Fault.

    `functions` are those of the module by name, `calls` all their calls.
    """
    channels: dict[int, Channel] = {}
    for transfer in transfers:
        number = transfer.channel
        if number and not transfer.with_host and transfer.pairs_text is None:
            channels.setdefault(number, Channel(number)).add(transfer)
    complete = {n: c for n, c in channels.items() if c.send is not None and c.recv is not None}
    for channel in complete.values():
        channel.verify_type()
    if complete:
        order = _Order(complete, functions, _only_calls(functions, calls))
        for channel in complete.values():
            order.verify_no_cycle(cast(SendOp, channel.send))


def _only_calls(functions: Mapping[str, FuncOp], calls: Iterable[Call]) -> dict[str, Call]:
    """By private function, its call, where there is just one."""
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        by_name.setdefault(callee(call), []).append(call)
    return {
        name: found[0]
        for name, found in by_name.items()
        if len(found) == 1 and _is_private(functions.get(name))
    }


def _is_private(function: FuncOp | None) -> bool:
    visibility = None if function is None else function.sym_visibility
    return visibility is not None and visibility.data == "private"


def _producers(values: Iterable[SSAValue]) -> list[Operation]:
    return [value.owner for value in values if isinstance(value.owner, Operation)]


@dataclass
class _Order:
    """Which operations are executed before every execution of which others."""

    channels: Mapping[int, Channel]
    functions: Mapping[str, FuncOp]
    only_calls: Mapping[str, Call]
    _acyclic: set[Operation] = field(default_factory=set[Operation])
    """Operations without a cycle among what comes before them."""

    def before(self, op: Operation) -> list[Operation]:
        """Operations of which each has been executed before `op` ends, whenever that happens."""
        found = [end for end in (self.other_end(op),) if end is not None]
        if is_call(op):
            function = self.functions.get(callee(op))
            last = None if function is None else function.body.block.last_op
            found += [] if last is None else _producers(last.operands)
        around: Operation | None = op
        while around is not None:
            found += _producers(around.operands)
            if isinstance(around, FuncOp):
                around = self.only_calls.get(around.sym_name.data)
            else:
                around = around.parent_op()
        return found

    def other_end(self, op: Operation) -> Operation | None:
        """What `op` waits for over a channel."""
        if not isinstance(op, SendOp | RecvDoneOp) or op.channel is None or op.with_host:
            return None
        channel = self.channels.get(op.channel)
        if channel is None:
            return None
        return channel.recv if isinstance(op, SendOp) else channel.send

    def verify_no_cycle(self, start: Operation) -> None:
        """Raises Fault where `start` waits for itself, or for what does."""
        path = _path_into_cycle(start, self.before, self._acyclic)
        if path is not None:
            raise self._fault(path[path.index(path[-1]) : -1])

    def _fault(self, cycle: Sequence[Operation]) -> Fault:
        """The error for operations that each wait for the next, and the last for the first."""
        waits = [
            self.other_end(op) is after
            for op, after in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        ]
        # At least one step of the cycle goes through a channel, since operands precede their users.
        first = waits.index(True)
        ends = [
            (op, does_wait)
            for op, does_wait in zip(
                (*cycle[first:], *cycle[:first]), (*waits[first:], *waits[:first]), strict=True
            )
            if isinstance(op, TransferOp)
        ]
        reasons = [
            f"{'waits for' if does_wait else 'comes after'} {_spelled(after)}"
            for (_, does_wait), (after, _) in zip(ends, (*ends[1:], ends[0]), strict=True)
        ]
        place = ends[0][0]
        return _channel_fault(
            place, f"on channel {place.channel} waits forever: it {', which '.join(reasons)}"
        )


def _spelled(transfer: TransferOp) -> str:
    """A transfer as messages name it: operation, place and channel."""
    return f"{described(transfer)} on channel {transfer.channel}"


# Shardings name meshes and axes that there are, each axis once, and fit their arrays.
#
# So do the sharding rules of operations. Rules: docs/specification/shardings.md.


def verify_shardings(module: ModuleOp) -> None:
    """Raises Fault for the first sharding of a module that does not fit."""
    meshes: Mapping[str, Mesh] | None = None
    # Arrays that are split alike share a sharding, and most of them their type.
    right: set[tuple[int, int]] = set()
    for op in operations_in(module):
        if isinstance(op, FuncOp):
            if op.arg_attrs is None and op.res_attrs is None:
                continue
        else:
            if SHARDING_RULE in op.attributes:
                _check_rule(op)
            if SHARDING not in op.attributes:
                continue
        if meshes is None:
            meshes = meshes_of(module)
        for what, sharding, type_ in _said(op):
            if (id(sharding), id(type_)) in right:
                continue
            try:
                check_sharding("sharding", sharding, type_, meshes)
            except VerifyException as error:
                raise Fault(op, f"{what}: {error}") from None
            right.add((id(sharding), id(type_)))


def _said(op: Operation) -> Iterator[tuple[str, Sharding, Attribute]]:
    """What an operation says of its results, or a function of its parameters and results."""
    if isinstance(op, FuncOp):
        type_ = op.function_type
        for side, types, entries in (
            ("parameter", type_.inputs, op.arg_attrs),
            ("result", type_.outputs, op.res_attrs),
        ):
            for number, (each, entry) in enumerate(zip(types, entries or (), strict=False)):
                said = entry.data.get(SHARDING)
                if isinstance(said, ShardingAttr):
                    yield f"{side} {number}", said.data, each
                elif said is not None:
                    what = f"{side} {number}: (SH9) {SHARDING}"
                    raise Fault(op, f"{what} is {said}, not a sharding")
        return
    found = result_shardings(op)
    if found is None:
        said = op.attributes[SHARDING]
        raise Fault(op, f"(SH9) {SHARDING} is {said}, not shardings of its results")
    if len(found) != len(op.results) and op.results:
        raise Fault(op, f"(SH9) has {len(found)} shardings for {len(op.results)} results")
    for number, (sharding, result) in enumerate(zip(found, op.results, strict=False)):
        yield f"result {number}", sharding, result.type


def _check_rule(op: Operation) -> None:
    found = op.attributes[SHARDING_RULE]
    if not isinstance(found, ShardingRuleAttr):
        raise Fault(op, f"(SH22) {SHARDING_RULE} is {found}, not a sharding rule")
    try:
        check_rule(found, op)
    except VerifyException as error:
        raise Fault(op, str(error)) from None


def check_rule(rule: ShardingRuleAttr, op: Operation) -> None:
    """A sharding rule is one for the arrays of an operation; raises VerifyException."""
    try:
        rule.data.check(sizes_of_arrays(op.operand_types), sizes_of_arrays(op.result_types))
    except Violation as error:
        raise VerifyException(f"its sharding rule {rule.data}: {error}") from None


def sizes_of_arrays(types: Sequence[Attribute]) -> list[tuple[int, ...]]:
    """The sizes of arrays, those in tuples too; of tokens none."""
    return [extents(type_) if is_array(type_) else () for type_ in flatten(types)]


# Memoized verification, where verifiers depend on types and attributes alone.
#
# A program of 100,000 operations has some hundred combinations of operation, types and attributes,
# and xDSL 0.74 spends 10 to 50 us on each operation. What else an operation may be asked about (its
# place in a block, its regions, symbols) is not part of the key.

OperationKey: TypeAlias = tuple[type[Operation] | int | str, ...]
"""The class of an operation, and its types and attributes as numbers."""

VERIFIED_BY_KEY = frozenset({"arith", "complex", "linalg", "math", "memref", "tensor", "vector"})
"""Dialects beside `xla` whose verifiers look at types and attributes only: a test reads them."""

_REGIONS_OF_ANY_BODY = "linalg"
"""The dialect whose verifiers ask of a region which arguments its blocks have, and no more."""

_AROUND = (HasAncestor, HasParent, SymbolUserOpInterface)
"""Traits whose verifiers look at what is around an operation."""


class Decided(Enum):
    """Which operations of a class verify by types and attributes alone."""

    NONE = 0
    ENDS = 1
    """Terminators."""
    OTHERS = 2
    """Operations other than terminators, without regions."""
    WITH_REGIONS = 3
    """Operations other than terminators; block arguments of their regions count as types."""


@cache
def decided_by_key(operation: type[Operation]) -> Decided:
    """Which operations of a class verify by their key."""
    if operation is FuncCallOp:
        # xDSL 0.74 searches the whole module for the callee; `verify` has a table of functions.
        return Decided.OTHERS
    dialect = operation.name.partition(".")[0]
    if issubclass(operation, XlaOp):
        known = operation.verify_context is XlaOp.verify_context
    else:
        known = dialect in VERIFIED_BY_KEY
    if not known or any(isinstance(trait, _AROUND) for trait in operation.traits.traits):
        return Decided.NONE
    if any(isinstance(trait, IsTerminator) for trait in operation.traits.traits):
        return Decided.ENDS
    return Decided.WITH_REGIONS if dialect == _REGIONS_OF_ANY_BODY else Decided.OTHERS


def is_decided_by_key(op: Operation) -> bool:
    """Whether another operation of this key that verifies is proof that this one does."""
    decided = decided_by_key(type(op))
    if decided is Decided.OTHERS:
        return op.next_op is not None and not op.regions
    if decided is Decided.ENDS:
        return op.next_op is None and not op.successors
    return decided is Decided.WITH_REGIONS and op.next_op is not None


def operation_key(op: Operation, identity: AttributeIdentities) -> OperationKey:
    """The key of an operation."""
    operands = operands_of(op)
    found: list[type[Operation] | int | str] = [type(op), len(operands)]
    for value in operands:
        found.append(identity(value.type))
    for value in op.results:
        found.append(identity(value.type))
    if op.properties:
        found += identity.named(op.properties)
    found.append(len(op.properties))
    if op.attributes:
        found += identity.named(op.attributes)
    for region in op.regions:
        for block in region.blocks:
            found.append(-1)
            found += [identity(argument.type) for argument in block.args]
    return tuple(found)


class InvalidProgram(LocatedError):
    """A module that breaks a rule of one of its operations."""


Sources = Mapping[str, str]
"""From file name to text: messages quote the line that a location names."""


def verify(
    module: ModuleOp,
    sources: Sources | None = None,
    *,
    mixes_precisions: bool = True,
    has_unknown_sizes: bool = False,
) -> None:
    """
    Verifies every operation of a module; raises `InvalidProgram` for the first that fails.

    `sources` are the texts that locations refer to. `mixes_precisions`: whether operations may have
    floats of several precisions, as in HLO but not in StableHLO. `has_unknown_sizes`: whether
    arrays may have unbounded dimensions, as in StableHLO but not in HLO.
    """
    found = violations(
        module,
        sources,
        mixes_precisions=mixes_precisions,
        has_unknown_sizes=has_unknown_sizes,
    )
    if found:
        raise found[0]


@deep_recursion()
def violations(
    module: ModuleOp,
    sources: Sources | None = None,
    *,
    mixes_precisions: bool = True,
    has_unknown_sizes: bool = False,
) -> list[InvalidProgram]:
    """
    What `verify` finds, of every operation that fails.

    A value that is used before its definition ends the search, and what a whole module has to obey
    is asked of one whose operations are all right.
    """
    sources = sources or {}
    functions = {
        op.sym_name.data: op
        for op in module.ops
        # A function without name or type fails its own verification; no call can refer to it.
        if isinstance(op, FuncOp)
        and isinstance(op.properties.get("sym_name"), StringAttr)
        and isinstance(op.properties.get("function_type"), FunctionType)
    }
    program = _Program(
        functions, sources, process_counts(module), mixes_precisions, has_unknown_sizes
    )
    try:
        visit_in_order(module.body, lambda op: _verify_operation(op, program))
        if not program.errors:
            runners = {
                name: list(filter(runs_functions, operations_in(function)))
                for name, function in functions.items()
            }
            _verify_call_graph(runners)
            calls = filter(is_call, chain.from_iterable(runners.values()))
            verify_channels(program.transfers, functions, calls)
            verify_shardings(module)
    except (NotDefined, Fault) as fault:
        program.errors.append(invalid_program(fault.operation, str(fault), sources))
    return program.errors


@dataclass(frozen=True)
class _Program:
    """The facts of a module that verifiers of single operations need."""

    functions: Mapping[str, FuncOp]
    sources: Sources
    process_counts: tuple[int, int]
    """How many replicas and partitions run it."""
    mixes_precisions: bool
    has_unknown_sizes: bool
    errors: list[InvalidProgram] = field(default_factory=list[InvalidProgram])
    transfers: list[TransferStartOp] = field(default_factory=list[TransferStartOp])
    """The transfers that have been verified."""
    verified: set[OperationKey] = field(default_factory=set[OperationKey])
    """The keys of operations that were found right."""
    identity: AttributeIdentities = field(default_factory=AttributeIdentities)


def invalid_program(
    op: Operation, message: str, sources: Sources, location: LocationAttr | None = None
) -> InvalidProgram:
    """The error at a location, by default that of the operation."""
    place = place_of(location or op.location)
    if place is None:
        return InvalidProgram(f"{message}{_context(op)}")
    file, line, _ = place
    return InvalidProgram(message, *place, line_at(sources.get(file, ""), line))


def _context(op: Operation) -> str:
    """Which function an operation without a location is in."""
    function = function_of(op)
    return "" if function is None else f" (in @{function})"


_Check: TypeAlias = Callable[[Operation, "_Program"], None]


def _verify_transfer(op: TransferStartOp, program: _Program) -> None:
    op.verify_users()
    program.transfers.append(op)


_CHECKS = (
    OperationTable[_Check]()
    .add((CallOp, FuncCallOp), lambda op, program: _verify_call(op, program.functions))
    .add(CollectiveOp, lambda op, program: op.verify_processes(*program.process_counts))
    .add(TransferStartOp, _verify_transfer)
)
"""The checks against the module around an operation, for classes and their subclasses."""


@cache
def _check_beside_the_program(operation: type[Operation]) -> _Check | None:
    if operation.name == RUN_PARALLEL:
        return lambda op, program: cast("RunParallelOp", op).verify_functions(program.functions)
    return next((check for base, check in _CHECKS.items() if issubclass(operation, base)), None)


def _verify_operation(op: Operation, program: _Program) -> None:
    try:
        if not is_decided_by_key(op):
            _verify_alone(op, program)
        elif (key := operation_key(op, program.identity)) not in program.verified:
            _verify_alone(op, program)
            program.verified.add(key)
        check = _check_beside_the_program(type(op))
        if check is not None:
            check(op, program)
    except VerifyException as error:
        program.errors.append(invalid_program(op, _message(op, error), program.sources))


def _verify_alone(op: Operation, program: _Program) -> None:
    verify_alone(op)
    if not isinstance(op, XlaOp):
        return
    if not program.mixes_precisions:
        require_one_precision(op)
    if not program.has_unknown_sizes:
        op.require_bounds((*op.operand_types, *op.result_types))


def _message(op: Operation, error: VerifyException) -> str:
    """The message of the rule, with the name of the operation."""
    message = innermost(error)
    return message if message.startswith(op.name) else f"{op.name}: {message}"


def _verify_call(op: Call, functions: Mapping[str, FuncOp]) -> None:
    """(C1) and (C2) of a call, for which its function is needed."""
    name = callee(op)
    function = functions.get(name)
    if function is None:
        raise VerifyException(f"{op.name}: (C1) there is no function @{name}")
    inputs = function.function_type.inputs.data
    outputs = function.function_type.outputs.data
    given = [operand.type for operand in op.operands]
    if len(given) != len(inputs):
        raise VerifyException(
            f"{op.name}: (C1) {len(given)} operands for {len(inputs)} parameters of @{name}"
        )
    if not _passes(given, inputs):
        raise VerifyException(
            f"{op.name}: (C2) operands {spell_all(given)}, "
            f"parameters of @{name} {spell_all(inputs)}"
        )
    if not _passes(outputs, op.result_types):
        raise VerifyException(
            f"{op.name}: (Result) declared {spell_all(op.result_types)}, "
            f"@{name} returns {spell_all(outputs)}"
        )


def _passes(given: Sequence[Attribute], wanted: Sequence[Attribute]) -> bool:
    """Whether values may be passed to these parameters: a dynamic dimension needs a dynamic one."""
    return all_compatible(given, wanted) and all(map(keeps_marks, wanted, given))


def _verify_call_graph(runners: Mapping[str, Sequence[Call | RunParallelOp]]) -> None:
    """
    No function calls itself, directly or through others (Call: the graph is acyclic).

    `runners`: by function, what runs functions in its body.
    """

    def called(name: str) -> list[str]:
        return [each for op in runners[name] for each in callees(op)]

    acyclic = set[str]()
    for start in runners:
        path = _path_into_cycle(start, called, acyclic)
        if path is not None:
            call = next(op for op in runners[path[-2]] if path[-1] in callees(op))
            cycle = " -> ".join(f"@{name}" for name in path)
            raise Fault(call, f"{call.name}: functions call each other in a cycle: {cycle}")


_Node = TypeVar("_Node")


def _path_into_cycle(
    start: _Node, following: Callable[[_Node], Iterable[_Node]], acyclic: set[_Node]
) -> list[_Node] | None:
    """
    A path on which the last node is one of those before it; None where none starts here.

    Nodes that no such path starts from are added to `acyclic`, and not looked at again.
    """
    path: dict[_Node, None] = {}
    stack: list[tuple[_Node, bool]] = [(start, False)]
    while stack:
        node, leaving = stack.pop()
        if leaving:
            del path[node]
            acyclic.add(node)
        elif node in path:
            return [*path, node]
        elif node not in acyclic:
            path[node] = None
            stack.append((node, True))
            stack += [(each, False) for each in following(node)]
    return None
