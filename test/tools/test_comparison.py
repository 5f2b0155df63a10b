"""Comparing results tells right from wrong, whatever the element type."""

import numpy as np
import pytest

from tools.comparison import UnexpectedResult, largest_relative_error

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
    with pytest.raises(UnexpectedResult, match=r"expected float32\[2\]"):
        largest_relative_error(actual, np.zeros(2, np.float32))
