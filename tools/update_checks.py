"""
`xla-update-checks`: writes the CHECK lines of FileCheck tests from what their RUN lines print.

In the manner of MLIR's generate-test-checks and LLVM's update_*_test_checks. A block of lines that
it wrote starts with a comment, which says what to write again:

    // xla-update-checks: CHECK @f
    // xla-update-checks: CHECK @f filter=linalg

Lines without such a comment are written by hand, and stay as they are. A prefix of a RUN line that
has no line yet gets a block for every function of the output.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from xla_dialect.diagnostics import XlaError, read_text

from .command_line import CommandLine, guarded, write_output

_HEADER = re.compile(
    r"""^\s*(?:
        func\.func\ (?:private\ |public\ )?@"?(?P<mlir>[^\s"(]+)  # MLIR
      | define\ [^@]*@"?(?P<llvm>[^\s"(]+)                        # LLVM IR
      | (?!(?:builtin\.)?module\ )
        (?:ENTRY\ )?%?(?P<hlo>[\w.-]+)\ (?:\(.*->.*)?\{$           # HLO text, with or without types
    )""",
    re.X,
)
_VALUE = re.compile(r"%(?P<name>[\w.$-]+)(?P<part>\#\d+)?")
# Names that the printer made up: numbers, and names of the source with a number behind.
_MADE_UP = re.compile(r"\d+|.*_\d+")
_DEFINED = re.compile(r"^\s*((?:%[\w.$-]+(?::\d+)?(?:, )?)+) = \"?(?:[\w$]+\.)?(\w+)")
_PARTS = re.compile(r"(?<=,) (?=affine_map|iterator_types)|(?<=}) (?=ins\(|outs\()")
_LOCATION = re.compile(r'loc\("[^"]*":\d+:\d+\)')
_LONG = 100


@dataclass(frozen=True)
class Function:
    """A function of some text: its name, and the lines from the header to the closing brace."""

    name: str
    line: int
    """The number of the header in the text, from 0."""
    lines: tuple[str, ...]


def functions_of(lines: Sequence[str]) -> Iterator[Function]:
    """The functions of MLIR, computations of HLO text and functions of LLVM IR, in order."""
    for i, line in enumerate(lines):
        header = _HEADER.match(line)
        if header is None:
            continue
        name = header["mlir"] or header["llvm"] or header["hlo"]
        indent = line[: len(line) - len(line.lstrip())]
        end = i + 1
        if line.rstrip().endswith("{"):
            ends = (j for j in range(i + 1, len(lines)) if lines[j].rstrip() == f"{indent}}}")
            end = next(ends, len(lines) - 1) + 1
        yield Function(name, i, tuple(lines[i:end]))


def check_lines(function: Function, prefix: str, only: str | None = None) -> Iterator[str]:
    """
    The CHECK lines of a function, as comments.

    `only` is a regular expression that is found in every line but the header. Values without a name
    of their own are captured where they are defined, if a later line uses them.
    """
    kept = [(0, function.lines[0])]
    for i, line in enumerate(function.lines[1:], 1):
        if line.strip() and (only is None or re.search(only, line)):
            kept.append((i, line))
    names = _Names(function.lines, [line for _, line in kept])
    previous = 0
    for i, line in kept:
        word = "LABEL" if i == 0 else "NEXT" if i == previous + 1 else ""
        previous = i
        directive = f"{prefix}-{word}:" if word else f"{prefix}:"
        for part in _parts(line):
            yield f"// {directive:<{len(prefix) + 8}}{names.pattern(part)}".rstrip()
            directive = f"{prefix}-SAME:"


def _parts(line: str) -> list[str]:
    """A line in parts, if it is long."""
    if len(line) <= _LONG:
        return [line]
    first, *others = _PARTS.split(line)
    indent = line[: len(line) - len(line.lstrip())]
    return [first, *(f"{indent}  {part.strip()}" for part in others)]


class _Names:
    """The FileCheck variables of a block, called as the operations that define the values."""

    def __init__(self, lines: Sequence[str], kept: Sequence[str]) -> None:
        self._uses = Counter(match["name"] for line in kept for match in _VALUE.finditer(line))
        self._definers: dict[str, str] = {}
        for line in lines:
            if match := _DEFINED.match(line):
                for value in _VALUE.finditer(match[1]):
                    self._definers[value["name"]] = match[2].upper()
        self._variables: dict[str, str] = {}
        self._taken: Counter[str] = Counter()

    def pattern(self, text: str) -> str:
        """What matches a line or a part of it: variables stand for names that were made up."""
        escaped = text.replace("{{", r"{{[{][{]}}").replace("[[", r"{{\[\[}}")
        # Neither the name of the file nor its lines are what is tested.
        return _VALUE.sub(self._value, _LOCATION.sub("loc({{.*}})", escaped))

    def _value(self, match: re.Match[str]) -> str:
        name, part = match["name"], match["part"] or ""
        if _MADE_UP.fullmatch(name) is None:
            return match[0]
        if name in self._variables:
            return f"%[[{self._variables[name]}]]{part}"
        if self._uses[name] == 1:
            return f"%{{{{.*}}}}{part}"
        base = self._definers.get(name, "ARG")
        number = self._taken[base]
        self._taken[base] += 1
        self._variables[name] = f"{base}_{number}" if number else base
        return f"%[[{self._variables[name]}:.*]]{part}"


_RUN = re.compile(r"^\s*//\s*RUN:\s*(.*)$")
_MARKER = re.compile(
    r"^\s*// xla-update-checks: (?P<prefix>[\w-]+) @(?P<function>\S+)(?: filter=(?P<filter>.*))?$"
)


class UpdateError(XlaError):
    """A test whose CHECK lines cannot be written."""


@dataclass(frozen=True)
class RunLine:
    """A RUN line that ends in `filecheck`: what prints, and the prefixes that look at it."""

    command: str
    prefixes: tuple[str, ...]


@dataclass(frozen=True)
class Marker:
    """A comment that asks for a block: `prefix` of `function`, lines in which `filter` is found."""

    prefix: str
    function: str
    filter: str | None = None

    @staticmethod
    def of(line: str) -> Marker | None:
        """The marker that a line is."""
        match = _MARKER.match(line)
        return match and Marker(match["prefix"], match["function"], match["filter"])


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-update-checks."""
    parser = CommandLine(
        prog="xla-update-checks",
        description="Writes CHECK lines of FileCheck tests from what their RUN lines print: the "
        "blocks under comments `// xla-update-checks: PREFIX @FUNCTION [filter=REGEX]`, and one "
        "block for each function if a prefix has no lines yet. Other lines stay as they are.",
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="tests with RUN lines, rewritten in place")
    add(
        "--rewrite",
        action="append",
        default=[],
        metavar="PREFIX",
        help="replace all lines of this prefix, also those written by hand",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-update-checks; returns the exit code: 0, or 1 where a test could not be written."""
    return guarded("xla-update-checks", lambda: run(make_argument_parser().parse_args(argv)))


def run(args: argparse.Namespace) -> int:
    """Runs xla-update-checks with parsed arguments. Raises UpdateError."""
    for name in args.files:
        text = read_text(name)
        updated = update(text, Path(name), args.rewrite)
        if updated != text:
            write_output(name, updated)
    return 0


def update(text: str, path: Path, rewritten: Sequence[str] = ()) -> str:
    """
    The text of a test with its blocks written again, and those of `rewritten` prefixes as a whole.

    Raises UpdateError if a command fails or does not print the function of a block.
    """
    lines = text.split("\n")
    runs = runs_of(lines, path)
    prefixes = sorted({prefix for run in runs for prefix in run.prefixes})
    if unknown := set(rewritten).difference(prefixes):
        raise UpdateError(f"{path}: no RUN line has the prefix {min(unknown)}")
    for prefix in prefixes:
        if prefix in rewritten:
            lines = [line for line in lines if not _belongs_to(line, prefix)]
        is_new = not any(_belongs_to(line, prefix) for line in lines)
        if is_new or any((marker := Marker.of(line)) and marker.prefix == prefix for line in lines):
            printed = list(functions_of(_output(runs, prefix, path).split("\n")))
            if not printed:
                raise UpdateError(f"{path}: {prefix}: nothing that is printed is a function")
            if is_new:
                lines = list(_with_markers(lines, prefix, printed))
            lines = list(_with_blocks(lines, prefix, printed, path))
    return "\n".join(lines)


def runs_of(lines: Sequence[str], path: Path) -> list[RunLine]:
    """The RUN lines that end in filecheck, lit's names of files substituted. Raises UpdateError."""
    commands: list[str] = []
    for line in lines:
        if match := _RUN.match(line):
            if commands and commands[-1].endswith("\\"):
                commands[-1] = commands[-1][:-1] + match[1]
            else:
                commands.append(match[1])
    found: list[RunLine] = []
    for command in commands:
        start, _, end = command.rpartition("|")
        words = end.split()
        if words[:1] in (["filecheck"], ["FileCheck"]):
            found.append(RunLine(_substituted(start.strip(), path), _prefixes(end)))
    if not found:
        raise UpdateError(f"{path}: no RUN line ends in filecheck")
    return found


def _prefixes(options: str) -> tuple[str, ...]:
    named = re.findall(r"--?check-prefix(?:es)?[= ]\s*(\S+)", options)
    return tuple(prefix for names in named for prefix in names.split(",")) or ("CHECK",)


def _substituted(command: str, path: Path) -> str:
    values = {"%s": path, "%S": path.parent, "%t": f"{path}.tmp", "%python": sys.executable}
    return re.sub(r"%(?:python|[sSt])\b", lambda m: shlex.quote(str(values[m[0]])), command)


def _belongs_to(line: str, prefix: str) -> bool:
    """Whether this is a CHECK line of a prefix, or asks for a block of it."""
    marker = Marker.of(line)
    return marker.prefix == prefix if marker is not None else _is_check(line, prefix)


def _is_check(line: str, prefix: str) -> bool:
    directive = rf"\s*//\s*{re.escape(prefix)}(-[A-Z]+(-\d+)?)?(\{{LITERAL\}})?:"
    return re.match(directive, line) is not None


def _output(runs: Sequence[RunLine], prefix: str, path: Path) -> str:
    """What the commands of this prefix print, which has to be the same."""
    folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    texts: dict[str, str] = {}
    for run in runs:
        if prefix not in run.prefixes:
            continue
        command = run.command.removeprefix("not ")
        shell = ["bash", "-o", "pipefail", "-c", command]
        done = subprocess.run(shell, capture_output=True, encoding="utf-8", env=environment)
        if (done.returncode != 0) != (command != run.command):
            raise UpdateError(
                f"{path}: `{run.command}` ended with code {done.returncode}:\n{done.stderr.strip()}"
            )
        texts[done.stdout] = run.command
    if len(texts) > 1:
        commands = "` and `".join(texts.values())
        raise UpdateError(f"{path}: {prefix}: `{commands}` print different texts")
    return next(iter(texts))


def _with_markers(lines: list[str], prefix: str, printed: Sequence[Function]) -> Iterator[str]:
    """The lines with a marker above each function that is printed."""
    written = list(functions_of(lines))
    markers: dict[int, list[str]] = {}
    waiting: list[str] = []
    following = 0
    for function in printed:
        waiting.append(f"// xla-update-checks: {prefix} @{function.name}")
        # A name may occur in several parts of the file: the search starts at the current position.
        for i in (*range(following, len(written)), *range(following)):
            if written[i].name == function.name:
                markers.setdefault(written[i].line, []).extend(waiting)
                waiting, following = [], i + 1
                break
    # Functions that only the output has go above the next printed one, or to the end.
    markers.setdefault(len(lines) - 1, []).extend(waiting)
    for i, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        yield from (indent + marker for marker in markers.get(i, ()))
        yield line


def _with_blocks(
    lines: Sequence[str], prefix: str, printed: Sequence[Function], path: Path
) -> Iterator[str]:
    """The lines with the blocks below their markers; those that stood there go."""
    rest = list(printed)
    inside = False
    for line in lines:
        inside = inside and _is_check(line, prefix)
        if inside:
            continue
        yield line
        marker = Marker.of(line)
        if marker is None or marker.prefix != prefix:
            continue
        inside = True
        function = next((f for f in rest if f.name == marker.function), None)
        if function is None:
            raise UpdateError(f"{path}: {prefix}: @{marker.function} is not printed")
        rest.remove(function)
        indent = line[: len(line) - len(line.lstrip())]
        yield from (indent + check for check in check_lines(function, prefix, marker.filter))
