"""The stored programs are what their script makes, and the comparison tells right from wrong."""

import runpy

import numpy as np
import pytest

from tools.stored_programs import (
    PROGRAMS_FOLDER,
    StoredProgram,
    largest_relative_error,
    stored_programs,
)

NAN, INF = np.nan, np.inf


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("actual", "expected", "error"),
    [
        (floats(1.0, -4.0), floats(1.0, -4.0), 0.0),
        (floats(1.0, -3.0), floats(1.0, -4.0), 0.25),
        (floats(NAN, INF, -INF), floats(NAN, INF, -INF), 0.0),
        (floats(NAN, 1.0), floats(1.0, 1.0), INF),
        (floats(1.0, 1.0), floats(NAN, 1.0), INF),
        (floats(INF), floats(-INF), INF),
        (floats(INF), floats(1.0), INF),
        (floats(0.0), floats(-0.0), 0.0),
        (floats(1e-30), floats(0.0), INF),
        (floats(), floats(), 0.0),
        (np.array([3 + 4j]), np.array([3 + 0j]), 4 / 3),
        (np.array([1, 2], np.int32), np.array([1, 2], np.int32), 0.0),
        (np.array([1, 2], np.int32), np.array([1, 3], np.int32), INF),
        (np.array(True), np.array(False), INF),
    ],
)
def test_largest_relative_error(actual: np.ndarray, expected: np.ndarray, error: float) -> None:
    assert largest_relative_error(actual, expected) == pytest.approx(error)


@pytest.mark.parametrize("actual", [np.zeros(2, np.float64), np.zeros((1, 2), np.float32)])
def test_other_types_and_shapes_do_not_compare(actual: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"expected float32\[2\], got float"):
        largest_relative_error(actual, np.zeros(2, np.float32))


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
            assert largest_relative_error(mine, theirs) <= 1e-5


@pytest.mark.parametrize("program", stored_programs(), ids=lambda program: program.name)
def test_all_files_exist(program: StoredProgram) -> None:
    for path in (program.hlo, program.stablehlo, program.optimized_hlo):
        assert path.stat().st_size > 0
    assert len(program.inputs()) > 0
    assert len(program.outputs()) > 0
