"""
LLVM itself: optimising the text of a module, and generating assembly and object code; the machines
that it does so for, and their descriptions in a text.

LLVM ends the process, or says something on stderr and goes on, where a CPU or a feature is not
known or does not go with others, and its Python interface lists neither. So it is asked in a
process of its own, once for each processor.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite.utils import get_library_name

from lowerings.ir.processor_features import BFLOAT_PAIRS, HALVES, QUADS, ROOT_ESTIMATES, SCALING
from xla_dialect.diagnostics import XlaError


class CodeGenerationError(XlaError):
    """LLVM rejects a module or a processor, or cannot generate code for it."""


_FEATURE = re.compile(r"[+-][\w.-]+")
_TIME_LIMIT = 60.0
"""Seconds for a process that takes a tenth of one."""

_PROBE = r"""
import sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple, cpu, features, abi = sys.argv[1:]
machine = llvm.Target.from_triple(triple).create_target_machine(
    cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small", abiname=abi
)
vector = "<32 x float>"
print(machine.emit_assembly(llvm.parse_assembly(
    f'target triple = "{triple}"\n'
    'define double @f(double %x) { %y = fadd double %x, %x ret double %y }\n'
    'define void @g(ptr %p) "prefer-vector-width"="512" {'
    f' %x = load {vector}, ptr %p %y = fadd {vector} %x, %x store {vector} %y, ptr %p ret void }}'
)))
"""
"""Generates code for a sum of two numbers, and of two vectors of 1024 bits."""

_REGISTERS = {"%ymm": 256, "%zmm": 512}
"""What in the code of a sum of vectors shows how wide they are."""
_LEAST_LENGTH = re.compile(r"_zvl(\d+)b")
"""What the attributes of RISC-V code say of the length of vectors."""


def require_known(triple: str, cpu: str, features: str, abi: str = "") -> None:
    """
    Raises CodeGenerationError with what LLVM says of a CPU or features that it does not know, or
    that do not go together.
    """
    _assembly(triple, cpu, features, abi)


def vector_bits_of(triple: str, cpu: str, features: str, abi: str = "") -> int | None:
    """
    The width of the vectors that a CPU has by its name, None where it has none that are known here.
    Raises CodeGenerationError as `require_known` does.
    """
    text = _assembly(triple, cpu, features, abi)
    found = [bits for name, bits in _REGISTERS.items() if name in text]
    return max([*found, *map(int, _LEAST_LENGTH.findall(text))], default=None)


@cache
def _assembly(triple: str, cpu: str, features: str, abi: str) -> str:
    """The code for sums of numbers and of vectors."""
    for each in filter(None, features.split(",")):
        if not _FEATURE.fullmatch(each):
            raise CodeGenerationError(f"{each!r} is no feature as LLVM spells them: +avx2,-avx512f")
    answer = subprocess.run(
        [sys.executable, "-c", _PROBE, triple, cpu, features, abi],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_TIME_LIMIT,
        check=False,
    )
    said = answer.stderr.strip()
    if answer.returncode == 0 and not said:
        return answer.stdout
    lines = [line for line in said.splitlines() if "ignoring" in line or "LLVM ERROR" in line]
    reason = (lines or said.splitlines() or [f"it ends with code {answer.returncode}"])[0]
    reason = re.sub(r"^LLVM ERROR: |^error: <unknown>:0:0: | \(ignoring [\w-]+\)$", "", reason)
    named = " ".join(filter(None, (cpu and f"cpu={cpu}", features and f"features={features}")))
    raise CodeGenerationError(f"{triple} {named}: {reason.strip()}")


PLAIN = "#0"
APART = "#1"
"""The attribute group of functions with `noinline`."""
INLINED = "#2"
GLUE = "#3"
"""
Of a function that does little more than call others. What the optimiser and the careful code
generator of LLVM would find there is not worth the millisecond that they take.
"""

_WORDS = {PLAIN: "", APART: "noinline ", INLINED: "alwaysinline ", GLUE: "noinline optnone "}


def definitions(machine: Machine | None, *, inlines: bool) -> Iterable[str]:
    """
    The lines that define the groups; `INLINED` only if it is used, which tells whether passes have
    to run.
    """
    common = "nounwind" if machine is None else machine.attributes
    return (
        f"attributes {group} = {{ {words}{common} }}"
        for group, words in _WORDS.items()
        if inlines or group != INLINED
    )


__all__ = ["RV64GC", "CodeGenerationError", "Machine", "host", "riscv64", "x86_64"]


_VECTOR_BITS = (
    ("+avx512f", 512),
    ("+zvl512b", 512),
    ("+avx", 256),
    ("+zvl256b", 256),
    ("+v", 128),
)
"""The widest vectors that a feature brings; the widest first."""
_BASE_VECTOR_BITS = {"riscv64": 0}
"""The vectors of a processor without any of these features, where they are not of 128 bits."""

_NEEDING: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx"), ("avx", "f16c")),
    "avx2": ("avx512", "avxvnni"),
    "f16c": ("avx512",),
    "fma": ("avx512",),
    "avx512f": ("avx512",),
    "avx512bw": ("avx512bf16",),
}
"""How the features begin that need one, of those that decide here what code is made."""

RV64GC = ("+m", "+a", "+f", "+d", "+c")
"""What every 64-bit RISC-V processor for Linux has: the letters of RV64GC."""


@dataclass(frozen=True)
class Machine:
    """A processor to generate code for."""

    triple: str
    cpu: str = ""
    features: str = ""
    """As LLVM spells them: `+avx2,-avx512f`."""
    abi: str = ""
    """How functions pass their arguments, e.g. `lp64d`; nothing means as usual for the triple."""

    @property
    def vector_bits(self) -> int:
        """The width of its vector registers, 0 if it has none."""
        features = self.features.split(",")
        wide = next((bits for feature, bits in _VECTOR_BITS if feature in features), None)
        if wide is None and self.cpu:
            wide = vector_bits_of(self.triple, self.cpu, self.features, self.abi)
        return _BASE_VECTOR_BITS.get(self.architecture, 128) if wide is None else wide

    @property
    def architecture(self) -> str:
        """The first part of the triple, e.g. `x86_64`."""
        return self.triple.partition("-")[0]

    @property
    def processor(self) -> str:
        """What schedules that were measured on it are kept under, in files of schedules."""
        return f"{self.architecture} {self.cpu or self.features}, {self.vector_bits} bits"

    @property
    def scales_indices(self) -> bool:
        """Whether an address in an instruction may be a base, a scaled index and a number."""
        return self.architecture == "x86_64"

    @property
    def multiplies_pairs(self) -> bool:
        """Whether it has vector instructions that add products of neighbouring 16-bit numbers."""
        return self.triple.startswith("x86_64")

    @property
    def multiplies_quads(self) -> bool:
        """Whether it has vector instructions that add four products of 8-bit numbers."""
        return self._has(QUADS)

    @property
    def multiplies_bfloats(self) -> bool:
        """Whether it has vector instructions that add two products of bf16."""
        return self._has(BFLOAT_PAIRS)

    @property
    def estimates_roots(self) -> bool:
        """Whether it has instructions that estimate reciprocal roots of f32 to 14 bits."""
        return ROOT_ESTIMATES.issubset(_split(self.features))

    @property
    def scales_by_powers(self) -> bool:
        """Whether it has instructions that multiply f32 by powers of two."""
        return SCALING.issubset(_split(self.features))

    @property
    def converts_halves(self) -> bool:
        """Whether it converts f16, or what LLVM calls for that is at hand, as on RISC-V."""
        return self.architecture != "x86_64" or HALVES in _split(self.features)

    def _has(self, one_of: Sequence[str]) -> bool:
        # The widest vectors count: those with AVX-512 that have VNNI for others only are rare.
        wide = [each for each in one_of if self.vector_bits < 512 or "avx512" in each]
        return self.multiplies_pairs and not set(wide).isdisjoint(self.features.split(","))

    def without(self, features: str) -> Machine:
        """
        The same with features taken away, `-avx512f`, and with them what needs these. Raises
        CodeGenerationError for features to be added.
        """
        taken = _split(features)
        if added := [each for each in taken if not each.startswith("-")]:
            raise CodeGenerationError(f"{added[0]!r}: features can only be taken away: -avx512f")
        # LLVM clears them as well, but what asks for a feature here has to see it.
        needing = tuple(f"+{n}" for each in taken for n in _NEEDING.get(each[1:], ()))
        kept = [
            each
            for each in _split(self.features)
            if f"-{each[1:]}" not in taken and not each.startswith(needing)
        ]
        # The last word counts.
        return replace(self, features=",".join((*kept, *taken)))

    def is_part_of(self, other: Machine) -> bool:
        """Whether all that it has another machine is known to have: code for it runs there."""
        kept = [each for each in _split(self.features) if each.startswith("+")]
        of_kind = (self.triple, self.cpu, self.abi) == (other.triple, other.cpu, other.abi)
        return of_kind and set(kept) <= set(_split(other.features))

    def require_known(self) -> None:
        """
        Raises CodeGenerationError where LLVM has no such target, CPU or feature, or they do not go
        together: it would end the process.
        """
        _target_machine(self)

    @property
    def attributes(self) -> str:
        """
        The attributes of functions, as LLVM writes them; 512-bit vectors are used only if they ask
        for it.
        """
        pairs = {
            "target-cpu": self.cpu,
            "target-features": self.features,
            "prefer-vector-width": "512" if self.vector_bits == 512 else "",
        }
        return " ".join(["nounwind", *(f'"{k}"="{v}"' for k, v in pairs.items() if v)])

    @property
    def data_layout(self) -> str:
        """How LLVM describes the sizes and alignments of its types on this machine."""
        return str(_target_machine(self).target_data)

    def assembly(self, text: str) -> str:
        """Optimised assembly for the text of a module; raises CodeGenerationError."""
        return _target_machine(self).emit_assembly(self._optimized(text))

    def assembly_at_level(self, text: str, level: int) -> str:
        """
        Assembly by LLVM's own pipeline for an optimisation level, as `clang -O2` has it for 2: what
        our code is compared with. Raises CodeGenerationError.
        """
        module = _verified(text)
        target = _target_machine(self, level)
        options = llvm.create_pipeline_tuning_options(speed_level=level)
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        return target.emit_assembly(module)

    def object_code(self, text: str, level: int = 3) -> bytes:
        """
        Optimised, position-independent object code for the text of a module. Code of level 0 is
        made in a fifth of the time. Raises CodeGenerationError.
        """
        module = self._optimized(text)
        emit, start, size, dispose = _object_functions()
        buffer = emit(_target_machine(self, level), module, 1, ctypes.byref(ctypes.c_char_p()))
        if not buffer:
            raise CodeGenerationError(f"LLVM writes no object code for {self.triple}")
        try:
            return ctypes.string_at(start(buffer), size(buffer))
        finally:
            dispose(buffer)

    def optimized(self, text: str) -> str:
        """The text of a module after optimisation; raises CodeGenerationError."""
        return str(self._optimized(text))

    def _optimized(self, text: str) -> llvm.ModuleRef:
        module = _verified(text)
        # Nothing else than what is marked would be inlined, so the passes would find nothing to do.
        if "alwaysinline" in text:
            passes, builder = _pipeline(self)
            passes.run(module, builder)
        return module


@cache
def host() -> Machine:
    """The machine this process runs on."""
    _initialize()
    features = llvm.get_host_cpu_features().flatten()
    return Machine(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def x86_64(cpu: str = "", features: str = "") -> Machine:
    """An x86-64 machine: the one this process runs on if it is one and no other is named."""
    if not (cpu or features) and host().triple.startswith("x86_64"):
        return host()
    return Machine("x86_64-unknown-linux-gnu", cpu, features)


def riscv64(cpu: str = "", features: str = "") -> Machine:
    """
    An RV64GC machine with further features, as LLVM spells them.

    `+v` brings vectors of 128 bits, `+v,+zvl256b` of 256.
    """
    spelled = ",".join((*RV64GC, *_split(features)))
    return Machine("riscv64-unknown-linux-gnu", cpu, spelled, "lp64d")


def _verified(text: str) -> llvm.ModuleRef:
    try:
        # A context of its own: what a module leaves behind in the common one stays for good.
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise CodeGenerationError(f"LLVM rejects the module: {error}") from error
    return module


def _split(features: str) -> list[str]:
    return [feature for feature in features.split(",") if feature]


@cache
def _pipeline(machine: Machine) -> tuple[llvm.ModulePassManager, llvm.PassBuilder]:
    """
    What is marked to be inlined is, and nothing else.

    Kernels are printed as explicit vectors, with everything at the loop where it belongs, and
    selection of instructions does what peephole work there is left. The quickest of LLVM's passes
    on functions take a tenth of the time to compile and make no program of the benchmark faster.

    One for all modules: llvmlite 0.50 does not free what belongs to a builder, 7 KB each. The
    passes have changed every module that they ran on, so none leaves analyses behind. Threads run
    them in turn, by llvmlite's lock.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    options = llvm.create_pipeline_tuning_options()
    return passes, llvm.create_pass_builder(_new_target_machine(machine), options)


