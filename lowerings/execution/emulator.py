"""
Programs compiled for RISC-V: linked by zig, run by qemu, one process for each call.

A program gets its arrays in a file, which `emulator_driver.c` maps into its memory.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from lowerings.execution.arrays import (
    ALIGNMENT,
    OutOfMemory,
    from_arguments,
    require_memory,
)
from lowerings.execution.loops_compiler import emit_entry
from lowerings.execution.runnable import Runnable
from lowerings.execution.signature import Signature
from lowerings.ir.custom_calls import require_no_outside_calls
from lowerings.targets.llvm.machine import CodeGenerationError, Machine, MachineDescription, riscv64
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.runtime.limits import physical_memory

EMULATOR = "qemu-riscv64"
"""The command that runs the programs: Linux processes of a RISC-V processor."""
_DRIVER = Path(__file__).with_name("emulator_driver.c")
_COUNTER = Path(__file__).with_name("emulator_counter.c")
TIME_LIMIT = 600.0
"""Seconds that a call may take, if nothing else is said."""
_LINK_TIME_LIMIT = 300.0
"""Seconds; the first link of a machine builds the compiler's runtime."""

_PROGRAM_OPTIONS = (
    *("-target", "riscv64-linux-none", "-mabi=lp64d", "-static", "-O2", "-s"),
    *("-ffreestanding", "-nostdlib", "-rtlib=compiler-rt"),
)
_PLUGIN_OPTIONS = ("-shared", "-fPIC", "-O2", "-s", "-ffreestanding", "-nostdlib", "-Wl,-z,lazy")
_HEADER = struct.Struct("<QQQ")
"""The memory limit, the size of the arena, the number of arrays: `struct memory` of the driver."""
_WORD = 8
_DRIVER_FAILURES: dict[int | None, tuple[type[XlaError], str]] = {
    120: (XlaError, "cannot read the file of its arrays"),
    121: (OutOfMemory, "needs more memory than it may have"),
}
"""Errors by the exit code of the driver."""
_EMULATOR_FAULTS = {
    "decode_save_opc: Assertion": "qemu before 8.0 cannot execute vfcvt.rtz (its issue 1441): "
    "use a newer one, or no vectors",
}
"""Known bugs of emulators by the text that they print, with an explanation."""


_EMULATED = "riscv64"
"""The machine that programs are emulated on, as targets name it."""


class EmulatorMissing(XlaError):
    """A program that links or runs programs of another processor is not installed."""


class EmulationError(XlaError):
    """A program that did not end as programs do."""


@dataclass(frozen=True)
class Emulation:
    """How a program is compiled for an emulated processor and run on it."""

    features: str = ""
    """What the processor has beyond RV64GC, as LLVM spells it: `+v` or `+v,+zvl256b`."""
    time_limit: float = TIME_LIMIT
    """Seconds that a call may take."""
    memory_limit: int | None = None
    """
    Bytes that the arrays of a program may take, and what it allocates beside them; None for all
    that this machine has.
    """
    on_executed: Callable[[int], None] | None = None
    """Gets the number of instructions that a call executed, after each call."""
    cpu: str = ""
    """The processor to generate code for, as LLVM names it."""

    @staticmethod
    def of_target(target: str, on_executed: Callable[[int], None] | None = None) -> Emulation:
        """The emulation of a machine, `riscv64{features=+v}`; raises XlaError for another one."""
        found = MachineDescription.parse(target)
        if found.name != _EMULATED:
            raise XlaError(f"target '{target}': only {_EMULATED} is emulated")
        found.machine()
        return Emulation(found.features, on_executed=on_executed, cpu=found.cpu)

    @property
    def machine(self) -> Machine:
        """The processor."""
        return riscv64(self.cpu, self.features)

    @property
    def processor_options(self) -> str:
        """The processor as qemu spells it: `rv64,v=true,vlen=256,elen=64`."""
        spelled = ["rv64"]
        for feature in filter(None, self.features.split(",")):
            name = feature[1:]
            if name.startswith("zvl"):
                spelled.append(f"vlen={name.removeprefix('zvl').removesuffix('b')}")
            else:
                spelled.append(f"{name}={'true' if feature[0] == '+' else 'false'}")
        return ",".join(spelled)


