"""Worked examples of sort and topk, comparators of every sort, and random arrays beside XLA."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, of_jax, on_reference, on_xla, program, relation, spelled
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.analysis.computations import sort_keys
from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.sorting import SortOp
from xla_dialect.reference.sorting import merge_sorted_order
from xla_dialect.types import BY_NAME, ElementClass

if has_jax():
    import jax
    from jax import lax

NAN, INF = np.nan, np.inf


def with_minus_nan(values: list[float], place: int) -> np.ndarray:
    """f32 numbers, the one at `place` a NaN with its sign set."""
    array = numbers("f32", values)
    array.view(np.uint32)[place] |= np.uint32(1 << 31)
    return array


TOTAL = with_minus_nan([3, NAN, -0.0, 0, -INF, NAN, 1, INF, -0.0], 5)
ASCENDING = with_minus_nan([NAN, -INF, -0.0, -0.0, 0, 1, 3, INF, NAN], 0)


def bits_equal(found: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> None:
    """The same arrays, signs of NaNs included."""
    same(found, expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.tobytes() == theirs.tobytes()


LESS_OF_FIRST = """less {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] parameter(4)
  f = f32[] parameter(5)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""
THREE: Operands = {
    "a": numbers("s32", [3, 1]),
    "b": numbers("s32", [42, 50]),
    "c": numbers("f32", [-3.0, 1.1]),
}
FLOATS: Operands = {"x": TOTAL}

SORT = [
    pytest.param(
        program(
            "(s32[2], s32[2], f32[2]) sort(a, b, c), dimensions={0}, is_stable=true, to_apply=less",
            THREE,
            LESS_OF_FIRST,
        ),
        THREE,
        (numbers("s32", [1, 3]), numbers("s32", [50, 42]), numbers("f32", [1.1, -3.0])),
        id="example 1",
    ),
    pytest.param(
        program(
            "f32[9] sort(x), dimensions={0}, is_stable=true, to_apply=lt",
            FLOATS,
            relation("LT", order="TOTALORDER"),
        ),
        FLOATS,
        (ASCENDING,),
        id="example 2",
    ),
]


def topk(label: str, x: np.ndarray, k: int, largest: bool, values: Any, indices: Any) -> Any:
    operands = {"x": x}
    results = (np.asarray(values, x.dtype), numbers("s32", indices))
    text = f"({spelled(results[0])}, {spelled(results[1])}) topk(x), k={k}"
    if not largest:
        text += ", largest=false"
    return pytest.param(program(text, operands), operands, results, id=f"TopK.{label}")


SMALL = numbers("f32", [3, 1, 3, 2])
TOPK = [
    topk("largest", SMALL, 2, True, [3, 3], [0, 2]),
    topk("smallest", SMALL, 2, False, [1, 2], [1, 3]),
    topk("largest", TOTAL, 9, True, ASCENDING[::-1], [1, 7, 0, 6, 3, 2, 8, 4, 5]),
    topk("smallest", TOTAL, 9, False, ASCENDING, [5, 4, 2, 8, 3, 6, 0, 7, 1]),
    topk("unsigned", numbers("u8", [255, 0, 7]), 3, True, [255, 7, 0], [0, 2, 1]),
    topk("none", SMALL, 0, True, [], []),
    topk("rows", numbers("s8", [[-128, 127], [5, 5]]), 1, True, [[127], [5]], [[1], [0]]),
]


@pytest.mark.parametrize(("text", "operands", "expected"), [*SORT, *TOPK])
def test_examples(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    bits_equal(on_reference(text, operands), expected)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), [*SORT, *TOPK])
def test_examples_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    bits_equal(on_xla(text, operands), expected)


def comparator(text: str) -> Any:
    """The comparator of a sort of two s32 arrays, as a region; `text` defines `r` of a, b, c, d."""
    parameters = "".join(f"  {n} = s32[] parameter({i})\n" for i, n in enumerate("abcd"))
    before = f"f {{\n{parameters}{text}\n}}\n"
    operands = {"x": numbers("s32", [0]), "y": numbers("s32", [0])}
    module = read_hlo(
        program("(s32[1], s32[1]) sort(x, y), dimensions={0}, to_apply=f", operands, before)
    )
    (sort,) = [op for op in module.walk() if isinstance(op, SortOp)]
    return sort


