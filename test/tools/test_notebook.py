"""Programs, diffs and explanations in notebooks; the notebook of the docs runs."""

import html
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from explored import Page
from peers import chromium

import lowerings
from lowerings.explaining import Explanation
from lowerings.notebook import MOST_CHARACTERS, ShownDiff, ShownProgram, program_diff
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import read_hlo

NOTEBOOK = Path(__file__).parents[2] / "docs" / "explaining.ipynb"
PROGRAM = """\
HloModule m

ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] add(x, x)
  ROOT z = f32[4] negate(y)
}
"""


def test_programs_in_colours_are_the_same_text() -> None:
    shown = ShownProgram(PROGRAM)
    assert str(shown) == PROGRAM
    page = shown._repr_html_()
    assert "color" in page
    assert "ENTRY" in page
    assert "<script" not in ShownProgram("<script>")._repr_html_()


def test_long_programs_are_cut() -> None:
    page = ShownProgram("x" * (MOST_CHARACTERS + 7))._repr_html_()
    assert "7 more characters" in page


def test_diffs() -> None:
    first, second = read_hlo(PROGRAM), read_hlo(PROGRAM.replace("negate", "abs"))
    found = program_diff(first, second)
    assert isinstance(found, ShownDiff)
    changed = [line[:1] for line in found.splitlines() if line[:2] in ("- ", "+ ")]
    assert changed == ["-", "+"]
    assert "xla.abs" in found._repr_html_()
    assert program_diff(first, first) == ""
    assert "no difference" in program_diff(first, first)._repr_html_()


def test_explanations_are_pages_of_the_explorer() -> None:
    explanation = lowerings.explain(PROGRAM, pipeline="xla-simplify,convert-xla-to-linalg")
    names = [state["name"] for state in Page(explanation.html).states]
    # The first pass changes nothing.
    assert names[-2:] == ["as read", "convert-xla-to-linalg"]
    frame = explanation._repr_html_()
    assert html.unescape(frame.partition('srcdoc="')[2].partition('" sandbox')[0]) == (
        explanation.html
    )


def test_modules_are_explained(tmp_path: Path) -> None:
    explanation = lowerings.explain(read_hlo(PROGRAM), pipeline="xla-simplify")
    explanation.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == explanation.html


@pytest.mark.parametrize(
    ("arguments", "pipeline", "message"),
    [((PROGRAM, 1), "native", "only functions"), ((PROGRAM,), "nothing", "there is no pass")],
)
def test_what_cannot_be_explained(arguments: Any, pipeline: str, message: str) -> None:
    with pytest.raises(XlaError, match=message):
        lowerings.explain(*arguments, pipeline=pipeline)


@pytest.mark.browser
def test_explanations_show_in_a_frame(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    frame = Explanation(lowerings.explain(PROGRAM, pipeline="xla-simplify").html)._repr_html_()
    (tmp_path / "notebook.html").write_text(frame, encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / "notebook.html").as_uri())
        inside = page.frame_locator("iframe")
        inside.get_by_text("ENTRY main").wait_for()
        inside.get_by_text("Graph", exact=True).click()
        inside.get_by_text("Levels", exact=True).click()
        assert errors == []
        browser.close()


@pytest.mark.jax
@pytest.mark.site
def test_the_notebook_of_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells, in a shell in this process that names them as a kernel does, which the site has."""
    from ipykernel.compiler import XCachingCompiler  # noqa: PLC0415
    from IPython.core.interactiveshell import InteractiveShell  # noqa: PLC0415
    from traitlets.config import Config  # noqa: PLC0415

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    # The shell takes the place of the main program, which others in this process look for.
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    without_history = Config(HistoryManager={"enabled": False})
    shell: Any = InteractiveShell(config=without_history, compiler_class=XCachingCompiler)
    shown: list[dict[str, str]] = []
    for cell in code:
        done = shell.run_cell("".join(cell["source"]))
        done.raise_error()
        if done.result is not None:
            shown.append(shell.display_formatter.format(done.result)[0])
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert len(pages) == 5
    assert pages[0].startswith("<iframe srcdoc=")
    explained = Page(html.unescape(pages[0]))
    python = next(each for each in explained.content["documents"] if each["name"] == "Python")
    lines = [explained.content["lines"][number] for number in python["lines"]]
    assert any("return jnp.tanh(scaled @ w)" in line for line in lines)
    assert not any("lowerings/" in line for line in lines)
    assert (tmp_path / "layer.html").exists()
    assert shown[-1]["text/plain"] == "True"
