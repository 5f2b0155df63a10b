"""The levels below xla, interpreted, compute what the reference does: the stored programs."""

import pytest
from sweeps import combinations

import lowerings
from lowerings.compilation import INTERPRETED_LEVELS
from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import StoredProgram, stored_programs


@pytest.mark.parametrize(
    ("program", "level"), combinations(stored_programs(), INTERPRETED_LEVELS, step=2), ids=repr
)
def test_stored_programs(program: StoredProgram, level: str) -> None:
    compiled = lowerings.compile(program.stablehlo, backend="interpreter", level=level)
    outputs = compiled(*program.inputs())
    for output, theirs in zip(outputs, program.outputs(), strict=True):
        assert largest_relative_error(output, theirs) <= DEFAULT_TOLERANCE
