"""Elementwise operations of StableHLO and CHLO."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.attributes import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion as conversions
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import elementwise_ternary as ternary
from xla_dialect.ops import elementwise_unary as unary
from xla_dialect.ops.data_movement import ReshapeOp
from xla_dialect.stablehlo.attributes import Fields, Word
from xla_dialect.stablehlo.bits import convert_bits
from xla_dialect.stablehlo.complex_numbers import (
    convert_cbrt,
    convert_clamp,
    convert_maximum,
    convert_minimum,
    emit_comparison,
)
from xla_dialect.stablehlo.conversion import Conversion, Convert, Row, sizes_of
from xla_dialect.stablehlo.correspondence import Property, Same, Special, integer, named, same, word
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import Clause, complex_type, form, same_type, select_types
from xla_dialect.types import (
    BY_TYPE,
    PRED,
    ElementClass,
    array,
    as_array,
    element_class,
    element_name,
    fits,
    spell,
)

UNARY: tuple[type[XlaOp], ...] = (
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

BINARY: tuple[type[XlaOp], ...] = (
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


def keep_accuracy(op: SourceOp) -> None:
    """Keeps a result accuracy that is not the default one, spelled as in HLO text."""
    accuracy = op.take("result_accuracy")
    if accuracy is None:
        return
    if not isinstance(accuracy, Fields):
        op.fail(f"result_accuracy is {accuracy}, not #stablehlo.result_accuracy<...>")
    fields = dict(accuracy.data)
    if unknown := [name for name in fields if name not in (*_TOLERANCES, "mode")]:
        op.fail(f"result_accuracy has no {unknown[0]}")
    mode = fields.get("mode")
    word = mode.data if isinstance(mode, Word) else str(mode)
    if word not in _MODES:
        op.fail(f"{word} is none of {', '.join(_MODES)}")
    for name in _TOLERANCES:
        number = fields.get(name)
        value = (
            cast("FloatAttr[Any] | IntegerAttr[Any]", number).value.data
            if isinstance(number, FloatAttr | IntegerAttr)
            else 0
        )
        if value < 0 or (value and word != "TOLERANCE"):
            op.fail(f"{name} is {value} in result_accuracy of mode {word}")
    if word == "TOLERANCE":
        numbers = ",".join(f"{name}={_number(fields.get(name))}" for name in _TOLERANCES)
        op.attributes["xla.result_accuracy"] = StringAttr(f"{{tolerance={{{numbers}}}}}")
    elif word != "DEFAULT":
        op.attributes["xla.result_accuracy"] = StringAttr(f"{{mode={word.lower()}}}")


def one_to_one(op_class: type[XlaOp], at_least: int = 0) -> Same:
    """The correspondence of an operation without properties."""
    return same(op_class, at_least=at_least, before=keep_accuracy)


def require_signed(op: SourceOp) -> None:
    """Fails for unsigned integers, which HLO has absolute values of."""
    keep_accuracy(op)
    type_ = as_array(op.operands[0].type)
    if type_ is not None and element_class(type_.element_type) == ElementClass.UNSIGNED:
        name = element_name(type_.element_type)
        allowed = (ElementClass.SIGNED | ElementClass.FLOAT | ElementClass.COMPLEX).describe()
        op.fail(f"(C1) operand has element type {name}, allowed: {allowed}")


def special(op_class: type[XlaOp], convert: Convert) -> Special:
    """The same with a conversion of its own for some element types."""

    def convert_with_accuracy(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        keep_accuracy(op)
        return convert(op, conversion)

    return Special(one_to_one(op_class), convert_with_accuracy)


_TOLERANCES = ("atol", "rtol", "ulps")
_MODES = ("DEFAULT", "HIGHEST", "TOLERANCE")


def _number(value: Attribute | None) -> float | int:
    if isinstance(value, FloatAttr):
        number = cast("FloatAttr[Any]", value).value.data
        return int(number) if number.is_integer() else number
    return cast("IntegerAttr[Any]", value).value.data if isinstance(value, IntegerAttr) else 0


COMPARISON: Mapping[str, Property] = {
    "direction": word("comparison_direction", "comparison_direction", ComparisonDirectionAttr),
    "comparison_type": word(
        "compare_type", "comparison_type", ComparisonTypeAttr, absent=("NOTYPE",)
    ),
}
"""The comparison direction; the type NOTYPE stands for the default of the element type."""

COMPARE = same(binary.CompareOp, COMPARISON)


def convert_compare(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.compare`."""
    return emit_comparison(op, conversion, conversion.operands(op), COMPARE.taken(op))


