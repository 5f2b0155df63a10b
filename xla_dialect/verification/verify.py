"""Verification of a whole module, with an error that says where.

Beyond xDSL's verifier: operands are defined before they are used, calls agree with their functions,
channels have two ends that do not wait for each other in a cycle, and the error points into the
source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xla_dialect.analysis.calls import Call, callee, callees, is_call, runs_functions
from xla_dialect.analysis.channels import ChannelFault, verify_channels
from xla_dialect.analysis.mixed_precision import require_one_precision
from xla_dialect.diagnostics import LocatedError
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.ops.process_groups import CollectiveOp, process_counts
from xla_dialect.ops.transfers import TransferStartOp
from xla_dialect.places import place_of
from xla_dialect.self_checking.interpreter import RunParallelOp
from xla_dialect.types import all_compatible, keeps_marks, spell_all
from xla_dialect.verification.shardings import ShardingFault, verify_shardings
from xla_dialect.verification.verified_keys import VerifiedKeys, is_decided_by_key
from xla_dialect.xdsl.dominance import NotDefined, verify_alone, visit_in_order
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.recursion import deep_recursion
from xla_dialect.xdsl.traversal import operations_in


class InvalidProgram(LocatedError):
    """A module that breaks a rule of one of its operations."""


Sources = Mapping[str, str]
"""From file name to text: messages quote the line that a location names."""


@deep_recursion()
def verify(
    module: ModuleOp, sources: Sources | None = None, *, mixes_precisions: bool = True
) -> None:
    """
    Verifies every operation of a module; raises `InvalidProgram` for the first that fails.

    `sources` are the texts that locations refer to. `mixes_precisions`: whether operations may have
    floats of several precisions, as HLO has them and StableHLO has not.
    """
    _verify(module, sources or {}, _raise, mixes_precisions)


def violations(
    module: ModuleOp, sources: Sources | None = None, *, mixes_precisions: bool = True
) -> list[InvalidProgram]:
    """
    What `verify` finds, of every operation that fails.

    A value that is used before its definition ends the search, and what a whole module has to obey
    is asked of one whose operations are all right.
    """
    found: list[InvalidProgram] = []
    try:
        _verify(module, sources or {}, found.append, mixes_precisions)
    except InvalidProgram as error:
        found.append(error)
    return found


def _raise(error: InvalidProgram) -> None:
    raise error


def _verify(
    module: ModuleOp,
    sources: Sources,
    report: Callable[[InvalidProgram], None],
    mixes_precisions: bool,
) -> None:
    """Verifies a module; the errors of single operations are reported."""
    found = 0

    def count(error: InvalidProgram) -> None:
        nonlocal found
        found += 1
        report(error)

    functions = {
        op.sym_name.data: op
        for op in module.ops
        # A function without name or type fails its own verification; no call can refer to it.
        if isinstance(op, FuncOp)
        and isinstance(op.properties.get("sym_name"), StringAttr)
        and isinstance(op.properties.get("function_type"), FunctionType)
    }
    program = _Program(functions, sources, process_counts(module), count, mixes_precisions)
    try:
        visit_in_order(module.body, lambda op: _verify_operation(op, program))
    except NotDefined as fault:
        raise invalid_program(fault.operation, str(fault), program.sources) from None
    if found:
        return
    runners = {
        name: list(filter(runs_functions, operations_in(function)))
        for name, function in functions.items()
    }
    _verify_call_graph(runners, program)
    try:
        verify_channels(
            program.transfers, functions, filter(is_call, chain.from_iterable(runners.values()))
        )
        verify_shardings(module)
    except (ChannelFault, ShardingFault) as fault:
        raise invalid_program(fault.operation, str(fault), program.sources) from None


@dataclass(frozen=True)
class _Program:
    """The facts of a module that verifiers of single operations need."""

    functions: Mapping[str, FuncOp]
    sources: Sources
    process_counts: tuple[int, int]
    """How many replicas and partitions run it."""
    report: Callable[[InvalidProgram], None]
    """Takes the error of a single operation; may raise it."""
    mixes_precisions: bool
    transfers: list[TransferStartOp] = field(default_factory=list[TransferStartOp])
    """The transfers that have been verified."""
    verified: VerifiedKeys = field(default_factory=VerifiedKeys)


def invalid_program(op: Operation, message: str, sources: Sources) -> InvalidProgram:
    """The error at the location of an operation."""
    place = place_of(op.location)
    if place is None:
        return InvalidProgram(f"{message}{_context(op)}")
    file, line, column = place
    text = sources.get(file, "")
    lines = text.split("\n", line) if text else []
    source_line = lines[line - 1] if 0 < line <= len(lines) else ""
    return InvalidProgram(message, file, line, column, source_line)


def _context(op: Operation) -> str:
    """Which function an operation without a location is in."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return "" if parent is None else f" (in @{parent.sym_name.data})"


_Check: TypeAlias = Callable[[Operation, "_Program"], None]


def _verify_transfer(op: TransferStartOp, program: _Program) -> None:
    op.verify_users()
    program.transfers.append(op)


_CHECKS = (
    OperationTable[_Check]()
    .add((CallOp, FuncCallOp), lambda op, program: _verify_call(op, program.functions))
    .add(CollectiveOp, lambda op, program: op.verify_processes(*program.process_counts))
    .add(RunParallelOp, lambda op, program: op.verify_functions(program.functions))
    .add(TransferStartOp, _verify_transfer)
)
"""The checks against the module around an operation, for classes and their subclasses."""


@cache
def _check_beside_the_program(operation: type[Operation]) -> _Check | None:
    return next((check for base, check in _CHECKS.items() if issubclass(operation, base)), None)


def _verify_operation(op: Operation, program: _Program) -> None:
    try:
        if not is_decided_by_key(op):
            _verify_alone(op, program)
        elif (key := program.verified.key(op)) not in program.verified:
            _verify_alone(op, program)
            program.verified.add(key)
        check = _check_beside_the_program(type(op))
        if check is not None:
            check(op, program)
    except VerifyException as error:
        program.report(invalid_program(op, _message(op, error), program.sources))


def _verify_alone(op: Operation, program: _Program) -> None:
    verify_alone(op)
    if not program.mixes_precisions and isinstance(op, XlaOp):
        require_one_precision(op)


def _message(op: Operation, error: VerifyException) -> str:
    """The innermost message; xDSL wraps it into an excerpt of the whole module."""
    cause: BaseException = error
    while isinstance(cause.__cause__, VerifyException):
        cause = cause.__cause__
    message = str(cause).strip()
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


def _verify_call_graph(
    runners: Mapping[str, Sequence[Call | RunParallelOp]], program: _Program
) -> None:
    """
    No function calls itself, directly or through others (Call: the graph is acyclic).

    `runners`: by function, what runs functions in its body.
    """
    calls = {name: [(op, c) for op in ops for c in callees(op)] for name, ops in runners.items()}
    done: set[str] = set()
    for start in calls:
        path: list[str] = []
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                path.pop()
                done.add(name)
                continue
            if name in done:
                continue
            path.append(name)
            stack.append((name, True))
            for call, called in calls[name]:
                if called in path:
                    cycle = " -> ".join(f"@{n}" for n in [*path, called])
                    raise invalid_program(
                        call,
                        f"{call.name}: functions call each other in a cycle: {cycle}",
                        program.sources,
                    )
                stack.append((called, False))