@cache
def _object_functions() -> Any:
    """
    Functions of llvmlite's library: to generate code for a module, and the start, the size and the
    end of a buffer. They are called by a handle of our own, as llvmlite's has one lock for all
    calls; threads may generate code at once, for modules in contexts of their own.
    """
    path = Path(llvm.__file__).with_name(get_library_name())
    names = ("TargetMachineEmitToMemory", "GetBufferStart", "GetBufferSize", "DisposeMemoryBuffer")
    emit, start, size, dispose = found = [ctypes.CDLL(str(path))[f"LLVMPY_{n}"] for n in names]
    pointer = ctypes.c_void_p
    emit.argtypes = (pointer, pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))
    start.argtypes = size.argtypes = dispose.argtypes = (pointer,)
    emit.restype = start.restype = pointer
    size.restype, dispose.restype = ctypes.c_size_t, None
    return found


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


class _TargetMachines(threading.local):
    """Those of a thread: LLVM keeps notes in them while it generates code."""

    def __init__(self):
        self.by_machine: dict[tuple[Machine, int], llvm.TargetMachine] = {}


_of_thread = _TargetMachines()


def _target_machine(machine: Machine, level: int = 3) -> llvm.TargetMachine:
    known = _of_thread.by_machine
    found = known.get((machine, level))
    if found is None:
        found = known[machine, level] = _new_target_machine(machine, level)
    return found


