"""docs/schedule_search.md: its commands run in this order, on its files, and print what it shows of them."""

import re
import shlex
from pathlib import Path

import pytest

from tools import xla_opt, xla_run, xla_tune

PAGE = Path(__file__).parents[2] / "docs" / "schedule_search.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
NOTHING = "no schedule is better than the planner's"
"""What a search says that has found nothing: where others use the machine, for one."""
FILE = "product.schedules"
TOOLS = {"xla-opt": xla_opt.main, "xla-run": xla_run.main, "xla-tune": xla_tune.main}


def check(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs a command; the parts between lines `[...]` stand in what it prints in this order."""
    tool, *arguments = shlex.split(command)
    code = TOOLS[tool](arguments)
    captured = capsys.readouterr()
    output = captured.out + captured.err
    assert code == 0, output
    if NOTHING in output:
        assert xla_tune.main([arguments[0], "--defaults"]) == 0
        Path(FILE).write_text(capsys.readouterr().out, encoding="utf-8")
        shown = shown.replace(f"{FILE}:", NOTHING)
    place = 0
    for part in re.split(r"^\[\.\.\.\]\n", shown, flags=re.MULTILINE):
        found = output.find(part.rstrip("\n"), place)
        assert found >= 0, f"{command}\n{part}\n{output[place:]}"
        place = found


def test_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = 0
    for language, title, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                check(command, shown, capsys)
                commands += 1
    assert commands == 7
