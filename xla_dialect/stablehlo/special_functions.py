"""The special functions of CHLO as formulas of elementary operations.

Arguments are terms of f64 unless a function says otherwise: the functions of narrower types are
computed there and rounded once, which keeps f32 within 1 ULP where the result does not cancel.
Bounds for f64 are those that the tests hold. Operations on complex numbers that XLA has for real
ones only are here as well.

Polynomials hold on one interval each. They were made by interpolation in the zeros of a Chebyshev
polynomial with 50 digits (mpmath), rewritten in powers of the argument scaled to [-1, 1], and
rounded to f64. Each text names the function and the largest relative error of the polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from xdsl.dialects.builtin import ComplexType, f64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.attributes import (
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    Array,
    ElementClass,
    array_like,
    as_array,
    compatible,
    element_class,
    fits,
    is_scalar,
    spell,
    spell_all,
    united_type,
)
from xla_dialect.violations import check


@dataclass(frozen=True)
class Approximation:
    """`Σ coefficients[i] * y^i` with y the argument, scaled from the interval to [-1, 1]."""

    interval: tuple[float, float]
    coefficients: tuple[float, ...]


ERF_INV_F32_CENTRAL = Approximation(
    (0.0, 5.0),
    (
        0.0014093517282388,
        0.6166007234735246,
        -0.026108280762080514,
        -0.019574194007122948,
        0.008525934497817092,
        -0.00048434995070169995,
        -0.0008364687382200093,
        0.0002840751528839747,
        2.5157435365048906e-05,
        -3.333980931492613e-05,
        4.149577433493593e-06,
    ),
)
"""`erf_inv(x) / x - 1.5` over `w = -log(1 - x²)`; 4e-9."""

ERF_INV_F32_TAIL = Approximation(
    (5.0**0.5, 4.0),
    (
        2.951328577035754,
        0.8851584565589149,
        0.005569428583359784,
        -0.0037095976721296386,
        0.0023484579723037223,
        -0.0013758764817531105,
        0.0006055668296802596,
        -0.0001284878565547188,
        -4.5122199802306555e-05,
        4.1026642909476256e-05,
        -8.630364034493051e-06,
    ),
)
"""`erf_inv(x) / x` over √w; 2e-9."""

ERF_INV_F32_NEAR = (
    *(0.88622692, 0.23201391, 0.12753986, 0.086969115, 0.059613602),
    *(0.090458332, -0.12391949, 0.46384625, -0.58233352, 0.43027221),
)
"""`erf_inv(x) / x` over `x²` for `|x| <= 0.7`; 7e-9."""

ERF_INV_CENTRAL = Approximation(
    (0.0, 5.0),
    (
        1.501409351110792,
        0.6166006918604175,
        -0.026108235777397546,
        -0.019573561059547235,
        0.00852540095093571,
        -0.00048789839832821423,
        -0.0008341356436274527,
        0.00029219068516379794,
        2.0472417318135177e-05,
        -4.143207161087569e-05,
        8.652724308992296e-06,
        2.851653340750412e-06,
        -1.8538776245567707e-06,
        1.358328533200264e-07,
        1.9955253577447372e-07,
        -7.089712161469048e-08,
        -6.723947932139925e-09,
        1.1039320695967968e-08,
        -1.9762731377249536e-09,
        -9.755337189136468e-10,
        4.415408140162518e-10,
        3.858161126784117e-11,
        -3.8266700213013834e-11,
    ),
)
"""`erf_inv(x) / x` over w; 9e-19."""

ERF_INV_MIDDLE = Approximation(
    (2.0**0.5, 13.0**0.5),
    (
        2.882591756558006,
        0.9040901674613285,
        0.07048289543222973,
        -0.02270571595714829,
        0.0068438628464129745,
        -0.0017340674280369862,
        3.935216967828256e-05,
        0.0003304444024871626,
        -0.00019368040874193342,
        2.0393521118998278e-05,
        3.512769160968142e-05,
        -1.9383965242792755e-05,
        1.0953753437003685e-07,
        3.99260609083338e-06,
        -1.4736286836976897e-06,
        -2.563747933289167e-07,
        3.714516643463827e-07,
        -8.025777272549371e-08,
        -4.335640572071728e-08,
        2.829691697283914e-08,
        4.3686516044368067e-10,
        -4.332549801233702e-09,
        4.0952244192357833e-10,
        2.9946314409005476e-10,
    ),
)
"""`erf_inv(x) / x` over √(w - 3); 4e-17."""

ERF_INV_TAIL = Approximation(
    (13.0**0.5, 5.75),
    (
        4.83792870070974,
        1.015869603190802,
        0.013905294360690254,
        -0.0030556829666302074,
        0.000621248067306875,
        -0.00011776760074098127,
        2.0733738696806804e-05,
        -3.3541707533825435e-06,
        4.996912066948555e-07,
        -7.902196833262679e-08,
        2.1842930731824552e-08,
        -1.0678734657531603e-08,
        5.250542979086331e-09,
        -2.0587973285586484e-09,
        5.527477960224567e-10,
        -2.430291497012569e-11,
        -7.847582708604848e-11,
        4.5518784822114775e-11,
        -9.439307616410352e-12,
    ),
)
"""`erf_inv(x) / x` over √(w - 3); 6e-17."""

ERF_F32_NEAR = (1.1283791, -0.37612608, 0.11282838, -0.026753158, 0.004719916)
"""`erf(x) / x` over `x²` for `|x| <= 1/2`; 1.5e-9."""

ERFC_F32 = Approximation(
    (0.08620689655172414, 0.5),
    (
        0.9046474695205688,
        0.3026333451271057,
        0.03546064347028732,
        -0.010149281471967697,
        -0.0020708818919956684,
        0.0008570566424168646,
        7.787895447108895e-05,
        -7.562267273897305e-05,
    ),
)
"""`(x + 3/2) e^(x²) erfc(x)` over `1 / (x + 3/2)`; 6.3e-8."""

ERFC = Approximation(
    (-7 / 9, 0.76),
    (
        1.2342373619393252,
        -0.10755072039044473,
        0.007990032705441007,
        0.03262126137013467,
        -0.03679754092112459,
        0.0261563410120289,
        -0.014190783819069254,
        0.006090124700158263,
        -0.0020281228775803645,
        0.0004788610352289135,
        -5.3259618413917906e-05,
        -1.1964535639162244e-05,
        6.547473528063986e-06,
        -7.530534396005894e-07,
        -3.0244988813613326e-07,
        1.0916589486376095e-07,
        6.3422404621275484e-09,
        -9.049425045645494e-09,
        4.2895125071775184e-10,
        5.102205219600018e-10,
        -5.284042851695414e-11,
    ),
)
"""`(1 + 2x) e^(x²) erfc(x)` over `(x - 4) / (x + 4)`; 4e-17."""

BESSEL_I1E_NEAR = Approximation(
    (0.0, 8.0),
    (
        0.044687709875608835,
        -0.06112433802966629,
        0.06805759990951162,
        -0.06848260620582547,
        0.06376740371340574,
        -0.055280039227051464,
        0.04467457262129803,
        -0.03367135551992323,
        0.023686016957060574,
        -0.015571309256763564,
        0.009583962156945484,
        -0.00553456775924123,
        0.0030057623821174878,
        -0.0015388749696724586,
        0.0007445125009401354,
        -0.00034117472445271377,
        0.00014842078447446075,
        -6.142655719704761e-05,
        2.4234718882605183e-05,
        -9.131775730568571e-06,
        3.2924352911169492e-06,
        -1.1381566323785447e-06,
        3.775209816001518e-07,
        -1.1993980285486188e-07,
        3.6835919591868617e-08,
        -1.1224475126135595e-08,
        3.198333859381317e-09,
        -7.277033556073836e-10,
        1.965113009272093e-10,
        -9.506861180736366e-11,
        2.351120264889522e-11,
    ),
)
"""`e^(-x) I1(x) / x`; 3e-19."""

BESSEL_I1E_FAR = Approximation(
    (0.0, 1.0),
    (
        0.38939845902587233,
        -0.009749577193235737,
        -0.0002192357638317243,
        -1.5038547200567223e-05,
        -1.834910235895503e-06,
        -3.48385576104301e-07,
        -1.0001095659691061e-07,
        -4.312917729319342e-08,
        -2.3392503743697085e-08,
        -8.427766085044746e-09,
        6.840138977714214e-09,
        1.4034238749053688e-08,
        5.593370159486267e-09,
        -7.642394053234507e-09,
        -6.983839731886415e-09,
        3.426234017518579e-09,
        4.8105975326124815e-09,
        -1.4387249136329346e-09,
        -2.2970042563140246e-09,
        5.29562450540306e-10,
        6.917089689529728e-10,
        -1.4011621592259972e-10,
        -9.752397919174297e-11,
        1.851511282849806e-11,
    ),
)
"""`e^(-x) I1(x) √x` over 8 / x; 3e-17."""

LOG_GAMMA = Approximation(
    (0.5, 2.5),
    (
        0.4831289505409809,
        -0.14595989591430608,
        0.06291140107456489,
        -0.03130848750101073,
        0.016797098631193944,
        -0.009425622448494504,
        0.005446457844144666,
        -0.0032120740761375772,
        0.0019229161526222549,
        -0.0011644145001038276,
        0.0007115220292012162,
        -0.0004379947103008827,
        0.00027127993028375604,
        -0.00016889878681193262,
        0.00010559897365556623,
        -6.627861649110329e-05,
        4.1934315295605456e-05,
        -2.660327856981408e-05,
        1.597338857959687e-05,
        -9.722508415352003e-06,
        9.538820266969786e-06,
        -7.4183900172668515e-06,
        -5.1460594547210625e-06,
        6.562750721959693e-06,
        1.8718070087674816e-05,
        -1.8296527779615488e-05,
        -3.013551585873681e-05,
        2.8846103801191165e-05,
        4.170575610799308e-05,
        -3.798687846245725e-05,
        -4.338393664006355e-05,
        3.80556750261572e-05,
        3.4527922649534766e-05,
        -2.9186782756554105e-05,
        -2.0094750937048483e-05,
        1.64307047991508e-05,
        8.15892516849851e-06,
        -6.4626948917036965e-06,
        -2.065004836158603e-06,
        1.5879513952964713e-06,
        2.518246698376378e-07,
        -1.8787238164010762e-07,
    ),
)
"""`log Γ(x) / ((x - 1) (x - 2))`; 2e-17."""


ORDERS: Mapping[type[XlaOp], ComparisonDirection] = {
    elementwise.MaximumOp: ComparisonDirection.GT,
    elementwise.MinimumOp: ComparisonDirection.LT,
}
"""What takes the greater, or the less, of two values; the order is that of (real, imaginary)."""

_STRICT: Mapping[ComparisonDirection, ComparisonDirection] = {
    ComparisonDirection.GE: ComparisonDirection.GT,
    ComparisonDirection.GT: ComparisonDirection.GT,
    ComparisonDirection.LE: ComparisonDirection.LT,
    ComparisonDirection.LT: ComparisonDirection.LT,
}
"""Comparisons by order; as this one real parts decide alone."""


def is_complex(value: SSAValue) -> bool:
    """Whether a value is an array of complex numbers."""
    type_ = as_array(value.type)
    return type_ is not None and element_class(type_.element_type) == ElementClass.COMPLEX


def convert_ordered(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.maximum` and `stablehlo.minimum`."""
    assert op.SAME is not None
    return emit_ordered(op.SAME, op, conversion, conversion.operands(op))