def _new_target_machine(machine: Machine, level: int = 3) -> llvm.TargetMachine:
    _initialize()
    try:
        target = llvm.Target.from_triple(machine.triple)
    except RuntimeError as error:
        raise CodeGenerationError(f"LLVM has no target {machine.triple}: {error}") from error
    if machine not in (host(), riscv64()):
        require_known(machine.triple, machine.cpu, machine.features, machine.abi)
    return target.create_target_machine(
        cpu=machine.cpu,
        features=machine.features,
        opt=level,
        reloc="pic",
        codemodel="small",
        abiname=machine.abi,
    )


_DESCRIPTION = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\{(?P<options>[^{}]*)\})?\s*")
_OPTION = re.compile(r"""([a-z]+)=("[^"]*"|'[^']*'|[^\s"']*)(?:\s+|$)""")


class MachineError(XlaError):
    """A description of a machine that names none."""


@dataclass(frozen=True)
class NamedMachine:
    """A row of the table of machines."""

    make: Callable[[str, str], Machine]
    """From a CPU and features, as LLVM names them; both may be empty."""
    summary: str


def _host(cpu: str, features: str) -> Machine:
    if cpu:
        raise MachineError("the machine 'host' has the CPU that it has")
    return host().without(features)


MACHINES: Mapping[str, NamedMachine] = {
    "host": NamedMachine(_host, "what this process runs on; features can be taken away: -avx512f"),
    "x86-64": NamedMachine(x86_64, "the host if it is one and nothing else is said"),
    "riscv64": NamedMachine(riscv64, "RV64GC and what features add: +v for vectors"),
}
"""The machines by name."""


