"""The levels below xla, interpreted, compute what the reference does: the stored programs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeps import each_or_full

import lowerings
from lowerings.compilation import (
    INTERPRETED_LEVELS,
)
from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import StoredProgram, stored_programs

AnyArray = np.ndarray[Any, np.dtype[Any]]

CASES = [(program.name, level) for program in stored_programs() for level in INTERPRETED_LEVELS]
SLOW = [("transformer_block", "loops")]


@pytest.mark.parametrize(
    "case",
    each_or_full(CASES, [case for case in CASES if case not in SLOW]),
)
def test_stored_programs(case: tuple[str, str]) -> None:
    name, level = case
    program: StoredProgram = next(each for each in stored_programs() if each.name == name)
    path: Path = program.stablehlo
    outputs = lowerings.compile(path, backend="interpreter", level=level)(*program.inputs())
    for output, theirs in zip(outputs, program.outputs(), strict=True):
        assert largest_relative_error(output, theirs) <= DEFAULT_TOLERANCE
