"""
The executors, and the options that programs are compiled and run with; by the names that
`compiler_options` of `jax.jit` has for them, too.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from enum import Flag, auto
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar

from lowerings.driver import CompilationError
from lowerings.execution.runnable import Runnable
from lowerings.targets.llvm.machine import Machine, host, parse_machine
from xla_dialect.diagnostics import XlaError, read_text
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
    from xla_dialect.runtime.custom_calls import CustomCallFunction


Program: TypeAlias = Runnable
"""A program ready to run: see `lowerings.execution.runnable.Runnable`."""

Donation: TypeAlias = Collection[int] | Literal["aliased"]
"""
The parameters, counted as in the signature, whose arrays callers give away at each call; `aliased`
are those that the program names itself (`input_output_alias`, `tf.aliasing_output`).

Compiled code puts results into their memory: those that the program names, for other parameters
the first result of the same type. `signature.aliases` tells which. No other array is ever changed.
"""

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Where(Flag):
    """Who has an option, and what depends on it, beside `Options` and `lowerings.compile`."""

    NOWHERE = 0
    CODE = auto()
    """What a program becomes depends on it."""
    FILE = auto()
    """So it does, on the content of the file that it names."""
    DEVICE = auto()
    """
    `lowerings.jax.jit` has it, and the device for JAX, among its compiler options: `xdsl_` and its
    name.
    """


@dataclass(frozen=True)
class OptionDeclaration:
    """What is said of an option where it is declared, beside its type and default."""

    help: str
    """What it is for, on pages and command lines."""
    where: Where
    metavar: str | None
    """What stands for its value on command lines; None where it has none, or a choice."""
    needs: tuple[str, str] | None = None
    """The attribute of a `Backend` that it is for, and what others do not do."""

    def lack(self, executor: Backend) -> str | None:
        """What an executor does not do that the option is for."""
        return self.needs[1] if self.needs and not getattr(executor, self.needs[0]) else None


def option(
    help: str,
    where: Where = Where.NOWHERE,
    *,
    metavar: str | None = None,
    needs: tuple[str, str] | None = None,
) -> Mapping[str, OptionDeclaration]:
    """What the field of an option keeps."""
    return {"declaration": OptionDeclaration(help, where, metavar, needs)}


@dataclass(frozen=True)
class Options:
    """
    What a program is compiled and run with; the keyword arguments of `lowerings.compile`.

    Raises CompilationError for options that do not fit each other.
    """

    backend: str = field(
        default="llvm", metadata=option("the executor; default: llvm", Where.CODE | Where.DEVICE)
    )
    num_threads: int | None = field(
        default=None,
        metadata=option(
            "threads of compiled code, at most; as many as there are processors if not given",
            Where.DEVICE,
            metavar="N",
        ),
    )
    entry: str = field(
        default="main",
        metadata=option("the function to run; default: main", Where.CODE, metavar="NAME"),
    )
    observer: Observer = field(
        default_factory=Observer,
        metadata=option(
            "gets what the program prints and probes; by default it prints to the standard output"
        ),
    )
    level: str | None = field(
        default=None,
        metadata=option(
            "where the interpreter runs a program; default: where it is, or tensors", Where.CODE
        ),
    )
    custom_calls: CustomCalls = field(
        default_factory=dict[str, Any],
        metadata=option(
            "the functions for the targets of custom calls, see `CustomCall` in "
            "`lowerings.execution.declared_functions`; LAPACK's are known"
        ),
    )
    emulation: Emulation | None = field(
        default=None,
        metadata=option(
            "for which processor an emulated backend compiles, and how it runs the program",
            needs=("is_emulated", "emulates no processor"),
        ),
    )
    donate: Donation = field(
        default=(), metadata=option("which arrays callers give away, see `Donation`")
    )
    check_bounds: bool | None = field(
        default=None,
        metadata=option(
            "compile a check before each access to memory; one outside of its array is an error",
            Where.CODE | Where.DEVICE,
        ),
    )
    time_limit: float | None = field(
        default=None,
        metadata=option(
            "seconds that a call may take",
        ),
    )
    memory_limit: int | None = field(
        default=None,
        metadata=option("bytes that its arrays may take; None: all that this machine has"),
    )
    replicas: int | None = field(
        default=None,
        metadata=option(
            "run N replicas; default: as many as the program says, if they talk to each other",
            Where.CODE,
            metavar="N",
        ),
    )
    partitions: int | None = field(
        default=None,
        metadata=option("run N partitions of each replica; default so", Where.CODE, metavar="N"),
    )
    partitioned: bool = field(
        default=False,
        metadata=option(
            "partition a program that says how its arrays are split (Shardy's annotations) over "
            "the devices of its mesh: a call takes and returns whole arrays",
            Where.CODE,
        ),
    )
    schedules: str | Path | None = field(
        default=None,
        metadata=option(
            "schedules to run operations by (see xla-tune)",
            Where.FILE | Where.DEVICE,
            metavar="FILE",
            needs=("is_scheduled", "obeys no schedules"),
        ),
    )
    fusion: str | Path | None = field(
        default=None,
        metadata=option(
            "decisions on what is fused (see linalg-plan-fusion)",
            Where.FILE | Where.DEVICE,
            metavar="FILE",
            needs=("is_compiled", "fuses nothing"),
        ),
    )
    transform_script: str | Path | None = field(
        default=None,
        metadata=option(
            "a script that is run before schedules are planned",
            Where.FILE | Where.DEVICE,
            metavar="FILE",
            needs=("is_scheduled", "runs no transform scripts"),
        ),
    )
    flush_subnormals: bool = field(
        default=False,
        metadata=option(
            "take subnormal numbers as zero where that saves time: in all products of bf16, not "
            "only in those of default precision",
            Where.CODE | Where.DEVICE,
        ),
    )
    profile: bool = field(
        default=False,
        metadata=option(
            "measure the time of the kernels, for `Program.profile` to return",
            Where.CODE,
            needs=("is_profiled", "measures no kernels"),
        ),
    )
    on_events: EventSink | None = field(
        default=None, metadata=option("gets when kernels ran, after each run")
    )
    ranks: Ranks | None = field(
        default=None,
        metadata=option(
            "the ranks of MPI that run it, one for each replica and partition; None: threads"
        ),
    )
    pipeline: str | None = field(
        default=None,
        metadata=option(
            "passes that come first; native goes on from the level where they end",
            Where.CODE | Where.DEVICE,
            metavar="PIPELINE",
        ),
    )
    target: str | None = field(
        default=None,
        metadata=option(
            "the machine that code is for, e.g. 'riscv64{features=+v}' (see xla-opt "
            "--list-targets); default: this one, or RV64GC",
            Where.CODE | Where.DEVICE,
            metavar="MACHINE",
            needs=("is_compiled", "runs on no machine"),
        ),
    )
    cached: CacheEntry | None = field(
        default=None,
        metadata=option("where machine code is kept: what `cache_entry` says of the source"),
    )

    def __post_init__(self) -> None:
        levels = self.executor.levels
        if self.num_threads is not None and self.num_threads < 1:
            raise CompilationError(f"num_threads is {self.num_threads}")
        if self.level is not None and self.level not in levels:
            raise CompilationError(
                f"the backend '{self.backend}' has no level '{self.level}' "
                f"(it has: {', '.join(levels) or 'none'})"
            )
        for name, declared in declared_options().items():
            lack = None if getattr(self, name) in (None, False) else declared.lack(self.executor)
            if lack is not None:
                raise CompilationError(f"the backend '{self.backend}' {lack}")
        if self.target is not None and self.emulation is not None:
            raise CompilationError("target and emulation both say which processor it is")
        if self.check_bounds and self.executor.is_emulated:
            raise CompilationError(f"the backend '{self.backend}' cannot check bounds")

    def decisions(self) -> dict[str, str]:
        """The options that decide what a program becomes; of files the content."""
        found: dict[str, str] = {}
        for name, declared in declared_options().items():
            if Where.FILE in declared.where:
                path: str | Path | None = getattr(self, name)
                found[name] = "none" if path is None else read_text(path)
            elif Where.CODE in declared.where:
                found[name] = str(getattr(self, name))
        found["donate"] = str(self.donate if self.donate == "aliased" else sorted(self.donate))
        return found

    @property
    def names_operations(self) -> bool:
        """Whether files say something of single operations of the program."""
        return any(getattr(self, name) is not None for name in options_at(Where.FILE))

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


@cache
def declared_options() -> Mapping[str, OptionDeclaration]:
    """What is said of each option, in the order of their declaration."""
    return {each.name: each.metadata["declaration"] for each in fields(Options)}


def options_at(where: Where) -> tuple[str, ...]:
    """The names of the options that stand there."""
    return tuple(name for name, found in declared_options().items() if where in found.where)


def takes_options(where: Where = Where.NOWHERE) -> Callable[[_Function], _Function]:
    """Puts the options that stand somewhere, or all, in the place of `**options` in a signature."""

    def complete(function: _Function) -> _Function:
        own, names = inspect.signature(function), options_at(where)
        kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default_factory if each.default is MISSING else each.default,
                annotation=each.type,
            )
            for each in fields(Options)
            if each.name in names
        ]
        vars(function)["__signature__"] = own.replace(parameters=[*kept, *added])
        return function

    return complete


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


PASSES = "xdsl_passes"
"""The option with passes of the user's, as `xla-opt -p` takes them, that are run first."""

