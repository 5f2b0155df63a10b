"""`xla-opt`: reads a program, runs passes over it and prints it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lowerings.driver import INPUT_FORMATS
from lowerings.pipelines import PIPELINES

from .command_line import CommandLine, complete_passes, complete_targets, guarded, whole_number
from .commands import load
from .xla_reduce import add_reduction_arguments


def add_validation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    for name, text in (
        (
            "validate-each",
            "run the module on random inputs before and after every pass; name the first that "
            "changes what it computes, and note what could not be checked",
        ),
        ("validate-strict", "the same, where it is an error that something could not be checked"),
    ):
        add(f"--{name}", f"--mlir-{name}", action="store_true", help=text)
    add(
        "--validate-seed",
        type=whole_number(0),
        metavar="N",
        help="the seed of the inputs of --validate-each; by default they are always the same",
    )
    add(
        "--validate-inputs",
        type=whole_number(1),
        metavar="N",
        help="how many of these inputs have plain numbers in a parameter, how many special ones "
        "(NaN, infinities, zeros), and how many the limits of its type; default: 2",
    )


FLAGS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("--split-input-file",), "process the parts between lines `// -----` one by one"),
    (("--parsing-diagnostics",), "print errors of reading and go on with exit code 0"),
    (("--disable-verify",), "do not verify"),
    (("--print-ir-before-all",), "print the module before every pass (stderr)"),
    (
        ("--print-ir-after-all", "--print-between-passes"),
        "print the module after every pass (stderr)",
    ),
    (
        ("--print-ir-after-change",),
        "print after a pass only if it changed the module; after every pass if no other is named",
    ),
    (
        ("--print-ir-diff",),
        "print after a pass what it changed, as a unified diff in which values keep their names; "
        "after every pass that changed something if no other is named",
    ),
    (
        ("--timing", "--time-passes"),
        "report where the time goes, as a tree of wall time (stderr)",
    ),
    (("--pass-statistics",), "report what each pass did to the number of operations (stderr)"),
    (
        ("--print-communication",),
        "report what a device sends, computes and keeps, once the program is that of one (stderr)",
    ),
    (
        ("--explain",),
        "print from where propagation has the sharding of each array, and how conflicts were "
        "decided (stderr)",
    ),
    (("--print-memory",), "report buffers, copies and peak memory, from buffers on (stderr)"),
    (("--print-fusion",), "print what is fused with what, and why or why not (stderr)"),
    (
        ("--print-bufferization",),
        "print which operands are copied into other memory, and what forces that (stderr)",
    ),
    (("--print-debug-counter",), "report how many rewrites each pass made (stderr)"),
    (("--print-op-generic",), "print operations in generic form"),
    (("--print-debuginfo",), "print locations"),
    (("--allow-unregistered-dialect",), "accept operations of unknown dialects"),
    (("--run-reproducer",), "run the passes that the input, a crash reproducer, names"),
    (("--debug",), "print the Python traceback of every error (stderr)"),
    (("--list-passes",), "list all pipelines and passes with their options"),
    (("--list-targets",), "list all targets"),
)
"""The flags: their names and their help."""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-opt."""
    parser = CommandLine(
        prog="xla-opt",
        description="Reads an XLA program (HLO text, StableHLO or MLIR), runs passes, prints it.",
        epilog="Pipelines: "
        + "; ".join(
            f"{name} (levels {', '.join(s.level for s in stages)}; e.g. -p '{name}{{to=loops}}')"
            for name, stages in PIPELINES.items()
        ),
    )
    add = parser.add_argument
    parser.add_program()
    add("-f", "--frontend", choices=INPUT_FORMATS, help="format, if not by extension or content")
    passes = add("-p", "--passes", metavar="PIPELINE", help="passes, separated by commas")
    passes.completer = complete_passes  # pyright: ignore[reportAttributeAccessIssue]
    add(
        "--pass-pipeline",
        metavar="PIPELINE",
        help="the same as mlir-opt takes it, 'builtin.module(...)'",
    )
    add("--schedules", metavar="FILE", help="schedules to run operations by (see xla-tune)")
    add("--fusion", metavar="FILE", help="decisions on what is fused (see linalg-plan-fusion)")
    target = add("-t", "--target", help="what to print: mlir, or see --list-targets")
    target.completer = complete_targets  # pyright: ignore[reportAttributeAccessIssue]
    add("-o", "--output-file", default="-", help="where to print; - is stdout")
    add(
        "--transform-script",
        default="",
        metavar="FILE",
        help="run a script of the transform dialect, before schedules are planned or at the end",
    )
    add(
        "--pdl",
        default="",
        metavar="FILE",
        help="apply the rewrite rules of a file, in the dialect pdl, after all passes: each is a "
        "pass of its own, so that reports name it (see docs/rewrite_rules.md)",
    )
    add_search_arguments(parser)
    add_reporting_arguments(parser)
    return parser


