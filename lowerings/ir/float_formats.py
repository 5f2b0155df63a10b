"""The formats of all float types: one table for whatever works on their bits.

Formats of 4 to 8 bits are named as `e4m3` (bits of exponent and mantissa) with suffixes: `fn` has
no infinities, `uz` has no negative zero, whose code is the only NaN, `u` has no sign, `b11` has
that bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
)
from xdsl.ir import Attribute


class Specials(Enum):
    """Which codes are no finite numbers."""

    IEEE = auto()
    """The largest exponent: infinity with mantissa 0, else NaN."""
    LAST_IS_NAN = auto()
    """All ones but the sign are NaN; there is no infinity."""
    NEGATIVE_ZERO_IS_NAN = auto()
    """The code of -0 is the only NaN; there is neither -0 nor infinity."""
    NONE = auto()
    """All codes are finite numbers."""


@dataclass(frozen=True)
class FloatFormat:
    """
    A binary floating-point format.

    The code of a number is sign, exponent and mantissa, the highest bits first. A magnitude is a
    code without sign; magnitudes are ordered as the numbers are.
    """

    exponent_bits: int
    mantissa_bits: int
    """Without the leading one."""
    bias: int
    """The exponent that stands for 2**0."""
    specials: Specials = Specials.IEEE
    is_signed: bool = True
    has_zero: bool = True
    """Whether exponent 0 stands for zero and the subnormals."""

    @property
    def bits(self) -> int:
        """The width of a code."""
        return self.exponent_bits + self.mantissa_bits + self.is_signed

    @property
    def sign(self) -> int:
        """The bit of the sign, which is also the number of magnitudes."""
        return 1 << (self.exponent_bits + self.mantissa_bits)

    @property
    def one_bits(self) -> int:
        """The code of 1."""
        return self.bias << self.mantissa_bits

    @property
    def smallest_normal(self) -> float:
        """The smallest number with a leading one."""
        return 2.0 ** (1 - self.bias)

    @property
    def rounding_shift(self) -> float:
        """
        Added to a number of moderate size, rounds it to an integer, whose two's complement the
        low bits then hold.
        """
        return 1.5 * 2.0**self.mantissa_bits

    @property
    def infinity(self) -> int | None:
        """The magnitude of infinity."""
        if self.specials is not Specials.IEEE:
            return None
        return self.sign - (1 << self.mantissa_bits)

    @property
    def largest(self) -> int:
        """The largest finite magnitude."""
        if self.infinity is not None:
            return self.infinity - 1
        return self.sign - (2 if self.specials is Specials.LAST_IS_NAN else 1)

    @property
    def nan(self) -> int | None:
        """The code of the quiet NaN; its sign is free where there are several."""
        match self.specials:
            case Specials.IEEE:
                return self.sign - (1 << (self.mantissa_bits - 1))
            case Specials.LAST_IS_NAN:
                return self.sign - 1
            case Specials.NEGATIVE_ZERO_IS_NAN:
                return self.sign
            case Specials.NONE:
                return None

    @property
    def has_negative_zero(self) -> bool:
        """Whether -0 differs from 0."""
        return self.is_signed and self.specials is not Specials.NEGATIVE_ZERO_IS_NAN

    @property
    def positive_zero(self) -> int:
        """The code of 0; where there is none, that of NaN."""
        return 0 if self.has_zero or self.nan is None else self.nan

    @property
    def overflow(self) -> int:
        """What becomes of larger magnitudes: infinity, else NaN, else the largest number."""
        if self.infinity is not None:
            return self.infinity
        return self.largest if self.nan is None else self.nan


FLOAT_FORMATS: dict[type[Attribute], FloatFormat] = {
    Float4E2M1FNType: FloatFormat(2, 1, 1, Specials.NONE),
    Float6E2M3FNType: FloatFormat(2, 3, 1, Specials.NONE),
    Float6E3M2FNType: FloatFormat(3, 2, 3, Specials.NONE),
    Float8E3M4Type: FloatFormat(3, 4, 3),
    Float8E4M3Type: FloatFormat(4, 3, 7),
    Float8E4M3FNType: FloatFormat(4, 3, 7, Specials.LAST_IS_NAN),
    Float8E4M3FNUZType: FloatFormat(4, 3, 8, Specials.NEGATIVE_ZERO_IS_NAN),
    Float8E4M3B11FNUZType: FloatFormat(4, 3, 11, Specials.NEGATIVE_ZERO_IS_NAN),
    Float8E5M2Type: FloatFormat(5, 2, 15),
    Float8E5M2FNUZType: FloatFormat(5, 2, 16, Specials.NEGATIVE_ZERO_IS_NAN),
    Float8E8M0FNUType: FloatFormat(
        8, 0, 127, Specials.LAST_IS_NAN, is_signed=False, has_zero=False
    ),
    BFloat16Type: FloatFormat(8, 7, 127),
    Float16Type: FloatFormat(5, 10, 15),
    Float32Type: FloatFormat(8, 23, 127),
    Float64Type: FloatFormat(11, 52, 1023),
}
"""The format of each float type, by its class."""

SMALL_FLOATS: dict[type[Attribute], FloatFormat] = {
    type_: format_ for type_, format_ in FLOAT_FORMATS.items() if format_.bits <= 8
}
"""Formats of at most 8 bits, which have no arithmetic instructions."""


def small_float(type_: Attribute) -> FloatFormat | None:
    """The format of a float type of at most 8 bits; None for any other type."""
    return SMALL_FLOATS.get(type(type_))
