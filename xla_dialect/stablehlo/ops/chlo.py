"""CHLO: functions that XLA has no opcode for, and operations that stretch their operands.

`broadcast_*` stretch their operands to one shape first: the one of lower rank by
`broadcast_dimensions`, which default to the last dimensions, and then sizes of 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops import control_flow, elementwise
from xla_dialect.shapes.broadcasting import broadcast_shape, matched_dimensions
from xla_dialect.stablehlo.attributes import ChloComparisonDirectionAttr, ChloComparisonTypeAttr
from xla_dialect.stablehlo.op import (
    OperationT,
    PureOp,
    StableHloOp,
    applying,
    class_of,
    integers_of,
    just_as,
    same_as,
)
from xla_dialect.stablehlo.ops import elementwise as stablehlo
from xla_dialect.stablehlo.ops.creation import LiteralOp
from xla_dialect.stablehlo.ops.elementwise import results_of
from xla_dialect.types import (
    PRED,
    Array,
    ElementClass,
    array,
    array_like,
    as_array,
    compatible,
    element_class,
    fits,
    sizes_of,
    spell,
    united_type,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import parse_i64

FLOAT = ElementClass.FLOAT
COMPLEX = ElementClass.COMPLEX


# Functions


class FunctionOp(PureOp):
    """A function of the elements in one place; subclasses have the operands."""

    assembly_format = "operands attr-dict `:` custom<ArrowTypes>(type(operands), type(results))"


class UnaryOp(FunctionOp):
    """A function of one operand."""

    operand = operand_def()


class BinaryOp(FunctionOp):
    """A function of two operands."""

    lhs = operand_def()
    rhs = operand_def()


def one_type(
    allowed: ElementClass, operands: Sequence[Attribute], results: Sequence[Attribute]
) -> Array:
    """
    The type that all operands have, of allowed elements, and the results.

    Raises VerifyException.
    """
    found = as_array(operands[0])
    if found is None or not element_class(found.element_type) & allowed:
        raise VerifyException(
            f"an operand is {spell(operands[0])}, expected an array of {allowed.describe()}"
        )
    agree = all(compatible(type_, found) for type_ in operands)
    together = united_type(*(cast(Array, type_) for type_ in operands)) if agree else found
    for type_ in (*operands, *results):
        check(
            agree and fits(together, type_),
            "takes and returns one type, found {} and {}",
            spell(together),
            spell(type_),
        )
    return together


class FormulaOp(FunctionOp):
    """A function of arrays that `xla` has a formula for, of one type with its result."""

    ELEMENTS: ClassVar = FLOAT

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """All types are one."""
        one_type(self.ELEMENTS, operands, declared)


class UnaryFormulaOp(FormulaOp, UnaryOp):
    """One of one array."""


class BinaryFormulaOp(FormulaOp, BinaryOp):
    """One of two arrays of floats."""


def _function(name: str, base: type[OperationT], doc: str, **members: Any) -> type[OperationT]:
    """The class of an operation of CHLO that `xla` has not."""
    return op_definition(class_of(f"chlo.{name}", base, doc, members))


AsinAcosKernelOp = _function(
    "_asin_acos_kernel",
    UnaryFormulaOp,
    "w with `asin z = atan2(Re z, Re w) + i sign(Im z) Im w`.",
    ELEMENTS=COMPLEX,
)
AtanOp = _function("atan", UnaryFormulaOp, "The arctangent.", ELEMENTS=FLOAT | COMPLEX)
BesselI1eOp = _function("bessel_i1e", UnaryFormulaOp, "`e^(-|x|) I1(x)`.")
ConjOp = _function(
    "conj", UnaryFormulaOp, "The conjugate; a real number is its own.", ELEMENTS=FLOAT | COMPLEX
)
DigammaOp = _function("digamma", UnaryFormulaOp, "The derivative of `lgamma`.")
ErfInvOp = _function("erf_inv", UnaryFormulaOp, "The inverse of `erf`.")
ErfcOp = _function("erfc", UnaryFormulaOp, "`1 - erf x`.")
LgammaOp = _function("lgamma", UnaryFormulaOp, "The logarithm of `|Γ(x)|`.")
SquareOp = _function("square", UnaryFormulaOp, "`x²`.", ELEMENTS=FLOAT | COMPLEX)
NextAfterOp = _function(
    "next_after",
    BinaryFormulaOp,
    "The number beside the first operand in the direction of the second.",
)
PolygammaOp = _function(
    "polygamma",
    BinaryFormulaOp,
    "The derivative of `digamma` whose number is the first operand.",
)
ZetaOp = _function("zeta", BinaryFormulaOp, "Hurwitz' zeta function.")


class InfinityTestOp(UnaryOp):
    """A test of floats; its result has truth values."""

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The result has the sizes of the operand."""
        expected = array_like(one_type(FLOAT, operands, ()), PRED)
        check(
            fits(expected, declared[0]),
            "declared {}, expected {}",
            spell(declared[0]),
            spell(expected),
        )


