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

from xla_dialect.analysis.computations import accumulates
from xla_dialect.literals.arrays import Array
from xla_dialect.op import Ints, XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops import reduction as ops
from xla_dialect.ops.reduction import only_operation
from xla_dialect.reference.control_flow import ArrayFunction, on_arrays
from xla_dialect.reference.elementwise import BINARY
from xla_dialect.reference.gather_scatter import EXTREMES, UFUNCS, update_at
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
    total = np.concatenate(sums)
    while len(total) > 1:
        odd = total[len(total) & ~1 :]
        total = np.concatenate((total[: len(total) & ~1 : 2] + total[1::2], odd))
    return total[0]


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


def meetings(dimension: WindowDimension, size: int) -> list[WindowOverlap]:
    """What each element of a window dimension meets, in order; none for those that meet nothing."""
    count = dimension.placements(size)
    if not count or not size:
        return []
    found = (_meeting(dimension, size, count, k) for k in _candidates(dimension, size, count))
    return [meeting for meeting in found if meeting is not None]


def _meeting(
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
    rows = [meetings(d, size) for d, size in zip(window.dimensions, sizes, strict=True)]
    for row in itertools.product(*rows):
        yield (
            tuple(meeting.element for meeting in row),
            tuple(meeting.placements for meeting in row),
            tuple(meeting.base for meeting in row),
        )


def fold_in_any_order(ufunc: np.ufunc, x: Array) -> Array:
    """The fold over axis 0 where the order makes no difference, in the compute type of x."""
    wide = widened(x)
    return ufunc.reduce(wide, axis=0, dtype=wide.dtype)


def fold_extreme(extreme: Function, ufunc: np.ufunc, x: Array) -> Array:
    """The largest or smallest value over axis 0, as repeated `extreme` gives it."""
    found = fold_in_any_order(ufunc, x)
    if found.dtype.kind != "f" or np.all(found):
        return found
    # numpy may return either zero. One more application of `extreme` for each sign of zero that
    # occurs in the operand gives the right one.
    zeros = [
        np.any((x_wide == 0) & (np.signbit(x_wide) == negative), axis=0)
        for x_wide in (widened(x),)
        for negative in (False, True)
    ]
    for present, zero in zip(zeros, (0.0, -0.0), strict=True):
        with_zero = extreme(found, found.dtype.type(zero))
        found = np.where((found == 0) & present, with_zero, found)
    return found


def _product(start: Array, x: Array) -> Array:
    """`((start * x[0]) * x[1]) * ...`, elementwise; x has at least one position."""
    if x.dtype.kind == "f":
        terms = np.array(x)
        terms[0] *= start
        return np.multiply.reduce(terms, axis=0)
    # `multiply.reduce` and elementwise products of complex numbers differ in the last bit.
    total = start
    for value in x:
        total = total * value
    return total


def known_fold(operation: type[XlaOp] | None, init: Array, x: Array) -> Array | None:
    """
    The fold over axis 0 by one operation, where numpy has a form with the same bits.

    What is added or multiplied is in the type that it is accumulated in.
    """
    if operation in EXTREMES:
        found = fold_extreme(BINARY[operation], EXTREMES[operation], x)
    elif operation in UFUNCS and widened(x[:0]).dtype.kind in "biu":
        # Integers that wrap, and logical values.
        found = fold_in_any_order(UFUNCS[operation], x)
    elif operation is elementwise.AddOp:
        found = blocked_sum(x)
    elif operation is elementwise.MultiplyOp:
        return _product(init, x)
    else:
        return None
    return BINARY[operation](init, found.astype(x.dtype))


def by_position(array: Array, reduced: Sequence[int]) -> Array:
    """The array as [reduced position in row-major order, kept dimensions..]."""
    kept = shapes.without(range(array.ndim), reduced)
    moved = array.transpose((*reduced, *kept))
    count = math.prod(array.shape[d] for d in reduced)
    return moved.reshape((count, *(array.shape[d] for d in kept)))


def in_accumulator(computation: Region, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays in the type that a computation accumulates them in."""
    return tuple(map(widened, arrays) if accumulates(computation.block) else arrays)


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
    if len(inputs) == 1:
        start, x = in_accumulator(to_apply, (init_values[0], values[0]))
        known = known_fold(only_operation(to_apply.block), start, x)
        if known is not None:
            return (rounded(known, values[0].dtype),)
    return folded(on_arrays(interpreter, to_apply, "to_apply"), tuple(init_values), values)


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
