"""Elementwise operations of StableHLO and CHLO."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.utils.str_enum import StrEnum

from xla_dialect.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion as conversions
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import elementwise_ternary as ternary
from xla_dialect.ops import elementwise_unary as unary
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.stablehlo.attributes import Fields, Word
from xla_dialect.stablehlo.conversion import Conversion, as_array, sizes_of
from xla_dialect.stablehlo.source import Convert, Row, SourceOp
from xla_dialect.stablehlo.syntax import complex_type, form, select_types
from xla_dialect.types import BY_TYPE, PRED, array, spell

_UNARY: tuple[type[XlaOp], ...] = (
    unary.AbsOp,
    unary.CbrtOp,
    unary.CeilOp,
    unary.CosineOp,
    unary.CountLeadingZerosOp,
    unary.ExponentialMinusOneOp,
    unary.ExponentialOp,
    unary.FloorOp,
    unary.ImagOp,
    unary.IsFiniteOp,
    unary.LogOp,
    unary.LogPlusOneOp,
    unary.LogisticOp,
    unary.NegateOp,
    unary.NotOp,
    unary.PopcntOp,
    unary.RealOp,
    unary.RoundNearestAfzOp,
    unary.RoundNearestEvenOp,
    unary.RsqrtOp,
    unary.SignOp,
    unary.SineOp,
    unary.SqrtOp,
    unary.TanOp,
    unary.TanhOp,
    conversions.ConvertOp,
)
"""Operations of one operand with the same name in StableHLO."""

_BINARY: tuple[type[XlaOp], ...] = (
    binary.AddOp,
    binary.AndOp,
    binary.Atan2Op,
    binary.DivideOp,
    binary.MaximumOp,
    binary.MinimumOp,
    binary.MultiplyOp,
    binary.OrOp,
    binary.PowerOp,
    binary.RemainderOp,
    binary.ShiftLeftOp,
    binary.ShiftRightArithmeticOp,
    binary.ShiftRightLogicalOp,
    binary.SubtractOp,
    binary.XorOp,
)
"""Operations of two operands with the same name in StableHLO."""

_Enumeration = TypeVar("_Enumeration", bound=StrEnum)


def one_to_one(op_class: type[XlaOp]) -> Convert:
    """The conversion to one operation with the same operands and no properties."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        accuracy = op.take("result_accuracy")
        if accuracy is not None:
            keep_accuracy(op, accuracy)
        return conversion.emit(op_class, conversion.operands(op), conversion.result_types(op))

    return convert


def keep_accuracy(op: SourceOp, accuracy: Attribute) -> None:
    """Keeps a result accuracy that is not the default one, spelled as in HLO text."""
    if not isinstance(accuracy, Fields):
        op.fail(f"result_accuracy is {accuracy}, not #stablehlo.result_accuracy<...>")
    fields = dict(accuracy.data)
    mode = fields.get("mode")
    word = mode.data if isinstance(mode, Word) else "DEFAULT"
    if word == "TOLERANCE":
        numbers = ",".join(f"{name}={_number(fields.get(name))}" for name in _TOLERANCES)
        op.attributes["xla.result_accuracy"] = StringAttr(f"{{tolerance={{{numbers}}}}}")
    elif word != "DEFAULT":
        op.attributes["xla.result_accuracy"] = StringAttr(f"{{mode={word.lower()}}}")


_TOLERANCES = ("atol", "rtol", "ulps")


def _number(value: Attribute | None) -> float | int:
    if isinstance(value, FloatAttr):
        number = cast("FloatAttr[Any]", value).value.data
        return int(number) if number.is_integer() else number
    return cast("IntegerAttr[Any]", value).value.data if isinstance(value, IntegerAttr) else 0


def taken_member(op: SourceOp, name: str, enumeration: type[_Enumeration]) -> _Enumeration:
    """Takes the word of an attribute as a member of an enumeration; an error if absent."""
    word = op.word(name)
    if word is None:
        op.fail(f"{name} is missing")
    return member(op, word, enumeration)


