"""Operations of StableHLO whose shapes are operands, and those on dynamic dimensions.

XLA has no such operations: they become static ones, which is possible where the operands that say
a shape are constants. `Conversion.constant_integers` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.ir import SSAValue

from xla_dialect.op import XlaOp
from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import PadOp, ReshapeOp, SliceOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import compatible, is_dynamic
from xla_dialect.stablehlo.attributes import integers
from xla_dialect.stablehlo.conversion import Conversion, Convert, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import integer, named, same
from xla_dialect.stablehlo.gather_scatter import GATHER
from xla_dialect.stablehlo.legalize.data_movement import broadcast_in_dim
from xla_dialect.stablehlo.source import HloOperation, SourceOp, UnknownShape
from xla_dialect.stablehlo.syntax import form, integer_clause, integers_clause
from xla_dialect.stablehlo.windows import convert_convolution
from xla_dialect.types import (
    S32,
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    fits,
    is_unbounded,
    spell,
)


def take_shape(op: HloOperation, conversion: Conversion, position: int) -> tuple[int, ...]:
    """The integers of an operand that says a shape; an error where they are not constant."""
    value = conversion.operands(op)[position]
    type_ = as_array(value.type)
    if (
        type_ is None
        or len(type_.get_shape()) != 1
        or not element_class(type_.element_type) & ElementClass.INTEGER
    ):
        op.fail(f"operand {position} is {spell(value.type)}, not a list of sizes")
    found = conversion.constant_integers(value)
    if found is None:
        raise UnknownShape(op, position)
    return found


def sized_result(
    op: HloOperation, conversion: Conversion, sizes: Sequence[int], number: int = 0
) -> Array:
    """The type of a result with the sizes that an operand says."""
    declared = conversion.result_types(op)[number]
    element_type = as_array(declared)
    if element_type is None or min(sizes, default=0) < 0:
        op.fail(f"sizes {list(sizes)} for {spell(declared)}")
    result = array(element_type.element_type, sizes)
    if not fits(result, declared):
        op.fail(f"declared {spell(declared)}, the sizes are {list(sizes)}")
    return result


def convert_dynamic_reshape(op: HloOperation, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_reshape`: static if the sizes are known, else to a bounded result."""
    operand, sizes = conversion.operands(op)
    type_ = as_array(sizes.type)
    if type_ is None or len(type_.get_shape()) != 1:
        op.fail(f"the sizes are {sizes.type}, not an array of rank 1")
    declared = conversion.result_types(op)[0]
    is_known = conversion.constant_integers(sizes) is not None
    if is_unbounded(declared) or (is_known and not is_dynamic(sizes_of(declared))):
        result = sized_result(op, conversion, take_shape(op, conversion, 1))
        return conversion.emit(ReshapeOp, [operand], [result])
    scalars: list[SSAValue] = []
    for d in range(type_.get_shape()[0]):
        place = {
            "start_indices": dimension_list([d]),
            "limit_indices": dimension_list([d + 1]),
            "strides": dimension_list([1]),
        }
        (part,) = conversion.emit(SliceOp, [sizes], [array(type_.element_type, (1,))], place)
        (scalar,) = conversion.emit(ReshapeOp, [part], [array(type_.element_type, ())])
        if type_.element_type != S32:
            (scalar,) = conversion.emit(ConvertOp, [scalar], [array(S32, ())])
        scalars.append(scalar)
    return conversion.emit(xla.DynamicReshapeOp, [operand, *scalars], [declared])


def convert_dynamic_broadcast_in_dim(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_broadcast_in_dim`; what it says to expand follows from the sizes."""
    for hint in ("known_expanding_dimensions", "known_nonexpanding_dimensions"):
        op.integers(hint, ())
    result = sized_result(op, conversion, take_shape(op, conversion, 1))
    return broadcast_in_dim(op, conversion, op.integers("broadcast_dimensions"), result)


def convert_dynamic_iota(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_iota`."""
    result = sized_result(op, conversion, take_shape(op, conversion, 0))
    dimension = IntegerAttr(op.integer("iota_dimension"), i64)
    return conversion.emit(IotaOp, (), [result], {"iota_dimension": dimension})


def lists_of_operands(op_class: type[XlaOp], first: int, names: Sequence[str]) -> Convert:
    """The conversion to an operation whose lists are operands, from position `first` on."""

    def convert(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        properties = {
            name: dimension_list(take_shape(op, conversion, first + i))
            for i, name in enumerate(names)
        }
        operands = conversion.operands(op)[:first]
        return conversion.emit(op_class, operands, conversion.result_types(op), properties)

    return convert


def convert_dynamic_gather(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_gather`, whose last operand has the slice sizes."""
    op.properties["slice_sizes"] = integers(take_shape(op, conversion, 2))
    operands = conversion.operands(op)[:2]
    return conversion.emit(GatherOp, operands, conversion.result_types(op), GATHER.taken(op))


def convert_dynamic_convolution(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_conv`, whose last operand has the padding."""
    padding = conversion.operands(op)[2]
    sizes = sizes_of(padding.type)
    found = conversion.constant_integers(padding)
    if len(sizes) != 2 or not compatible(sizes[1], 2):
        op.fail(f"the padding is {spell(padding.type)}, not a list of pairs")
    if found is None:
        raise UnknownShape(op, 2)
    type_ = TensorType(i64, sizes)
    op.properties["padding"] = DenseIntOrFPElementsAttr.from_list(type_, found)
    return convert_convolution(op, conversion)


ROWS: Mapping[str, Row] = {
    "stablehlo.get_dimension_size": Row(
        form(dim=integer_clause("dimension")),
        same(xla.GetDimensionSizeOp, named(integer("dimension"))),
        operands=1,
    ),
    "stablehlo.set_dimension_size": Row(
        form(dim=integer_clause("dimension")),
        same(xla.SetDimensionSizeOp, named(integer("dimension"))),
        operands=2,
    ),
    "stablehlo.dynamic_broadcast_in_dim": Row(
        form(dims=integers_clause("broadcast_dimensions")),
        convert_dynamic_broadcast_in_dim,
        operands=2,
        index_operands=1,
    ),
    "stablehlo.dynamic_iota": Row(
        form(dim=integer_clause("iota_dimension")),
        convert_dynamic_iota,
        operands=1,
        index_operands=0,
    ),
    "stablehlo.dynamic_pad": Row(
        form(),
        lists_of_operands(PadOp, 2, ("edge_padding_low", "edge_padding_high", "interior_padding")),
        operands=5,
        index_operands=2,
    ),
    "stablehlo.real_dynamic_slice": Row(
        form(),
        lists_of_operands(SliceOp, 1, ("start_indices", "limit_indices", "strides")),
        operands=4,
        index_operands=1,
    ),
    "stablehlo.dynamic_gather": Row(None, convert_dynamic_gather, operands=3),
    "stablehlo.dynamic_conv": Row(None, convert_dynamic_convolution, operands=3),
}
