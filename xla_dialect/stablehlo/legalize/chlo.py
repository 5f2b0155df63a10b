"""CHLO's operations as formulas of what XLA has opcodes for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.shapes.broadcasting import expansion
from xla_dialect.stablehlo import special_functions as special
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.legalize.creation import convert_constant, emit_constant
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.stablehlo.ops import chlo, operations_of
from xla_dialect.stablehlo.ops import elementwise as stablehlo
from xla_dialect.stablehlo.special_functions import emit_comparison, emit_ordered
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import BY_NAME, BY_TYPE, Array, ElementClass, array, element_class
from xla_dialect.xdsl.operation_table import OperationTable

F32 = BY_NAME["f32"].type
F64 = BY_NAME["f64"].type
COMPLEX = ElementClass.COMPLEX

Formula: TypeAlias = Callable[..., Term]
"""A function of terms."""


def in_double(formula: Formula, in_single: Formula | None = None) -> Formula:
    """
    A function that computes a formula in f64 and rounds the result to the type of the arguments.

    `in_single` computes f32 and what is narrower, where it is given.
    """

    def compute(*arguments: Term) -> Term:
        result = arguments[0].element_type
        single = in_single is not None and result != F64
        wide = F32 if single else F64
        chosen = in_single if in_single is not None and single else formula
        return chosen(*(argument.converted(wide) for argument in arguments)).converted(result)

    return compute


def by_formula(formula: Formula) -> Legalize:
    """The pattern for a function of operands of one type, which may be stretched to one shape."""

    def convert(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
        return _formula_of(stretched_operands(op, conversion), formula, conversion)

    return cast(Legalize, convert)


def _formula_of(
    operands: Sequence[SSAValue], formula: Formula, conversion: Conversion
) -> Sequence[SSAValue]:
    terms = Terms(conversion, cast(Array, operands[0].type))
    return [formula(*map(terms.of, operands)).value]


def arctangent(x: Term) -> Term:
    """`chlo.atan`; `atan z = -i atanh iz`, for `atan2` of complex numbers overflows and cancels."""
    if not element_class(x.element_type) & COMPLEX:
        return x.arctangent(1.0)
    turned = (-x.imag()).complex(x.real(), x.type).emit(elementwise.AtanhOp)
    return turned.imag().complex(-turned.real(), x.type)


def square(x: Term) -> Term:
    """`chlo.square`."""
    return x * x


def conjugate(x: Term) -> Term:
    """`chlo.conj`; a real number is its own conjugate."""
    if not element_class(x.element_type) & COMPLEX:
        return x
    return x.real().complex(-x.imag(), x.type)


def asin_acos_kernel(z: Term) -> Term:
    """
    `chlo._asin_acos_kernel`: w with `asin z = atan2(Re z, Re w) + i sign(Im z) Im w`.

    With `asin z = u + iv` that is `cos u cosh v + i |v|`.
    """
    arcsine = z.emit(elementwise.AsinOp)
    u, v = arcsine.real(), arcsine.imag()
    real = u.emit(elementwise.CosineOp) * v.emit(elementwise.CoshOp)
    return real.complex(abs(v), z.type)


def next_after(x: Term, y: Term) -> Term:
    """
    `chlo.next_after`: the number beside x in the direction of y, by the bits.

    Bits count up with the magnitude; from zero the way is to the least number with y's sign.
    """
    row = BY_TYPE[x.element_type]
    integer = IntegerType(row.bits)
    bits, target = x.bits(integer), y.bits(integer)
    sign, magnitude = -(1 << row.bits - 1), (1 << row.bits - 1) - 1
    number = bits.number
    away = ((bits ^ target) & number(sign)).differs(number(0)) | (
        (bits & number(magnitude)) > (target & number(magnitude))
    )
    moved = bits + away.where(number(-1), number(1))
    if row.name.endswith("fnuz"):  # There is no -0: its bits are the NaN.
        moved = moved.equals(number(sign)).where(number(0), moved)
    least = (target & number(sign)) | number(1)
    moved = x.equals(0.0).where(least, moved)
    moved = x.equals(y).where(target, moved)
    result = moved.bits(x.element_type)
    return (x.differs(x) | y.differs(y)).where(x + y, result)


def is_infinite(x: Term) -> Term:
    """`chlo.is_inf`."""
    return abs(x).equals(math.inf)


def is_positive_infinity(x: Term) -> Term:
    """`chlo.is_pos_inf`."""
    return x.equals(math.inf)


def is_negative_infinity(x: Term) -> Term:
    """`chlo.is_neg_inf`."""
    return x.equals(-math.inf)


# Broadcasting


def stretched(
    conversion: Conversion, value: SSAValue, sizes: Sequence[int], dimensions: Sequence[int]
) -> SSAValue:
    """The array stretched to `sizes`; its dimension i becomes `dimensions[i]`."""
    found = expansion(sizes_of(value.type), sizes, dimensions)
    if found is None:
        return value
    element_type = cast(Array, value.type).element_type
    if found.reshaped != sizes_of(value.type):
        value = conversion.reshaped(value, found.reshaped)
    return conversion.broadcast(value, array(element_type, sizes), found.dimensions)


def stretched_operands(op: StableHloOp, conversion: Conversion) -> list[SSAValue]:
    """The operands, stretched to the shape that they have together where the operation does so."""
    operands = conversion.operands(op)
    if not isinstance(op, chlo.BroadcastingOp):
        return operands
    sizes, places = op.stretched([operand.type for operand in operands])
    return [
        stretched(conversion, operand, sizes, dimensions)
        for operand, dimensions in zip(operands, places, strict=True)
    ]


def convert_broadcasting(op: chlo.BroadcastingOp, conversion: Conversion) -> Sequence[SSAValue]:
    """One operation on the stretched operands."""
    operands = stretched_operands(op, conversion)
    if isinstance(op, chlo.BroadcastCompareOp):
        return emit_comparison(op, conversion, operands, op.applied_properties())
    return emit_ordered(op.APPLIED, op, conversion, operands)


# Constants and loops


def convert_constant_like(op: chlo.ConstantLikeOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.constant_like`."""
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    expected, scalar = op.type_for(operand.type, declared), op.scalar_type
    number = cast("FloatAttr[Any] | IntegerAttr[Any]", op.value).value.data
    literal = DenseIntOrFPElementsAttr.from_list(cast(Any, scalar), [number])
    return emit_constant(op, literal, conversion, expected, scalar)


