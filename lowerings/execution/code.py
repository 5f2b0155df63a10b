"""Object code in this process, and how its runs end before their time."""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import llvmlite.binding as llvm

from lowerings.execution.arrays import address_of, allocate
from lowerings.runtime import library, run_function
from lowerings.targets.llvm.interface import (
    STOP_REQUESTED,
    ExternalConstant,
    ModuleGuards,
    RunState,
)
from lowerings.targets.llvm.machine import CodeGenerationError, host
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.element_types import Array
from xla_dialect.runtime.limits import TimeLimitReached

if TYPE_CHECKING:
    from lowerings.targets.llvm.profiling import ModuleProfile


class BoundsViolation(XlaError):
    """A program that is about to access memory outside of its arrays, at an unknown place."""


class RunControl:
    """The state of a program in this process whose runs may end before their time."""

    def __init__(self, guards: ModuleGuards, address: int):
        """`address`: of the program's `RunState`."""
        self._guards = guards.guards
        self._words = (ctypes.c_int64 * len(RunState)).from_address(address)
        self._states = (ctypes.c_void_p * 1)(address)

    @property
    def has_checks(self) -> bool:
        """Whether the program may end by itself."""
        return any(guard.message for guard in self._guards)

    @property
    def address(self) -> int:
        """Of the `RunState`, whose first word is the number of the check that failed, or 0."""
        return ctypes.addressof(self._words)

    @property
    def states_address(self) -> int:
        """Of an array of one pointer, that to the `RunState`."""
        return ctypes.addressof(self._states)

    def stop(self) -> None:
        """Makes runs end soon: what they write is of no use."""
        self._words[RunState.FAILURE] = STOP_REQUESTED

    def finish(self) -> XlaError | None:
        """
        To be called after each run. Returns the error of a check that failed: a LocatedError where
        its place is known, else a BoundsViolation.
        """
        failure: int = self._words[RunState.FAILURE]
        if failure == 0:
            return None
        found, limit, call = cast("list[int]", self._words[1:])
        self._words[:] = [0] * len(RunState)
        if failure == STOP_REQUESTED:
            return None
        guard = self._guards[failure - 1]
        message = guard.message.replace("{found}", str(found)).replace("{limit}", str(limit))
        # Outlined kernels are shared and have no location; the call does.
        place = guard.place or (self._guards[call - 1].place if call else None)
        if place is None:
            return BoundsViolation(message)
        return LocatedError(message, *place)


def run_within(
    seconds: float, name: str, run: Callable[[], object], stop: Callable[[BaseException], None]
) -> None:
    """
    Runs something in a thread of its own, for so long at most, and until Ctrl-C in any case.

    `stop` makes it end, and is told why. Raises TimeLimitReached, and what `run` raises.
    """
    errors: list[BaseException] = []
    # Not `Thread.join`: in Python 3.11 one that Ctrl-C interrupts takes the thread for ended.
    ended = threading.Event()

    def body() -> None:
        try:
            run()
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    # What the program calls is told by the context which run it is.
    run_body = partial(copy_context().run, body)
    threading.Thread(target=run_body, name=f"run of {name}", daemon=True).start()
    wait = None if seconds == math.inf else min(seconds, threading.TIMEOUT_MAX)
    try:
        in_time = ended.wait(wait)
    except BaseException as error:
        stop(error)
        ended.wait()
        raise
    late = None if in_time else TimeLimitReached(name, seconds)
    if late is not None:
        stop(late)
        ended.wait()
    if errors:
        raise errors[0]
    if late is not None:
        raise late


PROGRAMS_PER_LINKER = 32
"""A linker takes as long to make as several programs take to link, but keeps 9 KB of each for as
long as any of them lives."""
_numbers = count()


@lru_cache(1)
def _linker(_number: int) -> Any:
    """
    The linker of the next programs. Those that are loaded keep it alive when it is replaced.

    JITLink keeps code and constants together. LLVM's older linker maps them one by one, and
    aborts the process where they come to lie more than 2 GiB apart, as among JAX's memory.
    """
    return llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)


def machine_function(address: int, control: RunControl | None = None) -> Callable[[int], int]:
    """
    The machine code at an address, which takes one, as a function of Python: it runs in the default
    mode of floating-point arithmetic, without the GIL. With `control` Ctrl-C ends it in the main
    thread; whether it has.
    """
    if control is None:
        return partial(run_function(), address, None, 0)
    return partial(run_function(), address, control.states_address, 1)


def placed(constants: Sequence[ExternalConstant]) -> Mapping[str, Array]:
    """Constants as code reads them, by their symbols: once, however often it is loaded."""
    arrays = {constant.symbol: allocate(len(constant.data)) for constant in constants}
    for constant in constants:
        arrays[constant.symbol][:] = memoryview(constant.data)
    return arrays


