"""`lowerings.compile`: from a program to something that can be called with numpy arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.entry import isolate_entry, reached_from
from lowerings.driver.input_format import InputFormat
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import Source, read_file
from lowerings.execution.callbacks import Callbacks
from lowerings.execution.compile_cache import CacheEntry, CompileCache
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.declared_functions import (
    CustomCalls,
    declarations_of,
    declared_functions,
)
from lowerings.execution.dynamic_sizes import (
    LoweredSignatures,
)
from lowerings.execution.emulator import Emulation, compile_for_emulator
from lowerings.execution.executable import (
    checks_bounds,
    compile_loops_module,
    load_compiled,
)
from lowerings.execution.observed_values import (
    Observation,
    ObservedProgram,
    observes,
    take_observations,
)
from lowerings.execution.parallel_runs import take_parallel_runs
from lowerings.execution.partitioned_runs import PartitionedProgram, partition
from lowerings.execution.processes import Runnable
from lowerings.execution.rank_runs import (
    OnCompiled,
    RankProgram,
    Ranks,
    compiled_once,
    ranks_of,
)
from lowerings.execution.signature import Signature, signature_of
from lowerings.interpreter import InterpretedProgram, level_of
from lowerings.ir.functions import functions_of
from lowerings.native_lowering import CompilationError, Donation, Lowering, signature_in
from lowerings.pipelines import LEVELS
from lowerings.targets.llvm.machine import host
from xla_dialect.devices.process_grid import MAX_PROCESSES, Process, ProcessGrid
from xla_dialect.entry.names import ENTRY_SYMBOL
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops.process_groups import process_counts, set_process_counts
from xla_dialect.reference import run
from xla_dialect.reference.interpreter import prepared
from xla_dialect.runtime.arguments import nest_arguments
from xla_dialect.runtime.custom_calls import CustomCallFunction
from xla_dialect.runtime.observation import Observer
from xla_dialect.runtime.options import RunOptions

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
    ranks: Ranks | None = None
    """The ranks of MPI that run it, one for each process; None for threads."""
    cached: CacheEntry | None = None
    """Where machine code is kept for other processes: what `cache_entry` says of the source."""

    def __post_init__(self) -> None:
        if self.backend not in _BACKENDS:
            known = ", ".join(BACKENDS)
            raise CompilationError(f"there is no backend '{self.backend}' (there are: {known})")
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
        if self.check_bounds and self.executor.is_emulated:
            raise CompilationError(f"the backend '{self.backend}' cannot check bounds")

    @property
    def executor(self) -> _Backend:
        """The row of the backend."""
        return _BACKENDS[self.backend]

    def python_functions(self) -> dict[str, CustomCallFunction]:
        """The custom calls that are functions of Python; those of C are for machine code only."""
        return {k: v for k, v in self.custom_calls.items() if not isinstance(v, int)}

    def limits(self) -> _Limits:
        """The limits of an interpreted run, which has a default of its own for memory."""
        if self.memory_limit is None:
            return {"time_limit": self.time_limit}
        return {"time_limit": self.time_limit, "memory_limit": self.memory_limit}


class _Limits(TypedDict, total=False):
    time_limit: float | None
    memory_limit: int


class ReferenceProgram(Runnable):
    """A program that the numpy reference interpreter runs."""

    def __init__(self, module: ModuleOp, options: Options):
        self.module = module
        self.entry = options.entry
        self.options = options
        self.signature = signature_of(functions_of(module)[options.entry])

    def __call__(self, *arguments: Any) -> tuple[NDArray[Any], ...]:
        """Interprets the program on numpy arrays; raises XlaError for unsuitable arguments."""
        arrays = [np.asarray(argument) for argument in arguments]
        nested = nest_arguments(self.module, arrays, self.entry)
        options: RunOptions = {
            "observer": self.options.observer,
            "custom_calls": self.options.python_functions(),
            **self.options.limits(),
        }
        process = Process.current()
        if process is None:
            return flatten_results(run(self.module, nested, self.entry, **options))
        return flatten_results(prepared(self.module, nested, self.entry, process, **options)())


def compile(
    text_or_path: str | Path,
    *,
    backend: str = "llvm",
    input_format: InputFormat | None = None,
    num_threads: int | None = None,
    level: str | None = None,
    custom_calls: CustomCalls | None = None,
    emulation: Emulation | None = None,
    donate: Donation = (),
    check_bounds: bool | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    compile_cache: bool | str | Path | None = None,
    replicas: int | None = None,
    partitions: int | None = None,
    partitioned: bool = False,
    schedules: str | Path | None = None,
    fusion: str | Path | None = None,
    transform_script: str | Path | None = None,
    flush_subnormals: bool = False,
    profile: bool = False,
    communicator: object = None,
) -> Program:
    """
    Compiles a program, given as text or as the path of a file.

    `backend` is one of `BACKENDS`; `input_format` is found by extension or content if not given;
    `num_threads` limits the threads of compiled code (None: as many as pay); `level` is where the
    interpreter runs the program: `tensors` (by default), `buffers` or `loops`. `custom_calls` has
    the functions for the targets of custom calls, see `CustomCall` in
    `lowerings.execution.declared_functions`; LAPACK's are known. `emulation` says for which
    processor an emulated backend compiles, and how it runs the program. `donate` says which arrays
    callers give away, see `Donation`. With `check_bounds` machine code checks each access to memory
    before it is made, and a call that would leave the arrays of the program raises XlaError (by
    default where the environment has `XLA_CHECK_BOUNDS=1`); other executors always do. A call
    that takes longer than `time_limit` seconds raises TimeLimitReached, and one whose arrays take
    more than `memory_limit` bytes raises XlaError before they are made. `compile_cache` is a folder
    where machine code is kept for other processes, True for the usual one; by default as
    `XLA_COMPILE_CACHE` in the environment says, else there is none. `replicas`, and `partitions` of
    each, are the processes that `Program.run_processes` runs, by default as many as the program
    says. With `partitioned` a program that says how its arrays are split (Shardy's annotations) is
    partitioned over the devices of its mesh: a call takes and returns whole arrays, and the parts
    are computed by as many processes. `schedules` is a file of schedules, as `xla-tune` writes
    them; a ScheduleWarning says which of them an operation does not admit. `fusion` is a file of
    decisions on what is fused, see `linalg-plan-fusion`. `transform_script` is a file with a script
    of the transform dialect, which is run before schedules are planned. With `flush_subnormals`
    code may take subnormal numbers as zero where that saves time: in sums of products of bf16. With
    `profile` machine code measures the time of its kernels, for `Program.profile` to return.
    `communicator`, of mpi4py, has a rank for each process: all of them compile the program and call
    it, each with the arguments of its own process, for its results.

    Raises XlaError for a program that cannot be read, breaks a rule, or cannot be compiled.
    """
    options = Options(
        backend=backend,
        num_threads=num_threads,
        level=level,
        custom_calls=custom_calls or {},
        emulation=emulation,
        donate=donate,
        check_bounds=check_bounds,
        time_limit=time_limit,
        memory_limit=memory_limit,
        replicas=replicas,
        partitions=partitions,
        partitioned=partitioned,
        schedules=schedules,
        fusion=fusion,
        transform_script=transform_script,
        flush_subnormals=flush_subnormals,
        profile=profile,
        ranks=None if communicator is None else ranks_of(communicator),
    )
    return compile_source(Source.of(text_or_path, input_format), options, compile_cache)


def compile_source(
    source: Source, options: Options, compile_cache: bool | str | Path | None = None
) -> Program:
    """`compile` for a text and the name of its file. What is in the cache is not even parsed."""
    cached = cache_entry(source, options, compile_cache)
    # Of a program in parts the cache has that of one device, and all ranks look together.
    is_whole = options.ranks is None and not options.partitioned
    if is_whole and cached is not None and (found := cached.load()) is not None:
        return _loaded(found, options)
    return compile_module(source.parse(), replace(options, cached=cached))


def cache_entry(
    source: Source, options: Options, compile_cache: bool | str | Path | None = None
) -> CacheEntry | None:
    """
    The place in the cache of what is compiled with these options; None where it has none.

    Only machine code of this machine is kept, no program that is given functions to call, and none
    that measures itself.
    """
    if not options.executor.is_cached or options.custom_calls or options.profile:
        return None
    donate = options.donate
    parts = [
        *(source.text, source.file_name, source.input_format, options.entry),
        *(options.replicas, options.partitions, options.partitioned),
        donate if donate == "aliased" else list(donate),
        *(checks_bounds(options.check_bounds), options.flush_subnormals),
        *(path and read_file(path) for path in _files(options)),
    ]
    return CacheEntry.of(CompileCache.of(compile_cache), parts)


def compile_module(module: ModuleOp, options: Options | None = None) -> Program:
    """
    Compiles one function of a verified module at the xla level; the module is used up.

    The interpreter runs modules of `INTERPRETED_LEVELS` too, where it keeps the module; its `level`
    is the one to which it brings a module of the xla level, by default the first.
    Raises XlaError where the entry is missing or cannot be compiled.
    """
    options = options or Options()
    if options.entry not in functions_of(module):
        found = ", ".join(f"@{name}" for name in functions_of(module)) or "none"
        raise CompilationError(f"there is no function @{options.entry} (functions: {found})")
    if options.partitioned and level_of(module) == LEVELS[0]:
        return _compile_parts(module, options)
    counts = _set_processes(module, options)
    calls = dict(options.custom_calls)
    if options.executor.is_compiled and level_of(module) == LEVELS[0]:
        own = replace(options, donate=(), cached=None, profile=False)
        calls |= take_parallel_runs(
            reached_from(module, options.entry),
            lambda name, replicas, partitions: compile_module(
                module.clone(), replace(own, entry=name, replicas=replicas, partitions=partitions)
            ),
        )
    cached = None if calls else options.cached
    options = replace(options, custom_calls=calls, cached=cached)
    program = options.executor.compile(module, options)
    program.process_counts = counts
    return program if options.ranks is None else RankProgram(program, options.ranks)


def _compile_parts(module: ModuleOp, options: Options) -> Program:
    whole = signature_in(module, options.entry)
    shards = partition(module, options.entry)
    counts = process_counts(module)
    options = replace(options, partitioned=False, partitions=options.partitions or counts[1])
    if shards is None:
        return compile_module(module, options)
    local = compile_module(module, replace(options, donate=()))
    return PartitionedProgram(local, whole, shards)


def _set_processes(module: ModuleOp, options: Options) -> tuple[int, int]:
    """
    How many replicas and partitions are to run a module, by default as many as it says; the module
    says so afterwards. Raises XlaError where it is for others, and for none or too many.
    """
    own = process_counts(module)
    replicas, partitions = options.replicas, options.partitions
    if replicas is None and partitions is None:
        return own
    counts = replicas or own[0], partitions or own[1]
    ProcessGrid(
        *(n if n is not None else m for n, m in zip((replicas, partitions), own, strict=True)),
        most=MAX_PROCESSES if options.ranks is None else options.ranks.size,
    )
    # One process can run what is for several, if it does not wait for the others.
    if counts != (1, 1) and own not in ((1, 1), counts):
        raise CompilationError(
            f"the module is for {own[0]} replicas and {own[1]} partitions, "
            f"not for {counts[0]} and {counts[1]}"
        )
    if own == (1, 1) != counts:
        set_process_counts(module, *counts)
    return counts


def _lowering(module: ModuleOp, options: Options, name: str | None = None) -> Lowering:
    """The lowering that options describe, under the name that callers know the entry by."""
    return Lowering(
        module,
        options.entry,
        options.donate,
        name,
        options.schedules,
        options.fusion,
        options.profile,
        options.flush_subnormals,
        options.transform_script,
    )


def _files(options: Options) -> tuple[str | Path | None, ...]:
    """The files that decide how a program is compiled."""
    return options.schedules, options.fusion, options.transform_script


def _compile_native(module: ModuleOp, options: Options) -> Program:
    if options.ranks is None or options.custom_calls:
        return _compile_here(module, options)
    return compiled_once(
        options.ranks,
        lambda on_compiled: _compile_here(module, options, on_compiled),
        lambda compiled: _loaded(compiled, options),
    )


def _compile_here(
    module: ModuleOp, options: Options, on_compiled: OnCompiled | None = None
) -> Program:
    cached = options.cached
    if cached is not None and (found := cached.load()) is not None:
        if on_compiled is not None:
            on_compiled(found)
        return _loaded(found, options)
    lowering = _lowering(module, options)
    return native_program(lowering, options, on_compiled)


def native_program(
    lowering: Lowering, options: Options, on_compiled: OnCompiled | None = None
) -> Program:
    """Machine code for what is lowered to the last level; `on_compiled` gets what can be kept."""
    cached = options.cached
    lowered = lowering.to(LEVELS[-1], host())

    def keep(compiled: CompiledCode) -> None:
        # What is kept has no place for what callers of dynamic sizes need to know.
        if lowered.static is lowered.signature and not options.profile:
            counts = lowering.process_counts
            kept = replace(compiled, signature=lowered.signature, process_counts=counts)
            if cached is not None:
                cached.store(kept)
            if on_compiled is not None:
                on_compiled(kept)

    executable = compile_loops_module(
        lowering.module,
        lowered.static.in_memory,
        ENTRY_SYMBOL,
        options.custom_calls,
        options.observer,
        check_bounds=options.check_bounds,
        num_threads=options.num_threads,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
        on_compiled=keep,
        profile=options.profile,
    )
    return lowered.program(executable)


def _loaded(compiled: CompiledCode, options: Options) -> Program:
    """The program for machine code from the cache, or from another process."""
    functions = declared_functions(declarations_of(compiled.outside), {}, options.observer)
    callbacks = Callbacks.of(functions)
    executable = load_compiled(
        compiled,
        callbacks=callbacks if callbacks.symbols else None,
        num_threads=options.num_threads,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
    )
    program = LoweredSignatures(compiled.signature, compiled.signature, ()).program(executable)
    program.process_counts = compiled.process_counts
    return program


def _compile_emulated(module: ModuleOp, options: Options) -> Program:
    """What the program observes become results: nothing of ours can be called where it runs."""
    emulation = _limited(options.emulation or Emulation(), options)
    signature = signature_in(module, options.entry)
    isolate_entry(module, options.entry)
    observations: list[Observation] = []
    if observes(module):
        manager = PassManager(make_context(), verify_each=False)
        manager.run(module, parse_passes("xla-inline,xla-flatten-tuples"))
        main = functions_of(module)[ENTRY_SYMBOL]
        observations = take_observations(main, len(signature.results))
    lowering = _lowering(module, replace(options, entry=ENTRY_SYMBOL), signature.name)
    lowered = lowering.to(LEVELS[-1], emulation.machine)
    in_memory = compile_for_emulator(module, lowered.static.in_memory, emulation)
    program = lowered.program(in_memory)
    if not observations:
        return program
    signature = replace(signature, aliases=lowered.signature.aliases)
    return ObservedProgram(program, signature, observations, options.observer)


def _limited(emulation: Emulation, options: Options) -> Emulation:
    """An emulation with the limits of the program, where it has any."""
    if options.time_limit is not None:
        emulation = replace(emulation, time_limit=options.time_limit)
    if options.memory_limit is not None:
        emulation = replace(emulation, memory_limit=options.memory_limit)
    return emulation


def _compile_interpreted(module: ModuleOp, options: Options) -> Program:
    found = level_of(module)
    if found == LEVELS[0]:
        return interpreted_program(_lowering(module, options), options)
    if options.level not in (None, found):
        raise CompilationError(f"the module is at the level '{found}', not '{options.level}'")
    return _interpreter(module, options.entry, options)


def interpreted_program(lowering: Lowering, options: Options) -> Program:
    """What the interpreter runs at the level of the options, by default the first that it knows."""
    lowered = lowering.to(options.level or INTERPRETED_LEVELS[0], host())
    in_memory = lowered.static.in_memory
    return lowered.program(_interpreter(lowering.module, ENTRY_SYMBOL, options, in_memory))


def _interpreter(
    module: ModuleOp, entry: str, options: Options, signature: Signature | None = None
) -> Program:
    return InterpretedProgram(
        module,
        entry,
        signature,
        custom_calls=options.custom_calls,
        observer=options.observer,
        **options.limits(),
    )


@dataclass(frozen=True)
class _Backend:
    """One executor."""

    compile: Callable[[ModuleOp, Options], Program]
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


INTERPRETER = "interpreter"
"""The executor of the levels below xla."""

INTERPRETED_LEVELS: tuple[str, ...] = ("tensors", "buffers", "loops")
"""The levels at which the interpreter runs programs; schedules say nothing of what is computed."""

_BACKENDS: dict[str, _Backend] = {
    "llvm": _Backend(_compile_native, is_cached=True, is_profiled=True),
    "reference": _Backend(ReferenceProgram, is_compiled=False, is_scheduled=False),
    INTERPRETER: _Backend(_compile_interpreted, levels=INTERPRETED_LEVELS),
    "riscv64": _Backend(_compile_emulated, is_emulated=True),
}

BACKENDS: tuple[str, ...] = tuple(_BACKENDS)
"""The executors: machine code in process, the numpy reference, that of the levels between, and an
emulated processor."""

EMULATED_BACKENDS: tuple[str, ...] = tuple(
    name for name, backend in _BACKENDS.items() if backend.is_emulated
)
"""Those that compile for another processor, and run the program in an emulator of it."""
