"""Features of processors that decide what code is made for them, as LLVM spells them."""

from __future__ import annotations

from typing import Final

QUADS: Final = ("+avx512vnni", "+avxvnni")
"""A processor with one of them adds four products of 8-bit numbers in one instruction."""

BFLOAT_PAIRS: Final = ("+avx512bf16",)
"""One with it adds two products of bf16."""

ROOT_ESTIMATES: Final = frozenset(("+avx512f", "+avx512vl"))
"""One with all of them estimates reciprocal roots of f32 to 14 bits, subnormal numbers too."""

SCALING: Final = ROOT_ESTIMATES
"""One with all of them multiplies f32 by powers of two, rounding once, in one instruction."""

HALVES: Final = "+f16c"
"""One with it converts f16 from and to f32."""