IsInfOp = _function("is_inf", InfinityTestOp, "Whether elements are infinite.")
IsNegInfOp = _function("is_neg_inf", InfinityTestOp, "Whether elements are the negative infinity.")
IsPosInfOp = _function("is_pos_inf", InfinityTestOp, "Whether elements are the positive infinity.")


# Operations that stretch their operands


class BroadcastingOp(PureOp):
    """An operation on operands that are stretched to one shape; subclasses have the operands."""

    APPLIED: ClassVar[type[XlaOp]]
    """The operation of `xla` on the stretched operands."""

    assembly_format = "operands attr-dict `:` custom<FunctionTypes>(type(operands), type(results))"

    def stretched(
        self, types: Sequence[Attribute]
    ) -> tuple[tuple[int, ...], Sequence[Sequence[int]]]:
        """
        The sizes that operands of some types have together, and of each operand the dimensions of
        the result that its own become.

        Raises VerifyException.
        """
        raise NotImplementedError

    def applied_properties(self) -> dict[str, Attribute]:
        """The properties of `APPLIED`: all but those that say how operands are stretched."""
        known = self.APPLIED.get_irdl_definition().properties
        return {name: each for name, each in self.xla_properties().items() if name in known}

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The type of the operation on stretched operands."""
        sizes, _ = self.stretched(operands)
        types = [array(cast(Array, type_).element_type, sizes) for type_ in operands]
        return self.applied(types, declared)

    def applied(
        self, types: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The result type for operands of one shape; raises VerifyException."""
        return results_of(self.APPLIED, types, self.applied_properties(), declared)


class BroadcastingBinaryOp(BroadcastingOp):
    """Two operands, of which the one of lower rank says where its dimensions belong."""

    lhs = operand_def()
    rhs = operand_def()
    broadcast_dimensions = opt_prop_def(DenseArrayBase.constr(i64))

    def stretched(
        self, types: Sequence[Attribute]
    ) -> tuple[tuple[int, ...], Sequence[Sequence[int]]]:
        """See the base class."""
        sizes = _sizes(types)
        ranks = sorted(map(len, sizes))
        default = tuple(range(ranks[1] - ranks[0], ranks[1]))
        given = self.broadcast_dimensions
        dimensions = default if given is None else integers_of(given) or ()
        check(
            ranks[0] != ranks[1] or dimensions == default,
            "broadcast_dimensions {} for operands of one rank {}",
            list(dimensions),
            ranks[0],
        )
        check(
            len(dimensions) == ranks[0],
            "broadcast_dimensions {} for an operand of rank {}",
            list(dimensions),
            ranks[0],
        )
        result = broadcast_shape(sizes[0], sizes[1], dimensions if ranks[0] < ranks[1] else ())
        return result, [matched_dimensions(own, result, dimensions) for own in sizes]


