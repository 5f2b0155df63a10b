"""Elementwise operations of one operand (docs/generated/ops.md#elementwise-unary)."""

from __future__ import annotations

from xla_dialect.builder.recorder import Recorder
from xla_dialect.builder.value import XlaValue
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_unary as ops


class ElementwiseUnaryMethods(Recorder):
    """Methods for functions of one array."""

    def _unary(self, op_class: type[XlaOp], operand: XlaValue) -> XlaValue:
        return self._append_one(op_class, self._ssa(operand))

    def abs(self, operand: XlaValue) -> XlaValue:
        """`|x|`, of complex numbers the modulus; `abs(INT_MIN) = INT_MIN`. Example: `b.abs(x)`."""
        return self._unary(ops.AbsOp, operand)

    def acos(self, operand: XlaValue) -> XlaValue:
        """`arccos x`, in [0, π]; NaN outside [-1, 1]. Example: `b.acos(x)`."""
        return self._unary(ops.AcosOp, operand)

    def acosh(self, operand: XlaValue) -> XlaValue:
        """`arcosh x`; NaN below 1. Example: `b.acosh(x)`."""
        return self._unary(ops.AcoshOp, operand)

    def asin(self, operand: XlaValue) -> XlaValue:
        """`arcsin x`, in [-π/2, π/2]; NaN outside [-1, 1]. Example: `b.asin(x)`."""
        return self._unary(ops.AsinOp, operand)

    def asinh(self, operand: XlaValue) -> XlaValue:
        """`arsinh x`. Example: `b.asinh(x)`."""
        return self._unary(ops.AsinhOp, operand)

    def atanh(self, operand: XlaValue) -> XlaValue:
        """`artanh x`; ±infinity at ±1, NaN beyond. Example: `b.atanh(x)`."""
        return self._unary(ops.AtanhOp, operand)

    def cbrt(self, operand: XlaValue) -> XlaValue:
        """The cube root, real for negative x. Example: `b.cbrt(x)`."""
        return self._unary(ops.CbrtOp, operand)

    def ceil(self, operand: XlaValue) -> XlaValue:
        """The smallest integer not below x; keeps the sign of zero. Example: `b.ceil(x)`."""
        return self._unary(ops.CeilOp, operand)

    def clz(self, operand: XlaValue) -> XlaValue:
        """The number of leading zero bits; the bit width for 0. Example: `b.clz(n)`."""
        return self._unary(ops.CountLeadingZerosOp, operand)

    def cos(self, operand: XlaValue) -> XlaValue:
        """`cos x`. Example: `b.cos(x)`."""
        return self._unary(ops.CosineOp, operand)

    def cosh(self, operand: XlaValue) -> XlaValue:
        """`cosh x`. Example: `b.cosh(x)`."""
        return self._unary(ops.CoshOp, operand)

    def erf(self, operand: XlaValue) -> XlaValue:
        """`erf(x) = (2/√π) ∫_0^x e^(-t²) dt`. Example: `b.erf(x)`."""
        return self._unary(ops.ErfOp, operand)

    def exp(self, operand: XlaValue) -> XlaValue:
        """`e^x`. Example: `b.exp(x)`."""
        return self._unary(ops.ExponentialOp, operand)

    def expm1(self, operand: XlaValue) -> XlaValue:
        """`e^x - 1`, accurate near 0. Example: `b.expm1(x)`."""
        return self._unary(ops.ExponentialMinusOneOp, operand)

    def floor(self, operand: XlaValue) -> XlaValue:
        """The largest integer not above x; keeps the sign of zero. Example: `b.floor(x)`."""
        return self._unary(ops.FloorOp, operand)

    def imag(self, operand: XlaValue) -> XlaValue:
        """The imaginary part; 0 for floats. Example: `b.imag(z)`."""
        return self._unary(ops.ImagOp, operand)

    def is_finite(self, operand: XlaValue) -> XlaValue:
        """Where x is neither infinite nor NaN. Example: `b.is_finite(x)`."""
        return self._unary(ops.IsFiniteOp, operand)

    def log(self, operand: XlaValue) -> XlaValue:
        """`ln x`; -infinity at ±0, NaN below. Example: `b.log(x)`."""
        return self._unary(ops.LogOp, operand)

    def log1p(self, operand: XlaValue) -> XlaValue:
        """`ln(1 + x)`, accurate near 0. Example: `b.log1p(x)`."""
        return self._unary(ops.LogPlusOneOp, operand)

    def logistic(self, operand: XlaValue) -> XlaValue:
        """`1 / (1 + e^(-x))`. Example: `b.logistic(x)`."""
        return self._unary(ops.LogisticOp, operand)

    def neg(self, operand: XlaValue) -> XlaValue:
        """`-x`; integers wrap, unsigned ones too. Example: `b.neg(x)`."""
        return self._unary(ops.NegateOp, operand)

    def not_(self, operand: XlaValue) -> XlaValue:
        """Logical negation of pred, bitwise complement of integers. Example: `b.not_(p)`."""
        return self._unary(ops.NotOp, operand)

    def population_count(self, operand: XlaValue) -> XlaValue:
        """The number of set bits. Example: `b.population_count(n)`."""
        return self._unary(ops.PopcntOp, operand)

    def real(self, operand: XlaValue) -> XlaValue:
        """The real part; floats unchanged. Example: `b.real(z)`."""
        return self._unary(ops.RealOp, operand)

    def round(self, operand: XlaValue) -> XlaValue:
        """The nearest integer, ties away from zero; keeps the sign of zero.

        Example: `b.round(x)`.
        """
        return self._unary(ops.RoundNearestAfzOp, operand)

    def round_nearest_even(self, operand: XlaValue) -> XlaValue:
        """The nearest integer, ties to even; keeps the sign of zero.

        Example: `b.round_nearest_even(x)`.
        """
        return self._unary(ops.RoundNearestEvenOp, operand)

    def rsqrt(self, operand: XlaValue) -> XlaValue:
        """`1 / √x`; ±infinity at ±0. Example: `b.rsqrt(x)`."""
        return self._unary(ops.RsqrtOp, operand)

    def sign(self, operand: XlaValue) -> XlaValue:
        """-1, 0 or 1; keeps -0 and NaN. Of complex numbers `x / |x|`. Example: `b.sign(x)`."""
        return self._unary(ops.SignOp, operand)

    def sin(self, operand: XlaValue) -> XlaValue:
        """`sin x`. Example: `b.sin(x)`."""
        return self._unary(ops.SineOp, operand)

    def sinh(self, operand: XlaValue) -> XlaValue:
        """`sinh x`. Example: `b.sinh(x)`."""
        return self._unary(ops.SinhOp, operand)

    def sqrt(self, operand: XlaValue) -> XlaValue:
        """`√x`; NaN below zero. Example: `b.sqrt(x)`."""
        return self._unary(ops.SqrtOp, operand)

    def tan(self, operand: XlaValue) -> XlaValue:
        """`tan x`. Example: `b.tan(x)`."""
        return self._unary(ops.TanOp, operand)

    def tanh(self, operand: XlaValue) -> XlaValue:
        """`tanh x`. Example: `b.tanh(x)`."""
        return self._unary(ops.TanhOp, operand)
