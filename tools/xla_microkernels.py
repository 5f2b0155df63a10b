"""`xla-microkernels`: xDSL's RISC-V backend beside LLVM's, by instructions that kernels execute."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

import numpy as np
from llvmlite.binding.object_file import ObjectFileRef
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.riscv.abstract_ops import print_assembly

from lowerings.compilation import Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from lowerings.execution.emulator import EmulatedExecutable, Emulation, assemble, link
from lowerings.execution.signature import Signature
from lowerings.ir.functions import ENTRY, KERNEL
from lowerings.pipelines import NATIVE, pass_specs
from lowerings.targets.llvm.machine import riscv64
from lowerings.targets.llvm.module import emit_module
from lowerings.targets.riscv.target import RegisterTile, lower

from .command_line import CommandLine, guarded
from .tables import table_with

TYPES = ("f64", "f32")

_SCALAR_FUNCTION = """
{name} {{
  x = {T}[] parameter(0)
  y = {T}[] parameter(1)
  ROOT z = {T}[] {opcode}(x, y)
}}
"""


@dataclass(frozen=True)
class Kernel:
    """A program with one result of `n` by `n` elements."""

    entry: str
    """The instructions; `{T}` is the element type, `{n}` and `{m}` are `n` and `n + 2`."""
    combiner: str = ""
    """The opcode of the computation `combine` that it calls."""

    def text(self, element_type: str, size: int) -> str:
        """HLO text for an element type and a size of at least 1."""
        words = {"T": element_type, "n": size, "m": size + 2}
        function = _SCALAR_FUNCTION.format(name="combine", opcode=self.combiner, T=element_type)
        body = self.entry.strip().format(**words)
        return f"HloModule kernel\n{function if self.combiner else ''}\nENTRY main {{\n{body}\n}}\n"


_POOL = """
  x = {{T}}[{{m}},{{m}}] parameter(0)
  first = {{T}}[] constant({first})
  ROOT y = {{T}}[{{n}},{{n}}] reduce-window(x, first), window={{{{size=3x3}}}}, to_apply=combine
"""

_MATMUL = """
  a = {{T}}[{{n}},{{n}}] parameter(0)
  b = {{T}}[{{n}},{{n}}] parameter(1)
  ROOT c = {{T}}[{{n}},{{n}}] dot(a, b), \
lhs_contracting_dims={{{{1}}}}, rhs_contracting_dims={{{{{right}}}}}
"""

KERNELS: Mapping[str, Kernel] = {
    "fill": Kernel("""
  x = {T}[] parameter(0)
  ROOT y = {T}[{n},{n}] broadcast(x), dimensions={{}}
"""),
    "sum": Kernel("""
  a = {T}[{n},{n}] parameter(0)
  b = {T}[{n},{n}] parameter(1)
  ROOT c = {T}[{n},{n}] add(a, b)
"""),
    "relu": Kernel("""
  x = {T}[{n},{n}] parameter(0)
  zero = {T}[] constant(0)
  zeros = {T}[{n},{n}] broadcast(zero), dimensions={{}}
  ROOT y = {T}[{n},{n}] maximum(x, zeros)
"""),
    "matmul": Kernel(_MATMUL.format(right=0)),
    "matmul_t": Kernel(_MATMUL.format(right=1)),
    "conv_3x3": Kernel("""
  x = {T}[1,1,{m},{m}] parameter(0)
  w = {T}[1,1,3,3] parameter(1)
  ROOT y = {T}[1,1,{n},{n}] convolution(x, w), window={{size=3x3}}, dim_labels=bf01_oi01->bf01
