"""The tutorial and the page of the Python API: what they show is what their commands print."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from tools.repository.api_pages import STABLE
from tools.repository.shown_commands import PAGES, CommandError, renewed

ROOT = Path(__file__).parents[2]
MEMBERS = [member for members in STABLE.values() for member in members]

NEED_JAX = {"README.md", "docs/measuring.md", "docs/reading_traces.md"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.jax] if name in NEED_JAX else []) for name in PAGES],
)
def test_pages_show_what_is_printed(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert len(re.findall(r"^ *\$ ", page, re.M)) > 1
    assert renewed(page) == page, f"{name}: run `make docs`"


def test_what_is_shown_is_renewed() -> None:
    page = """text
```hlo title="a.hlo"
ROOT y = f32[] negate(f32[] x)
```
```console
$ xla-opt a.hlo | grep -c negate
old
$ cat a.hlo
```
"""
    new = page.replace("old", "1").replace(
        "$ cat a.hlo\n", "$ cat a.hlo\nROOT y = f32[] negate(f32[] x)\n"
    )
    assert renewed(page) == new == renewed(new)


def test_errors_are_shown() -> None:
    shown = renewed("```console\n$ xla-layout f32[2\n```\n")
    assert "error: " in shown


@pytest.mark.parametrize("command", ["false", "xla-layout f32[] | false"])
def test_other_failures_are_errors(command: str) -> None:
    with pytest.raises(CommandError):
        renewed(f"```console\n$ {command}\n```\n")


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.replace(":", "."))
def test_stable_names_are_as_described(
    member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the page of signatures describes is imported by that name; its examples hold."""
    module, _, name = member.partition(":")
    if module == "lowerings.jax":
        pytest.importorskip("jax")
    found = getattr(import_module(module), name)
    assert found.__qualname__ == name
    monkeypatch.chdir(tmp_path)
    for examples in doctest.DocTestFinder(recurse=False).find(found, name, globs={}):
        doctest.DebugRunner().run(examples)
