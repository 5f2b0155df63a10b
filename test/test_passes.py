"""Every pass that the toolkit offers is documented, keeps its name and has a FileCheck test."""

import re
from functools import cache
from pathlib import Path

import pytest

from lowerings.pipelines import PIPELINES, pass_specs
from lowerings.universe import UNIVERSE

TEST_ROOT = Path(__file__).parent


@cache
def names_in_run_lines() -> frozenset[str]:
    """All words of the RUN lines in files that have FileCheck lines."""
    words: set[str] = set()
    for path in TEST_ROOT.rglob("*"):
        if path.suffix not in (".mlir", ".hlo", ".lit"):
            continue
        text = path.read_text(encoding="utf-8")
        if "CHECK" in text:
            for line in re.findall(r"RUN:(.*)", text):
                words.update(re.findall(r"[\w-]+", line))
    return frozenset(words)


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_pass_has_a_filecheck_test(name: str) -> None:
    assert name in names_in_run_lines(), f"no RUN line under test/ has -p {name}"


@pytest.mark.parametrize("name", UNIVERSE.all_passes)
def test_pass_shows_what_it_does(name: str) -> None:
    module_pass = UNIVERSE.all_passes[name]()
    assert module_pass.name == name
    assert module_pass.__doc__ is not None
    shown = re.search(r"->|\bbecomes\b", module_pass.__doc__)
    assert shown, f"the docstring of {name} shows no `before -> after`"


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_pipelines_name_passes_of_the_toolkit(pipeline: str) -> None:
    for spec in pass_specs(PIPELINES[pipeline]):
        assert spec.partition("{")[0] in UNIVERSE.all_passes
