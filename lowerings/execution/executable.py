"""Compiled programs as Python functions over numpy arrays, and how many threads they use."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lowerings.execution.arrays import (
    ALIGNMENT,
    ArgumentError,
    OutOfMemory,
    address_of,
    allocate,
    from_argument,
    require_count,
    require_memory,
)
from lowerings.execution.code import LoadedCode, Workspace, placed, run_within
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.runnable import Runnable
from lowerings.runtime import parallel_functions, profile_functions
from lowerings.targets.llvm.interface import THREADS
from xla_dialect.devices.process_grid import Host, Process, ProcessGrid
from xla_dialect.element_types import Array, require_rank

if TYPE_CHECKING:
    from lowerings.execution.callbacks import Callbacks
    from lowerings.execution.joint_runs import JointRun, JointRuns, Others
    from lowerings.execution.profile import EventSink, Profile


def usable_processors() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(limit: int | None) -> int:
    """
    How many threads a program should use: as many as there are processors, up to a limit.

    Without one, the usual variable of OpenMP programs is the limit if it is set.
    """
    if limit is None:
        number = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        limit = int(number) if number.isdecimal() and int(number) else None
    processors = usable_processors()
    return processors if limit is None else min(limit, processors)


class ThreadCount:
    """How many threads the parallel loops of a program use; it may change between two loops."""

    def __init__(self, threads: int):
        self._word = ctypes.c_int64(threads)
        self.address: int = ctypes.addressof(self._word)
        """Where machine code finds it, for as long as this object lives."""

    @property
    def threads(self) -> int:
        """The number of threads, at least 1."""
        return self._word.value

    @threads.setter
    def threads(self, count: int) -> None:
        self._word.value = count


BOUNDS_VARIABLE = "XLA_CHECK_BOUNDS"
"""Set to 1 in the environment, this makes all programs check their accesses to memory."""


class Executable(Runnable):
    """
    A compiled program: a function that takes one array for each parameter and returns a tuple of
    arrays. Each call allocates its results, except those that take the memory of a donated
    argument.

    Several threads may call it at the same time. Concurrent calls have their own copies of the code
    and of the temporary memory, which are kept for later calls.
    """

    def __init__(
        self,
        compiled: CompiledCode,
        *,
        callbacks: Callbacks | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        num_threads: int | None = None,
        on_events: EventSink | None = None,
    ):
        """
        Links a compiled program into this process, for arrays as they lie in memory; once more for
        each call at the same time. `callbacks` are what it calls. `time_limit`: seconds that a call
        may take. `memory_limit`: bytes that its arrays may take, all that there are if None.
        `num_threads`: of parallel loops, at most. `on_events` gets when the parts of the program
        ran, where its code has a profile. Raises CompilationError and OutOfMemory.
        """
        self.signature = signature = compiled.signature.in_memory
        self.callbacks = callbacks
        """What the code calls, if anything."""
        functions = {} if callbacks is None else {**callbacks.linked}
        pointers: dict[str, int] = {}
        self._threads: ThreadCount | None = None
        if compiled.has_tasks:
            self._threads = ThreadCount(thread_count(num_threads))
            pointers[THREADS] = self._threads.address
            functions |= parallel_functions()
        if compiled.profile is not None:
            functions |= profile_functions()
        self._load = partial(
            LoadedCode,
            compiled.objects,
            compiled.entry,
            placed(compiled.constants),
            functions,
            compiled.guards,
            pointers,
            compiled.profile,
        )
        self._time_limit = time_limit
        self._parameters = [(each.dtype, each.shape) for each in signature.parameters]
        self._results = [(each.dtype, each.shape, each.byte_size) for each in signature.results]
        self._aliases = dict(signature.aliases)
        outside = (*signature.parameters, *signature.results)
        for each in outside:
            require_rank(len(each.shape))
        bytes_outside = sum(each.byte_size for each in outside)
        require_memory(signature.name, bytes_outside + (compiled.arena_size or 0), memory_limit)
        self.arena_size = compiled.arena_size
        """The bytes for temporary results of a call."""
        self._profiled: list[LoadedCode] = []
        self._on_events = on_events
        self._workspaces = [self._new_workspace()]
        """The pool of workspaces that no running call uses."""
        control = self._workspaces[0].code.control
        self._has_checks = control is not None and control.has_checks
        self._joint_runs: JointRuns | None = None
        """What runs all processes, if anybody has asked."""

    def _new_workspace(self) -> Workspace:
        code = self._load()
        call: Callable[[int], object] = code.function
        if code.profile is not None:
            self._profiled.append(code)
            if self._on_events is not None:
                from lowerings.execution.profile import RecordedCode  # noqa: PLC0415

                call = RecordedCode(code, self._on_events)
        arena = None if self.arena_size is None else allocate(self.arena_size)
        count = len(self._parameters) + len(self._results) + (arena is not None)
        pointers = (ctypes.c_void_p * max(count, 1))()
        if arena is not None:
            pointers[count - 1] = address_of(arena)
        table = ctypes.addressof(pointers)
        return Workspace(code, call, pointers, table, arena)

    @property
    def asks_process(self) -> bool:
        """Whether it asks which process runs it, or meets others."""
        return self.callbacks is not None and self.callbacks.asks_process

    @property
    def has_parallel_loops(self) -> bool:
        """Whether some loop of the program may run on several threads."""
        return self._threads is not None

    @property
    def num_threads(self) -> int:
        """How many threads parallel loops use: 1 where there are none. It may be set."""
        return 1 if self._threads is None else self._threads.threads

    @num_threads.setter
    def num_threads(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"num_threads is {count}")
        if self._threads is not None:
            self._threads.threads = count

    def profile(self, *, reset: bool = False) -> Profile:
        if not self._profiled:
            return super().profile()
        # What knows operations is loaded by those only that measure them.
        from lowerings.execution.profile import Counters, Profile  # noqa: PLC0415

        counters = [Counters.of(code) for code in self._profiled]
        found = Profile.of(counters, self.num_threads)
        if reset:
            for each in counters:
                each.reset()
        return found

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """
        Runs the program.

        Arrays may be anything with `__array__` or `__dlpack__`; they are copied only if their
        elements do not lie dense, in row-major order and aligned. What is given away is the result
        afterwards, if its memory is such and may be written. Raises ArgumentError (a ValueError)
        for arrays that do not fit the signature, and for one that is given away and passed for
        another parameter too.
        """
        checked, results = self._taken(arrays)
        self.run_at([address_of(array) for array in (*checked, *results)])
        return tuple(results)

    def run_processes(
        self, arguments: Sequence[Sequence[Any]], *, hosts: Sequence[Host] | None = None
    ) -> list[tuple[Array, ...]]:
        """As any program does; one that needs no Python without a thread of it for each."""
        count = math.prod(self.process_counts)
        is_plain = hosts is None and not self._aliases and len(arguments) == count > 1
        if is_plain and self.can_run_jointly:
            # A grid says which process has a wrong argument.
            with suppress(ArgumentError):
                found = self.run_together(arguments, self.run_jointly)
                if found is not None:
                    return found
        return super().run_processes(arguments, hosts=hosts)

    def run_together(
        self,
        arguments: Sequence[Sequence[Any]],
        run: Callable[[Sequence[Sequence[int]]], bool],
    ) -> list[tuple[Array, ...]] | None:
        """
        The results of processes that `run` runs, as `run_jointly` does; None where something has
        gone wrong. Raises ArgumentError.
        """
        taken = [self._taken(each) for each in arguments]
        is_well = run([[*map(address_of, (*a, *r))] for a, r in taken])
        return [tuple(results) for _, results in taken] if is_well else None

    def _taken(self, arrays: Sequence[object]) -> tuple[list[Array], list[Array]]:
        """The arguments as arrays that the code reads, and arrays for the results."""
        parameters = self._parameters
        require_count(self.signature, len(arrays))
        checked: list[Array] = []
        for number, array in enumerate(arrays):
            dtype, shape = parameters[number]
            if type(array) is np.ndarray:
                flags = array.flags
                if (
                    array.dtype is dtype
                    and array.shape == shape
                    and flags.c_contiguous
                    and flags.aligned
                ):
                    checked.append(array)
                    continue
            checked.append(from_argument(array, self.signature, number))
        results: list[Array] = []
        given = self._given_away(checked) if self._aliases else {}
        try:
            for number, (dtype, shape, size) in enumerate(self._results):
                if number in given:
                    results.append(given[number])
                    continue
                raw = np.empty(size + ALIGNMENT, np.uint8)
                results.append(np.ndarray(shape, dtype, raw, -address_of(raw) % ALIGNMENT))
        except MemoryError as error:
            raise OutOfMemory(f"{self.signature.name}: no memory for the results") from error
        for number, parameter in self._aliases.items():
            if number not in given:
                np.copyto(results[number], checked[parameter])
        return checked, results

    def run_at(self, addresses: Sequence[int]) -> None:
        """
        Runs the program on memory of the caller: dense, aligned parameters and then results, those
        that alias a parameter at its address.
        """
        try:
            workspace = self._workspaces.pop()
        except IndexError:  # asked for and not looked up: other threads may take the last one
            workspace = self._new_workspace()
        pointers = workspace.pointers
        pointers[: len(addresses)] = addresses
        if self.callbacks is None:
            self._run(workspace)
        else:
            self.callbacks.run(partial(self._run, workspace), self.signature.name)
        # After an error a thread that was not joined may still use the workspace: it is not reused.
        self._workspaces.append(workspace)

    @property
    def can_run_jointly(self) -> bool:
        """Whether its processes need no Python while they run, and cannot fail but together."""
        callbacks = self.callbacks
        is_free = callbacks is None or not callbacks.calls_python or bool(callbacks.collectives)
        return is_free and not self._has_checks and self._time_limit is None and not self._profiled

    def run_jointly(self, addresses: Sequence[Sequence[int]], in_turn: bool | None = None) -> bool:
        """
        Runs all processes on memory of the caller, as `run_at` does; `in_turn`: by this thread,
        each until it waits for others, or by threads. By default what takes less time.

        Whether all was well; otherwise a grid that runs the program raises the error. Nothing but
        results has been written then.
        """
        if self._joint_runs is None:
            from lowerings.execution.joint_runs import JointRuns  # noqa: PLC0415

            self._joint_runs = JointRuns(self.new_joint_run)
        if in_turn is None and self.num_threads > 1:
            # Each process has all processors for its parallel loops.
            in_turn = True
        return self._joint_runs.run(addresses, in_turn)

    @property
    def is_short(self) -> bool:
        """Whether joint runs in turn are known to be best."""
        return self._joint_runs is not None and self._joint_runs.are_short

    def new_joint_run(self, others: Others | None = None) -> JointRun:
        """What runs the participants of the program, once at a time; `others`: not all of them."""
        from lowerings.execution.joint_runs import JointRun  # noqa: PLC0415

        found = None if self.callbacks is None else self.callbacks.collectives
        links = [None] * math.prod(self.process_counts) if others is None else others.links
        own = [self._new_workspace() for _ in range(links.count(None))]
        plans = None if found is None else found.plans(self.process_counts)
        return JointRun(own, plans, others)

    def detached_workspace(self) -> Workspace | None:
        """
        In what other machine code runs the program once at a time, which calls `callbacks`; None
        for a program that has a limit of time, or measures itself, or asks its process. One that
        calls Python and has checks has none either: callers run again what a check has ended, to
        have its message.
        """
        in_python = self.callbacks is not None and self.callbacks.calls_python
        if self.asks_process or self._time_limit is not None or self._profiled:
            return None
        return None if in_python and self._has_checks else self._new_workspace()

    def _given_away(self, arrays: Sequence[Array]) -> dict[int, Array]:
        """The results that are arrays of the caller; raises ArgumentError for shared memory."""
        given: dict[int, Array] = {}
        for result, parameter in self._aliases.items():
            array = arrays[parameter]
            if array.flags.writeable and array.nbytes:
                self._require_own_memory(parameter, arrays)
                given[result] = array
        return given

    def _require_own_memory(self, parameter: int, arrays: Sequence[Array]) -> None:
        start = address_of(arrays[parameter])
        end = start + arrays[parameter].nbytes
        for other, array in enumerate(arrays):
            begins = address_of(array)
            if other != parameter and start < begins + array.nbytes and begins < end:
                name = self.signature.parameter_name
                raise ArgumentError(
                    f"{self.signature.name}: parameter {name(parameter)} is given away, and "
                    f"parameter {name(other)} lies in the same memory"
                )

    def _run(self, workspace: Workspace) -> None:
        """Runs the code; raises the error of a check that fails, and TimeLimitReached."""
        control, process = workspace.code.control, Process.current()
        # Code without run control has no loops and terminates on its own.
        stop = (lambda: None) if control is None else control.stop
        failure = None
        try:
            if process is None:
                self._run_within_limit(workspace, lambda _error: stop())
            else:
                # If another process of the grid fails, this run is stopped.
                with process.grid.stopped_by(stop):
                    self._run_within_limit(workspace, partial(_end_all, process.grid, stop))
        finally:
            failure = None if control is None else control.finish()
        if failure is not None:
            raise failure

    def _run_within_limit(
        self, workspace: Workspace, stop: Callable[[BaseException], None]
    ) -> None:
        if self._time_limit is None:
            if workspace.call(workspace.table):
                # Python has raised it here, unless a function that the program calls has taken it.
                raise KeyboardInterrupt
        else:
            run = partial(workspace.call, workspace.table)
            run_within(self._time_limit, self.signature.name, run, stop)


def _end_all(grid: ProcessGrid, stop: Callable[[], None], error: BaseException) -> None:
    """Stops a run, and ends its grid, so that processes waiting for each other end too."""
    stop()
    grid.end(error)


def checks_bounds(option: bool | None) -> bool:
    """Whether accesses to memory are checked: as an option says, or the environment."""
    if option is None:
        return os.environ.get(BOUNDS_VARIABLE, "0") not in ("", "0")
    return option
