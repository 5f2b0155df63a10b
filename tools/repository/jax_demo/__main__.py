"""
A training script of flax on our device, beside XLA's: `make demo-training`.

The script, `train.py`, is the same for both. When half of it is done, a pass of the user's is
switched on in the running program on our device: matrix products see numbers of 8 bits.
Exit code 1 says that the losses differ where they should not, or do not where they should.
"""

from __future__ import annotations

import io
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, redirect_stdout
from math import exp, log
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table

from lowerings.pjrt.user_passes import extra_passes

from ...command_line import guarded
from .low_precision import LowPrecisionProducts

SCRIPT = Path(__file__).with_name("train.py")
MIDDLE = 200
"""The step at which the pass is switched on."""

TOLERANCE = 1e-3
"""How far losses may be apart while both compute the same, relative."""

_LINE = re.compile(r"step (\d+) loss ([\d.]+)")
_COLUMNS = 44
"""The width of the curves, which are logarithmic."""
_SWITCH = "--switch"
"""The argument of the process that trains on our device."""


class _SwitchingOutput(io.TextIOBase):
    """The output of a script, which switches the pass on when it reads of the step."""

    def __init__(self, output: TextIO, passes: ExitStack):
        self.output = output
        self.passes = passes

    def write(self, text: str) -> int:
        if (found := _LINE.match(text)) and int(found[1]) == MIDDLE:
            self.passes.enter_context(extra_passes(LowPrecisionProducts()))
        return self.output.write(text)

    def flush(self) -> None:
        self.output.flush()


def train_here() -> None:
    """Runs the script in this process, and switches the pass on."""
    with ExitStack() as passes:
        passes.enter_context(redirect_stdout(_SwitchingOutput(sys.stdout, passes)))
        runpy.run_path(str(SCRIPT), run_name="__main__")


def losses(platforms: str, command: list[str]) -> dict[int, float]:
    """The loss at each step that the script reports, in a process of its own."""
    found = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "JAX_PLATFORMS": platforms},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return {int(step): float(loss) for step, loss in _LINE.findall(found.stdout)}


def show(theirs: Mapping[int, float], ours: Mapping[int, float]) -> None:
    """Prints both curves beside each other."""
    table = Table(title="The loss of one script: x on XLA's CPU, o on our device, * both")
    for name in ("step", "XLA", "xdsl", "apart"):
        table.add_column(name, justify="right")
    low, high = (log(end(theirs.values())) for end in (min, max))
    table.add_column(f"{exp(low):.3f}" + f"{exp(high):.3f}".rjust(_COLUMNS - 5))
    for step, loss in theirs.items():
        x, o = (
            min(max(round((log(each) - low) / (high - low) * (_COLUMNS - 1)), 0), _COLUMNS - 1)
            for each in (loss, ours[step])
        )
        marks = [" "] * _COLUMNS
        marks[x], marks[o] = ("*", "*") if x == o else ("x", "o")
        apart = f"{ours[step] / loss - 1:+.1e}"
        table.add_row(str(step), f"{loss:.4f}", f"{ours[step]:.4f}", apart, "".join(marks))
        if step == MIDDLE:
            table.add_section()
    Console(width=100).print(table)
    print(f"Below the line our device compiles with the pass {LowPrecisionProducts.name}.")


def compare() -> int:
    """Trains twice, prints the curves; the exit code."""
    theirs = losses("cpu", [str(SCRIPT)])
    ours = losses("xdsl,cpu", ["-m", "tools.repository.jax_demo", _SWITCH])
    show(theirs, ours)
    before = [abs(ours[step] / theirs[step] - 1) for step in theirs if step <= MIDDLE]
    after = [abs(ours[step] / theirs[step] - 1) for step in theirs if step > MIDDLE]
    print(f"Apart by at most {max(before):.1e} before, {max(after):.1e} behind.")
    return int(max(before) > TOLERANCE or max(after) <= TOLERANCE)


def main() -> int:
    """Compares, or is one of the processes that are compared."""
    if sys.argv[1:] != [_SWITCH]:
        return compare()
    train_here()
    return 0


if __name__ == "__main__":
    sys.exit(guarded("demo-training", main))
