"""One random step of a program, built and computed by numpy side by side.

Elements are s32, pred, and f32 with whole numbers, so that both give the same to the last bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue

MAX_RANK = 3
MAX_ELEMENTS = 400

Step = Callable[["SideBySide"], "tuple[XlaValue, np.ndarray]"]


@dataclass
class SideBySide:
    """A program under construction; every value with the array that numpy says it is."""

    data: st.DataObject
    b: XlaBuilder
    values: list[tuple[XlaValue, np.ndarray]] = field(default_factory=list)

    def draw(self, strategy: Any) -> Any:
        return self.data.draw(strategy)

    def pick(self, holds: Callable[[np.ndarray], bool] = lambda _: True) -> Any:
        """A value so far for whose array that holds."""
        return self.draw(st.sampled_from([v for v in self.values if holds(v[1])]))

    def number(self) -> Any:
        return self.pick(lambda a: a.dtype != bool)

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def dimension(self, array: np.ndarray) -> int:
        """A dimension, counted from either end."""
        return self.integer(-array.ndim, array.ndim - 1)

    def dimensions(self, array: np.ndarray) -> list[int]:
        """Some of the dimensions, in any order."""
        return self.draw(st.permutations(range(array.ndim)))[: self.integer(0, array.ndim)]

    def sizes(self) -> list[int]:
        return self.draw(st.lists(st.integers(0, 4), max_size=MAX_RANK))

    def integers(self, count: int, low: int, high: int) -> list[int]:
        return self.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    def constant(self, sizes: Sequence[int], dtype: Any) -> tuple[XlaValue, np.ndarray]:
        array = np.random.default_rng(self.integer(0, 99)).integers(-9, 10, sizes).astype(dtype)
        return self.b.constant(array), array


def operand_beside(p: SideBySide, array: np.ndarray) -> tuple[XlaValue, np.ndarray, list[int]]:
    """Something that can be broadcast to an array: the value, what numpy needs, and dimensions."""
    dims = sorted(p.dimensions(array))
    sizes = [p.draw(st.sampled_from((array.shape[d], 1))) for d in dims]
    value, found = p.constant(sizes, array.dtype)
    spread = np.ones(array.ndim, int)
    spread[dims] = sizes
    return value, found.reshape(spread), dims


def binary(p: SideBySide) -> Any:
    x, a = p.number()
    y, c, dims = operand_beside(p, a)
    name, function = p.draw(st.sampled_from(_BINARY))
    # A scalar and an array of equal rank need no dimensions.
    given = p.draw(st.sampled_from((dims, []))) if len(dims) in (0, a.ndim) else dims
    if p.draw(st.booleans()):
        return getattr(p.b, name)(y, x, given), function(c, a)
    return getattr(p.b, name)(x, y, given), function(a, c)


_BINARY: list[tuple[str, Any]] = [
    ("add", np.add), ("sub", np.subtract), ("max", np.maximum), ("min", np.minimum),
    ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
    ("gt", np.greater), ("ge", np.greater_equal),
]  # fmt: skip


def product(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype == np.int32)
    y, c, dims = operand_beside(p, a)
    return p.b.mul(x, y, dims), a * c


def operator(p: SideBySide) -> Any:
    x, a = p.number()
    return p.draw(st.sampled_from([(-x, -a), (x + 3, a + 3), (2 - x, 2 - a), (x > 1, a > 1)]))


def convert(p: SideBySide) -> Any:
    x, a = p.pick()
    dtype = p.draw(st.sampled_from([np.int32, np.float32, np.bool_]))
    assume(np.abs(a.astype(np.float64)).max(initial=0) < 2**24)
    return p.b.convert_element_type(x, dtype), a.astype(dtype)


def select(p: SideBySide) -> Any:
    c, chosen = p.pick(lambda a: a.dtype == bool)
    x, a = p.constant(chosen.shape, np.int32)
    return p.b.select(c, x, 7), np.where(chosen, a, np.int32(7))


def transpose(p: SideBySide) -> Any:
    x, a = p.pick()
    order = p.draw(st.permutations(range(a.ndim)))
    return p.b.transpose(x, order), a.transpose(order)


def reshape(p: SideBySide) -> Any:
    x, a = p.pick()
    sizes = p.draw(st.permutations(a.shape))
    position = p.integer(0, len(sizes))
    if p.draw(st.booleans()) and a.ndim < MAX_RANK:
        sizes = [*sizes[:position], 1, *sizes[position:]]
    elif position > 1:
        sizes = [int(np.prod(sizes[:position])), *sizes[position:]]
    return p.b.reshape(x, sizes), a.reshape(sizes)


def collapse(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim > 1)
    first = p.integer(0, a.ndim - 1)
    last = p.integer(first, a.ndim - 1)
    sizes = (*a.shape[:first], int(np.prod(a.shape[first : last + 1])), *a.shape[last + 1 :])
    return p.b.collapse(x, range(first, last + 1)), a.reshape(sizes)


def slice_(p: SideBySide) -> Any:
    x, a = p.pick()
    starts = [p.integer(0, n) for n in a.shape]
    limits = [p.integer(lo, n) for lo, n in zip(starts, a.shape, strict=True)]
    strides = p.integers(a.ndim, 1, 3)
    parts = tuple(map(slice, starts, limits, strides))
    return p.b.slice(x, starts, limits, strides), a[parts]


def pad(p: SideBySide) -> Any:
    x, a = p.number()
    config = [(p.integer(0, 2), p.integer(0, 2), p.integer(0, 1)) for _ in a.shape]
    sizes = [
        lo + n + max(n - 1, 0) * i + hi for n, (lo, hi, i) in zip(a.shape, config, strict=True)
    ]
    padded = np.full(sizes, 5, a.dtype)
    parts = [slice(lo, lo + n * (i + 1) - i if n else lo, i + 1) for n, (lo, _, i) in zip(a.shape, config, strict=True)]  # fmt: skip
    padded[tuple(parts)] = a
    return p.b.pad(x, 5, config), padded


def rev(p: SideBySide) -> Any:
    x, a = p.pick()
    dims = p.dimensions(a)
    return p.b.rev(x, dims), np.flip(a, tuple(dims))


def concatenate(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim > 0)
    d = p.dimension(a)
    return p.b.concatenate([x, x, x], d), np.concatenate([a, a, a], d)


def broadcast(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim < MAX_RANK)
    sizes = p.integers(p.integer(0, MAX_RANK - a.ndim), 0, 3)
    return p.b.broadcast(x, sizes), np.broadcast_to(a, (*sizes, *a.shape))


def broadcast_in_dim(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim < MAX_RANK)
    d, size = p.integer(0, a.ndim), p.integer(0, 3)
    out = [3 if n == 1 else n for n in a.shape]
    out.insert(d, size)
    dims = [i for i in range(len(out)) if i != d]
    return p.b.broadcast_in_dim(x, out, dims), np.broadcast_to(np.expand_dims(a, d), out)


def dynamic_slice(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim > 0)
    sizes = [p.integer(0, n) for n in a.shape]
    starts = p.integers(a.ndim, -2, 5)
    clamped = [min(max(s, 0), n - k) for s, n, k in zip(starts, a.shape, sizes, strict=True)]
    parts = tuple(slice(s, s + k) for s, k in zip(clamped, sizes, strict=True))
    first = p.b.constant(starts[0])
    return p.b.dynamic_slice(x, [first, *starts[1:]], sizes), a[parts]


def dynamic_update_slice(p: SideBySide) -> Any:
    x, a = p.number()
    sizes = [p.integer(0, n) for n in a.shape]
    update, part = p.constant(sizes, a.dtype)
    starts = [p.integer(0, n - k) for n, k in zip(a.shape, sizes, strict=True)]
    result = a.copy()
    result[tuple(slice(s, s + k) for s, k in zip(starts, sizes, strict=True))] = part
    return p.b.dynamic_update_slice(x, update, starts), result


def reduce(p: SideBySide) -> Any:
    x, a = p.number()
    dims = p.dimensions(a)
    if p.draw(st.booleans()):
        total = np.asarray(a.sum(tuple(dims), dtype=a.dtype))
        return p.b.reduce(x, 0, lambda total, value: total + value, dims), total
    return p.b.reduce(x, -5, p.b.max, dims), np.asarray(a.max(tuple(dims), initial=-5))


def reduce_window(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype != bool and 0 not in a.shape)
    window = [p.integer(1, n) for n in a.shape]
    strides = p.integers(a.ndim, 1, 2)
    views = np.lib.stride_tricks.sliding_window_view(a, tuple(window)) if a.ndim else a
    steps = tuple(slice(None, None, s) for s in strides)
    sums = views[steps].sum(tuple(range(a.ndim, 2 * a.ndim)), dtype=a.dtype) if a.ndim else a
    return p.b.reduce_window(x, 0, p.b.add, window, strides), np.asarray(sums)


def dot(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype == np.int32 and a.ndim > 0)
    d = p.dimension(a) % a.ndim
    y, c = p.constant([a.shape[d], p.integer(0, 3)], np.int32)
    numbers = DotDimensionNumbers([d], [-2])
    return p.b.dot_general(x, y, numbers), np.tensordot(a, c, ([d], [0]))


def sort(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype == np.int32 and a.ndim > 0)
    d = p.dimension(a)
    return p.b.sort(x, p.b.lt, d), np.sort(a, d, kind="stable")


def top_k(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype == np.int32 and a.ndim > 0)
    k = p.integer(0, a.shape[-1])
    values, indices = p.b.top_k(x, k)
    order = np.argsort(-a.astype(np.int64), -1, kind="stable")[..., :k]
    return p.draw(
        st.sampled_from(
            [(values, np.take_along_axis(a, order, -1)), (indices, order.astype(np.int32))]
        )
    )


def take_rows(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.ndim > 0 and len(a) > 0)
    rows, numbers = p.constant([p.integer(0, 3)], np.int32)
    found = p.b.gather(x, rows, range(1, a.ndim), [0], [1, *a.shape[1:]], [0], 1)
    return found, np.take(a, numbers, 0, mode="clip")


def add_rows(p: SideBySide) -> Any:
    x, a = p.pick(lambda a: a.dtype == np.int32 and a.ndim > 0 and len(a) > 0)
    rows = [p.integer(0, len(a) - 1) for _ in range(p.integer(0, 3))]
    updates, part = p.constant([len(rows), *a.shape[1:]], np.int32)
    result = a.copy()
    np.add.at(result, np.array(rows, int), part)
    found = p.b.scatter(
        x, p.b.constant(rows, "s32"), updates, p.b.add, 1, range(1, a.ndim), [0], [0]
    )
    return found, result


def loop(p: SideBySide) -> Any:
    x, a = p.number()
    count = p.integer(0, 3)
    _, result = p.b.while_(
        lambda k, _: k < count, lambda k, y: (k + 1, y + 1), [p.b.constant(0), x]
    )
    return result, a + a.dtype.type(count)


def branch(p: SideBySide) -> Any:
    x, a = p.number()
    index = p.integer(-1, 3)
    branches = [lambda: p.b.neg(x), lambda: x, lambda: x - 4]
    arrays = [-a, a, a - a.dtype.type(4)]
    found = p.b.conditional(p.b.constant(index), branches, [()] * 3)
    return found, arrays[index] if 0 <= index < 3 else arrays[2]


def call(p: SideBySide) -> Any:
    x, a = p.number()
    return p.b.call(lambda y: p.b.call(p.b.neg, [y]) + 1, [x]), 1 - a


def pair(p: SideBySide) -> Any:
    (x, a), (y, c) = p.pick(), p.pick()
    index = p.integer(0, 1)
    return p.b.tuple([x, y])[index], (a, c)[index]


def map_(p: SideBySide) -> Any:
    x, a = p.number()
    return p.b.map([x, x], lambda u, v: u + v - 1), a + a - a.dtype.type(1)


def iota(p: SideBySide) -> Any:
    sizes = [p.integer(0, 3), *p.sizes()[1:]]
    d = p.integer(-len(sizes), len(sizes) - 1)
    return p.b.iota((np.int32, sizes), d), np.indices(sizes, np.int32)[d]


STEPS: tuple[Step, ...] = (
    binary, product, operator, convert, select, transpose, reshape, collapse, slice_, pad, rev,
    concatenate, broadcast, broadcast_in_dim, dynamic_slice, dynamic_update_slice, reduce,
    reduce_window, dot, sort, top_k, take_rows, add_rows, loop, branch, call, pair, map_, iota,
)  # fmt: skip