def scan_of_xla(op: ScanOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`chlo.scan`, without the flags that are not set."""
    carries, operands = op.num_carries.value.data, legalization.operands(op)
    types = legalization.result_types(op)
    flags = {name: getattr(op, name) for name in ("is_associative", "is_reverse")}
    return legalization.emit(
        chlo.ScanOp,
        operands,
        types,
        {
            "dimension": op.dimension,
            **{name: flag for name, flag in flags.items() if flag.value.data},
            **chlo.segment_sizes(len(operands) - carries, len(types), carries),
        },
        [legalization.region(op.to_apply)],
    ).results


_FORMULAS: Mapping[type[chlo.UnaryFormulaOp], Formula] = {
    chlo.AsinAcosKernelOp: asin_acos_kernel,
    chlo.AtanOp: arctangent,
    chlo.BesselI1eOp: in_double(special.bessel_i1e),
    chlo.ConjOp: conjugate,
    chlo.DigammaOp: in_double(special.digamma),
    chlo.ErfInvOp: in_double(special.erf_inv, special.erf_inv_f32),
    chlo.ErfcOp: in_double(special.erfc, special.erfc_f32),
    chlo.LgammaOp: in_double(special.log_gamma, special.log_gamma),
    chlo.SquareOp: square,
}

_OTHER_FORMULAS: Mapping[type[StableHloOp], Formula] = {
    chlo.IsInfOp: is_infinite,
    chlo.IsNegInfOp: is_negative_infinity,
    chlo.IsPosInfOp: is_positive_infinity,
    **dict.fromkeys((chlo.NextAfterOp, chlo.BroadcastNextAfterOp), next_after),
    **dict.fromkeys((chlo.PolygammaOp, chlo.BroadcastPolygammaOp), in_double(special.polygamma)),
    **dict.fromkeys((chlo.ZetaOp, chlo.BroadcastZetaOp), in_double(special.zeta)),
}

TO_XLA = (
    OperationTable[Legalize](
        {op: by_formula(formula) for op, formula in {**_FORMULAS, **_OTHER_FORMULAS}.items()}
    )
    .add(
        (*chlo.BROADCASTING, chlo.BroadcastCompareOp, chlo.BroadcastSelectOp), convert_broadcasting
    )
    .add(chlo.ConstantOp, convert_constant)
    .add(chlo.ConstantLikeOp, convert_constant_like)
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(ScanOp, scan_of_xla)


# Functions of one array that something else than an operation calls


FunctionCall: TypeAlias = Callable[[StableHloOp, Conversion], Sequence[SSAValue]]
"""Emits a function of the operand of what calls it."""


def _called(formula: Formula, allowed: ElementClass) -> FunctionCall:
    def convert(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
        operands = conversion.operands(op)
        types = [value.type for value in operands]
        chlo.one_type(allowed, types, conversion.result_types(op))
        return _formula_of(operands, formula, conversion)

    return convert


def _operation(op_class: type[XlaOp]) -> FunctionCall:
    def convert(op: StableHloOp, conversion: Conversion) -> Sequence[SSAValue]:
        return conversion.replaced(op, op_class)

    return convert


FUNCTIONS: Mapping[str, FunctionCall] = {
    **{
        op.name: _operation(op.SAME)
        for op in (*operations_of(stablehlo), *operations_of(chlo))
        if issubclass(op, stablehlo.UnaryOp | chlo.UnaryOp) and op.SAME is not None
    },
    **{op.name: _called(formula, op.ELEMENTS) for op, formula in _FORMULAS.items()},
}
"""By the name of the operation, of both dialects."""