@dataclass(frozen=True)
class MachineDescription:
    """A machine as one writes it: `riscv64{features=+v,+zvl256b}` or `x86-64{cpu=skylake}`."""

    name: str
    cpu: str = ""
    features: str = ""

    @staticmethod
    def parse(text: str) -> MachineDescription:
        """Reads a description; raises MachineError for one that names no machine of the table."""
        found = _DESCRIPTION.fullmatch(text)
        if found is None:
            raise MachineError(f"target '{text}': expected NAME or NAME{{cpu=... features=...}}")
        if found["name"] not in MACHINES:
            raise MachineError(
                f"target '{text}': there is no machine '{found['name']}' "
                f"(there are: {', '.join(MACHINES)})"
            )
        given = (found["options"] or "").strip()
        options = dict[str, str]()
        place = 0
        while place < len(given):
            option = _OPTION.match(given, place)
            if option is None or option[1] not in ("cpu", "features") or option[1] in options:
                raise MachineError(f"target '{text}': expected cpu=... or features=..., once each")
            options[option[1]] = option[2].strip("\"'")
            place = option.end()
        return MachineDescription(found["name"], **options)

    def machine(self) -> Machine:
        """
        The machine; raises CodeGenerationError for a CPU or features that LLVM does not know, or
        that do not go together.
        """
        machine = MACHINES[self.name].make(self.cpu, self.features)
        machine.require_known()
        return machine


def parse_machine(text: str) -> Machine:
    """The machine of a description; raises XlaError as `MachineDescription` does."""
    return MachineDescription.parse(text).machine()
