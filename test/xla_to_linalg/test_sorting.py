"""Sorts on the tensors level and as machine code, against the reference."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers import has_jax
from small_programs import computation, constant, numbers, same
from sweeps import each_or_full, few_examples
from tensors_level import check, check_natively, lower, module_of, natively
from window_programs import random_numbers

import lowerings
from lowerings.ir.functions import functions_of
from lowerings.xla_to_linalg.sorting.network import SortingNetwork
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import SliceOp
from xla_dialect.ops.elementwise import AndOp, CompareOp, NegateOp, OrOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

AnyArray = np.ndarray[Any, np.dtype[Any]]
Comparator = Callable[..., XlaOp]
REAL = ElementClass.INTEGER | ElementClass.FLOAT | ElementClass.PRED


def sort(names: Sequence[str], comparator: Comparator, dimension: int = 0) -> Callable[..., XlaOp]:
    """Builds a sort of operands of these element types."""
    pairs = [array(BY_NAME[name].type, ()) for name in names for _ in range(2)]

    def build(*values: Any) -> XlaOp:
        regions = [computation(pairs, comparator)]
        return SortOp(values, dimension=dimension, is_stable=True, regions=regions)

    return build


def check_sort(build: Callable[..., XlaOp], *arguments: AnyArray) -> None:
    check(build, *arguments)
    check_natively(build, *arguments)


def less(a: Any, b: Any, *_others: Any) -> CompareOp:
    return CompareOp(a, b, direction="LT")


def greater(a: Any, b: Any, *_others: Any) -> CompareOp:
    return CompareOp(a, b, direction="GT")


def total(a: Any, b: Any, *_others: Any) -> XlaOp:
    return CompareOp(a, b, direction="LT", comparison_type="TOTALORDER")


def negated(a: Any, b: Any, *_others: Any) -> XlaOp:
    return CompareOp(NegateOp(a).result, NegateOp(b).result, direction="LT")


def lexicographic(a: Any, b: Any, c: Any, d: Any, *_others: Any) -> XlaOp:
    """By the second operand, then descending by the first."""
    same = CompareOp(c, d, direction="EQ")
    return OrOp(less(c, d).result, AndOp(same.result, greater(a, b).result).result)


def odd_numbers_last(a: Any, b: Any, *_others: Any) -> XlaOp:
    """No comparison of one function of both places: only merging can follow it."""
    one = constant("s32", 1).results[0]
    odd = [AndOp(x, one).result for x in (a, b)]
    both = CompareOp(*odd, direction="EQ").result
    first = CompareOp(*odd, direction="LT").result
    return OrOp(AndOp(less(a, b).result, both).result, AndOp(first, first).result)


def every(*_places: Any) -> XlaOp:
    """Not an order: each comes before each."""
    return constant("pred", True)


def any_bits(name: str, length: int) -> AnyArray:
    """Elements of any bits, NaN and zeros of both signs among them."""
    row = BY_NAME[name]
    dtype = numpy_dtype(row.type)
    random = np.random.default_rng(length)
    if row.bits < 8:
        low = -(1 << (row.bits - 1)) if row.element_class == ElementClass.SIGNED else 0
        return random.integers(low, low + (1 << row.bits), length).astype(dtype)
    if name == "pred":
        return random.integers(0, 2, length).astype(dtype)
    x = random.integers(0, 256, length * dtype.itemsize).astype(np.uint8).view(dtype)
    if row.element_class == ElementClass.FLOAT:
        x[:4] = np.array([np.nan, 0.0, -0.0, np.inf]).astype(dtype)
    return x


@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from([0, 1, 2, 3, 7, 40]),
    st.sampled_from([less, greater, negated, lexicographic, odd_numbers_last]),
    st.data(),
)
def test_any_dimension(
    batch: list[int], length: int, comparator: Comparator, data: st.DataObject
) -> None:
    """Lines short and long; what is equal stays in order, which the last operand shows."""
    dimension = data.draw(st.integers(0, len(batch)))
    sizes = [*batch[:dimension], length, *batch[dimension:]]
    seed = data.draw(st.integers(0, 99))
    count = int(np.prod(sizes))
    check_sort(
        sort(["s32", "s32", "s32"], comparator, dimension),
        random_numbers(seed, "s32", sizes),
        random_numbers(seed + 1, "s32", sizes),
        numbers("s32", np.arange(count).reshape(sizes)),
    )


@pytest.mark.parametrize(
    "name",
    each_or_full(
        (e.name for e in ELEMENT_TYPES if e.element_class & REAL),
        ("pred", "s4", "u8", "f8e4m3fnuz", "f8e8m0fnu", "bf16", "f32", "s64"),
    ),
)
@pytest.mark.parametrize("length", [5, 100])
def test_every_type(name: str, length: int) -> None:
    """Any bits, NaN and zeros of both signs among them, in the order that the reference has."""
    row, x = BY_NAME[name], any_bits(name, length)
    payload = numbers("s32", np.arange(length))
    build = sort([name, "s32"], greater if length == 5 else less)
    check_natively(build, x, payload)
    if row.element_class == ElementClass.FLOAT:
        check_natively(sort([name, "s32"], total), x, payload)
    if length == 5:
        check(build, x, payload)


def test_no_order() -> None:
    """Whatever a comparator says, each element comes out once."""
    x = numbers("s32", np.arange(1000))
    (found,) = natively(sort(["s32"], every), x)
    same(np.sort(found), x)
    nan = numbers("f32", [np.nan, 1.0] * 20)
    (found,) = natively(sort(["f32"], less), nan)
    assert np.isnan(found).sum() == 20


def test_long_lines() -> None:
    random = np.random.default_rng(0)
    for name in ("f32", "u64", "s16"):
        x = numbers(name, random.integers(0, 1 << 15, (3, 5000)))
        check_natively(sort([name], less, 1), x)
        check_natively(sort([name], greater, 1), x)


@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.sampled_from([1, 3, 40]),
    st.booleans(),
    st.sampled_from(["s32", "u8", "f16"]),
    st.data(),
)
def test_any_topk(
    batch: list[int], length: int, largest: bool, name: str, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, length))
    x = numbers(name, np.random.default_rng(k).integers(0, 5, [*batch, length]))
    check_natively(lambda x: TopkOp(x, k=k, largest=largest), x)
    if length < 40:
        check(lambda x: TopkOp(x, k=k, largest=largest), x)


@pytest.mark.parametrize(
    "name",
    each_or_full(
        (e.name for e in ELEMENT_TYPES if e.element_class & (REAL ^ ElementClass.PRED)),
        ("s2", "u8", "f8e4m3fnuz", "f8e8m0fnu", "f32", "s64"),
    ),
)
def test_topk_of_every_type(name: str) -> None:
    """Any bits, in the total order of floats; the first of equal ones comes first."""
    x = any_bits(name, 1000)
    for k in (300, 7):
        check_natively(lambda x, k=k: TopkOp(x, k=k, largest=True), x)


@pytest.mark.parametrize("length", [96, 2100])
def test_topk_of_blocks(length: int) -> None:
    """The first entries in one block, in all, in what no block has, and equal ones everywhere."""
    x = np.random.default_rng(0).standard_normal((5, length)).astype(np.float32)
    x[1, 40:43] = 100
    x[2, ::16] += 50
    x[3, -3:] = 100
    x[4] = 1
    for largest in (True, False):
        check_natively(lambda x, largest=largest: TopkOp(x, k=3, largest=largest), x)


@pytest.mark.parametrize("name", ["f32", "bf16", "s64", "u8"])
def test_topk_of_many_short_lines(name: str) -> None:
    """They are sorted side by side, without counting digits; of equal ones the first comes first."""
    x = numbers(name, np.random.default_rng(0).integers(0, 5, (8192, 8)))
    for largest in (True, False):

        def build(x: Any, largest: bool = largest) -> XlaOp:
            return TopkOp(x, k=2, largest=largest)

        check_natively(build, x)
        module = module_of(build, [x])
        lower(module)
        assert "x256xi32>" not in str(module)


def test_topk_of_long_lines() -> None:
    """One line whose first digits differ, and one that has only one of them."""
    x = np.random.default_rng(0).standard_normal((2, 20000)).astype(np.float32)
    x[1] = 1 + np.abs(x[1]) / 64
    for k in (1, 500, 20000):
        check_natively(lambda x, k=k: TopkOp(x, k=k, largest=k != 500), x)


@pytest.mark.parametrize("values", [1, 2, 50, 1 << 20])
@pytest.mark.parametrize("name", ["f32", "u16", "s64", "u8"])
def test_topk_of_many_equal(name: str, values: int) -> None:
    """Of equal elements the first come first, however many there are: numpy's stable order."""
    x = numbers(name, np.random.default_rng(values).integers(0, values, (2, 9000)))
    x[1] = np.sort(x[1])
    for k in (1, 100, 4000):
        largest, places = natively(lambda x, k=k: TopkOp(x, k=k, largest=True), x)
        order = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(largest, np.take_along_axis(x, order, 1))


