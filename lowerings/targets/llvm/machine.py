"""LLVM itself: optimising the text of a module, and generating assembly and object code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import llvmlite.binding as llvm

from lowerings.ir.processor_features import BFLOAT_PAIRS, QUADS, ROOT_ESTIMATES
from lowerings.targets.llvm.attribute_groups import FunctionAttributes
from lowerings.targets.llvm.processors import (
    CodeGenerationError,
    require_known,
    vector_bits_of,
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
        kept = [each for each in _split(self.features) if f"-{each[1:]}" not in taken]
        # The last word counts: LLVM clears what implies a feature with it.
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
    def attributes(self) -> FunctionAttributes:
        """What functions say of the processor; 512-bit vectors are used only if they ask for it."""
        width = 512 if self.vector_bits == 512 else 0
        return FunctionAttributes(self.cpu, self.features, width)

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
        return _target_machine(self, level).emit_object(self._optimized(text))

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
    passes have changed every module that they ran on, so none leaves analyses behind.
    """
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    options = llvm.create_pipeline_tuning_options()
    return passes, llvm.create_pass_builder(_target_machine(machine), options)


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def _target_machine(machine: Machine, level: int = 3) -> llvm.TargetMachine:
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
