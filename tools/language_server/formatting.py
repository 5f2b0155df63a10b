"""A text as the printer of its format would have it, with its comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from lowerings.driver import InputFormat
from lowerings.driver.program import parse_program
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import print_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo.writing import print_stablehlo

from ..input_text import chunk_extents
from .documentation import FULL_NAMES
from .entities import TextIndex
from .hlo_index import index_hlo
from .mlir_index import index_mlir

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENTS: Mapping[bool, re.Pattern[str]] = {
    True: re.compile(rf"{_STRING}|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL),
    False: re.compile(rf"{_STRING}|(?P<comment>//[^\n]*)"),
}
"""Comments by whether the text is HLO."""
_COUNT = re.compile(r"/\*index=\d+\*/")
"""The comments that the printer of HLO text writes itself."""
_LOST: Mapping[str, re.Pattern[str]] = {
    "the locations `loc(...)`": re.compile(r"\bloc\("),
    "the resources at its end": re.compile(r"^\{-#", re.MULTILINE),
}
"""What the printers of MLIR leave out."""


@dataclass(frozen=True)
class _Comment:
    start: int
    text: str
    is_alone: bool
    """Whether nothing else is on its line."""


def formatted(text: str, file_name: str, input_format: InputFormat) -> str:
    """
    The programs of a text, printed; raises XlaError.

    Comments stay before the operation that they are before, or behind the one they are behind. What
    is printed is read again and compared: a program never becomes another one.
    """
    parts: list[str] = []
    previous = 0
    for start, end in chunk_extents(text):
        parts.append(text[previous:start])
        chunk = text[start:end]
        lead = chunk[: len(chunk) - len(chunk.lstrip())]
        parts.append(lead if start else "")
        has_code = _COMMENTS[input_format == "hlo"].sub("", chunk).strip()
        above = text.count("\n", 0, start)
        printed = _format(chunk, above, file_name, input_format) if has_code else chunk[len(lead) :]
        parts.append(printed)
        parts.append("\n" if end < len(text) else "")
        previous = end
    return "".join(parts).rstrip("\n") + "\n"


def _format(text: str, above: int, file_name: str, input_format: InputFormat) -> str:
    """One program, printed; errors count the lines above it too."""
    is_hlo = input_format == "hlo"
    if not is_hlo:
        for what, pattern in _LOST.items():
            if pattern.search(text):
                raise XlaError(f"not formatted: {what} would be lost")
    try:
        module = parse_program("\n" * above + text, file_name, input_format)
        printed = _PRINTERS[input_format](module, text)
        again = parse_program(printed, file_name, input_format)
    except XlaError as error:
        raise XlaError(f"not formatted: {error}") from None
    is_same = module.body.is_structurally_equivalent(again.body)
    if not is_same or _PRINTERS[input_format](again, printed) != printed:
        raise XlaError("not formatted: printed, it would be another program")
    return _with_comments(printed, text, is_hlo).rstrip() + "\n"


def _print_mlir(module: ModuleOp, text: str) -> str:
    """A module, or where the text has none, its operations."""
    index = index_mlir(text)
    if not index.operations or index.operations[0].name in ("module", "builtin.module"):
        return print_mlir(module)
    return "\n\n".join(print_mlir(op) for op in module.ops)


_PRINTERS: Mapping[InputFormat, Callable[[ModuleOp, str], str]] = {
    "hlo": lambda module, text: print_hlo(module),
    "mlir": _print_mlir,
    "stablehlo": lambda module, text: print_stablehlo(module),
}


def _with_comments(printed: str, text: str, is_hlo: bool) -> str:
    """The printed program with the comments of its text; raises XlaError."""
    comments = _comments(text, is_hlo)
    if not comments:
        return printed
    index = index_hlo if is_hlo else index_mlir
    here, there = _anchors(index(text)), _anchors(index(printed))
    there = there[len(there) - len(here) :]
    if not here or [name for name, _ in here] != [name for name, _ in there]:
        raise XlaError("not formatted: there are comments whose place would be lost")
    lines = printed.split("\n")
    numbers = [printed.count("\n", 0, place) for _, place in there]
    before: list[list[str]] = [[] for _ in range(len(lines) + 1)]
    for comment in comments:
        after = sum(place <= comment.start for _, place in here)
        if not comment.is_alone:
            lines[numbers[max(0, after - 1)]] += f"  {comment.text}"
            continue
        closes_next = after == len(here) or _CLOSING.match(text, comment.start) is not None
        number = numbers[max(0, after - 1) if closes_next else after]
        indent = " " * (len(lines[number]) - len(lines[number].lstrip()))
        before[number + closes_next].append(indent + comment.text)
    pairs = zip(before, [*lines, ""], strict=True)
    return "\n".join(line for above, each in pairs for line in (*above, each))


def _comments(text: str, is_hlo: bool) -> list[_Comment]:
    found: list[_Comment] = []
    for match in _COMMENTS[is_hlo].finditer(text):
        comment = match["comment"]
        if comment is None or _COUNT.fullmatch(comment):
            continue
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if comment.startswith("/*"):
            raise XlaError(f"not formatted: the comment {comment[:40]} would be lost")
        found.append(_Comment(match.start(), comment.rstrip(), not line.strip()))
    return found


_CLOSING = re.compile(r"\s*(?://[^\n]*\s*)*(?:\}|\Z)")
"""What follows a comment at the end of a region or computation."""


def _anchors(index: TextIndex) -> list[tuple[str, int]]:
    """What comments stand at: the head, operations and computations, in the order of the text."""
    found = [(FULL_NAMES.get(o.name, o.name), o.span.start) for o in index.operations]
    for entity in index.entities:
        if entity.kind in ("module", "computation") and entity.definition is not None:
            name = "" if entity.kind == "module" else entity.name
            found.append((name, entity.definition.start))
    return sorted(found, key=lambda anchor: anchor[1])
