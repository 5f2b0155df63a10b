"""Object code in this process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from lowerings.execution.arrays import address_of, allocate
from lowerings.execution.run_control import RunControl
from lowerings.runtime import run_function
from lowerings.targets.llvm.interface import ExternalConstant, ModuleGuards
from lowerings.targets.llvm.processors import CodeGenerationError
from xla_dialect.numpy_types import Array

if TYPE_CHECKING:
    from lowerings.targets.llvm.profiling import ModuleProfile

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
        object_code: bytes,
        entry: str,
        constants: Mapping[str, Array] | None = None,
        functions: Mapping[str, Any] | None = None,
        guards: ModuleGuards | None = None,
        pointers: Mapping[str, int] | None = None,
        profile: ModuleProfile | None = None,
        exported: Sequence[str] = (),
    ):
        """
        `constants`: where its large constants are, see `placed`. `functions`: what the code calls
        outside of it, as ctypes functions by their names; `pointers`: addresses that variables of
        the code are set to. Both must live as long as this object. `guards`: where its runs may
        end before their time; `profile`: where it keeps the time that its parts take. `exported`:
        symbols that `address` is asked for. Raises CompilationError.
        """
        builder = llvm.JITLibraryBuilder().add_object_img(object_code).add_current_process()
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
            self._point(symbol, address_of(data))
        for name, address in pointers.items():
            self._point(name, address)
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

    def _point(self, name: str, address: int) -> None:
        ctypes.c_void_p.from_address(self.symbols[name]).value = address
