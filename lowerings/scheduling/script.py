"""
Runs scripts of the transform dialect: handles, sequences, and what becomes of handles whose
operations a step consumes. What the steps do is in `structured_steps` and `control_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.transform import NamedSequenceOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.schedule import ScheduleError, set_schedule
from lowerings.loops.schedule_rules import loops_by
from lowerings.rewriting.conversion import describe_place
from lowerings.rewriting.failure import FailedAt, describe_location
from lowerings.scheduling.scheduled_operation import ScheduledOperation, TileLoop
from lowerings.tensors.fusion_decisions import FusionError
from xla_dialect.xdsl.traversal import operations_in

Payload: TypeAlias = "Operation | TileLoop | Attribute"
"""What a handle stands for: an operation, a loop of a schedule; a parameter is an attribute."""
Handle: TypeAlias = "tuple[Payload, ...]"
PassFinder: TypeAlias = Callable[[str, Mapping[str, Any]], ModulePass]
"""Makes a pass of its name and options; raises an error that names what there is not."""


class ScriptError(FailedAt):
    """A step of a script that cannot be done; it names the step, and the operation if there is."""


class SilenceableFailure(ScriptError):
    """One that leaves the program as it was, so that a script may go on."""


def described(payload: Payload) -> str:
    """A payload as messages name it."""
    match payload:
        case TileLoop():
            return f"the loop over d{payload.dimension} of {described(payload.owner.op)}"
        case Operation():
            place = describe_place(payload)
            return f"{payload.name} {place if ' ' in place else f'at {place}'}"
        case _:
            return f"parameter {payload}"


Step: TypeAlias = "Callable[[Script, Any, Sequence[Handle]], Sequence[Handle] | None]"
"""
What a transform operation does, given the handles of its operands; it returns those of its results,
if it has some.
"""
Steps: TypeAlias = Mapping[type[Operation], Step]


@dataclass
class Script:
    """One run of a script on a module."""

    ctx: Context
    payload: ModuleOp
    sequences: Mapping[str, NamedSequenceOp]
    reading: Steps
    consuming: Steps
    """Those after which no other handle may stand for the operations of their first operand."""
    find_pass: PassFinder
    knobs: Mapping[str, str] = field(default_factory=dict[str, str])
    settled: set[str] = field(default_factory=set[str])
    """The knobs that the script has asked for."""
    handles: dict[SSAValue, Handle] = field(default_factory=dict[SSAValue, Handle])
    consumed: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    """Handles that stand for nothing any more, with the step that is the reason."""
    scheduled: dict[Operation, ScheduledOperation] = field(
        default_factory=dict[Operation, ScheduledOperation]
    )
    changed_by: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """For operations with a schedule from here the last step that changed it."""
    running: list[str] = field(default_factory=list[str])
    """The sequences that run now."""

    def run(self, entry: str) -> None:
        """
        Runs a sequence on the module, then checks the schedules that it gave.

        Raises ScriptError with the place of the step.
        """
        sequence = self.sequences.get(entry)
        if sequence is None:
            raise ScriptError(
                self.payload.location, f"there is no transform.named_sequence @{entry}"
            )
        extra = len(sequence.body.block.args) - 1
        if extra:
            self.fail(sequence, f"the entry has one argument, the program; found {extra + 1}")
        self.run_sequence(entry, [(self.payload,)], sequence)
        self.check_schedules()

    def check_schedules(self) -> None:
        """Checks the rules of the schedules so far; what follows may rely on them."""
        alive = set(operations_in(self.payload))
        for op, step in self.changed_by.items():
            if op not in alive:
                continue
            with self.failing(step, op):
                loops_by(self.scheduled[op].nest, self.scheduled[op].finished())
        self.changed_by.clear()

    def run_sequence(
        self, name: str, arguments: Sequence[Handle], caller: Operation
    ) -> Sequence[Handle]:
        """Runs a named sequence; returns what it yields."""
        sequence = self.sequences.get(name)
        if sequence is None:
            self.fail(caller, f"there is no transform.named_sequence @{name}")
        if name in self.running:
            self.fail(caller, f"@{name} includes itself")
        block = sequence.body.block
        if len(block.args) != len(arguments):
            self.fail(caller, f"@{name} has {len(block.args)} arguments; given {len(arguments)}")
        self.running.append(name)
        try:
            return self.run_block(block, arguments)
        finally:
            self.running.pop()

    def run_block(self, block: Block, arguments: Sequence[Handle]) -> Sequence[Handle]:
        """Runs the steps of a block; returns what it yields."""
        self._define(block.args, arguments)
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [self._handle(op, operand) for operand in op.arguments]
            self._run_step(op)
        return []

    def _run_step(self, op: Operation) -> None:
        run = self.reading.get(type(op)) or self.consuming.get(type(op))
        if run is None:
            self.fail(op, "this step is not supported")
        given = [self._handle(op, operand) for operand in op.operands]
        if type(op) in self.consuming:
            for number, payload in enumerate(given[0]):
                if payload in given[0][:number]:
                    self.fail(op, "the handle stands for this operation twice", payload)
            self._consume(given[0], op)
        results = run(self, op, given) or ()
        if len(results) != len(op.results):
            self.fail(op, f"{len(op.results)} results; the step has {len(results)}")
        self._define(op.results, results)

    def _define(self, values: Sequence[SSAValue], handles: Sequence[Handle]) -> None:
        for value, handle in zip(values, handles, strict=True):
            self.consumed.pop(value, None)
            self.handles[value] = handle

    def _handle(self, op: Operation, value: SSAValue) -> Handle:
        reason = self.consumed.get(value)
        if reason is not None:
            number = list(op.operands).index(value)
            name = f"%{value.name_hint}" if value.name_hint else f"operand {number}"
            place = describe_location(reason.location)
            self.fail(op, f"{name} stands for what {reason.name} at {place} has consumed")
        return self.handles[value]

    def _consume(self, handle: Handle, by: Operation) -> None:
        """Takes the meaning from all handles to operations of a handle, or to what is in them."""
        gone: set[Payload] = set()
        for payload in handle:
            if isinstance(payload, TileLoop):
                owner = payload.owner
                gone.update(owner.loops[owner.loops.index(payload) :], [owner.op])
            elif isinstance(payload, Operation):
                gone.update(inside := operations_in(payload))
                nested = (self.scheduled[op] for op in inside[1:] if op in self.scheduled)
                gone.update(loop for each in nested for loop in each.loops)
        for value, other in self.handles.items():
            if not gone.isdisjoint(other):
                self.consumed.setdefault(value, by)

    def operation(self, step: Operation, payload: Payload) -> ScheduledOperation:
        """The loops of an operation that a step is to change."""
        if not isinstance(payload, Operation):
            self.fail(step, "this is no operation", payload)
        found = self.scheduled.get(payload)
        if found is None:
            with self.failing(step, payload):
                found = self.scheduled[payload] = ScheduledOperation(payload)
        return found

    def replace(self, old: Operation, new: Operation) -> None:
        """Lets handles stand for what an operation has become."""
        for value, handle in self.handles.items():
            if old in handle:
                self.handles[value] = tuple(new if each is old else each for each in handle)
        self.scheduled[new] = self.scheduled.pop(old)
        self.changed_by.pop(old, None)

    def give_schedule(self, scheduled: ScheduledOperation, step: Operation) -> None:
        """Makes an operation carry what steps have made of its loops."""
        set_schedule(scheduled.op, scheduled.finished())
        self.changed_by[scheduled.op] = step

    @contextmanager
    def failing(self, step: Operation, payload: Payload) -> Generator[None]:
        """Fails a step for what it is to change, with the reason why that cannot be."""
        try:
            yield
        except FusionError as error:
            self.fail(step, error.reason, payload)
        except (ScheduleError, PassFailedException) as error:
            self.fail(step, str(error), payload)

    def fail(self, step: Operation, message: str, *payload: Payload) -> NoReturn:
        """Raises ScriptError for a step, or SilenceableFailure if it names what it fails for."""
        about = "".join(f"{described(each)}: " for each in payload)
        kind = SilenceableFailure if payload else ScriptError
        raise kind(step.location, f"{step.name}: {about}{message}")


def operations_of(script: Script, step: Operation, handle: Handle) -> Iterable[Operation]:
    """The operations of a handle; fails for parameters and loops of schedules."""
    for payload in handle:
        if not isinstance(payload, Operation):
            script.fail(step, "this is no operation of the program", payload)
        yield payload
