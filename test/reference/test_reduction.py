"""
Worked examples of reduce; every fold is the left fold in row-major order, bit by bit, and sums of
floats are that of blocks.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import blocks_in_pairs, computation, constant, evaluate, numbers, same
from sweeps import row

from xla_dialect.literals.arrays import element_type_of
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ConditionalOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import (
    AddOp,
    AndOp,
    CompareOp,
    MaximumOp,
    MinimumOp,
    MultiplyOp,
    OrOp,
    SelectOp,
    SubtractOp,
    XorOp,
)
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.reference.reduction import by_position
from xla_dialect.reference.rounding import rounded, widened
from xla_dialect.types import array

NAN, INF = np.nan, np.inf


def reduced(
    operands: Sequence[np.ndarray],
    inits: Sequence[Any],
    dimensions: Sequence[int],
    build: Callable[..., Any],
) -> Any:
    """The reduce of some operands by the computation that `build` gives."""
    count = len(operands)
    types = [array(element_type_of(operand.dtype), ()) for operand in operands]
    region = computation(types * 2, build)
    scalars = [np.array(init, x.dtype) for init, x in zip(inits, operands, strict=True)]
    return evaluate(
        lambda *xs: ReduceOp(xs[:count], xs[count:], dimensions=dimensions, regions=[region]),
        *operands,
        *scalars,
    )


CUBE = numbers("f32", [[[1, 2, 3], [4, 5, 6]]] * 4)
MATRIX = numbers("f32", [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("operand", "init", "dimensions", "op", "expected"),
    [
        pytest.param(numbers("f32", [10, 11, 12, 13]), 0, [0], AddOp, 46, id="example 1"),
        pytest.param(MATRIX, 0, [0], AddOp, [5, 7, 9], id="example 2"),
        pytest.param(MATRIX, 0, [1], AddOp, [6, 15], id="example 2"),
        pytest.param(CUBE, 0, [0], AddOp, [[4, 8, 12], [16, 20, 24]], id="example 3"),
        pytest.param(CUBE, 0, [2], AddOp, [[6, 15]] * 4, id="example 3"),
        pytest.param(CUBE, 0, [0, 1], AddOp, [20, 28, 36], id="example 3"),
        pytest.param(CUBE, 0, [1, 0], AddOp, [20, 28, 36], id="unordered"),
        pytest.param(CUBE, 0, [0, 1, 2], AddOp, 84, id="example 3"),
        pytest.param(numbers("f32", np.zeros((0, 2))), 7, [0], AddOp, [7, 7], id="empty"),
        pytest.param(numbers("f32", [1, NAN, 2]), -INF, [0], MaximumOp, NAN, id="NaN"),
        pytest.param(numbers("f32", [1, 2]), 10, [0], AddOp, 13, id="init"),
        pytest.param(numbers("s8", [100, 100]), 0, [0], AddOp, -56, id="s8"),
        pytest.param(numbers("bf16", [256] + [1] * 16), 0, [0], AddOp, 272, id="bf16"),
        pytest.param(MATRIX, 10, [], AddOp, MATRIX + 10, id="no dimensions"),
        pytest.param(
            numbers("f32", np.zeros((2, 0))), 1, [0], AddOp, np.zeros(0), id="nothing kept"
        ),
        pytest.param(numbers("s4", [7, 7, 7]), 1, [0], AddOp, 6, id="s4 wraps"),
        pytest.param(numbers("u2", [3, 3]), 1, [0], MultiplyOp, 1, id="u2 wraps"),
        pytest.param(numbers("pred", [0, 1, 0]), False, [0], OrOp, 1, id="pred or"),
        pytest.param(numbers("pred", [0, 1, 1]), False, [0], AddOp, 1, id="pred add is or"),
        pytest.param(
            numbers("pred", [1, 1, 1]), True, [0], MultiplyOp, 1, id="pred multiply is and"
        ),
        pytest.param(numbers("u8", [200, 100]), 0, [0], MaximumOp, 200, id="unsigned"),
        pytest.param(numbers("f32", [-0.0, -0.0]), -0.0, [0], MaximumOp, -0.0, id="max of -0"),
        pytest.param(
            numbers("f32", [-0.0, 0.0]), -5.0, [0], MaximumOp, 0.0, id="max of both zeros"
        ),
        pytest.param(
            numbers("f32", [0.0, -0.0]), 0.0, [0], MinimumOp, -0.0, id="min of both zeros"
        ),
        pytest.param(
            numbers("c64", [1 + 2j, 3 - 1j]), 0, [0], MultiplyOp, (1 + 2j) * (3 - 1j) * 0, id="c64"
        ),
    ],
)
def test_reduce(operand: np.ndarray, init: Any, dimensions: list[int], op: Any, expected: Any):
    result = reduced([operand], [init], dimensions, op)
    same(result, np.asarray(expected).astype(operand.dtype))


def argmax(best: Any, place: Any, value: Any, index: Any) -> list[Any]:
    """`value >= best ? (value, index) : (best, place)`"""
    better = CompareOp(value, best, direction="GE")
    return [SelectOp(better, value, best), SelectOp(better, index, place)]


def test_variadic():
    """With >= the last maximum wins."""
    values, indices = numbers("f32", [1, 3, 3, 2]), numbers("s32", [0, 1, 2, 3])
    best, place = reduced([values, indices], [-INF, -1], [0], argmax)
    same(best, numbers("f32", 3))
    same(place, numbers("s32", 2))


def test_variadic_as_tuple():
    """RC2: the computation may return a tuple of its results."""
    values, indices = numbers("f32", [[1, 3], [4, 2]]), numbers("s32", [[0, 1], [0, 1]])
    best, place = reduced([values, indices], [-INF, -1], [1], lambda *xs: TupleOp(argmax(*xs)))
    same(best, numbers("f32", [3, 4]))
    same(place, numbers("s32", [1, 0]))


def fold_by_definition(
    op: Any, init: Any, values: np.ndarray, dimensions: Sequence[int]
) -> np.ndarray:
    """By (RC4): what is added or multiplied in at least f32, and sums of floats in blocks."""
    if op not in (AddOp, MultiplyOp):
        return left_fold(FUNCTIONS[op], init, values, dimensions)
    wide = widened(values)
    if op is AddOp and wide.dtype.kind in "fc":
        total = blocks_in_pairs(by_position(wide, sorted(dimensions)))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            return rounded(wide.dtype.type(init) + total, values.dtype)
    return rounded(left_fold(FUNCTIONS[op], init, wide, dimensions), values.dtype)


def left_fold(
    function: Callable[[Any, Any], Any], init: Any, values: np.ndarray, dimensions: Sequence[int]
) -> np.ndarray:
    """The definition, position by position."""
    kept = [d for d in range(values.ndim) if d not in dimensions]
    result = np.full([values.shape[d] for d in kept], init, values.dtype)
    with np.errstate(all="ignore"):
        for place in np.ndindex(*values.shape):
            target = tuple(place[d] for d in kept)
            result[target] = function(result[target], values[place])
    return result


FUNCTIONS: dict[type[XlaOp], Callable[[Any, Any], Any]] = {
    AddOp: np.add,
    MultiplyOp: np.multiply,
    MaximumOp: np.maximum,
    MinimumOp: np.minimum,
    AndOp: np.bitwise_and,
    OrOp: np.bitwise_or,
    XorOp: np.bitwise_xor,
}
SIZES = {"few kept": (7, 40, 3), "many kept": (25, 8, 25), "one kept": (1, 600, 1)}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize(
    "name", ["f64", "f32", "f16", "bf16", "f8e4m3", "c64", "s8", "u32", "pred"]
)
def test_known_folds_have_the_bits_of_the_left_fold(name: str, sizes: Any):
    for op in (AddOp, MultiplyOp, MaximumOp, MinimumOp, XorOp):
        with row(op.name):
            check_fold(op, name, sizes)


def check_fold(op: Any, name: str, sizes: Any) -> None:
    random = np.random.default_rng(1)
    spread = random.standard_normal(sizes) * np.exp(random.uniform(-2, 2, sizes))
    if op is MultiplyOp:
        spread = 1 + spread / 20
    values = numbers(name, spread > 0 if name == "pred" else spread)
    if name == "c64":
        values = numbers(name, spread + 1j * random.standard_normal(sizes))
        if op in (MaximumOp, MinimumOp, MultiplyOp):
            return
    if op is XorOp and values.dtype.kind not in "biu":
        return
    init = values.dtype.type(1)
    expected = fold_by_definition(op, init, values, [1])
    same(reduced([values], [init], [1], op), expected)


LAYOUTS = {
    "vector": ((5000,), [0]),
    "rows": ((9, 700), [1]),
    "columns": ((700, 9), [0]),
    "one column": ((700, 1), [0]),
    "two columns": ((700, 2), [0]),
    "all": ((3, 70, 11), [0, 1, 2]),
    "outer and inner": ((3, 70, 11), [2, 0]),
    "many columns": ((2, 3000), [0]),
}


@pytest.mark.parametrize(("sizes", "dimensions"), LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", ["f32", "f64", "c64", "c128"])
def test_sums_in_every_layout(
    name: str, transposed: bool, sizes: tuple[int, ...], dimensions: list[int]
):
    """The sums of numpy have other bits where the dimension is the fast one in memory."""
    random = np.random.default_rng(3)
    values = random.standard_normal(sizes) * np.exp(random.uniform(-9, 9, sizes))
    if name[0] == "c":
        values = values + 1j * random.standard_normal(sizes)
    values = numbers(name, values)
    if transposed:
        values = np.asfortranarray(values)
    init = values.dtype.type(0.1)
    expected = fold_by_definition(AddOp, init, values, dimensions)
    same(reduced([values], [init], dimensions, AddOp), expected)


SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-45, 3e38, -3e38, INF, -INF, NAN, -NAN])


@pytest.mark.parametrize("op", [AddOp, MultiplyOp])
@given(
    values=st.lists(st.tuples(SPECIAL, SPECIAL), min_size=1, max_size=20),
    init=SPECIAL,
    columns=st.booleans(),
)
def test_folds_of_special_values(
    op: Any, values: list[tuple[float, float]], init: float, columns: bool
):
    """The signs of zeros and of NaNs too, whatever numpy's form of the fold is."""
    operand = numbers("f32", values)
    dimensions = [0] if columns else [1]
    result = reduced([operand], [init], dimensions, op)
    expected = fold_by_definition(op, np.float32(init), operand, dimensions)
    same(result, expected)
    if op is AddOp:
        one_nan = (np.isnan(operand).sum(axis=dimensions[0]) == 1) & (not np.isnan(init))
        same(np.signbit(result)[one_nan], np.signbit(expected)[one_nan])