def add_search_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what looks for the cause of a fault, and what stops passes half-way."""
    add = parser.add_argument
    add(
        "--reduce",
        metavar="TEST",
        help="print the smallest program found for which a test holds, see xla-reduce --help",
    )
    add(
        "--bisect",
        metavar="TEST",
        help="name the first pass of the pipeline after which a test holds, its first rewrite that "
        "makes it so, and what that changes",
    )
    add_reduction_arguments(parser)
    add(
        "--opt-bisect-limit",
        type=int,
        metavar="N",
        help="run the first N passes only, and say which (stderr); -1 runs all",
    )
    add(
        "--debug-counter",
        action="append",
        default=[],
        metavar="PASS-count=N",
        help="make the first N rewrites of a pass only",
    )
    add(
        "--debug-counter-break-on-last",
        action="store_true",
        help="make the last of these in Python's debugger, which stops in the pattern",
    )


def add_reporting_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags, and what is printed of passes; also under the names of mlir-opt."""
    add = parser.add_argument
    for names, text in FLAGS:
        add(
            *names,
            *(name.replace("--", "--mlir-", 1) for name in names),
            action="store_true",
            help=text,
        )
    add_verification_arguments(parser)
    add_validation_arguments(parser)
    for when in ("before", "after"):
        names = (f"--print-ir-{when}", f"--mlir-print-ir-{when}")
        add(
            *names,
            default="",
            metavar="PASSES",
            help=f"print the module {when} these passes (stderr)",
        )
    add(
        "--print-ir-tree-dir",
        "--mlir-print-ir-tree-dir",
        metavar="FOLDER",
        help="print what --print-ir-* ask for into files of this folder, one for each pass",
    )
    add(
        "--explore",
        metavar="FILE",
        help="write a page of HTML about the passes instead of printing the program: what each "
        "line comes from and becomes, down to assembly (see docs/explorer.md)",
    )
    add(
        "--explore-profile",
        metavar="FILE",
        help="for --explore: show the time of each kernel, as xla-run --profile-json measured it",
    )
    add(
        "--pass-pipeline-crash-reproducer",
        "--mlir-pass-pipeline-crash-reproducer",
        default="",
        metavar="FILE",
        help="where a reproducer goes if a pass fails; by default only crashes write one, to the "
        "folder for temporary files",
    )


def add_verification_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--verify-diagnostics`, whose value is a part of its name: a file may come behind it."""
    for value, text in (
        ("", "check the `expected-error` comments of the input"),
        ("=all", "the same"),
        ("=only-expected", "the same, but for diagnostics that no comment expects"),
    ):
        parser.add_argument(
            f"--verify-diagnostics{value}",
            f"--mlir-verify-diagnostics{value}",
            dest="verify_diagnostics",
            action="store_const",
            const=value or "=all",
            help=text,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-opt; returns the exit code: 0, or 1 for bad input."""

    def body() -> int:
        args = make_argument_parser().parse_args(argv)
        return load("opt_main").run(args)

    return guarded("xla-opt", body)


if __name__ == "__main__":
    sys.exit(main())