DUMP = "xla_dump_to"
"""The option with a folder for the program at all its levels."""

_WORDS = {"true": True, "false": False}


def _truth(value: object) -> bool:
    found = _WORDS.get(str(value).lower())
    if found is None:
        raise ValueError("bool")
    return found


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise ValueError("int") from None


def _count(value: object) -> int:
    number = _number(value)
    if number < 1:
        raise ValueError("positive int")
    return number


_READERS: Mapping[str, Callable[[object], Any]] = {"int": _count, "bool": _truth, "str": str}
"""By the first type that a field of `Options` has."""

_FIELDS = {
    f"xdsl_{each.name}": each for each in fields(Options) if each.name in options_at(Where.DEVICE)
}
"""Options of the compiler, by the names that the device has for them."""

COMPILER_OPTIONS: Mapping[str, Callable[[object], Any]] = {
    PASSES: str,
    **{name: _READERS[str(each.type).split(" ")[0]] for name, each in _FIELDS.items()},
    # A folder that gets the program at all levels, HLO as text, and as a proto if that is said.
    DUMP: str,
    "xla_dump_hlo_as_text": _truth,
    "xla_dump_hlo_as_proto": _truth,
    # Nothing depends on these: the program is always kept, there is one level, and fast math is
    # never made use of.
    "xla_embed_ir_in_executable": _truth,
    "xla_backend_optimization_level": _number,
    "xla_llvm_disable_expensive_passes": _truth,
    "xla_cpu_enable_fast_math": _truth,
    "xla_cpu_enable_fast_min_max": _truth,
}
"""What reads each of our own, and those of XLA whose values we read. ValueError: what it takes."""


