"""Programs whose loops look whether they are to end: what they compute is the same."""

import numpy as np
import pytest
from numpy.typing import NDArray

import lowerings
from lowerings.targets.llvm import guards

COUNTED = """HloModule counted
body {
  s = (s32[], f32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  n = s32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  half = f32[] constant(0.5)
  f = f32[] convert(i)
  y = f32[] multiply(x, half)
  z = f32[] add(y, f)
  ROOT t = (s32[], f32[], s32[]) tuple(j, z, n)
}
cond {
  s = (s32[], f32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=2
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY main {
  n = s32[] parameter(0)
  zero = s32[] constant(0)
  x = f32[] constant(1)
  t = (s32[], f32[], s32[]) tuple(zero, x, n)
  w = (s32[], f32[], s32[]) while(t), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(w), index=1
}
"""


def counted(number: int) -> float:
    x = 1.0
    for i in range(number):
        x = x * 0.5 + i
    return x


def dot(m: int, k: int, n: int) -> str:
    return (
        f"ENTRY main {{ a = f32[{m},{k}] parameter(0) b = f32[{k},{n}] parameter(1) "
        f"c = f32[{m},{n}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} "
        f"ROOT s = f32[{n},{m}] transpose(c), dimensions={{1,0}} }}"
    )


def total(rows: int, columns: int) -> str:
    return (
        "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) } "
        f"ENTRY main {{ a = f32[{rows},{columns}] parameter(0) zero = f32[] constant(0) "
        f"e = f32[{rows},{columns}] exponential(a) "
        f"ROOT r = f32[{columns}] reduce(e, zero), dimensions={{0}}, to_apply=add }}"
    )


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What takes a handful of steps is long."""
    long, grain = request.param
    monkeypatch.setattr(guards, "LONG", long)
    monkeypatch.setattr(guards, "GRAIN", grain)


FINENESS = pytest.mark.parametrize(
    "looks_often", [(4, 2), (64, 16), (256, 200), (4096, 512)], indirect=True
)


@FINENESS
@pytest.mark.parametrize("number", [0, 1, 7, 64, 100])
def test_loops_of_unknown_length(number: int) -> None:
    (found,) = lowerings.compile(COUNTED)(np.int32(number))
    np.testing.assert_allclose(found, counted(number), 1e-6)


def numbers(*sizes: int) -> NDArray[np.float32]:
    return np.random.default_rng(3).normal(size=sizes).astype(np.float32)


@FINENESS
@pytest.mark.parametrize("sizes", [(1, 1, 1), (17, 33, 45), (64, 64, 64), (3, 200, 130)])
def test_contractions(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    a, b = numbers(m, k), numbers(k, n)
    (found,) = lowerings.compile(dot(*sizes))(a, b)
    np.testing.assert_allclose(found, (a.astype(float) @ b).T, 1e-4, 1e-4)


@FINENESS
@pytest.mark.parametrize("sizes", [(1, 1), (33, 17), (128, 64), (3, 1000)])
def test_reductions(sizes: tuple[int, int]) -> None:
    a = numbers(*sizes)
    (found,) = lowerings.compile(total(*sizes))(a)
    np.testing.assert_allclose(found, np.exp(a.astype(float)).sum(0), 1e-5)
