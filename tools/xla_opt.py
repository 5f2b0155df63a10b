"""`xla-opt`: reads a program, runs passes over it and prints it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

from lowerings.pipelines import PIPELINES

from .command_line import CommandLine, complete_passes, complete_targets, guarded, whole_number
from .commands import load
from .xla_reduce import add_reduction_arguments

Option: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]
"""The names of an option, and its settings for argparse."""


def option(*names: str, **settings: Any) -> Option:
    """A row of the tables below."""
    return names, settings


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
    (
        ("--validate-each",),
        "run the module on random inputs before and after every pass; name the first that changes "
        "what it computes, and note what could not be checked",
    ),
    (
        ("--validate-strict",),
        "the same, where it is an error that something could not be checked",
    ),
    (("--list-passes",), "list all pipelines and passes with their options"),
    (("--list-targets",), "list all targets"),
)
"""The flags: their names and their help."""


PROGRAM: tuple[Option, ...] = (
    option("-p", "--passes", metavar="PIPELINE", help="passes, separated by commas"),
    option(
        "--pass-pipeline",
        metavar="PIPELINE",
        help="the same as mlir-opt takes it, 'builtin.module(...)'",
    ),
    option("--schedules", metavar="FILE", help="schedules to run operations by (see xla-tune)"),
    option("--fusion", metavar="FILE", help="decisions on what is fused (see linalg-plan-fusion)"),
    option("-t", "--target", help="what to print: mlir, or see --list-targets"),
    option("-o", "--output-file", default="-", help="where to print; - is stdout"),
    option(
        "--transform-script",
        default="",
        metavar="FILE",
        help="run a script of the transform dialect, before schedules are planned or at the end",
    ),
    option(
        "--pdl",
        default="",
        metavar="FILE",
        help="apply the rewrite rules of a file, in the dialect pdl, after all passes: each is a "
        "pass of its own, so that reports name it (see docs/rewrite_rules.md)",
    ),
    option(
        "--reduce",
        metavar="TEST",
        help="print the smallest program found for which a test holds, see xla-reduce --help",
    ),
    option(
        "--bisect",
        metavar="TEST",
        help="name the first pass of the pipeline after which a test holds, its first rewrite that "
        "makes it so, and what that changes",
    ),
    option(
        "--opt-bisect-limit",
        type=int,
        metavar="N",
        help="run the first N passes only, and say which (stderr); -1 runs all",
    ),
    option(
        "--debug-counter",
        action="append",
        default=[],
        metavar="PASS-count=N",
        help="make the first N rewrites of a pass only",
    ),
    option(
        "--debug-counter-break-on-last",
        action="store_true",
        help="make the last of these in Python's debugger, which stops in the pattern",
    ),
    option(
        "--validate-seed",
        type=whole_number(0),
        metavar="N",
        help="the seed of the inputs of --validate-each; by default they are always the same",
    ),
    option(
        "--validate-inputs",
        type=whole_number(1),
        metavar="N",
        help="how many of these inputs have plain numbers in a parameter, how many special ones "
        "(NaN, infinities, zeros), and how many the limits of its type; default: 2",
    ),
    option(
        "--explore",
        metavar="FILE",
        help="write a page of HTML about the passes instead of printing the program: what each "
        "line comes from and becomes, down to assembly (see docs/explorer.md)",
    ),
    option(
        "--explore-profile",
        metavar="FILE",
        help="for --explore: show the time of each kernel, as xla-run --profile-json measured it",
    ),
)
"""What is read and printed, what looks for the cause of a fault, what stops passes half-way."""

REPORTS: tuple[Option, ...] = (
    *(option(*names, action="store_true", help=text) for names, text in FLAGS),
    # The value is a part of the name: a file may come behind it.
    *(
        option(
            f"--verify-diagnostics{value}",
            dest="verify_diagnostics",
            action="store_const",
            const=value or "=all",
            help=text,
        )
        for value, text in (
            ("", "check the `expected-error` comments of the input"),
            ("=all", "the same"),
            ("=only-expected", "the same, but for diagnostics that no comment expects"),
        )
    ),
    *(
        option(
            f"--print-ir-{when}",
            default="",
            metavar="PASSES",
            help=f"print the module {when} these passes (stderr)",
        )
        for when in ("before", "after")
    ),
    option(
        "--print-ir-tree-dir",
        metavar="FOLDER",
        help="print what --print-ir-* ask for into files of this folder, one for each pass",
    ),
    option(
        "--pass-pipeline-crash-reproducer",
        default="",
        metavar="FILE",
        help="where a reproducer goes if a pass fails; by default only crashes write one, to the "
        "folder for temporary files",
    ),
)
"""The flags, and what is printed of passes: options that have names of mlir-opt, too."""

COMPLETERS = {"passes": complete_passes, "target": complete_targets}


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
    parser.add_program()
    for names, settings in PROGRAM:
        action = parser.add_argument(*names, **settings)
        if action.dest in COMPLETERS:
            action.completer = COMPLETERS[action.dest]  # pyright: ignore[reportAttributeAccessIssue]
    add_reduction_arguments(parser)
    for names, settings in REPORTS:
        of_mlir_opt = (name.replace("--", "--mlir-", 1) for name in names)
        parser.add_argument(*names, *of_mlir_opt, **settings)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-opt; returns the exit code: 0, or 1 for bad input."""

    def body() -> int:
        args = make_argument_parser().parse_args(argv)
        return load("opt_main").run(args)

    return guarded("xla-opt", body)


if __name__ == "__main__":
    sys.exit(main())
