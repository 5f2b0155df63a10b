"""`xla-run`: runs a program on an executor and checks or prints its results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from lowerings.compilation import BACKENDS, Program, compile_module, functions_of
from lowerings.execution.signature import Signature, signature_of
from lowerings.program import INPUT_FORMATS, parse_program
from tools.array_spec import RANDOM_SEED, AnyArray, as_parameter, parse_array_specs
from tools.comparison import DEFAULT_TOLERANCE, compare_results
from tools.input_text import Chunk, read_input, split_chunks
from tools.reporting import guarded
from xla_dialect.diagnostics import XlaError
from xla_dialect.types import spell
from xla_dialect.verification import verify


class RunError(XlaError):
    """A program that cannot be run as asked."""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-run."""
    parser = argparse.ArgumentParser(
        prog="xla-run",
        description="Runs an XLA program (HLO text, StableHLO or MLIR) and prints its results.",
        epilog="SPEC is 4x8xf32=[[...]], 2x2xf32=3.0 (splat), 2x2xf32=random, @file.npy, "
        "or @file.npz for all arrays of a file in order.",
    )
    add = parser.add_argument
    add("input_file", nargs="?", default="-", help="the program; - or nothing reads stdin")
    add("-f", "--frontend", choices=INPUT_FORMATS, help="format, if not by extension or content")
    add("--entry", metavar="NAME", help="the function to run; default: main")
    add("--all-functions", action="store_true", help="run every public function without arguments")
    add("--backend", choices=BACKENDS, default="llvm", help="the executor (default: llvm)")
    add("--input", action="append", default=[], metavar="SPEC", help="the next argument")
    add(
        "--expected-output",
        action="append",
        default=[],
        metavar="SPEC",
        help="what the next result has to be",
    )
    add(
        "--tolerance",
        type=float,
        default=DEFAULT_TOLERANCE,
        help="largest error of floats, relative to the largest expected magnitude "
        f"(default {DEFAULT_TOLERANCE})",
    )
    add("--num-threads", type=int, metavar="N", help="threads of compiled code")
    add("--output-dir", metavar="DIR", help="write the results as DIR/<function>.<number>.npy")
    add("--split-input-file", action="store_true", help="run the parts between lines `// -----`")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-run; returns the exit code: 0, or 1 for a failed check or bad input."""
    return guarded("xla-run", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-run with parsed arguments."""
    file_name, text = read_input(args.input_file)
    if not args.split_input_file:
        run_chunk(args, Chunk(text), file_name)
        return 0
    failed = False
    for number, chunk in enumerate(split_chunks(text), 1):
        try:
            run_chunk(args, chunk, file_name)
        except (XlaError, DiagnosticException) as error:
            failed = True
            print(f"chunk {number}: FAIL: {' '.join(str(error).split())}")
        else:
            print(f"chunk {number}: PASS")
    return int(failed)


def run_chunk(args: argparse.Namespace, chunk: Chunk, file_name: str) -> None:
    """Reads, verifies, compiles and runs one program; raises XlaError where anything fails."""
    module = parse_program(chunk.text, file_name, args.frontend)
    verify(module, {file_name: chunk.text})
    for name in entries(module, args):
        signature = signature_of(functions_of(module)[name])
        arguments = make_arguments(args.input, signature)
        program = compile_module(
            module.clone(), backend=args.backend, num_threads=args.num_threads, entry=name
        )
        results = program(*arguments)
        report(args, name, program, results)


def entries(module: ModuleOp, args: argparse.Namespace) -> list[str]:
    """The functions to run; raises RunError where there is none."""
    public = [
        op
        for op in module.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and (op.sym_visibility is None or op.sym_visibility.data == "public")
    ]
    names = [op.sym_name.data for op in public]
    if args.entry is not None:
        if args.entry not in names:
            raise RunError(
                f"there is no public function @{args.entry} (there are: {', '.join(names)})"
            )
        return [args.entry]
    if "main" in names and not args.all_functions:
        return ["main"]
    without_arguments = [op.sym_name.data for op in public if not op.function_type.inputs.data]
    if not without_arguments:
        raise RunError("there is neither @main nor a public function without arguments")
    return without_arguments


def make_arguments(specs: Sequence[str], signature: Signature) -> list[AnyArray]:
    """The arrays for the parameters; raises RunError with the signature if some are missing."""
    generator = np.random.default_rng(RANDOM_SEED)
    arrays = [value for spec in specs for value in parse_array_specs(spec, generator)]
    wanted = len(signature.parameters)
    if len(arrays) != wanted:
        raise RunError(
            f"{len(arrays)} inputs for {wanted} parameters; give each with --input:\n  {signature}"
        )
    return [
        as_parameter(value, parameter.type)
        for value, parameter in zip(arrays, signature.parameters, strict=True)
    ]


def report(
    args: argparse.Namespace, name: str, program: Program, results: Sequence[AnyArray]
) -> None:
    """Checks, stores or prints the results of one function."""
    if args.expected_output:
        generator = np.random.default_rng(RANDOM_SEED)
        specs = args.expected_output
        expected = [value for spec in specs for value in parse_array_specs(spec, generator)]
        compare_results(results, expected, program.signature, args.tolerance)
    if args.output_dir is not None:
        store(Path(args.output_dir), name, results)
    elif not args.expected_output and not args.split_input_file:
        for result, value in zip(program.signature.results, results, strict=True):
            print(f"{spell(result.type)} {np.array2string(value, separator=', ')}")


def store(folder: Path, name: str, results: Sequence[AnyArray]) -> None:
    """Writes every result as a `.npy` file; raises RunError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, value in enumerate(results):
            np.save(folder / f"{name}.{number}.npy", value, allow_pickle=False)
    except OSError as error:
        raise RunError(f"{folder}: error: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
