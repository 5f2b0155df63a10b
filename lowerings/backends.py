"""The executors, and the options that programs are compiled and run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from lowerings.driver.compilation_error import CompilationError
from lowerings.execution.processes import Runnable
from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.machines import parse_machine
from xla_dialect.extensions import BACKENDS as ADDED_BACKENDS
from xla_dialect.extensions import entries, extensions
from xla_dialect.runtime.observation import Observer

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lowerings.execution.compile_cache import CacheEntry
    from lowerings.execution.declared_functions import CustomCalls
    from lowerings.execution.emulator import Emulation
    from lowerings.execution.profile import EventSink
    from lowerings.execution.rank_runs import Ranks
    from lowerings.native_lowering import Donation
    from xla_dialect.runtime.custom_calls import CustomCallFunction

Program: TypeAlias = Runnable
"""A program ready to run: see `lowerings.execution.processes.Runnable`."""


@dataclass(frozen=True)
class Options:
    """
    What a program is compiled and run with; see `compile`.

    Raises CompilationError for options that do not fit each other.
    """

    backend: str = "llvm"
    num_threads: int | None = None
    """None: as many as pay."""
    entry: str = "main"
    observer: Observer = field(default_factory=Observer)
    """Gets what the program prints and probes; by default it prints to the standard output."""
    level: str | None = None
    """Where the interpreter runs it; None where it is read, or as far down as is usual."""
    custom_calls: CustomCalls = field(default_factory=dict[str, Any])
    emulation: Emulation | None = None
    donate: Donation = ()
    check_bounds: bool | None = None
    """Whether machine code checks its accesses to memory; None as the environment says."""
    time_limit: float | None = None
    """Seconds that a call may take."""
    memory_limit: int | None = None
    """Bytes that its arrays may take; None for all that this machine has."""
    replicas: int | None = None
    partitions: int | None = None
    """Of each replica; None for as many as the program says."""
    partitioned: bool = False
    """Whether a program that says how its arrays are split is run in parts."""
    schedules: str | Path | None = None
    """A file of schedules, as `xla-tune` writes them, to run operations by."""
    fusion: str | Path | None = None
    """A file of decisions on what is fused."""
    transform_script: str | Path | None = None
    """A file with a script of the transform dialect, run before schedules are planned."""
    flush_subnormals: bool = False
    profile: bool = False
    """Whether machine code measures the time of its kernels."""
    on_events: EventSink | None = None
    """Gets when they ran, after each run."""
    ranks: Ranks | None = None
    """The ranks of MPI that run it, one for each process; None for threads."""
    pipeline: str | None = None
    """The passes that come first, as on the command line; native goes on from where they end."""
    target: str | None = None
    """The machine that code is for, as `native{target=...}` names it."""
    cached: CacheEntry | None = None
    """Where machine code is kept for other processes: what `cache_entry` says of the source."""

    def __post_init__(self) -> None:
        levels = self.executor.levels
        if self.num_threads is not None and self.num_threads < 1:
            raise CompilationError(f"num_threads is {self.num_threads}")
        if self.level is not None and self.level not in levels:
            raise CompilationError(
                f"the backend '{self.backend}' has no level '{self.level}' "
                f"(it has: {', '.join(levels) or 'none'})"
            )
        if self.emulation is not None and not self.executor.is_emulated:
            raise CompilationError(f"the backend '{self.backend}' emulates no processor")
        if self.schedules is not None and not self.executor.is_scheduled:
            raise CompilationError(f"the backend '{self.backend}' obeys no schedules")
        if self.transform_script is not None and not self.executor.is_scheduled:
            raise CompilationError(f"the backend '{self.backend}' runs no transform scripts")
        if self.fusion is not None and not self.executor.is_compiled:
            raise CompilationError(f"the backend '{self.backend}' fuses nothing")
        if self.profile and not self.executor.is_profiled:
            raise CompilationError(f"the backend '{self.backend}' measures no kernels")
        if self.target is not None and self.emulation is not None:
            raise CompilationError("target and emulation both say which processor it is")
        if self.target is not None and not self.executor.is_compiled:
            raise CompilationError(f"the backend '{self.backend}' runs on no machine")
        if self.check_bounds and self.executor.is_emulated:
            raise CompilationError(f"the backend '{self.backend}' cannot check bounds")

    @property
    def executor(self) -> Backend:
        """The row of the backend."""
        return backend_named(self.backend)

    @property
    def machine(self) -> Machine:
        """
        What passes plan for, and machine code is for; raises XlaError for a machine that the
        backend does not run on.
        """
        if self.executor.is_emulated:
            return self.emulated.machine
        machine = host() if self.target is None else parse_machine(self.target)
        if self.executor.is_native and not machine.is_part_of(host()):
            raise CompilationError(
                f"the backend '{self.backend}' runs on this machine: a target can only be 'host', "
                "with features taken away"
            )
        return machine

    @property
    def emulated(self) -> Emulation:
        """What an emulated processor is like, with the limits of the program."""
        # Few programs are emulated.
        from lowerings.execution.emulator import Emulation  # noqa: PLC0415

        emulation = self.emulation
        if emulation is None:
            emulation = Emulation() if self.target is None else Emulation.of_target(self.target)
        if self.time_limit is not None:
            emulation = replace(emulation, time_limit=self.time_limit)
        if self.memory_limit is not None:
            emulation = replace(emulation, memory_limit=self.memory_limit)
        return emulation

    def python_functions(self) -> dict[str, CustomCallFunction]:
        """The custom calls that are functions of Python; those of C are for machine code only."""
        return {k: v for k, v in self.custom_calls.items() if not isinstance(v, int)}

    def limits(self) -> RunLimits:
        """The limits of an interpreted run, which has a default of its own for memory."""
        if self.memory_limit is None:
            return {"time_limit": self.time_limit}
        return {"time_limit": self.time_limit, "memory_limit": self.memory_limit}


class RunLimits(TypedDict, total=False):
    """The limits of an interpreted run."""

    time_limit: float | None
    memory_limit: int


@dataclass(frozen=True)
class Backend:
    """One executor: what it can do, and of one from another package, how it compiles programs."""

    compile: Callable[[ModuleOp, Options], Program] | None = None
    """
    From a verified module of any level, which it may use up, and options, whose `entry` it has, to
    what is called with arrays; None for ours, which `lowerings.executors` has. Raises XlaError.
    """
    is_cached: bool = False
    """Whether what it compiles can be kept on disk."""
    is_compiled: bool = True
    """Whether it lowers programs before it runs them."""
    levels: tuple[str, ...] = ()
    """The levels at which it can run a program, the first by default; none to choose if empty."""
    is_scheduled: bool = True
    """Whether it runs operations by their schedules."""
    is_profiled: bool = False
    """Whether its programs can measure the time of their kernels."""
    is_emulated: bool = False
    """Whether it runs programs in an emulator, and takes an `Emulation`."""
    is_native: bool = False
    """Whether it runs machine code in this process."""


INTERPRETER = "interpreter"
"""The executor of the levels below xla."""

INTERPRETED_LEVELS: tuple[str, ...] = ("tensors", "buffers", "loops")
"""The levels at which the interpreter runs programs; schedules say nothing of what is computed."""

REFERENCE = "reference"

_OWN: dict[str, Backend] = {
    "llvm": Backend(is_cached=True, is_profiled=True, is_native=True),
    REFERENCE: Backend(is_compiled=False, is_scheduled=False),
    INTERPRETER: Backend(levels=INTERPRETED_LEVELS),
    "riscv64": Backend(is_emulated=True),
}

BACKENDS: tuple[str, ...] = tuple(_OWN)
"""Our executors: machine code in process, the numpy reference, that of the levels between, and an
emulated processor."""

EMULATED_BACKENDS: tuple[str, ...] = tuple(
    name for name, backend in _OWN.items() if backend.is_emulated
)
"""Those that compile for another processor, and run the program in an emulator of it."""


def backend_names() -> tuple[str, ...]:
    """The executors, with those of other packages; none of these is loaded."""
    added = (entry.name for entry in entries(ADDED_BACKENDS))
    return tuple(dict.fromkeys((*BACKENDS, *added)))


def backend_named(name: str) -> Backend:
    """An executor; raises CompilationError for a name of none, ExtensionError if it cannot load."""
    found = _OWN.get(name)
    if found is not None:
        return found
    added = extensions(ADDED_BACKENDS, name)
    if not added:
        known = ", ".join(backend_names())
        raise CompilationError(f"there is no backend '{name}' (there are: {known})")
    if not isinstance(added[0], Backend) or added[0].compile is None:
        raise CompilationError(f"the backend '{name}' is no Backend with a function `compile`")
    return added[0]
