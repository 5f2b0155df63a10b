"""What a program was before it was read: its text, and the Python that JAX traced."""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from lowerings.driver import InputFormat
from lowerings.profiling.source_operations import SourceOperation, source_operations
from lowerings.profiling.xla_name_operations import StackFrames, named_location
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import operations_in

from .documents import Links, ShownDocument, shortened

LARGEST_SOURCE = 1 << 20
"""Bytes; of a larger file only the lines are shown that operations come from."""


def input_document(text: str, name: str, input_format: InputFormat) -> ShownDocument:
    """The text that was read."""
    kind = "hlo" if input_format == "hlo" else "mlir"
    return ShownDocument(name, kind, "input", [shortened(line) for line in text.splitlines()])


def links_to_text(
    module: ModuleOp,
    lines: Mapping[Operation, int],
    file_name: str,
    places: Mapping[Operation, LocationAttr],
) -> Links:
    """For the line of each operation that of the text where it stands."""
    links: Links = {}
    for op in operations_in(module):
        place = place_of(places.get(op, op.location))
        if place is not None and place[0] == file_name and place[1]:
            links.setdefault(lines[op], set()).add(place[1] - 1)
    return links


def source_document(
    module: ModuleOp, lines: Mapping[Operation, int], links: Links, file_name: str
) -> tuple[ShownDocument, Links] | None:
    """
    The Python that operations come from, and the links of the program's text to it.

    All files are in one document, each under a comment with its name. Of a file that is not there,
    is no Python, or is large, it has the lines that are known, with what comes from them. None
    where operations name no other file than the program's.
    """
    frames = StackFrames.of(module)
    origins: dict[int, dict[SourceOperation, None]] = {}
    for op in operations_in(module):
        found = [
            each
            for each in source_operations(named_location(op, frames))
            if each.file not in ("", file_name) and each.line
        ]
        for line in links.get(lines[op], ()):
            origins.setdefault(line, {}).update(dict.fromkeys(found))
    wanted: dict[str, dict[int, list[str]]] = {}
    for operations in origins.values():
        for each in operations:
            names = wanted.setdefault(each.file, {}).setdefault(each.line, [])
            if each.name not in names:
                names.append(each.name)
    if not wanted:
        return None
    text: list[str] = []
    numbers: list[int] = []
    place: dict[tuple[str, int], int] = {}
    for file, named in sorted(wanted.items()):
        text.append(f"# {file}")
        numbers.append(0)
        whole = _python(file, max(named))
        if whole is None:
            for line, names in sorted(named.items()):
                place[file, line] = len(text)
                text.append("  ".join(names))
                numbers.append(line)
        else:
            place |= {(file, line): len(text) + line - 1 for line in named}
            text += whole
            numbers += range(1, len(whole) + 1)
    found_links = {
        line: {place[each.file, each.line] for each in operations}
        for line, operations in origins.items()
    }
    shown = [shortened(line) for line in text]
    return ShownDocument("Python", "python", "source", shown, numbers=numbers), found_links


def _python(file: str, last_line: int) -> list[str] | None:
    """The lines of a file, if it is Python and has as many; a program may name any file."""
    path = Path(file)
    try:
        if path.suffix != ".py":
            return None
        if not path.exists():
            # A cell of a notebook is no file, but Python knows its lines.
            lines = [line.rstrip("\n") for line in linecache.getlines(file)]
        elif path.stat().st_size > LARGEST_SOURCE:
            return None
        else:
            lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return lines if len(lines) >= last_line else None
