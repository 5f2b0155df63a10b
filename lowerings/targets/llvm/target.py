"""
The output formats `llvm`, `x86-asm`, `x86-object`, `riscv-asm` and `riscv-object`.

xDSL has targets `llvm`, `x86-asm` and `riscv-asm`, for its own dialects. Our tools have ours in
their place; stock `xdsl-opt` has both, and there the names of ours begin with `xla-`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.targets.binary_target import BinaryTarget
from lowerings.targets.llvm.machine import Machine, host, riscv64, x86_64
from lowerings.targets.llvm.module import emit_module


def _print(
    module: ModuleOp, machine: Machine, inline_constants: bool = True, threads: bool = False
) -> str:
    emitted = emit_module(
        module,
        machine,
        inline_constants=inline_constants,
        threads=threads,
    )
    return emitted.text


@dataclass(frozen=True)
class LLVMTarget(Target):
    """
    LLVM IR for a module of the loops level, unoptimised.

    It is printed for the machine this runs on, unless `triple`, `cpu` or `features` name
    another; `inline_constants=false` leaves large constants to be filled in at load time.
    With `threads=true` parallel loops are tasks for the threads of the runtime
    (`lowerings/runtime`); how many, says the number that `@xla.threads` points to.
    """

    name = "llvm"

    triple: str = ""
    """The kind of machine, e.g. `riscv64-unknown-linux-gnu`; that this runs on if not given."""
    cpu: str = ""
    """The processor, as LLVM names it."""
    features: str = ""
    """What the processor has, as LLVM spells it: `+avx2,-avx512f`."""
    inline_constants: bool = True
    """Whether large constants stand in the text; else they are filled in at load time."""
    threads: bool = False
    """Whether parallel loops are tasks for the threads of the runtime."""

    @property
    def machine(self) -> Machine:
        """What code is printed for."""
        if not (self.triple or self.cpu or self.features):
            return host()
        return Machine(self.triple or host().triple, self.cpu, self.features)

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(_print(module, self.machine, self.inline_constants, self.threads))


@dataclass(frozen=True)
class XlaLLVMTarget(LLVMTarget):
    """`LLVMTarget` beside xDSL's own."""

    name = "xla-llvm"


@dataclass(frozen=True)
class _ProcessorTarget(Target):
    """Code for one processor; `cpu` and `features` name it as LLVM does."""

    cpu: str = ""
    """The processor, as LLVM names it."""
    features: str = ""
    """What the processor has beyond the least of its kind, as LLVM spells it: `+avx2`, `+v`."""

    @property
    def machine(self) -> Machine:
        """What code is generated for."""
        raise NotImplementedError


@dataclass(frozen=True)
class _AssemblyTarget(_ProcessorTarget):
    """Optimised assembly for a module of the loops level."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(self.machine.assembly(_print(module, self.machine)))


@dataclass(frozen=True)
class _ObjectTarget(_ProcessorTarget, BinaryTarget):
    """An ELF object file for a module of the loops level: optimised, position-independent."""

    def content(self, ctx: Context, module: ModuleOp) -> bytes:
        return self.machine.object_code(_print(module, self.machine))


@dataclass(frozen=True)
class _X86Target(_ProcessorTarget):
    """For the processor this runs on if it is an x86-64 one, unless another is named."""

    @property
    def machine(self) -> Machine:
        return x86_64(self.cpu, self.features)


@dataclass(frozen=True)
class _RiscvTarget(_ProcessorTarget):
    """For RV64GC, and what `features` adds: `+v` for vectors, `+v,+zvl256b` for wider ones."""

    @property
    def machine(self) -> Machine:
        return riscv64(self.cpu, self.features)


@dataclass(frozen=True)
class X86AssemblyTarget(_X86Target, _AssemblyTarget):
    """
    Optimised x86-64 assembly for a module of the loops level.

    For the processor this runs on if it is one, unless `cpu` or `features` name another.
    """

    name = "x86-asm"


@dataclass(frozen=True)
class XlaX86AssemblyTarget(X86AssemblyTarget):
    """`X86AssemblyTarget` beside xDSL's own."""

    name = "xla-x86-asm"


@dataclass(frozen=True)
class X86ObjectTarget(_X86Target, _ObjectTarget):
    """
    An x86-64 object file (ELF) for a module of the loops level.

    For the processor this runs on if it is one, unless `cpu` or `features` name another.
    """

    name = "x86-object"


@dataclass(frozen=True)
class RiscvAssemblyTarget(_RiscvTarget, _AssemblyTarget):
    """
    Optimised RISC-V assembly for a module of the loops level.

    For RV64GC with what `features` adds to it, e.g. `+v,+zvl256b`.
    """

    name = "riscv-asm"


@dataclass(frozen=True)
class XlaRiscvAssemblyTarget(RiscvAssemblyTarget):
    """`RiscvAssemblyTarget` beside xDSL's own."""

    name = "xla-riscv-asm"


@dataclass(frozen=True)
class RiscvObjectTarget(_RiscvTarget, _ObjectTarget):
    """
    A RISC-V object file (ELF, ABI lp64d) for a module of the loops level.

    For RV64GC with what `features` adds to it, e.g. `+v,+zvl256b`.
    """

    name = "riscv-object"
