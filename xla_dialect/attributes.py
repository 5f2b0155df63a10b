"""The properties of operations: numbers, enumerations, and attributes that HLO text spells."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i1, i64
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from xla_dialect.spelling import SpellingError

INTEGER = IntegerAttr.constr(type=i64)
INTEGERS = DenseArrayBase.constr(i64)
NO_INTEGERS = DenseArrayBase.from_list(i64, ())
FLAG = IntegerAttr.constr(type=i1)
FALSE, TRUE = map(BoolAttr.from_bool, (False, True))

_Content = TypeVar("_Content", covariant=True)


class SpelledAttribute(Data[_Content]):
    """An attribute that is written as in HLO text: `#xla.window<size=2x3 stride=2x2>`."""

    in_braces: ClassVar[bool] = False
    """Whether HLO text has it in braces: `window={size=2x3}`."""

    GIVEN: ClassVar[str] = "str"
    """What `of` takes beside its content, as an annotation says it."""

    @classmethod
    def of(cls, given: Any) -> Self:
        """The attribute for its content, or for the text of it; raises SpellingError."""
        return cls(cls.read(given) if isinstance(given, str) else given)

    @classmethod
    @abstractmethod
    def read(cls, text: str) -> _Content:
        """The content that a text stands for; raises SpellingError. The inverse of `str`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _Content:
        """Reads `<text>`, taken from the raw text: its punctuation is not that of MLIR tokens."""
        with parser.in_angle_brackets():
            start = parser.pos
            text = parser.lexer.input.content
            end = _closing_angle(text, start)
            try:
                content = cls.read(text[start:end].strip())
            except SpellingError as error:
                place = start + error.position
                parser.raise_error(f"{cls.name}: {error}", place, place + 1)
            parser._resume_from(end)  # pyright: ignore[reportPrivateUsage]
        return content

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` reads."""
        printer.print_string(f"<{self.data}>")


def _closing_angle(text: str, start: int) -> int:
    """Where the bracket is that closes one before `start`; the end of the text if nowhere."""
    depth = 1
    for match in _ANGLES.finditer(text, start):
        depth += {"<": 1, ">": -1}.get(match.group(), 0)
        if not depth:
            return match.start()
    return len(text)


_ANGLES = re.compile(r'"(?:[^"\\]|\\.)*"|->|<=|[<>]')
"""Angle brackets, and what they are none in."""


class ComparisonDirection(StrEnum):
    """Which relation `compare` tests."""

    EQ = "EQ"
    NE = "NE"
    GE = "GE"
    GT = "GT"
    LE = "LE"
    LT = "LT"


class ComparisonType(StrEnum):
    """How `compare` orders its operands."""

    FLOAT = "FLOAT"
    TOTALORDER = "TOTALORDER"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


class RandomAlgorithm(StrEnum):
    """How `rng-bit-generator` makes bits."""

    DEFAULT = "rng_default"
    THREE_FRY = "rng_three_fry"
    PHILOX = "rng_philox"


class RandomDistribution(StrEnum):
    """Which numbers `rng` makes."""

    UNIFORM = "rng_uniform"
    NORMAL = "rng_normal"


class CustomCallApiVersion(StrEnum):
    """How a `custom-call` passes its arguments."""

    UNSPECIFIED = "API_VERSION_UNSPECIFIED"
    ORIGINAL = "API_VERSION_ORIGINAL"
    STATUS_RETURNING = "API_VERSION_STATUS_RETURNING"
    STATUS_RETURNING_UNIFIED = "API_VERSION_STATUS_RETURNING_UNIFIED"
    TYPED_FFI = "API_VERSION_TYPED_FFI"


class FusionKind(StrEnum):
    """How a backend treats a `fusion`."""

    LOOP = "kLoop"
    INPUT = "kInput"
    OUTPUT = "kOutput"
    CUSTOM = "kCustom"


class FftType(StrEnum):
    """Which Fourier transform `fft` computes."""

    FFT = "FFT"
    IFFT = "IFFT"
    RFFT = "RFFT"
    IRFFT = "IRFFT"


class Transpose(StrEnum):
    """What `triangular-solve` does to its matrix first."""

    NO_TRANSPOSE = "NO_TRANSPOSE"
    TRANSPOSE = "TRANSPOSE"
    ADJOINT = "ADJOINT"


@irdl_attr_definition
class ComparisonDirectionAttr(EnumAttribute[ComparisonDirection], SpacedOpaqueSyntaxAttribute):
    """A `ComparisonDirection` as an attribute."""

    name = "xla.comparison_direction"


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttribute[ComparisonType], SpacedOpaqueSyntaxAttribute):
    """A `ComparisonType` as an attribute."""

    name = "xla.comparison_type"


@irdl_attr_definition
class RandomAlgorithmAttr(EnumAttribute[RandomAlgorithm], SpacedOpaqueSyntaxAttribute):
    """A `RandomAlgorithm` as an attribute."""

    name = "xla.random_algorithm"


@irdl_attr_definition
class RandomDistributionAttr(EnumAttribute[RandomDistribution], SpacedOpaqueSyntaxAttribute):
    """A `RandomDistribution` as an attribute."""

    name = "xla.random_distribution"


@irdl_attr_definition
class CustomCallApiVersionAttr(EnumAttribute[CustomCallApiVersion], SpacedOpaqueSyntaxAttribute):
    """A `CustomCallApiVersion` as an attribute."""

    name = "xla.custom_call_api_version"


@irdl_attr_definition
class FusionKindAttr(EnumAttribute[FusionKind], SpacedOpaqueSyntaxAttribute):
    """A `FusionKind` as an attribute."""

    name = "xla.fusion_kind"


@irdl_attr_definition
class FftTypeAttr(EnumAttribute[FftType], SpacedOpaqueSyntaxAttribute):
    """An `FftType` as an attribute."""

    name = "xla.fft_type"


@irdl_attr_definition
class TransposeAttr(EnumAttribute[Transpose], SpacedOpaqueSyntaxAttribute):
    """A `Transpose` as an attribute."""

    name = "xla.transpose_a"


ENUM_ATTRIBUTES = (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    FusionKindAttr,
    FftTypeAttr,
    TransposeAttr,
    RandomAlgorithmAttr,
    RandomDistributionAttr,
    CustomCallApiVersionAttr,
)
