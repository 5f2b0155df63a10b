"""Operations on dynamic dimensions, and those whose operands say shapes.

Sizes that an operand says are compared with what is known: the values of a shape that is constant,
else the number of its elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement
from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    are_dimensions,
    compatible,
    compatible_sizes,
    is_unknown,
)
from xla_dialect.stablehlo.ops.creation import LiteralOp
from xla_dialect.stablehlo.ops.data_movement import MovementOp
from xla_dialect.stablehlo.source import integers_of
from xla_dialect.types import (
    Array,
    ElementClass,
    all_compatible,
    as_array,
    element_class,
    element_count,
    element_name,
    sizes_of,
    spell,
    spell_all,
)

_INTEGERS = DenseArrayBase.constr(i64)


# Dynamic dimensions


@irdl_op_definition
class GetDimensionSizeOp(MovementOp):
    """The size of a dimension at run time."""

    name = "stablehlo.get_dimension_size"
    SAME: ClassVar = xla.GetDimensionSizeOp
    operand = operand_def()
    dimension = prop_def(IntegerAttr.constr(i64))
    assembly_format = (
        "$operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)"
    )


@irdl_op_definition
class SetDimensionSizeOp(MovementOp):
    """The operand, of which only the first `size` elements along a dimension count."""

    name = "stablehlo.set_dimension_size"
    SAME: ClassVar = xla.SetDimensionSizeOp
    operand = operand_def()
    size = operand_def()
    dimension = prop_def(IntegerAttr.constr(i64))
    assembly_format = (
        "$operand `,` $size `,` `dim` `=` $dimension attr-dict `:` "
        "functional-type(operands, results)"
    )


# Shapes that are operands


Shapes: TypeAlias = Sequence[tuple[int, ...] | None]
"""The values of operands that say shapes; None where they depend on arguments."""


def constant_integers(value: SSAValue) -> tuple[int, ...] | None:
    """The elements of a constant; None for any other value."""
    owner = value.owner
    return integers_of(owner.value) if isinstance(owner, LiteralOp) else None


class ShapedOp(MovementOp):
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
        type_ = _array(operands[position], f"operand {position}")
        sizes = sizes_of(type_)
        spelled = f"operand {position} is {spell(type_)}"
        if len(sizes) != 1 or not element_class(type_.element_type) & ElementClass.INTEGER:
            raise VerifyException(f"{spelled}, not a list of sizes")
        if is_unknown(sizes[0]):
            raise VerifyException(f"{spelled}, the number of sizes has to be known")
        if sizes[0] != rank:
            raise VerifyException(f"operand {position} has {sizes[0]} sizes for rank {rank}")
        return shapes[position - self.first_shape] or (UNKNOWN,) * rank


def _array(type_: Attribute, name: str) -> Array:
    found = as_array(type_)
    if found is None:
        raise VerifyException(f"{name} is {spell(type_)}, not an array")
    return found


def _require_sizes(declared: Array, sizes: Sequence[int]) -> None:
    """The declared result has these sizes, as far as they are known."""
    if not compatible_sizes(sizes_of(declared), sizes):
        found = ", ".join(map(repr, sizes))
        raise VerifyException(f"declared {spell(declared)}, the sizes are [{found}]")


def _operand_and_result(
    operands: Sequence[Attribute], declared: Sequence[Attribute]
) -> tuple[Array, Array]:
    """The first operand and the result, arrays of one element type."""
    operand, result = _array(operands[0], "operand 0"), _array(declared[0], "the result")
    if operand.element_type != result.element_type:
        names = f"{element_name(operand.element_type)} and {element_name(result.element_type)}"
        raise VerifyException(f"operand and result have element types {names}")
    return operand, result


@irdl_op_definition
class DynamicReshapeOp(ShapedOp):
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
        _require_sizes(result, sizes)
        before = element_count(sizes_of(operand))
        for after in (element_count(sizes_of(result)), element_count(sizes)):
            if not compatible(before, after):
                raise VerifyException(f"(C2) {before} elements become {after}")


@irdl_op_definition
class DynamicBroadcastInDimOp(ShapedOp):
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
        if len(dimensions) != len(before) or not are_dimensions(dimensions, len(after)):
            raise VerifyException(f"broadcast_dimensions {list(dimensions)} of {spelled}")
        for i, d in enumerate(dimensions):
            if before[i] != 1 and not compatible(before[i], after[d]):
                raise VerifyException(
                    f"dimension {i} of {spell(operand)} becomes dimension {d} of {spell(result)}"
                )
        given = (self.known_expanding_dimensions, self.known_nonexpanding_dimensions)
        hints = [d for each in given if each is not None for d in integers_of(each) or ()]
        if not are_dimensions(hints, len(before)):
            raise VerifyException(f"hints {hints} are not distinct dimensions of {spell(operand)}")
        _require_sizes(result, self.known_sizes(operands, shapes, 1, len(after)))


@irdl_op_definition
class DynamicIotaOp(ShapedOp):
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
        result = _array(declared[0], "the result")
        rank, dimension = len(sizes_of(result)), self.iota_dimension.value.data
        if not 0 <= dimension < rank:
            raise VerifyException(f"(C2) iota_dimension = {dimension} of rank {rank}")
        if not element_class(result.element_type) & ElementClass.NUMBER:
            name = element_name(result.element_type)
            raise VerifyException(f"(C3) the result has element type {name}")
        _require_sizes(result, self.known_sizes(operands, shapes, 0, rank))


class ListedOp(ShapedOp):
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
        rank = len(sizes_of(_array(operands[0], "operand 0")))
        lists = {
            name: self.known_sizes(operands, shapes, first + i, rank)
            for i, name in enumerate(self.LISTS)
        }
        if any(type_ != operands[first] for type_ in operands[first:]):
            raise VerifyException(
                f"its lists of numbers are {spell_all(operands[first:])}, not of one type"
            )
        require_inferred(self.APPLIED, operands[:first], lists, declared)


def require_inferred(
    op_class: type[XlaOp],
    operands: Sequence[Attribute],
    properties: Mapping[str, Any],
    declared: Sequence[Attribute],
) -> None:
    """The declared result is what an operation infers; raises VerifyException."""
    types = op_class.contract().types_inferred(operands, properties)
    if not all_compatible(declared, types):
        raise VerifyException(
            f"(Result) declared {spell_all(declared)}, inferred {spell_all(types)}"
        )


@irdl_op_definition
class DynamicPadOp(ListedOp):
    """As `pad`, by the numbers that operands say."""

    name = "stablehlo.dynamic_pad"
    INDEX_OPERANDS: ClassVar = 2
    APPLIED: ClassVar = data_movement.PadOp
    LISTS: ClassVar = ("edge_padding_low", "edge_padding_high", "interior_padding")
    operand = operand_def()
    padding_value = operand_def()
    edge_padding_low = operand_def()
    edge_padding_high = operand_def()
    interior_padding = operand_def()


@irdl_op_definition
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
