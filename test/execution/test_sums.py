"""
Sums of floats (RC4): narrow ones are exact until they are rounded, on every executor; long ones
are no less exact than those of XLA CPU, or than their last bits can tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from peers import has_jax
from xla_cpu import xla_cpu

import lowerings

if has_jax():
    import jax

AnyArray = np.ndarray[Any, np.dtype[Any]]

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
}
ROUNDOFF = {"bf16": 2**-8, "f16": 2**-11, "f32": 2**-24, "f64": 2**-53, "c64": 2**-24}
"""Half of the distance from 1 to the next number."""


@dataclass(frozen=True)
class Sum:
    """A program that adds up elements of its first argument, and what it adds up."""

    text: str
    sizes: Sequence[int]
    added: Callable[[AnyArray], AnyArray]
    """From the first argument, in more precision, to the sums."""
    others: Sequence[AnyArray] = ()
    """The arguments after the first one."""


def program(name: str, sizes: Sequence[int], body: str, computations: str = "") -> str:
    """The text of a program; `T` is its element type, `x` its first argument."""
    text = (
        "HloModule sums\n\nadd {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n"
        f"  ROOT c = T[] add(a, b)\n}}\n\n{computations}ENTRY main {{\n"
        f"  x = {shape_of(sizes)} parameter(0)\n  zero = T[] constant(0)\n  {body}\n}}\n"
    )
    if name == "c64":
        text = text.replace("constant(0)", "constant((0, 0))")
    return text.replace("T[", f"{name}[")


def shape_of(sizes: Sequence[int]) -> str:
    return f"T[{','.join(map(str, sizes))}]"


def reduction(name: str, sizes: Sequence[int], dimensions: Sequence[int]) -> Sum:
    """Dimensions are added up."""
    kept = shape_of([n for d, n in enumerate(sizes) if d not in dimensions])
    reduced = ",".join(map(str, dimensions))
    body = f"ROOT r = {kept} reduce(x, zero), dimensions={{{reduced}}}, to_apply=add"
    text = program(name, sizes, body)
    return Sum(text, sizes, lambda x: x.sum(tuple(dimensions)))


def running(name: str, sizes: Sequence[int], dimension: int, *, backwards: bool = False) -> Sum:
    """All elements before, or after, are added up."""
    rank, n = len(sizes), sizes[dimension]
    size = "x".join(str(n) if d == dimension else "1" for d in range(rank))
    own = f"0_{n - 1}" if backwards else f"{n - 1}_0"
    pads = "x".join(own if d == dimension else "0_0" for d in range(rank))
    window = f"{{size={size} pad={pads}}}"
    body = f"ROOT r = {shape_of(sizes)} reduce-window(x, zero), window={window}, to_apply=add"

    def added(x: AnyArray) -> AnyArray:
        if backwards:
            return np.flip(np.cumsum(np.flip(x, dimension), dimension), dimension)
        return np.cumsum(x, dimension)

    return Sum(program(name, sizes, body), sizes, added)


def windows(name: str, length: int, size: int) -> Sum:
    """Windows of many elements, half of which the first one has in padding."""
    placements = length + size // 2 - size + 1
    body = (
        f"ROOT r = {shape_of([placements])} reduce-window(x, zero), "
        f"window={{size={size} pad={size // 2}_0}}, to_apply=add"
    )

    def added(x: AnyArray) -> AnyArray:
        padded = np.concatenate((np.zeros(size // 2, x.dtype), x))
        return np.lib.stride_tricks.sliding_window_view(padded, size).sum(1)

    return Sum(program(name, [length], body), [length], added)


def segments(name: str, length: int, count: int, features: int = 0, order: str = "mixed") -> Sum:
    """A scatter, of which each element, or row of features, gets many updates."""
    indices = (np.arange(length) * 11 % count).astype(np.int32)
    if order == "sorted":
        indices.sort()
    elif order == "one of all":
        indices[:] = count // 2
    own = [features] if features else []
    window = "{1}" if features else "{}"
    kept = shape_of([count, *own])
    body = (
        f"i = s32[{length},1] parameter(1)\n  z = {kept} broadcast(zero), "
        f"dimensions={{}}\n  ROOT r = {kept} scatter(z, i, x), update_window_dims={window}, "
        f"inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, "
        "to_apply=add"
    )

    def added(x: AnyArray) -> AnyArray:
        return np.array([x[indices == segment].sum(0) for segment in range(count)])

    sizes = (length, *own)
    return Sum(program(name, sizes, body), sizes, added, [indices[:, None]])


def picked(name: str, length: int, size: int) -> Sum:
    """Windows that overlap, and pick the largest element of what ascends."""
    placements = length - size + 1
    body = (
        f"i = {shape_of([length])} iota(), iota_dimension=0\n  ROOT r = {shape_of([length])} "
        f"select-and-scatter(i, x, zero), window={{size={size}}}, select=greater, scatter=add"
    )

    greater = (
        "greater {\n  a = T[] parameter(0)\n  b = T[] parameter(1)\n"
        "  ROOT c = pred[] compare(a, b), direction=GE\n}\n\n"
    )

    def added(x: AnyArray) -> AnyArray:
        # The last element of each window is the largest; equal ones, far out, are the first ones.
        steps = np.arange(length).astype(DTYPES[name]).astype(np.float64)
        totals = np.zeros(length, x.dtype)
        for start in range(placements):
            totals[start + int(np.argmax(steps[start : start + size]))] += x[start]
        return totals

    return Sum(program(name, [placements], body, greater), [placements], added)


def wide_type(name: str) -> type[np.longdouble | np.clongdouble]:
    """The type that sums are exact in, for what they are compared with."""
    return np.clongdouble if name == "c64" else np.longdouble


def products(name: str, rows: int, terms: int, columns: int) -> Sum:
    """A product of matrices."""
    body = (
        f"y = {shape_of([terms, columns])} parameter(1)\n  ROOT r = {shape_of([rows, columns])} "
        "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    )
    y = np.random.default_rng(2).random((terms, columns)).astype(DTYPES[name])
    wide, sizes = y.astype(wide_type(name)), (rows, terms)
    return Sum(program(name, sizes, body), sizes, lambda x: x @ wide, [y])


def weights(name: str, batch: int, size: int, features: int) -> Sum:
    """The gradient of the weights of a convolution: a window as large as the base."""
    sizes, kernel = (batch, size, size, features), (batch, size, size, 5)
    body = (
        f"y = {shape_of(kernel)} parameter(1)\n  ROOT r = {shape_of([1, 1, features, 5])} "
        f"convolution(x, y), window={{size={size}x{size}}}, dim_labels=f01b_i01o->01bf"
    )
    y = np.random.default_rng(2).random(kernel).astype(DTYPES[name])
    wide = y.astype(wide_type(name)).reshape((-1, 5))

    def added(x: AnyArray) -> AnyArray:
        return (x.reshape((-1, features)).T @ wide).reshape((1, 1, features, 5))

    return Sum(program(name, sizes, body), sizes, added, [y])


EXACT: dict[str, Callable[[str], Sum]] = {
    "all": lambda name: reduction(name, (700,), (0,)),
    "rows": lambda name: reduction(name, (3, 300), (1,)),
    "columns": lambda name: reduction(name, (300, 20), (0,)),
    "outer and inner": lambda name: reduction(name, (9, 5, 40), (0, 2)),
    "running": lambda name: running(name, (2, 300), 1),
    "running backwards": lambda name: running(name, (300, 20), 0, backwards=True),
    "windows": lambda name: windows(name, 300, 100),
    "segments": lambda name: segments(name, 300, 3),
    "segments of rows": lambda name: segments(name, 300, 3, 20),
    "picked": lambda name: picked(name, 600, 9),
}
EXECUTORS = {
    "reference": {"backend": "reference"},
    "tensors": {"backend": "interpreter", "level": "tensors"},
    "buffers": {"backend": "interpreter", "level": "buffers"},
    "loops": {"backend": "interpreter", "level": "loops"},
    "llvm": {"backend": "llvm"},
    "riscv64": {"backend": "riscv64"},
}


@pytest.mark.parametrize("form", EXACT)
@pytest.mark.parametrize(
    ("executor", "name"),
    [
        pytest.param(
            *(executor, name),
            marks=[
                *([pytest.mark.riscv64] if executor == "riscv64" else []),
                *([pytest.mark.full] if name == "f16" and executor != "llvm" else []),
            ],
        )
        for executor in EXECUTORS
        for name in ("bf16", "f16")
    ],
)
def test_narrow_sums_are_rounded_once(executor: str, form: str, name: str) -> None:
    """Integers, of which f32 has every sum: the nearest narrow number comes out."""
    case = EXACT[form](name)
    x = np.random.default_rng(0).integers(1, 40, case.sizes).astype(np.float64)
    expected = case.added(x).astype(np.float32).astype(DTYPES[name])
    run: Any = lowerings.compile(case.text, **EXECUTORS[executor])  # pyright: ignore
    (found,) = run(x.astype(DTYPES[name]), *case.others)
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


LONG: dict[str, Callable[[str], Sum]] = {
    "all": lambda name: reduction(name, (100_003,), (0,)),
    "few columns": lambda name: reduction(name, (100_000, 3), (0,)),
    "columns": lambda name: reduction(name, (5_000, 300), (0,)),
    "columns of several": lambda name: reduction(name, (3, 2_000, 40), (1,)),
    "rows": lambda name: reduction(name, (30, 5_003), (1,)),
    "features": lambda name: reduction(name, (16, 28, 28, 24), (0, 1, 2)),
    "features first": lambda name: reduction(name, (16, 24, 28, 28), (0, 2, 3)),
    "running": lambda name: running(name, (50_001,), 0),
    "running rows": lambda name: running(name, (20, 3_000), 1, backwards=True),
    "running columns": lambda name: running(name, (3_000, 20), 0),
    "windows": lambda name: windows(name, 4_000, 2_500),
    "vectors": lambda name: products(name, 1, 100_000, 1),
    "matrix and vector": lambda name: products(name, 20, 10_000, 1),
    "vector and matrix": lambda name: products(name, 1, 10_000, 40),
    "matrices": lambda name: products(name, 48, 10_000, 40),
}
LONGEST: dict[str, Callable[[str], Sum]] = {
    "all": lambda name: reduction(name, (10_000_000,), (0,)),
    "few columns": lambda name: reduction(name, (1_000_000, 3), (0,)),
    "features": lambda name: reduction(name, (64, 56, 56, 64), (0, 1, 2)),
    "weights": lambda name: weights(name, 16, 56, 6),
    "running": lambda name: running(name, (10_000_000,), 0),
}


def values(kind: str, name: str, sizes: Sequence[int]) -> AnyArray:
    """Equal numbers, whose roundings all go the same way, or random ones."""
    random = np.random.default_rng(1)
    found: AnyArray = np.full(sizes, 0.1)
    if kind == "positive":
        found = random.random(sizes)
    elif kind == "of both signs":
        found = random.standard_normal(sizes)
    if name == "c64":
        found = found + 1j * found[..., ::-1]
    return found.astype(DTYPES[name])


def inexactness(case: Sum, name: str, kind: str) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Errors of the sums, those of XLA CPU, and units of roundoff of magnitudes."""
    x = values(kind, name, case.sizes)
    wide: AnyArray = x.astype(wide_type(name))
    exact, magnitudes = case.added(wide), case.added(np.abs(wide))
    (found,) = lowerings.compile(case.text)(x, *case.others)
    with jax.enable_x64(True):
        ((theirs,),) = xla_cpu(case.text, [[x, *case.others]])
    error, other = (np.abs(each.astype(wide.dtype) - exact) for each in (found, theirs))
    return error, other, ROUNDOFF[name] * magnitudes


