"""Shapes that are operands: XLA has no such operations, they become static ones.

That is possible where the operands are constants; `Conversion.constant_integers` computes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import ReshapeOp, SliceOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.stablehlo.conversion import Conversion, Legalize, dimension_list, sizes_of
from xla_dialect.stablehlo.dynamic_shapes import sized_result, take_shape
from xla_dialect.stablehlo.legalize.data_movement import broadcast_in_dim
from xla_dialect.stablehlo.ops import dynamic_shapes as stablehlo
from xla_dialect.stablehlo.source import integers_of
from xla_dialect.types import S32, array, as_array, is_unbounded
from xla_dialect.xdsl.operation_table import OperationTable


def convert_dynamic_reshape(
    op: stablehlo.DynamicReshapeOp, conversion: Conversion
) -> Sequence[SSAValue]:
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


def convert_dynamic_broadcast_in_dim(
    op: stablehlo.DynamicBroadcastInDimOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_broadcast_in_dim`; what it says to expand follows from the sizes."""
    result = sized_result(op, conversion, take_shape(op, conversion, 1))
    dimensions = integers_of(op.broadcast_dimensions) or ()
    return broadcast_in_dim(op, conversion, dimensions, result)


def convert_dynamic_iota(op: stablehlo.DynamicIotaOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_iota`."""
    result = sized_result(op, conversion, take_shape(op, conversion, 0))
    return conversion.emit(IotaOp, (), [result], op.properties)


def convert_lists(op: stablehlo.ListedOp, conversion: Conversion) -> Sequence[SSAValue]:
    """The operation whose lists are operands."""
    first = op.first_shape
    properties = {
        name: dimension_list(take_shape(op, conversion, first + i))
        for i, name in enumerate(op.LISTS)
    }
    operands, types = conversion.operands(op)[:first], conversion.result_types(op)
    return conversion.emit(op.APPLIED, operands, types, properties)


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.DynamicReshapeOp, convert_dynamic_reshape)
    .add(stablehlo.DynamicBroadcastInDimOp, convert_dynamic_broadcast_in_dim)
    .add(stablehlo.DynamicIotaOp, convert_dynamic_iota)
    .add((stablehlo.DynamicPadOp, stablehlo.RealDynamicSliceOp), convert_lists)
)
