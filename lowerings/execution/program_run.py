"""One run of a program, as what the program calls outside of it sees it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from xla_dialect.devices.process_grid import Process

if TYPE_CHECKING:
    from lowerings.execution.process_calls import ProcessCalls

_Result = TypeVar("_Result")


@dataclass
class ProgramRun:
    """One run of a program, by the thread that has called it."""

    process: Process
    error: BaseException | None = None
    """What has ended it, where that cannot be raised at once."""

    @cached_property
    def calls(self) -> ProcessCalls:
        """What the process does for it; most programs ask for nothing that needs the reference."""
        from lowerings.execution.process_calls import ProcessCalls  # noqa: PLC0415

        return ProcessCalls(self.process)


_CURRENT: ContextVar[ProgramRun] = ContextVar("program_run")


def current_run() -> ProgramRun:
    """The run of this thread."""
    return _CURRENT.get()


def run_program(program: Callable[[], _Result], asks_process: bool) -> _Result:
    """
    The result of a program, which may call what is outside while it runs.

    It is run by the process that this thread runs. Where there is none, and the program asks for
    something, it is the only process of a grid of its own.
    """
    process = Process.current()
    if process is not None or not asks_process:
        return _run(program, process or Process())
    alone = Process()
    return alone.grid.run_alone(lambda: _run(program, alone))


def _run(program: Callable[[], _Result], process: Process) -> _Result:
    run = ProgramRun(process)
    token = _CURRENT.set(run)
    try:
        result = program()
    finally:
        _CURRENT.reset(token)
    if run.error is not None:
        raise run.error
    return result
