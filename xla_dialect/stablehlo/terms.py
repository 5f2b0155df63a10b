"""Formulas of arrays, written as mathematics writes them, as operations of the `xla` dialect.

    x = Terms(conversion, type_).of(value)
    y = (x * x + 1.0).sqrt()

A number stands for an array of it. All terms of one formula have the same sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops import conversion as conversions
from xla_dialect.ops import elementwise
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.stablehlo.conversion import NO_DIMENSIONS, Conversion
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
        literal = DenseIntOrFPElementsAttr.from_list(cast(Any, scalar), [cast(Any, element)])
        constant = self.conversion.emit(ConstantOp, (), [scalar], {"value": literal})
        if not self.type.shape.data:
            return constant[0]
        type_ = array_like(self.type, element_type)
        return self.conversion.emit(BroadcastOp, constant, [type_], {"dimensions": NO_DIMENSIONS})[
            0
        ]


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

    def _emit(
        self, op_class: type[XlaOp], *others: Operand, type_: Attribute | None = None
    ) -> Term:
        values = [self.value, *(self._beside(other).value for other in others)]
        types = [self.type if type_ is None else type_]
        return Term(self.terms, self.terms.conversion.emit(op_class, values, types)[0])

    def _beside(self, other: Operand) -> Term:
        return other if isinstance(other, Term) else self.number(other)

    def number(self, number: float) -> Term:
        """An array of one number, of this element type."""
        return self.terms.number(number, self.element_type)

    def __add__(self, other: Operand) -> Term:
        return self._emit(elementwise.AddOp, other)

    def __radd__(self, other: float) -> Term:
        return self._beside(other) + self

    def __sub__(self, other: Operand) -> Term:
        return self._emit(elementwise.SubtractOp, other)

    def __rsub__(self, other: float) -> Term:
        return self._beside(other) - self

    def __mul__(self, other: Operand) -> Term:
        return self._emit(elementwise.MultiplyOp, other)

    def __rmul__(self, other: float) -> Term:
        return self._beside(other) * self

    def __truediv__(self, other: Operand) -> Term:
        return self._emit(elementwise.DivideOp, other)

    def __rtruediv__(self, other: float) -> Term:
        return self._beside(other) / self

    def __pow__(self, other: Operand) -> Term:
        return self._emit(elementwise.PowerOp, other)

    def __mod__(self, other: Operand) -> Term:
        """The remainder with the sign of the dividend."""
        return self._emit(elementwise.RemainderOp, other)

    def __and__(self, other: Operand) -> Term:
        return self._emit(elementwise.AndOp, other)

    def __or__(self, other: Operand) -> Term:
        return self._emit(elementwise.OrOp, other)

    def __xor__(self, other: Operand) -> Term:
        return self._emit(elementwise.XorOp, other)

    def __neg__(self) -> Term:
        return self._emit(elementwise.NegateOp)

    def __abs__(self) -> Term:
        type_ = array_like(self.type, component_type(self.element_type))
        return self._emit(elementwise.AbsOp, type_=type_)

    def __invert__(self) -> Term:
        return self._emit(elementwise.NotOp)

    def compare(self, direction: ComparisonDirection, other: Operand) -> Term:
        """Whether the elements compare so."""
        found = self.terms.conversion.emit(
            elementwise.CompareOp,
            [self.value, self._beside(other).value],
            [array_like(self.type, PRED)],
            {"direction": ComparisonDirectionAttr(direction)},
        )
        return Term(self.terms, found[0])

    def __lt__(self, other: Operand) -> Term:
        return self.compare(ComparisonDirection.LT, other)

    def __le__(self, other: Operand) -> Term:
        return self.compare(ComparisonDirection.LE, other)

    def __gt__(self, other: Operand) -> Term:
        return self.compare(ComparisonDirection.GT, other)

    def __ge__(self, other: Operand) -> Term:
        return self.compare(ComparisonDirection.GE, other)

    def equals(self, other: Operand) -> Term:
        """`self = other`, element by element."""
        return self.compare(ComparisonDirection.EQ, other)

    def differs(self, other: Operand) -> Term:
        """`self ≠ other`, element by element; a NaN differs from itself."""
        return self.compare(ComparisonDirection.NE, other)

    def where(self, on_true: Term, on_false: Operand) -> Term:
        """Of a predicate: one or the other, element by element."""
        return on_true.chosen(self, on_false)

    def chosen(self, predicate: Term, otherwise: Operand) -> Term:
        """This where the predicate holds, else the other."""
        values = [predicate.value, self.value, self._beside(otherwise).value]
        conversion = self.terms.conversion
        return Term(self.terms, conversion.emit(elementwise.SelectOp, values, [self.type])[0])

    def maximum(self, other: Operand) -> Term:
        """The larger one."""
        return self._emit(elementwise.MaximumOp, other)

    def minimum(self, other: Operand) -> Term:
        """The smaller one."""
        return self._emit(elementwise.MinimumOp, other)

    def arctangent(self, other: Operand) -> Term:
        """`atan2(self, other)`."""
        return self._emit(elementwise.Atan2Op, other)

    def apply(self, op_class: type[XlaOp]) -> Term:
        """An elementwise operation whose result has the type of its operand."""
        return self._emit(op_class)

    def sqrt(self) -> Term:
        """The square root."""
        return self._emit(elementwise.SqrtOp)

    def exp(self) -> Term:
        """The exponential."""
        return self._emit(elementwise.ExponentialOp)

    def log(self) -> Term:
        """The natural logarithm."""
        return self._emit(elementwise.LogOp)

    def floor(self) -> Term:
        """The next integer below."""
        return self._emit(elementwise.FloorOp)

    def real(self) -> Term:
        """The real part."""
        return self._emit(
            elementwise.RealOp, type_=array_like(self.type, component_type(self.element_type))
        )

    def imag(self) -> Term:
        """The imaginary part."""
        return self._emit(
            elementwise.ImagOp, type_=array_like(self.type, component_type(self.element_type))
        )

    def complex(self, imag: Term, type_: Attribute) -> Term:
        """The complex number with this real part, of a complex array type."""
        return self._emit(elementwise.ComplexOp, imag, type_=type_)

    def converted(self, element_type: Attribute) -> Term:
        """The same numbers in another element type."""
        if element_type == self.element_type:
            return self
        return self._emit(conversions.ConvertOp, type_=array_like(self.type, element_type))

    def bits(self, integer: IntegerType) -> Term:
        """The bits as integers of the same width."""
        return self._emit(conversions.BitcastConvertOp, type_=array_like(self.type, integer))

    def from_bits(self, element_type: Attribute) -> Term:
        """The numbers that these integers are the bits of."""
        return self._emit(conversions.BitcastConvertOp, type_=array_like(self.type, element_type))

    def polynomial(self, coefficients: Sequence[float]) -> Term:
        """`Σ coefficients[i] * self^i` by Horner's rule."""
        value = self._beside(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = value * self + coefficient
        return value
