"""Operations on dynamic dimensions, and those whose operands say shapes.

Sizes that an operand says are compared with what is known: the values of a shape that is constant,
else the number of its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

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
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
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
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import FLAG
from xla_dialect.constraints import require_same_elements
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops import elementwise
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    are_dimensions,
    bounded,
    compatible,
    compatible_sizes,
    is_unknown,
)
from xla_dialect.stablehlo.attributes import (
    GatherNumbers,
    integers,
    integers_for_index,
    is_index,
    xla_type,
)
from xla_dialect.stablehlo.op import (
    PureOp,
    StableHloOp,
    applying,
    integers_of,
    require_results,
    same_as,
)
from xla_dialect.stablehlo.ops.creation import IotaOp, LiteralOp
from xla_dialect.stablehlo.ops.data_movement import (
    BroadcastInDimOp,
    MovementOp,
    PadOp,
    ReshapeOp,
    SliceOp,
)
from xla_dialect.stablehlo.ops.gather_scatter import GatherOp
from xla_dialect.types import (
    Array,
    ElementClass,
    all_compatible,
    array,
    as_array,
    element_class,
    element_count,
    fits,
    is_unbounded,
    sizes_of,
    spell,
    spell_all,
)
from xla_dialect.violations import check, require
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import parse_i64

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


def constant_integers(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a constant; None for any other value."""
    owner = value.owner
    if not isinstance(owner, LiteralOp):
        return None
    number = decode(owner.value)
    return (number,) if isinstance(number, int) else integers_of(owner.value)


