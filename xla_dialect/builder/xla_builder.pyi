# Written by `make docs`; edit the builder and the operations instead.
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.core import Operation
from xla_dialect.attributes import CustomCallApiVersion, FftType, FusionKind, RandomAlgorithm, Transpose
from xla_dialect.builder.arguments import ArrayLike, ElementTypeLike, Padding, TypeLike
from xla_dialect.builder.array_methods import DotDimensionNumbers, PaddingDimension
from xla_dialect.builder.communication import Channel, Context
from xla_dialect.builder.control_flow import Values
from xla_dialect.builder.recorder import Computation, Operand, XlaComputation, XlaValue
from xla_dialect.devices.replica_groups import Groups, Pairs
from xla_dialect.op import XlaOp
from xla_dialect.shapes.window import ConvolutionLabels, Window
ResultsT = TypeVar("ResultsT", bound="XlaValue | tuple[XlaValue, ...]")
class XlaBuilder:
    """Builds one program, operation by operation; every method appends one and returns its value.

    Result types are inferred, and every constraint is checked at once: errors are `BuildError`s
    that point at the line of the call. In the examples of the methods, `x` and `y` are f32[4,8],
    `v` is f32[8], `n` and `m` are s32[4,8], `p` and `q` pred[4,8], `z` is c64[4,8], `k` is s32[3],
    `s` is f32[], `i` is s32[] and `c` is pred[].
    """
    name: str

    def __init__(self, name: str, before: Operation | None = None) -> None:
        r"""A program of this name, without parameters yet.

        For passes: if `before` is given, operations are put before that, with its location.
        """

    def append(self, op: XlaOp) -> tuple[XlaValue, ...]:
        r"""Appends an operation that was made without the builder, and returns its results.

        For passes: its operands are values that can be used here, and nothing is checked.
        """

    def build(self, root: XlaValue | Sequence[XlaValue]) -> ModuleOp:
        r"""The module whose function `@main` returns the root, or several values; it is verified.

        Nothing can be appended afterwards. Raises BuildError, or InvalidProgram for what only shows
        in the whole.
        """

    def build_computation(self, root: XlaValue | Sequence[XlaValue]) -> XlaComputation:
        r"""The program as a computation for other builders.

        Nothing can be appended afterwards. Raises BuildError.
        """

    def parameter(self, number: int, shape: TypeLike, name: str = '') -> XlaValue:
        r"""Parameter `number`, from 0, of this type; parameters may be made in any order.

        Example: `b.parameter(0, "(f32[2], s32[])", "state")`.
        """

    def stand_before(self, op: Operation) -> None:
        r"""For passes: from now on operations are put before this one, with its location.
        """

    def constant(
        self,
        value: ArrayLike | tuple[object, ...],
        shape: TypeLike | ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""A constant: an array, a number, lists of numbers, or a Python tuple of these for a tuple.

        `shape` is its type, or its element type only. Without it, arrays keep their element type;
        Python numbers are pred, s32, f32 or c64. A number with the type of an array fills it.
        Raises BuildError where `shape` would not hold the value, up to rounding.

        Example: `b.constant([[1, 2], [3, 4]], "f32")`.

        `xla.constant`: The literal `value`; nested array attributes are tuples.

        `dense_resource<__elided__>` stands for elements that the text does not say: the program does
        not run.

        (C1) the literal is a dense array of an XLA element type, or a tuple of such literals.
        """

    def iota(self, shape: TypeLike, iota_dimension: int) -> XlaValue:
        r"""`xla.iota`: `result[i0, ..] = i_{iota_dimension}`, converted to the element type (narrow integers wrap).

        (C1) the result is an array. (C2) `0 <= iota_dimension < rank(result)`. (C3) the element type is
        a number.

        Example: `b.iota("s32[4,8]", 1)`.
        """

    def abs(self, operand: XlaValue) -> XlaValue:
        r"""`xla.abs`: `|x|`; of a complex operand the real modulus, of an unsigned one itself.

        `abs(INT_MIN) = INT_MIN`.

        Elements: integer or float or complex. Example: `b.abs(x)`.
        """

    def acos(self, operand: XlaValue) -> XlaValue:
        r"""`xla.acos`: `arccos x`, in [0, π]; NaN outside [-1, 1].

        Elements: float or complex. Example: `b.acos(x)`.
        """

    def acosh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.acosh`: `arcosh x`; NaN below 1.

        Elements: float or complex. Example: `b.acosh(x)`.
        """

    def add(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.add`: `lhs + rhs`; integers wrap, pred: logical or.

        Elements: integer or float or complex or pred. Example: `b.add(x, y)`.
        """

    def and_(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.and`: Bitwise and; logical and of pred.

        Elements: integer or pred. Example: `b.and_(n, m)`.
        """

    def asin(self, operand: XlaValue) -> XlaValue:
        r"""`xla.asin`: `arcsin x`, in [-π/2, π/2]; NaN outside [-1, 1].

        Elements: float or complex. Example: `b.asin(x)`.
        """

    def asinh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.asinh`: `arsinh x`.

        Elements: float or complex. Example: `b.asinh(x)`.
        """

    def atan2(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.atan2`: The angle of the point (x = rhs, y = lhs), in [-π, π].

        Elements: float or complex. Example: `b.atan2(x, y)`.
        """

    def atanh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.atanh`: `artanh x`; ±infinity at ±1, NaN beyond.

        Elements: float or complex. Example: `b.atanh(x)`.
        """

    def cbrt(self, operand: XlaValue) -> XlaValue:
        r"""`xla.cbrt`: The cube root, real for negative x.

        Elements: float. Example: `b.cbrt(x)`.
        """

    def ceil(self, operand: XlaValue) -> XlaValue:
        r"""`xla.ceil`: The smallest integer not below x; keeps the sign of zero.

        Elements: float. Example: `b.ceil(x)`.
        """

    def clamp(self, min: Operand, operand: XlaValue, max: Operand) -> XlaValue:
        r"""`min(max(min, operand), max)`; the bounds are scalars or as large as the operand.

        NaN in any of them gives NaN. Example: `b.clamp(0, x, 1)`.

        `xla.clamp`: `result[i] = min(max(min[i], operand[i]), max[i])`; NaN in any argument gives NaN.

        (C1) one element type: integer, float or pred. (C2) `min` and `max` have the dimensions of the
        operand or are scalars.
        """

    def clz(self, operand: XlaValue) -> XlaValue:
        r"""`xla.count_leading_zeros`: The number of leading zero bits; the bit width for 0.

        Elements: integer. Example: `b.clz(n)`.
        """

    def complex(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.complex`: `lhs + i rhs`; f32 gives c64, f64 gives c128. (C1) the element type is f32 or f64.

        Elements: float. Example: `b.complex(x, y)`.
        """

    def cos(self, operand: XlaValue) -> XlaValue:
        r"""`xla.cosine`: `cos x`.

        Elements: float or complex. Example: `b.cos(x)`.
        """

    def cosh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.cosh`: `cosh x`.

        Elements: float or complex. Example: `b.cosh(x)`.
        """

    def div(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.divide`: `lhs / rhs`; integers truncate toward zero.

        `x / 0` is -1 for signed and all ones for unsigned integers; `INT_MIN / -1 = INT_MIN`.

        Elements: integer or float or complex. Example: `b.div(x, y)`.
        """

    def eq(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs = rhs`. Example: `b.eq(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def eq_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs = rhs` in the total order of floats; others have but one order. Example: `b.eq_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def erf(self, operand: XlaValue) -> XlaValue:
        r"""`xla.erf`: `erf(x) = (2/√π) ∫_0^x e^(-t²) dt`.

        Elements: float. Example: `b.erf(x)`.
        """

    def exp(self, operand: XlaValue) -> XlaValue:
        r"""`xla.exponential`: `e^x`.

        Elements: float or complex. Example: `b.exp(x)`.
        """

    def expm1(self, operand: XlaValue) -> XlaValue:
        r"""`xla.exponential_minus_one`: `e^x - 1`, accurate near 0.

        Elements: float or complex. Example: `b.expm1(x)`.
        """

    def floor(self, operand: XlaValue) -> XlaValue:
        r"""`xla.floor`: The largest integer not above x; keeps the sign of zero.

        Elements: float. Example: `b.floor(x)`.
        """

    def ge(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs >= rhs`. Example: `b.ge(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def ge_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs >= rhs` in the total order of floats; others have but one order. Example: `b.ge_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def gt(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs > rhs`. Example: `b.gt(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def gt_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs > rhs` in the total order of floats; others have but one order. Example: `b.gt_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def imag(self, operand: XlaValue) -> XlaValue:
        r"""`xla.imag`: The imaginary part, of the component type; 0 for a float operand.

        Elements: float or complex. Example: `b.imag(x)`.
        """

    def is_finite(self, operand: XlaValue) -> XlaValue:
        r"""`xla.is_finite`: True where x is neither infinite nor NaN; the result has element type pred.

        Elements: float. Example: `b.is_finite(x)`.
        """

    def le(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs <= rhs`. Example: `b.le(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def le_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs <= rhs` in the total order of floats; others have but one order. Example: `b.le_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def log(self, operand: XlaValue) -> XlaValue:
        r"""`xla.log`: `ln x`; -infinity at ±0, NaN below.

        Elements: float or complex. Example: `b.log(x)`.
        """

    def log1p(self, operand: XlaValue) -> XlaValue:
        r"""`xla.log_plus_one`: `ln(1 + x)`, accurate near 0.

        Elements: float or complex. Example: `b.log1p(x)`.
        """

    def logistic(self, operand: XlaValue) -> XlaValue:
        r"""`xla.logistic`: `1 / (1 + e^(-x))`.

        Elements: float or complex. Example: `b.logistic(x)`.
        """

    def lt(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs < rhs`. Example: `b.lt(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def lt_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs < rhs` in the total order of floats; others have but one order. Example: `b.lt_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def max(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.maximum`: The larger operand; NaN if either is NaN; `max(-0, +0) = +0`.

        Elements: integer or float or pred. Example: `b.max(x, y)`.
        """

    def min(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.minimum`: The smaller operand; NaN if either is NaN; `min(-0, +0) = -0`.

        Elements: integer or float or pred. Example: `b.min(x, y)`.
        """

    def mul(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.multiply`: `lhs * rhs`; integers wrap, pred: logical and.

        Elements: integer or float or complex or pred. Example: `b.mul(x, y)`.
        """

    def mulhi(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.mulhi`: The high half of the product of double width.

        Elements: integer. Example: `b.mulhi(n, m)`.
        """

    def ne(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs ≠ rhs`. Example: `b.ne(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def ne_total_order(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""Where `lhs ≠ rhs` in the total order of floats; others have but one order. Example: `b.ne_total_order(x, y)`.

        `xla.compare`: `result[i] = lhs[i] direction rhs[i]`, of element type pred.

        FLOAT: IEEE 754, NaN is unequal to everything. TOTALORDER: -NaN < -inf < -0 < +0 < inf < NaN,
        NaNs by payload. An absent comparison type is that of the element type.

        (C1) one element type, number or pred. (C2) equal dimensions.
        (C5) complex only with EQ and NE.
        (C6) TOTALORDER needs a float type; SIGNED, UNSIGNED and FLOAT must fit the element type.
        """

    def neg(self, operand: XlaValue) -> XlaValue:
        r"""`xla.negate`: `-x`; integers wrap, unsigned ones too.

        Elements: integer or float or complex. Example: `b.neg(x)`.
        """

    def not_(self, operand: XlaValue) -> XlaValue:
        r"""`xla.not`: Logical negation of pred, bitwise complement of integers.

        Elements: integer or pred. Example: `b.not_(n)`.
        """

    def or_(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.or`: Bitwise or; logical or of pred.

        Elements: integer or pred. Example: `b.or_(n, m)`.
        """

    def population_count(self, operand: XlaValue) -> XlaValue:
        r"""`xla.popcnt`: The number of set bits.

        Elements: integer. Example: `b.population_count(n)`.
        """

    def pow(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.power`: `lhs` to the power `rhs`.

        Integers: repeated multiplication that wraps; a negative exponent gives 1 for base 1, ±1 for
        base -1, else 0. Floats: C's pow.

        Elements: integer or float or complex. Example: `b.pow(x, y)`.
        """

    def real(self, operand: XlaValue) -> XlaValue:
        r"""`xla.real`: The real part, of the component type; a float operand unchanged.

        Elements: float or complex. Example: `b.real(x)`.
        """

    def rem(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.remainder`: The remainder with the sign of `lhs` and less than `rhs` in absolute value.

        Integers: `x rem 0 = x`, `INT_MIN rem -1 = 0`. Floats: C's fmod.

        Elements: integer or float. Example: `b.rem(x, y)`.
        """

    def round(self, operand: XlaValue) -> XlaValue:
        r"""`xla.round_nearest_afz`: The nearest integer, ties away from zero; keeps the sign of zero.

        Elements: float. Example: `b.round(x)`.
        """

    def round_nearest_even(self, operand: XlaValue) -> XlaValue:
        r"""`xla.round_nearest_even`: The nearest integer, ties to even; keeps the sign of zero.

        Elements: float. Example: `b.round_nearest_even(x)`.
        """

    def rsqrt(self, operand: XlaValue) -> XlaValue:
        r"""`xla.rsqrt`: `1 / √x`; ±infinity at ±0.

        Elements: float or complex. Example: `b.rsqrt(x)`.
        """

    def select(self, pred: XlaValue, on_true: Operand, on_false: Operand) -> XlaValue:
        r"""`pred ? on_true : on_false`, element by element.

        A scalar `pred` picks one of the two as a whole, and these may then be tuples: (C2) both of
        one type, and (C4) only so. A scalar or a number goes with arrays in the other places.

        Example: `b.select(p, x, 0)`.

        `xla.select`: `result[i] = pred[i] ? on_true[i] : on_false[i]`; a scalar pred picks one of the two arrays.

        (C1) `pred` has element type pred. (C2) `on_true` and `on_false` have one type.
        (C3) `pred` has their dimensions or is a scalar.
        """

    def shift_left(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.shift_left`: `lhs << rhs`; the amount is unsigned, 0 from the bit width on.

        Elements: integer. Example: `b.shift_left(n, m)`.
        """

    def shift_right_arithmetic(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.shift_right_arithmetic`: The right shift that fills with the top bit, of unsigned types too.

        The amount is unsigned; from the bit width on all bits are the sign bit.

        Elements: integer. Example: `b.shift_right_arithmetic(n, m)`.
        """

    def shift_right_logical(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.shift_right_logical`: The right shift that fills with zeros; 0 from the bit width on.

        Elements: integer. Example: `b.shift_right_logical(n, m)`.
        """

    def sign(self, operand: XlaValue) -> XlaValue:
        r"""`xla.sign`: -1, 0 or 1; keeps -0 and NaN. Complex: `x / |x|`, 0 for 0.

        Elements: signed integer or float or complex. Example: `b.sign(x)`.
        """

    def sin(self, operand: XlaValue) -> XlaValue:
        r"""`xla.sine`: `sin x`.

        Elements: float or complex. Example: `b.sin(x)`.
        """

    def sinh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.sinh`: `sinh x`.

        Elements: float or complex. Example: `b.sinh(x)`.
        """

    def sqrt(self, operand: XlaValue) -> XlaValue:
        r"""`xla.sqrt`: `√x`; NaN below zero, `√-0 = -0`.

        Elements: float or complex. Example: `b.sqrt(x)`.
        """

    def sub(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.subtract`: `lhs - rhs`; integers wrap.

        Elements: integer or float or complex. Example: `b.sub(x, y)`.
        """

    def tan(self, operand: XlaValue) -> XlaValue:
        r"""`xla.tan`: `tan x`.

        Elements: float or complex. Example: `b.tan(x)`.
        """

    def tanh(self, operand: XlaValue) -> XlaValue:
        r"""`xla.tanh`: `tanh x`.

        Elements: float or complex. Example: `b.tanh(x)`.
        """

    def xor(
        self,
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.xor`: Bitwise exclusive or; logical exclusive or of pred.

        Elements: integer or pred. Example: `b.xor(n, m)`.
        """

    def bitcast_convert_type(
        self,
        operand: XlaValue,
        new_element_type: ElementTypeLike,
    ) -> XlaValue:
        r"""`xla.bitcast_convert`: The bits of the operand read as another element type, least significant bits first.

        With a wider result the last dimension is consumed, with a narrower one it is appended.

        (C1) both are arrays of XLA element types.
        (C2) the wider bit width is a multiple of the narrower one.
        (C3) if the result is wider, the last dimension of the operand is the quotient of the widths.
        (C4) complex types only to complex types.

        Example: `b.bitcast_convert_type(x, "u8")`.
        """

    def convert_element_type(
        self,
        operand: XlaValue,
        new_element_type: ElementTypeLike,
    ) -> XlaValue:
        r"""`xla.convert`: `result[i] = operand[i]` converted to the element type of the result.

        Float to integer truncates and saturates, NaN gives 0; integers wrap; anything to pred is
        `x != 0`; floats round to nearest even; real to complex has imaginary part 0.

        (C1) both are arrays of XLA element types. (C2) the dimensions are equal.

        Example: `b.convert_element_type(x, "bf16")`.
        """

    def reduce_precision(
        self,
        operand: XlaValue,
        exponent_bits: int,
        mantissa_bits: int,
    ) -> XlaValue:
        r"""`xla.reduce_precision`: `result[i] = operand[i]` rounded to a format with fewer bits, and back.

        First the significand is rounded to `mantissa_bits`, ties to even; then, where `exponent_bits`
        is less than the type has, with bias `B = 2^(exponent_bits - 1) - 1`: an exponent above B gives
        infinity, one below `1 - B` a zero of the same sign. NaN stays NaN.

        (C1) elements are floats. (C2) `exponent_bits >= 1`. (C3) `mantissa_bits >= 0`.

        Example: `b.reduce_precision(x, exponent_bits=5, mantissa_bits=10)`.
        """

    def bitcast(self, operand: XlaValue, shape: TypeLike) -> XlaValue:
        r"""`xla.bitcast`: The bytes of the operand in the order of its layout, read in the order of the result's layout.

        (C1) both are arrays of XLA element types. (C2) they have as many bytes, padding of the layouts
        included.

        Example: `b.bitcast(x, "s32[32]")`.
        """

    def broadcast(self, operand: XlaValue, broadcast_sizes: Sequence[int]) -> XlaValue:
        r"""The array, repeated along new leading dimensions. (C2) their sizes are not negative.

        Example: `b.broadcast(v, [2, 3])`.

        `xla.broadcast`: `result[o] = operand[(o[dimensions[k]])_k]`: operand dimension k becomes `dimensions[k]`.

        (C1) one entry of `dimensions` per dimension of the operand. (C3) the entries are distinct
        dimensions of the result. (C4) mapped sizes are equal; size 1 is not stretched.
        """

    def broadcast_in_dim(
        self,
        operand: XlaValue,
        out_dim_size: Sequence[int],
        broadcast_dimensions: Sequence[int],
    ) -> XlaValue:
        r"""The array of sizes `out_dim_size`; dimension i becomes `broadcast_dimensions[i]`.

        Size 1 is stretched, and values are repeated along the other dimensions.

        (C1) there is an entry for each dimension of the operand. (C2) the rank does not get less.
        (C3) entries are dimensions of the result, and ascend. (C4) sizes are 1, or those of the
        result. (C5) sizes of the result are not negative.

        Example: `b.broadcast_in_dim(v, [4, 8], [1])`.

        `xla.broadcast`: `result[o] = operand[(o[dimensions[k]])_k]`: operand dimension k becomes `dimensions[k]`.

        (C1) one entry of `dimensions` per dimension of the operand. (C3) the entries are distinct
        dimensions of the result. (C4) mapped sizes are equal; size 1 is not stretched.
        """

    def collapse(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        r"""The array with neighbouring dimensions made one, the first of them slowest.

        (C1) the dimensions are neighbours, in order.

        Example: `b.collapse(x, [0, 1])`.

        `xla.reshape`: The elements in row-major order, refilled in row-major order.

        (C1) sizes are not negative. (C2) operand and result have as many elements; dynamic dimensions
        of the operand give dynamic ones in the result.
        """

    def concat_in_dim(self, operands: Sequence[XlaValue], dimension: int) -> XlaValue:
        r"""`xla.concatenate`: The operands one after the other along `dimension`.

        (C1) there is an operand. (C2) all have one element type and rank.
        (C3) `0 <= dimension < rank`. (C4) all other sizes are equal.

        Example: `b.concat_in_dim([x, y], 1)`.
        """

    def concatenate(self, operands: Sequence[XlaValue], dimension: int) -> XlaValue:
        r"""`xla.concatenate`: The operands one after the other along `dimension`.

        (C1) there is an operand. (C2) all have one element type and rank.
        (C3) `0 <= dimension < rank`. (C4) all other sizes are equal.

        Example: `b.concatenate([x, y], 0)`.
        """

    def copy(self, operand: XlaValue) -> XlaValue:
        r"""`xla.copy`: The operand, possibly in another layout or memory space.

        (C1) the operand is an array, or a tuple of arrays at any depth.

        Example: `b.copy(x)`.
        """

    def dynamic_slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[XlaValue | int],
        size_indices: Sequence[int],
    ) -> XlaValue:
        r"""The box of sizes `size_indices` at a start that is computed, and clamped to fit.

        One scalar, or Python integer, per dimension. Example: `b.dynamic_slice(x, [i, 0], [2, 8])`.

        `xla.dynamic_slice`: `result[k] = operand[start + k]`, every start clamped to `[0, size - slice size]`.

        (C1) one integer scalar of one type per dimension. (C2) one slice size per dimension.
        (C3) `0 <= slice size <= size`.
        """

    def dynamic_update_slice(
        self,
        operand: XlaValue,
        update: XlaValue,
        start_indices: Sequence[XlaValue | int],
    ) -> XlaValue:
        r"""The array with the box at a computed start replaced by `update`.

        The start is clamped so that the box fits. Example: `b.dynamic_update_slice(x, x, [i, 0])`.

        `xla.dynamic_update_slice`: The operand with the box at start overwritten by `update`.

        Every start is clamped to `[0, size - update size]`.

        (C1) operand and update have one element type and rank. (C2) `update size <= size`.
        (C3) one integer scalar of one type per dimension.
        """

    def pad(
        self,
        operand: XlaValue,
        padding_value: Operand,
        padding_config: Sequence[PaddingDimension | tuple[int, int] | tuple[int, int, int]],
    ) -> XlaValue:
        r"""The array with copies of `padding_value` around and between its elements.

        `padding_config`: (C2) per dimension (low, high) or (low, high, interior), as
        `PaddingDimension` names them. Example: `b.pad(x, 0, [(1, 1), (0, 2, 1)])`.

        `xla.pad`: `result[low + i * (interior + 1)] = operand[i]`; all else is `padding_value`.

        Negative low or high padding removes elements after the interior padding.

        (C1) `padding_value` is a scalar of the operand's element type. (C2) one entry per dimension.
        (C3) interior padding is not negative. (C4) result sizes are not negative.
        """

    def reshape(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        r"""The elements in row-major order, in an array of sizes `dimensions`.

        (C1) these are not negative.

        Example: `b.reshape(x, [2, 2, 8])`.

        `xla.reshape`: The elements in row-major order, refilled in row-major order.

        (C1) sizes are not negative. (C2) operand and result have as many elements; dynamic dimensions
        of the operand give dynamic ones in the result.
        """

    def rev(self, operand: XlaValue, dimensions: Sequence[int]) -> XlaValue:
        r"""`xla.reverse`: `result[i] = operand[i']` with `i'[d] = size[d] - 1 - i[d]` for d in `dimensions`.

        (C1) `dimensions` are distinct dimensions of the operand.

        Example: `b.rev(x, [1])`.
        """

    def slice(
        self,
        operand: XlaValue,
        start_indices: Sequence[int],
        limit_indices: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> XlaValue:
        r"""Every `strides[d]`-th element from start to before limit, per dimension.

        Example: `b.slice(x, [0, 2], [4, 8], [1, 2])`.

        `xla.slice`: `result[i] = operand[start_indices + i * strides]`; limits are exclusive.

        Of a dynamic dimension the elements that are there remain; a single one is always there.

        (C1) one start, limit and stride per dimension. (C2) `0 <= start <= limit <= size`.
        (C3) strides are positive.
        """

    def transpose(self, operand: XlaValue, permutation: Sequence[int]) -> XlaValue:
        r"""`xla.transpose`: `result[o] = operand[x]` with `x[dimensions[i]] = o[i]`.

        (C1) `dimensions` is a permutation of the dimensions of the operand.

        Example: `b.transpose(x, [1, 0])`.
        """

    def dynamic_reshape(
        self,
        operand: XlaValue,
        dim_sizes: Sequence[XlaValue | int],
        shape: TypeLike,
    ) -> XlaValue:
        r"""The elements in row-major order, in an array of computed sizes that `shape` bounds.

        Example: `b.dynamic_reshape(x, [i, 8], "f32[<=4,8]")`.

        `xla.dynamic_reshape`: The elements in row-major order, refilled into an array of the sizes `dim_sizes`.

        The declared type bounds the sizes.

        (C1) operand and result are arrays of one element type. (C2) `dim_sizes` has one `s32[]` per
        dimension of the result. (C3) the bounds of the result have as many elements as the operand.
        (C4) at run time the sizes have as many elements as the operand, none exceeds its bound, and
        those of static dimensions are as declared.
        """

    def get_dimension_size(self, operand: XlaValue, dimension: int) -> XlaValue:
        r"""`xla.get_dimension_size`: The size of `dimension`, the one at run time if it is dynamic, as `s32[]`.

        (C1) the operand is an array. (C2) `0 <= dimension < rank`. (C3) the size is at most 2^31 - 1.

        Example: `b.get_dimension_size(x, 0)`.
        """

    def set_dimension_size(
        self,
        operand: XlaValue,
        size: XlaValue | int,
        dimension: int,
    ) -> XlaValue:
        r"""`xla.set_dimension_size`: The operand, of which only the first `size` elements along `dimension` count.

        The bound of the dimension does not change. Where a dimension that is dynamic already grows, the
        reference has zeros. The result may be declared with a static `dimension`: all elements count.

        (C1) the operand is an array. (C2) `0 <= dimension < rank`. (C3) `size` is `s32[]`.
        (C4) at run time `0 <= size <= bound`; the bound is at most 2^31 - 1. (C5) at run time `size` is
        the bound where `dimension` of the result is static.

        Example: `b.set_dimension_size(x, i, 0)`.
        """

    def rng_bit_generator(
        self,
        algorithm: RandomAlgorithm | str,
        initial_state: XlaValue,
        shape: TypeLike,
    ) -> tuple[XlaValue, ...]:
        r"""The state to go on with, and random bits that follow from the initial state alone.

        `algorithm`: rng_three_fry (state u64[2]), rng_philox (u64[2] or u64[3]) or
        rng_default (u64[2] or more).
        Example: `b.rng_bit_generator("rng_philox", b.constant([1, 2], "u64"), "u32[8]")`.

        `xla.rng_bit_generator`: Random bits that follow from a state, and the state to go on with.

        rng_three_fry and rng_philox count blocks: the state is a key and a counter, see
        `xla_dialect.literals.random_bits`. rng_default is what a backend makes of it: here it is
        rng_philox, computed from `u64[2]` or more; what its state has beyond three numbers stays as it
        is. Backends have states of other types, and programs for these are valid: they are not computed
        here.

        (C1) the state is an array of numbers; to be computed, `u64[2]`, for rng_philox `u64[3]` as
        well, and for rng_default `u64` of 2 or more.
        (C2) the bits are of an integer type of at least 2 bits.
        """

    def rng_get_and_update_state(self, delta: int) -> XlaValue:
        r"""`xla.rng_get_and_update_state`: The state of the global generator, a number of 128 bits (low half first), then += `delta`.

        Example: `b.rng_get_and_update_state(4)`.
        """

    def rng_normal(self, mu: Operand, sigma: Operand, shape: TypeLike) -> XlaValue:
        r"""Numbers of a normal distribution with mean `mu` and standard deviation `sigma`.

        Example: `b.rng_normal(0, 1, "f32[4,8]")`.

        `xla.rng`: Independent random numbers of a distribution; which ones is not specified.

        rng_uniform: from the half-open interval [a, b); all a if b <= a. rng_normal: normally
        distributed with mean a and standard deviation b, which is not negative. XLA takes more
        parameters, and does not use them.

        (C1) all parameters are scalars of the result's element type: a float for rng_normal, a pred,
        integer or float for rng_uniform.
        """

    def rng_uniform(self, a: Operand, b: Operand, shape: TypeLike) -> XlaValue:
        r"""Numbers of the half-open interval [a, b), all equally likely.

        Example: `b.rng_uniform(0, 10, "s32[4,8]")`.

        `xla.rng`: Independent random numbers of a distribution; which ones is not specified.

        rng_uniform: from the half-open interval [a, b); all a if b <= a. rng_normal: normally
        distributed with mean a and standard deviation b, which is not negative. XLA takes more
        parameters, and does not use them.

        (C1) all parameters are scalars of the result's element type: a float for rng_normal, a pred,
        integer or float for rng_uniform.
        """

    def stochastic_convert(
        self,
        operand: XlaValue,
        random: XlaValue,
        new_element_type: ElementTypeLike,
    ) -> XlaValue:
        r"""`xla.stochastic_convert`: `operand[i]` rounded to the element type of the result, up or down by chance.

        Its magnitude is rounded down to one of the result, and then up where `random[i]`, of b bits, is
        less than `2^b` times what that left, as a fraction of the distance to the next. For integers
        what the result cannot hold becomes its nearest number and NaN 0, for floats what `convert`
        makes of it.

        (C1) the operand is a float array. (C2) `random` has its dimensions and is an unsigned integer
        of its bit width. (C3) the result is an integer or float array.

        Example: `b.stochastic_convert(x, b.bitcast_convert_type(y, "u32"), "bf16")`.
        """

    def map(
        self,
        operands: Sequence[XlaValue],
        computation: Computation,
        dimensions: Sequence[int] | None = None,
    ) -> XlaValue:
        r"""A function of scalars at every index; `dimensions`, if given, are all in order.

        Example: `b.map([x, y], lambda p, q: b.max(p, q * 2))`.

        `xla.map`: `result[i] = to_apply(inputs[0][i], inputs[1][i], ...)`, a function of scalars at every index.

        (C1) at least one input; all have the same dimensions. (C2) the computation takes one scalar per
        input, of its element type, and returns one scalar. (C3) `dimensions`, if given, are all
        dimensions in order.
        """

    @overload
    def reduce(
        self,
        operands: XlaValue,
        init_values: Operand,
        computation: Computation,
        dimensions: Sequence[int],
    ) -> XlaValue: ...
    @overload
    def reduce(
        self,
        operands: Sequence[XlaValue],
        init_values: Sequence[Operand],
        computation: Computation,
        dimensions: Sequence[int],
    ) -> tuple[XlaValue, ...]:
        r"""Folds the dimensions: `accumulator = computation(accumulator, element)` from `init_values`.

        Several operands of the same sizes are folded at once; the computation then takes all
        accumulators, then all elements, and returns all new accumulators.
        Example: `b.reduce(x, 0, b.add, [1])`.

        `xla.reduce`: Folds `dimensions` of all inputs at once: `acc = to_apply(acc, value)`, starting from init.

        The reference folds in row-major order of the reduced positions, sums of floats in blocks, as
        RC4 says; implementations may reassociate. The computation takes the N accumulators, then the
        N values.

        (C1) as many init values as inputs, at least one. (C2) all inputs have the same dimensions.
        (C3) (RC1) the computation takes 2N scalars of the element types; (RC2) it returns N of them;
        (RC3) init values are such scalars. (C4) `dimensions` are distinct dimensions.
        """

    @overload
    def reduce_window(
        self,
        operands: XlaValue,
        init_values: Operand,
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = 'VALID',
    ) -> XlaValue: ...
    @overload
    def reduce_window(
        self,
        operands: Sequence[XlaValue],
        init_values: Sequence[Operand],
        computation: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int] = (),
        base_dilations: Sequence[int] = (),
        window_dilations: Sequence[int] = (),
        padding: Padding = 'VALID',
    ) -> tuple[XlaValue, ...]:
        r"""As `reduce`, for every placement of a window; there is one entry per dimension in each list.

        `padding`: "SAME", "VALID" or pairs (low, high). An empty list of strides or dilations means
        1. Example: `b.reduce_window(x, -np.inf, b.max, [2, 2], [2, 2], padding="SAME")`.

        `xla.reduce_window`: Folds every placement of a window over all inputs: `acc = to_apply(acc, value)` from init.

        `result[p]` folds the values at `p * stride + k * window_dilation - padding_low`, k in row-major
        order, in the dilated base. The reference skips padding and the holes of the base: init enters
        once per placement. Implementations may reassociate.

        (C1) as many init values as inputs, at least one; all inputs have the same dimensions.
        (C2) (RC1) the computation takes 2N scalars of the element types; (RC2) it returns N of them;
        (RC3) init values are such scalars. (C3) the window has one dimension per dimension of the
        inputs. (C4) sizes, strides and dilations are at least 1; the window is not reversed.
        """

    def select_and_scatter(
        self,
        operand: XlaValue,
        select: Computation,
        window_dimensions: Sequence[int],
        window_strides: Sequence[int],
        padding: Padding,
        source: XlaValue,
        init_value: Operand,
        scatter: Computation,
    ) -> XlaValue:
        r"""Adds up, with `scatter`, elements of `source` where `select` picks one in a window.

        The window slides as in `reduce_window`; the first element e with `select(e, other)` for all
        later ones is picked.
        Example: `b.select_and_scatter(x, b.ge, [2, 4], [2, 4], "VALID",
        b.slice(y, [0, 0], [2, 2]), 0, b.add)`.

        `xla.select_and_scatter`: Picks one element per placement of a window, and scatters `source` to where they stand.

        `result = init_value` everywhere; for every placement p in row-major order: best is the first
        element of the window, then every next element e with `not select(best, e)`; then
        `result[place of best] = scatter(result[place of best], source[p])`. Padding is never picked.

        (C1) operand, source and init value have one element type; init is a scalar. (C2) `select` takes
        two such scalars and returns a pred. (C3) `scatter` takes (RC1) and returns (RC2) such scalars,
        the accumulator first. (C4) the window has one dimension per dimension of the operand, sizes and
        strides of at least 1, no dilation and no reversal. (C5) `source` has one element per placement.
        """

    @overload
    def sort(
        self,
        operands: XlaValue,
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> XlaValue: ...
    @overload
    def sort(
        self,
        operands: Sequence[XlaValue],
        comparator: Computation,
        dimension: int = -1,
        is_stable: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""Every line along a dimension sorted; several operands are sorted together, as tuples.

        The comparator takes two elements of each operand, one pair after the other, and says
        whether the first of the pairs come first. With NaN, `b.lt` is no order: that is
        `b.lt_total_order`. Example: `b.sort([x, n], lambda a, c, i, j: b.lt_total_order(a, c), 0)`.

        `xla.sort`: Sorts every line along `dimension` of all inputs at once, as tuples, by a comparator.

        The comparator takes per input its value at one place and its value at the other, and says
        whether the first place comes before. It must be a strict weak order; else the order is
        unspecified. The reference sorts stably whatever `is_stable` says.

        (C1) at least one input; all have the same dimensions. (C2) the comparator takes two scalars per
        input, of its element type, and returns a pred. (C3) `dimension` is one of the dimensions.
        (C4) the inputs have at least one dimension.
        """

    def top_k(self, operand: XlaValue, k: int, largest: bool = True) -> tuple[XlaValue, ...]:
        r"""`xla.topk`: The k largest (or smallest) entries along the last dimension, in order, and their indices.

        Among equal entries the lower index comes first. Floats are in total order: NaN above +inf,
        -NaN below -inf, -0 below +0.

        (C1) the operand has at least one dimension. (C2) `0 <= k <=` size of the last dimension.
        (C3) elements are integers or floats.

        Example: `b.top_k(x, 3)`.
        """

    def conv(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""The convolution of `lhs` [batch, feature, spatial..] with `rhs` [output, input, spatial..].

        `padding`: "SAME" (the sizes of the input, were the strides 1), "VALID" (none), or pairs.
        Example: `b.conv(b.reshape(x, [1, 4, 8]), b.reshape(x, [2, 4, 4]), [1], "SAME")`.

        `xla.convolution`: Sums of products of a kernel `rhs` that slides as a window over the base `lhs`.

        `result[b, o, p] = Σ_i,k lhs[b, i, x] * rhs[o, i, k]` with
        `x = p * stride + k * window_dilation - padding_low` in the dilated and padded base, whose holes
        and padding are 0; a reversed window dimension reads kernel element `size - 1 - k`. `dim_labels`
        says which dimension is which. Feature groups: group g of the input features meets group g of
        the output features only. Batch groups: output features of group g read group g of the batch.
        Element types and accumulation as in `dot`.

        (C1) both operands have rank n + 2, the window n dimensions with the kernel's sizes, and each
        list of labels names every dimension once. (C2) as for C1 of `dot`. (C3) strides, dilations
        and kernel sizes are at least 1. (C4) group counts are at least 1. (C5) they are not both
        greater than 1. (C6) `feature_group_count` times the input features of rhs is those of lhs; it
        divides the output features. (C7) `batch_group_count` divides batch and output features.
        """

    def conv_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window: Window | str,
        dim_labels: ConvolutionLabels | str,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""The convolution with any order of dimensions; window and labels as HLO text has them.

        (C2) both operands have the same element type.

        Example: `b.conv_general(b.broadcast(x, [1]), b.broadcast(y, [5]), "size=4",
        "b0f_o0i->b0f")`.

        `xla.convolution`: Sums of products of a kernel `rhs` that slides as a window over the base `lhs`.

        `result[b, o, p] = Σ_i,k lhs[b, i, x] * rhs[o, i, k]` with
        `x = p * stride + k * window_dilation - padding_low` in the dilated and padded base, whose holes
        and padding are 0; a reversed window dimension reads kernel element `size - 1 - k`. `dim_labels`
        says which dimension is which. Feature groups: group g of the input features meets group g of
        the output features only. Batch groups: output features of group g read group g of the batch.
        Element types and accumulation as in `dot`.

        (C1) both operands have rank n + 2, the window n dimensions with the kernel's sizes, and each
        list of labels names every dimension once. (C2) as for C1 of `dot`. (C3) strides, dilations
        and kernel sizes are at least 1. (C4) group counts are at least 1. (C5) they are not both
        greater than 1. (C6) `feature_group_count` times the input features of rhs is those of lhs; it
        divides the output features. (C7) `batch_group_count` divides batch and output features.
        """

    def conv_with_general_padding(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        window_strides: Sequence[int],
        padding: Padding,
        lhs_dilation: Sequence[int] = (),
        rhs_dilation: Sequence[int] = (),
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        *,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""As `conv`; `padding` has a pair (low, high) per spatial dimension, which may be negative.

        Dilation d puts d - 1 zeros between neighbouring elements of the input (`lhs_dilation`), or
        of the kernel (`rhs_dilation`). (C1) each list has an entry for each spatial dimension.

        Example: `b.conv_with_general_padding(b.broadcast(x, [1]), b.broadcast(y, [2]), [2],
        [(0, 7)])`.

        `xla.convolution`: Sums of products of a kernel `rhs` that slides as a window over the base `lhs`.

        `result[b, o, p] = Σ_i,k lhs[b, i, x] * rhs[o, i, k]` with
        `x = p * stride + k * window_dilation - padding_low` in the dilated and padded base, whose holes
        and padding are 0; a reversed window dimension reads kernel element `size - 1 - k`. `dim_labels`
        says which dimension is which. Feature groups: group g of the input features meets group g of
        the output features only. Batch groups: output features of group g read group g of the batch.
        Element types and accumulation as in `dot`.

        (C1) both operands have rank n + 2, the window n dimensions with the kernel's sizes, and each
        list of labels names every dimension once. (C2) as for C1 of `dot`. (C3) strides, dilations
        and kernel sizes are at least 1. (C4) group counts are at least 1. (C5) they are not both
        greater than 1. (C6) `feature_group_count` times the input features of rhs is those of lhs; it
        divides the output features. (C7) `batch_group_count` divides batch and output features.
        """

    def dot(self, lhs: XlaValue, rhs: XlaValue) -> XlaValue:
        r"""The product of vectors and matrices, over the last dimension of `lhs`, the first of `rhs`.

        (C2) operands of other ranks there are not.

        Example: `b.dot(x, v)`.

        `xla.dot`: Sums of products over the contracting dimensions, for every batch index.

        `result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., k.., n..]`. The result type is the
        declared one: bf16 operands may give f32. Without one it is that of the operands, of two types
        the more precise one, f32 of f32 and bf16. Floats below f64 accumulate in f32 and round once,
        integers are first converted to the result type; pred: or of ands. Products of real and
        imaginary parts are four sums.

        (C1) numbers or pred; without a declared result type, one of the operands' is more precise.
        (C2) contracting dimensions pair up with equal sizes. (C3) so do the batch dimensions.
        (C4) on each side, no dimension is named twice.
        """

    def dot_general(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""Sums of products over the contracting dimensions, for each index of the batch dimensions.

        The result has the batch dimensions, those left of `lhs`, and those left of `rhs`.

        (C1) both operands have the same element type.
        Example: `b.dot_general(x, y, DotDimensionNumbers([1], [1]), "f64")`.

        `xla.dot`: Sums of products over the contracting dimensions, for every batch index.

        `result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., k.., n..]`. The result type is the
        declared one: bf16 operands may give f32. Without one it is that of the operands, of two types
        the more precise one, f32 of f32 and bf16. Floats below f64 accumulate in f32 and round once,
        integers are first converted to the result type; pred: or of ands. Products of real and
        imaginary parts are four sums.

        (C1) numbers or pred; without a declared result type, one of the operands' is more precise.
        (C2) contracting dimensions pair up with equal sizes. (C3) so do the batch dimensions.
        (C4) on each side, no dimension is named twice.
        """

    def ragged_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        group_sizes: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        lhs_ragged_dimensions: Sequence[int],
        rhs_group_dimensions: Sequence[int] = (),
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""A dot whose one ragged dimension of `lhs` is cut into groups, each with its part of `rhs`.

        (C1) both operands have the same element type.

        Example: `b.ragged_dot(x, b.broadcast(x, [3]), k, DotDimensionNumbers([1], [2]), [0], [0])`.

        `xla.ragged_dot`: A dot whose one ragged dimension of lhs is cut into consecutive groups of `group_sizes`.

        Ragged and free: `result[.., m, n..] = Σ_k lhs[.., m, k] * rhs[group of m, .., k, n..]`, where
        `rhs_group_dims` names the dimension of the groups; 0 after the last group. Ragged and
        contracting: `result[g, ..] = Σ_k` over the k of group g. Ragged and batch: as `dot`.

        (C1) as for `dot`; group sizes are integers. (C2) contracting dimensions pair up with equal
        sizes. (C3) so do the batch dimensions. (C4) on each side, no dimension is named twice. (C5)
        exactly one dimension of lhs is ragged. (C6) if it is free, there is one group dimension,
        neither batch nor contracting, with one entry per group; else there is none. (C7) `group_sizes`
        has the groups as last dimension, alone or after the sizes of the dimensions of lhs before the
        ragged one: batch dimensions, then the others of its kind.
        """

    def scaled_dot(
        self,
        lhs: XlaValue,
        rhs: XlaValue,
        lhs_scale: XlaValue,
        rhs_scale: XlaValue,
        dimension_numbers: DotDimensionNumbers,
        preferred_element_type: ElementTypeLike | None = None,
    ) -> XlaValue:
        r"""A dot of operands whose blocks are multiplied by scales first; a scalar scale is none.

        (C1) both operands have the same element type.

        Example: `b.scaled_dot(x, v, b.slice(x, [0, 0], [2, 2]), s, DotDimensionNumbers([1], [0]))`.

        `xla.scaled_dot`: A dot of `lhs` and `rhs` after multiplying blocks of them by scales.

        Element i of an operand is multiplied by element `i div (size / scale size)`, per dimension, of
        its scale; a scalar scale stands for none.

        (C1) as for `dot`. (C2) contracting
        dimensions pair up with equal sizes. (C3) so do the batch dimensions. (C4) on each side, no
        dimension is named twice. (C5) there is one contracting dimension. (C6) a scale has floats, the
        rank of its operand and sizes that divide those of the operand, or is a scalar. (C7) not both
        scales are scalars.
        """

    def gather(
        self,
        operand: XlaValue,
        start_indices: XlaValue,
        offset_dims: Sequence[int],
        collapsed_slice_dims: Sequence[int],
        slice_sizes: Sequence[int],
        start_index_map: Sequence[int],
        index_vector_dim: int,
        indices_are_sorted: bool = False,
        *,
        operand_batching_dims: Sequence[int] = (),
        start_indices_batching_dims: Sequence[int] = (),
    ) -> XlaValue:
        r"""`xla.gather`: Stitches together slices of the operand that start where `start_indices` says.

        With G the batch part of an output index and O its offset part: `S = start_indices[G]` along
        `index_vector_dim`, spread over the operand's dimensions by `start_index_map`, clamped so that
        the slice lies inside, plus O at the dimensions that are neither collapsed nor batching.

        (C1) indices are integers. (C2) `0 <= index_vector_dim <= rank(start_indices)`; at the rank, a
        trailing 1 is implied. (C3) `offset_dims` ascend inside the result.
        (C4) `collapsed_slice_dims` ascend inside the operand, with slice sizes 0 or 1.
        (C5) the operand's dimensions are offset, collapsed or batching ones; one slice size for each.
        (C6) `0 <= slice size <= size`. (C7) `start_index_map` has one distinct dimension of the operand
        per index. (C8) batching dimensions pair up with equal sizes; on the operand they ascend, have
        slice sizes 0 or 1 and are neither collapsed nor indexed; on the indices `index_vector_dim` is
        not among them.

        Example: `b.gather(x, k, [1], [0], [1, 8], [0], 1)`.
        """

    @overload
    def scatter(
        self,
        operands: XlaValue,
        scatter_indices: XlaValue,
        updates: XlaValue,
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> XlaValue: ...
    @overload
    def scatter(
        self,
        operands: Sequence[XlaValue],
        scatter_indices: XlaValue,
        updates: Sequence[XlaValue],
        update_computation: Computation,
        index_vector_dim: int,
        update_window_dims: Sequence[int],
        inserted_window_dims: Sequence[int],
        scatter_dims_to_operand_dims: Sequence[int],
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        *,
        input_batching_dims: Sequence[int] = (),
        scatter_indices_batching_dims: Sequence[int] = (),
    ) -> tuple[XlaValue, ...]:
        r"""The arrays, with updates combined into windows that start where `scatter_indices` says.

        `update_computation` takes the current values, then the updates; to overwrite, return the
        latter. The numbers are those of `gather`, the other way round; a window that does not lie
        inside as a whole is skipped.
        Example: `b.scatter(x, k, b.slice(y, [0, 0], [3, 8]), b.add, 1, [1], [0], [0])`.

        `xla.scatter`: The inputs, with updates combined into windows that start where `scatter_indices` says.

        With G the scatter part of an index U of the updates and W its window part:
        `S = scatter_indices[G]` along `index_vector_dim`, spread over the dimensions of the inputs by
        `scatter_dims_to_operand_dims`, plus W at the dimensions that are neither inserted nor batching,
        gives the place; there `result = to_apply(result, updates[U])`, in row-major order of U. A
        window that is not inside as a whole is skipped as a whole, as XLA does it (StableHLO skips
        single elements).

        (C1) as many updates as inputs, at least one. (C2) all inputs have the same dimensions, and so
        do all updates. (C3) updates have the element types of the inputs. (C4) (RC1) the computation
        takes N current values and N updates, scalars of the element types; (RC2) it returns N of them.
        (C5) indices are integers. (C6) `0 <= index_vector_dim <= rank(scatter_indices)`; at the rank, a
        trailing 1 is implied. (C7) the dimensions of the updates are window dimensions and those of the
        indices without the index vector. (C8) `update_window_dims` ascend inside the updates.
        (C9) `inserted_window_dims` ascend inside the inputs. (C10) the dimensions of the inputs are
        window, inserted or batching ones. (C11) `scatter_dims_to_operand_dims` has one distinct
        dimension of the inputs per index. (C12) windows are no larger than the inputs. (C13) the
        other dimensions of the updates have the sizes of the indices. (C14) batching dimensions pair up
        with equal sizes; on the inputs they ascend and are neither inserted nor indexed; on the indices
        `index_vector_dim` is not among them.
        """

    def cholesky(self, a: XlaValue, lower: bool = False) -> XlaValue:
        r"""`xla.cholesky`: The triangular factor of every Hermitian positive definite matrix `a`.

        `lower`: `a = l * l^H` with l lower triangular; else `a = u^H * u` with u upper triangular. Only
        that triangle of `a` is read, and the imaginary part of its diagonal is not. The other triangle
        of the result is 0. A matrix with a pivot that is not positive gives NaN everywhere.

        (C1) elements are floats or complex numbers. (C2) `a` has at least two dimensions. (C3) the last
        two of them have equal sizes.

        Example: `b.cholesky(x @ b.transpose(x, [1, 0]), lower=True)`.
        """

    def fft(
        self,
        operand: XlaValue,
        fft_type: FftType | str,
        fft_length: Sequence[int],
    ) -> XlaValue:
        r"""`xla.fft`: The Fourier transform over the last `r = len(fft_length)` dimensions.

        Forward `X[k] = Σ_n x[n] e^(-2πi kn/N)`, inverse `x[n] = (1/N) Σ_k X[k] e^(+2πi kn/N)`, one
        dimension after the other. RFFT takes reals and leaves out what follows by symmetry from the
        first `N div 2 + 1` entries of the last dimension; IRFFT is its inverse.

        (C1) `1 <= r <= 3`. (C2) the operand has at least r dimensions. (C3) lengths are not negative.
        (C4) FFT and IFFT: elements are complex, the last r sizes are `fft_length`. (C5) RFFT: elements
        are f32 or f64, the last r sizes are `fft_length`. (C6) IRFFT: elements are complex, the last r
        sizes are `fft_length`, but the last of them N has size `N div 2 + 1` (0 if N = 0).

        Example: `b.fft(x, "RFFT", [8])`.
        """

    def triangular_solve(
        self,
        a: XlaValue,
        b: XlaValue,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: Transpose | str,
    ) -> XlaValue:
        r"""`xla.triangular_solve`: The x of `op(a) * x = b` (`left_side`) or `x * op(a) = b`, for triangular matrices `a`.

        `op(a)` is `a`, its transpose, or its conjugate transpose (`transpose_a`). `lower` names the
        triangle of `a` that is read; with `unit_diagonal` the diagonal is 1 and not read. Dividing by a
        zero of the diagonal gives infinity or NaN.

        (C1) elements of both are the same floats or complex numbers. (C2) both have the same number of
        dimensions, at least two. (C3) the last two of `a` have equal sizes M. (C4) M is the size of the
        last but one (`left_side`) or last dimension of `b`. (C5) all other sizes of both are equal.

        Example: `b.triangular_solve(x @ b.transpose(x, [1, 0]), y, True, True, False, "NO_TRANSPOSE")`.
        """

    def batch_norm_grad(
        self,
        operand: XlaValue,
        scale: XlaValue,
        mean: XlaValue,
        variance: XlaValue,
        grad_output: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> tuple[XlaValue, ...]:
        r"""`xla.batch_norm_grad`: The gradients of batch-norm-training with respect to operand, scale and offset.

        With Σ over all M elements of a feature l, `r = 1 / sqrt(variance[l] + epsilon)`,
        `c = (1/M) Σ grad * (x - mean[l]) * r²` and `d = (1/M) Σ grad`:
        `grad_operand = scale[l] * r * (grad - d - c * (x - mean[l]))`,
        `grad_scale[l] = Σ grad * (x - mean[l]) * r`, `grad_offset[l] = Σ grad`.

        (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
        operand. (C3) scale, mean and variance are vectors with one element per feature.
        (C4) `grad_output` has the dimensions of the operand.

        Example: `b.batch_norm_grad(x, v, v, v, y, 0.001, 1)`.
        """

    def batch_norm_inference(
        self,
        operand: XlaValue,
        scale: XlaValue,
        offset: XlaValue,
        mean: XlaValue,
        variance: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> XlaValue:
        r"""`xla.batch_norm_inference`: `result = scale[l] * (x - mean[l]) / sqrt(variance[l] + epsilon) + offset[l]`, l the feature.

        (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
        operand. (C3) scale, offset, mean and variance are vectors with one element per feature.

        Example: `b.batch_norm_inference(x, v, v, v, v, 0.001, 1)`.
        """

    def batch_norm_training(
        self,
        operand: XlaValue,
        scale: XlaValue,
        offset: XlaValue,
        epsilon: float,
        feature_index: int,
    ) -> tuple[XlaValue, ...]:
        r"""`xla.batch_norm_training`: Normalizes over all dimensions but the feature dimension l; gives mean and variance too.

        `mean[l] = (1/M) Σ x[..l..]`, `variance[l] = (1/M) Σ (x[..l..] - mean[l])²`,
        `result = scale[l] * (x - mean[l]) / sqrt(variance[l] + epsilon) + offset[l]`.

        (C1) all operands have one float element type. (C2) `feature_index` is a dimension of the
        operand. (C3) scale and offset are vectors with one element per feature.

        Example: `b.batch_norm_training(x, v, v, 0.001, 1)`.
        """

    @overload
    def call(
        self,
        computation: Callable[..., ResultsT],
        args: Sequence[XlaValue] = (),
    ) -> ResultsT: ...
    @overload
    def call(self, computation: Computation, args: Sequence[XlaValue] = ()) -> Any:
        r"""The results of a function of the module on the arguments.

        A Python function becomes a new one, which cannot use values from around it; the computation
        of another builder becomes one however often it is called.
        Example: `b.call(lambda a: b.tanh(a), [x])`.

        `xla.call`: The results of the function `to_apply` on the operands; the call graph has no cycles.

        (C1) as many operands as parameters. (C2) their types are those of the parameters, and the
        results those of the function (both checked where the function is known, see `verification`).
        """

    @overload
    def composite_call(
        self,
        computation: Callable[..., ResultsT],
        args: Sequence[XlaValue],
        name: str,
        composite_attributes: str | None = None,
        version: int = 0,
    ) -> ResultsT: ...
    @overload
    def composite_call(
        self,
        computation: Computation,
        args: Sequence[XlaValue],
        name: str,
        composite_attributes: str | None = None,
        version: int = 0,
    ) -> Any:
        r"""A call that stands for the operation `name`, of which the computation is the meaning.

        (C3) `name` is of the form `namespace.op`; `composite_attributes` is a dictionary as MLIR
        writes it, `{n = 1 : i32}`. (C4) the version is not negative.

        Example: `b.composite_call(b.tanh, [x], "my.activation", version=1)`.

        `xla.call`: The results of the function `to_apply` on the operands; the call graph has no cycles.

        (C1) as many operands as parameters. (C2) their types are those of the parameters, and the
        results those of the function (both checked where the function is known, see `verification`).
        """

    @overload
    def conditional(
        self,
        pred: XlaValue,
        true_operand: Values,
        true_computation: Callable[..., ResultsT],
        false_operand: Values,
        false_computation: Callable[..., ResultsT],
    ) -> ResultsT: ...
    @overload
    def conditional(
        self,
        pred: XlaValue,
        true_operand: Values,
        true_computation: Computation,
        false_operand: Values,
        false_computation: Computation,
    ) -> Any: ...
    @overload
    def conditional(
        self,
        branch_index: XlaValue,
        branch_computations: Sequence[Callable[..., ResultsT]],
        branch_operands: Sequence[Values],
        /,
    ) -> ResultsT: ...
    @overload
    def conditional(
        self,
        branch_index: XlaValue,
        branch_computations: Sequence[Computation],
        branch_operands: Sequence[Values],
        /,
    ) -> Any:
        r"""The results of the one branch that is run, on its operand.

        `conditional(pred, true_operand, true_computation, false_operand, false_computation)`, or
        `conditional(branch_index, branch_computations, branch_operands)`, where an index out of
        range runs the last branch. A branch may use values from around it, so its operand may be
        `()`. (A.C1) `pred` is a scalar of pred. (B.C1) `branch_index` is a scalar of s32. (B.C2)
        There are as many operands as branches.

        Examples: `b.conditional(c, x, b.exp, x, b.abs)`;
        `b.conditional(i, [lambda: x, lambda: y], [(), ()])`.

        `xla.conditional`: The results of one branch, run on its operands.

        A pred picks the first branch if true, else the second; an s32 picks the branch of that number,
        the last one if out of range. The operands follow each other branch by branch, as many for each
        as it has parameters (in HLO exactly one).

        (C1) `branch_index` is a scalar pred or s32; a pred has two branches.
        (C2) there is a branch, and as many operands as parameters. (C3) operands have the types of the
        parameters. (C4) all branches return the same types.
        """

    def domain(self, operand: XlaValue, domain: str | None = None) -> XlaValue:
        r"""`xla.domain`: The operand; `domain` says between which domains, e.g. shardings, it passes here.

        Example: `b.domain(x, '{kind="sharding", entry={maximal device=0}, exit={replicated}}')`.
        """

    @overload
    def fusion(
        self,
        operands: Sequence[XlaValue],
        computation: Callable[..., ResultsT],
        kind: FusionKind | str = ...,
    ) -> ResultsT: ...
    @overload
    def fusion(
        self,
        operands: Sequence[XlaValue],
        computation: Computation,
        kind: FusionKind | str = ...,
    ) -> Any:
        r"""The results of the computation, which backends are asked to compute as one.

        Example: `b.fusion([x, y], lambda p, q: b.tanh(p * q))`.

        `xla.fusion`: The results of the computation `calls` on the operands; `kind` is a hint for backends.

        (C1) as many operands as parameters. (C2) their types are those of the parameters.
        """

    def optimization_barrier(self, operand: XlaValue) -> XlaValue:
        r"""`xla.opt_barrier`: The operand; no computation is moved across.

        Example: `b.optimization_barrier(x)`.
        """

    def scan(
        self,
        inputs: Sequence[XlaValue],
        carries: Sequence[XlaValue],
        computation: Computation,
        dimension: int,
        is_reverse: bool = False,
        is_associative: bool = False,
        *,
        length: int | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""`outputs[i], carries = computation(inputs[i], carries)`, for every i along a dimension.

        The computation takes a slice of each input, without that dimension, and the carries, and
        returns slices of outputs and the new carries. The results are the outputs, stacked, and
        the last carries. (C2) Without inputs, `length`, which is not negative, is the number of
        steps; with inputs it is not given.

        Examples: `b.scan([x], [v], lambda row, sum: (row + sum, row + sum), 0)`;
        `b.scan([], [s], lambda sum: (sum, sum + 1), 0, length=5)`.

        `xla.scan`: `outputs[i], carries = to_apply(inputs[i], carries)`, one step per index along `dimension`.

        The steps run from the first to the last index, or backwards with `is_reverse`. The results are
        the outputs, stacked along `dimension`, and the last carries; `is_associative` is a hint.

        (C1) `0 <= num_carries <=` number of operands, the carries are the last of them. (C2)
        `dimension` is a dimension of all inputs, which have the same size there; without inputs, of the
        declared outputs. (C3) the computation takes the slices of the inputs without that dimension,
        then the carries. (C4) it returns slices of outputs, which are arrays with room for that
        dimension, then the carries.
        """

    @overload
    def while_(self, condition: Computation, body: Computation, init: XlaValue) -> XlaValue: ...
    @overload
    def while_(
        self,
        condition: Computation,
        body: Computation,
        init: Sequence[XlaValue],
    ) -> tuple[XlaValue, ...]:
        r"""`x = init; while condition(x): x = body(x)`; the last x.

        Several values are carried as a sequence of parameters, and come back as a Python tuple.
        Example: `b.while_(lambda k: k < 10, lambda k: k + 1, i)`.

        `xla.while`: `x = init; while condition(x): x = body(x)`; the results are the last x.

        HLO carries one value (often a tuple); several values are carried one by one.

        (C1) condition and body take as many parameters as there are init values; the condition returns
        a scalar pred. (C2) init values, parameters and results of the body have the same types; what is
        dynamic in a value is so in the parameters.
        """

    def get_tuple_element(self, tuple: XlaValue | Sequence[XlaValue], index: int) -> XlaValue:
        r"""Element `index` of a tuple, or of the values that a method gives as a Python tuple.

        Example: `b.get_tuple_element(b.tuple([x, i]), 1)`.

        `xla.get_tuple_element`: Element `index` of a tuple.

        (C1) the operand is a tuple. (C2) `0 <= index < number of elements`.
        """

    def tuple(self, elements: Sequence[XlaValue]) -> XlaValue:
        r"""`xla.tuple`: The tuple of its operands, in order; none of them gives `()`.

        Example: `b.tuple([x, i])`.
        """

    @overload
    def all_gather(
        self,
        operand: XlaValue,
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...
    @overload
    def all_gather(
        self,
        operand: Sequence[XlaValue],
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""The operands of all members of a group, concatenated along a dimension in group order.

        (C3) `shard_count` is at least 1. Example: `b.all_gather(x, 0, 2, [[0, 2], [1, 3]])`.

        `xla.all_gather`: Every member of a group gets the operands of all of them, concatenated in group order.

        (C1) the operands are arrays; each is treated alike. (C2) `0 <= dimension < rank`. (C3) the
        number of shards, result size / operand size, is the size of every group; without groups it has
        to be declared. (C4) all groups have one size.
        """

    @overload
    def all_reduce(
        self,
        operand: XlaValue,
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...
    @overload
    def all_reduce(
        self,
        operand: Sequence[XlaValue],
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""The operands of all members of a group, folded element by element.

        Example: `b.all_reduce(x, b.max, [[0, 1]])`.

        `xla.all_reduce`: `result[i] = to_apply(.. to_apply(operand of member 0[i], of member 1[i]) .., of the last[i])`.

        Every member of a group gets it. The reference folds in group order; implementations may
        reassociate. Groups may differ in size.

        (C1) the operands are arrays, at least one. (C2) (RG1). (C3) (RC1), (RC2) the computation takes
        two scalars of the element type, the same for all operands, and returns one.
        """

    def all_to_all(
        self,
        operand: XlaValue,
        split_dimension: int,
        concat_dimension: int,
        split_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        r"""Block i of `split_count` goes to member i; what comes is concatenated in group order.

        (C2) both dimensions are those of the operand. (C3) `split_count` is at least 1 and divides
        the size of the first. (C4) groups, where they are given, have as many members.

        Example: `b.all_to_all(x, 1, 0, 4)`.

        `xla.all_to_all`: Member i of a group gets block i of the operands of all members, in group order.

        With `dimension` the operand is cut along it into as many equal blocks as there are members, and
        the blocks received are concatenated along it. Without, operand i is block i, and the results
        are the blocks received.

        (C1) the operands are arrays: one with `dimension`, else of one type. (C2) `0 <= dimension <
        rank`. (C3) the size is a multiple of the number of members. (C4) all groups have one size, and
        without `dimension` there are as many operands.
        """

    def all_to_all_tuple(
        self,
        operands: Sequence[XlaValue],
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""Operand i goes to member i; gives what comes from every member, in group order.

        Example: `b.all_to_all_tuple([x, y], [[0, 1]])`.

        `xla.all_to_all`: Member i of a group gets block i of the operands of all members, in group order.

        With `dimension` the operand is cut along it into as many equal blocks as there are members, and
        the blocks received are concatenated along it. Without, operand i is block i, and the results
        are the blocks received.

        (C1) the operands are arrays: one with `dimension`, else of one type. (C2) `0 <= dimension <
        rank`. (C3) the size is a multiple of the number of members. (C4) all groups have one size, and
        without `dimension` there are as many operands.
        """

    def collective_broadcast(
        self,
        operand: XlaValue,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        r"""What the first member of the group has; zeros outside of all groups.

        Example: `b.collective_broadcast(x, [[1, 0]])`.

        `xla.collective_broadcast`: Every member of a group gets the operands of the first one; who is in no group gets zeros.

        With `has_dynamic_root` the last operand says for every other one which member of the group it
        comes from.

        (C1) the operands are arrays, at least one. (C2) no id is in two groups, no group is empty.
        (C3) with `has_dynamic_root` the last operand is `s32[k]` for k others.
        """

    @overload
    def collective_permute(
        self,
        operand: XlaValue,
        source_target_pairs: Pairs,
        channel_id: int | None = None,
    ) -> XlaValue: ...
    @overload
    def collective_permute(
        self,
        operand: Sequence[XlaValue],
        source_target_pairs: Pairs,
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""What the source paired with this process has; zeros if there is none.

        Example: `b.collective_permute(x, [(0, 1), (1, 2)])`.

        `xla.collective_permute`: For every pair (s, t) the operands of s go to t; who is no target gets zeros.

        With `slice_sizes` the operands are input, output, input offsets and output offsets: slices of
        the input of s go into the output of t, which stays as it is elsewhere. Inputs and outputs may
        be tuples, the offsets of an array are a tuple, or k of them where each source sends k slices.

        (C1) no two pairs have one source, and no two pairs one target; of k slices, no more than k.
        (C2) ids are those of processes, from 0. (C3) the operands are arrays, at least one; inputs and
        outputs have one element type and rank each. (C4) an offset is an `s32[]`, one per dimension.
        (C5) `slice_sizes` has the sizes of each slice, of an input together, no larger than its arrays.
        """

    def cross_replica_sum(self, operand: XlaValue, replica_groups: Groups = None) -> XlaValue:
        r"""The sum over all members of a group. (C1) the elements are not pred.

        Example: `b.cross_replica_sum(x)`.

        `xla.all_reduce`: `result[i] = to_apply(.. to_apply(operand of member 0[i], of member 1[i]) .., of the last[i])`.

        Every member of a group gets it. The reference folds in group order; implementations may
        reassociate. Groups may differ in size.

        (C1) the operands are arrays, at least one. (C2) (RG1). (C3) (RC1), (RC2) the computation takes
        two scalars of the element type, the same for all operands, and returns one.
        """

    def partition_id(self) -> XlaValue:
        r"""`xla.partition_id`: The number of this partition, from 0, as `u32[]`.

        Example: `b.partition_id()`.
        """

    def ragged_all_to_all(
        self,
        input: XlaValue,
        output: XlaValue,
        input_offsets: XlaValue,
        send_sizes: XlaValue,
        output_offsets: XlaValue,
        recv_sizes: XlaValue,
        replica_groups: Groups = None,
        channel_id: int | None = None,
    ) -> XlaValue:
        r"""`xla.ragged_all_to_all`: Rows of the inputs go where the offsets say; all other rows are those of `output`.

        `input[input_offsets[i] : + send_sizes[i]]` goes to member i of the group, to rows
        `output_offsets[i]` and following there; `recv_sizes[i]` rows come from member i.

        (C1) input and output have one element type, a dimension 0, and equal sizes of all others.
        (C2) offsets and sizes are integers of one type: per member one, or a row of them. (C3) all
        groups have one size, that of dimension 0 of the offsets.

        Example: `b.ragged_all_to_all(x, y, k, k, k, k, [[0, 1, 2]])`.
        """

    @overload
    def reduce_scatter(
        self,
        operand: XlaValue,
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue: ...
    @overload
    def reduce_scatter(
        self,
        operand: Sequence[XlaValue],
        computation: Computation,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""Block i of what `all_reduce` gives, for member i of a group of `shard_count`.

        (C3) that is at least 1. (C5) it divides the size of the dimension.

        Example: `b.reduce_scatter(x, b.add, 0, 2, [[0, 1]])`.

        `xla.reduce_scatter`: An all-reduce whose result is cut along `dimension`: member i of a group gets block i.

        (C1) as for all-reduce: arrays of one element type and its computation, (RC1), (RC2).
        (C2) `0 <= dimension < rank`. (C3) the number of shards, operand size / result size, is the size
        of every group; without groups it has to be declared. (C4) all groups have one size. (C5) the
        size is a multiple of the number of shards.
        """

    def replica_id(self) -> XlaValue:
        r"""`xla.replica_id`: The number of this replica, from 0, as `u32[]`.

        Example: `b.replica_id()`.
        """

    def all_gather_done(self, context: Context) -> XlaValue:
        r"""What was gathered.

        Example: `b.all_gather_done(b.all_gather_start(x, 0, 2, [[0, 1]]))`.

        `xla.all_gather_done`: Waits for an `all_gather`, and returns its results.

        (C1) the operand is the context of an `all_gather_start`; it may come through a loop or a tuple.
        """

    def all_gather_start(
        self,
        operand: XlaValue,
        all_gather_dim: int,
        shard_count: int,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""Begins an `all_gather`. Example: `b.all_gather_start(x, 0, 2, [[0, 1]])`.

        `xla.all_gather_start`: Begins an `all_gather`, whose rules hold; the context is `(operands, results, ...)`.

        Several operands, and several results, are a tuple each.
        """

    def all_reduce_done(self, context: XlaValue) -> XlaValue:
        r"""What was reduced. Example: `b.all_reduce_done(b.all_reduce_start(x, b.add))`.

        `xla.all_reduce_done`: Waits for an `all_reduce`, and returns its results.

        (C1) the operand is the context of an `all_reduce_start`; it may come through a loop or a tuple.
        """

    def all_reduce_start(
        self,
        operand: XlaValue,
        computation: Computation,
        replica_groups: Groups = None,
        channel_id: int | None = None,
        *,
        use_global_device_ids: bool = False,
    ) -> XlaValue:
        r"""Begins an `all_reduce`. Example: `b.all_reduce_start(x, b.add)`.

        `xla.all_reduce_start`: Begins an `all_reduce`, whose rules hold; the context has the types of the results.
        """

    def async_done(self, context: Context) -> XlaValue:
        r"""The result of the computation. Example: `b.async_done(b.async_start(b.neg, [x]))`.

        `xla.async_done`: Waits for an asynchronous computation, and returns its result.

        It may bind operands and results, as `async_update` does.

        (C1) the operand is the context of an `async_start` or `async_update`; it may come through a
        loop or a tuple. (C2) all operands of the computation are bound. (C3) operands that are bound
        here have the types of the next parameters, then those of the results.
        """

    def async_start(
        self,
        computation: Computation,
        args: Sequence[XlaValue],
        async_execution_thread: str | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""Begins a computation that runs beside what follows.

        Example: `b.async_start(b.add, [x, y])`.

        `xla.async_start`: Begins to run the computation `calls` on the operands, beside what follows.

        The context is `((operands), result, ...)`; the rest of it belongs to the implementation. The
        last operands may be missing, and the result be `()`: then an `async_update` or `async_done`
        binds them, and the computation runs when it has all operands.

        (C1) no more operands than parameters. (C2) their types are those of the parameters. (C3) an
        open context has one use, an `async_update` or `async_done`.
        """

    def async_update(self, context: Sequence[XlaValue]) -> tuple[XlaValue, ...]:
        r"""`xla.async_update`: The context of an asynchronous computation, which may make progress.

        It may bind operands, which its own context has after those of before, and results.

        (C1) the operand is the context of an `async_start` or `async_update`. (C2) all else of the
        context stays as it is. (C3) operands that are bound have the types of the next parameters, then
        those of the results. (C4) an open context has one use, an `async_update` or `async_done`.

        Example: `b.async_update(b.async_start(b.neg, [x]))`.
        """

    def collective_permute_done(self, context: Context) -> XlaValue:
        r"""What the source has sent.

        Example: `b.collective_permute_done(b.collective_permute_start(x, [(0, 1)]))`.

        `xla.collective_permute_done`: Waits for a `collective_permute`, and returns its results.

        (C1) the operand is the context of a `collective_permute_start`; it may come through a loop or a
        tuple.
        """

    def collective_permute_start(
        self,
        operand: XlaValue,
        source_target_pairs: Pairs,
        channel_id: int | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""Begins a `collective_permute`. Example: `b.collective_permute_start(x, [(0, 1)])`.

        `xla.collective_permute_start`: Begins a `collective_permute`, whose rules hold; the context is `(operands, results, ...)`.

        Several operands, and several results, are a tuple each. With `slice_sizes` the operands in the
        context are the inputs, and the results the outputs.
        """

    def copy_done(self, context: Context) -> XlaValue:
        r"""The copy. Example: `b.copy_done(b.copy_start(x))`.

        `xla.copy_done`: Waits for a copy, and returns it.

        (C1) the operand is the context of a `copy_start`; it may come through a loop or a tuple.
        """

    def copy_start(self, operand: XlaValue) -> tuple[XlaValue, ...]:
        r"""`xla.copy_start`: Begins to copy the operand, possibly to another layout or memory space.

        The context is `(destination, source, u32[])`. (C1) the operand is an array.

        Example: `b.copy_start(x)`.
        """

    def add_dependency(self, operand: XlaValue, token: XlaValue) -> XlaValue:
        r"""`xla.add_dependency`: The operand, not before another value.

        (C1) the operand is an array, a token or a tuple of these. (C2) so is what it waits for.

        Example: `b.add_dependency(x, b.outfeed(y))`.
        """

    def after_all(self, operands: Sequence[XlaValue] = ()) -> XlaValue:
        r"""A token after all these tokens. Example: `b.after_all([b.outfeed(x), b.send(y, 1)])`.

        `xla.after_all`: A token after all the operands; without operands a fresh one.

        (C1) operands are tokens, arrays or tuples of these: what is computed before.
        """

    def infeed(self, shape: TypeLike, infeed_config: str | None = None) -> XlaValue:
        r"""The next item of the infeed. Example: `b.infeed("(f32[2], s32[])")`.

        `xla.infeed`: The next item of the infeed, and a token. An empty tuple reads nothing.

        (C1) the item is an array or a tuple of arrays. (C2) its layout is that of the data. (C3) the
        operand is a token.
        """

    def infeed_with_token(
        self,
        token: XlaValue,
        shape: TypeLike,
        infeed_config: str | None = None,
    ) -> tuple[XlaValue, ...]:
        r"""The next item of the infeed, read after the token, and a token after that.

        Example: `b.infeed_with_token(b.after_all(), "f32[2]")`.

        `xla.infeed`: The next item of the infeed, and a token. An empty tuple reads nothing.

        (C1) the item is an array or a tuple of arrays. (C2) its layout is that of the data. (C3) the
        operand is a token.
        """

    def outfeed(
        self,
        operand: XlaValue,
        shape: TypeLike | None = None,
        outfeed_config: str | None = None,
    ) -> XlaValue:
        r"""A token after the operand, of this type, has been written to the outfeed.

        Example: `b.outfeed(x)`.

        `xla.outfeed`: Writes an item to the outfeed; a tuple may be given by its elements.

        (C1) the item is an array or a tuple of arrays. (C2) the last operand is a token. (C3)
        `outfeed_shape`, if present, is the type of the item.
        """

    def outfeed_with_token(
        self,
        operand: XlaValue,
        token: XlaValue,
        shape: TypeLike | None = None,
        outfeed_config: str | None = None,
    ) -> XlaValue:
        r"""As `outfeed`, after the token.

        Example: `b.outfeed_with_token(b.tuple([x, i]), b.after_all(), "(f32[4,8], s32[])")`.

        `xla.outfeed`: Writes an item to the outfeed; a tuple may be given by its elements.

        (C1) the item is an array or a tuple of arrays. (C2) the last operand is a token. (C3)
        `outfeed_shape`, if present, is the type of the item.
        """

    def recv(
        self,
        shape: TypeLike,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        r"""What the `send` with this handle sends, or the host.

        Example: `b.recv("f32[2]", ChannelHandle.new())`.

        `xla.recv`: Gets ready to receive what the `send` with the same channel sends.

        The context is `(data, request id, token[])`; data may be a tuple, or its elements.

        (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
        that is a `recv_done`, channel and is_host_transfer agree. (C3) the operand is a token. (C4) the
        data has the type of what is sent.
        """

    def recv_with_token(
        self,
        token: XlaValue,
        shape: TypeLike,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> tuple[XlaValue, ...]:
        r"""What is received after the token, and a token after that.

        Example: `b.recv_with_token(b.after_all(), "f32[2]", 1)`.

        `xla.recv`: Gets ready to receive what the `send` with the same channel sends.

        The context is `(data, request id, token[])`; data may be a tuple, or its elements.

        (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
        that is a `recv_done`, channel and is_host_transfer agree. (C3) the operand is a token. (C4) the
        data has the type of what is sent.
        """

    def send(
        self,
        operand: XlaValue,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        r"""A token after the operand has been sent to the `recv` with this handle, or to the host.

        Example: `b.send(x, ChannelHandle.new())`.

        `xla.send`: Begins to send the operand to the `recv` with the same channel; that comes before.

        The context is `(data, request id, token[])`. A tuple may be given by its elements.

        (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
        that is a `send_done`, channel and is_host_transfer agree. (C3) the operands are an array or a
        tuple of arrays, and a token.
        """

    def send_with_token(
        self,
        operand: XlaValue,
        token: XlaValue,
        channel_handle: Channel,
        *,
        is_host_transfer: bool = False,
    ) -> XlaValue:
        r"""As `send`, after the token. Example: `b.send_with_token(x, b.after_all(), 1)`.

        `xla.send`: Begins to send the operand to the `recv` with the same channel; that comes before.

        The context is `(data, request id, token[])`. A tuple may be given by its elements.

        (C1) a channel has one sender and one receiver in a module. (C2) the context has one user; if
        that is a `send_done`, channel and is_host_transfer agree. (C3) the operands are an array or a
        tuple of arrays, and a token.
        """

    def custom_call(
        self,
        target_name: str,
        args: Sequence[XlaValue],
        shape: TypeLike,
        *,
        has_side_effect: bool = False,
        backend_config: str | None = None,
        api_version: CustomCallApiVersion | str | None = None,
        called_computations: Sequence[XlaComputation] = (),
    ) -> XlaValue:
        r"""The result, of type `shape`, of the external function of this name on the arguments.

        Whoever runs the program has to register the function.
        Example: `b.custom_call("myfunc", [x, v], "f32[3,3]")`.

        `xla.custom_call`: The results of the external function `custom_call_target` on the operands.

        No pass looks into it. The reference has a registry of functions; a target that is not in it is
        an error.

        (C1) the target is not empty.
        """