@pytest.mark.parametrize(
    ("text", "count"),
    [
        pytest.param("  ROOT r = pred[] compare(a, b), direction=LT", 1, id="less"),
        pytest.param("  ROOT r = pred[] compare(b, a), direction=GT", 1, id="less, mirrored"),
        pytest.param("  ROOT r = pred[] compare(d, c), direction=LT", 1, id="greater of second"),
        pytest.param(
            "  e = s32[] negate(a)\n  f = s32[] negate(b)\n"
            "  ROOT r = pred[] compare(e, f), direction=LT",
            1,
            id="of a function",
        ),
        pytest.param(
            "  l = pred[] compare(a, b), direction=LT\n  e = pred[] compare(b, a), direction=EQ\n"
            "  m = pred[] compare(c, d), direction=GT\n  n = pred[] and(m, e)\n"
            "  ROOT r = pred[] or(n, l)",
            2,
            id="lexicographic",
        ),
        pytest.param("  ROOT r = pred[] compare(a, b), direction=LE", None, id="less or equal"),
        pytest.param("  ROOT r = pred[] compare(a, c), direction=LT", None, id="one place"),
        pytest.param("  ROOT r = pred[] compare(a, d), direction=LT", None, id="not the same"),
        pytest.param(
            "  e = s32[] negate(a)\n  ROOT r = pred[] compare(e, b), direction=LT",
            None,
            id="different functions",
        ),
        pytest.param(
            "  e = s32[] add(a, b)\n  f = s32[] add(b, a)\n"
            "  ROOT r = pred[] compare(e, f), direction=LT",
            None,
            id="both places",
        ),
        pytest.param(
            "  l = pred[] compare(a, b), direction=LT\n  e = pred[] compare(c, d), direction=EQ\n"
            "  m = pred[] compare(c, d), direction=LT\n  n = pred[] and(m, e)\n"
            "  ROOT r = pred[] or(n, l)",
            None,
            id="equality of something else",
        ),
    ],
)
def test_recognized_comparators(text: str, count: int | None):
    found = sort_keys(comparator(text).to_apply)
    assert (None if found is None else len(found)) == count


def sorted_pairs(text: str, x: np.ndarray, y: np.ndarray) -> Any:
    parameters = "".join(f"  {n} = s32[] parameter({i})\n" for i, n in enumerate("abcd"))
    operands = {"x": x, "y": y}
    type_ = spelled(x)
    return on_reference(
        program(
            f"({type_}, {type_}) sort(x, y), dimensions={{0}}, to_apply=f",
            operands,
            f"f {{\n{parameters}{text}\n}}\n",
        ),
        operands,
    )


COMPARATORS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "less": ("  ROOT r = pred[] compare(a, b), direction=LT", lambda p, q: p[0] < q[0]),
    "greater": ("  ROOT r = pred[] compare(b, a), direction=LT", lambda p, q: p[0] > q[0]),
    "lexicographic": (
        "  l = pred[] compare(c, d), direction=GT\n  e = pred[] compare(c, d), direction=EQ\n"
        "  m = pred[] compare(a, b), direction=LT\n  n = pred[] and(e, m)\n"
        "  ROOT r = pred[] or(l, n)",
        lambda p, q: (-p[1], p[0]) < (-q[1], q[0]),
    ),
    "by sum": (
        "  e = s32[] add(a, c)\n  f = s32[] add(b, d)\n"
        "  ROOT r = pred[] compare(e, f), direction=GT",
        lambda p, q: p[0] + p[1] > q[0] + q[1],
    ),
    "not recognized": (
        "  l = pred[] compare(a, b), direction=GE\n  ROOT r = pred[] not(l)",
        lambda p, q: p[0] < q[0],
    ),
    "not elementwise": (
        "  e = s32[] while(a), condition=test, body=step\n"
        "  f = s32[] while(b), condition=test, body=step\n"
        "  ROOT r = pred[] compare(e, f), direction=LT",
        lambda p, q: max(p[0], 0) < max(q[0], 0),
    ),
}
LOOP = """test {
  x = s32[] parameter(0)
  n = s32[] constant(0)
  ROOT p = pred[] compare(x, n), direction=LT
}
step {
  x = s32[] parameter(0)
  n = s32[] constant(1)
  ROOT y = s32[] add(x, n)
}
"""


