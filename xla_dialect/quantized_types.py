"""Quantized element types, as MLIR's dialect `quant` spells them.

    !quant.uniform<i8:f32, 1.000000e-01:3>              one scale and zero point
    !quant.uniform<i8<-127:127>:f32:0, {0.1,0.2:4}>     a pair for each index of dimension 0

An element `i` of the storage type stands for `(i - zero_point) * scale`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import isfinite
from typing import Any, cast

import ml_dtypes
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, TensorType, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Data, Dialect, Operation, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import Array, ElementClass, element_class, flatten
from xla_dialect.violations import check
from xla_dialect.xdsl.traversal import operations_in

STORAGE_WIDTHS = (2, 4, 8, 16, 32)
"""The widths in bits of storage types."""


@dataclass(frozen=True)
class Quantization:
    """How integers stand for numbers."""

    storage: IntegerType
    """Signless for signed integers, `uiN` for unsigned ones."""
    minimum: int
    maximum: int
    """The range of stored integers, both ends included."""
    expressed: Attribute
    """The type of the numbers they stand for."""
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    """As many as there are scales: one, or one for each index of the dimension."""
    dimension: int | None = None
    """The dimension along which scales and zero points differ; None where there is one pair."""

    @property
    def range_of_storage(self) -> tuple[int, int]:
        """The least and the greatest integer of the storage type."""
        return _range_of(self.storage)

    @property
    def baseline(self) -> Quantization:
        """The same with scales 1 and zero points 0: what many rules compare."""
        return replace(self, scales=(1.0,), zero_points=(0,))

    def along(self, dimension: int | None) -> Quantization:
        """The same along another dimension."""
        return replace(self, dimension=dimension)

    def fault(self) -> str | None:
        """The rule of quantized types that is broken, and what was found; None if none is."""
        if element_class(self.expressed) != ElementClass.FLOAT:
            return f"{self.expressed} is no type of floats"
        if len(self.scales) != len(self.zero_points):
            return f"{len(self.scales)} scales and {len(self.zero_points)} zero points"
        low, high = self.range_of_storage
        least, greatest = _float_range(self.expressed)
        if self.storage.width.data not in STORAGE_WIDTHS:
            return f"storage type {spell_storage(self.storage)}, not of 2, 4, 8, 16 or 32 bits"
        if not low <= self.minimum < self.maximum <= high:
            return (
                f"(C3) storage from {self.minimum} to {self.maximum}, "
                f"{spell_storage(self.storage)} has {low} to {high}"
            )
        for scale in self.scales:
            if not isfinite(scale) or not least <= scale <= greatest:
                return f"(C5) scale {scale} is not positive, or no finite {self.expressed}"
        for zero_point in self.zero_points:
            if not self.minimum <= zero_point <= self.maximum:
                return f"(C7) zero point {zero_point}, storage is {self.minimum} to {self.maximum}"
        if self.dimension is not None and self.dimension < 0:
            return f"(C11) dimension {self.dimension}"
        return None

    def fault_in(self, sizes: Sequence[int | None]) -> str | None:
        """The rule of arrays of these sizes that is broken; unknown sizes may be any."""
        if self.dimension is None:
            return None
        if self.dimension >= len(sizes):
            return f"(C12) it is quantized along dimension {self.dimension} of {len(sizes)}"
        size = sizes[self.dimension]
        if size not in (None, len(self.scales)):
            return f"(C13) {len(self.scales)} scales for size {size}"
        return None


def spell_storage(storage: IntegerType) -> str:
    """`i8` or `u8`."""
    sign = "u" if storage.signedness.data == Signedness.UNSIGNED else "i"
    return f"{sign}{storage.width.data}"


def _range_of(storage: IntegerType) -> tuple[int, int]:
    width = storage.width.data
    if storage.signedness.data == Signedness.UNSIGNED:
        return 0, 2**width - 1
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


def _float_range(type_: Attribute) -> tuple[float, float]:
    """The smallest positive and the greatest number of a type of floats."""
    limits = cast(Any, ml_dtypes.finfo(numpy_dtype(type_)))
    return float(limits.smallest_subnormal), float(limits.max)


@irdl_attr_definition
class QuantizedType(Data[Quantization], TypeAttribute):
    """The type of integers that stand for numbers: `!quant.uniform<i8:f32, 1.000000e-01:3>`."""

    name = "quant.uniform"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Quantization:
        """Parses what stands in angle brackets; a broken rule is an error at the type."""
        position = parser.pos
        with parser.in_angle_brackets():
            storage = _parse_storage(parser)
            low, high = _range_of(storage)
            if parser.parse_optional_punctuation("<") is not None:
                low = parser.parse_integer(allow_boolean=False)
                parser.parse_punctuation(":")
                high = parser.parse_integer(allow_boolean=False)
                parser.parse_punctuation(">")
            parser.parse_punctuation(":")
            expressed = parser.parse_type()
            dimension = None
            if parser.parse_optional_punctuation(":") is not None:
                if parser.parse_optional_punctuation("{") is not None:
                    parser.raise_error("StableHLO has no scales for blocks of several dimensions")
                dimension = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            pairs = (
                [_parse_pair(parser)]
                if dimension is None
                else parser.parse_comma_separated_list(
                    parser.Delimiter.BRACES, lambda: _parse_pair(parser)
                )
            )
        scales, zero_points = zip(*pairs, strict=True) if pairs else ((), ())
        found = Quantization(storage, low, high, expressed, scales, zero_points, dimension)
        try:
            return cls.checked(found).data
        except VerifyException as error:
            parser.raise_error(str(error), position, parser.pos)

    @classmethod
    def checked(cls, quantization: Quantization) -> QuantizedType:
        """The type of integers that stand for numbers so; raises VerifyException."""
        fault = quantization.fault()
        check(fault is None, "!quant.uniform: {}", fault)
        return cls(quantization)

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses, as MLIR does."""
        found = self.data
        printer.print_string(f"<{spell_storage(found.storage)}")
        if (found.minimum, found.maximum) != found.range_of_storage:
            printer.print_string(f"<{found.minimum}:{found.maximum}>")
        printer.print_string(":")
        printer.print_attribute(found.expressed)
        pairs = [
            f"{_spell_scale(scale)}:{zero_point}" if zero_point else _spell_scale(scale)
            for scale, zero_point in zip(found.scales, found.zero_points, strict=True)
        ]
        if found.dimension is None:
            printer.print_string(f", {pairs[0]}>")
        else:
            printer.print_string(f":{found.dimension}, {{{','.join(pairs)}}}>")


