"""Steps that make one element of many: reductions, windows, products, transforms."""

from typing import Any

import ml_dtypes
import numpy as np

from differential.draft import Draft, row_of
from differential.elements import Step
from differential.movement import has_elements
from xla_dialect.builder import DotDimensionNumbers, XlaValue
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import ElementClass

NUMBER, REAL = ElementClass.NUMBER, ElementClass.REAL


def computation(d: Draft, value: XlaValue) -> tuple[Any, Any]:
    """An associative function for an element type, and its neutral element."""
    row = row_of(value)
    if row.element_class == ElementClass.PRED:
        return d.choose([(d.b.and_, True), (d.b.or_, False)])
    if row.element_class == ElementClass.COMPLEX or d.chance(0.4):
        return d.b.add, d.b.constant(0, row.name)
    if d.chance(0.5):
        return d.b.max, extreme(d, value, lowest=True)
    return d.b.min, extreme(d, value, lowest=False)


def extreme(d: Draft, value: XlaValue, *, lowest: bool) -> XlaValue:
    """The lowest or the highest number of an element type."""
    dtype = numpy_dtype(value.element_type)
    if row_of(value).element_class & ElementClass.FLOAT:
        infinity = np.asarray(-np.inf if lowest else np.inf).astype(dtype)
        info = ml_dtypes.finfo(dtype)
        number = infinity if np.isinf(infinity) else (info.min if lowest else info.max)
    else:
        info = ml_dtypes.iinfo(dtype)
        number = info.min if lowest else info.max
    return d.b.constant(np.asarray(number, dtype))


def reduce(d: Draft) -> XlaValue:
    x = d.pick()
    function, start = computation(d, x)
    return d.b.reduce(x, start, function, d.dimensions(x))


def argmax(d: Draft) -> tuple[XlaValue, ...]:
    x = d.of(REAL, 1)
    k = d.dimension(x)
    numbers = d.b.iota(f"s32[{','.join(map(str, x.shape))}]", k)

    def larger(a: XlaValue, i: XlaValue, c: XlaValue, j: XlaValue) -> tuple[XlaValue, XlaValue]:
        first = d.b.or_(d.b.gt(a, c), d.b.and_(d.b.eq(a, c), d.b.lt(i, j)))
        return d.b.select(first, a, c), d.b.select(first, i, j)

    start = extreme(d, x, lowest=True)
    return d.b.reduce([x, numbers], [start, 2**31 - 1], larger, [k])


def window_of(d: Draft, value: XlaValue) -> list[int]:
    return [d.integer(1, min(n, 3)) for n in value.shape]


def reduce_window(d: Draft) -> XlaValue:
    x = d.pick(has_elements)
    function, start = computation(d, x)
    window = window_of(d, x)
    ones = [1] * x.rank
    return d.b.reduce_window(
        x,
        start,
        function,
        window,
        [d.integer(1, 2) for _ in window],
        [d.integer(1, 2) for _ in window] if d.chance(0.3) else ones,
        [d.integer(1, 2) for _ in window] if d.chance(0.3) else ones,
        [(d.integer(0, 2), d.integer(0, 2)) for _ in window],
    )


def running_sum(d: Draft) -> XlaValue:
    x = d.pick(lambda v: has_elements(v) and bool(row_of(v).element_class & NUMBER))
    k = d.dimension(x)
    window = [n if i == k else 1 for i, n in enumerate(x.shape)]
    padding = [(n - 1, 0) for n in window]
    return d.b.reduce_window(x, 0, d.b.add, window, padding=padding)


