"""Operations on dynamic dimensions, and those whose operands say shapes.

Sizes that an operand says are compared with what is known: the values of a shape that is constant,
else the number of its elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    UnrankedTensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
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
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import data_movement, elementwise
from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    are_dimensions,
    bounded,
    compatible,
    compatible_sizes,
    is_unknown,
)
from xla_dialect.stablehlo.attributes import GatherNumbers, integers_for_index, is_index, xla_type
from xla_dialect.stablehlo.op import StableHloOp, applying, integers_of, require_results, same_as
from xla_dialect.stablehlo.ops.creation import LiteralOp
from xla_dialect.stablehlo.ops.data_movement import MovementOp
from xla_dialect.types import (
    Array,
    ElementClass,
    all_compatible,
    array,
    as_array,
    element_class,
    element_count,
    element_name,
    fits,
    is_unbounded,
    sizes_of,
    spell,
    spell_all,
)
from xla_dialect.violations import check, require
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import ArrowTypes, SameType, parse_i64

_INTEGERS = DenseArrayBase.constr(i64)


# Dynamic dimensions


GetDimensionSizeOp = same_as(
    xla.GetDimensionSizeOp,
    MovementOp,
    assembly_format=(
        "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)"
    ),
)
SetDimensionSizeOp = same_as(
    xla.SetDimensionSizeOp,
    MovementOp,
    assembly_format=(
        "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` "
        "functional-type(operands, results)"
    ),
)


# Shapes that are operands


Shapes: TypeAlias = Sequence[tuple[int, ...] | None]
"""The values of operands that say shapes; None where they depend on arguments."""


def constant_integers(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a constant; None for any other value."""
    owner = value.owner
    if not isinstance(owner, LiteralOp):
        return None
    number = decode(owner.value)
    return (number,) if isinstance(number, int) else integers_of(owner.value)


class ShapedOp(StableHloOp):
    """An operation whose operands from `INDEX_OPERANDS` on say sizes."""

    @property
    def first_shape(self) -> int:
        """The position of the first operand that says sizes."""
        first = self.INDEX_OPERANDS
        assert first is not None
        return first

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """As `verify_shapes`, with the shapes that are constants."""
        shapes = list(map(constant_integers, self.operands[self.first_shape :]))
        self.verify_shapes(operands, declared, shapes)

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """Checks the constraints with the shapes that are known; raises VerifyException."""
        raise NotImplementedError

    def known_sizes(
        self, operands: Sequence[Attribute], shapes: Shapes, position: int, rank: int
    ) -> tuple[int, ...]:
        """The sizes that an operand says, as far as they are known: one for each dimension."""
        count = count_of_sizes(operands[position], position)
        check(
            not is_unknown(count),
            "operand {} is {}, the number of sizes has to be known",
            position,
            spell(operands[position]),
        )
        check(count == rank, "operand {} has {} sizes for rank {}", position, count, rank)
        return shapes[position - self.first_shape] or (UNKNOWN,) * rank


def require_array(type_: Attribute, name: str) -> Array:
    """The type as an array type; raises VerifyException for anything else."""
    found = as_array(type_)
    if found is None:
        raise VerifyException(f"{name} is {spell(type_)}, not an array")
    return found


def count_of_sizes(type_: Attribute, position: int) -> int:
    """How many sizes an operand at a position says; raises VerifyException."""
    found = require_array(type_, f"operand {position}")
    sizes = sizes_of(found)
    check(
        len(sizes) == 1 and element_class(found.element_type) & ElementClass.INTEGER,
        "operand {} is {}, not a list of sizes",
        position,
        spell(found),
    )
    return sizes[0]


def verify_sizes(position: int, shape: Attribute, declared: Attribute, value: SSAValue) -> None:
    """A result has the sizes that an operand says, if that is a constant; VerifyException."""
    count_of_sizes(shape, position)
    known = constant_integers(value)
    if known is not None:
        require_sizes(require_array(declared, "the result"), known)


def rank_of(type_: Attribute, name: str) -> int:
    """The rank of an array; raises VerifyException for anything else."""
    return len(sizes_of(require_array(type_, name)))


def require_sizes(declared: Array, sizes: Sequence[int]) -> None:
    """The declared result has these sizes, as far as they are known."""
    check(
        compatible_sizes(sizes_of(declared), sizes),
        "declared {}, the sizes are [{}]",
        spell(declared),
        ", ".join(map(repr, sizes)),
    )


