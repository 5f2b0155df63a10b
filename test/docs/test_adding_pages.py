"""
The pages about passes, operations and targets of one's own, followed as a reader does: from top to
bottom, each in a fresh environment and an empty folder, with a process for each command.
"""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("adding_*.md")), ROOT / "docs" / "debugging.md"]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class File:
    """A file that a page tells to write."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command line of a page, and what it prints."""

    line: str
    output: str


def steps(path: Path) -> list[File | Command]:
    """What a page tells to write and to run, in its order."""
    found: list[File | Command] = []
    for language, title, text in BLOCK.findall(path.read_text(encoding="utf-8")):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, output = part.partition("\n")
                found.append(Command(line, output))
        else:
            assert title, f"{path}: a block says no file"
            found.append(File(title, text))
    return found


def fresh_environment(folder: Path) -> dict[str, str]:
    """
    The variables with which commands run in a new environment.

    It has what this one has, this package included, and the commands of this one for its own Python.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    load = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "installed_before.pth").write_text(load)
    for script in BIN.iterdir():
        if script.is_file() and (text := script.read_bytes()).startswith(f"#!{BIN}/".encode()):
            own = folder / "bin" / script.name
            own.write_bytes(f"#!{folder}/bin/python\n".encode() + text.partition(b"\n")[2])
            own.chmod(0o755)
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PATH": os.pathsep.join((str(folder / "bin"), os.environ["PATH"])),
        # This is how pip's option is set by a variable: setuptools is installed.
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_INDEX": "1",
        "PYTEST_ADDOPTS": "-Werror -p no:cacheprovider",
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(path: Path, tmp_path: Path) -> None:
    environment = fresh_environment(tmp_path / "environment")
    folder = tmp_path / "package"
    for step in steps(path):
        if isinstance(step, File):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        run = subprocess.run(
            ["/bin/sh", "-c", step.line],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        fails = "error: " in step.output or "Failed Tests" in step.output
        assert run.returncode == int(fails), f"$ {step.line}\n{run.stdout}{run.stderr}"
        if step.output:
            printed = run.stdout + (run.stderr if fails else "")
            assert printed.rstrip() == step.output.rstrip(), step.line
    assert any(folder.glob("test_*.py")) or any(folder.glob("lit.*")), "it shows how to test"


def test_there_are_pages() -> None:
    names = [
        *("adding_a_backend", "adding_a_pass", "adding_a_schedule_primitive", "adding_a_target"),
        *("adding_an_op", "debugging"),
    ]
    assert [path.stem for path in PAGES] == names