def convert_clamp(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.clamp`: of complex numbers the minimum of a maximum; bounds may be scalars."""
    operands = conversion.operands(op)
    if not is_complex(operands[1]):
        return conversion.emit(elementwise.ClampOp, operands, conversion.result_types(op))
    type_ = cast(Array, operands[1].type)
    for i in (0, 2):
        if is_scalar(operands[i].type, type_.element_type) and type_.shape.data:
            operands[i] = conversion.broadcast(operands[i], type_)
    least, value, most = _terms(op, conversion, operands)
    value = _of_order(value, least, ComparisonDirection.GT)
    return [_returned(op, conversion, _of_order(value, most, ComparisonDirection.LT))]


def emit_ordered(
    op_class: type[XlaOp], op: StableHloOp, conversion: Conversion, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Any operation of two operands; of complex ones its order is computed."""
    if op_class not in ORDERS or not is_complex(operands[0]):
        return conversion.emit(op_class, operands, conversion.result_types(op))
    x, y = _terms(op, conversion, operands)
    return [_returned(op, conversion, _of_order(x, y, ORDERS[op_class]))]


def emit_comparison(
    op: StableHloOp,
    conversion: Conversion,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute],
) -> Sequence[SSAValue]:
    """
    A comparison; XLA has no order of complex numbers, that of StableHLO is computed. SIGNED and
    UNSIGNED compare the bits of integers as such, whatever type these have.
    """
    direction, type_ = properties["direction"], properties.get("comparison_type")
    assert isinstance(direction, ComparisonDirectionAttr)
    if isinstance(type_, ComparisonTypeAttr) and type_.data in _INTEGER_ORDERS:
        operands = [_of_sign(value, _INTEGER_ORDERS[type_.data], conversion) for value in operands]
    is_float = type_ in (None, ComparisonTypeAttr(ComparisonType.FLOAT))
    if direction.data not in _STRICT or not is_complex(operands[0]) or not is_float:
        return conversion.emit(
            elementwise.CompareOp, operands, conversion.result_types(op), dict(properties)
        )
    x, y = _terms(op, conversion, operands)
    return [_returned(op, conversion, _in_order(x, y, direction.data))]


_INTEGER_ORDERS = {ComparisonType.SIGNED: "s", ComparisonType.UNSIGNED: "u"}
"""How the names of the element types begin that a comparison is of."""
_INTEGERS = ElementClass.SIGNED | ElementClass.UNSIGNED


def _of_sign(value: SSAValue, letter: str, conversion: Conversion) -> SSAValue:
    """An array of integers, signed or not as the first letter of its element type's name says."""
    type_ = as_array(value.type)
    row = None if type_ is None else BY_TYPE.get(type_.element_type)
    if type_ is None or row is None or not row.element_class & _INTEGERS:
        return value
    if row.name.startswith(letter):
        return value
    other = array_like(type_, BY_NAME[letter + row.name[1:]].type)
    return conversion.emit(BitcastConvertOp, [value], [other])[0]


def convert_cbrt(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.cbrt`: of complex numbers the principal root, by radius and angle in f64."""
    operands = conversion.operands(op)
    if not is_complex(operands[0]):
        return conversion.emit(elementwise.CbrtOp, operands, conversion.result_types(op))
    (z,) = _terms(op, conversion, operands)
    x = z.converted(ComplexType(f64))
    angle = x.imag().arctangent(x.real()) / 3.0
    radius = abs(x).emit(elementwise.CbrtOp)
    # An infinite radius times the sine of no angle is none.
    imaginary = angle.equals(0.0).where(angle, radius * angle.emit(elementwise.SineOp))
    root = (radius * angle.emit(elementwise.CosineOp)).complex(imaginary, x.type)
    return [_returned(op, conversion, root.converted(z.element_type))]


def _terms(op: StableHloOp, conversion: Conversion, operands: Sequence[SSAValue]) -> list[Term]:
    """The operands, arrays of one type."""
    types = [value.type for value in operands]
    check(
        all(compatible(other, types[0]) for other in types),
        "operands {} differ in type",
        spell_all(types),
    )
    terms = Terms(conversion, united_type(*(cast(Array, type_) for type_ in types)))
    return [terms.of(value) for value in operands]


def _in_order(x: Term, y: Term, direction: ComparisonDirection) -> Term:
    """Whether two numbers compare so: by real part, and where these are equal by imaginary part."""
    a, b = x.real(), y.real()
    return a.compare(_STRICT[direction], b) | (a.equals(b) & x.imag().compare(direction, y.imag()))


def _of_order(x: Term, y: Term, direction: ComparisonDirection) -> Term:
    """The first number where it compares so to the second one, which is taken elsewhere."""
    return _in_order(x, y, direction).where(x, y)


def _returned(op: StableHloOp, conversion: Conversion, result: Term) -> SSAValue:
    """The result of an operation, which has to be of its declared type."""
    declared = conversion.result_types(op)[0]
    check(
        fits(result.type, declared),
        "(Result) declared {}, inferred {}",
        spell(declared),
        spell(result.type),
    )
    return result.value


_BERNOULLI = tuple(
    Fraction(*ratio)
    for ratio in (
        (1, 6),
        (-1, 30),
        (1, 42),
        (-1, 30),
        (5, 66),
        (-691, 2730),
        (7, 6),
        (-3617, 510),
        (43867, 798),
        (-174611, 330),
        (854513, 138),
        (-236364091, 2730),
    )
)
"""The Bernoulli numbers B2, B4, B6, ..."""


def approximate(x: Term, table: Approximation) -> Term:
    """A tabulated polynomial, for arguments in its interval."""
    low, high = table.interval
    half = (high - low) / 2
    return ((x - (low + high) / 2) * (1 / half)).polynomial(table.coefficients)


# Error functions


def erf_inv(x: Term) -> Term:
    """
    The inverse of the error function: ±inf at ±1, NaN beyond; 3 ULP.

    With `w = -log(1 - x²)`, `erf_inv(x) / x` is a smooth function of w, and of √w for large w:
    M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade (2011), chapter 10.
    Of √(w - 3), that is: it is less than the result, and so are its rounding errors.
    """
    w = _giles_argument(x)
    root = (w - 3.0).sqrt()
    ratio = approximate(w, ERF_INV_CENTRAL)
    ratio = (w < 5.0).where(ratio, approximate(root, ERF_INV_MIDDLE))
    ratio = (w < 16.0).where(ratio, approximate(root, ERF_INV_TAIL))
    return _with_poles(x, ratio)


def erf_inv_f32(x: Term) -> Term:
    """`erf_inv` of f32, in f32: random normal numbers need it to be fast; 3 ULP."""
    w = -_log_of_complement(x)
    # The constant of this polynomial, 1.5014, would be rounded.
    central = 1.5 + approximate(w, ERF_INV_F32_CENTRAL)
    far = (w < 5.0).where(central, approximate(w.sqrt(), ERF_INV_F32_TAIL))
    near = (x * x).polynomial(ERF_INV_F32_NEAR)
    return _with_poles(x, (abs(x) < 0.7).where(near, far))


def _giles_argument(x: Term) -> Term:
    inner = (-x * x).emit(elementwise.LogPlusOneOp)
    return -(abs(x) < 0.5).where(inner, _log_of_complement(x))


def _log_of_complement(x: Term) -> Term:
    """`log(1 - x²)`, which would cancel near 1."""
    return ((1.0 - x) * (1.0 + x)).log()


def _with_poles(x: Term, ratio: Term) -> Term:
    return abs(x).equals(1.0).where(x * math.inf, x * ratio)


def erfc(x: Term) -> Term:
    """
    The complement `1 - erf(x)`, with full relative accuracy for large x; 4 ULP.

    Beyond 1/2 `(1 + 2x) e^(x²) erfc(x)` is smooth in `t = (x - 4) / (x + 4)`: M. Shepherd and
    J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x", Math. Comp. 36 (1981).
    """
    size = abs(x).maximum(0.5).minimum(28.0)
    # The square in two parts: its rounding error would be multiplied by the exponential.
    upper = (size * 1024.0).floor() * (1 / 1024)
    decay = (-upper * upper).exp() * ((upper - size) * (upper + size)).exp()
    scaled = approximate((size - 4.0) / (size + 4.0), ERFC)
    tail = decay * scaled / (size * 2.0 + 1.0)
    far = (x < 0.0).where(2.0 - tail, tail)
    near = 1.0 - x.emit(elementwise.ErfOp)
    return ((abs(x) < 0.5) | x.differs(x)).where(near, far)


def erfc_f32(x: Term) -> Term:
    """`erfc` of f32, in f32: GELU needs it to be fast; 6 ULP."""
    size = abs(x).maximum(0.5).minimum(10.1)
    upper = (size * 256.0).floor() * (1 / 256)
    rest = ((upper - size) * (upper + size)).polynomial((1.0, 1.0, 1 / 2, 1 / 6, 1 / 24))
    inverse = 1.0 / (size + 1.5)
    tail = (-upper * upper).exp() * (rest * approximate(inverse, ERFC_F32) * inverse)
    far = (x < 0.0).where(2.0 - tail, tail)
    near = 1.0 - x * (x * x).polynomial(ERF_F32_NEAR)
    return ((abs(x) < 0.5) | x.differs(x)).where(near, far)


# The gamma function and its derivatives


def log_gamma(x: Term) -> Term:
    """
    `log |Γ(x)|`: inf at 0, -1, -2, ... and at ±inf; 16 ULP, for x < 0 of max(1, |result|), and 32
    in f32.

    Below 1/2 by reflection, `Γ(x) Γ(1 - x) = π / sin πx`; around its zeros 1 and 2 from a table of
    `log Γ(x) / ((x - 1) (x - 2))`; else Stirling's series. `Γ(x + 1) = x Γ(x)` leads there.
    """
    reflected = x < 0.5
    y = reflected.where(1.0 - x, x)
    positive = (y < 4.5).where(_tabulated_log_gamma(y), _stirling(y))
    sine = (_distance_to_integer(x) * math.pi).emit(elementwise.SineOp)
    result = reflected.where((math.pi / abs(sine)).log() - positive, positive)
    is_infinite = abs(x).equals(math.inf) | (reflected & sine.equals(0.0))
    return is_infinite.where(x.number(math.inf), result)


def _tabulated_log_gamma(x: Term) -> Term:
    """`log Γ(x)` for 1/2 ≤ x < 9/2."""
    factor = (x < 2.5).where(x.number(1.0), x - 1.0)
    factor = (x < 3.5).where(factor, factor * (x - 2.0))
    z = x - (x < 2.5).where(x.number(0.0), (x < 3.5).where(x.number(1.0), 2.0))
    return (z - 1.0) * (z - 2.0) * approximate(z, LOG_GAMMA) + factor.log()


_SHIFT = 8


def _stirling(x: Term) -> Term:
    """`log Γ(x)` for x ≥ 4."""
    product, large = x.number(1.0), x
    for _ in range(_SHIFT - 4):
        small = large < float(_SHIFT)
        product = small.where(product * large, product)
        large = small.where(large + 1.0, large)
    coefficients = [
        float(b / ((2 * k) * (2 * k - 1))) for k, b in enumerate(_BERNOULLI[:9], start=1)
    ]
    inverse = 1.0 / large
    series = inverse * (inverse * inverse).polynomial(coefficients)
    value = (large - 0.5) * (large.log() - 1.0) + (math.log(2 * math.pi) / 2 - 0.5) + series
    return value - product.log()


def _distance_to_integer(x: Term) -> Term:
    """The argument minus the nearest integer: exact; sin πx and tan πx only change in sign."""
    return x - x.emit(elementwise.RoundNearestEvenOp)


def digamma(x: Term) -> Term:
    """
    `Γ'(x) / Γ(x)`: NaN at 0, -1, -2, ...; 8 ULP of max(1, |result|) for x > 0.

    Below 1/2 by reflection, `ψ(x) = ψ(1 - x) - π / tan πx`; else the asymptotic series of x + n
    and `ψ(x + 1) = ψ(x) + 1/x`.
    """
    reflected = x < 0.5
    y = reflected.where(1.0 - x, x)
    total = y - y
    for _ in range(10):
        small = y < 10.0
        total = small.where(total + 1.0 / y, total)
        y = small.where(y + 1.0, y)
    inverse = 1.0 / (y * y)
    coefficients = [float(b / (2 * k)) for k, b in enumerate(_BERNOULLI[:8], start=1)]
    positive = y.log() - 0.5 / y - inverse * inverse.polynomial(coefficients) - total
    rest = _distance_to_integer(x)
    mirrored = positive - math.pi / (rest * math.pi).emit(elementwise.TanOp)
    pole = reflected & rest.equals(0.0)
    result = reflected.where(mirrored, (x.equals(math.inf)).where(x, positive))
    return pole.where(x.number(math.nan), result)


_ZETA_TERMS = 12
_ZETA_LEAST = -6.0
"""Below this q the Euler-Maclaurin formula would start at too small an argument."""


def zeta(x: Term, q: Term) -> Term:
    """
    Hurwitz' zeta function `Σ (q + n)^(-x)`, n = 0, 1, ..., by the Euler-Maclaurin formula.

    NaN for x < 1, inf for x = 1. For q ≤ 0: inf (NaN for an odd or fractional x) at the poles
    0, -1, -2, ..., else NaN unless x is an integer, and below -6. 1e-13 relative for x > 1, q > 0.
    """
    total = q**-x
    argument = q
    for _ in range(1, _ZETA_TERMS):
        argument = argument + 1.0
        total = total + argument**-x
    last = argument**-x
    total = total + last * (argument / (x - 1.0)) - 0.5 * last
    term = last * (x / argument)
    for k, bernoulli in enumerate(_BERNOULLI, start=1):
        total = total + term * float(bernoulli / math.factorial(2 * k))
        term = term * ((x + float(2 * k - 1)) / argument) * ((x + float(2 * k)) / argument)
    total = (x.equals(math.inf) | q.equals(math.inf)).where(q**-x, total)
    return _zeta_at_the_border(x, q, total)


def _zeta_at_the_border(x: Term, q: Term, total: Term) -> Term:
    number = x.number
    integral = x.floor().equals(x)
    even = integral & (x % 2.0).equals(0.0)
    pole = (q <= 0.0) & q.floor().equals(q)
    beside = (q <= 0.0) & (~integral | (q < _ZETA_LEAST))
    found = beside.where(number(math.nan), total)
    found = pole.where(even.where(number(math.inf), math.nan), found)
    found = (x < 1.0).where(number(math.nan), found)
    return x.equals(1.0).where(number(math.inf), found)


def polygamma(n: Term, x: Term) -> Term:
    """
    The n-th derivative of `digamma`: `(-1)^(n+1) n! ζ(n + 1, x)`; NaN unless n is 0, 1, 2, ...

    1e-12 relative for n ≤ 100.
    """
    sign = (n % 2.0).equals(0.0).where(n.number(-1.0), 1.0)
    value = sign * log_gamma(n + 1.0).exp() * zeta(n + 1.0, x)
    value = n.equals(0.0).where(digamma(x), value)
    defined = (n >= 0.0) & n.floor().equals(n)
    return defined.where(value, math.nan)


# Bessel functions


def bessel_i1e(x: Term) -> Term:
    """`e^(-|x|) I1(x)` from tables of it over x up to 8, and times √x in 8 / x beyond; 8 ULP."""
    size = abs(x)
    near = size.minimum(8.0) * approximate(size.minimum(8.0), BESSEL_I1E_NEAR)
    large = size.maximum(8.0)
    far = approximate(8.0 / large, BESSEL_I1E_FAR) / large.sqrt()
    return (size < 8.0).where(near, far) * x.emit(elementwise.SignOp)