def _operand_and_result(
    operands: Sequence[Attribute], declared: Sequence[Attribute]
) -> tuple[Array, Array]:
    """The first operand and the result, arrays of one element type."""
    operand, result = (
        require_array(operands[0], "operand 0"),
        require_array(declared[0], "the result"),
    )
    check(
        operand.element_type == result.element_type,
        "operand and result have element types {} and {}",
        element_name(operand.element_type),
        element_name(result.element_type),
    )
    return operand, result


@op_definition
class DynamicReshapeOp(ShapedOp, MovementOp):
    """As `reshape`, to the sizes that an operand says."""

    name = "stablehlo.dynamic_reshape"
    INDEX_OPERANDS: ClassVar = 1
    operand = operand_def()
    output_shape = operand_def()

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """As many elements, and the sizes that the shape says."""
        operand, result = _operand_and_result(operands, declared)
        sizes = self.known_sizes(operands, shapes, 1, len(sizes_of(result)))
        require_sizes(result, sizes)
        before = element_count(sizes_of(operand))
        for after in (element_count(sizes_of(result)), element_count(sizes)):
            require(compatible(before, after), "C2", "{} elements become {}", before, after)


@op_definition
class DynamicBroadcastInDimOp(ShapedOp, MovementOp):
    """As `broadcast_in_dim`, to the sizes that an operand says."""

    name = "stablehlo.dynamic_broadcast_in_dim"
    INDEX_OPERANDS: ClassVar = 1
    operand = operand_def()
    output_dimensions = operand_def()
    broadcast_dimensions = prop_def(_INTEGERS)
    known_expanding_dimensions = opt_prop_def(_INTEGERS)
    known_nonexpanding_dimensions = opt_prop_def(_INTEGERS)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$operand `,` $output_dimensions `,` `dims` `=` custom<Integers>($broadcast_dimensions) "
        "attr-dict `:` functional-type(operands, results)"
    )

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """Sizes of the operand are those of the result, or 1; hints name each dimension once."""
        operand, result = _operand_and_result(operands, declared)
        before, after = sizes_of(operand), sizes_of(result)
        dimensions = integers_of(self.broadcast_dimensions) or ()
        spelled = f"{spell(operand)} in {spell(result)}"
        check(
            len(dimensions) == len(before) and are_dimensions(dimensions, len(after)),
            "broadcast_dimensions {} of {}",
            list(dimensions),
            spelled,
        )
        for i, d in enumerate(dimensions):
            check(
                before[i] == 1 or compatible(before[i], after[d]),
                "dimension {} of {} becomes dimension {} of {}",
                i,
                spell(operand),
                d,
                spell(result),
            )
        given = (self.known_expanding_dimensions, self.known_nonexpanding_dimensions)
        hints = [d for each in given if each is not None for d in integers_of(each) or ()]
        check(
            are_dimensions(hints, len(before)),
            "hints {} are not distinct dimensions of {}",
            hints,
            spell(operand),
        )
        require_sizes(result, self.known_sizes(operands, shapes, 1, len(after)))


@op_definition
class DynamicIotaOp(ShapedOp, MovementOp):
    """As `iota`, of the sizes that an operand says."""

    name = "stablehlo.dynamic_iota"
    INDEX_OPERANDS: ClassVar = 0
    output_shape = operand_def()
    iota_dimension = prop_def(IntegerAttr.constr(i64))
    assembly_format = (
        "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` "
        "functional-type(operands, results)"
    )

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """The dimension is one of the result, which has the sizes that the shape says."""
        result = require_array(declared[0], "the result")
        rank, dimension = len(sizes_of(result)), self.iota_dimension.value.data
        require(0 <= dimension < rank, "C2", "iota_dimension = {} of rank {}", dimension, rank)
        require(
            element_class(result.element_type) & ElementClass.NUMBER,
            "C3",
            "the result has element type {}",
            element_name(result.element_type),
        )
        require_sizes(result, self.known_sizes(operands, shapes, 0, rank))


