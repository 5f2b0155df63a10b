"""Operations that StableHLO has just as the `xla` dialect has them: one statement for both ways.

A `Same` row names the class and, for each property here, its name there and how it is written. The
reader calls it; the writer looks it up by the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.dialects.builtin import BoolAttr, FloatAttr, IntegerAttr, IntegerType, f32, i64
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.str_enum import StrEnum

from xla_dialect.op import XlaOp
from xla_dialect.stablehlo.conversion import Conversion, dimension_list
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import flag_text

_Enumeration = TypeVar("_Enumeration", bound=StrEnum)


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


def integers(name: str, default: Sequence[int] | None = None) -> Property:
    """A list of integers."""
    return Property(name, lambda op: dimension_list(op.integers(name, default)), _same, array_text)


def integer(name: str, default: int | None = None, type_: IntegerType = i64) -> Property:
    """An integer, in StableHLO of this type."""

    def take(op: SourceOp) -> Attribute:
        return IntegerAttr(op.integer(name, default, type_), i64)

    return Property(name, take, _same, lambda value: f"{value} : {type_}")


def flag(name: str, default: bool | None = False) -> Property:
    """A boolean."""
    return Property(name, lambda op: BoolAttr.from_bool(op.flag(name, default)), _same, flag_text)


def number(name: str) -> Property:
    """A 32-bit float."""
    return Property(name, lambda op: FloatAttr(op.number(name), f32), _same, f32_text)


def word(
    name: str,
    enumeration: str,
    attribute_class: type[EnumAttribute[Any]],
    words: Mapping[str, StrEnum] | None = None,
    absent: tuple[str, ...] | None = None,
) -> Property:
    """
    A word of an enumeration.

    `words`: the members by their words in StableHLO, where they have other names here. `absent`:
    the words that say nothing; with them the property may be missing.
    """
    members = words or {str(m): m for m in attribute_class.enum_type}
    spelled = {member: text for text, member in members.items()}

    def take(op: SourceOp) -> Attribute | None:
        found = op.word(name)
        if absent is not None and (found is None or found in absent):
            return None
        if found is None:
            op.fail(f"{name} is missing")
        if found not in members:
            op.fail(f"{found} is none of {', '.join(members)}")
        return attribute_class(members[found])

    return Property(
        name, take, spelled.__getitem__, lambda text: f"#stablehlo<{enumeration} {text}>"
    )


def _same(value: Any) -> Any:
    return value


def array_text(values: Sequence[int]) -> str:
    """`array<i64: 1, 2>`"""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def i64_text(value: int) -> str:
    """`1 : i64`"""
    return f"{value} : i64"


def f32_text(value: float) -> str:
    """`1.0e-03 : f32`, exactly."""
    return f"{spell_number(value)} : f32"


def spell_number(value: float) -> str:
    """A finite number with a point, as MLIR wants it; hexadecimal digits of f32 for any other."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "0x7FC00000", "inf": "0x7F800000", "-inf": "0xFF800000"}[repr(value)]
    text = repr(value)
    mantissa, exponent, power = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent}{power}"


@dataclass(frozen=True)
class FieldProperties:
    """Properties that are fields of one attribute: `#stablehlo.gather<offset_dims = [1], ...>`."""

    name: str
    """The name of the property that holds the attribute."""
    attribute: str
    """The attribute's name with the dialect."""
    properties: tuple[str, ...]
    """The properties of the `xla` dialect that are its fields."""


@dataclass(frozen=True)
class Same:
    """One operation that is the same here and there; as a function it converts a parsed one."""

    op_class: type[XlaOp]
    properties: Mapping[str, Property]
    """Properties by their names in the `xla` dialect."""
    fields: FieldProperties | None = None
    before: Callable[[SourceOp], None] | None = None
    """Takes from a parsed operation what is kept as an attribute."""

    def __call__(self, op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        """Emits the operation."""
        if self.before is not None:
            self.before(op)
        properties = self.taken(op)
        operands, types = conversion.operands(op), conversion.result_types(op)
        regions = conversion.regions(op) if op.regions else ()
        return conversion.emit(self.op_class, operands, types, properties, regions)

    def taken(self, op: SourceOp) -> dict[str, Attribute]:
        """The properties of the operation, taken from a parsed one."""
        if self.fields is not None:
            op.spread(self.fields.name)
        found: dict[str, Attribute] = {}
        for name, each in self.properties.items():
            value = each.take(op)
            if value is not None:
                found[name] = value
        return found


def same(
    op_class: type[XlaOp],
    properties: Mapping[str, Property] | None = None,
    *,
    fields: FieldProperties | None = None,
    before: Callable[[SourceOp], None] | None = None,
) -> Same:
    """The correspondence of an operation, see `Same`."""
    return Same(op_class, properties or {}, fields, before)


def one_to_one(op_class: type[XlaOp]) -> Same:
    """The correspondence of an operation without properties."""
    return same(op_class)


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
