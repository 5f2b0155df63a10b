"""What counts as the same, and how many floats lie between two."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.runtime.comparison import (
    INFINITELY_FAR,
    Exactly,
    Within,
    WithinUlps,
    compare,
    ulps_between,
)
from xla_dialect.types import ELEMENT_TYPES, ElementClass

FLOATS = [row for row in ELEMENT_TYPES if row.element_class == ElementClass.FLOAT]
SMALL = [row for row in FLOATS if row.bits <= 8]
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize("row", SMALL, ids=lambda row: row.name)
def test_distance_in_small_formats_counts_the_values_between(row) -> None:
    """Every pair of codes, against the position of the value among all values."""
    codes = np.arange(1 << row.bits, dtype=np.uint8).view(numpy_dtype(row.type))
    wide = codes.astype(np.float64)
    finite = np.isfinite(wide)
    positions = {value: i for i, value in enumerate(sorted({0.0 + v for v in wide[finite]}))}
    for i, left in enumerate(wide):
        found = ulps_between(np.full_like(codes, codes[i]), codes)
        for right, distance in zip(wide, found, strict=True):
            if np.isfinite(left) and np.isfinite(right):
                assert distance == abs(positions[0.0 + left] - positions[0.0 + right])
            elif left == right or (np.isnan(left) and np.isnan(right)):
                assert distance == 0
            else:
                assert distance == INFINITELY_FAR


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(0, 40))
def test_distance_in_f32_counts_steps(start: float, steps: int) -> None:
    first, zero = np.array(start, np.float32), np.array(0, np.float32)
    value = first
    for _ in range(steps):
        value = np.asarray(np.nextafter(value, zero))
    expected = min(steps, int(ulps_between(first, zero)))
    assert ulps_between(first, value) == expected
    assert ulps_between(value, first) == expected


@pytest.mark.parametrize(
    ("dtype", "values", "distance"),
    [
        (np.float64, (5e-324, -5e-324), 2),
        (np.float64, (0.0, -0.0), 0),
        (np.float64, (np.finfo(np.float64).max, np.finfo(np.float64).min), 0xFFDFFFFFFFFFFFFE),
        (np.float32, (1.0, 1.0 + 2**-23), 1),
        (np.float32, (INF, np.finfo(np.float32).max), INFINITELY_FAR),
        (np.float32, (INF, -INF), INFINITELY_FAR),
        (np.float32, (NAN, 0.0), INFINITELY_FAR),
        (np.float16, (1.0, 2.0), 1024),
        (ml_dtypes.bfloat16, (1.0, -1.0), 2 * 0x3F80),
        (np.complex64, (complex(1, 2), complex(1, 1)), 1 << 23),
        (np.complex128, (complex(NAN, 0), complex(NAN, 5e-324)), 1),
    ],
)
def test_distances(dtype, values, distance: int) -> None:
    actual, expected = np.array(values, dtype)
    assert int(ulps_between(np.asarray(actual), np.asarray(expected))) == distance


@pytest.mark.parametrize(
    ("criterion", "actual", "expected", "holds"),
    [
        (Exactly(), -0.0, 0.0, True),
        (Exactly(), NAN, -NAN, True),
        (Exactly(), NAN, 1.0, False),
        (Exactly(), INF, -INF, False),
        (Exactly(), complex(NAN, 1), complex(NAN, 1), True),
        (Exactly(), complex(NAN, 1), complex(1, NAN), False),
        (Exactly(), 1.0, 1.0 + 2**-52, False),
        (Within(0.5), 1.0, 1.5, True),
        (Within(0.5), 1.0, 1.5000001, False),
        (Within(0.5), -0.25, 0.25, True),
        (Within(0.5), INF, INF, True),
        (Within(INF), INF, -INF, False),
        (Within(1e9), INF, 1.0, False),
        (Within(1e9), NAN, NAN, True),
        (Within(1e9), NAN, 1.0, False),
        (Within(0.5), complex(1, 1), complex(1.5, 0.5), True),
        (Within(0.5), complex(1, 1), complex(1, 2), False),
        (WithinUlps(0), 0.0, -0.0, True),
        (WithinUlps(1), 1.0, 1.0 + 2**-52, True),
        (WithinUlps(0), 1.0, 1.0 + 2**-52, False),
        (WithinUlps(3, 1), 1.0, 1.0, False),
        (WithinUlps(3, 1), 1.0, 1.0 + 2**-51, True),
        (WithinUlps(2**64 - 1), NAN, 1.0, True),
        (WithinUlps(2**64 - 2), NAN, 1.0, False),
    ],
)
def test_criteria(criterion, actual, expected, holds: bool) -> None:
    dtype = np.complex128 if isinstance(actual, complex) else np.float64
    fault = compare(np.array(actual, dtype), np.array(expected, dtype), criterion)
    assert (fault is None) == holds, fault


def test_messages_name_the_first_element_and_its_error() -> None:
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    actual = expected.copy()
    actual[1, 1:] = (4.5, NAN)
    assert compare(actual, expected, Exactly()) == (
        "2 of 6 elements differ, the first at [1, 1]: 4.5, expected 4.0 (error 1048576 ULP)"
    )
    assert compare(actual, expected, Within(0.5)) == (
        "1 of 6 elements differ by more than 0.5, the first at [1, 2]: nan, expected 5.0 "
        "(no finite error)"
    )
    assert compare(actual, expected, WithinUlps(7, 2)) == (
        "6 of 6 elements do not differ by 2 to 7 ULP, the first at [0, 0]: 0.0, expected 0.0 "
        "(error 0 ULP)"
    )
    assert compare(np.array(True), np.array(False), Exactly()) == (
        "1 of 1 elements differ, the first at []: true, expected false"
    )
    low, high = (np.array([n], ml_dtypes.int4) for n in (-8, 7))
    assert compare(low, high, Exactly()) == (
        "1 of 1 elements differ, the first at [0]: -8, expected 7"
    )
    assert compare(np.zeros(3), np.zeros(4), Exactly()) == "shape [3], expected [4]"


def test_nothing_is_wrong_with_no_elements() -> None:
    for criterion in (Exactly(), Within(0.0), WithinUlps(3, 3)):
        assert compare(np.zeros((0, 4)), np.zeros((0, 4)), criterion) is None
