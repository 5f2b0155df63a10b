"""What reductions compute: a left fold in row-major order of the reduced positions.

Windows and `map` too. What is added or multiplied is accumulated in at least f32, and sums of
floats are blocked, as (RC4) has them: terms are added in their order within a block of `BLOCK`, and
the sums of blocks in pairs, pairs of pairs, and so on. So a sum of n terms is off by at most
`(BLOCK + log2(n)) u Σ|x|`, with the unit roundoff u of the type.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Region

from xla_dialect.literals.arrays import Array
from xla_dialect.op import Ints, XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops import reduction as ops
from xla_dialect.ops.reduction import is_associative, only_operation
from xla_dialect.reference.control_flow import ArrayFunction, on_arrays
from xla_dialect.reference.elementwise import BINARY
from xla_dialect.reference.gather_scatter import in_accumulator, update_at
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import Function, rounded, widened
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.window import Window, WindowDimension

BLOCK = 16
"""So many terms are added one after the other."""


@dataclass
class BlockedSum:
    """A sum of arrays that come one by one, or what it is of none."""

    nothing: Array
    _block: Array | None = None
    _count: int = 0
    """How many terms the block has."""
    _pairs: list[tuple[int, Array]] = field(default_factory=list[tuple[int, Array]])
    """Sums of 2^k blocks with their k, which descends."""

    def add(self, term: Array) -> None:
        """Adds one term."""
        self._block = term if self._block is None else self._block + term
        self._count += 1
        if self._count == BLOCK:
            self.add_blocks(self._block)
            self._block, self._count = None, 0

    def add_blocks(self, total: Array, level: int = 0) -> None:
        """Adds what `2 ** level` whole blocks amount to; no block has been begun."""
        while self._pairs and self._pairs[-1][0] == level:
            total = self._pairs.pop()[1] + total
            level += 1
        self._pairs.append((level, total))

    def total(self) -> Array:
        """The sum of all terms so far."""
        parts = [pair for _, pair in self._pairs]
        if self._block is not None:
            parts.append(self._block)
        result = parts.pop() if parts else self.nothing
        while parts:
            result = parts.pop() + result
        return result


def blocked_sum(x: Array) -> Array:
    """The sum over axis 0, which has at least one position, with the bits of `BlockedSum`."""
    whole = len(x) // BLOCK
    blocks = x[: whole * BLOCK].reshape((whole, BLOCK, *x.shape[1:]))
    sums = [_in_order(blocks.swapaxes(0, 1))] if whole else []
    if len(x) > whole * BLOCK:
        sums.append(_in_order(x[whole * BLOCK :])[None])
    return in_pairs(np.add, np.concatenate(sums))


def _in_order(x: Array) -> Array:
    total = x[0]
    for term in x[1:]:
        total = total + term
    return total


Box = tuple[slice, ...]


@dataclass(frozen=True)
class WindowOverlap:
    """
    Where one element of a window dimension meets elements of the base, and not padding or holes.

    Placement `placements[j]` of the window has base element `base[j]` at this element.
    """

    element: int
    placements: slice
    base: slice


def overlaps(dimension: WindowDimension, size: int) -> list[WindowOverlap]:
    """What each element of a window dimension meets, in order; none for those that meet nothing."""
    count = dimension.placements(size)
    if not count or not size:
        return []
    found = (_overlap(dimension, size, count, k) for k in _candidates(dimension, size, count))
    return [overlap for overlap in found if overlap is not None]


def _overlap(
    dimension: WindowDimension, size: int, count: int, element: int
) -> WindowOverlap | None:
    """
    All (p, i) with `p * stride + element * window_dilation - padding_low = i * base_dilation`.

    Placements p have the distance `base_dilation / gcd`, base elements i `stride / gcd`.
    """
    stride, holes = dimension.stride, dimension.base_dilation
    shift = element * dimension.window_dilation - dimension.padding_low
    divisor = math.gcd(stride, holes)
    if shift % divisor:
        return None
    step = holes // divisor
    residue = -shift // divisor * pow(stride // divisor, -1, step) % step
    lowest = max(0, -(shift // stride))
    first = lowest + (residue - lowest) % step
    last = min(count - 1, ((size - 1) * holes - shift) // stride)
    if first > last:
        return None
    last -= (last - first) % step
    begin, end = ((p * stride + shift) // holes for p in (first, last))
    taken = slice(begin, end + 1, stride // divisor)
    return WindowOverlap(element, slice(first, last + 1, step), taken)


def _candidates(dimension: WindowDimension, size: int, count: int) -> Iterable[int]:
    """
    The elements of a window dimension that may meet the base, ascending.

    Windows much larger than the base are legal, so the elements are not simply counted.
    """
    low, dilation = dimension.padding_low, dimension.window_dilation
    begin = max(0, -(((count - 1) * dimension.stride - low) // dilation))
    end = min(dimension.size, ((size - 1) * dimension.base_dilation + low) // dilation + 1)
    if end - begin <= count * size:
        return range(begin, end)
    places = np.arange(size, dtype=object) * dimension.base_dilation + low
    starts = np.arange(count, dtype=object) * dimension.stride
    distances = set(np.subtract.outer(places, starts).reshape(-1).tolist())
    elements = (distance // dilation for distance in distances if distance % dilation == 0)
    return sorted(element for element in elements if begin <= element < end)


def boxes(window: Window, sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Box, Box]]:
    """
    For every element of a window, in row-major order: its index, placements, and base elements.

    Elements that meet nothing of a base of these sizes are left out.
    """
    rows = [overlaps(d, size) for d, size in zip(window.dimensions, sizes, strict=True)]
    for row in itertools.product(*rows):
        yield (
            tuple(overlap.element for overlap in row),
            tuple(overlap.placements for overlap in row),
            tuple(overlap.base for overlap in row),
        )


def in_pairs(function: Function, x: Array) -> Array:
    """The fold over axis 0, which has at least one position: of pairs, then of pairs of those."""
    while len(x) > 1:
        even = len(x) & ~1
        x = np.concatenate((function(x[:even:2], x[1::2]), x[even:]))
    return x[0]


def known_fold(operation: type[XlaOp] | None, x: Array) -> Array | None:
    """
    The fold over axis 0 by one operation whose order makes no difference, or that (RC4) blocks.

    What is added is in the type that it is accumulated in.
    """
    is_exact = widened(x[:0]).dtype.kind in "biu"
    if operation is elementwise.AddOp and not is_exact:
        return blocked_sum(x)
    if operation in (elementwise.MaximumOp, elementwise.MinimumOp) or (
        is_exact and is_associative(operation)
    ):
        return in_pairs(BINARY[operation], x)
    return None


def by_position(array: Array, reduced: Sequence[int]) -> Array:
    """The array as [reduced position in row-major order, kept dimensions..]."""
    kept = shapes.without(range(array.ndim), reduced)
    moved = array.transpose((*reduced, *kept))
    count = math.prod(array.shape[d] for d in reduced)
    return moved.reshape((count, *(array.shape[d] for d in kept)))


def _window_sums(x: Array, window: Window, placements: Sequence[int]) -> Array:
    """Per placement of the window the sum of the elements that it covers."""
    nothing = np.full(placements, -x.dtype.type(0))
    total = BlockedSum(nothing)
    for _, into, taken in boxes(window, x.shape):
        term = nothing.copy()
        term[into] = x[taken]
        total.add(term)
    return total.total()


def folded(function: ArrayFunction, inits: PythonValues, values: Sequence[Array]) -> PythonValues:
    """The left folds over axis 0 of all values by a computation, starting from `inits`."""
    totals = inits
    for position in zip(*values, strict=True):
        totals = function(*totals, *position)
    return tuple(totals)


def selected_places(
    select: ArrayFunction, window: Window, operand: Array, placements: Sequence[int]
) -> Array:
    """
    Per placement of the window the flat index of the element that `select` picks.

    -1 where the window lies in padding.
    """
    places = np.arange(operand.size).reshape(operand.shape)
    best = np.zeros(placements, operand.dtype)
    chosen = np.full(placements, -1)
    for _, into, taken in boxes(window, operand.shape):
        current, candidate = np.asarray(best[into]), np.asarray(operand[taken])
        keeps = np.asarray(chosen[into] >= 0)
        (keeps[keeps],) = select(current[keeps], candidate[keeps])
        best[into] = np.where(keeps, current, candidate)
        chosen[into] = np.where(keeps, chosen[into], places[taken])
    return chosen


def reduce(
    inputs: Sequence[Array],
    init_values: Sequence[Array],
    *,
    dimensions: Ints,
    to_apply: Region,
    interpreter: Interpreter,
) -> PythonValues:
    """Per kept position: `acc = init; for value in row-major order: acc = f(acc, value)`."""
    reduced = sorted(dimensions)
    values = [by_position(array, reduced) for array in inputs]
    kept = values[0].shape[1:]
    if values[0].size == 0:
        return tuple(np.broadcast_to(init, kept) for init in init_values)
    dtypes = [array.dtype for array in values]
    totals, values = in_accumulator(to_apply, init_values), in_accumulator(to_apply, values)
    known = known_fold(only_operation(to_apply.block), values[0])
    if known is not None:
        values = [known[None]]
    function = on_arrays(interpreter, to_apply, "to_apply")
    return tuple(map(rounded, folded(function, totals, values), dtypes))


def reduce_window(
    inputs: Sequence[Array],
    init_values: Sequence[Array],
    *,
    window: Window,
    to_apply: Region,
    interpreter: Interpreter,
) -> PythonValues:
    """Per placement: `acc = init; for value in the window: acc = f(acc, value)`."""
    dtypes = [array.dtype for array in inputs]
    arrays = in_accumulator(to_apply, inputs)
    sizes = window.placements(arrays[0].shape)
    totals: list[Array] = [
        np.full(sizes, init, init.dtype) for init in in_accumulator(to_apply, init_values)
    ]
    if only_operation(to_apply.block) is elementwise.AddOp and arrays[0].dtype.kind in "fc":
        totals[0] += _window_sums(arrays[0], window, sizes)
        return (rounded(totals[0], dtypes[0]),)
    function = on_arrays(interpreter, to_apply, "to_apply")
    for _, into, taken in boxes(window, arrays[0].shape):
        found = function(
            *(np.array(total[into]) for total in totals), *(array[taken] for array in arrays)
        )
        for total, value in zip(totals, found, strict=True):
            total[into] = value
    return tuple(map(rounded, totals, dtypes))


def select_and_scatter(
    operand: Array,
    source: Array,
    init_value: Array,
    *,
    window: Window,
    select: Region,
    scatter: Region,
    interpreter: Interpreter,
) -> Array:
    """What `select` picks in each placement gets the element of the source, by `scatter`."""
    function = on_arrays(interpreter, select, "select")
    chosen = selected_places(function, window, operand, source.shape).reshape(-1)
    result: Array = np.full(int(operand.size), init_value, init_value.dtype)
    picked = chosen >= 0
    update_at(
        interpreter, scatter, "scatter", [result], chosen[picked], [source.reshape(-1)[picked]]
    )
    return result.reshape(operand.shape)


def elementwise_map(
    inputs: Sequence[Array], *, to_apply: Region, interpreter: Interpreter
) -> Array:
    """The computation at every index."""
    (found,) = on_arrays(interpreter, to_apply, "to_apply")(*inputs)
    return found


ReductionFunctions = registration(
    "ReductionFunctions",
    {
        ops.ReduceOp: reduce,
        ops.ReduceWindowOp: reduce_window,
        ops.SelectAndScatterOp: select_and_scatter,
        ops.MapOp: elementwise_map,
    },
)
"""Folds over dimensions."""
