"""The tables of examples on the pages of docs/specification, as rows of cells."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "specification"
_TABLE = re.compile(r"^ *\|(?P<head>.*)\|\n *\|[- |]+\|\n(?P<rows>(?: *\|.*\|\n)+)", re.MULTILINE)
_ANCHOR = re.compile(r'<a id="[\w-]+"></a>')


def table(page: str, *head: str) -> list[list[str]]:
    """The rows of the only table of a page with this head; cells without anchors and backquotes."""
    text = (PAGES / page).read_text(encoding="utf-8")
    (found,) = (t["rows"] for t in _TABLE.finditer(text) if _cells(t["head"]) == [*head])
    return [_cells(row.strip(" |")) for row in found.splitlines()]


def _cells(row: str) -> list[str]:
    return [cell.strip().strip("`") for cell in _ANCHOR.sub("", row).split("|")]


def numbers(cell: str) -> tuple[int, ...]:
    """The numbers of a cell like `(2,-3)`, `()` or `2 x 3`."""
    return tuple(int(number) for number in re.findall(r"-?\d+", cell))