@pytest.mark.parametrize("op", [MaximumOp, MinimumOp])
@given(
    values=st.lists(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, NAN]), min_size=3, max_size=3),
        max_size=4,
    ),
    init=st.sampled_from([0.0, -0.0, -1.0, 1.0]),
)
def test_extremes_with_zeros(op: Any, values: list[list[float]], init: float):
    """As a general computation gives them, which folds one by one."""
    operand = numbers("f32", values).reshape(-1, 3)
    one_by_one = reduced([operand], [init], [0], lambda a, b: op(op(a, b), op(a, b)))
    same(reduced([operand], [init], [0], op), one_by_one)


@given(st.data())
def test_general_computation(data: st.DataObject):
    """Any dimensions: `f(acc, x) = acc * 3 - x`, which is neither commutative nor associative."""
    sizes = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    dimensions = data.draw(st.permutations(range(len(sizes))))
    dimensions = dimensions[: data.draw(st.integers(0, len(sizes)))]
    operand = np.arange(np.prod(sizes, dtype=int), dtype=np.int32).reshape(sizes)
    result = reduced(
        [operand],
        [5],
        dimensions,
        lambda a, x: SubtractOp(MultiplyOp(a, constant("s32", 3)), x),
    )
    same(result, left_fold(lambda a, x: a * 3 - x, 5, operand, dimensions))


