"""Operations of StableHLO whose shapes are operands, and those on dynamic dimensions.

XLA has no such operations: they become static ones, which is possible where the operands that say
a shape are constants. `Conversion.constant_integers` computes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import SSAValue

from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.attributes import integers
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.gather_scatter import GATHER
from xla_dialect.stablehlo.source import HloOperation, SourceOp, UnknownShape
from xla_dialect.stablehlo.windows import convert_convolution
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    fits,
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
    "stablehlo.dynamic_gather": Row(None, convert_dynamic_gather, operands=3),
    "stablehlo.dynamic_conv": Row(None, convert_dynamic_convolution, operands=3),
}
