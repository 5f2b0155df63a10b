"""
How machine code ends before its time: where a check fails, and where its caller asks it to stop.

A module with guards has one global of words, `RunState`. Its first is 0 while all is well. What
finds another number there returns at once, and so do its callers: no exception passes through
machine code, and every thread ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Operation

from lowerings.targets.llvm.constants import symbol as spell_symbol
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.interface import Guard, ModuleGuards, RunState
from lowerings.targets.llvm.polling import PollPlan
from xla_dialect.violations import place_of


@dataclass
class GuardWriter:
    """The guards of a module while it is printed."""

    name: str
    """Of the global, and with `.fail` of the function that notes a failure."""
    plan: PollPlan
    """Where loops and calls look."""
    guards: list[Guard] = field(default_factory=list[Guard])
    _may_fail: bool = False
    """Whether there is something that may fail."""

    @property
    def state(self) -> str:
        """The symbol of the global."""
        return spell_symbol(self.name)

    @property
    def failure(self) -> str:
        """The symbol of the function that notes a failure."""
        return spell_symbol(f"{self.name}.fail")

    @property
    def stopping(self) -> Collection[str]:
        """The functions that may end before their time."""
        return self.plan.stopping

    def require(
        self,
        e: FunctionEmitter,
        op: Operation,
        condition: str,
        message: str,
        found: str = "0",
        limit: str = "0",
    ) -> None:
        """
        Ends the run unless an i1 is true. `found` and `limit` are operands of type i64 for the
        message.
        """
        if condition == "true":
            return
        self._may_fail = True
        number = self._number(op, message)
        inside, outside = e.new_label("inside"), e.new_label("outside")
        e.emit(f"br i1 {condition}, label %{inside}, label %{outside}")
        e.start_block(outside)
        e.emit(f"call void {self.failure}(i64 {number}, i64 {found}, i64 {limit})")
        leave(e)
        e.start_block(inside)

    def poll(self, e: FunctionEmitter) -> None:
        """Ends the run if its caller asks for it."""
        # Volatile: another thread writes it. Not atomic, which would order other accesses too.
        self._leave_if_failed(e, "load volatile")

    def intervals(self, op: Operation) -> Sequence[int]:
        """After how many iterations a loop polls, for each dimension: 0 if never."""
        return self.plan.intervals.get(op, ())

    def after_call(self, e: FunctionEmitter, op: func.CallOp) -> None:
        """Ends the run if that of a called function has ended, or polls where that is due."""
        if op.callee.string_value() not in self.stopping:
            if op in self.plan.after:
                self.poll(e)
            return
        place = place_of(op.location)
        number = 0 if place is None else self._number(op, "") + 1

        def note() -> None:
            if number:
                e.emit(f"store i64 {number}, ptr {self._word(e, RunState.CALL)}, align 8")

        self._leave_if_failed(e, "load", note)

    def after_task(self, e: FunctionEmitter) -> None:
        """Ends the run if a thread has ended it that did a part of this function."""
        if e.function.name in self.stopping:
            self._leave_if_failed(e, "load")

    def _leave_if_failed(
        self, e: FunctionEmitter, load: str, before: Callable[[], None] | None = None
    ) -> None:
        failure = e.temporary(f"{load} i64, ptr {self.state}, align 8")
        goes_on = e.temporary(f"icmp eq i64 {failure}, 0")
        on, out = e.new_label("on"), e.new_label("out")
        e.emit(f"br i1 {goes_on}, label %{on}, label %{out}")
        e.start_block(out)
        if before is not None:
            before()
        leave(e)
        e.start_block(on)

    def _word(self, e: FunctionEmitter, word: RunState) -> str:
        return e.temporary(f"getelementptr inbounds i64, ptr {self.state}, i64 {word.value}")

    def _number(self, op: Operation, message: str) -> int:
        self.guards.append(Guard(message, place_of(op.location)))
        return len(self.guards) - 1

    def declarations(self) -> list[str]:
        """The global, and the function that notes a failure, the first of a run only."""
        # `dso_local`: defined in this object, so that code addresses it without the GOT.
        state = f"{self.state} = dso_local global [{len(RunState)} x i64] zeroinitializer, align 64"
        if not self._may_fail:
            return [state]
        words = [
            f"  %word{word.value} = getelementptr inbounds i64, ptr {self.state}, i64 {word.value}"
            for word in (RunState.FOUND, RunState.LIMIT)
        ]
        return [
            state,
            f"define internal void {self.failure}(i64 %number, i64 %found, i64 %limit) "
            "cold noinline nounwind {",
            "  %failure = add i64 %number, 1",
            f"  %before = cmpxchg ptr {self.state}, i64 0, i64 %failure monotonic monotonic",
            "  %first = extractvalue { i64, i1 } %before, 1",
            "  br i1 %first, label %note, label %end",
            "note:",
            *words,
            "  store i64 %found, ptr %word1, align 8",
            "  store i64 %limit, ptr %word2, align 8",
            "  br label %end",
            "end:",
            "  ret void",
            "}",
        ]

    def written(self) -> ModuleGuards:
        """What a caller needs to know, when all functions are printed."""
        return ModuleGuards(self.name, tuple(self.guards))


def leave(e: FunctionEmitter) -> None:
    """Returns from the function; callers ignore the result of a run that has ended."""
    e.emit(f"ret {e.result_type}" + ("" if e.result_type == "void" else " zeroinitializer"))


def guarded_by_checks(
    handlers: dict[type[Operation], Handler],
    checks: Mapping[type[Operation], Callable[[FunctionEmitter, Operation, GuardWriter], None]],
    writer: GuardWriter,
) -> dict[type[Operation], Handler]:
    """The handlers, each after the check of its operation."""

    def checked(
        handler: Handler, check: Callable[[FunctionEmitter, Operation, GuardWriter], None]
    ) -> Handler:
        def emit(e: FunctionEmitter, op: Operation) -> None:
            check(e, op, writer)
            handler(e, op)

        return emit

    return handlers | {
        kind: checked(handlers[kind], check) for kind, check in checks.items() if kind in handlers
    }
