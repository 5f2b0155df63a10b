"""The content of a page that `xla-opt --explore` has written."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tools.xla_opt import main


@dataclass
class Page:
    """What a page shows, read as its scripts read it."""

    text: str

    @cached_property
    def content(self) -> dict[str, Any]:
        found = re.search(r'<script id="data"[^>]*>(.*?)</script>', self.text, re.S)
        assert found is not None
        return json.loads(gzip.decompress(b64decode(found[1])))

    @cached_property
    def states(self) -> list[dict[str, Any]]:
        """The texts that differ from the one before."""
        return [each for each in self.content["documents"] if "lines" in each]

    def lines(self, name: str) -> list[str]:
        state = self.states[self.place(name)]
        return [self.content["lines"][number] for number in state["lines"]]

    def place(self, name: str) -> int:
        return next(i for i, state in enumerate(self.states) if state["name"] == name)

    def links(self, place: int) -> dict[int, set[int]]:
        """For lines of a state those of the one before that they come from."""
        return {line: set(origins) for line, *origins in self.states[place]["links"]}

    def outcomes(self, start: str, line: int, end: str) -> list[str]:
        """The lines of a later state that a line becomes."""
        lines = {line}
        for place in range(self.place(start) + 1, self.place(end) + 1):
            lines = {new for new, old in self.links(place).items() if old & lines}
        return [self.lines(end)[each].strip() for each in sorted(lines)]

    def origins(self, start: str, line: int, end: str) -> list[str]:
        """The lines of an earlier state that a line comes from."""
        lines = {line}
        for place in range(self.place(start), self.place(end), -1):
            links = self.links(place)
            lines = {old for each in lines for old in links.get(each, ())}
        return [self.lines(end)[each].strip() for each in sorted(lines)]

    def find(self, name: str, part: str) -> int:
        """The only line of a state with some text in it."""
        (found,) = [i for i, line in enumerate(self.lines(name)) if part in line]
        return found


def explore(folder: Path, program: str, *arguments: str, name: str = "program.mlir") -> Page:
    """The page about a program; it is in `page.html` of the folder."""
    path, page = folder / name, folder / "page.html"
    path.write_text(program, encoding="utf-8")
    assert main([str(path), *arguments, "--explore", str(page)]) == 0
    return Page(page.read_text(encoding="utf-8"))
