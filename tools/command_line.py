"""The command lines of all tools: `--version`, options by their whole names, completion."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

PACKAGES = ("xdsl", "numpy", "llvmlite")
"""What a program's text, results and machine code depend on, beside this package."""


class CommandLine(argparse.ArgumentParser):
    """
    The options of a tool.

    An option is taken by its whole name only: argparse would read an unknown one as the beginning
    of another, and drop what was meant without a word.
    """

    def __init__(self, prog: str, description: str | None, epilog: str | None = None):
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False)
        self.add_argument("--version", action=_Version, help="print versions and exit")

    def error(self, message: str) -> NoReturn:
        """Ends the tool, with one line about an argument that is wrong."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def print_help(self, file: Any = None) -> None:
        """As argparse does, which takes no notice of a stdout that is full."""
        (file or sys.stdout).write(self.format_help())

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; answers a shell that completes a command line."""
        if "_ARGCOMPLETE" in os.environ:
            import_module("argcomplete").autocomplete(self)
        return super().parse_args(args, namespace)


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, help: str):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version
        others = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        print(f"{parser.prog} {version('xla-dialect')} ({others})")
        parser.exit()


def complete_passes(prefix: str, **_: object) -> Iterable[str]:
    """The pipelines that begin with a prefix, its last pass completed, for argcomplete."""
    universe = import_module("lowerings.universe").toolkit_universe()
    pipelines = import_module("lowerings.pipelines").PIPELINES
    done = prefix[: prefix.rfind(",") + 1]
    return (done + name for name in (*pipelines, *universe.all_passes))


def complete_targets(**_: object) -> Iterable[str]:
    """The names of all targets, for argcomplete: of a mapping it takes values for descriptions."""
    return tuple(import_module("lowerings.universe").toolkit_universe().all_targets)