def select_and_scatter(d: Draft) -> XlaValue:
    x = d.pick(lambda v: has_elements(v) and bool(row_of(v).element_class & REAL))
    window = window_of(d, x)
    sizes = [n // w for n, w in zip(x.shape, window, strict=True)]
    source = d.parameter(row_of(x).name, sizes)
    return d.b.select_and_scatter(x, d.b.ge, window, window, "VALID", source, 0, d.b.add)


def dot(d: Draft) -> XlaValue:
    x = d.of(NUMBER, 1, 3)
    k = d.dimension(x)
    name = row_of(x).name
    if x.rank > 1 and d.chance(0.4):
        batch = d.choose([i for i in range(x.rank) if i != k])
        y = d.parameter(name, [x.shape[batch], d.size(), x.shape[k]])
        return d.b.dot_general(x, y, DotDimensionNumbers([k], [2], [batch], [0]))
    return d.b.dot_general(
        x, d.parameter(name, [x.shape[k], d.size()]), DotDimensionNumbers([k], [0])
    )


def wide_dot(d: Draft) -> XlaValue:
    x = d.pick(lambda v: row_of(v).name in ("s8", "u8", "bf16", "f16") and v.rank > 0)
    y = d.parameter(row_of(x).name, [x.shape[-1], 3])
    wide = "f32" if row_of(x).element_class & ElementClass.FLOAT else "s32"
    return d.b.dot_general(x, y, DotDimensionNumbers([x.rank - 1], [0]), wide)


def convolution(d: Draft) -> XlaValue:
    x = d.pick(
        lambda v: (
            has_elements(v)
            and v.rank == 2
            and bool(row_of(v).element_class & (ElementClass.FLOAT | ElementClass.SIGNED))
            and row_of(v).bits >= 8
        )
    )
    name, channels = row_of(x).name, d.integer(1, 2)
    lhs = d.b.reshape(x, [1, 1, *x.shape])
    size = [d.integer(1, min(3, n)) for n in x.shape]
    kernel = d.parameter(name, [*size, 1, channels])
    strides, dilation = d.integer(1, 2), d.integer(1, 2)
    padding = f"{d.integer(0, 2)}_{d.integer(0, 1)}x{d.integer(1, 2)}_1"
    window = f"size={size[0]}x{size[1]} stride={strides}x1 pad={padding} lhs_dilate=1x{dilation}"
    return d.b.conv_general(lhs, kernel, window, "bf01_01io->b01f")


def batch_norm(d: Draft) -> tuple[XlaValue, ...]:
    x = d.pick(lambda v: has_elements(v) and row_of(v).name in ("f32", "f64"))
    k, name = d.dimension(x), row_of(x).name
    scale, offset = (d.parameter(name, [x.shape[k]]) for _ in range(2))
    return d.b.batch_norm_training(x, scale, offset, 0.01, k)


def fft(d: Draft) -> XlaValue:
    x = d.pick(lambda v: has_elements(v) and row_of(v).name in ("f32", "f64", "c64", "c128"))
    if row_of(x).element_class == ElementClass.FLOAT:
        return d.b.fft(x, "RFFT", [x.shape[-1]])
    return d.b.fft(x, d.choose(("FFT", "IFFT")), [x.shape[-1]])


def regular_matrix(d: Draft, name: str) -> XlaValue:
    """A parameter whose triangles have inverses."""
    size = d.integer(1, 4)
    value = d.parameter(name, [size, size])
    random = np.random.default_rng([d.seed, size])
    matrix = random.uniform(-1, 1, (size, size)) + 4 * np.eye(size)
    d.arguments[-1] = matrix.astype(d.arguments[-1].dtype)
    return value


def triangular_solve(d: Draft) -> XlaValue:
    name = d.choose(("f32", "f64", "c64"))
    matrix = regular_matrix(d, name)
    solution = d.parameter(name, [matrix.shape[0], 2])
    return d.b.triangular_solve(
        matrix, solution, True, d.chance(0.5), False, d.choose(("NO_TRANSPOSE", "TRANSPOSE"))
    )


def cholesky(d: Draft) -> XlaValue:
    a = regular_matrix(d, d.choose(("f32", "f64")))
    return d.b.cholesky(d.b.dot_general(a, a, DotDimensionNumbers([1], [1])), lower=True)


STEPS: tuple[Step, ...] = (
    reduce, reduce, argmax, reduce_window, running_sum, select_and_scatter, dot, dot, wide_dot,
    convolution, batch_norm, fft, triangular_solve, cholesky,
)  # fmt: skip