class LoadedCode:
    """
    Object code linked into this process, with its large constants in place.

    The code stays for as long as this object; nobody may call it afterwards.
    """

    def __init__(
        self,
        objects: Sequence[bytes],
        entry: str,
        constants: Mapping[str, Array] | None = None,
        functions: Mapping[str, Any] | None = None,
        guards: ModuleGuards | None = None,
        pointers: Mapping[str, int] | None = None,
        profile: ModuleProfile | None = None,
        exported: Sequence[str] = (),
    ):
        """
        `objects`: object code, in parts that use each other. `constants`: where its large
        constants are, see `placed`. `functions`: what the code calls outside of it, as ctypes
        functions by their names; `pointers`: addresses that variables of the code are set to. Both
        must live as long as this object. `guards`: where its runs may end before their time;
        `profile`: where it keeps the time that its parts take. `exported`: symbols that `address`
        is asked for. Raises CompilationError.
        """
        builder = llvm.JITLibraryBuilder().add_current_process()
        for each in objects:
            builder.add_object_img(each)
        for name, function in (functions or {}).items():
            builder.import_symbol(name, ctypes.cast(function, ctypes.c_void_p).value or 0)
        pointers = pointers or {}
        self._constants = constants or {}
        exported = [entry, *exported, *self._constants, *pointers]
        if guards is not None:
            exported.append(guards.symbol)
        if profile is not None:
            exported += (profile.symbol, profile.busy_symbol, profile.events_symbol)
        for name in exported:
            builder.export_symbol(name)
        try:
            number = next(_numbers)
            linker = _linker(number // PROGRAMS_PER_LINKER)
            # A library each: its memory is freed with this object, and symbols cannot clash.
            self.symbols: Any = builder.link(linker, f"program{number}")
        except RuntimeError as error:
            raise CodeGenerationError(f"cannot link the program: {error}") from error
        for symbol, data in self._constants.items():
            self.point(symbol, address_of(data))
        for name, address in pointers.items():
            self.point(name, address)
        self.entry: int = self.symbols[entry]
        """Where the entry is: it takes the address of an array of pointers."""
        self.control = None if guards is None else RunControl(guards, self.symbols[guards.symbol])
        """The state of runs that may end before their time; None if there are none."""
        self.function = machine_function(self.entry, self.control)
        self.profile = profile
        """Where it keeps the time that its parts take; None if it is not measured."""

    def address(self, symbol: str) -> int:
        """Where an exported symbol is."""
        return self.symbols[symbol]

    def point(self, name: str, address: int) -> None:
        """Sets an exported variable to an address."""
        ctypes.c_void_p.from_address(self.symbols[name]).value = address


@dataclass(frozen=True, slots=True)
class Workspace:
    """Code, arena and pointer table of one run; runs at the same time have one each."""

    code: LoadedCode
    call: Callable[[int], object]
    pointers: Any
    """Those that the code is given: of parameters and results, which the caller sets, and arena."""
    table: int
    """Their address."""
    arena: Array | None

    @property
    def state(self) -> int | None:
        """A `RunState`, whose first word is not 0 after a run in which a check failed."""
        control = self.code.control
        return None if control is None else control.address


def functions_with_records(
    counts: Mapping[str, int], callee: str, fallbacks: Mapping[str, Any]
) -> LoadedCode:
    """
    Code of functions that a program calls, by their numbers of pointers. Each hands them, as an
    array, to a function of the library in C with a record, that its variable `record_of` has to be
    set to; where that returns a negative number, a fallback is called in its place.
    """
    lines = [f"declare i32 @{callee}(ptr, ptr)"]
    called = {callee: getattr(library(), callee)}
    for name, pointers in counts.items():
        called[f"python.{name}"] = fallbacks[name]
        given = ", ".join(f"ptr %p{n}" for n in range(pointers))
        lines += [
            f'@"{record_of(name)}" = global ptr null',
            f'declare i32 @"python.{name}"({given})',
            f'define i32 @"{name}"({given}) {{',
            f"  %arrays = alloca ptr, i64 {max(pointers, 1)}",
            *(f"  %at{n} = getelementptr ptr, ptr %arrays, i64 {n}" for n in range(pointers)),
            *(f"  store ptr %p{n}, ptr %at{n}" for n in range(pointers)),
            f'  %record = load ptr, ptr @"{record_of(name)}"',
            f"  %how = call i32 @{callee}(ptr %record, ptr %arrays)",
            "  %fails = icmp slt i32 %how, 0",
            "  br i1 %fails, label %python, label %done",
            "python:",
            f'  %found = call i32 @"python.{name}"({given})',
            "  ret i32 %found",
            "done:",
            "  ret i32 %how",
            "}",
        ]
    names = list(counts)
    exported = [*names[1:], *map(record_of, names)]
    code = host().object_code("\n".join(lines), 0)
    return LoadedCode((code,), names[0], functions=called, exported=exported)


def record_of(name: str) -> str:
    """The variable of a function that points to its record."""
    return f"record.{name}"
