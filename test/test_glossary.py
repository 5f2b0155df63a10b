"""The glossary is about words that the sources have, and its first words mean one thing each."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+) \|.*\| `([^`|]+)` \|$", re.MULTILINE)
ROWS: list[tuple[str, str]] = ROW.findall((ROOT / "docs" / "glossary.md").read_text("utf-8"))
ONE_MEANING = ("Form", "Place", "Layout")


def definitions(path: Path) -> Iterator[str]:
    """The classes and type aliases of a module."""
    for node in ast.parse(path.read_text("utf-8")).body:
        match node:
            case ast.ClassDef(name=name):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) if name.lstrip("_")[:1].isupper():
                yield name
            case _:
                pass


@pytest.mark.parametrize(("word", "file"), ROWS)
def test_word_is_explained_where_it_is_defined(word: str, file: str) -> None:
    text = (ROOT / file).read_text("utf-8").lower().replace("_", " ")
    first = word.partition(",")[0].partition(" (")[0].lower()
    assert first in text or first.replace(" ", "") in text, f"{file} does not say '{first}'"


def test_glossary_has_rows() -> None:
    assert len(ROWS) > 20
    assert len({word for word, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize("word", ONE_MEANING)
def test_word_means_one_thing(word: str) -> None:
    places: defaultdict[str, list[Path]] = defaultdict(list)
    for package in ("xla_dialect", "lowerings", "tools"):
        for path in (ROOT / package).rglob("*.py"):
            for name in definitions(path):
                places[name.lstrip("_")].append(path.relative_to(ROOT))
    assert len(places[word]) <= 1, f"{word}: {places[word]}"