def _parse_storage(parser: AttrParser) -> IntegerType:
    position = parser.pos
    word = parser.parse_identifier()
    match = _STORAGE.fullmatch(word)
    if match is None:
        parser.raise_error(f"{word} is no storage type like i8 or u8", position)
    sign = Signedness.UNSIGNED if match.group(1).startswith("u") else Signedness.SIGNLESS
    return IntegerType(int(match.group(2)), sign)


_STORAGE = re.compile("(i|si|u|ui)([1-9][0-9]?)")


def _parse_pair(parser: AttrParser) -> tuple[float, int]:
    scale = float(parser.parse_number(allow_boolean=False))
    zero_point = 0
    if parser.parse_optional_punctuation(":") is not None:
        zero_point = parser.parse_integer(allow_boolean=False)
    return scale, zero_point


def _spell_scale(scale: float) -> str:
    text = StringIO()
    Printer(text).print_float(scale, f64)
    return text.getvalue()


QUANT = Dialect("quant", [], [QuantizedType])
"""The types of MLIR's dialect `quant` that StableHLO has."""


def quantization_of(type_: Attribute) -> Quantization | None:
    """How the elements of an array stand for numbers; None if they are numbers, or no array."""
    if not isinstance(type_, TensorType):
        return None
    element_type = cast(Array, type_).element_type
    return element_type.data if isinstance(element_type, QuantizedType) else None


def has_quantized(types: Sequence[Attribute]) -> bool:
    """Whether one of the types is a quantized array, or a tuple with one."""
    return any(quantization_of(leaf) is not None for leaf in flatten(types))


def has_quantized_arrays(module: ModuleOp) -> bool:
    """Whether functions take or return quantized arrays, or something in them is one."""
    return any(
        op.name.startswith(_WITH_QUANTIZED) and has_quantized(_types_at(op))
        for op in operations_in(module)
    )


_WITH_QUANTIZED = ("stablehlo.", "func.")
"""Operations of other dialects have no quantized arrays, or none that these do not have too."""


def _types_at(op: Operation) -> list[Attribute]:
    found = [result.type for result in op.results]
    found += [a.type for region in op.regions for block in region.blocks for a in block.args]
    if isinstance(op, FuncOp):
        found += [*op.function_type.inputs.data, *op.function_type.outputs.data]
    return found


def with_element_type(type_: Attribute, element_type: Attribute) -> Array:
    """The array type with other elements, its bounds kept."""
    found = cast(Array, type_)
    return TensorType(element_type, found.get_shape(), found.encoding)
