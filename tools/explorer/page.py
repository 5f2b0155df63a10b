"""A recording as one file of HTML that needs no other, and no network."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xla_dialect.xdsl.traversal import operations_in

from ..pass_instrumentation import SteadyPrinter

LONGEST_LINE = 1000
"""Characters; of longer lines, those with large constants, the start and the end are shown."""
_SHOWN_END = 200

Links = dict[int, set[int]]
"""For lines the lines of the document before that they come from; lines count from 0."""


class LinePrinter(SteadyPrinter):
    """Prints states of a module, and knows the lines that each operation takes."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: dict[Operation, tuple[int, int]] = {}

    def document(self, module: ModuleOp) -> tuple[list[str], dict[Operation, tuple[int, int]]]:
        """The lines of a module, and the first and the last one of each operation."""
        self.spans = {}
        self._current_line = self._current_column = 0
        lines = [shortened(line) for line in self.text(module).splitlines()]
        for op in operations_in(module):
            owner = op.parent_op()
            if op not in self.spans and owner is not None:
                # It is not spelled out, as the end of some bodies.
                first, _ = self.spans[owner]
                self.spans[op] = first, first
        return lines, self.spans

    def print_op(self, op: Operation) -> None:
        """Prints an operation."""
        start = self._current_line
        super().print_op(op)
        self.spans[op] = start, self._current_line


def shortened(line: str) -> str:
    """A line without the middle of what is too long to look at."""
    if len(line) <= LONGEST_LINE:
        return line
    left_out = len(line) - LONGEST_LINE
    return f"{line[: LONGEST_LINE - _SHOWN_END]}…{left_out:,} characters…{line[-_SHOWN_END:]}"


@dataclass
class ShownDocument:
    """One text."""

    name: str
    """What made it: a pass, or what it is."""
    kind: str
    """How it is spelled: `mlir`, `hlo`, `python`, `llvm` or `assembly`."""
    level: str = ""
    lines: Sequence[str] | None = None
    """None where it is the same as the one before."""
    links: Links = field(default_factory=dict[int, set[int]])
    spans: Sequence[tuple[int, int]] = ()
    """The first and last line of what takes several lines."""
    seconds: float | None = None
    """What the pass took."""
    operations: Mapping[str, int] | None = None
    """How many there are of each."""
    graph: Mapping[str, Any] | None = None
    """How values flow, as `dataflow.py` has it."""
    numbers: Sequence[int] = ()
    """What lines are numbered where that is not from 1 on; 0 is no number."""

    def as_json(self, line_number: Callable[[str], int]) -> dict[str, Any]:
        """For the page; `line_number` gives each different line a number."""
        found: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "level": self.level,
            "seconds": self.seconds,
        }
        if self.lines is not None:
            found |= {
                "lines": [line_number(line) for line in self.lines],
                "links": [
                    [line, *sorted(each)] for line, each in sorted(self.links.items()) if each
                ],
                "spans": [number for span in self.spans for number in span],
                "operations": self.operations,
                "graph": self.graph,
                "numbers": self.numbers or None,
            }
        return {name: value for name, value in found.items() if value is not None}


def counted(operations: Iterable[Operation]) -> dict[str, int]:
    """How many operations there are of each name, the most frequent first."""
    return dict(Counter(op.name for op in operations).most_common())


MODULES = (
    *("state", "names", "languages", "text_view", "fusion", "trail"),
    *("levels", "changes", "graph", "memory", "tables", "main"),
)
"""The scripts of the page in `web`, which import each other as `explorer/NAME`."""
LIBRARIES = "vendor/libraries.js"
"""What packages of npm give, see `web/vendor/libraries_entry.js`."""
NOTICES = "vendor/LICENSES.txt"
"""Whose they are, by which licences."""


def as_page(title: str, documents: Sequence[ShownDocument], views: dict[str, Any]) -> str:
    """
    The page. What it shows is in it as compressed JSON; its scripts are modules with an import map,
    and its policy forbids it to load anything.
    """
    numbers: dict[str, int] = {}

    def line_number(line: str) -> int:
        return numbers.setdefault(line, len(numbers))

    content: dict[str, Any] = {
        "title": title,
        "documents": [each.as_json(line_number) for each in documents],
        "views": views,
    }
    content["lines"] = list(numbers)
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    imports = {"libraries": _script(LIBRARIES)}
    imports |= {f"explorer/{name}": _script(f"{name}.js") for name in MODULES}
    parts = {
        "{{title}}": escape(title),
        "{{style}}": _text("style.css"),
        "{{notices}}": _text(NOTICES),
        "{{imports}}": json.dumps({"imports": imports}),
        # Level 6 is within 2 % of level 9, in a third of its time.
        "{{data}}": b64encode(gzip.compress(data, 6, mtime=0)).decode(),
    }
    page = _text("page.html")
    for name, text in parts.items():
        page = page.replace(name, text)
    return page


def _script(name: str) -> str:
    """A module of JavaScript as the address of an import map."""
    return f"data:text/javascript;base64,{b64encode(_text(name).encode()).decode()}"


def _text(name: str) -> str:
    assert __package__
    return files(__package__).joinpath("web", *name.split("/")).read_text("utf-8")
