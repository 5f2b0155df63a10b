"""
Scalar functions written as formulas: `x * y + 1.0` appends operations to a body.

A `Real` is a scalar of f32 or f64, a `Complex` a pair of them, a `Condition` an i1. Formulas name
no type: constants take that of the other operand.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.ir.formulas import Formula
from lowerings.xla_to_linalg.scalar_functions.element_functions import ScalarFunction
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder, component

Operand: TypeAlias = "Real | float"


@dataclass(frozen=True, eq=False)
class Condition:
    """A truth value."""

    scalars: ScalarBuilder
    value: SSAValue

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.scalars, self.scalars.both(self.value, other.value))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.scalars, self.scalars.either(self.value, other.value))

    def choose(self, if_true: Operand, if_false: Operand) -> Real:
        """One of two numbers, by this condition; at least one of them is a `Real`."""
        like = if_true if isinstance(if_true, Real) else cast("Real", if_false)
        values = like.lift(if_true).value, like.lift(if_false).value
        return Real(self.scalars, self.scalars.select(self.value, *values))

    def choose_complex(self, if_true: Complex, if_false: Complex) -> Complex:
        """One of two complex numbers, by this condition."""
        return Complex(
            self.choose(if_true.real, if_false.real),
            self.choose(if_true.imaginary, if_false.imaginary),
        )


@dataclass(frozen=True, eq=False)
class Real(Formula[Condition]):
    """A float, with the builder that its formulas go to."""

    scalars: ScalarBuilder
    value: SSAValue

    def constant(self, number: float) -> Real:
        """A constant of this number's type."""
        return Real(self.scalars, self.scalars.constant(number, self.value.type))

    def lift(self, operand: Operand) -> Real:
        """An operand as a number of this one's type."""
        return operand if isinstance(operand, Real) else self.constant(operand)

    def operation(self, op_class: type[Operation], *operands: Operand) -> Real:
        """An operation of numbers, whose result has their type."""
        values = [self.lift(operand).value for operand in operands]
        return Real(self.scalars, self.scalars.emit(op_class, values))

    def apply(self, op_class: type[Operation], *others: Operand) -> Real:
        """An operation of this number and others, whose result has their type."""
        return self.operation(op_class, self, *others)

    def converted(self, op_class: type[Operation], type_: Attribute) -> Real:
        """This number in another type."""
        return Real(self.scalars, self.scalars.emit(op_class, (self.value,), type_))

    def maximum(self, other: Operand) -> Real:
        """The larger of two numbers; NaN if one of them is."""
        return self.apply(arith.MaximumfOp, other)

    def minimum(self, other: Operand) -> Real:
        """The smaller of two numbers; NaN if one of them is."""
        return self.apply(arith.MinimumfOp, other)

    def exp(self) -> Real:
        """The exponential."""
        return self.apply(math.ExpOp)

    def expm1(self) -> Real:
        """The exponential, less 1."""
        return self.apply(math.ExpM1Op)

    def log(self) -> Real:
        """The natural logarithm."""
        return self.apply(math.LogOp)

    def log1p(self) -> Real:
        """The natural logarithm of 1 more."""
        return self.apply(math.Log1pOp)

    def sin(self) -> Real:
        """The sine of an angle in radians."""
        return self.apply(math.SinOp)

    def cos(self) -> Real:
        """The cosine of an angle in radians."""
        return self.apply(math.CosOp)

    def atan2(self, x: Operand) -> Real:
        """The angle of the point `(x, self)`."""
        return self.apply(math.Atan2Op, x)

    def compare(self, predicate: str, other: Operand) -> Condition:
        """A comparison; `predicate` as in MLIR, e.g. `olt`."""
        rhs = self.lift(other).value
        return Condition(self.scalars, self.scalars.compare_floats(predicate, self.value, rhs))

    def is_at_least(self, other: Operand) -> Condition:
        """False where a number is NaN."""
        return self.compare("oge", other)

    def is_finite(self) -> Condition:
        """Neither infinite nor NaN."""
        return abs(self).is_less(numbers.inf)

    def is_infinite(self) -> Condition:
        """Of either sign."""
        return abs(self).is_equal(numbers.inf)


@dataclass(frozen=True, eq=False)
class Complex:
    """A complex number by its parts, which have one type."""

    real: Real
    imaginary: Real

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.real - other.real, self.imaginary - other.imaginary)

    def __mul__(self, other: Complex) -> Complex:
        a, b, c, d = self.real, self.imaginary, other.real, other.imaginary
        return Complex(a * c - b * d, a * d + b * c)

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imaginary)

    def converted(self, op_class: type[Operation], type_: Attribute) -> Complex:
        """This number with parts of another type."""
        return Complex(
            self.real.converted(op_class, type_), self.imaginary.converted(op_class, type_)
        )

    @property
    def conjugate(self) -> Complex:
        """The mirror image in the real axis."""
        return Complex(self.real, -self.imaginary)

    @property
    def swapped(self) -> Complex:
        """The mirror image in the diagonal: `b + ia` for `a + ib`."""
        return Complex(self.imaginary, self.real)

    def constant(self, real: float, imaginary: float = 0.0) -> Complex:
        """A constant of this number's type."""
        return Complex(self.real.constant(real), self.real.constant(imaginary))


def of_real(function: Callable[..., Real | Condition]) -> ScalarFunction:
    """A formula as a function of scalars."""

    def evaluate(scalars: ScalarBuilder, *operands: SSAValue) -> SSAValue:
        return function(*(Real(scalars, operand) for operand in operands)).value

    return evaluate


def of_complex(function: Callable[..., Complex | Real | Condition]) -> ScalarFunction:
    """A formula of complex numbers as a function of complex scalars."""

    def evaluate(scalars: ScalarBuilder, *operands: SSAValue) -> SSAValue:
        return _joined(scalars, function(*(_parts(scalars, operand) for operand in operands)))

    return evaluate


def of_complex_in_double(function: Callable[..., Complex | Real]) -> ScalarFunction:
    """
    A formula that is evaluated in f64, and rounded for complex numbers of f32.

    Within the range of f32 nothing overflows or vanishes then, and no digit is lost that counts.
    """

    def evaluate(scalars: ScalarBuilder, *operands: SSAValue) -> SSAValue:
        type_ = component(operands[0])
        if type_ == f64:
            return of_complex(function)(scalars, *operands)
        wide = [_parts(scalars, each).converted(arith.ExtFOp, f64) for each in operands]
        return _joined(scalars, function(*wide).converted(arith.TruncFOp, type_))

    return evaluate


def _parts(scalars: ScalarBuilder, value: SSAValue) -> Complex:
    real, imaginary = scalars.parts(value)
    return Complex(Real(scalars, real), Real(scalars, imaginary))


def _joined(scalars: ScalarBuilder, result: Complex | Real | Condition) -> SSAValue:
    if isinstance(result, Complex):
        return scalars.create_complex(result.real.value, result.imaginary.value)
    return result.value
