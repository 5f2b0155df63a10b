"""The stored programs are what their script makes."""

import runpy

import numpy as np
import pytest

from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import PROGRAMS_FOLDER, StoredProgram, stored_programs


@pytest.mark.jax
def test_programs_are_what_the_script_makes() -> None:
    """The same numbers come out of the generator, and out of the JAX that is installed."""
    makers = runpy.run_path(str(PROGRAMS_FOLDER / "make_programs.py"))
    stored = stored_programs()
    assert [program.name for program in makers["PROGRAMS"]] == [program.name for program in stored]
    for maker, program in zip(makers["PROGRAMS"], stored, strict=True):
        inputs, _, _, outputs = makers["evaluate"](maker)
        for mine, theirs in zip(program.inputs(), inputs, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for mine, theirs in zip(program.outputs(), outputs, strict=True):
            assert largest_relative_error(mine, theirs) <= DEFAULT_TOLERANCE


@pytest.mark.parametrize("program", stored_programs(), ids=lambda program: program.name)
def test_all_files_exist(program: StoredProgram) -> None:
    for path in (program.hlo, program.stablehlo, program.optimized_hlo):
        assert path.stat().st_size > 0
    assert len(program.inputs()) > 0
    assert len(program.outputs()) > 0
