"""
One function of JAX on its way down: `make demo`, or `python -m tools.repository.demo`.

Its texts stand side by side, from HLO to assembly; then its time beside XLA's, and where the page
is in which one can click from line to line. Exit code 1 says that the results differ from XLA's.
"""

from __future__ import annotations

import os
import re
import statistics
import sys
from pathlib import Path
from textwrap import dedent

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

import lowerings
from lowerings.jax import Lowered, jit
from lowerings.notebook import ProgramLexer

from ..command_line import guarded
from ..comparison import DEFAULT_TOLERANCE, largest_relative_error
from ..measuring_times import alternate

PAGE = Path("build/demo.html")
OUTPUT_COLUMNS = 200
"""The width of tables in a file or a log."""
NARROWEST_COLUMN = 40
SHOWN_LINES = 22
TURNS = 41
SHOWN = {
    "tensors": ("linalg on tensors", r"tensor\.empty"),
    "buffers": ("buffers", r"func\.func private"),
    "loops": ("loops", r"memref\.load"),
}
"""The levels, what they are called here, and what the first line has that is shown of them."""


def layer(x: jax.Array, weights: jax.Array, bias: jax.Array) -> jax.Array:
    """The function that is shown."""
    return jnp.tanh(x @ weights + bias)


def show() -> int:
    """Prints all of it; returns the exit code."""
    console = Console(width=None if sys.stdout.isatty() else OUTPUT_COLUMNS)
    random = np.random.default_rng(0)
    shapes = ((256, 256), (256, 256), (256,))
    arguments = [random.standard_normal(shape, np.float32) for shape in shapes]
    ours = jit(layer)
    console.print("[bold]def layer(x, weights, bias): return jnp.tanh(x @ weights + bias)[/bold]")
    excerpts = excerpts_of(ours.lower(*arguments), jax.jit(layer).lower(*arguments))
    count = max(1, console.width // NARROWEST_COLUMN)
    for start in range(0, len(excerpts), count):
        table = Table(*list(excerpts)[start : start + count], expand=True)
        table.add_row(*list(excerpts.values())[start : start + count])
        console.print(table)
    error = compare(ours, arguments, console)
    PAGE.parent.mkdir(exist_ok=True)
    lowerings.explain(layer, *arguments).save(PAGE)
    console.print(f"To click from line to line, open {PAGE.resolve()}", soft_wrap=True)
    return 0 if error <= DEFAULT_TOLERANCE else 1


def excerpts_of(ours: Lowered, theirs: jax.stages.Lowered) -> dict[str, Syntax]:
    """By level, the lines in which the product of matrices is computed."""
    assembly = ours.levels()[-1]
    found = {"HLO": excerpt(theirs.as_text(dialect="hlo"), "ENTRY")}
    for level, (title, beginning) in SHOWN.items():
        found[title] = excerpt(ours.as_text(level), beginning)
    found[f"assembly ({assembly})"] = excerpt(ours.as_text(assembly), r"v?fm(add|la)")
    return {
        title: Syntax(
            text,
            "gas" if assembly in title else ProgramLexer(),
            theme="ansi_light",
            background_color="default",
        )
        for title, text in found.items()
    }


def excerpt(text: str, beginning: str) -> str:
    """Some lines of a text, from the first on that has a pattern."""
    lines = text.expandtabs(2).splitlines()
    start = next((n for n, line in enumerate(lines) if re.search(beginning, line)), 0)
    return dedent("\n".join(lines[start : start + SHOWN_LINES]))


def compare(ours: lowerings.jax.Jitted, arguments: list[np.ndarray], console: Console) -> float:
    """Prints the times of both, measured by turns; the largest relative error."""
    theirs = jax.jit(layer)
    on_device = [jax.device_put(each) for each in arguments]
    error = largest_relative_error(np.asarray(ours(*on_device)), np.asarray(theirs(*on_device)))
    calls = [lambda: ours(*on_device), lambda: theirs(*on_device).block_until_ready()]
    own, peer = (statistics.median(each) * 1e6 for each in alternate(calls, TURNS))
    agreed = "as XLA's" if error <= DEFAULT_TOLERANCE else "[red]NOT AS XLA'S[/red]"
    console.print(
        f"A call takes {own:.0f} µs, XLA's {peer:.0f} µs (medians of {TURNS} turns); the result is "
        f"{agreed}, the largest error {error:.1e} of the largest magnitude.",
        soft_wrap=True,
    )
    return error


if __name__ == "__main__":
    sys.exit(guarded("demo", show))