@given(st.data())
def test_first_entries_of_sorts(data: st.DataObject) -> None:
    """What is cut from the start of sorted arrays, beside numpy's stable order."""
    sizes = data.draw(st.lists(st.sampled_from([1, 3, 40, 700]), min_size=1, max_size=2))
    dimension = data.draw(st.integers(0, len(sizes) - 1))
    count = data.draw(st.integers(1, max(1, sizes[dimension] // 3)))
    name = data.draw(st.sampled_from(["f32", "s16", "u8"]))
    order = data.draw(st.sampled_from([less, greater, lexicographic]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = numbers(name, random.integers(0, data.draw(st.sampled_from([3, 120])), sizes))
    y = numbers("s32", random.integers(0, 9, sizes))
    limits = [count if d == dimension else size for d, size in enumerate(sizes)]

    def first(*values: Any) -> list[XlaOp]:
        ordered = sort([name, "s32"], order, dimension)(*values).results
        whole: dict[str, Any] = {
            "start_indices": [0] * len(sizes),
            "strides": [1] * len(sizes),
        }
        return [SliceOp(each, limit_indices=limits, **whole) for each in ordered]

    signed = x.astype(int)
    keys = {less: (signed,), greater: (-signed,), lexicographic: (-signed, y)}[order]
    where = np.lexsort(keys, axis=dimension)
    found = natively(first, x, y)
    for mine, whole in zip(found, (x, y), strict=True):
        expected = np.take_along_axis(whole, where, dimension)
        np.testing.assert_array_equal(mine, expected.take(range(count), dimension))


@few_examples(8)
@given(
    st.sampled_from([1, 2, 5, 17, 70]),
    st.sampled_from([2, 3, 16, 17, 40, 100]),
    st.sampled_from(
        [
            *product(["f32", "bf16", "f8e4m3fnuz", "f64"], [less, greater, total]),
            *product(["s8", "u32", "s4", "pred"], [less, greater]),
        ]
    ),
    st.integers(0, 2),
    st.data(),
)
def test_sorting_networks(
    rows: int, length: int, kind: tuple[str, Comparator], others: int, data: st.DataObject
) -> None:
    """Many rows at once, any bits, of which some differ and count as equal; and what goes along."""
    (name, comparator), dimension = kind, data.draw(st.integers(0, 1))
    sizes = (rows, length) if dimension else (length, rows)
    chosen = any_bits(name, data.draw(st.sampled_from([6, 1000])))
    x = chosen[np.random.default_rng(rows).integers(0, len(chosen), sizes)]
    payload = numbers("s32", np.arange(rows * length).reshape(sizes))
    with patch.object(SortingNetwork, "is_faster", lambda *_: True):
        build = sort([name, *["s32"] * others], comparator, dimension)
        check_natively(build, x, *[payload] * others)


@pytest.mark.parametrize(("rows", "length"), [(1000, 300), (70, 3000), (20000, 5)])
def test_many_rows(rows: int, length: int) -> None:
    """They are sorted in the lanes of vectors, the last ones too; by numpy's stable order."""
    x = np.random.default_rng(0).standard_normal((rows, length)).astype(np.float32)
    x[rows // 2, ::2] = [-0.0, np.nan, 0.0][rows % 3]
    payload = numbers("s32", np.arange(rows * length).reshape(x.shape))
    build = sort(["f32", "s32"], less, 1)
    (found,), (_, places) = natively(sort(["f32"], less, 1), x), natively(build, x, payload)
    same(found, np.sort(x))
    same(places, np.take_along_axis(payload, np.argsort(x, kind="stable"), 1))
    module = module_of(build, (x, payload))
    lower(module)
    assert any("sorting_network" in name for name in functions_of(module))


def random(*sizes: int) -> AnyArray:
    x = np.random.default_rng(len(sizes)).standard_normal(sizes).astype(np.float32)
    x.reshape(-1)[:5] = [np.nan, -0.0, 0.0, -np.inf, np.nan]
    return x


KEYS = np.random.default_rng(9).integers(-3, 4, (6, 50)).astype(np.int32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[AnyArray, ...]]] = {
    "sort": (lambda x: (jnp.sort(x, axis=0), jnp.sort(x), lax.sort(x)), (random(6, 50),)),
    "argsort": (lambda x: (jnp.argsort(x, axis=0), jnp.argsort(-x)), (random(6, 50),)),
    "descending": (lambda x: jnp.sort(x, descending=True), (random(6, 50),)),
    "by key": (lambda k, x: lax.sort_key_val(k, x), (KEYS, random(6, 50))),
    "several keys": (lambda k, x: lax.sort((k, x, k), num_keys=2), (KEYS, random(6, 50))),
    "lexsort": (lambda k, x: jnp.lexsort((x, k)), (KEYS, random(6, 50))),
    "median": (lambda x: jnp.median(x[1:], axis=1), (random(6, 50),)),
    "quantile": (lambda x: jnp.quantile(x[1:], 0.3, axis=0), (random(6, 50),)),
    "searchsorted": (lambda x, v: jnp.searchsorted(jnp.sort(x), v), (KEYS[0], KEYS[1])),
    "searchsorted by sorting": (
        lambda x, v: jnp.searchsorted(jnp.sort(x), v, method="sort"),
        (KEYS[0], KEYS[1]),
    ),
    "unique": (lambda k: jnp.unique(k, size=10, return_counts=True), (KEYS,)),
    "top_k": (lambda x: lax.top_k(x, 7), (random(6, 50),)),
    "booleans": (lambda k: jnp.sort(k > 0), (KEYS,)),
    "complex": (lambda x, y: jnp.sort(x + 1j * y), (KEYS[0], KEYS[1])),
}


@pytest.mark.jax
@pytest.mark.parametrize("name", PROGRAMS)
def test_jax_programs(name: str) -> None:
    function, arguments = PROGRAMS[name]
    found = lowerings.compile(jax.jit(function).lower(*arguments).as_text())(*arguments)
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
        np.testing.assert_array_equal(np.signbit(np.real(mine)), np.signbit(np.real(theirs)))
