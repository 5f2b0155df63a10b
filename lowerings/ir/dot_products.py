"""
Processors' instructions that add several products of narrow numbers to each 32-bit number of a
vector.

At the loops level they are `llvm.call_intrinsic`, so that what a processor computes is in the text:
two of the three operands hold, in 32 bits, as many factors as there are terms.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import bf16, f32, i8, i32
from xdsl.dialects.utils.fast_math import FastMathFlag
from xdsl.ir import Attribute

from lowerings.ir import processor_features as features

LANES = (4, 8, 16)
"""The 32-bit numbers of the vectors that there are instructions for."""


@dataclass(frozen=True)
class DotProduct:
    """One such instruction, of all widths."""

    name: str
    """Of LLVM's intrinsic; the width of the vectors follows, in bits."""
    terms: int
    """The products that are added at once."""
    factor: Attribute
    total: Attribute
    features: tuple[str, ...]
    """What a processor has to have one of, as LLVM spells it."""

    def intrinsic(self, lanes: int) -> str:
        """The intrinsic for vectors of so many sums: one of `LANES`."""
        return f"{self.name}.{32 * lanes}"

    def is_of(self, features: Collection[str]) -> bool:
        """Whether a processor with these features has it."""
        return any(feature in features for feature in self.features)


QUADS = DotProduct("llvm.x86.avx512.vpdpbusd", 4, i8, i32, features.QUADS)
"""Products of unsigned numbers, the second operand, and signed ones; sums wrap around."""

BFLOAT_PAIRS = DotProduct("llvm.x86.avx512bf16.dpbf16ps", 2, bf16, f32, features.BFLOAT_PAIRS)
"""
Two multiply-adds, each rounded to nearest, the second terms first. Subnormal numbers count as zero
of their sign, among the results as well.
"""

APPROXIMATE = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
"""
The flag of a product of bf16 that `BFLOAT_PAIRS` may compute, whose subnormal numbers may be lost.
"""

BY_NAME = {
    each.intrinsic(lanes): (each, lanes) for each in (QUADS, BFLOAT_PAIRS) for lanes in LANES
}
