"""The glossary is about words that the sources have, and its first words mean one thing each."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_architecture import modules, syntax_tree

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| ([^|]+) \|.*\| `([^`|]+)` \|$", re.MULTILINE)
ROWS: list[tuple[str, str]] = ROW.findall((ROOT / "docs" / "glossary.md").read_text("utf-8"))
ONE_MEANING = ("Form", "Place", "Layout")

_OF_TWO_DIALECTS = "an operation or type of two dialects is named alike in both"
SHARED_NAMES = {
    "Factor": "of dimensions, as in Shardy's rules; and of a product, as schedules pack it",
    "ComparisonType": _OF_TWO_DIALECTS,
    "TokenType": _OF_TWO_DIALECTS,
}
"""The public classes that have a name in common, and why."""


def definitions(path: Path) -> Iterator[str]:
    """The classes and type aliases of a module."""
    for node in syntax_tree(path).body:
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
    for path in modules().values():
        for name in definitions(path):
            places[name.lstrip("_")].append(path)
    assert len(places[word]) <= 1, f"{word}: {places[word]}"


def test_public_classes_have_names_of_their_own() -> None:
    """But operations: several dialects have an `AddOp`."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules().values():
        for node in syntax_tree(path).body:
            if not isinstance(node, ast.ClassDef):
                continue
            if not node.name.startswith("_") and not node.name.endswith("Op"):
                places[node.name].append(f"{path}:{node.lineno}")
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert {name: found for name, found in shared.items() if name not in SHARED_NAMES} == {}
    assert shared.keys() == SHARED_NAMES.keys()