def _sizes(types: Sequence[Attribute]) -> list[tuple[int, ...]]:
    """The sizes of types that have to be arrays."""
    found = list(map(as_array, types))
    if None in found:
        raise VerifyException("takes arrays")
    return [sizes_of(cast(Array, type_)) for type_ in found]


BROADCASTING = tuple(
    applying(op, BroadcastingBinaryOp, f"chlo.broadcast_{op.name.removeprefix('xla.')}")
    for op in (
        elementwise.AddOp,
        elementwise.AndOp,
        elementwise.Atan2Op,
        elementwise.ComplexOp,
        elementwise.DivideOp,
        elementwise.MaximumOp,
        elementwise.MinimumOp,
        elementwise.MultiplyOp,
        elementwise.OrOp,
        elementwise.PowerOp,
        elementwise.RemainderOp,
        elementwise.ShiftLeftOp,
        elementwise.ShiftRightArithmeticOp,
        elementwise.ShiftRightLogicalOp,
        elementwise.SubtractOp,
        elementwise.XorOp,
    )
)
"""Those of `xla` of two operands, on stretched operands."""

OPERATIONS = (
    *BROADCASTING,
    same_as(elementwise.MulhiOp, BinaryOp, "chlo.mulhi"),
    *(
        same_as(op, UnaryOp, f"chlo.{op.name.removeprefix('xla.')}")
        for op in (
            elementwise.AcosOp,
            elementwise.AcoshOp,
            elementwise.AsinOp,
            elementwise.AsinhOp,
            elementwise.AtanhOp,
            elementwise.CoshOp,
            elementwise.ErfOp,
            elementwise.SinhOp,
            elementwise.TanOp,
        )
    ),
)
"""The operations without a name here: nothing says more of them."""


