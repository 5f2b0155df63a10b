"""CHLO: operations that XLA has no opcode for, as formulas of those it has.

`broadcast_*` stretch their operands to one shape first: the one of lower rank by
`broadcast_dimensions`, which default to the last dimensions, and then sizes of 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.attributes import ComparisonDirectionAttr, ComparisonTypeAttr
from xla_dialect.diagnostics import Violation
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import elementwise_unary as unary
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.ops.elementwise_ternary import SelectOp
from xla_dialect.shapes.broadcasting import broadcast_shape, expansion, matched_dimensions
from xla_dialect.stablehlo import special_functions as special
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.complex_numbers import emit_comparison, emit_ordered
from xla_dialect.stablehlo.conversion import Conversion, Convert, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import one_to_one, same, word
from xla_dialect.stablehlo.creation import convert_constant, parse_constant
from xla_dialect.stablehlo.ops import OPERATIONS
from xla_dialect.stablehlo.ops.elementwise import BinaryOp, UnaryOp
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import arrow_types, form, parse_types, same_type
from xla_dialect.stablehlo.terms import Term, Terms
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    Array,
    ElementClass,
    array,
    as_array,
    compatible,
    element_class,
    fits,
    spell,
    takes_unknown_sizes,
    united_type,
)
from xla_dialect.xdsl.creation import create

F32 = BY_NAME["f32"].type
F64 = BY_NAME["f64"].type
FLOAT = ElementClass.FLOAT
COMPLEX = ElementClass.COMPLEX

Formula: TypeAlias = Callable[..., Term]
"""A function of terms."""


def typed_operands(
    op: SourceOp, conversion: Conversion, allowed: ElementClass, types: Sequence[Attribute]
) -> list[SSAValue]:
    """The operands, which have one type, with an allowed element type, and so have the results."""
    operands = conversion.operands(op)
    first = operands[0].type
    found = as_array(first)
    if found is None or not element_class(found.element_type) & allowed:
        op.fail(f"an operand is {spell(first)}, expected an array of {allowed.describe()}")
    agree = all(compatible(operand.type, first) for operand in operands)
    if agree and takes_unknown_sizes():
        first = united_type(*(cast(Array, operand.type) for operand in operands))
    for type_ in [*(operand.type for operand in operands), *types]:
        if not agree or not fits(first, type_):
            op.fail(f"takes and returns one type, found {spell(first)} and {spell(type_)}")
    return operands


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


def by_formula(formula: Formula, allowed: ElementClass = FLOAT) -> Convert:
    """The conversion to a formula of operands of one type, which is that of the result too."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        operands = typed_operands(op, conversion, allowed, conversion.result_types(op))
        terms = Terms(conversion, cast(Array, operands[0].type))
        return [formula(*map(terms.of, operands)).value]

    return convert


def arctangent(x: Term) -> Term:
    """`chlo.atan`; `atan z = -i atanh iz`, for `atan2` of complex numbers overflows and cancels."""
    if not element_class(x.element_type) & COMPLEX:
        return x.arctangent(1.0)
    turned = (-x.imag()).complex(x.real(), x.type).apply(unary.AtanhOp)
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
    arcsine = z.apply(unary.AsinOp)
    u, v = arcsine.real(), arcsine.imag()
    real = u.apply(unary.CosineOp) * v.apply(unary.CoshOp)
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
    result = moved.from_bits(x.element_type)
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


def infinite(test: Formula) -> Convert:
    """The conversion of a test for infinity."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        operands = typed_operands(op, conversion, FLOAT, ())
        result = test(Terms(conversion, cast(Array, operands[0].type)).of(operands[0]))
        declared = conversion.result_types(op)[0]
        if not fits(result.type, declared):
            op.fail(f"declared {spell(declared)}, expected {spell(result.type)}")
        return [result.value]

    return convert


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
        value = conversion.emit(ReshapeOp, [value], [array(element_type, found.reshaped)])[0]
    return conversion.emit(
        BroadcastOp,
        [value],
        [array(element_type, sizes)],
        {"dimensions": dimension_list(found.dimensions)},
    )[0]


def stretched_operands(op: SourceOp, conversion: Conversion) -> list[SSAValue]:
    """Both operands of a `broadcast_*` operation, stretched to the shape they have together."""
    operands = conversion.operands(op)
    if not all(as_array(operand.type) for operand in operands):
        op.fail("takes arrays")
    sizes = [sizes_of(operand.type) for operand in operands]
    ranks = sorted(map(len, sizes))
    default = range(ranks[1] - ranks[0], ranks[1])
    dimensions = op.integers("broadcast_dimensions", default)
    if ranks[0] == ranks[1] and dimensions != tuple(range(ranks[0])):
        op.fail(f"broadcast_dimensions {list(dimensions)} for operands of one rank {ranks[0]}")
    if len(dimensions) != ranks[0]:
        op.fail(f"broadcast_dimensions {list(dimensions)} for an operand of rank {ranks[0]}")
    try:
        result = broadcast_shape(sizes[0], sizes[1], dimensions if ranks[0] < ranks[1] else ())
    except Violation as violation:
        op.fail(str(violation))
    return [
        stretched(conversion, operand, result, matched_dimensions(own, result, dimensions))
        for operand, own in zip(operands, sizes, strict=True)
    ]


def broadcasting(op_class: type[XlaOp]) -> Convert:
    """The conversion to one operation on the stretched operands."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        return emit_ordered(op_class, op, conversion, stretched_operands(op, conversion))

    return convert


