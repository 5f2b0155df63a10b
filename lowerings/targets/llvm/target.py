"""
The output formats `llvm` and `x86-asm`.

xDSL has targets of these names, for its own dialects. Our tools have ours in their place; stock
`xdsl-opt` has both, and ours are called `xla-llvm` and `xla-x86-asm` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.module import emit_module

X86_TRIPLE = "x86_64-unknown-linux-gnu"


def _print(module: ModuleOp, machine: Machine, inline_constants: bool) -> str:
    emitted = emit_module(
        module,
        machine.attributes,
        triple=machine.triple,
        data_layout=machine.data_layout,
        inline_constants=inline_constants,
    )
    return emitted.text


@dataclass(frozen=True)
class LLVMTarget(Target):
    """
    LLVM IR for a module of the loops level, unoptimised.

    It is printed for the machine this runs on, unless `triple`, `cpu` or `features` name
    another; `inline_constants=false` leaves large constants to be filled in at load time.
    """

    name = "llvm"

    triple: str = ""
    cpu: str = ""
    features: str = ""
    inline_constants: bool = True

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        named = self.triple or self.cpu or self.features
        triple = self.triple or host().triple
        machine = Machine(triple, self.cpu, self.features) if named else host()
        output.write(_print(module, machine, self.inline_constants))


@dataclass(frozen=True)
class XlaLLVMTarget(LLVMTarget):
    """`LLVMTarget` beside xDSL's own."""

    name = "xla-llvm"


@dataclass(frozen=True)
class X86AssemblyTarget(Target):
    """
    Optimised x86-64 assembly for a module of the loops level.

    For the processor this runs on if it is one, unless `cpu` or `features` name another.
    """

    name = "x86-asm"

    cpu: str = ""
    features: str = ""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        machine = Machine(X86_TRIPLE, self.cpu, self.features)
        if not (self.cpu or self.features) and host().triple.startswith("x86_64"):
            machine = host()
        output.write(machine.assembly(_print(module, machine, True)))


@dataclass(frozen=True)
class XlaX86AssemblyTarget(X86AssemblyTarget):
    """`X86AssemblyTarget` beside xDSL's own."""

    name = "xla-x86-asm"
