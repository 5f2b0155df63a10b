"""The operations that may fold terms in any order, as reductions in vector lanes do."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation

from lowerings.loops.constants import element_bits


@dataclass(frozen=True)
class Combiner:
    """An associative and commutative operation that folds terms into an accumulator."""

    kind: CombiningKindFlag
    """How `vector.reduction` names it."""
    neutral: float | int | str
    """The value that changes nothing; for integers "min", "max" and "ones" by the bit width."""


COMBINERS: dict[type[Operation], Combiner] = {
    arith.AddfOp: Combiner(CombiningKindFlag.ADD, -0.0),
    arith.MulfOp: Combiner(CombiningKindFlag.MUL, 1.0),
    arith.MaximumfOp: Combiner(CombiningKindFlag.MAXIMUMF, float("-inf")),
    arith.MinimumfOp: Combiner(CombiningKindFlag.MINIMUMF, float("inf")),
    arith.AddiOp: Combiner(CombiningKindFlag.ADD, 0),
    arith.MuliOp: Combiner(CombiningKindFlag.MUL, 1),
    arith.MaxSIOp: Combiner(CombiningKindFlag.MAXSI, "min"),
    arith.MinSIOp: Combiner(CombiningKindFlag.MINSI, "max"),
    arith.MaxUIOp: Combiner(CombiningKindFlag.MAXUI, 0),
    arith.MinUIOp: Combiner(CombiningKindFlag.MINUI, "ones"),
    arith.AndIOp: Combiner(CombiningKindFlag.AND, "ones"),
    arith.OrIOp: Combiner(CombiningKindFlag.OR, 0),
    arith.XOrIOp: Combiner(CombiningKindFlag.XOR, 0),
}
"""By the class of the scalar operation. `maxnumf` drops NaNs by a rule of its own: no entry."""


def neutral_element(combiner: Combiner, element_type: Attribute) -> float:
    """The neutral element of a combiner of an element type."""
    neutral = combiner.neutral
    if not isinstance(neutral, str):
        return neutral
    width = element_bits(element_type)
    assert width is not None
    return {"min": -(1 << (width - 1)), "max": (1 << (width - 1)) - 1, "ones": -1}[neutral]
