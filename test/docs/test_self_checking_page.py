"""docs/self_checking_programs.md: its commands print what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from tools import xla_run

PAGE = Path(__file__).parents[2] / "docs" / "self_checking_programs.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```\w+ title=(\S+)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
CONSOLES = "".join(re.findall(r"^```console\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE))
COMMANDS = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", CONSOLES, re.MULTILINE)


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_commands(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, program in PROGRAMS:
        (tmp_path / name).write_text(program)
    monkeypatch.chdir(tmp_path)
    tool, *arguments = shlex.split(command)
    assert tool == "xla-run"
    assert xla_run.main(arguments) == int("error: " in shown)
    captured = capsys.readouterr()
    assert captured.out + captured.err == shown


def test_everything_is_found() -> None:
    assert len(PROGRAMS) == TEXT.count("title=") == 6
    assert len(COMMANDS) == TEXT.count("$ xla-run") == 7