def parse_format(parser: Parser) -> Mapping[str, Attribute]:
    """Parses `e5m2`, the bits of exponent and mantissa."""
    position = parser.pos
    word = parser.parse_identifier()
    match = _FORMAT.fullmatch(word)
    if match is None:
        parser.raise_error(f"{word} is no format like e5m2", position)
    bits = (IntegerAttr(int(digits), i32) for digits in match.groups())
    return dict(zip(_BITS, bits, strict=True))


_FORMAT = re.compile("e([0-9]{1,9})m([0-9]{1,9})")
_BITS = ("exponent_bits", "mantissa_bits")


def convert_bitcast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.bitcast_convert`; i1 is one bit wide, and a new dimension of size 1 is allowed."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = as_array(operand.type), as_array(declared)
    if before is None or after is None:
        op.fail(f"takes and returns arrays, found {spell(operand.type)} and {spell(declared)}")
    if (before.element_type == PRED) != (after.element_type == PRED):
        return convert_bits(op, conversion, operand, before, after)
    sizes, rank = sizes_of(before), len(sizes_of(after))
    if BY_TYPE[before.element_type].bits == BY_TYPE[after.element_type].bits:
        others = [(*sizes, 1), *([sizes[:-1]] if sizes[-1:] == (1,) else [])]
        for other in others:
            if len(other) == rank and fits(array(after.element_type, other), declared):
                reshaped = array(before.element_type, other)
                (operand,) = conversion.emit(ReshapeOp, [operand], [reshaped])
    return conversion.emit(conversions.BitcastConvertOp, [operand], [declared])


def _name(op_class: type[XlaOp]) -> str:
    return f"stablehlo.{op_class.name.removeprefix('xla.')}"


_ELEMENTWISE = form(same_type)
_FUNCTION = form()

ROWS: Mapping[str, Row] = {
    **{_name(c): Row(_ELEMENTWISE, one_to_one(c), operands=1) for c in UNARY},
    **{_name(c): Row(_ELEMENTWISE, one_to_one(c), operands=2) for c in BINARY},
    "stablehlo.abs": Row(_ELEMENTWISE, same(unary.AbsOp, before=require_signed), operands=1),
    "stablehlo.cbrt": Row(_ELEMENTWISE, special(unary.CbrtOp, convert_cbrt), operands=1),
    "stablehlo.maximum": Row(_ELEMENTWISE, special(binary.MaximumOp, convert_maximum), operands=2),
    "stablehlo.minimum": Row(_ELEMENTWISE, special(binary.MinimumOp, convert_minimum), operands=2),
    "stablehlo.bitcast_convert": Row(
        _FUNCTION,
        Special(same(conversions.BitcastConvertOp), convert_bitcast),
        operands=1,
    ),
    "stablehlo.complex": Row(form(complex_type), one_to_one(binary.ComplexOp), operands=2),
    "stablehlo.clamp": Row(_ELEMENTWISE, special(ternary.ClampOp, convert_clamp), operands=3),
    "stablehlo.select": Row(form(select_types), one_to_one(ternary.SelectOp), operands=3),
    "stablehlo.compare": Row(
        form(
            words=(
                ("comparison_direction", "comparison_direction"),
                ("compare_type", "comparison_type"),
            ),
            words_before=1,
        ),
        Special(COMPARE, convert_compare),
        operands=2,
    ),
    "stablehlo.reduce_precision": Row(
        form(same_type, format=Clause(_BITS, parse_format, "e{}m{}".format)),
        same(conversions.ReducePrecisionOp, named(*(integer(name, type_=i32) for name in _BITS))),
        operands=1,
    ),
}
