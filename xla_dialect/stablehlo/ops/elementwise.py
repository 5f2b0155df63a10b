"""Elementwise operations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType, i32
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion, elementwise
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import (
    AccuracyModeAttr,
    Inexpressible,
    ResultAccuracy,
    xla_value,
)
from xla_dialect.stablehlo.op import Codec, PureOp, StableHloOp, just_as, same_as
from xla_dialect.text.accuracy import Accuracy
from xla_dialect.text.grammars import parsed
from xla_dialect.types import (
    BY_TYPE,
    PRED,
    Array,
    ElementClass,
    array,
    array_like,
    as_array,
    component_type,
    element_class,
    element_name,
    fits,
    sizes_of,
    spell,
    spell_all,
)
from xla_dialect.violations import Violation, check
from xla_dialect.xdsl.directives import Types, TypesDirective, types_directive


class ElementwiseOp(PureOp):
    """An operation on the elements in one place; subclasses have the operands."""

    assembly_format = "operands attr-dict `:` custom<SameType>(type(operands), type(results))"

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute] | None:
        """The result type, by the rules of `SAME`; raises Violation."""
        if self.SAME is None:
            return None
        types = self.xla_operand_types(operands, ())
        return results_of(self.SAME, types, self.xla_properties(), declared)


_OF_COMPLEX = (
    elementwise.CbrtOp,
    elementwise.ClampOp,
    elementwise.CompareOp,
    elementwise.MaximumOp,
    elementwise.MinimumOp,
)
"""Operations that StableHLO has for complex numbers too, which it orders, and XLA has not."""


def results_of(
    op_class: type[XlaOp],
    operands: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    declared: Sequence[Attribute],
) -> Sequence[Attribute]:
    """
    The result types of an elementwise operation on operands of these types; raises Violation.

    Complex numbers obey the rules of their parts where XLA has no rules for them.
    """
    arrays = [type_ for type_ in map(as_array, operands) if type_ is not None]
    elements = {type_.element_type for type_ in arrays}
    element = elements.pop() if len(elements) == 1 and len(arrays) == len(operands) else None
    is_complex = element is not None and element_class(element) == ElementClass.COMPLEX
    if element is None or not is_complex or op_class not in _OF_COMPLEX:
        return op_class.types_of(operands, properties, (), declared)
    parts = [array_like(type_, component_type(element)) for type_ in arrays]
    found = map(as_array, op_class.types_of(parts, properties, (), declared))
    return [t if t.element_type == PRED else array_like(t, element) for t in found if t is not None]


class UnaryOp(ElementwiseOp):
    """An elementwise operation of one operand."""

    operand = operand_def()


def _kept_accuracy(op: StableHloOp, value: ResultAccuracy | None) -> Attribute | None:
    text = "" if value is None else str(value.accuracy())
    return StringAttr(text) if text else None


def _accuracy_of(op: XlaOp, kept: Attribute | None) -> Attribute | None:
    if kept is None:
        return None
    text = kept.data if isinstance(kept, StringAttr) else str(kept)
    try:
        found = parsed(Accuracy.parse, text)
    except SpellingError as error:
        raise Inexpressible(f"result_accuracy: {error}") from None
    return ResultAccuracy.of(found.atol, found.rtol, found.ulps, AccuracyModeAttr(found.mode))


class AccurateUnaryOp(UnaryOp):
    """A function whose accuracy may be asked for."""

    CODECS: ClassVar = {
        "result_accuracy": Codec("xla.result_accuracy", _kept_accuracy, _accuracy_of, is_kept=True)
    }

    result_accuracy = opt_prop_def(ResultAccuracy)


class BinaryOp(ElementwiseOp):
    """An elementwise operation of two operands."""

    lhs = operand_def()
    rhs = operand_def()


@just_as(elementwise.AbsOp)
class AbsOp(UnaryOp):
    """`|x|`; of a complex operand the real modulus. Unsigned integers have none."""

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """The same types; raises Violation for unsigned integers, which HLO takes too."""
        type_ = as_array(types[0])
        if type_ is not None and element_class(type_.element_type) == ElementClass.UNSIGNED:
            allowed = (ElementClass.SIGNED | ElementClass.FLOAT | ElementClass.COMPLEX).describe()
            name = element_name(type_.element_type)
            raise Violation("C1", f"operand has element type {name}, allowed: {allowed}")
        return types


CbrtOp = same_as(elementwise.CbrtOp, AccurateUnaryOp)
CeilOp = same_as(elementwise.CeilOp, UnaryOp)
ConvertOp = same_as(conversion.ConvertOp, UnaryOp)
CosineOp = same_as(elementwise.CosineOp, AccurateUnaryOp)
CountLeadingZerosOp = same_as(elementwise.CountLeadingZerosOp, UnaryOp)
ExponentialMinusOneOp = same_as(elementwise.ExponentialMinusOneOp, AccurateUnaryOp)
ExponentialOp = same_as(elementwise.ExponentialOp, AccurateUnaryOp)
FloorOp = same_as(elementwise.FloorOp, UnaryOp)
ImagOp = same_as(elementwise.ImagOp, UnaryOp)
IsFiniteOp = same_as(elementwise.IsFiniteOp, UnaryOp)
LogOp = same_as(elementwise.LogOp, AccurateUnaryOp)
LogPlusOneOp = same_as(elementwise.LogPlusOneOp, AccurateUnaryOp)
LogisticOp = same_as(elementwise.LogisticOp, AccurateUnaryOp)
NegateOp = same_as(elementwise.NegateOp, UnaryOp)
NotOp = same_as(elementwise.NotOp, UnaryOp)
PopcntOp = same_as(elementwise.PopcntOp, UnaryOp)
RealOp = same_as(elementwise.RealOp, UnaryOp)
RoundNearestAfzOp = same_as(elementwise.RoundNearestAfzOp, UnaryOp)
RoundNearestEvenOp = same_as(elementwise.RoundNearestEvenOp, UnaryOp)
RsqrtOp = same_as(elementwise.RsqrtOp, AccurateUnaryOp)
SignOp = same_as(elementwise.SignOp, UnaryOp)
SineOp = same_as(elementwise.SineOp, AccurateUnaryOp)
SqrtOp = same_as(elementwise.SqrtOp, AccurateUnaryOp)
TanOp = same_as(elementwise.TanOp, AccurateUnaryOp)
TanhOp = same_as(elementwise.TanhOp, AccurateUnaryOp)

AddOp = same_as(elementwise.AddOp, BinaryOp)
AndOp = same_as(elementwise.AndOp, BinaryOp)
Atan2Op = same_as(elementwise.Atan2Op, BinaryOp)
DivideOp = same_as(elementwise.DivideOp, BinaryOp)
MaximumOp = same_as(elementwise.MaximumOp, BinaryOp)
MinimumOp = same_as(elementwise.MinimumOp, BinaryOp)
MultiplyOp = same_as(elementwise.MultiplyOp, BinaryOp)
OrOp = same_as(elementwise.OrOp, BinaryOp)
PowerOp = same_as(elementwise.PowerOp, BinaryOp)
RemainderOp = same_as(elementwise.RemainderOp, BinaryOp)
ShiftLeftOp = same_as(elementwise.ShiftLeftOp, BinaryOp)
ShiftRightArithmeticOp = same_as(elementwise.ShiftRightArithmeticOp, BinaryOp)
ShiftRightLogicalOp = same_as(elementwise.ShiftRightLogicalOp, BinaryOp)
SubtractOp = same_as(elementwise.SubtractOp, BinaryOp)
XorOp = same_as(elementwise.XorOp, BinaryOp)


ClampOp = same_as(elementwise.ClampOp, ElementwiseOp)


@types_directive
class SelectTypes(TypesDirective):
    """The type of the predicate, and the type of everything else."""

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """The second type is that of both values and of the result."""
        return ([types[0], types[1], types[1]], [types[1]]) if len(types) == 2 else None

    def short(self, operands: Types, results: Types) -> Types | None:
        """The types of the predicate and of one value, if the others are alike."""
        is_one = operands[1] == operands[2] and [operands[1]] == list(results)
        return operands[:2] if is_one else None


SelectOp = same_as(
    elementwise.SelectOp,
    ElementwiseOp,
    assembly_format="operands attr-dict `:` custom<SelectTypes>(type(operands), type(results))",
)


@types_directive
class ComplexType(TypesDirective):
    """The type of the result; the operands have its real component type."""

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """The operands have the component type of the one type."""
        if len(types) != 1 or not isinstance(types[0], TensorType):
            return None
        result = cast(Array, types[0])
        part = component_type(result.element_type)
        return ([array_like(result, part)] * count, types) if part != result.element_type else None

    def short(self, operands: Types, results: Types) -> Types | None:
        """The type of the result, if it says those of the operands."""
        full = self.full(results, len(operands))
        return results if full is not None and list(operands) == full[0] else None


ComplexOp = same_as(
    elementwise.ComplexOp,
    BinaryOp,
    assembly_format="operands attr-dict `:` custom<ComplexType>(type(operands), type(results))",
)


@just_as(conversion.BitcastConvertOp)
class BitcastConvertOp(UnaryOp):
    """The same bits in another element type."""

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """By the rules of `xla`, but for i1, which is one bit wide here, and a new size of 1."""
        before, after = as_array(operands[0]), as_array(declared[0])
        if before is None or after is None:
            raise VerifyException(f"takes and returns arrays, found {spell_all(operands)}")
        if (before.element_type == PRED) != (after.element_type == PRED):
            return [bits_type(before, after)]
        return conversion.BitcastConvertOp.types_of([reshaped(before, after)], {}, (), declared)


def bits_type(before: Array, after: Array) -> Array:
    """The type of the bits of integers or floats, or of what bits stand for; VerifyException."""
    sizes, is_narrow = sizes_of(before), before.element_type == PRED
    row = BY_TYPE[(after if is_narrow else before).element_type]
    has_width = not is_narrow or (bool(sizes) and compatible(sizes[-1], row.bits))
    found = array(after.element_type, sizes[:-1] if is_narrow else (*sizes, row.bits))
    check(
        has_width and fits(found, after) and row.element_class is not ElementClass.COMPLEX,
        "the widths of {} and {} differ",
        spell(before),
        spell(after),
    )
    return found


def reshaped(before: Array, after: Array) -> Array:
    """The type of the operand, with a last size of 1 more or less where `after` has it."""
    sizes, rank = sizes_of(before), len(sizes_of(after))
    if BY_TYPE[before.element_type].bits == BY_TYPE[after.element_type].bits:
        others = [(*sizes, 1), *([sizes[:-1]] if sizes and compatible(sizes[-1], 1) else [])]
        for other in others:
            if len(other) == rank and fits(array(after.element_type, other), after):
                return array(before.element_type, other)
    return before


CompareOp = same_as(
    elementwise.CompareOp,
    BinaryOp,
    NAMES={"comparison_direction": "direction", "compare_type": "comparison_type"},
    assembly_format=(
        "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` "
        "functional-type(operands, results)"
    ),
)


@irdl_custom_directive
class Format(CustomDirective):
    """A format of floating-point numbers, `e5m2`: the bits of exponent and mantissa."""

    exponent_bits: AttributeVariable
    mantissa_bits: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the format."""
        position = parser.pos
        word = parser.parse_identifier()
        match = _FORMAT.fullmatch(word)
        if match is None:
            parser.raise_error(f"{word} is no format like e5m2", position)
        for variable, digits in zip(
            (self.exponent_bits, self.mantissa_bits), match.groups(), strict=True
        ):
            variable.set(state, IntegerAttr(int(digits), i32))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the format."""
        state.print_whitespace(printer)
        bits = (self.exponent_bits.get(op), self.mantissa_bits.get(op))
        exponent, mantissa = (cast("IntegerAttr[Any]", each).value.data for each in bits)
        printer.print_string(f"e{exponent}m{mantissa}")


_FORMAT = re.compile("e([0-9]{1,9})m([0-9]{1,9})")


def narrow(name: str) -> Codec:
    """A number of 32 bits, which is one of 64 in `xla`."""
    return Codec(name, lambda op, value: xla_value(value), _narrowed)


def _narrowed(op: XlaOp, value: IntegerAttr[Any]) -> Attribute:
    return IntegerAttr(value.value.data, i32)


@just_as(conversion.ReducePrecisionOp)
class ReducePrecisionOp(UnaryOp):
    """The nearest number of a format with fewer bits."""

    CODECS: ClassVar = {name: narrow(name) for name in ("exponent_bits", "mantissa_bits")}
    exponent_bits = prop_def(IntegerAttr.constr(i32))
    mantissa_bits = prop_def(IntegerAttr.constr(i32))
    assembly_format = (
        "$operand `,` `format` `=` custom<Format>($exponent_bits, $mantissa_bits) attr-dict `:` "
        "custom<SameType>(type(operands), type(results))"
    )
