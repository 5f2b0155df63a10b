"""Functions that calls, branches and loops share: text and machine code have them once."""

import numpy as np
import pytest

import lowerings
from xla_dialect.hlo_text import print_hlo, read_hlo

ADD = """
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""
CONDITION = """
more { p = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT }
"""
STEP = {
    "conditional": """{{ p = f32[2,3]{{0,1}} parameter(0)
  zero = f32[] constant(0)
  sum = f32[] reduce(p, zero), dimensions={{0,1}}, to_apply=add
  is_positive = pred[] compare(sum, zero), direction=GT
  less = f32[2,3]{{1,0}} negate(p)
  same = f32[2,3]{{0,1}} copy(less)
  ROOT r = f32[2,3]{{0,1}} conditional(is_positive, same, p), true_computation={0}, false_computation={0} }}""",
    "while": """{{ p = (s32[], f32[2,3]{{0,1}}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2,3]{{0,1}} get-tuple-element(p), index=1
  one = s32[] constant(1)
  from = (s32[], f32[2,3]{{0,1}}) tuple(one, x)
  once = (s32[], f32[2,3]{{0,1}}) while(from), condition=more, body={0}
  y = f32[2,3]{{0,1}} get-tuple-element(once), index=1
  again = (s32[], f32[2,3]{{0,1}}) tuple(one, y)
  twice = (s32[], f32[2,3]{{0,1}}) while(again), condition=more, body={0}
  z = f32[2,3]{{0,1}} get-tuple-element(twice), index=1
  half = f32[] constant(0.5)
  halves = f32[2,3]{{0,1}} broadcast(half), dimensions={{}}
  w = f32[2,3]{{0,1}} multiply(z, halves)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[2,3]{{0,1}}) tuple(next, w) }}""",
    "call": """{{ p = f32[2,3]{{0,1}} parameter(0)
  less = f32[2,3]{{0,1}} call(p), to_apply={0}
  more = f32[2,3]{{1,0}} negate(less)
  t = f32[3,2]{{0,1}} transpose(more), dimensions={{1,0}}
  u = f32[2,3]{{0,1}} transpose(t), dimensions={{1,0}}
  ROOT r = f32[2,3]{{0,1}} call(u), to_apply={0} }}""",
}
LAST = {
    "conditional": "{ p = f32[2,3]{0,1} parameter(0)\n  ROOT r = f32[2,3]{0,1} add(p, p) }",
    "while": """{ p = (s32[], f32[2,3]{0,1}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[2,3]{0,1} get-tuple-element(p), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[2,3]{0,1} add(x, x)
  ROOT r = (s32[], f32[2,3]{0,1}) tuple(next, y) }""",
    "call": "{ p = f32[2,3]{0,1} parameter(0)\n  ROOT r = f32[2,3]{0,1} abs(p) }",
}
MAIN = {
    "conditional": """yes = pred[] constant(true)
  ROOT r = f32[2,3]{0,1} conditional(yes, x, x), true_computation=f0, false_computation=f0""",
    "while": """one = s32[] constant(1)
  from = (s32[], f32[2,3]{0,1}) tuple(one, x)
  once = (s32[], f32[2,3]{0,1}) while(from), condition=more, body=f0
  ROOT r = f32[2,3]{0,1} get-tuple-element(once), index=1""",
    "call": "ROOT r = f32[2,3]{0,1} call(x), to_apply=f0",
}


def program(kind: str, depth: int) -> str:
    """Functions each of which runs the next one twice: 2**depth times the last one."""
    steps = [f"f{i} " + STEP[kind].format(f"f{i + 1}") for i in reversed(range(depth))]
    main = f"ENTRY main {{ x = f32[2,3]{{0,1}} parameter(0)\n  {MAIN[kind]} }}"
    return "\n".join(["HloModule m", ADD, CONDITION, f"f{depth} {LAST[kind]}", *steps, main])


@pytest.mark.parametrize("kind", STEP)
def test_text_is_kept(kind: str):
    text = print_hlo(read_hlo(program(kind, 24)))
    assert len(text) < 2 * len(program(kind, 24))
    assert print_hlo(read_hlo(text)) == text


@pytest.mark.parametrize("kind", STEP)
@pytest.mark.parametrize("backend", ["llvm", "interpreter"])
def test_results_are_those_of_the_reference(kind: str, backend: str):
    text = program(kind, 10 if kind == "while" else 11)
    x = np.array([[1, -2, 3], [0.5, -0.25, 7]], np.float32) * np.float32(2.0**-20)
    (wanted,) = lowerings.compile(text, backend="reference")(x)
    (found,) = lowerings.compile(text, backend=backend)(x)
    np.testing.assert_array_equal(found, wanted)
    assert np.isfinite(wanted).all()
    assert wanted.any()


@pytest.mark.parametrize("kind", STEP)
def test_what_runs_twice_is_compiled_once(kind: str):
    """Copies would be half a million operations, more than the limit of a module."""
    lowerings.compile(program(kind, 16))


def test_thousands_of_dimensions():
    """Nothing looks at every pair of dimensions, which takes minutes."""
    type_ = f"f32[{'1,' * 6000}2,3]"
    text = (
        f"HloModule m\nENTRY main {{ p = f32[6] parameter(0)\n x = {type_} reshape(p)\n "
        f"y = {type_} add(x, x)\n ROOT z = f32[6] reshape(y) }}"
    )
    assert lowerings.compile(text).signature.results[0].shape == (6,)
