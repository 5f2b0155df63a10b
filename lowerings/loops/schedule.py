"""In which order, in which steps and in which lanes a nest runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Loop:
    """One loop over a dimension of a nest."""

    dimension: int
    tile: int = 1
    """How many iterations of the dimension one iteration of the loop does, unrolled."""
    is_parallel: bool = False
    """Whether several threads may share its iterations."""


@dataclass(frozen=True)
class Schedule:
    """
    The loops from the outside in: one for each dimension that does not have exactly one iteration.

    A tile of the vector dimension is a multiple of `lanes`. What a tile leaves over at the end
    of its dimension is done by a smaller tile, in vectors as short as that needs.
    """

    loops: tuple[Loop, ...]
    vector: int | None = None
    """The dimension that runs in the lanes of vectors."""
    lanes: int = 1
    transposed: int | None = None
    """
    A dimension in tiles of `lanes`. Inputs that have unit stride along it, and not along the
    vector dimension, are read in square blocks along it and transposed in registers.
    """
