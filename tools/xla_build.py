"""`xla-build`: an executable of a program, or the sources of one, by MLIR's own passes."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from lowerings.backends import Options
from lowerings.bufferize.signatures import aliased_parameters
from lowerings.bufferize.strided import strides_and_offset
from lowerings.compilation import Lowering
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager
from lowerings.driver.program import parse_program
from lowerings.execution.emulator import has_linker
from lowerings.execution.signature import Signature
from lowerings.ir.custom_calls import require_no_outside_calls
from lowerings.ir.functions import ENTRY, functions_of
from lowerings.targets.llvm.machine import Machine, host, riscv64
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.mlir_text import print_mlir

from .command_line import CommandLine, guarded
from .input_text import read_input

VERSION = 22
"""Of LLVM; its IR is what llvmlite reads."""
CANDIDATES = (f"mlir-opt-{VERSION}", "mlir-opt")

PIPELINE = (
    "convert-linalg-to-loops",
    "convert-vector-to-scf",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "func.func(llvm-request-c-wrappers)",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-complex-to-standard",
    "convert-complex-to-llvm",
    # A processor without conversions to bf16 would call a function that old runtime libraries lack.
    "arith-expand{include-bf16=true}",
    "convert-vector-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
)
"""From linalg on memrefs, scf, vector, arith, math and complex to the LLVM dialect."""


class MlirError(XlaError):
    """A tool of MLIR that is missing, or that refuses a module."""


@dataclass(frozen=True)
class MlirTools:
    """The commands."""

    opt: str
    translate: str

    @staticmethod
    def find(opt: str | None = None) -> MlirTools:
        """
        `mlir-opt`, by default the first of `CANDIDATES` of the right version on the path, and
        `mlir-translate` beside it. Raises MlirError.
        """
        for candidate in CANDIDATES if opt is None else (opt,):
            path = shutil.which(candidate)
            if path is None or (opt is None and _version(path) != VERSION):
                continue
            name = Path(path).name.replace("mlir-opt", "mlir-translate")
            translate = shutil.which(name, path=str(Path(path).parent))
            if translate is None:
                raise MlirError(f"there is no {name} beside {path}")
            return MlirTools(path, translate)
        raise MlirError(
            f"there is no {opt}"
            if opt is not None
            else f"there is no mlir-opt of LLVM {VERSION} "
            f"(apt install mlir-{VERSION}-tools, from apt.llvm.org)"
        )

    def llvm_dialect_command(self, first: Sequence[str] = ()) -> list[str]:
        """The command that lowers a module to the LLVM dialect; some passes may run `first`."""
        return [self.opt, f"--pass-pipeline=builtin.module({','.join([*first, *PIPELINE])})"]

    def llvm_ir_command(self) -> list[str]:
        """The command that prints LLVM IR."""
        return [self.translate, "--mlir-to-llvmir"]

    def llvm_ir(self, text: str, first: Sequence[str] = ()) -> str:
        """What MLIR's passes make of a module; raises MlirError with their first message."""
        return run(self.llvm_ir_command(), run(self.llvm_dialect_command(first), text))


def run(command: Sequence[str], text: str, name: str = "") -> str:
    """What a command prints for a text; raises MlirError with what it says where it fails."""
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = answer.stderr.strip() or f"exit code {answer.returncode}"
        raise MlirError(f"{name or Path(command[0]).name}: {said[:2000]}")
    return answer.stdout


def c_interface(callee: str, count: int, symbol: str) -> str:
    """
    LLVM IR of a function that calls another one by its C interface, with the descriptors of memrefs
    that a table has the addresses of.
    """
    loads = "".join(
        f"  %a{i} = getelementptr ptr, ptr %table, i64 {i}\n  %p{i} = load ptr, ptr %a{i}\n"
        for i in range(count)
    )
    arguments = ", ".join(f"ptr %p{i}" for i in range(count))
    call = f"  call void @_mlir_ciface_{callee}({arguments})\n"
    return f"\ndefine void @{symbol}(ptr %table) {{\n{loads}{call}  ret void\n}}\n"


def _version(path: str) -> int | None:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"LLVM version (\d+)\.", answer.stdout)
    return None if found is None else int(found[1])


_DRIVER = Path(__file__).with_name("driver.c")
_INCLUDES = ("errno", "math", "stdarg", "stdint", "stdio", "stdlib", "string", "time", "unistd")
_STRUCT = """
struct array {
    const char *name, *type, *descr;
    int64_t bytes, rank, memory; /* of an element; of the memory */
    const int64_t *sizes, *strides;
    int begins_as; /* the number of the array whose content it has before a call, or -1 */
};
"""


