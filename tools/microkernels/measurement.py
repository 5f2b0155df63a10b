"""What a kernel executes on RISC-V when xDSL's backend or LLVM has compiled it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO

import numpy as np
from llvmlite.binding.object_file import ObjectFileRef
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.riscv.abstract_ops import print_assembly

from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.emulator import EmulatedExecutable, Emulation, assemble, link
from lowerings.execution.signature import Signature
from lowerings.pipelines import NATIVE, pass_specs
from lowerings.targets.llvm.func import ENTRY, KERNEL
from lowerings.targets.llvm.machine import riscv64
from lowerings.targets.llvm.module import emit_module
from lowerings.targets.riscv.target import RegisterTile, lower

from .kernels import Kernel

SCALAR_LOOPS: tuple[str, ...] = (
    # One kernel, in the function itself.
    *(spec for spec in pass_specs(NATIVE, "buffers") if spec != "xla-outline-kernels"),
    "xla-plan-schedules{vector_bits=0 register_tiles=false parallel_microseconds=-1}",
    "convert-linalg-to-vector-loops",
    "expand-small-floats",
    "expand-math",
)
"""The passes from a program to loops over scalars, in the order of the dimensions."""

SYMBOL = "kernel"
LLVM_LEVEL = 2


@dataclass(frozen=True)
class MeasuredCode:
    """A compiled kernel and its run."""

    assembly: str
    results: Sequence[NDArray[np.generic]]
    executed: int
    """Instructions from the kernel's first to its return."""
    byte_size: int

    @property
    def stack_accesses(self) -> int:
        """Loads and stores of the stack in its text: spills, and registers kept for the caller."""
        return len(re.findall(r"\(sp\)", self.assembly))


@dataclass(frozen=True)
class Measurement:
    """A kernel by three compilers' ways."""

    own: MeasuredCode
    """By xDSL's backend."""
    plain: MeasuredCode
    """By LLVM, from the loops as they are."""
    tiled: MeasuredCode
    """By LLVM, from the loops that xDSL's backend gets: unrolled and jammed."""
    tile: RegisterTile
    is_right: bool
    """Whether all of them have the results of the numpy reference."""

    @property
    def ratio(self) -> float:
        """Instructions beside LLVM's fewest."""
        return self.own.executed / min(self.plain.executed, self.tiled.executed)


def measure(kernel: Kernel, element_type: str, size: int) -> Measurement:
    """
    Compiles a kernel in each way and runs it in qemu.

    Raises EmulatorMissing without qemu or zig, and XlaError for what xDSL's backend cannot do.
    """
    program = load_program(kernel.text(element_type, size))
    reference = compile_module(program.clone(), Options(backend="reference"))
    signature = reference.signature
    arguments = inputs(signature)
    expected = reference(*arguments)
    ctx = make_context()
    loops = program.clone()
    PassManager(ctx).run(loops, parse_passes(",".join(SCALAR_LOOPS)))
    _name_kernel(loops)
    lowered, tile = lower(ctx, loops)
    tiled = loops.clone()
    for each in tile.unrolling:
        each.apply(ctx, tiled)
    text = StringIO()
    print_assembly(lowered, text)
    own, *others = (
        run(assembly, signature, arguments)
        for assembly in (text.getvalue(), llvm_assembly(loops), llvm_assembly(tiled))
    )
    plain, jammed = others
    is_right = all(
        same(found, wanted)
        for code in (own, plain, jammed)
        for found, wanted in zip(code.results, expected, strict=True)
    )
    return Measurement(own, plain, jammed, tile, is_right)


def _name_kernel(loops: ModuleOp) -> None:
    """Makes the entry a function that takes a pointer for each memref, none of them overlapping."""
    for op in loops.ops:
        if isinstance(op, FuncOp) and ENTRY in op.attributes:
            op.sym_name = StringAttr(SYMBOL)
            del op.attributes[ENTRY]
            op.attributes[KERNEL] = UnitAttr()


def llvm_assembly(loops: ModuleOp) -> str:
    """What LLVM makes of loops for RV64GC."""
    machine = riscv64()
    text = emit_module(
        loops, machine.attributes, triple=machine.triple, data_layout=machine.data_layout
    ).text
    return machine.assembly_at_level(text, LLVM_LEVEL)


def inputs(signature: Signature) -> list[NDArray[np.generic]]:
    """
    Small whole numbers, so that sums are exact in any order; among the first, where there is room,
    what comparisons must treat with care.
    """
    rng = np.random.default_rng(20)
    special = [-0.0, np.nan, np.inf, -np.inf, -np.nan, 0.0]
    arrays: list[NDArray[np.generic]] = []
    for spec in signature.parameters:
        array = rng.integers(-8, 9, spec.shape).astype(spec.dtype)
        if array.size >= 2 * len(special):
            array.reshape(-1)[: len(special)] = special
        arrays.append(array)
    return arrays


def same(found: NDArray[np.generic], wanted: NDArray[np.generic]) -> bool:
    """Whether arrays are equal: NaN is NaN, and zeros have their signs."""
    left, right = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    signs = (np.signbit(left) == np.signbit(right)) | np.isnan(left)
    return bool(np.array_equal(left, right, equal_nan=True) and signs.all())


def run(
    assembly: str, signature: Signature, arguments: Sequence[NDArray[np.generic]]
) -> MeasuredCode:
    """Assembles and runs a kernel; its instructions are counted without those that call it."""
    count = len(signature.parameters) + len(signature.results)
    object_code = assemble(assembly)
    counted: list[int] = []
    emulation = Emulation(on_executed=counted.append)
    binary = link(assemble(_entry(count) + assembly))
    results = EmulatedExecutable(binary, signature, None, emulation)(*arguments)
    executed = counted.pop() - _instructions_around(count) + 1
    return MeasuredCode(assembly, results, executed, _text_size(object_code))


def _entry(count: int) -> str:
    """The program around a kernel: it gets a table of pointers, and passes them on."""
    loads = "".join(f"    ld a{n}, {8 * n}(t0)\n" for n in range(count + 1))
    return f""".text
.globl main
main:
    addi sp, sp, -16
    sd ra, 0(sp)
    mv t0, a0
{loads}    call {SYMBOL}
    ld ra, 0(sp)
    addi sp, sp, 16
    ret
"""


@cache
def _instructions_around(count: int) -> int:
    """How many instructions a program executes whose kernel is just a return."""
    counted: list[int] = []
    binary = link(assemble(f"{_entry(count)}{SYMBOL}:\n    ret\n"))
    EmulatedExecutable(binary, Signature((), ()), None, Emulation(on_executed=counted.append))()
    return counted.pop()


def _text_size(object_code: bytes) -> int:
    """The bytes of code in an object file."""
    sections = ObjectFileRef.from_data(object_code).sections()
    return sum(section.size() for section in sections if section.is_text())