class ListedOp(ShapedOp, MovementOp):
    """As an operation of `xla` whose lists, one number for each dimension, are operands here."""

    APPLIED: ClassVar[type[XlaOp]]
    """The operation whose lists they are."""

    LISTS: ClassVar[Sequence[str]]
    """The properties of it, in the order of the operands."""

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """Lists have one type; the result is what the operation infers of known numbers."""
        first = self.first_shape
        rank = rank_of(operands[0], "operand 0")
        lists = {
            name: self.known_sizes(operands, shapes, first + i, rank)
            for i, name in enumerate(self.LISTS)
        }
        check(
            all(type_ == operands[first] for type_ in operands[first:]),
            "its lists of numbers are {}, not of one type",
            spell_all(operands[first:]),
        )
        require_inferred(self.APPLIED, operands[:first], lists, declared)


def require_inferred(
    op_class: type[XlaOp],
    operands: Sequence[Attribute],
    properties: Mapping[str, Any],
    declared: Sequence[Attribute],
) -> None:
    """The declared result is what an operation infers; raises VerifyException."""
    require_results(declared, op_class.contract().types_inferred(operands, properties))


@op_definition
class DynamicPadOp(ListedOp):
    """Padding by the numbers that operands say."""

    name = "stablehlo.dynamic_pad"
    INDEX_OPERANDS: ClassVar = 2
    APPLIED: ClassVar = data_movement.PadOp
    LISTS: ClassVar = ("edge_padding_low", "edge_padding_high", "interior_padding")
    operand = operand_def()
    padding_value = operand_def()
    edge_padding_low = operand_def()
    edge_padding_high = operand_def()
    interior_padding = operand_def()


@op_definition
class RealDynamicSliceOp(ListedOp):
    """As `slice`, from start to limit that operands say."""

    name = "stablehlo.real_dynamic_slice"
    INDEX_OPERANDS: ClassVar = 1
    APPLIED: ClassVar = data_movement.SliceOp
    LISTS: ClassVar = ("start_indices", "limit_indices", "strides")
    operand = operand_def()
    start_indices = operand_def()
    limit_indices = operand_def()
    strides = operand_def()


@op_definition
class DynamicGatherOp(ShapedOp):
    """As `gather`, with sizes that an operand says, which has no elements of type `index`."""

    name = "stablehlo.dynamic_gather"
    operand = operand_def()
    start_indices = operand_def()
    slice_sizes = operand_def()
    dimension_numbers = prop_def(GatherNumbers)
    indices_are_sorted = opt_prop_def(FLAG)
    result = result_def()
    traits = traits_def(Pure())

    @property
    def first_shape(self) -> int:
        """The position of the operand."""
        return 2

    def verify_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute], shapes: Shapes
    ) -> None:
        """As a gather, with the slice sizes as far as they are known."""
        sizes = self.known_sizes(operands, shapes, 2, rank_of(operands[0], "operand 0"))
        numbers = {name: decode(each) for name, each in self.dimension_numbers.values().items()}
        numbers = {**numbers, "slice_sizes": sizes}
        require_inferred(GatherOp, operands[:2], numbers, declared)


class ShapeOp(StableHloOp):
    """An operation that takes sizes and gives some."""

    INDEX_OPERANDS: ClassVar = 0
    GIVES_INDEX: ClassVar = True
    traits = traits_def(Pure())


# Numbers


