"""The figures that docs/comparing.md and docs/riscv.md show are those of today."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tools import xla_compare, xla_microkernels

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "comparing.md").read_text(encoding="utf-8")
QUICK = ["--turns=2", "--compiles=1"]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the command run in a folder with the program of the page."""
    monkeypatch.chdir(tmp_path)
    layer = re.search(r'^```mlir title="layer.mlir"\n(.*?)^```', PAGE, re.M | re.S)
    assert layer is not None
    Path("layer.mlir").write_text(layer[1])


def rows_below(heading: str) -> dict[str, dict[str, str]]:
    """The rows of a table of the page whose heading begins so, by their first cell."""
    table = re.search(rf"^\| {heading} .*?(?=\n\n)", PAGE, re.M | re.S)
    assert table is not None
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[0].splitlines()]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}


@pytest.mark.parametrize("command", re.findall(r"^\$ xla-compare (?!--examples)(.*)$", PAGE, re.M))
@pytest.mark.usefixtures("program")
def test_comparisons(command: str) -> None:
    """They run; what is shown of them, but for times and code of this machine, is what they say."""
    assert xla_compare.main([*shlex.split(command), *QUICK, "--json=report.json"]) == 0
    report: dict[str, Any] = json.loads(Path("report.json").read_text())
    found = {each["label"]: each for each in report["contenders"]}
    if "--ablations" in command:
        shown = rows_below(r"contender \| because")
        failed = {label: own["failure"] for label, own in found.items() if "failure" in own}
        assert shown.keys() == failed.keys()
        for label, row in shown.items():
            assert " ".join(failed[label].split()).startswith(row["because"].removesuffix(" ..."))
        return
    shown = rows_below(r"contender \| time")
    assert list(shown) == list(found)
    for label, row in shown.items():
        own = found[label]
        figures = (own["kernels"], own["moved_bytes"], own["memory"]["allocated"])
        cells = (row["kernels"], row["moved"], row["allocated"])
        assert cells == tuple(f"{figure:,}" for figure in figures)


@pytest.mark.riscv64
def test_micro_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert xla_microkernels.main(["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    text = (DOCS / "riscv.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|", text, re.MULTILINE)
    assert rows == [
        (name, *(str(row[way]["instructions"]) for way in ("xdsl", "llvm_tiled", "llvm")))
        for name, row in found.items()
    ]