class ShapedOp(StableHloOp):
    """An operation whose last operands say sizes: those of the result, or its `SHAPES`."""

    STATIC: ClassVar[type[StableHloOp]]
    """The operation that it is where they are known."""

    SHAPES: ClassVar[Sequence[str]] = ()
    """The properties of that which operands say; none where one says the sizes of the result."""

    @property
    def first_shape(self) -> int:
        """The position of the first operand that says sizes."""
        return len(self.operands) - max(1, len(self.SHAPES))

    def known_shapes(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> list[tuple[int, ...]]:
        """What the operands say, as far as it is known, with as many sizes as they have to have."""
        type_, name = (operands[0], "operand 0") if self.SHAPES else (declared[0], "the result")
        rank, found = rank_of(type_, name), list[tuple[int, ...]]()
        for position in range(self.first_shape, len(operands)):
            count, shape = count_of_sizes(operands[position], position), operands[position]
            unknown = "operand {} is {}, the number of sizes has to be known"
            check(not is_unknown(count), unknown, position, spell(shape))
            check(count == rank, "operand {} has {} sizes for rank {}", position, count, rank)
            found.append(constant_integers(self.operands[position]) or (UNKNOWN,) * rank)
        lists = operands[self.first_shape :]
        one = "its lists of numbers are {}, not of one type"
        check(all(type_ == lists[0] for type_ in lists), one, spell_all(lists))
        if not self.SHAPES:
            require_sizes(require_array(type_, name), found[0])
        return found

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """By the rules of `STATIC`, with what is known."""
        shapes, given = self.known_shapes(operands, declared), operands[: self.first_shape]
        static, same = self.static(shapes), self.STATIC.SAME
        if not self.SHAPES or same is None:
            return static.verify_types(given, declared)
        # An attribute cannot hold a number that is not known.
        contract = same.contract()
        values = contract.values(contract.keywords, static.xla_properties(given), ())
        values |= dict(zip(self.SHAPES, shapes, strict=True))
        return require_results(declared, contract.types_inferred(given, values))

    def static(
        self,
        shapes: Sequence[Sequence[int]],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
    ) -> StableHloOp:
        """The operation for what the operands say."""
        known = self.STATIC.get_irdl_definition().properties
        own = {name: value for name, value in self.properties.items() if name in known}
        return create(
            self.STATIC,
            operands=operands,
            result_types=result_types,
            properties=own | dict(zip(self.SHAPES, map(integers, shapes), strict=False)),
            attributes=self.attributes,
            location=self.location,
        )


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


@op_definition
class DynamicReshapeOp(ShapedOp, MovementOp):
    """As `reshape`, to the sizes that an operand says."""

    name = "stablehlo.dynamic_reshape"
    INDEX_OPERANDS: ClassVar = 1
    STATIC: ClassVar = ReshapeOp
    operand = operand_def()
    output_shape = operand_def()

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """One element type and as many elements; sizes with a bound may become ones without."""
        (sizes,), result = self.known_shapes(operands, declared), cast(Array, declared[0])
        operand = require_array(operands[0], "operand 0")
        require_same_elements(operand, result, "operand and result", "Result")
        before = element_count(sizes_of(operand))
        for after in (element_count(sizes_of(result)), element_count(sizes)):
            require(compatible(before, after), "C2", "{} elements become {}", before, after)


@op_definition
class DynamicBroadcastInDimOp(ShapedOp, MovementOp):
    """As `broadcast_in_dim`, to the sizes that an operand says."""

    name = "stablehlo.dynamic_broadcast_in_dim"
    INDEX_OPERANDS: ClassVar = 1
    STATIC: ClassVar = BroadcastInDimOp
    operand = operand_def()
    output_dimensions = operand_def()
    broadcast_dimensions = prop_def(_INTEGERS)
    known_expanding_dimensions = opt_prop_def(_INTEGERS)
    known_nonexpanding_dimensions = opt_prop_def(_INTEGERS)
    assembly_format = (
        "$operand `,` $output_dimensions `,` `dims` `=` custom<Integers>($broadcast_dimensions) "
        "attr-dict `:` functional-type(operands, results)"
    )

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """As `broadcast_in_dim`; hints name each dimension of the operand once."""
        super().verify_types(operands, declared)
        given = (self.known_expanding_dimensions, self.known_nonexpanding_dimensions)
        hints = [d for each in given if each is not None for d in integers_of(each) or ()]
        check(
            are_dimensions(hints, rank_of(operands[0], "operand 0")),
            "hints {} are not distinct dimensions of {}",
            hints,
            spell(operands[0]),
        )


@op_definition
class DynamicIotaOp(ShapedOp, MovementOp):
    """As `iota`, of the sizes that an operand says."""

    name = "stablehlo.dynamic_iota"
    INDEX_OPERANDS: ClassVar = 0
    STATIC: ClassVar = IotaOp
    output_shape = operand_def()
    iota_dimension = prop_def(IntegerAttr.constr(i64))
    assembly_format = (
        "$output_shape `,` `dim` `=` $iota_dimension attr-dict `:` "
        "functional-type(operands, results)"
    )


@op_definition
class DynamicPadOp(ShapedOp, MovementOp):
    """Padding by the numbers that operands say."""

    name = "stablehlo.dynamic_pad"
    INDEX_OPERANDS: ClassVar = 2
    STATIC: ClassVar = PadOp
    SHAPES: ClassVar = ("edge_padding_low", "edge_padding_high", "interior_padding")
    operand = operand_def()
    padding_value = operand_def()
    edge_padding_low = operand_def()
    edge_padding_high = operand_def()
    interior_padding = operand_def()


@op_definition
class RealDynamicSliceOp(ShapedOp, MovementOp):
    """As `slice`, from start to limit that operands say."""

    name = "stablehlo.real_dynamic_slice"
    INDEX_OPERANDS: ClassVar = 1
    STATIC: ClassVar = SliceOp
    SHAPES: ClassVar = ("start_indices", "limit_indices", "strides")
    operand = operand_def()
    start_indices = operand_def()
    limit_indices = operand_def()
    strides = operand_def()


@op_definition
class DynamicGatherOp(ShapedOp, PureOp):
    """As `gather`, with sizes that an operand says, which has no elements of type `index`."""

    name = "stablehlo.dynamic_gather"
    STATIC: ClassVar = GatherOp
    SHAPES: ClassVar = ("slice_sizes",)
    operand = operand_def()
    start_indices = operand_def()
    slice_sizes = operand_def()
    dimension_numbers = prop_def(GatherNumbers)
    indices_are_sorted = opt_prop_def(FLAG)


class ShapeOp(PureOp):
    """An operation that takes sizes and gives some."""

    INDEX_OPERANDS: ClassVar = 0
    GIVES_INDEX: ClassVar = True


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


OPERATIONS = tuple(
    applying(op, ArithmeticOp, f"arith.{word}")
    for word, op in {
        "addi": elementwise.AddOp,
        "divsi": elementwise.DivideOp,
        "maxsi": elementwise.MaximumOp,
        "minsi": elementwise.MinimumOp,
        "muli": elementwise.MultiplyOp,
        "remsi": elementwise.RemainderOp,
        "subi": elementwise.SubtractOp,
    }.items()
)
"""The arithmetic of `arith` on sizes."""


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
class ConstShapeOp(PureOp):
    """A constant shape."""

    name = "shape.const_shape"
    GIVES_INDEX: ClassVar = True
    shape = prop_def()
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