def broadcasting_formula(formula: Formula) -> Convert:
    """The conversion to a formula of the stretched operands."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        operands = stretched_operands(op, conversion)
        declared = conversion.result_types(op)[0]
        types = [operands[0].type]
        types += [operand.type for operand in operands if not compatible(operand.type, types[0])]
        if len(types) == 1:
            types[0] = united_type(*(cast(Array, operand.type) for operand in operands))
        if not fits(types[0], declared):
            types.append(declared)
        element = element_class(cast(Array, operands[0].type).element_type)
        if len(types) != 1 or not element & FLOAT:
            op.fail(f"takes and returns floats of one type, found {', '.join(map(spell, types))}")
        terms = Terms(conversion, cast(Array, operands[0].type))
        return [formula(*map(terms.of, operands)).value]

    return convert


_COMPARISON = same(
    binary.CompareOp,
    {
        "direction": word("comparison_direction", "comparison_direction", ComparisonDirectionAttr),
        "comparison_type": word(
            "compare_type", "comparison_type", ComparisonTypeAttr, absent=("NOTYPE",)
        ),
    },
)


def convert_broadcast_compare(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.broadcast_compare`."""
    properties = _COMPARISON.taken(op)
    return emit_comparison(op, conversion, stretched_operands(op, conversion), properties)


