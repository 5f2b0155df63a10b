"""
The levels on the way down, and what a pass says of them in its class.

A pass may have two class attributes. `takes` are the levels of the modules that it can be given; a
module of another one is an error before the pass runs. `gives` is the level of what it makes; a
pass that has `takes` alone keeps the level. A pass without them is given any module, and what it
makes is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["xla", "tensors", "buffers", "schedules", "loops"]

UNLOWERED: tuple[Level, ...] = ("xla",)
"""What passes take that know operations of the `xla` dialect only."""

ON_TENSORS: tuple[Level, ...] = ("xla", "tensors")
"""
What passes take that know linalg on tensors: a module may have operations of `xla` beside, and one
that only hands tensors on counts as one of the xla level.
"""

ON_BUFFERS: tuple[Level, ...] = ("buffers", "schedules", "loops")
"""What passes take that know memrefs."""

EVERY_LEVEL: tuple[Level, ...] = (*ON_TENSORS, *ON_BUFFERS)
"""What passes take that know single operations, wherever they stand."""


def levels_taken(module_pass: object) -> Sequence[Level] | None:
    """The levels of modules that a pass, or its class, says that it takes; None if nothing."""
    return getattr(module_pass, "takes", None)


def level_given(module_pass: object) -> Level | None:
    """The level of what a pass, or its class, says that it makes; None if nothing."""
    return getattr(module_pass, "gives", None)
