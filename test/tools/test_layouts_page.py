"""docs/layouts.md: its commands print what it shows, its program runs, its pictures are there."""

import re
import shlex
from pathlib import Path

import pytest

from tools import xla_layout
from tools.repository.docs import FOLDER

PAGE = Path(__file__).parents[2] / "docs" / "layouts.md"
TEXT = PAGE.read_text(encoding="utf-8")
CONSOLES = re.findall(r"^```console\n\$ (.*)\n((?:.*\n)*?)^```", TEXT, re.MULTILINE)
PROGRAMS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("command", "shown"), CONSOLES, ids=[command for command, _ in CONSOLES])
def test_commands(command: str, shown: str, capsys: pytest.CaptureFixture[str]):
    """The parts between lines `[...]` stand in the output in this order."""
    tool, *arguments = shlex.split(command)
    assert tool == "xla-layout"
    assert xla_layout.main(arguments) == 0
    output = capsys.readouterr().out
    place = 0
    for part in re.split(r"^\[\.\.\.\]\n", shown, flags=re.MULTILINE):
        assert part in output[place:], part
        place = output.index(part, place) + len(part)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: str):
    exec(compile(program, "layouts.md", "exec"), {"__name__": "__main__"})


def test_everything_is_found():
    assert len(CONSOLES) == TEXT.count("$ xla-layout") == 6
    assert len(PROGRAMS) == 1
    pictures = re.findall(r"\]\(generated/(.*?)\)", TEXT)
    assert len(pictures) == 3
    assert all((FOLDER / picture).exists() for picture in pictures)
