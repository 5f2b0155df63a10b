"""
Equal parts of a program as one function that is called for each, in its text.

A training step updates each of its parameters in the same way, by dozens of operations: for equal
shapes, equal lines. They are found before the text is parsed, as everything that follows, from the
parser to machine code, takes its time for each operation.
"""

from __future__ import annotations

import re

_FOR_DEVICES = re.compile(r"num_partitions = (?!1 )")

FEWEST_LINES = 128
"""Shorter programs are not looked through."""


def outline_equal_parts(text: str) -> str:
    """
    The text of a program of StableHLO, as JAX prints it, with its equal parts as functions.

    Those are private and `no_inline`. A program without them, or printed in another way, comes
    back as it is. Found are updates, which compute results of the program, layers of models, what
    else is repeated with contractions, and runs of operations on scalars.
    """
    lines = text.split("\n")
    if len(lines) < FEWEST_LINES or "@outlined_" in text:
        return text
    # The first program of a process is short, and loads none of this.
    from xla_dialect.stablehlo.outlining.body import (  # noqa: PLC0415
        bodies_of,
        outline_runs,
        outline_updates,
    )

    functions: list[str] = []
    for body in bodies_of(lines):
        # How updates are split over devices is chosen for all of them.
        if body.is_entry and not _FOR_DEVICES.search(lines[0]):
            outline_updates(body, functions)
        before = len(functions)
        outline_runs(body, functions, scalars=False)
        if len(functions) == before:
            outline_runs(body, functions, scalars=True)
        lines[body.start : body.end] = body.lines()
    if not functions:
        return text
    end = max(number for number, line in enumerate(lines) if line == "}")
    return "\n".join((*lines[:end], *functions, *lines[end:]))
