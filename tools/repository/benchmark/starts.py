"""How long processes of the tools take from start to end, beside importing what they stand on."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .report import table

PROGRAM = """\
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT sum = f32[4] add(x, y)
}
"""
FILE = "FILE"
"""Stands for a file with the program among the arguments of a tool."""

BASE = "import numpy, xdsl.dialects.builtin"
"""What everything else is a multiple of; its collector runs, and its objects are freed."""
STARTED: Mapping[str, Sequence[str]] = {
    "xla-opt --help": ("--help",),
    "xla-opt, three lines": (FILE,),
    "xla-opt, three lines, -p native": (FILE, "-p", "native"),
}
_XLA_OPT = "import sys; from xla_dialect_tools.commands import xla_opt; sys.exit(xla_opt())"


def measure_starts(turns: int, other: Path | None = None) -> None:
    """
    Prints the processor time of processes, as the median of all turns, beside that of `BASE`.

    `other` is the folder of another version, whose processes run by turns with these.
    """
    here = Path(__file__).parents[3]
    folders = {"here": here} | ({} if other is None else {str(other): other.resolve()})
    times: dict[tuple[str, str], list[float]] = {}
    with TemporaryDirectory() as temporary:
        program = Path(temporary) / "three_lines.hlo"
        program.write_text(PROGRAM, encoding="utf-8")
        # The first turn, which is not counted, writes the bytecode of all modules.
        for turn in range(turns + 1):
            for version, folder in folders.items():
                for name, command in _commands(program).items():
                    seconds = processor_time(command, folder=folder)
                    if turn:
                        times.setdefault((name, version), []).append(seconds)
    rows: list[list[str]] = []
    for name in _commands(Path()):
        found = [statistics.median(times[name, version]) for version in folders]
        bases = [statistics.median(times[BASE, version]) for version in folders]
        shares = (f"{each / base:.2f}" for each, base in zip(found, bases, strict=True))
        rows.append([name, *(f"{each:.3f}" for each in found), *shares])
    columns = *(f"{each}, s" for each in folders), *(f"{each} / its import" for each in folders)
    print(table(["a process", *columns], rows))


def _commands(program: Path) -> dict[str, list[str]]:
    """Python's arguments for each process."""
    tools = {
        name: ["-c", _XLA_OPT, *(str(program) if each == FILE else each for each in arguments)]
        for name, arguments in STARTED.items()
    }
    return {BASE: ["-c", BASE], **tools}


def processor_time(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> float:
    """The processor time in seconds that a process of Python takes; its modules have bytecode."""
    before = _of_children()
    variables = os.environ | (environment or {})
    # Installed packages have bytecode: what is timed is not that Python reads our sources.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
        env=variables,
        cwd=folder,
    )
    return _of_children() - before


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
