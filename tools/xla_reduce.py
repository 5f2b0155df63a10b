"""`xla-reduce`: the smallest program that shows what a test looks for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from lowerings.driver import INPUT_FORMATS

from .command_line import CommandLine, complete_passes, guarded, positive_seconds

TESTS = """
fails: a pass of the pipeline fails (message=REGEX);
crashes: it ends the process, or raises what is no diagnostic (message=REGEX, target=TARGET);
differs: what it computes then is something else (executor, expected: reference, interpreter, llvm,
riscv64, xla-cpu; tolerance, entry, seed, seeds, inputs=plain,special,limits);
command: a command with the file as its last argument succeeds (run="...", exit=CODE);
all else is such a command, e.g. ./test.sh.
"""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-reduce."""
    parser = CommandLine(
        prog="xla-reduce",
        description="Reduces a program (HLO text, StableHLO or MLIR of any level) to a smaller one "
        "for which a test still holds.",
        epilog="TEST is one of these, with options as those of passes, e.g. "
        f'fails{{message="not supported"}}. {" ".join(TESTS.split())}',
    )
    add = parser.add_argument
    parser.add_program()
    add("--test", dest="reduce", required=True, metavar="TEST", help="what has to stay")
    passes = add("-p", "--passes", metavar="PIPELINE", help="the passes that the test is about")
    passes.completer = complete_passes  # pyright: ignore[reportAttributeAccessIssue]
    add(
        "-t",
        "--target",
        choices=INPUT_FORMATS,
        help="what to print; by default what was read, MLIR where that cannot express it",
    )
    add("-o", "--output-file", default="-", help="where to print; - is stdout")
    add_reduction_arguments(parser)
    parser.set_defaults(bisect=None)
    return parser


def add_reduction_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds what `xla-reduce` and `xla-opt --reduce` share."""
    add = parser.add_argument
    add(
        "--timeout",
        type=positive_seconds,
        metavar="SECONDS",
        help="how long reducing may take; what is smallest then is printed, as after Ctrl-C",
    )
    add(
        "--filecheck-test",
        action="store_true",
        help="print the reduced program as a test for lit, with RUN and CHECK lines",
    )
    add("--quiet", action="store_true", help="do not say how far reducing has come (stderr)")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-reduce; returns the exit code: 0, or 1 for bad input."""

    def body() -> int:
        args = make_argument_parser().parse_args(argv)
        return import_module(f"{__package__}.reduce.running").run(args, "xla-reduce")

    return guarded("xla-reduce", body)


if __name__ == "__main__":
    sys.exit(main())