def require_exactness(case: Sum, name: str, kind: str) -> None:
    """The largest error is at most four times XLA's, or four units of roundoff of magnitudes."""
    error, other, unit = inexactness(case, name, kind)
    allowed = 4 * np.maximum(other.max(), unit)
    worst = np.argmax(error / allowed)
    assert np.all(error <= allowed), f"{error.flat[worst]}, XLA {other.flat[worst]}"


BETTER: dict[str, Callable[[str], Sum]] = {
    "mixed": lambda name: segments(name, 30_000, 7),
    "sorted": lambda name: segments(name, 30_000, 7, order="sorted"),
    "one of all": lambda name: segments(name, 30_000, 1_000, order="one of all"),
    "rows": lambda name: segments(name, 30_000, 3, 20),
    "short rows": lambda name: segments(name, 10_000, 5, 3),
    "weights": lambda name: weights(name, 8, 40, 3),
}


QUICK = (("f32", "equal"), ("c64", "equal"))


@pytest.mark.jax
@pytest.mark.parametrize("form", LONG)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if (name, kind) in QUICK else pytest.mark.full)
        for name in DTYPES
        for kind in ("equal", "positive", "of both signs")
    ],
)
def test_long_sums_beside_xla(form: str, name: str, kind: str) -> None:
    require_exactness(LONG[form](name), name, kind)