class EmulatedExecutable(Runnable):
    """A compiled program that an emulator runs: as `Executable`, each call in its own process."""

    def __init__(
        self, binary: bytes, signature: Signature, arena_size: int | None, emulation: Emulation
    ):
        """`binary` is what `link` made. Raises OutOfMemory and EmulatorMissing."""
        self.signature = signature
        self.emulation = emulation
        self._binary = binary
        self._arena_size = arena_size or 0
        self._emulator = _required_emulator()
        self._counter = None if emulation.on_executed is None else _counter(self._emulator)
        specs = (*signature.parameters, *signature.results)
        self._offsets: list[int] = []
        end = _HEADER.size + _WORD * (len(specs) + 1)
        for spec in specs:
            start = -(-end // ALIGNMENT) * ALIGNMENT
            self._offsets.append(start)
            end = start + spec.byte_size
        self._size = end
        require_memory(signature.name, end + self._arena_size, emulation.memory_limit)

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """
        Runs the program; raises ArgumentError as `Executable` does, and EmulationError for a
        program that crashes or takes longer than it may.
        """
        signature = self.signature
        checked = from_arguments(arrays, signature)
        with tempfile.TemporaryDirectory(prefix="xla-riscv64-") as folder:
            memory = Path(folder, "memory")
            try:
                self._write(memory, checked)
                self._run(memory)
                return self._read(memory)
            except OSError as error:
                raise EmulationError(f"{signature.name}: {error}") from error

    def _write(self, path: Path, arrays: Sequence[Array]) -> None:
        """The file that the driver maps; results are holes, but for those that begin as one is."""
        limit = self.emulation.memory_limit
        head = _HEADER.pack(
            physical_memory() if limit is None else limit, self._arena_size, len(self._offsets)
        )
        with path.open("wb") as output:
            output.write(head + struct.pack(f"<{len(self._offsets)}Q", *self._offsets))
            for offset, array in zip(self._offsets, arrays, strict=False):
                output.seek(offset)
                output.write(array.tobytes())
            for result, parameter in self.signature.aliases:
                output.seek(self._offsets[len(arrays) + result])
                output.write(arrays[parameter].tobytes())
            output.truncate(self._size)

    def _read(self, path: Path) -> tuple[Array, ...]:
        offsets = self._offsets[len(self.signature.parameters) :]
        return tuple(
            np.ndarray(
                spec.shape,
                spec.dtype,
                # Numpy makes no array in no memory at all.
                np.fromfile(path, np.uint8, max(1, spec.byte_size), offset=offset),
            )
            for spec, offset in zip(self.signature.results, offsets, strict=True)
        )

    def _run(self, memory: Path) -> None:
        binary = memory.with_name("program")
        binary.write_bytes(self._binary)
        binary.chmod(0o700)
        command = [self._emulator, "-cpu", self.emulation.processor_options]
        log = memory.with_name("executed")
        if self._counter is not None:
            counter = memory.with_name("counter.so")
            counter.write_bytes(self._counter)
            command += ["-plugin", str(counter), "-d", "plugin", "-D", str(log)]
        seconds = self.emulation.time_limit
        try:
            answer = subprocess.run(
                [*command, str(binary), str(memory)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EmulationError(
                f"{self.signature.name}: did not end within {seconds:g} s on {EMULATOR}"
            ) from None
        if answer.returncode != 0:
            code = answer.returncode
            kind, what = _DRIVER_FAILURES.get(code, (EmulationError, _ending(code)))
            said = answer.stderr.decode(errors="replace").strip()
            known = (fault for sign, fault in _EMULATOR_FAULTS.items() if sign in said)
            reason = next(known, said)
            raise kind(f"{self.signature.name}: {what}" + (f": {reason}" if reason else ""))
        if self.emulation.on_executed is not None:
            # Before it come the emulator's own remarks.
            found = re.search(r"(\d+)\s*$", log.read_text(errors="replace"))
            if found is None:
                raise EmulationError(f"{self.signature.name}: {EMULATOR} counts no instructions")
            self.emulation.on_executed(int(found[1]))


def _ending(code: int) -> str:
    """How a process ended, by the exit code that Python gives it."""
    if code >= 0:
        return f"{EMULATOR} ended with exit code {code}"
    names = {each.value: each.name for each in signal.Signals}
    return f"{EMULATOR} ended by {names.get(-code, f'signal {-code}')}"


def compile_for_emulator(
    module: ModuleOp, signature: Signature, emulation: Emulation
) -> EmulatedExecutable:
    """
    Compiles a module of the loops level for an emulated processor, as `compile_loops_module` does
    for this one; its entry is `@main`. Raises EmulatorMissing, and XlaError for custom calls.
    """
    require_no_outside_calls(module, "an emulated program")
    _required_emulator()
    emitted, arena_size = emit_entry(
        module, signature, "main", emulation.machine, inline_constants=True
    )
    binary = link(emulation.machine.object_code(emitted.text))
    return EmulatedExecutable(binary, signature, arena_size, emulation)


def link(object_code: bytes) -> bytes:
    """
    The executable of the object code of a program, whose entry is `main`.

    Raises EmulatorMissing, and CodeGenerationError for what does not link.
    """
    return _zig([*_PROGRAM_OPTIONS, str(_DRIVER)], object_code)


def assemble(text: str) -> bytes:
    """
    The object code of RV64GC assembly.

    Raises EmulatorMissing, and CodeGenerationError for what is no assembly.
    """
    return _zig([*_PROGRAM_OPTIONS[:4], "-c"], text.encode(), "program.s")


@cache
def _counter(emulator: str) -> bytes:
    """The plugin that counts instructions, for the version of an emulator."""
    command = [emulator, "--version"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"version (\d+)", answer.stdout)
    # The version of the plugin interface; ours is in all of them, but qemu wants it named.
    version = 1 if found is not None and int(found[1]) < 9 else 2
    return _zig([*_PLUGIN_OPTIONS, f"-DPLUGIN_VERSION={version}", str(_COUNTER)])


def _zig(
    options: Sequence[str], program: bytes | None = None, file_name: str = "program.o"
) -> bytes:
    """What zig's C compiler makes of its options and a file."""
    if not has_linker():
        raise EmulatorMissing(
            "programs for riscv64 are linked by zig, which is not installed: "
            "pip install 'xla-dialect[riscv]'"
        )
    with tempfile.TemporaryDirectory(prefix="xla-riscv64-") as folder:
        source, result = Path(folder, file_name), Path(folder, "result")
        command = [sys.executable, "-m", "ziglang", "cc", *options, "-o", str(result)]
        if program is not None:
            source.write_bytes(program)
            command.append(str(source))
        try:
            answer = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LINK_TIME_LIMIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CodeGenerationError(f"zig did not link within {_LINK_TIME_LIMIT:g} s") from None
        if answer.returncode != 0:
            said = answer.stderr.decode(errors="replace").strip()
            verb = "assemble" if "-c" in options else "link"
            raise CodeGenerationError(f"zig cannot {verb} the program: {said}")
        return result.read_bytes()


def has_linker() -> bool:
    """Whether zig is installed."""
    return importlib.util.find_spec("ziglang") is not None


def _required_emulator() -> str:
    """The path of qemu; raises EmulatorMissing."""
    qemu = shutil.which(EMULATOR)
    if qemu is None:
        raise EmulatorMissing(
            f"programs for riscv64 are run by {EMULATOR}, which is not installed "
            "(Debian: apt install qemu-user)"
        )
    return qemu
