"""`xla-opt`: reads a program, runs passes over it and prints it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from io import StringIO
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.printer import Printer
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.exceptions import DiagnosticException

from lowerings.context import make_context
from lowerings.pass_manager import PassEvent, PassManager, parse_passes
from lowerings.pipelines import PIPELINES
from lowerings.program import INPUT_FORMATS, parse_program
from lowerings.universe import toolkit_universe
from tools.expected_diagnostics import check_diagnostics, has_expectations
from tools.input_text import Chunk, read_input, split_chunks
from tools.reporting import guarded, print_timings
from xla_dialect.diagnostics import LocatedError, XlaError


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-opt."""
    parser = argparse.ArgumentParser(
        prog="xla-opt",
        description="Reads an XLA program (HLO text, StableHLO or MLIR), runs passes, prints it.",
        epilog="Pipelines: "
        + "; ".join(
            f"{name} (levels {', '.join(s.level for s in stages)}; e.g. -p '{name}{{to=loops}}')"
            for name, stages in PIPELINES.items()
        ),
    )
    add = parser.add_argument
    add("input_file", nargs="?", default="-", help="the program; - or nothing reads stdin")
    add("-f", "--frontend", choices=INPUT_FORMATS, help="format, if not by extension or content")
    add("-p", "--passes", default="", metavar="PIPELINE", help="passes, separated by commas")
    add("-t", "--target", default="mlir", help="what to print (see --list-targets)")
    add("-o", "--output-file", default="-", help="where to print; - is stdout")
    flags = (
        ("--split-input-file", "process the parts between lines `// -----` one by one"),
        ("--verify-diagnostics", "check the `expected-error` comments of the input"),
        ("--parsing-diagnostics", "print errors of reading and go on with exit code 0"),
        ("--disable-verify", "do not verify"),
        ("--print-ir-before-all", "print the module before every pass (stderr)"),
        ("--print-ir-after-all", "print the module after every pass (stderr)"),
        ("--print-ir-after-change", "print the module after every pass that changed it (stderr)"),
        ("--print-between-passes", "the same as --print-ir-after-all"),
        ("--timing", "report the time of every pass (stderr)"),
        ("--time-passes", "the same as --timing"),
        ("--mlir-print-op-generic", "print operations in generic form"),
        ("--print-op-generic", "the same as --mlir-print-op-generic"),
        ("--mlir-print-debuginfo", "print locations"),
        ("--print-debuginfo", "the same as --mlir-print-debuginfo"),
        ("--allow-unregistered-dialect", "accept operations of unknown dialects"),
        ("--list-passes", "list all passes with their options"),
        ("--list-targets", "list all targets"),
    )
    for flag, text in flags:
        add(flag, action="store_true", help=text)
    add("--print-ir-before", default="", metavar="PASSES", help="print before these passes")
    add("--print-ir-after", default="", metavar="PASSES", help="print after these passes")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-opt; returns the exit code: 0, or 1 for bad input."""
    return guarded("xla-opt", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-opt with parsed arguments."""
    if args.list_passes:
        list_passes(sys.stdout)
        return 0
    if args.list_targets:
        print("\n".join(sorted(toolkit_universe().all_targets)))
        return 0
    file_name, text = read_input(args.input_file)
    chunks = split_chunks(text) if args.split_input_file else [Chunk(text)]
    passes = parse_passes(args.passes)
    outputs: list[str] = []
    exit_code = 0
    for chunk in chunks:
        if args.verify_diagnostics and has_expectations(chunk.text):
            exit_code |= check_diagnostics(
                chunk, file_name, lambda chunk=chunk: process(args, chunk, file_name, passes)
            )
            continue
        try:
            outputs.append(process(args, chunk, file_name, passes))
        except (XlaError, DiagnosticException) as error:
            if not (args.verify_diagnostics or args.parsing_diagnostics):
                raise
            outputs.append(f"{error}\n")
    write_output(args.output_file, "// -----\n".join(outputs))
    return exit_code


