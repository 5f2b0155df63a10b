"""CHECK lines of printed functions: the names of values captured, long lines in several parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
