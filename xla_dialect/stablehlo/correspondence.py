"""Operations that StableHLO has just as the `xla` dialect has them: one statement for both ways.

A `Same` row names the class and, for each property here, its name there and how it is written. The
reader calls it; the writer looks it up by the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.source import SourceOp


@dataclass(frozen=True)
class Property:
    """One property, in both dialects."""

    name: str
    """In StableHLO."""
    take: Callable[[SourceOp], Attribute | None]
    """Takes it from a parsed operation; None where it is absent, and may be."""
    value: Callable[[Any], Any]
    """From its value in Python here to that in StableHLO: numbers, flags, words."""
    text: Callable[[Any], str]
    """That value as an attribute of StableHLO."""


def integer(name: str, default: int | None = None, type_: IntegerType = i64) -> Property:
    """An integer, in StableHLO of this type."""

    def take(op: SourceOp) -> Attribute:
        return IntegerAttr(op.integer(name, default, type_), i64)

    return Property(name, take, _same, lambda value: f"{value} : {type_}")


def _same(value: Any) -> Any:
    return value


def spell_number(value: float) -> str:
    """A finite number with a point, as MLIR wants it; hexadecimal digits of f32 for any other."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "0x7FC00000", "inf": "0x7F800000", "-inf": "0xFF800000"}[repr(value)]
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


@dataclass(frozen=True)
class Same:
    """One operation that is the same here and there; as a function it converts a parsed one."""

    op_class: type[XlaOp]
    properties: Mapping[str, Property]
    """Properties by their names in the `xla` dialect."""

    def __call__(self, op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        """Emits the operation."""
        properties = self.taken(op)
        operands, types = conversion.operands(op), conversion.result_types(op)
        regions = conversion.regions(op) if op.regions else ()
        return conversion.emit(self.op_class, operands, types, properties, regions)

    def taken(self, op: SourceOp) -> dict[str, Attribute]:
        """The properties of the operation, taken from a parsed one."""
        found: dict[str, Attribute] = {}
        for name, each in self.properties.items():
            value = each.take(op)
            if value is not None:
                found[name] = value
        return found


def same(op_class: type[XlaOp], properties: Mapping[str, Property]) -> Same:
    """The correspondence of an operation, see `Same`."""
    return Same(op_class, properties)


def named(*properties: Property) -> dict[str, Property]:
    """Properties that have the same name in both dialects."""
    return {each.name: each for each in properties}


@dataclass(frozen=True)
class Special:
    """An operation that is the same but for what reading it does first."""

    same: Same
    convert: Callable[[SourceOp, Conversion], Sequence[SSAValue]]

    def __call__(self, op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        """Converts a parsed operation."""
        return self.convert(op, conversion)
