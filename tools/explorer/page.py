"""A recording as one file of HTML that needs no other, and no network."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from .documents import ShownDocument

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