@pytest.mark.parametrize("name", COMPARATORS)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=20))
def test_comparators(name: str, pairs: list[tuple[int, int]]):
    """Stable, for any strict weak order: as Python sorts by the same order."""
    text, before = COMPARATORS[name]
    parameters = "".join(f"  {n} = s32[] parameter({i})\n" for i, n in enumerate("abcd"))
    x, y = (numbers("s32", [pair[k] for pair in pairs]) for k in range(2))
    operands = {"x": x, "y": y}
    found = on_reference(
        program(
            f"({spelled(x)}, {spelled(y)}) sort(x, y), dimensions={{0}}, to_apply=f",
            operands,
            f"{LOOP}f {{\n{parameters}{text}\n}}\n",
        ),
        operands,
    )
    expected = sorted(
        pairs, key=functools.cmp_to_key(lambda p, q: int(before(q, p)) - int(before(p, q)))
    )
    assert list(zip(*(array.tolist() for array in found), strict=True)) == expected


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 3))
def test_merge_sort(keys: list[int], lines: int):
    values = np.array([np.roll(keys, i) for i in range(lines)])
    order = merge_sorted_order(lambda a, b: (a < b,), [values])
    np.testing.assert_array_equal(order, np.argsort(values, axis=1, kind="stable"))


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_inconsistent_comparators_permute(count: int, seed: int):
    """Whatever a comparator says, no element is lost."""
    random = np.random.default_rng(seed)
    order = merge_sorted_order(
        lambda a, b: (random.integers(0, 2, np.broadcast(a, b).shape) > 0,),
        [np.zeros((2, count))],
    )
    np.testing.assert_array_equal(np.sort(order, axis=1), [range(count)] * 2)


def test_large_sort_is_quick():
    """A comparator that is not recognized is asked for many pairs at once."""
    x = numbers("s32", np.random.default_rng(0).integers(-1000, 1000, 1 << 15))
    found, _ = sorted_pairs(COMPARATORS["not recognized"][0], x, x)
    np.testing.assert_array_equal(found, np.sort(x))


def test_sizes():
    """Scalars are no lines; empty lines and empty batches are."""
    for sizes in ((0,), (0, 3), (3, 0), (1, 1), (1,)):
        operands = {"x": np.zeros(sizes, np.float32)}
        text = program(
            f"{spelled(operands['x'])} sort(x), dimensions={{0}}, to_apply=lt",
            operands,
            relation("LT"),
        )
        same(on_reference(text, operands), (operands["x"],))


REAL = [
    row.name
    for row in BY_NAME.values()
    if row.element_class & (ElementClass.INTEGER | ElementClass.FLOAT)
]


@pytest.mark.parametrize("name", each_or_full(REAL, ("s4", "u8", "f8e4m3fnuz", "bf16", "f64")))
def test_every_type(name: str):
    """All bit patterns of narrow types: sort and topk agree with the order of the values."""
    dtype = numpy_dtype(BY_NAME[name].type)
    codes = np.arange(1 << min(BY_NAME[name].bits, 10)).astype(f"u{dtype.itemsize}")
    x = np.random.default_rng(0).permutation(codes).view(dtype)
    if BY_NAME[name].bits < 8 and BY_NAME[name].element_class == ElementClass.SIGNED:
        x = x.view(np.int8).astype(dtype)
    operands = {"x": x}
    order = ", type=TOTALORDER" if BY_NAME[name].element_class == ElementClass.FLOAT else ""
    found = on_reference(
        program(
            (
                f"{spelled(x)} sort(x), dimensions={{0}}, to_apply=lt",
                f"({spelled(x)}, s32[{x.size}]) topk(x), k={x.size}, largest=false",
            ),
            operands,
            f"lt {{\n  a = {name}[] parameter(0)\n  b = {name}[] parameter(1)\n"
            f"  ROOT c = pred[] compare(a, b), direction=LT{order}\n}}\n",
        ),
        operands,
    )
    assert found[0].tobytes() == found[1].tobytes() == x[found[2]].tobytes()
    with np.errstate(invalid="ignore"):
        wide = found[0].astype(np.float64)
    assert np.all(np.diff(wide[np.isfinite(wide)]) >= 0)


def jax_sorts(x: Any, n: Any) -> Any:
    return (
        lax.sort(x, dimension=0),
        lax.sort(x, dimension=1),
        *lax.sort_key_val(x, n, dimension=1),
        *lax.sort((n, x), dimension=0, num_keys=2),
        jax.numpy.argsort(-x, axis=0),
        *lax.top_k(x, 3),
        jax.numpy.median(x),
    )


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(("s8", "u32", "bf16", "f32", "f64"), ("f32",)))
def test_jax_programs(name: str):
    """What JAX makes of its sorts: comparators that clean zeros and NaNs, several keys."""
    random = np.random.default_rng(5)
    x = numbers(name, random.integers(-3 if name[0] != "u" else 0, 4, (6, 7)))
    if BY_NAME[name].element_class == ElementClass.FLOAT:
        x[::2, 1::3] = [[-0.0, NAN]]
    n = numbers("s32", random.integers(0, 3, (6, 7)))
    same(*of_jax(jax_sorts, x, n))