def convert_broadcast_select(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.broadcast_select`: the predicate is stretched too."""
    operands = conversion.operands(op)
    if not all(as_array(operand.type) for operand in operands):
        op.fail("takes arrays")
    rank = max(len(sizes_of(operand.type)) for operand in operands)
    padded = [(1,) * (rank - len(s)) + s for s in (sizes_of(v.type) for v in operands)]
    result: Sequence[int] = padded[0]
    try:
        for sizes in padded[1:]:
            result = broadcast_shape(result, sizes)
    except Violation as violation:
        op.fail(str(violation))
    values = [
        stretched(conversion, v, result, range(rank - len(sizes_of(v.type)), rank))
        for v in operands
    ]
    return conversion.emit(SelectOp, values, conversion.result_types(op))


# Constants and loops


def convert_constant_like(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.constant_like`: one number, with the sizes of the operand."""
    value = op.take("value")
    declared = conversion.result_types(op)[0]
    operand = conversion.operands(op)[0].type
    if not isinstance(value, FloatAttr | IntegerAttr):
        op.fail(f"value is {value}, not a number")
    number = cast("FloatAttr[Any] | IntegerAttr[Any]", value)
    if as_array(operand) is None:
        op.fail("takes an array")
    scalar = TensorType(cast(Attribute, number.type), ())
    expected = array(scalar.element_type, sizes_of(operand))
    if not fits(expected, declared):
        op.fail(f"declared {spell(declared)}, expected {spell(expected)}")
    literal = DenseIntOrFPElementsAttr.from_list(cast(Any, scalar), [number.value.data])
    op.properties["value"] = literal
    return convert_constant(op, conversion, expected, scalar)


def parse_scan(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `chlo.scan(%0) inits (%1) dimension=0 attributes {...} {region} : types -> types`."""
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_keyword("inits")
    inits = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_keyword("dimension")
    parser.parse_punctuation("=")
    dimension = IntegerAttr(parse_i64(parser), i64)
    attributes = parser.parse_optional_attr_dict_with_keyword()
    region = parser.parse_region()
    parser.parse_punctuation(":")
    position = parser.pos
    types, results = parse_types(parser, same_type, len(operands) + len(inits))
    values = parser.resolve_operands([*operands, *inits], types, position)
    return create(
        op_class,
        operands=values,
        result_types=results,
        properties={"dimension": dimension},
        attributes=({} if attributes is None else dict(attributes.data))
        | {"num_carries": IntegerAttr(len(inits), i64)},
        regions=[region],
    )


def convert_scan(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.scan`."""
    carries = op.integer("num_carries", -1)
    segments = op.integers("operandSegmentSizes", (), i32)
    results = op.integers("resultSegmentSizes", (), i32)
    if carries < 0:
        for name, sizes, count in (
            ("operandSegmentSizes", segments, len(op.operands)),
            ("resultSegmentSizes", results, len(op.results)),
        ):
            if len(sizes) != 2 or min(sizes) < 0 or sum(sizes) != count:
                op.fail(f"{name} is {list(sizes)}, which does not divide {count} into two lists")
        if segments[1] != results[1]:
            op.fail(f"has {segments[1]} initial values and {results[1]} last ones")
        carries = segments[1]
    op.take("scan_dim_size")
    properties = {
        "dimension": IntegerAttr(op.integer("dimension"), i64),
        "num_carries": IntegerAttr(carries, i64),
        **{name: BoolAttr.from_bool(op.flag(name)) for name in ("is_reverse", "is_associative")},
    }
    return conversion.emit(
        ScanOp,
        conversion.operands(op),
        conversion.result_types(op),
        properties,
        conversion.regions(op),
    )


_FORMULAS: Mapping[str, tuple[Formula, ElementClass]] = {
    "_asin_acos_kernel": (asin_acos_kernel, COMPLEX),
    "atan": (arctangent, FLOAT | COMPLEX),
    "bessel_i1e": (in_double(special.bessel_i1e), FLOAT),
    "conj": (conjugate, FLOAT | COMPLEX),
    "digamma": (in_double(special.digamma), FLOAT),
    "erf_inv": (in_double(special.erf_inv, special.erf_inv_f32), FLOAT),
    "erfc": (in_double(special.erfc, special.erfc_f32), FLOAT),
    "lgamma": (in_double(special.log_gamma, special.log_gamma), FLOAT),
    "square": (square, FLOAT | COMPLEX),
}
"""Functions of one argument."""

_FORMULAS_OF_TWO: Mapping[str, Formula] = {
    "next_after": next_after,
    "polygamma": in_double(special.polygamma),
    "zeta": in_double(special.zeta),
}
"""Functions of two floats; all have a `broadcast_` form."""

_OPCODES: tuple[type[XlaOp], ...] = (
    unary.AcosOp,
    unary.AcoshOp,
    unary.AsinOp,
    unary.AsinhOp,
    unary.AtanhOp,
    unary.CoshOp,
    unary.ErfOp,
    unary.SinhOp,
    unary.TanOp,
)
"""Operations of one operand that have an opcode in XLA."""

_BROADCASTING = tuple(
    op.SAME
    for op in OPERATIONS
    if issubclass(op, BinaryOp) and op.SAME not in (None, binary.CompareOp)
)
"""Operations of two operands with a `broadcast_` form."""


def _name(op_class: type[XlaOp], prefix: str = "") -> str:
    return f"chlo.{prefix}{op_class.name.removeprefix('xla.')}"


_FORM = form(arrow_types)

FORMULAS = frozenset(f"chlo.{name}" for name in (*_FORMULAS, *_FORMULAS_OF_TWO))
"""Functions that become dozens of operations."""

ROWS: Mapping[str, Row] = {
    **{_name(c): Row(_FORM, one_to_one(c), operands=1) for c in _OPCODES},
    **{
        f"chlo.{name}": Row(_FORM, by_formula(formula, allowed), operands=1)
        for name, (formula, allowed) in _FORMULAS.items()
    },
    **{
        f"chlo.{name}": Row(_FORM, by_formula(formula), operands=2)
        for name, formula in _FORMULAS_OF_TWO.items()
    },
    **{
        f"chlo.broadcast_{name}": Row(_FORM, broadcasting_formula(formula), operands=2)
        for name, formula in _FORMULAS_OF_TWO.items()
    },
    **{_name(c, "broadcast_"): Row(_FORM, broadcasting(c), operands=2) for c in _BROADCASTING},
    "chlo.broadcast_compare": Row(_FORM, convert_broadcast_compare, operands=2),
    "chlo.broadcast_select": Row(_FORM, convert_broadcast_select, operands=3),
    "chlo.constant": Row(parse_constant, convert_constant, operands=0),
    "chlo.constant_like": Row(None, convert_constant_like, operands=1),
    "chlo.is_inf": Row(_FORM, infinite(is_infinite), operands=1),
    "chlo.is_neg_inf": Row(_FORM, infinite(is_negative_infinity), operands=1),
    "chlo.is_pos_inf": Row(_FORM, infinite(is_positive_infinity), operands=1),
    "chlo.mulhi": Row(_FORM, one_to_one(binary.MulhiOp), operands=2),
    "chlo.scan": Row(parse_scan, convert_scan, results=None, regions=1),
}

FUNCTIONS: Mapping[str, Convert] = {
    **{
        op.name: one_to_one(op.SAME)
        for op in OPERATIONS
        if issubclass(op, UnaryOp) and op.SAME is not None
    },
    **{
        name: ROWS[name].convert
        for name in (*map(_name, _OPCODES), *map("chlo.{}".format, _FORMULAS))
    },
}
"""Of one array, of both dialects, by their names."""
