"""
RISC-V programs on unicorn, an emulator that is a Python package: what the driver of a program needs
of Linux is done here. For scalar code: vector instructions end it.
"""

from __future__ import annotations

import importlib.util
import struct
from dataclasses import dataclass, field
from enum import IntEnum
from importlib import import_module
from typing import Any

_PAGE = 4096
_STACK = 0x7000_0000
_STACK_SIZE = 8 << 20
_MAPPINGS = 0x1_0000_0000
"""Where the memory that programs ask for begins."""
_FLOATS_ON = 0x6000
"""The bits of `mstatus` that make floating-point instructions legal."""
_FILE = 3
"""The number of the only file."""

_ELF_HEADER = struct.Struct("<24xQQ14xHH")
"""Of it, the entry, and the place, the size and the number of the program headers."""
_PROGRAM_HEADER = struct.Struct("<I4xQQ8xQQ8x")
"""Of it, the type, the place in the file, the address, and the sizes in the file and in memory."""
_LOADED = 1

_ENVIRONMENT_CALL = 8
"""The number of the exception that `ecall` is."""


class _Call(IntEnum):
    """The calls of Linux that the driver makes, but for getpid, whose result it does not use."""

    OPENAT = 56
    LSEEK = 62
    EXIT_GROUP = 94
    MUNMAP = 215
    MMAP = 222


def has_embedded_emulator() -> bool:
    """Whether unicorn is installed."""
    return importlib.util.find_spec("unicorn") is not None


def _pages(size: int) -> int:
    """A size rounded up to whole pages."""
    return -(-size // _PAGE) * _PAGE


@dataclass
class EmbeddedProcess:
    """One run of a program in this process, in a memory of its own."""

    binary: bytes
    memory: bytes
    """The file that the driver maps; after the run, what the program has made of it."""
    exit_code: int | None = None
    """What the program ended with; None if it did not end by itself."""
    fault: str = ""
    """Why it did not."""
    _unicorn: Any = field(init=False)
    _constants: Any = field(init=False)
    _next: int = _MAPPINGS
    _file_at: int = 0

    def run(self, seconds: float) -> None:
        """Runs the program until it ends or the time is over."""
        unicorn, self._constants = import_module("unicorn"), import_module("unicorn.riscv_const")
        self._unicorn = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV64)
        entry = self._load()
        self._unicorn.mem_map(_STACK, _STACK_SIZE)
        stack = _STACK + _STACK_SIZE - _PAGE
        # The number of arguments and their addresses; the only file has any name.
        self._unicorn.mem_write(stack, struct.pack("<QQQQ", 2, stack, stack, 0))
        self._write("SP", stack)
        self._write("MSTATUS", _FLOATS_ON)
        self._unicorn.hook_add(unicorn.UC_HOOK_INTR, self._interrupt)
        try:
            # Unicorn takes 0 for no limit at all.
            self._unicorn.emu_start(entry, 0, timeout=max(1, int(seconds * 1e6)))
        except unicorn.UcError as error:
            self.fault = f"{error} at {self._read('PC'):#x}"
        if self.exit_code == 0:
            self.memory = bytes(self._unicorn.mem_read(self._file_at, len(self.memory)))

    def _load(self) -> int:
        """Puts the program into memory; returns the address of its first instruction."""
        entry, start, size, count = _ELF_HEADER.unpack_from(self.binary)
        mapped: set[int] = set()
        for number in range(count):
            header = _PROGRAM_HEADER.unpack_from(self.binary, start + number * size)
            kind, offset, address, in_file, in_memory = header
            if kind != _LOADED:
                continue
            for page in range(address // _PAGE, _pages(address + in_memory) // _PAGE):
                if page not in mapped:
                    mapped.add(page)
                    self._unicorn.mem_map(page * _PAGE, _PAGE)
            self._unicorn.mem_write(address, self.binary[offset : offset + in_file])
        return entry

    def _interrupt(self, _unicorn: Any, number: int, _data: Any) -> None:
        if number != _ENVIRONMENT_CALL:
            self.fault = f"exception {number} at {self._read('PC'):#x}"
            self._unicorn.emu_stop()
            return
        first, second = self._read("A0"), self._read("A1")
        result = 0
        match self._read("A7"):
            case _Call.OPENAT:
                result = _FILE
            case _Call.LSEEK:
                result = len(self.memory)
            case _Call.MMAP:
                result = self._map(second, self._read("A4") == _FILE)
            case _Call.MUNMAP:
                self._unicorn.mem_unmap(first, _pages(second))
            case _Call.EXIT_GROUP:
                self.exit_code = first
                self._unicorn.emu_stop()
            case _:
                pass
        self._write("A0", result)

    def _map(self, size: int, is_file: bool) -> int:
        address = self._next
        # A page stays free between mappings: what runs over an end is found.
        self._next += _pages(size) + _PAGE
        self._unicorn.mem_map(address, _pages(size))
        if is_file:
            self._file_at = address
            self._unicorn.mem_write(address, self.memory)
        return address

    def _read(self, register: str) -> int:
        return self._unicorn.reg_read(getattr(self._constants, f"UC_RISCV_REG_{register}"))

    def _write(self, register: str, value: int) -> None:
        self._unicorn.reg_write(getattr(self._constants, f"UC_RISCV_REG_{register}"), value)