def process(
    args: argparse.Namespace, chunk: Chunk, file_name: str, passes: Sequence[ModulePass]
) -> str:
    """Reads, verifies, transforms and prints one program."""
    ctx = make_context()
    ctx.allow_unregistered = args.allow_unregistered_dialect
    module = parse_program(
        chunk.text, file_name, args.frontend, ctx, verified=not args.disable_verify
    )
    manager = PassManager(
        ctx, not args.disable_verify, before_events(args), after_events(args, module)
    )
    manager.run(module, passes)
    if args.timing or args.time_passes:
        print_timings(manager.timings, sys.stderr)
    output = StringIO()
    try:
        emit(args, module, manager, output)
    except LocatedError as error:
        raise error.quoting(file_name, chunk.text) from None
    return output.getvalue()


def emit(args: argparse.Namespace, module: ModuleOp, manager: PassManager, output: IO[str]) -> None:
    """Prints the module in the format of the target."""
    spec = parse_spec(args.target)
    targets = toolkit_universe().all_targets
    if spec.name not in targets:
        raise XlaError(f"there is no target '{spec.name}' (see --list-targets)")
    if spec.name == "mlir":
        output.write(module_text(args, module))
        return
    try:
        target = targets[spec.name]().from_spec(spec)
    except ValueError as error:
        raise XlaError(f"target '{spec.name}': {error}") from None
    target.emit(manager.ctx, module, output)


def module_text(args: argparse.Namespace, module: ModuleOp) -> str:
    """The module as MLIR text, in the form that the arguments ask for."""
    output = StringIO()
    Printer(
        output,
        print_generic_format=args.mlir_print_op_generic or args.print_op_generic,
        print_debuginfo=args.mlir_print_debuginfo or args.print_debuginfo,
    ).print_op(module)
    return output.getvalue() + "\n"


def before_events(args: argparse.Namespace) -> list[PassEvent]:
    """What to do before a pass: print, if the arguments ask for it."""
    wanted = set(filter(None, args.print_ir_before.split(",")))

    def show(module_pass: ModulePass, module: ModuleOp) -> None:
        if args.print_ir_before_all or module_pass.name in wanted:
            dump(args, "before", module_pass, module)

    return [show] if wanted or args.print_ir_before_all else []


def after_events(args: argparse.Namespace, module: ModuleOp) -> list[PassEvent]:
    """What to do after a pass: print, if the arguments ask for it."""
    wanted = set(filter(None, args.print_ir_after.split(",")))
    always = args.print_ir_after_all or args.print_between_passes
    last = module_text(args, module) if args.print_ir_after_change else ""

    def show(module_pass: ModulePass, module: ModuleOp) -> None:
        nonlocal last
        if always or module_pass.name in wanted:
            dump(args, "after", module_pass, module)
        elif args.print_ir_after_change:
            text = module_text(args, module)
            if text != last:
                dump(args, "after", module_pass, module)
            last = text

    return [show] if wanted or always or args.print_ir_after_change else []


def dump(args: argparse.Namespace, when: str, module_pass: ModulePass, module: ModuleOp) -> None:
    """Prints the module to stderr under a heading as MLIR has it."""
    heading = f"// -----// IR Dump {when.capitalize()} {module_pass.name} //----- //"
    print(f"{heading}\n{module_text(args, module)}", file=sys.stderr)


def list_passes(output: IO[str]) -> None:
    """Prints every pass with the first line of its documentation and its options."""
    for name, factory in sorted(toolkit_universe().all_passes.items()):
        module_pass = factory()
        print(name, file=output)
        if summary := first_sentence(module_pass):
            print(f"    {summary}", file=output)
        for option in get_pass_option_infos(module_pass):
            default = "" if option.default_value is None else f" = {option.default_value}"
            kind = option.expected_type.strip("'")
            print(f"    {{{option.name}: {kind}{default}}}", file=output)


def first_sentence(module_pass: type[ModulePass]) -> str:
    """The first line of a pass's documentation; dataclass makes one up where there is none."""
    lines = (module_pass.__doc__ or "").strip().splitlines()
    return "" if not lines or lines[0].startswith(f"{module_pass.__name__}(") else lines[0]


def write_output(path: str, text: str) -> None:
    """Writes to a file, or to stdout for `-`; raises XlaError if the file cannot be written."""
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        with open(path, "w", encoding="utf-8") as output:
            output.write(text)
    except OSError as error:
        raise XlaError(f"{path}: error: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
