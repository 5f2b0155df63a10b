"""Steps that move elements, find them, and bring them in order."""

import math

from differential.draft import MAX_RANK, Draft, row_of
from differential.elements import Step
from xla_dialect.builder import XlaValue
from xla_dialect.types import ElementClass


def has_elements(value: XlaValue) -> bool:
    return value.rank > 0 and 0 not in value.shape


def transpose(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 1)
    return d.b.transpose(x, d.shuffled(range(x.rank)))


def reshape(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    sizes = d.shuffled(x.shape)
    if d.chance(0.5) and len(sizes) > 1:
        sizes = [math.prod(sizes[:2]), *sizes[2:]]
    elif len(sizes) < MAX_RANK:
        sizes.insert(d.integer(0, len(sizes)), 1)
    return d.b.reshape(x, sizes)


def broadcast_in_dim(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank < 3)
    sizes = [d.size() if n == 1 else n for n in x.shape]
    place = d.integer(0, x.rank)
    sizes.insert(place, d.size())
    return d.b.broadcast_in_dim(x, sizes, [i for i in range(len(sizes)) if i != place])


def slice_(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    starts = [d.integer(0, n) for n in x.shape]
    limits = [d.integer(low, n) for low, n in zip(starts, x.shape, strict=True)]
    return d.b.slice(x, starts, limits, [d.integer(1, 3) for _ in starts])


def pad(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    amounts = [(d.integer(-1, 2), d.integer(-1, 2), d.integer(0, 1)) for _ in x.shape]
    for size, (low, high, inner) in zip(x.shape, amounts, strict=True):
        if low + high + size + max(size - 1, 0) * inner < 0:
            amounts = [(1, 0, 0)] * x.rank
    return d.b.pad(x, d.parameter(row_of(x).name, ()), amounts)


def reverse(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    return d.b.rev(x, d.dimensions(x))


def concatenate(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    k = d.dimension(x)
    others = [v for v in d.values if v.element_type == x.element_type and v.rank == x.rank]
    fitting = [v for v in others if without(v, k) == without(x, k)]
    return d.b.concatenate([x, *(d.choose(fitting) for _ in range(d.integer(0, 2)))], k)


def without(value: XlaValue, dimension: int) -> tuple[int, ...]:
    return value.shape[:dimension] + value.shape[dimension + 1 :]


def start_indices(d: Draft, count: int) -> list[XlaValue]:
    """Starts, in and out of bounds."""
    name = d.choose(("s32", "s32", "s64", "u8", "s8"))
    return [d.b.constant(d.integer(0 if name == "u8" else -2, 6), name) for _ in range(count)]


def dynamic_slice(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    return d.b.dynamic_slice(x, start_indices(d, x.rank), [d.integer(0, n) for n in x.shape])


def dynamic_update_slice(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0)
    update = d.parameter(row_of(x).name, [d.integer(0, n) for n in x.shape])
    return d.b.dynamic_update_slice(x, update, start_indices(d, x.rank))


def indices(d: Draft, *sizes: int) -> XlaValue:
    """Row numbers; as integers are drawn, some are out of bounds."""
    return d.parameter(d.choose(("s32", "s64", "u8")), sizes)


def take(d: Draft) -> XlaValue:
    x = d.pick(lambda v: has_elements(v))
    k = d.dimension(x)
    sizes = [1 if i == k else n for i, n in enumerate(x.shape)]
    if d.chance(0.5):
        offsets = list(range(1, x.rank))
        return d.b.gather(x, indices(d, d.size()), offsets, [k], sizes, [k], 1)
    sizes[k] = d.integer(1, x.shape[k])
    offsets = list(range(1, x.rank + 1))
    return d.b.gather(x, indices(d, 3, 1), offsets, [], sizes, [k], 1)


def put(d: Draft) -> XlaValue:
    x = d.pick(lambda v: has_elements(v) and bool(row_of(v).element_class & ElementClass.ANY))
    k = d.dimension(x)
    rows = d.size()
    name = row_of(x).name
    updates = d.parameter(name, [rows, *without(x, k)])
    combine = d.b.or_ if name == "pred" else d.choose((d.b.add, lambda _, new: new))
    windows = list(range(1, x.rank))
    return d.b.scatter(x, indices(d, rows), updates, combine, 1, windows, [k], [k])


def sort(d: Draft) -> XlaValue:
    x = d.pick(lambda v: v.rank > 0 and bool(row_of(v).element_class & ElementClass.REAL))
    if row_of(x).element_class & ElementClass.FLOAT:
        return d.b.sort(x, d.b.lt_total_order, d.dimension(x), is_stable=True)
    return d.b.sort(x, d.choose((d.b.lt, d.b.gt)), d.dimension(x), is_stable=True)


def sort_with_numbers(d: Draft) -> tuple[XlaValue, ...]:
    x = d.pick(lambda v: v.rank > 0 and bool(row_of(v).element_class & ElementClass.REAL))
    k = d.dimension(x)
    numbers = d.b.iota(f"s32[{','.join(map(str, x.shape))}]", k)
    less = d.b.gt_total_order if row_of(x).element_class & ElementClass.FLOAT else d.b.gt
    return d.b.sort([x, numbers], lambda a, c, i, j: less(a, c), k, is_stable=True)


def top_k(d: Draft) -> tuple[XlaValue, ...]:
    x = d.pick(lambda v: has_elements(v) and row_of(v).name in ("f32", "s32", "bf16", "u8", "f64"))
    return d.b.top_k(x, d.integer(0, x.shape[-1]))


STEPS: tuple[Step, ...] = (
    transpose, reshape, broadcast_in_dim, slice_, pad, reverse, concatenate, dynamic_slice,
    dynamic_update_slice, take, put, sort, sort_with_numbers, top_k,
)  # fmt: skip