"""),
    "max_pool_3x3": Kernel(_POOL.format(first="-inf"), "maximum"),
    "sum_pool_3x3": Kernel(_POOL.format(first="0"), "add"),
}
"""By name, in the order of the ladder."""


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
    def figures(self) -> dict[str, int]:
        """
        What it is measured by; loads and stores of the stack in its text are spills, and registers
        kept for the caller.
        """
        stack = len(re.findall(r"\(sp\)", self.assembly))
        return {"instructions": self.executed, "stack_accesses": stack, "bytes": self.byte_size}


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
    own, plain, jammed = (
        run(assembly, signature, arguments)
        for assembly in (text.getvalue(), llvm_assembly(loops), llvm_assembly(tiled))
    )
    is_right = all(all(map(same, code.results, expected)) for code in (own, plain, jammed))
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
    return riscv64().assembly_at_level(emit_module(loops, riscv64()).text, LLVM_LEVEL)


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
    results, executed = _executed(_entry(count) + assembly, signature, arguments)
    sections = ObjectFileRef.from_data(assemble(assembly)).sections()
    size = sum(section.size() for section in sections if section.is_text())
    return MeasuredCode(assembly, results, executed - _instructions_around(count) + 1, size)


def _executed(
    assembly: str, signature: Signature, arguments: Sequence[NDArray[np.generic]]
) -> tuple[Sequence[NDArray[np.generic]], int]:
    """The results of a program, and how many instructions it executes."""
    counted: list[int] = []
    emulation = Emulation(on_executed=counted.append)
    results = EmulatedExecutable(link(assemble(assembly)), signature, None, emulation)(*arguments)
    return results, counted.pop()


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
    return _executed(f"{_entry(count)}{SYMBOL}:\n    ret\n", Signature((), ()), ())[1]


GOAL = 1.3
"""What the ratio of instructions should not exceed."""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-microkernels."""
    parser = CommandLine(
        prog="xla-microkernels",
        description="Compiles micro-kernels for RV64GC by xDSL's backend and by LLVM, runs them in "
        "qemu-riscv64, and compares results with numpy's and the instructions that they execute.",
    )
    add = parser.add_argument
    add("kernels", nargs="*", metavar="KERNEL", help=f"of {', '.join(KERNELS)}; default: all")
    add("--type", choices=TYPES, default=TYPES[0], help="the element type (default: %(default)s)")
    add("--size", type=int, default=16, help="results have SIZE x SIZE elements (default: 16)")
    add("--json", action="store_true", help="print the figures as JSON")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-microkernels; returns the exit code: 0, or 1 for a wrong result or bad input."""

    def body() -> int:
        parser = make_argument_parser()
        args = parser.parse_args(argv)
        names = args.kernels or list(KERNELS)
        if unknown := [name for name in names if name not in KERNELS]:
            parser.error(f"there is no kernel '{unknown[0]}'")
        if args.size < 1:
            parser.error("--size is at least 1")
        waiting = Console(stderr=True)
        measured = {
            name: measure(KERNELS[name], args.type, args.size)
            for name in track(names, "measuring", console=waiting, transient=True)
        }
        if args.json:
            print(json.dumps(figures(measured), indent=2))
        else:
            Console().print(table(measured, f"{args.type}, {args.size} x {args.size}"))
        return 0 if all(each.is_right for each in measured.values()) else 1

    return guarded("xla-microkernels", body)


def figures(measured: Mapping[str, Measurement]) -> dict[str, Any]:
    """The figures by kernel."""

    return {
        name: {
            "right": each.is_right,
            "xdsl": each.own.figures,
            "llvm": each.plain.figures,
            "llvm_tiled": each.tiled.figures,
            "ratio": round(each.ratio, 3),
            "tile": [each.tile.rows, each.tile.columns],
        }
        for name, each in measured.items()
    }


def table(measured: Mapping[str, Measurement], caption: str) -> Table:
    """The figures; in triples: xDSL's, LLVM's for the same loops, and for loops not unrolled."""
    title = f"RV64GC, {caption}: xDSL/LLVM -O{LLVM_LEVEL} on the same loops/on loops not unrolled"
    numbers = ("tile", "instructions", "ratio", "stack", "bytes")
    options = {"title": title, "box": SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
    shown = table_with(("kernel", "result"), numbers, **options)
    for name, each in measured.items():
        codes = [code.figures.values() for code in (each.own, each.tiled, each.plain)]
        instructions, stack, size = ("/".join(map(str, one)) for one in zip(*codes, strict=True))
        result = "right" if each.is_right else "[red]wrong"
        ratio = f"{each.ratio:.2f}" if each.ratio <= GOAL else f"[red]{each.ratio:.2f}"
        tile = f"{each.tile.rows}x{each.tile.columns}"
        shown.add_row(name, result, tile, instructions, ratio, stack, size)
    return shown
