"""Values that programs do not expect: with all accesses to memory checked, as on the reference."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import lowerings
from lowerings.compilation import Program

COMPARATORS = {
    "always": "ROOT p = pred[] constant(true)",
    "never": "ROOT p = pred[] constant(false)",
    "less, without an order of NaN": "ROOT p = pred[] compare(a, b), direction=LT",
    "not equal": "ROOT p = pred[] compare(a, b), direction=NE",
    "less or equal": "ROOT p = pred[] compare(a, b), direction=LE",
    "in circles": """three = f32[] constant(3)
  d = f32[] subtract(a, b)
  m = f32[] remainder(d, three)
  one = f32[] constant(1)
  ROOT p = pred[] compare(m, one), direction=EQ""",
}


@cache
def sorting(comparator: str, size: int) -> Program:
    return lowerings.compile(
        f"""HloModule m
before {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  {COMPARATORS[comparator]}
}}
ENTRY main {{
  x = f32[{size}] parameter(0)
  n = s32[{size}] iota(), iota_dimension=0
  ROOT s = (f32[{size}], s32[{size}]) sort(x, n), dimensions={{0}}, to_apply=before
}}
""",
        check_bounds=True,
        time_limit=60,
    )


@pytest.mark.parametrize("size", [0, 1, 2, 37])
@pytest.mark.parametrize("comparator", COMPARATORS)
def test_sorting_permutes_whatever_the_comparator_says(comparator: str, size: int) -> None:
    random = np.random.default_rng(size)
    for _ in range(5):
        x = random.integers(-3, 4, size).astype(np.float32)
        x[random.random(size) < 0.2] = np.nan
        values, places = sorting(comparator, size)(x)
        assert sorted(places.tolist()) == list(range(size))
        np.testing.assert_array_equal(values, x[places])


MOVING = """HloModule m
second {
  a = f32[] parameter(0)
  ROOT b = f32[] parameter(1)
}
ENTRY main {
  x = f32[5,6] parameter(0)
  i = s64[] parameter(1)
  j = s64[] parameter(2)
  at = s64[3,2] parameter(3)
  u = f32[2,3] parameter(4)
  w = f32[3,2,2] parameter(5)
  slice = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}
  updated = f32[5,6] dynamic-update-slice(x, u, i, j)
  gathered = f32[3,2,2] gather(x, at), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,2}
  scattered = f32[5,6] scatter(x, at, w), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=second
  nothing = f32[0,6] slice(x), slice={[5:5], [0:6]}
  ROOT r = (f32[2,3], f32[5,6], f32[3,2,2], f32[5,6], f32[0,6]) tuple(slice, updated, gathered, scattered, nothing)
}
"""


@cache
def moving(backend: str) -> Program:
    return lowerings.compile(MOVING, backend=backend, check_bounds=True)


HOSTILE = st.one_of(
    st.integers(-7, 7),
    st.sampled_from([2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**31), -(2**63), 1 - 2**63]),
)


@given(HOSTILE, HOSTILE, arrays_of.arrays(np.int64, (3, 2), elements=HOSTILE))
def test_places_far_outside(
    i: int, j: int, at: np.ndarray[tuple[int, int], np.dtype[np.int64]]
) -> None:
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    u = -np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    w = np.arange(100, 112, dtype=np.float32).reshape(3, 2, 2)
    arguments = x, np.int64(i), np.int64(j), at, u, w
    expected = moving("reference")(*arguments)
    for mine, theirs in zip(moving("llvm")(*arguments), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
