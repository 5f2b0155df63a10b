"""The loops of nests that transpose in registers."""

from __future__ import annotations

from collections.abc import Sequence

from lowerings.loops.body import indexed_dimensions
from lowerings.loops.nest import Nest
from lowerings.schedules.schedule import Loop, LoopOrder

LEAST_VECTORS = 4
MOST_VECTORS = 8
"""How many vectors of a row are read before the next rows."""


def along_rows(nest: Nest, order: LoopOrder) -> Sequence[Loop]:
    """
    The loops of a nest; where it transposes, it reads on along a row before it goes to the next.

    Along a column of the input it would take one line of the cache of each row, and come back for
    the next one when the first cache no longer has what else it read with it: pages and, from rows
    a power of two apart, sets. Blocks of long rows are whole ones, for edges are more code.
    """
    if order.transposed is None:
        return order.loops
    *kept, row, column = order.loops
    vectors = nest.extents[row.dimension] // row.tile
    # A dimension whose index is asked for has one loop (SR12).
    is_asked_for = row.dimension in indexed_dimensions(nest)
    sizes = range(LEAST_VECTORS, 1 if is_asked_for else MOST_VECTORS + 1)
    size = max((n for n in sizes if vectors % n == 0), default=vectors)
    blocks = [Loop(row.dimension, size * row.tile)] if size < vectors else []
    return (*kept, *blocks, column, row)
