"""Formulas of arrays, written as mathematics writes them, as operations of the `xla` dialect.

    x = Terms(conversion, type_).of(value)
    y = (x * x + 1.0).sqrt()

A number stands for an array of it. All terms of one formula have the same sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion as conversions
from xla_dialect.ops import elementwise
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.types import (
    PRED,
    Array,
    ElementClass,
    array_like,
    component_type,
    element_class,
)

Operand: TypeAlias = "Term | float"
"""The other operand of a term's operators."""


@dataclass
class Terms:
    """The insertion point for the terms of one formula, and the constants made there."""

    conversion: Conversion
    type: Array
    """Gives the sizes of all terms."""
    _numbers: dict[tuple[Attribute, str], SSAValue] = field(
        default_factory=dict[tuple[Attribute, str], SSAValue]
    )

    def of(self, value: SSAValue) -> Term:
        """The term for a value that exists."""
        return Term(self, value)

    def number(self, number: float, element_type: Attribute) -> Term:
        """An array of one number."""
        key = element_type, repr(number)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = self._constant(number, element_type)
        return Term(self, found)

    def _constant(self, number: float, element_type: Attribute) -> SSAValue:
        scalar = TensorType(element_type, ())
        is_complex = element_class(element_type) == ElementClass.COMPLEX
        element = (number, 0.0) if is_complex else number
        constant = self.conversion.constant(scalar, [element])
        if not self.type.shape.data:
            return constant
        return self.conversion.broadcast(constant, array_like(self.type, element_type))


def term_of(conversion: Conversion, value: SSAValue) -> Term:
    """The term of a formula of its own for an array."""
    return Terms(conversion, cast(Array, value.type)).of(value)


def _binary(op_class: type[XlaOp]) -> Callable[[Term, Operand], Term]:
    """The method that applies an elementwise operation to a term and another."""
    return lambda self, other: self.emit(op_class, other)


def _unary(op_class: type[XlaOp]) -> Callable[[Term], Term]:
    """The method that applies an elementwise operation to a term."""
    return lambda self: self.emit(op_class)


def _component(op_class: type[XlaOp]) -> Callable[[Term], Term]:
    """The method that applies an operation whose result is real."""
    return lambda self: self.emit(
        op_class, type_=array_like(self.type, component_type(self.element_type))
    )


def _compared(direction: ComparisonDirection) -> Callable[[Term, Operand], Term]:
    """The method that says whether the elements of a term compare so with another."""
    return lambda self, other: self.compare(direction, other)


@dataclass(frozen=True, eq=False)
class Term:
    """An array within a formula."""

    terms: Terms
    value: SSAValue

    @property
    def type(self) -> Array:
        """The type of the array."""
        return cast(Array, self.value.type)

    @property
    def element_type(self) -> Attribute:
        """The element type of the array."""
        return self.type.element_type

    def emit(self, op_class: type[XlaOp], *others: Operand, type_: Attribute | None = None) -> Term:
        """An operation on this term and others; its result has a type, or that of this one."""
        values = [self.value, *(self._beside(other).value for other in others)]
        types = [self.type if type_ is None else type_]
        return Term(self.terms, self.terms.conversion.emit(op_class, values, types)[0])

    def _beside(self, other: Operand) -> Term:
        return other if isinstance(other, Term) else self.number(other)

    def number(self, number: float) -> Term:
        """An array of one number, of this element type."""
        return self.terms.number(number, self.element_type)

    __add__ = _binary(elementwise.AddOp)
    __sub__ = _binary(elementwise.SubtractOp)
    __mul__ = _binary(elementwise.MultiplyOp)
    __truediv__ = _binary(elementwise.DivideOp)
    __pow__ = _binary(elementwise.PowerOp)
    __mod__ = _binary(elementwise.RemainderOp)
    """The remainder with the sign of the dividend."""
    __and__ = _binary(elementwise.AndOp)
    __or__ = _binary(elementwise.OrOp)
    __xor__ = _binary(elementwise.XorOp)
    maximum = _binary(elementwise.MaximumOp)
    minimum = _binary(elementwise.MinimumOp)
    arctangent = _binary(elementwise.Atan2Op)
    """`atan2(self, other)`."""
    __neg__ = _unary(elementwise.NegateOp)
    __invert__ = _unary(elementwise.NotOp)
    sqrt = _unary(elementwise.SqrtOp)
    exp = _unary(elementwise.ExponentialOp)
    log = _unary(elementwise.LogOp)
    """The natural logarithm."""
    floor = _unary(elementwise.FloorOp)

    def __radd__(self, other: float) -> Term:
        return self._beside(other) + self

    def __rsub__(self, other: float) -> Term:
        return self._beside(other) - self

    def __rmul__(self, other: float) -> Term:
        return self._beside(other) * self

    def __rtruediv__(self, other: float) -> Term:
        return self._beside(other) / self

    __abs__ = _component(elementwise.AbsOp)

    def compare(self, direction: ComparisonDirection, other: Operand) -> Term:
        """Whether the elements compare so."""
        found = self.terms.conversion.emit(
            elementwise.CompareOp,
            [self.value, self._beside(other).value],
            [array_like(self.type, PRED)],
            {"direction": ComparisonDirectionAttr(direction)},
        )
        return Term(self.terms, found[0])

    __lt__ = _compared(ComparisonDirection.LT)
    __le__ = _compared(ComparisonDirection.LE)
    __gt__ = _compared(ComparisonDirection.GT)
    __ge__ = _compared(ComparisonDirection.GE)
    equals = _compared(ComparisonDirection.EQ)
    differs = _compared(ComparisonDirection.NE)
    """`self ≠ other`, element by element; a NaN differs from itself."""

    def where(self, on_true: Term, on_false: Operand) -> Term:
        """Of a predicate: one or the other, element by element."""
        values = [self.value, on_true.value, on_true._beside(on_false).value]
        found = self.terms.conversion.emit(elementwise.SelectOp, values, [on_true.type])
        return Term(self.terms, found[0])

    real = _component(elementwise.RealOp)
    imag = _component(elementwise.ImagOp)

    def complex(self, imag: Term, type_: Attribute) -> Term:
        """The complex number with this real part, of a complex array type."""
        return self.emit(elementwise.ComplexOp, imag, type_=type_)

    def converted(self, element_type: Attribute) -> Term:
        """The same numbers in another element type."""
        if element_type == self.element_type:
            return self
        return self.emit(conversions.ConvertOp, type_=array_like(self.type, element_type))

    def bits(self, element_type: Attribute) -> Term:
        """The bits, as elements of another type of the same width."""
        return self.emit(conversions.BitcastConvertOp, type_=array_like(self.type, element_type))

    def polynomial(self, coefficients: Sequence[float]) -> Term:
        """`Σ coefficients[i] * self^i` by Horner's rule."""
        value = self._beside(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = value * self + coefficient
        return value
