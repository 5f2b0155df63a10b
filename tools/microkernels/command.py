"""`xla-microkernels`: xDSL's RISC-V backend beside LLVM's, by instructions that kernels execute."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from ..command_line import CommandLine
from ..reporting import guarded
from .kernels import KERNELS, TYPES
from .measurement import LLVM_LEVEL, MeasuredCode, Measurement, measure

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
    return guarded("xla-microkernels", lambda: run(argv))


def run(argv: Sequence[str] | None) -> int:
    """Measures and prints."""
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


def figures(measured: Mapping[str, Measurement]) -> dict[str, Any]:
    """The figures by kernel."""

    def of_code(code: MeasuredCode) -> dict[str, int]:
        return {
            "instructions": code.executed,
            "stack_accesses": code.stack_accesses,
            "bytes": code.byte_size,
        }

    return {
        name: {
            "right": each.is_right,
            "xdsl": of_code(each.own),
            "llvm": of_code(each.plain),
            "llvm_tiled": of_code(each.tiled),
            "ratio": round(each.ratio, 3),
            "tile": [each.tile.rows, each.tile.columns],
        }
        for name, each in measured.items()
    }


def table(measured: Mapping[str, Measurement], caption: str) -> Table:
    """The figures; in triples: xDSL's, LLVM's for the same loops, and for loops not unrolled."""
    title = f"RV64GC, {caption}: xDSL/LLVM -O{LLVM_LEVEL} on the same loops/on loops not unrolled"
    shown = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    shown.add_column("kernel", no_wrap=True)
    shown.add_column("result")
    for title in ("tile", "instructions", "ratio", "stack", "bytes"):
        shown.add_column(title, justify="right", no_wrap=True)
    for name, each in measured.items():
        codes = (each.own, each.tiled, each.plain)
        shown.add_row(
            name,
            "right" if each.is_right else "[red]wrong",
            f"{each.tile.rows}x{each.tile.columns}",
            "/".join(str(code.executed) for code in codes),
            f"{each.ratio:.2f}" if each.ratio <= GOAL else f"[red]{each.ratio:.2f}",
            "/".join(str(code.stack_accesses) for code in codes),
            "/".join(str(code.byte_size) for code in codes),
        )
    return shown