def member(op: SourceOp, word: str, enumeration: type[_Enumeration]) -> _Enumeration:
    """A word as a member of an enumeration; an error at the operation if there is none."""
    if word not in enumeration.__members__.values():
        op.fail(f"{word} is none of {', '.join(enumeration)}")
    return enumeration(word)


def comparison_properties(op: SourceOp) -> dict[str, Attribute]:
    """Takes what a comparison asks; the comparison type NOTYPE is that of the element type."""
    direction = taken_member(op, "comparison_direction", ComparisonDirection)
    properties: dict[str, Attribute] = {"direction": ComparisonDirectionAttr(direction)}
    order = op.word("compare_type")
    if order not in (None, "NOTYPE"):
        properties["comparison_type"] = ComparisonTypeAttr(member(op, order, ComparisonType))
    return properties


def convert_compare(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.compare`."""
    properties = comparison_properties(op)
    return conversion.emit(
        binary.CompareOp, conversion.operands(op), conversion.result_types(op), properties
    )


def parse_format(parser: Parser) -> Mapping[str, Attribute]:
    """Parses `e5m2`, the bits of exponent and mantissa."""
    position = parser.pos
    word = parser.parse_identifier()
    match = _FORMAT.fullmatch(word)
    if match is None:
        parser.raise_error(f"{word} is no format like e5m2", position)
    bits = (IntegerAttr(int(digits), i64) for digits in match.groups())
    return dict(zip(_BITS, bits, strict=True))


_FORMAT = re.compile("e([0-9]{1,9})m([0-9]{1,9})")
_BITS = ("exponent_bits", "mantissa_bits")


def convert_reduce_precision(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.reduce_precision`."""
    return conversion.emit(
        conversions.ReducePrecisionOp,
        conversion.operands(op),
        conversion.result_types(op),
        {name: IntegerAttr(op.integer(name), i64) for name in _BITS},
    )


def convert_bitcast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.bitcast_convert`; i1 is one bit wide, and a new dimension of size 1 is allowed."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = as_array(operand.type), as_array(declared)
    if before is None or after is None:
        op.fail(f"takes and returns arrays, found {spell(operand.type)} and {spell(declared)}")
    if (before.element_type == PRED) != (after.element_type == PRED):
        op.fail(f"the widths of {spell(before)} and {spell(after)} differ")
    sizes, wanted = sizes_of(before), sizes_of(after)
    same_width = BY_TYPE[before.element_type].bits == BY_TYPE[after.element_type].bits
    if same_width and ((*sizes, 1) == wanted or sizes == (*wanted, 1)):
        reshaped = array(before.element_type, wanted)
        (operand,) = conversion.emit(ReshapeOp, [operand], [reshaped])
    return conversion.emit(conversions.BitcastConvertOp, [operand], [declared])


def _name(op_class: type[XlaOp]) -> str:
    return f"stablehlo.{op_class.name.removeprefix('xla.')}"


_ELEMENTWISE = form()

ROWS: Mapping[str, Row] = {
    **{_name(c): Row(_ELEMENTWISE, one_to_one(c), operands=1) for c in _UNARY},
    **{_name(c): Row(_ELEMENTWISE, one_to_one(c), operands=2) for c in _BINARY},
    "stablehlo.bitcast_convert": Row(_ELEMENTWISE, convert_bitcast, operands=1),
    "stablehlo.complex": Row(form(complex_type), one_to_one(binary.ComplexOp), operands=2),
    "stablehlo.clamp": Row(_ELEMENTWISE, one_to_one(ternary.ClampOp), operands=3),
    "stablehlo.select": Row(form(select_types), one_to_one(ternary.SelectOp), operands=3),
    "stablehlo.compare": Row(
        form(
            words=(
                ("comparison_direction", "comparison_direction"),
                ("compare_type", "comparison_type"),
            )
        ),
        convert_compare,
        operands=2,
    ),
    "stablehlo.reduce_precision": Row(
        form(format=parse_format), convert_reduce_precision, operands=1
    ),
}