_NOTHING = b"func.func public @main() { return }"
"""A program."""


@lru_cache(maxsize=None, typed=True)
def _refusal_of_xla(option: str, value: object) -> str | None:
    """Why XLA's client for the CPU refuses an option, in its words; None if it takes it."""
    xla: Any = importlib.import_module("jaxlib.xla_client")
    client, options = xla.make_cpu_client(), xla.CompileOptions()
    options.env_option_overrides = [(option, value)]
    devices = xla.DeviceList(tuple(client.local_devices()[:1]))
    try:
        client.compile_and_load(_NOTHING, devices, options)
    except xla.XlaRuntimeError as error:
        return str(error).removeprefix("INVALID_ARGUMENT: ")
    return None


def compiler_options(given: Mapping[str, object]) -> dict[str, Any]:
    """
    The values of `COMPILER_OPTIONS` by name; others that XLA takes mean nothing here.

    Raises XlaError for an option that is unknown or misread.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        option = COMPILER_OPTIONS.get(name)
        if option is None:
            refusal = _refusal_of_xla(name, value)
            if refusal is not None:
                raise XlaError(f"{refusal} (ours are: {', '.join(COMPILER_OPTIONS)})")
            continue
        try:
            found[name] = option(value)
        except ValueError as error:
            raise XlaError(
                f"While setting option {name}, '{value}' is not a valid {error} value."
            ) from error
    return found


def fields_of_options(named: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Options` that values of options are."""
    return {each.name: named[name] for name, each in _FIELDS.items() if name in named}
