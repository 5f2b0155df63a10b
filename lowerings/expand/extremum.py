"""Which extremum a reduction looks for: what recognizes it says so to what builds its expansion."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import numpy_dtype


@dataclass(frozen=True)
class Extremum:
    """The extremum whose first index a reduction finds."""

    is_maximum: bool
    """A maximum rather than a minimum; a NaN counts as either."""
    starts_beyond: bool
    """Whether no element is beyond the init value, and its place is the first of a row."""


def largest_integer(element_type: Attribute) -> int:
    """The largest number of an integer type."""
    return int(ml_dtypes.iinfo(numpy_dtype(element_type)).max)
