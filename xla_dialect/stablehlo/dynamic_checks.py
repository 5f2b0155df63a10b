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
from xla_dialect.shapes.convolution_labels import ConvolutionLabels
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    is_unknown,
)
from xla_dialect.stablehlo.attributes import ConvolutionNumbers, integers
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.gather_scatter import GATHER
from xla_dialect.stablehlo.ops.dynamic_shapes import require_inferred
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.windows import convert_convolution
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


def _array(op: SourceOp, type_: Attribute, name: str) -> Array:
    found = as_array(type_)
    if found is None:
        op.fail(f"{name} is {spell(type_)}, not an array")
    return found


def _shape(op: SourceOp, conversion: Conversion, position: int, rank: int) -> tuple[int, ...]:
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


def check_gather(op: SourceOp, conversion: Conversion) -> None:
    """As a gather, with the slice sizes as far as they are known."""
    operand, indices = (operand.type for operand in conversion.operands(op)[:2])
    known = _shape(op, conversion, 2, len(sizes_of(_array(op, operand, "operand 0"))))
    op.properties["slice_sizes"] = integers(())
    taken = {name: decode(value) for name, value in GATHER.taken(op).items()}
    del taken["indices_are_sorted"]
    taken["slice_sizes"] = known
    names = ("collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims")
    numbers: dict[str, Any] = {**dict.fromkeys(names, ()), **taken}
    try:
        require_inferred(GatherOp, (operand, indices), numbers, conversion.result_types(op))
    except VerifyException as error:
        op.fail(str(error))


def check_convolution(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """As a convolution; without a known padding, spatial sizes of the result may be any."""
    padding = conversion.operands(op)[2]
    spatial = len(sizes_of(conversion.operands(op)[0].type)) - 2
    type_ = _array(op, padding.type, "operand 2")
    sizes, integer = sizes_of(type_), element_class(type_.element_type) & ElementClass.INTEGER
    if sizes != (spatial, 2) or any(map(is_unknown, sizes)) or not integer:
        op.fail(f"the padding is {spell(padding.type)}, not {spatial} pairs")
    found = conversion.constant_integers(padding)
    numbers, labels = found or (0,) * (2 * spatial), op.properties.get("dimension_numbers")
    type_ = TensorType(i64, (spatial, 2))
    op.properties["padding"] = DenseIntOrFPElementsAttr.from_list(type_, numbers)
    result = as_array(conversion.result_types(op)[0])
    if found is None and isinstance(labels, ConvolutionNumbers) and result is not None:
        order = ConvolutionLabels.parse(labels.data).result_order()[2:]
        open_sizes = [UNKNOWN if d in order else size for d, size in enumerate(sizes_of(result))]
        return convert_convolution(op, conversion, array(result.element_type, open_sizes))
    return convert_convolution(op, conversion)


CHECKS: Mapping[str, Check] = {
    "stablehlo.dynamic_gather": check_gather,
    "stablehlo.dynamic_conv": check_convolution,
}
