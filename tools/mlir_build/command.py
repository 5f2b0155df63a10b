"""`xla-build`: an executable of a program, by MLIR's own passes."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.dialects.builtin import ModuleOp, StringAttr

from lowerings.bufferize.bufferize_func import ENTRY_ATTRIBUTE
from lowerings.compilation import Lowering
from lowerings.driver import INPUT_FORMATS
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager
from lowerings.driver.program import parse_program
from lowerings.execution.emulator import has_linker
from lowerings.execution.signature import Signature
from lowerings.ir.custom_calls import require_no_outside_calls
from lowerings.ir.functions import functions_of
from lowerings.targets.llvm.machine import Machine, host, riscv64
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.mlir_text import print_mlir

from ..command_line import CommandLine
from ..input_text import read_input
from ..reporting import guarded
from .driver_table import bare_call, c_source
from .mlir_passes import MlirError, MlirTools, c_interface, run

SYMBOL, CALL = "xla_program", "xla_call"
"""The program in its executable, where `main` is the driver's; and what the driver calls."""
LEVELS = ("loops", "buffers")
TARGETS = ("host", "riscv64")


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-build."""
    parser = CommandLine(
        prog="xla-build",
        description="Lowers a program (HLO text, StableHLO or MLIR) to linalg or loops on memrefs, "
        "compiles that by mlir-opt and mlir-translate, and links an executable that reads numpy "
        "files and writes its results as such.",
    )
    add = parser.add_argument
    add("input_file", nargs="?", default="-", help="the program; - or nothing reads stdin")
    add("-f", "--frontend", choices=INPUT_FORMATS, help="format, if not by extension or content")
    add("-o", dest="output", metavar="FILE", help="the executable")
    add(
        "--sources",
        metavar="DIR",
        help="write no executable but, for another code generator, program.mlir: plain loops in a "
        "function @xla_program that takes a pointer for each memref; and driver.c, which calls it",
    )
    add("--entry", metavar="NAME", default="main", help="the function to run (default: main)")
    add(
        "--level",
        choices=LEVELS,
        default=LEVELS[0],
        help="what mlir-opt gets: our vector loops, or linalg on memrefs, to become plain "
        "loops (default: %(default)s)",
    )
    add(
        "--target",
        choices=TARGETS,
        default=TARGETS[0],
        help="the processor; programs for riscv64 are static (default: %(default)s)",
    )
    add("--features", metavar="LIST", default="", help="of riscv64, as LLVM spells them: +v")
    add("--mlir-opt", metavar="PATH", help="mlir-opt; mlir-translate is expected beside it")
    add(
        "--save-temps",
        metavar="DIR",
        help="keep what is between the program and the executable, and print the commands",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-build; returns the exit code: 0, or 1 for what cannot be built."""
    return guarded("xla-build", lambda: build(make_argument_parser().parse_args(argv)))


def build(args: argparse.Namespace) -> int:
    """Builds the executable."""
    if (args.output is None) == (args.sources is None):
        raise XlaError("one of -o and --sources says what to write")
    if args.sources is not None:
        return write_sources(args)
    tools = MlirTools.find(args.mlir_opt)
    if args.features and args.target == TARGETS[0]:
        raise XlaError("--features is for riscv64, not for this machine")
    machine = host() if args.target == TARGETS[0] else riscv64(features=args.features)
    file_name, text = read_input(args.input_file)
    try:
        module = parse_program(text, file_name, args.frontend, verified=True)
        signature = lower(module, args.entry, args.level, machine)
    except LocatedError as error:
        raise error.quoting(file_name, text) from None
    function = functions_of(module)[SYMBOL]
    driver = c_source(function, signature)
    count = len(function.function_type.inputs)
    with TemporaryDirectory(prefix="xla-build-") as folder:
        kept = Path(args.save_temps or folder)
        kept.mkdir(parents=True, exist_ok=True)
        _compile(tools, machine, kept, print_mlir(module), driver, count, args)
    return 0


