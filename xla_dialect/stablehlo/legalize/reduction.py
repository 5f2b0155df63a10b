"""Reductions, and scatters: their operands are promoted to the types of the accumulators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.stablehlo.conversion import Conversion, Legalize, dimension_list, sizes_of
from xla_dialect.stablehlo.ops import reduction as stablehlo
from xla_dialect.stablehlo.ops.gather_scatter import ScatterOp
from xla_dialect.types import Array, ElementClass, array, element_class
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable


def convert_reduction(op: stablehlo.AccumulatingOp, conversion: Conversion) -> Sequence[SSAValue]:
    """Emits the same operation of operands that are converted first where they have to be."""
    properties = op.xla_properties()
    regions = conversion.regions(op)
    operands = promoted(conversion, conversion.operands(op), op.accumulators(regions[-1]))
    assert op.SAME is not None
    return conversion.emit(op.SAME, operands, conversion.result_types(op), properties, regions)


def promoted(
    conversion: Conversion, values: Sequence[SSAValue], accumulators: Sequence[Attribute]
) -> list[SSAValue]:
    """The arrays, those converted whose accumulator has another element type to go to."""
    found: list[SSAValue] = []
    for value, accumulator in zip(values, accumulators or [v.type for v in values], strict=True):
        type_ = stablehlo.promoted_type(value.type, accumulator)
        is_same = type_ is value.type
        found.append(value if is_same else conversion.emit(ConvertOp, [value], [type_])[0])
    return found


def sum_of_two(element_type: Attribute) -> Region:
    """The computation that adds two numbers."""
    scalar = TensorType(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    total = create(AddOp, operands=block.args, result_types=[scalar])
    block.add_ops([total, create(ReturnOp, operands=total.results)])
    return Region(block)


def emit_sum(conversion: Conversion, value: SSAValue, dimensions: Sequence[int]) -> SSAValue:
    """The sum of an array over some of its dimensions."""
    type_ = cast(Array, value.type)
    is_complex = element_class(type_.element_type) == ElementClass.COMPLEX
    element = (0, 0) if is_complex else 0
    scalar = cast(Any, TensorType(type_.element_type, ()))
    literal = DenseIntOrFPElementsAttr.from_list(scalar, [cast(Any, element)])
    (zero,) = conversion.emit(ConstantOp, (), [scalar], {"value": literal})
    return conversion.emit(
        ReduceOp,
        [value, zero],
        [array(type_.element_type, without(sizes_of(type_), dimensions))],
        {"dimensions": dimension_list(dimensions)},
        [sum_of_two(type_.element_type)],
    )[0]


TO_XLA = OperationTable[Legalize]().add(
    (stablehlo.ReduceOp, stablehlo.ReduceWindowOp, stablehlo.SelectAndScatterOp, ScatterOp),
    convert_reduction,
)
