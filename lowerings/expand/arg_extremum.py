"""The first place of the greatest or least element of each row, as two reductions of one result."""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.expand.extremum import Extremum, largest_integer
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.types import ElementClass, element_class


def first_places(
    b: XlaBuilder,
    extremum: Extremum,
    dimension: int,
    x: XlaValue,
    places: XlaValue,
    start: XlaValue,
    first_place: XlaValue,
) -> Sequence[XlaValue]:
    """
    The extremum along a dimension, from `start` on, and the least of its `places`.

    `start` counts as an element at `first_place`, before all others.
    """
    computation = b.max if extremum.is_maximum else b.min
    best = b.reduce(x, start, computation, [dimension])
    sizes = x.shape
    others = [d for d in range(len(sizes)) if d != dimension]

    def is_best(value: XlaValue, best: XlaValue) -> XlaValue:
        equal = b.eq(value, best)
        if not element_class(x.element_type) & ElementClass.FLOAT:
            return equal
        # A NaN makes the extremum NaN, which equals no element.
        return b.or_(equal, b.ne(value, value))

    last = b.constant(largest_integer(places.element_type), places.element_type)
    found = b.select(is_best(x, b.broadcast_in_dim(best, sizes, others)), places, last)
    least = b.reduce(found, last, b.min, [dimension])
    if extremum.starts_beyond:
        # Then the first of a row of such elements has its place.
        return best, least
    rows = [sizes[d] for d in others]
    at_start = is_best(b.broadcast(start, rows), best)
    return best, b.min(least, b.select(at_start, first_place, last))
