"""Combining updates into an array at given indices, in the order of the updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.interpreter import Interpreter
from xdsl.ir import Region

from xla_dialect.analysis.computations import adds_long_sums
from xla_dialect.literals.arrays import Array, DType
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops.reduction import only_operation
from xla_dialect.reference.computations import on_arrays, returned_values
from xla_dialect.reference.elementwise_binary import total_order_key
from xla_dialect.reference.rounding import DOUBLE_DTYPES, rounded, widened

EXTREMES: dict[type[XlaOp], np.ufunc] = {
    binary.MaximumOp: np.maximum,
    binary.MinimumOp: np.minimum,
}
UFUNCS: dict[type[XlaOp], np.ufunc] = {
    binary.AddOp: np.add,
    binary.MultiplyOp: np.multiply,
    binary.AndOp: np.bitwise_and,
    binary.OrOp: np.bitwise_or,
    binary.XorOp: np.bitwise_xor,
}
"""Of operations that do not depend on order where numbers are exact, in integers."""
MORE_PRECISE: dict[DType, DType] = DOUBLE_DTYPES | {
    np.dtype(np.float64): np.dtype(np.longdouble),
    np.dtype(np.complex128): np.dtype(np.clongdouble),
}
"""The types in which long sums are kept."""


def update_at(
    interpreter: Interpreter,
    computation: Region,
    name: str,
    totals: Sequence[Array],
    places: Array,
    updates: Sequence[Array],
) -> None:
    """
    `totals[..][places[u]] = computation(totals[..][places[u]], updates[..][u])` for u in order.

    All arrays are flat, one total and one update for each accumulator of the computation.
    """
    if len(totals) == 1 and _update_by_ufunc(computation, totals[0], places, updates[0]):
        return
    function = on_arrays(interpreter, computation, name)
    for chosen in _rounds(places):
        here = places[chosen]
        found = function(*(total[here] for total in totals), *(u[chosen] for u in updates))
        for total, value in zip(totals, found, strict=True):
            total[here] = value


def _update_by_ufunc(computation: Region, total: Array, places: Array, update: Array) -> bool:
    """As `update_at`, by one ufunc that applies updates in order; whether there is such a ufunc."""
    block = computation.block
    if list(returned_values(computation)) == [block.args[1]]:
        total[places] = update
        return True
    operation = only_operation(block)
    if operation in EXTREMES and total.dtype.kind != "c":
        _update_extremes(EXTREMES[operation], total, places, update)
        return True
    # numpy rounds complex products differently in its vectorized loops.
    if operation not in UFUNCS or (total.dtype.kind == "c" and operation is binary.MultiplyOp):
        return False
    is_long = adds_long_sums(block, places.size, total.size)
    precise = MORE_PRECISE.get(total.dtype) if is_long else None
    wide = widened(total) if precise is None else total.astype(precise)
    UFUNCS[operation].at(wide, places, update.astype(wide.dtype))
    total[...] = rounded(wide, total.dtype)
    return True


def _update_extremes(ufunc: np.ufunc, total: Array, places: Array, update: Array) -> None:
    """Maxima or minima; floats by integer keys, as numpy's functions do not order -0 and +0."""
    if widened(total[:0]).dtype.kind != "f":
        wide = widened(total)
        ufunc.at(wide, places, widened(update))
        total[...] = wide.astype(total.dtype)
        return
    keys = _extreme_keys(ufunc, total)
    ufunc.at(keys, places, _extreme_keys(ufunc, update))
    bits = np.where(keys < 0, keys ^ np.iinfo(keys.dtype).max, keys)
    total[...] = bits.view(f"f{bits.itemsize}").astype(total.dtype)


def _extreme_keys(ufunc: np.ufunc, x: Array) -> Array:
    """Integers in the order of the floats; every NaN is the most extreme one."""
    wide = widened(x)
    keys = total_order_key(wide)
    limits = np.iinfo(keys.dtype)
    return np.where(np.isnan(wide), limits.max if ufunc is np.maximum else limits.min, keys)


def _rounds(places: Array) -> Iterator[Array]:
    """The updates that are the first to their index, those that are the second, and so on."""
    if not places.size:
        return
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    index = np.arange(order.size)
    is_first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    turn = index - np.maximum.accumulate(np.where(is_first, index, 0))
    by_turn = order[np.argsort(turn, kind="stable")]
    end = 0
    for count in np.bincount(turn):
        begin, end = end, end + int(count)
        yield by_turn[begin:end]
