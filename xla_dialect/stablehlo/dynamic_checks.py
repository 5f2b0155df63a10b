"""The rules of operations whose shapes are operands, where these depend on arguments.

Sizes of the result are compared with what is known: the values of a shape that is constant, else
the number of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import decode
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    is_unknown,
)
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.legalize.contraction import emit_convolution
from xla_dialect.stablehlo.op import HloOperation
from xla_dialect.stablehlo.ops.contraction import DynamicConvOp
from xla_dialect.stablehlo.ops.dynamic_shapes import require_inferred
from xla_dialect.stablehlo.ops.gather_scatter import DynamicGatherOp
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    spell,
)

Check: TypeAlias = Callable[[Any, Conversion], Sequence[SSAValue] | None]
"""Raises SourceError; returns the results, or None where only their types are known."""


def _array(op: HloOperation, type_: Attribute, name: str) -> Array:
    found = as_array(type_)
    if found is None:
        op.fail(f"{name} is {spell(type_)}, not an array")
    return found


def _shape(op: HloOperation, conversion: Conversion, position: int, rank: int) -> tuple[int, ...]:
    """The sizes that an operand says, as far as they are known; it has one for each dimension."""
    value = conversion.operands(op)[position]
    type_ = _array(op, value.type, f"operand {position}")
    sizes = sizes_of(type_)
    if len(sizes) != 1 or not element_class(type_.element_type) & ElementClass.INTEGER:
        op.fail(f"operand {position} is {spell(type_)}, not a list of sizes")
    if is_unknown(sizes[0]):
        op.fail(f"operand {position} is {spell(type_)}, the number of sizes has to be known")
    if sizes[0] != rank:
        op.fail(f"operand {position} has {sizes[0]} sizes for rank {rank}")
    return conversion.constant_integers(value) or (UNKNOWN,) * rank


def check_gather(op: DynamicGatherOp, conversion: Conversion) -> None:
    """As a gather, with the slice sizes as far as they are known."""
    operand, indices = (operand.type for operand in conversion.operands(op)[:2])
    known = _shape(op, conversion, 2, len(sizes_of(_array(op, operand, "operand 0"))))
    fields = {name: decode(value) for name, value in op.dimension_numbers.values().items()}
    numbers = {**fields, "slice_sizes": known}
    try:
        require_inferred(GatherOp, (operand, indices), numbers, conversion.result_types(op))
    except VerifyException as error:
        op.fail(str(error))


def check_convolution(op: DynamicConvOp, conversion: Conversion) -> Sequence[SSAValue]:
    """As a convolution; without a known padding, spatial sizes of the result may be any."""
    padding = conversion.operands(op)[2]
    spatial = len(sizes_of(conversion.operands(op)[0].type)) - 2
    type_ = _array(op, padding.type, "operand 2")
    sizes, integer = sizes_of(type_), element_class(type_.element_type) & ElementClass.INTEGER
    if sizes != (spatial, 2) or any(map(is_unknown, sizes)) or not integer:
        op.fail(f"the padding is {spell(padding.type)}, not {spatial} pairs")
    found = conversion.constant_integers(padding)
    type_ = TensorType(i64, (spatial, 2))
    literal = DenseIntOrFPElementsAttr.from_list(type_, found or (0,) * (2 * spatial))
    types = conversion.result_types(op)
    result, labels = as_array(types[0]), op.dimension_numbers.data
    if found is None and result is not None and not labels.faults():
        order = labels.result_order()[2:]
        open_sizes = [UNKNOWN if d in order else size for d, size in enumerate(sizes_of(result))]
        types = [array(result.element_type, open_sizes)]
    return emit_convolution(op, conversion, literal, types)


CHECKS: Mapping[str, Check] = {
    "stablehlo.dynamic_gather": check_gather,
    "stablehlo.dynamic_conv": check_convolution,
}
