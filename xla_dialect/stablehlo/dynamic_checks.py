"""The rules of operations whose shapes are operands, where these depend on arguments.

Sizes of the result are compared with what is known: the values of a shape that is constant, else
the number of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue

from xla_dialect.diagnostics import Violation
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.data_movement import PadOp, SliceOp
from xla_dialect.ops.gather_scatter import GatherOp
from xla_dialect.shapes.convolution_labels import ConvolutionLabels
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    are_dimensions,
    compatible,
    compatible_sizes,
    is_unknown,
)
from xla_dialect.stablehlo.attributes import ConvolutionNumbers, integers
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.gather_scatter import GATHER
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.windows import convert_convolution
from xla_dialect.types import (
    Array,
    ElementClass,
    all_compatible,
    array,
    as_array,
    element_class,
    element_count,
    element_name,
    spell,
    spell_all,
)

Check: TypeAlias = Callable[[Any, Conversion], Sequence[SSAValue] | None]
"""Raises SourceError; returns the results, or None where only their types are known."""


def _array(op: SourceOp, type_: Attribute, name: str) -> Array:
    found = as_array(type_)
    if found is None:
        op.fail(f"{name} is {spell(type_)}, not an array")
    return found


def _same_elements(op: SourceOp, a: Array, b: Array) -> None:
    if a.element_type != b.element_type:
        names = f"{element_name(a.element_type)} and {element_name(b.element_type)}"
        op.fail(f"operand and result have element types {names}")


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


def _result(op: SourceOp, conversion: Conversion, sizes: Sequence[int]) -> Array:
    """The declared result, which has these sizes, as far as they are known."""
    result = _array(op, conversion.result_types(op)[0], "the result")
    if not compatible_sizes(sizes_of(result), sizes):
        found = ", ".join(map(repr, sizes))
        op.fail(f"declared {spell(result)}, the sizes are [{found}]")
    return result


def _declared(op: SourceOp, conversion: Conversion) -> tuple[Array, Array]:
    """The first operand and the result, arrays of one element type."""
    operand = _array(op, conversion.operands(op)[0].type, "operand 0")
    result = _array(op, conversion.result_types(op)[0], "the result")
    _same_elements(op, operand, result)
    return operand, result


def check_reshape(op: SourceOp, conversion: Conversion) -> None:
    """As many elements, and the sizes that the shape says."""
    operand, result = _declared(op, conversion)
    shape = _shape(op, conversion, 1, len(sizes_of(result)))
    _result(op, conversion, shape)
    before = element_count(sizes_of(operand))
    for after in (element_count(sizes_of(result)), element_count(shape)):
        if not compatible(before, after):
            op.fail(f"(C2) {before} elements become {after}")


def check_broadcast(op: SourceOp, conversion: Conversion) -> None:
    """Sizes of the operand are those of the result, or 1; hints name each dimension once."""
    operand, result = _declared(op, conversion)
    before, after = sizes_of(operand), sizes_of(result)
    dimensions = op.integers("broadcast_dimensions")
    if len(dimensions) != len(before) or not are_dimensions(dimensions, len(after)):
        op.fail(f"broadcast_dimensions {list(dimensions)} of {spell(operand)} in {spell(result)}")
    for i, d in enumerate(dimensions):
        if before[i] != 1 and not compatible(before[i], after[d]):
            op.fail(f"dimension {i} of {spell(operand)} becomes dimension {d} of {spell(result)}")
    hints = [
        *op.integers("known_expanding_dimensions", ()),
        *op.integers("known_nonexpanding_dimensions", ()),
    ]
    if not are_dimensions(hints, len(before)):
        op.fail(f"hints {hints} are not distinct dimensions of {spell(operand)}")
    _result(op, conversion, _shape(op, conversion, 1, len(after)))


def check_iota(op: SourceOp, conversion: Conversion) -> None:
    """The dimension is one of the result, which has the sizes that the shape says."""
    result = _array(op, conversion.result_types(op)[0], "the result")
    rank = len(sizes_of(result))
    dimension = op.integer("iota_dimension")
    if not 0 <= dimension < rank:
        op.fail(f"(C2) iota_dimension = {dimension} of rank {rank}")
    if not element_class(result.element_type) & ElementClass.NUMBER:
        op.fail(f"(C3) the result has element type {element_name(result.element_type)}")
    _result(op, conversion, _shape(op, conversion, 0, rank))


def _one_type(op: SourceOp, lists: Sequence[SSAValue]) -> None:
    types = [value.type for value in lists]
    if any(type_ != types[0] for type_ in types):
        op.fail(f"its lists of numbers are {spell_all(types)}, not of one type")


def check_pad(op: SourceOp, conversion: Conversion) -> None:
    """As a pad, with the numbers as far as they are known."""
    operand, value = (operand.type for operand in conversion.operands(op)[:2])
    rank = len(sizes_of(_array(op, operand, "operand 0")))
    low, high, interior = (_shape(op, conversion, 2 + i, rank) for i in range(3))
    _one_type(op, conversion.operands(op)[2:])
    padding = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    _inferred(op, conversion, PadOp, (operand, value), padding)


def check_slice(op: SourceOp, conversion: Conversion) -> None:
    """As a slice, with starts, limits and strides as far as they are known."""
    operand = conversion.operands(op)[0].type
    rank = len(sizes_of(_array(op, operand, "operand 0")))
    start, limit, strides = (_shape(op, conversion, 1 + i, rank) for i in range(3))
    _one_type(op, conversion.operands(op)[1:])
    ranges = {"start_indices": start, "limit_indices": limit, "strides": strides}
    _inferred(op, conversion, SliceOp, (operand,), ranges)


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
    _inferred(op, conversion, GatherOp, (operand, indices), numbers)


def _inferred(
    op: SourceOp,
    conversion: Conversion,
    operation: type[XlaOp],
    operands: Sequence[Attribute],
    properties: Mapping[str, Any],
) -> None:
    """The declared result is what an operation infers."""
    try:
        types = operation.contract().types_inferred(operands, properties)
    except Violation as violation:
        op.fail(str(violation))
    declared = conversion.result_types(op)
    if not all_compatible(declared, types):
        op.fail(f"(Result) declared {spell_all(declared)}, inferred {spell_all(types)}")


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
    "stablehlo.dynamic_reshape": check_reshape,
    "stablehlo.dynamic_broadcast_in_dim": check_broadcast,
    "stablehlo.dynamic_iota": check_iota,
    "stablehlo.dynamic_pad": check_pad,
    "stablehlo.real_dynamic_slice": check_slice,
    "stablehlo.dynamic_gather": check_gather,
    "stablehlo.dynamic_conv": check_convolution,
}