def c_source(function: FuncOp, signature: Signature) -> str:
    """
    The driver of a function of the buffers or loops level, whose callers see `signature`.

    Raises XlaError for tiled arrays: numpy's strides do not describe them.
    """
    count = len(signature.parameters)
    specs = (*signature.parameters, *signature.results)
    for spec in specs:
        if spec.order is not None and spec.order.tiles:
            raise XlaError(f"{spec} is tiled, which an executable does not take")
    begins = aliased_parameters(function)
    names = [signature.parameter_name(number) for number in range(count)]
    names += [f"result {number}" for number in range(len(signature.results))]
    rows = [(n, str(s), s.dtype.str, s.dtype.itemsize) for n, s in zip(names, specs, strict=True)]
    # Behind them there may be the arena.
    rows += [("arena", "bytes", "|u1", 1)] * (len(function.function_type.inputs) - len(rows))
    lines: list[str] = []
    initializers: list[str] = []
    for number, (row, type_) in enumerate(zip(rows, function.function_type.inputs, strict=True)):
        *words, width = row
        sizes = cast("MemRefType[Any]", type_).get_shape()
        strides, _ = strides_and_offset(cast("MemRefType[Any]", type_))
        reach = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        for kind, values in (("sizes", sizes), ("strides", strides)):
            elements = ", ".join(map(str, values)) or "0"
            lines.append(f"static const int64_t {kind}_{number}[] = {{{elements}}};")
        fields = (*map(json.dumps, words), width, len(sizes), 0 if 0 in sizes else reach * width)
        fields += (f"sizes_{number}", f"strides_{number}", begins.get(number, -1))
        initializers.append(f"    {{{', '.join(map(str, fields))}}}")
    table = ",\n".join(initializers) or "    {0}"
    head = [
        "#define _POSIX_C_SOURCE 200809L",
        *(f"#include <{name}.h>" for name in _INCLUDES),
        _STRUCT,
        *lines,
        f"static const struct array arrays[] = {{\n{table}\n}};",
        f"enum {{ array_count = {len(rows)}, parameter_count = {count}, "
        f"result_count = {len(signature.results)} }};",
        f"static const char signature[] = {json.dumps(str(signature))};",
    ]
    return "\n".join(head) + "\n\n" + _DRIVER.read_text(encoding="utf-8")


def bare_call(callee: str, count: int, symbol: str) -> str:
    """C of a function that calls another one with the pointers that descriptors have."""
    types = ", ".join(["void *"] * count) or "void"
    arguments = ", ".join(f"descriptors[{i}][1].pointer" for i in range(count))
    return (
        f"\nvoid {callee}({types});\n\n"
        f"void {symbol}(union word **descriptors) {{\n"
        f"    (void)descriptors;\n    {callee}({arguments});\n}}\n"
    )


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
    parser.add_program()
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
    """Builds the executable, or writes the program and its driver for another code generator."""
    if (args.output is None) == (args.sources is None):
        raise XlaError("one of -o and --sources says what to write")
    tools = MlirTools.find(args.mlir_opt) if args.sources is None else None
    if tools and args.features and args.target == TARGETS[0]:
        raise XlaError("--features is for riscv64, not for this machine")
    is_host = not tools or args.target == TARGETS[0]
    machine = host() if is_host else riscv64(features=args.features)
    file_name, text = read_input(args.input_file)
    try:
        module = parse_program(text, file_name, args.frontend, verified=True)
        signature = lower(module, args.entry, args.level if tools else None, machine)
    except LocatedError as error:
        raise error.quoting(file_name, text) from None
    function = functions_of(module)[SYMBOL]
    driver = c_source(function, signature)
    count = len(function.function_type.inputs)
    with TemporaryDirectory(prefix="xla-build-") as temporary:
        folder = Path(args.sources or args.save_temps or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if tools:
            _compile(tools, machine, folder, print_mlir(module), driver, count, args)
            return 0
        # That is a function as our own machine code has entries: with an array of pointers.
        function.attributes.pop(ENTRY, None)
        (folder / "program.mlir").write_text(print_mlir(module) + "\n", encoding="utf-8")
        driver += bare_call(SYMBOL, count, CALL)
        (folder / "driver.c").write_text(driver, encoding="utf-8")
    return 0


def lower(module: ModuleOp, entry: str, level: str | None, machine: Machine) -> Signature:
    """
    Brings a program to a level, by default to plain loops, where its entry is `SYMBOL`; returns
    what callers see.

    Raises XlaError for what an executable cannot have: arrays of dynamic sizes, calls of functions
    that only this process has.
    """
    lowered = Lowering(module, entry, machine, Options(pipeline=None if level else "plain"))
    if level is None:
        lowered.begin()
    found = lowered.to(level) if level else lowered.run((), PassManager(make_context()))
    if found.static is not found.signature:
        raise XlaError("an executable takes no arrays of dynamic sizes")
    require_no_outside_calls(module, "an executable")
    functions_of(module)[ENTRY_SYMBOL].properties["sym_name"] = StringAttr(SYMBOL)
    return found.signature


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
    lowered = run(tools.llvm_dialect_command(), text)
    llvm_ir = run(tools.llvm_ir_command(), lowered) + c_interface(SYMBOL, count, CALL)
    for file, content in zip(
        files.values(),
        (
            *(each.encode() for each in (text, lowered, llvm_ir)),
            machine.object_code(llvm_ir),
            driver.encode(),
        ),
        strict=True,
    ):
        file.write_bytes(content)
    link = [*_compiler(args.target), "-O2", "-o", args.output]
    link += [str(files["driver.c"]), str(files["o"]), "-lm"]
    run(link, "", shlex.join(link))
    if args.save_temps:
        llvm_dialect = [*tools.llvm_dialect_command(), str(files["mlir"])]
        print(shlex.join([*llvm_dialect, "-o", str(files["llvm.mlir"])]))
        translation = [*tools.llvm_ir_command(), str(files["llvm.mlir"])]
        print(shlex.join([*translation, "-o", str(files["ll"])]))
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
