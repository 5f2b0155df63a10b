"""Operations of StableHLO on dynamic dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import SSAValue

from xla_dialect.ops import dynamic_shapes as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.data_movement import ReshapeOp, SliceOp
from xla_dialect.stablehlo.conversion import Conversion, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import integer, named, same
from xla_dialect.stablehlo.source import Row, SourceOp
from xla_dialect.stablehlo.syntax import form, integer_clause
from xla_dialect.types import S32, Array, array


def convert_dynamic_reshape(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_reshape`, whose sizes are one array; ours are scalars of s32."""
    operand, sizes = conversion.operands(op)
    element_type = cast(Array, sizes.type).element_type
    if len(sizes_of(sizes.type)) != 1:
        op.fail(f"the sizes are {sizes.type}, not an array of rank 1")
    scalars: list[SSAValue] = []
    for d in range(sizes_of(sizes.type)[0]):
        place = {
            "start_indices": dimension_list([d]),
            "limit_indices": dimension_list([d + 1]),
            "strides": dimension_list([1]),
        }
        (part,) = conversion.emit(SliceOp, [sizes], [array(element_type, (1,))], place)
        (scalar,) = conversion.emit(ReshapeOp, [part], [array(element_type, ())])
        if element_type != S32:
            (scalar,) = conversion.emit(ConvertOp, [scalar], [array(S32, ())])
        scalars.append(scalar)
    return conversion.emit(xla.DynamicReshapeOp, [operand, *scalars], conversion.result_types(op))


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
    "stablehlo.dynamic_reshape": Row(form(), convert_dynamic_reshape, operands=2),
}