@op_definition
class ConstantOp(LiteralOp):
    """A number, or an array of numbers."""

    name = "arith.constant"
    GIVES_INDEX: ClassVar = True

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """A number has the type of the result."""
        value: Any = self.value
        if not isinstance(cast(Attribute, value), IntegerAttr):
            super().verify_types(operands, declared)
        elif value.type != self.output.type:
            raise VerifyException(f"value is {value}, the result {self.output.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses `arith.constant 2 : index`, or a constant array."""
        number = parser.parse_optional_integer()
        if number is None:
            return super().parse(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        value = IntegerAttr(number, cast(Any, type_))
        return create(cls, result_types=[type_], properties={"value": value})

    def result_name(self) -> None:
        """A number."""


class CastOp(ShapeOp):
    """The same numbers, of another type."""

    source = operand_def()
    result = result_def()
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"


@op_definition
class IndexCastOp(CastOp):
    """Between `index` and integers with sign."""

    name = "arith.index_cast"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """One of the types is of `index`."""
        before, after = self.source.type, self.result.type
        other = after if is_of_index(before) else before
        check(
            is_of_index(before) != is_of_index(after) and _is_castable(other),
            ("casts between index and signless integers of several bits, not {} to {}"),
            before,
            after,
        )


def is_of_index(type_: Attribute) -> bool:
    """Whether a type is MLIR's `index`, or an array of it."""
    return is_index(type_) and not isinstance(type_, IntegerType)


def _is_castable(type_: Attribute) -> bool:
    """Whether a type is an array of integers with sign; truth values are cast in another way."""
    is_number = isinstance(type_, IntegerType)
    found = integers_for_index(cast(Attribute, type_)) if is_number else as_array(type_)
    return found is not None and element_class(found.element_type) == ElementClass.SIGNED


class WidthOp(CastOp):
    """The same integers, of another width."""

    IS_WIDER: ClassVar[bool]

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """Both are integers of several bits."""
        widths = [_bits(value.type) for value in (self.source, self.result)]
        narrow, wide = widths if self.IS_WIDER else reversed(widths)
        check(1 < narrow < wide, "{} to {}", self.source.type, self.result.type)


def _bits(type_: Attribute) -> int:
    """The width of integers, or of those in an array; 0 of anything else."""
    element = cast(Array, type_).element_type if isinstance(type_, TensorType) else type_
    is_integer = isinstance(element, IntegerType)
    return cast("IntegerType[Any]", element).width.data if is_integer else 0


@op_definition
class ExtSIOp(WidthOp):
    """Wider integers."""

    name = "arith.extsi"
    IS_WIDER: ClassVar = True


@op_definition
class TruncIOp(WidthOp):
    """Narrower integers."""

    name = "arith.trunci"
    IS_WIDER: ClassVar = False


class ArithmeticOp(ShapeOp):
    """An operation on two numbers, or on arrays of them."""

    APPLIED: ClassVar[type[XlaOp]]
    """The operation of `xla` on the integers that sizes become."""

    lhs = operand_def()
    rhs = operand_def()
    overflowFlags = opt_prop_def()
    result = result_def()
    irdl_options = (ParsePropInAttrDict(),)
    custom_directives = (SameType,)
    assembly_format = "$lhs `,` $rhs attr-dict `:` custom<SameType>(type(operands), type(results))"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """All are integers of one type."""
        types, found = {*self.operand_types, *self.result_types}, as_array(declared[0])
        signed = found is not None and element_class(found.element_type) == ElementClass.SIGNED
        check(
            len(types) == 1 and signed,
            "takes and returns integers of one type, found {}",
            ", ".join(map(str, types)),
        )


AddIOp = applying(elementwise.AddOp, ArithmeticOp, "arith.addi")
DivSIOp = applying(elementwise.DivideOp, ArithmeticOp, "arith.divsi")
MaxSIOp = applying(elementwise.MaximumOp, ArithmeticOp, "arith.maxsi")
MinSIOp = applying(elementwise.MinimumOp, ArithmeticOp, "arith.minsi")
MulIOp = applying(elementwise.MultiplyOp, ArithmeticOp, "arith.muli")
RemSIOp = applying(elementwise.RemainderOp, ArithmeticOp, "arith.remsi")
SubIOp = applying(elementwise.SubtractOp, ArithmeticOp, "arith.subi")


# Shapes


@irdl_custom_directive
class Sizes(CustomDirective):
    """A shape, `[2, 3]`."""

    shape: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the sizes."""
        sizes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parse_i64(parser)
        )
        type_ = TensorType(IndexType(), (len(sizes),))
        self.shape.set(state, DenseIntOrFPElementsAttr.from_list(type_, sizes))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the sizes."""
        state.print_whitespace(printer)
        value = self.shape.get(op)
        sizes = () if value is None else integers_of(value)
        printer.print_string(str(list(sizes or ())))


@op_definition
class ConstShapeOp(StableHloOp):
    """A constant shape."""

    name = "shape.const_shape"
    GIVES_INDEX: ClassVar = True
    shape = prop_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (Sizes,)
    assembly_format = "attr-dict custom<Sizes>($shape) `:` type($result)"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The result has one element for each size."""
        sizes = integers_of(self.shape)
        if sizes is None:
            raise VerifyException(f"shape is {self.shape}, not a list of sizes")
        _require_shape(self.result.type, len(sizes))


def _require_shape(type_: Attribute, rank: int) -> None:
    """A result is a shape of a rank; raises VerifyException."""
    check(
        is_of_index(type_) and fits(array(i64, (rank,)), xla_type(type_)),
        "its result is {}, not tensor<{}xindex>",
        type_,
        rank,
    )


class ShapeFunctionOp(ShapeOp):
    """A function of shapes."""

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """It takes shapes and gives numbers of type `index`."""
        for position, operand in enumerate(self.operands):
            check(
                is_of_index(operand.type),
                "operand {} is {}, not a shape of type index",
                position,
                operand.type,
            )
            count_of_sizes(operands[position], position)
        check(is_of_index(self.result.type), "gives {}, not an index", self.result.type)

    result = result_def()
    custom_directives = (ArrowTypes,)
    assembly_format = "operands attr-dict `:` custom<ArrowTypes>(type(operands), type(results))"


@op_definition
class ShapeOfOp(ShapeFunctionOp):
    """The shape of an array."""

    name = "shape.shape_of"
    operand = operand_def()

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The result has one element for each dimension."""
        if not isinstance(self.operand.type, UnrankedTensorType):
            _require_shape(self.result.type, rank_of(operands[0], "operand 0"))


@op_definition
class ConcatOp(ShapeFunctionOp):
    """The sizes of one shape after those of another."""

    name = "shape.concat"
    lhs = operand_def()
    rhs = operand_def()


@op_definition
class BroadcastOp(ShapeFunctionOp):
    """The shape that arrays of these shapes have together, as in numpy."""

    name = "shape.broadcast"
    shapes = var_operand_def()
    error = opt_prop_def()
    irdl_options = (ParsePropInAttrDict(),)


@op_definition
class NumElementsOp(ShapeFunctionOp):
    """The number of elements of an array of some shape."""

    name = "shape.num_elements"
    shape = operand_def()


# Arrays


@op_definition
class TensorCastOp(CastOp):
    """The same array, of which a type says more or less."""

    name = "tensor.cast"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """Both types may be that of one array."""
        before, after = as_array(operands[0]), as_array(declared[0])
        if before is None or after is None or not all_compatible([before], [after]):
            raise VerifyException(f"{self.source.type} cannot be {self.result.type}")


@op_definition
class DimOp(ShapeOp):
    """The size of an array in a dimension."""

    name = "tensor.dim"
    source = operand_def()
    index = operand_def(IndexType)
    result = result_def(IndexType)
    assembly_format = "attr-dict $source `,` $index `:` type($source)"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The dimension is one of the array, if it is a constant."""
        array_type, known = require_array(operands[0], "operand 0"), constant_integers(self.index)
        check(
            is_of_index(self.index.type) and is_of_index(self.result.type),
            "takes {} and gives {}",
            self.index.type,
            self.result.type,
        )
        if known is not None and not 0 <= known[0] < len(sizes_of(array_type)):
            raise VerifyException(f"dimension {known[0]} of {spell(array_type)}")


_ELEMENT = VarConstraint("ELEMENT", AnyAttr())


@op_definition
class ExtractOp(ShapeOp):
    """An element of an array."""

    name = "tensor.extract"
    tensor = operand_def(TensorType.constr(_ELEMENT))
    indices = var_operand_def(IndexType)
    result = result_def(_ELEMENT)
    assembly_format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """There is an index for each dimension."""
        found, own = require_array(operands[0], "operand 0"), cast(Array, self.tensor.type)
        check(
            len(self.indices) == len(sizes_of(found)) and self.result.type == own.element_type,
            "{} indices into {} give {}",
            len(self.indices),
            own,
            self.result.type,
        )
        for place, size in zip(self.indices, sizes_of(found), strict=True):
            known = constant_integers(place)
            check(
                is_of_index(place.type) and (not known or bounded(0, known[0], size - 1)),
                "index {} of {}",
                known or place.type,
                spell(found),
            )


@op_definition
class FromElementsOp(ShapeOp):
    """The array of some numbers, in row-major order."""

    name = "tensor.from_elements"
    elements = var_operand_def(_ELEMENT)
    result = result_def(TensorType.constr(_ELEMENT))
    assembly_format = "$elements attr-dict `:` type($result)"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """There is a number for each element of the result, whose sizes are known."""
        type_, count = self.result.type, len(self.elements)
        is_known = not is_unbounded(type_) and element_count(type_.get_shape()) == count
        check(
            is_known and all(each.type == type_.element_type for each in self.elements),
            "{} numbers give {}",
            count,
            type_,
        )