def write_sources(args: argparse.Namespace) -> int:
    """Writes the program and its driver for another code generator."""
    file_name, text = read_input(args.input_file)
    try:
        module = parse_program(text, file_name, args.frontend, verified=True)
        signature = lower(module, args.entry, None, host(), "plain")
    except LocatedError as error:
        raise error.quoting(file_name, text) from None
    function = functions_of(module)[SYMBOL]
    # That is a function as our own machine code has entries: with an array of pointers.
    function.attributes.pop(ENTRY_ATTRIBUTE, None)
    folder = Path(args.sources)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.mlir").write_text(print_mlir(module) + "\n", encoding="utf-8")
    count = len(function.function_type.inputs)
    driver = c_source(function, signature) + bare_call(SYMBOL, count, CALL)
    (folder / "driver.c").write_text(driver, encoding="utf-8")
    return 0


def lower(
    module: ModuleOp, entry: str, level: str | None, machine: Machine, pipeline: str | None = None
) -> Signature:
    """
    Brings a program to a level, or no further than a pipeline does, where its entry is `SYMBOL`;
    returns what callers see.

    Raises XlaError for what an executable cannot have: arrays of dynamic sizes, calls of functions
    that only this process has.
    """
    lowered = Lowering(module, entry, pipeline=pipeline)
    if level is None:
        lowered.begin(machine)
        lowered_signature = lowered.run((), PassManager(make_context()))
    else:
        lowered_signature = lowered.to(level, machine)
    if lowered_signature.static is not lowered_signature.signature:
        raise XlaError("an executable takes no arrays of dynamic sizes")
    require_no_outside_calls(module, "an executable")
    functions_of(module)[ENTRY_SYMBOL].properties["sym_name"] = StringAttr(SYMBOL)
    return lowered_signature.signature


def _compile(
    tools: MlirTools,
    machine: Machine,
    folder: Path,
    text: str,
    driver: str,
    count: int,
    args: argparse.Namespace,
) -> None:
    """Writes all files on the way to the executable into a folder."""
    files = {
        name: folder / f"program.{name}" for name in ("mlir", "llvm.mlir", "ll", "o", "driver.c")
    }
    files["mlir"].write_text(text, encoding="utf-8")
    lowered = run(tools.llvm_dialect_command(), text)
    files["llvm.mlir"].write_text(lowered, encoding="utf-8")
    llvm_ir = run(tools.llvm_ir_command(), lowered) + c_interface(SYMBOL, count, CALL)
    files["ll"].write_text(llvm_ir, encoding="utf-8")
    files["o"].write_bytes(machine.object_code(llvm_ir))
    files["driver.c"].write_text(driver, encoding="utf-8")
    link = [*_compiler(args.target), "-O2", "-o", args.output]
    link += [str(files["driver.c"]), str(files["o"]), "-lm"]
    answer = subprocess.run(link, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise MlirError(f"{shlex.join(link)}: {answer.stderr.strip()[:2000]}")
    if args.save_temps:
        steps = (
            ([*tools.llvm_dialect_command(), str(files["mlir"])], files["llvm.mlir"]),
            ([*tools.llvm_ir_command(), str(files["llvm.mlir"])], files["ll"]),
        )
        for command, output in steps:
            print(shlex.join([*command, "-o", str(output)]))
        print(f"# LLVM {machine.triple} {machine.cpu}: {files['ll']} to {files['o']}")
        print(shlex.join(link))


def _compiler(target: str) -> list[str]:
    """The C compiler that compiles the driver and links; `CC` names another for this machine."""
    if target == TARGETS[0]:
        command = shlex.split(os.environ.get("CC", "cc"))
        if not command or shutil.which(command[0]) is None:
            raise MlirError(f"there is no C compiler '{' '.join(command)}' (CC names another)")
        return command
    if not has_linker():
        raise MlirError(
            "executables for riscv64 are linked by zig, which is not installed: "
            "pip install 'xla-dialect[riscv]'"
        )
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "riscv64-linux-musl"]
    return [*zig, "-mabi=lp64d", "-static"]


if __name__ == "__main__":
    sys.exit(main())
