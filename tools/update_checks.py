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
from collections.abc import Callable, Iterator, Sequence
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
    kept = [
        (i, line)
        for i, line in enumerate(function.lines)
        if i == 0 or (line.strip() and (only is None or re.search(only, line)))
    ]
    pattern = _patterns(function.lines, [line for _, line in kept])
    previous = 0
    for i, line in kept:
        word = "LABEL" if i == 0 else "NEXT" if i == previous + 1 else ""
        previous = i
        directive = f"{prefix}-{word}:" if word else f"{prefix}:"
        for part in _parts(line):
            yield f"// {directive:<{len(prefix) + 8}}{pattern(part)}".rstrip()
            directive = f"{prefix}-SAME:"


def _parts(line: str) -> list[str]:
    """A line in parts, if it is long."""
    if len(line) <= _LONG:
        return [line]
    first, *others = _PARTS.split(line)
    indent = line[: len(line) - len(line.lstrip())]
    return [first, *(f"{indent}  {part.strip()}" for part in others)]


def _patterns(lines: Sequence[str], kept: Sequence[str]) -> Callable[[str], str]:
    """
    What matches a line or a part of it: FileCheck variables, called as the operations that define
    the values, stand for names that were made up.
    """
    uses = Counter(match["name"] for line in kept for match in _VALUE.finditer(line))
    definers = {
        value["name"]: match[2].upper()
        for line in lines
        if (match := _DEFINED.match(line))
        for value in _VALUE.finditer(match[1])
    }
    variables: dict[str, str] = {}
    taken: Counter[str] = Counter()

    def value(match: re.Match[str]) -> str:
        name, part = match["name"], match["part"] or ""
        if _MADE_UP.fullmatch(name) is None:
            return match[0]
        if name in variables:
            return f"%[[{variables[name]}]]{part}"
        if uses[name] == 1:
            return f"%{{{{.*}}}}{part}"
        base = definers.get(name, "ARG")
        variables[name] = f"{base}_{taken[base]}" if taken[base] else base
        taken[base] += 1
        return f"%[[{variables[name]}:.*]]{part}"

    def pattern(text: str) -> str:
        escaped = text.replace("{{", r"{{[{][{]}}").replace("[[", r"{{\[\[}}")
        # Neither the name of the file nor its lines are what is tested.
        return _VALUE.sub(value, _LOCATION.sub("loc({{.*}})", escaped))

    return pattern


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
        own = [line for line in lines if _belongs_to(line, prefix)]
        if not own or any(map(_MARKER.match, own)):
            printed = list(functions_of(_output(runs, prefix, path).split("\n")))
            if not printed:
                raise UpdateError(f"{path}: {prefix}: nothing that is printed is a function")
            if not own:
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
    marker = _MARKER.match(line)
    directive = rf"\s*//\s*{re.escape(prefix)}(-[A-Z]+(-\d+)?)?(\{{LITERAL\}})?:"
    return marker["prefix"] == prefix if marker else re.match(directive, line) is not None


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
        marker, is_own = _MARKER.match(line), _belongs_to(line, prefix)
        inside = inside and is_own and not marker
        if inside:
            continue
        yield line
        if marker is None or not is_own:
            continue
        inside = True
        function = next((f for f in rest if f.name == marker["function"]), None)
        if function is None:
            raise UpdateError(f"{path}: {prefix}: @{marker['function']} is not printed")
        rest.remove(function)
        indent = line[: len(line) - len(line.lstrip())]
        yield from (indent + check for check in check_lines(function, prefix, marker["filter"]))
