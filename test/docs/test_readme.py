"""What the README says works: its Python example and its command lines."""

import re
import shlex
from pathlib import Path

import pytest

from tools import xla_compare, xla_layout, xla_opt, xla_run, xla_tune

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

PYTHON_BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    shlex.split(line, comments=True)
    for line in re.sub(r"\\\n", "", README).splitlines()
    if re.match(r" {4}xla-(compare|opt|run|tune|layout) ", line)
]
TOOLS = {
    "xla-compare": xla_compare.main,
    "xla-layout": xla_layout.main,
    "xla-opt": xla_opt.main,
    "xla-run": xla_run.main,
    "xla-tune": xla_tune.main,
}


@pytest.mark.jax
@pytest.mark.parametrize("block", PYTHON_BLOCKS)
def test_python_example(block: str) -> None:
    exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            command, marks=[pytest.mark.riscv64, pytest.mark.qemu] if "riscv64" in command else []
        )
        for command in COMMANDS
    ],
    ids=" ".join,
)
def test_command(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    tool, *arguments = command
    assert TOOLS[tool](arguments) == 0, capsys.readouterr().err


def test_examples_are_found() -> None:
    assert len(PYTHON_BLOCKS) == 3
    assert len(COMMANDS) >= 5