class BroadcastingFormulaOp(BroadcastingBinaryOp):
    """A function of stretched floats that `xla` has a formula for."""

    def applied(
        self, types: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """One type that all have."""
        return [one_type(FLOAT, types, declared)]


BroadcastNextAfterOp, BroadcastPolygammaOp, BroadcastZetaOp = (
    _function(f"broadcast_{name}", BroadcastingFormulaOp, f"`{name}` of stretched operands.")
    for name in ("next_after", "polygamma", "zeta")
)


@op_definition
class BroadcastCompareOp(BroadcastingBinaryOp):
    """`compare` of stretched operands."""

    name = "chlo.broadcast_compare"
    APPLIED: ClassVar = elementwise.CompareOp
    NAMES: ClassVar = stablehlo.CompareOp.NAMES
    comparison_direction = prop_def(ChloComparisonDirectionAttr)
    compare_type = opt_prop_def(ChloComparisonTypeAttr)


@op_definition
class BroadcastSelectOp(BroadcastingOp):
    """`select` of stretched operands, the predicate included."""

    name = "chlo.broadcast_select"
    APPLIED: ClassVar = elementwise.SelectOp
    pred = operand_def()
    on_true = operand_def()
    on_false = operand_def()

    def stretched(
        self, types: Sequence[Attribute]
    ) -> tuple[tuple[int, ...], Sequence[Sequence[int]]]:
        """See the base class."""
        sizes = _sizes(types)
        rank = max(map(len, sizes))
        result = (1,) * rank
        for own in sizes:
            result = broadcast_shape(result, (1,) * (rank - len(own)) + own)
        return result, [range(rank - len(own), rank) for own in sizes]


# Constants and loops


@op_definition
class ConstantOp(LiteralOp):
    """A constant array."""

    name = "chlo.constant"


@op_definition
class ConstantLikeOp(PureOp):
    """One number, with the sizes of the operand."""

    name = "chlo.constant_like"
    operand = operand_def()
    value = prop_def(FloatAttr.constr() | IntegerAttr.constr())

    @property
    def scalar_type(self) -> Array:
        """The type of the number as an array."""
        number = cast("FloatAttr[Any] | IntegerAttr[Any]", self.value)
        return TensorType(cast(Attribute, number.type), ())

    def type_for(self, operand: Attribute, declared: Attribute) -> Array:
        """The type of the result for an operand; raises VerifyException."""
        (sizes,) = _sizes([operand])
        expected = array(self.scalar_type.element_type, sizes)
        check(
            fits(expected, declared), "declared {}, expected {}", spell(declared), spell(expected)
        )
        return expected

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The result has the sizes of the operand, and the type of the number."""
        self.type_for(operands[0], declared[0])


@just_as(control_flow.ScanOp)
class ScanOp(StableHloOp):
    """
    Runs a computation along a dimension of arrays, with values that it hands on.

        chlo.scan(%0) inits (%1) dimension=0 attributes {is_reverse = true} {...} : types
    """

    name = "chlo.scan"
    values = var_operand_def()
    dimension = prop_def(IntegerAttr.constr(i64))
    is_reverse = opt_prop_def(BoolAttr)
    is_associative = opt_prop_def(BoolAttr)
    scan_dim_size = opt_prop_def(IntegerAttr.constr(i64))
    operandSegmentSizes = opt_prop_def(DenseArrayBase.constr(i32))
    resultSegmentSizes = opt_prop_def(DenseArrayBase.constr(i32))
    outputs = var_result_def()
    body = region_def()

    @property
    def carries(self) -> int:
        """The number of values that are handed on; raises VerifyException."""
        lists: list[tuple[int, ...]] = []
        for name, count in (
            ("operandSegmentSizes", len(self.values)),
            ("resultSegmentSizes", len(self.outputs)),
        ):
            value = self.properties.get(name)
            sizes = () if value is None else integers_of(value) or ()
            check(
                len(sizes) == 2 and min(sizes) >= 0 and sum(sizes) == count,
                "{} is {}, which does not divide {} into two lists",
                name,
                list(sizes),
                count,
            )
            lists.append(sizes)
        (_, first), (_, last) = lists
        check(first == last, "has {} initial values and {} last ones", first, last)
        return first

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """The properties of `xla.scan`."""
        return {
            "dimension": self.dimension,
            "num_carries": IntegerAttr(self.carries, i64),
            "is_reverse": self.is_reverse or BoolAttr.from_bool(False),
            "is_associative": self.is_associative or BoolAttr.from_bool(False),
        }

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses what `print` prints."""
        operand = parser.parse_unresolved_operand
        inputs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        parser.parse_keyword("inits")
        inits = parser.parse_comma_separated_list(parser.Delimiter.PAREN, operand)
        parser.parse_keyword("dimension")
        parser.parse_punctuation("=")
        dimension = IntegerAttr(parse_i64(parser), i64)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        values = parser.resolve_operands([*inputs, *inits], types.inputs.data, position)
        results, count = types.outputs.data, len(inits)
        return create(
            cls,
            operands=values,
            result_types=results,
            properties={"dimension": dimension, **segment_sizes(len(inputs), len(results), count)},
            attributes={} if attributes is None else attributes.data,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        """Prints inputs, initial values, the computation, and the types."""
        count = len(self.values) - self.carries
        with printer.in_parens():
            printer.print_list(self.values[:count], printer.print_ssa_value)
        printer.print_string(" inits ")
        with printer.in_parens():
            printer.print_list(self.values[count:], printer.print_ssa_value)
        printer.print_string(f" dimension={self.dimension.value.data}")
        flags = {
            name: value
            for name, value in self.properties.items()
            if name not in ("dimension", *_SEGMENTS)
        }
        printer.print_op_attributes(self.attributes | flags, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_string(" : ")
        printer.print_function_type(self.operand_types, self.result_types)


_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


def segment_sizes(inputs: int, results: int, carries: int) -> dict[str, Attribute]:
    """How operands and results of a scan divide into arrays and values that are handed on."""
    sizes = ((inputs, carries), (results - carries, carries))
    return {
        name: DenseArrayBase.from_list(i32, each)
        for name, each in zip(_SEGMENTS, sizes, strict=True)
    }
