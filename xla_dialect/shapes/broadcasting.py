"""Broadcasting as XLA's builder defines it, as pure functions on dimension sizes.

At HLO level nothing is implicit: elementwise operations take equal shapes, and `broadcast` is an
operation of its own. The rules (B1) to (B10) say what a builder may leave to these functions:
docs/specification/broadcasting.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xla_dialect.shapes.size_arithmetic import (
    Sizes,
    compatible,
    compatible_sizes,
    is_ascending,
    is_unknown,
)
from xla_dialect.violations import require


def broadcast_shape(
    lhs: Sequence[int], rhs: Sequence[int], broadcast_dimensions: Sequence[int] = ()
) -> Sizes:
    """
    The sizes of an elementwise operation on arrays of sizes `lhs` and `rhs`.

    Raises Violation (B3), (B4), (B5), (B7) or (B8) where they do not go together.
    """
    smaller, larger = (lhs, rhs) if len(lhs) <= len(rhs) else (rhs, lhs)
    if len(smaller) == len(larger) and not broadcast_dimensions:
        return degenerate_shape(lhs, rhs)
    require(
        bool(broadcast_dimensions) or not smaller,
        "B7",
        "sizes {} and {} differ in rank, and broadcast_dimensions does not say "
        "which dimensions match",
        list(lhs),
        list(rhs),
    )
    return degenerate_shape(in_dim_shape(smaller, larger, broadcast_dimensions), larger)


def matched_dimensions(
    operand: Sequence[int], result: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Sizes:
    """
    The dimensions of the result of `broadcast_shape` that those of one of its operands match.

    For the operand of lower rank these are `broadcast_dimensions`, for the other its own.
    """
    return tuple(broadcast_dimensions if len(operand) < len(result) else range(len(operand)))


def in_dim_shape(
    smaller: Sequence[int], larger: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Sizes:
    """
    The sizes of the lower-rank array after the first step, which gives it the higher rank.

    Those of `larger`, with size `broadcast_dimensions[i]` replaced by size i of `smaller`. Raises
    Violation (B3), (B4) or (B5).
    """
    found = list(broadcast_dimensions)
    require(
        len(found) == len(smaller),
        "B3",
        "broadcast_dimensions {} for an array of rank {}",
        found,
        len(smaller),
    )
    require(
        all(0 <= d < len(larger) for d in found) and is_ascending(found),
        "B4",
        "broadcast_dimensions {} are not ascending dimensions of rank {}",
        found,
        len(larger),
    )
    sizes = list(larger)
    for i, d in enumerate(found):
        require(
            compatible(smaller[i], larger[d]) or 1 in (smaller[i], larger[d]),
            "B5",
            "dimension {} of {} matches dimension {} of {}",
            i,
            list(smaller),
            d,
            list(larger),
        )
        sizes[d] = smaller[i]
    return tuple(sizes)


def degenerate_shape(lhs: Sequence[int], rhs: Sequence[int]) -> Sizes:
    """
    The sizes of two arrays of equal rank together: of two sizes the one that is not 1.

    Not the maximum: 0 and 1 give 0. Raises Violation (B8).
    """
    for d, (a, b) in enumerate(zip(lhs, rhs, strict=True)):
        require(
            compatible(a, b) or 1 in (a, b),
            "B8",
            "dimension {} of {} and {} has sizes {} and {}",
            d,
            list(lhs),
            list(rhs),
            a,
            b,
        )
    return tuple(_together(a, b) for a, b in zip(lhs, rhs, strict=True))


def _together(a: int, b: int) -> int:
    """The one that is not 1; of an unknown size and a known one, the known one unless it is 1."""
    unknown, other = (a, b) if is_unknown(a) else (b, a)
    if is_unknown(unknown):
        return unknown if other == 1 else other
    return b if a == 1 else a


def _is_kept(size: int, target: int) -> bool:
    """Whether a size is that of the result; 1 becomes a size that is not known."""
    if is_unknown(size) or not is_unknown(target):
        return compatible(size, target)
    return size != 1


@dataclass(frozen=True)
class BroadcastSteps:
    """How an array becomes a larger one: reshaped, then by HLO's `broadcast`."""

    reshaped: Sizes
    """The sizes without the dimensions of size 1 that are stretched."""
    dimensions: Sizes
    """The dimension of the result that each of the rest becomes."""


def expansion(
    operand: Sequence[int], result: Sequence[int], dimensions: Sequence[int]
) -> BroadcastSteps | None:
    """
    How an array of sizes `operand` becomes one of sizes `result`; None if it is one.

    Its dimension i becomes `dimensions[i]`, stretched if its size is 1; the rest is new.
    """
    kept = [i for i, d in enumerate(dimensions) if _is_kept(operand[i], result[d])]
    if compatible_sizes(operand, result) and len(kept) == len(operand):
        return None
    return BroadcastSteps(tuple(operand[i] for i in kept), tuple(dimensions[i] for i in kept))