def test_rounding_after_every_operation():
    """In a general computation too: (acc + x) + 0 in bf16."""
    operand = numbers("bf16", [[256] * 3, *[[1] * 3] * 16])
    result = reduced([operand], [0], [0], lambda a, x: AddOp(AddOp(a, x), constant("bf16", 0)))
    same(result, numbers("bf16", [256] * 3))


def test_computation_with_a_branch():
    """A computation that cannot be run on arrays is run scalar by scalar."""

    def build(total: Any, x: Any) -> Any:
        branches = [
            computation([total.type, x.type], AddOp),
            computation([total.type, x.type], SubtractOp),
        ]
        positive = CompareOp(x, constant("f32", 0), direction="GT")
        return ConditionalOp(positive, [total, x, total, x], regions=[branches])

    operand = numbers("f32", [[1, -2, 3], [-4, 5, -6]])
    same(reduced([operand], [0], [1], build), numbers("f32", [6, 15]))
    same(reduced([operand], [0], [0, 1], build), numbers("f32", 21))


def test_computation_that_converts():
    """Accumulating in another type inside of the computation."""

    def build(total: Any, x: Any) -> Any:
        wide = array(element_type_of(np.dtype("f4")), ())
        sum_ = AddOp(ConvertOp(total, result_types=[wide]), ConvertOp(x, result_types=[wide]))
        return ConvertOp(sum_, result_types=[total.type])

    operand = numbers("bf16", [[1, 2], [3, 4]])
    same(reduced([operand], [0], [0], build), numbers("bf16", [4, 6]))


def test_computation_that_captures():
    """A scalar of the enclosing function."""

    def build(x: Any, factor: Any) -> Any:
        region = computation(
            ["f32[]", "f32[]"], lambda total, value: AddOp(total, MultiplyOp(value, factor))
        )
        return ReduceOp([x], [constant("f32", 0)], dimensions=[0], regions=[region])

    same(evaluate(build, MATRIX, numbers("f32", 2)), numbers("f32", [10, 14, 18]))


def test_computation_that_returns_a_parameter():
    """The last value, or the initial one, of every fold; constants have the size of the result."""
    same(reduced([MATRIX], [0], [0], lambda total, x: x), numbers("f32", [4, 5, 6]))
    same(reduced([MATRIX], [9], [0], lambda total, x: total), numbers("f32", [9, 9, 9]))
    same(reduced([MATRIX], [9], [1], lambda total, x: constant("f32", 2)), numbers("f32", [2, 2]))