@pytest.mark.jax
@pytest.mark.parametrize(
    ("form", "name"),
    [
        *((form, name) for form in BETTER for name in ("bf16", "f32", "f64") if form != "weights"),
        *((form, "c64") for form in BETTER),
    ],
)
def test_long_sums_that_xla_adds_in_order(form: str, name: str) -> None:
    """Two units of roundoff of magnitudes, however long; XLA is off by many."""
    error, other, unit = inexactness(BETTER[form](name), name, "equal")
    assert np.all(error <= 2 * unit)
    assert np.any(other > 8 * unit)


def test_long_sums_of_many_columns() -> None:
    """More columns than have their excess beside them at once, in a loop around."""
    case = reduction("f32", (2, 500, 90_000), (1,))
    x = np.random.default_rng(1).random(case.sizes, np.float32)
    (found,) = lowerings.compile(case.text)(x)
    exact = case.added(x.astype(np.float64))
    assert np.all(np.abs(found - exact) <= 2 * ROUNDOFF["f32"] * exact)


def test_long_sums_of_products_in_panels() -> None:
    """Many blocks of terms, each of which is copied into panels."""
    case = products("f32", 64, 150_000, 64)
    x = np.random.default_rng(1).random(case.sizes, np.float32)
    (found,) = lowerings.compile(case.text)(x, *case.others)
    some = np.s_[::16]
    exact = x[some].astype(np.float64) @ case.others[0].astype(np.float64)
    assert np.all(np.abs(found[some] - exact) <= 4 * ROUNDOFF["f32"] * exact)


@pytest.mark.full
@pytest.mark.jax
@pytest.mark.parametrize("form", LONGEST)
@pytest.mark.parametrize("kind", ["equal", "positive"])
def test_longest_sums_beside_xla(form: str, kind: str) -> None:
    require_exactness(LONGEST[form]("f32"), "f32", kind)
