"""The pass `xla-expand-bitcast`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.layouts.memory_order import (
    LayoutNotLowered,
    MemoryOrder,
    cut,
    from_memory,
    order_of_layout,
    padded,
    reshaped,
    to_memory,
)
from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.layout import LayoutError
from xla_dialect.layouts.physical_order import padding_element
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.data_movement import BitcastOp, CopyOp
from xla_dialect.types import BY_TYPE, Array, ElementClass, array, element_count, element_name
from xla_dialect.xdsl.traversal import tensor_shape


def expand_bitcast(op: BitcastOp, builder: ConversionBuilder) -> str | None:
    """To the memory order of the operand, to the element type of the result, and back."""
    source, target = cast(Array, op.operand.type), cast(Array, op.result.type)
    try:
        old, new = _buffer(source), _buffer(target)
    except (LayoutNotLowered, LayoutError) as reason:
        return str(reason)
    reason = _element_types(source.element_type, target.element_type)
    if reason is not None:
        return reason
    if old.packed_bits != new.packed_bits or (
        old.packed_bits and source.element_type != target.element_type
    ):
        return "packed elements are lowered where nothing but their order changes"
    insert = builder.insert
    physical = to_memory(insert, op.operand, old.order, old.padding)
    if old.elements != element_count(tensor_shape(physical)):
        physical = reshaped(insert, physical, (element_count(tensor_shape(physical)),))
        physical = padded(insert, physical, (old.elements,), old.padding)
    converted = _converted(builder, physical, target.element_type)
    sizes = target.get_shape()
    arranged = new.order.physical_sizes(sizes)
    if new.elements != element_count(arranged):
        converted = reshaped(insert, converted, (new.elements,))
        converted = cut(insert, converted, (element_count(arranged),))
    result = from_memory(insert, reshaped(insert, converted, arranged), new.order, sizes)
    if result.type != target:
        # The copy keeps the layout of the bitcast's result, which a bitcast of it depends on.
        result = insert(CopyOp.make([result], {}, result_types=[target])).result
    builder.replace([result])
    return None


@dataclass(frozen=True)
class _Buffer:
    """The memory of an array."""

    order: MemoryOrder
    elements: int
    """The number of elements, padding included."""
    padding: Any
    """The element that padding holds."""
    packed_bits: int
    """The bits of an element that shares its bytes with others; 0 if it does not."""


def _buffer(type_: Array) -> _Buffer:
    """The memory of an array; raises LayoutNotLowered, and LayoutError for undefined padding."""
    layout = layout_of(type_)
    order = order_of_layout(layout)
    width = max(8, BY_TYPE[type_.element_type].bits)
    return _Buffer(
        order,
        layout.buffer_elements(type_.get_shape()),
        padding_element(layout.padding_value, numpy_dtype(type_.element_type)),
        0 if layout.element_size_in_bits == width else layout.element_size_in_bits,
    )


def _element_types(source: Attribute, target: Attribute) -> str | None:
    """Why the bytes of one element type cannot be read as another; None if they can."""
    old, new = BY_TYPE[source], BY_TYPE[target]
    if source == target:
        return None
    is_packed = old.bits != new.bits and min(old.bits, new.bits) < 8
    if is_packed or (
        (old.element_class == ElementClass.COMPLEX) != (new.element_class == ElementClass.COMPLEX)
    ):
        return f"{element_name(source)} is not lowered as {element_name(target)} yet"
    return None


def _converted(builder: ConversionBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    """The bytes of a value in row-major order as elements of another type, in some sizes."""
    type_ = cast(Array, value.type)
    if type_.element_type == element_type:
        return value
    old, new = BY_TYPE[type_.element_type].bits, BY_TYPE[element_type].bits
    count = element_count(type_.get_shape())
    if old < new:
        value = reshaped(builder.insert, value, (count * old // new, new // old))
        sizes: tuple[int, ...] = (count * old // new,)
    else:
        sizes = type_.get_shape() if old == new else (*type_.get_shape(), old // new)
    cast_op = BitcastConvertOp(value, result_types=[array(element_type, sizes)])
    return builder.insert(cast_op).result


class XlaExpandBitcastPass(ConversionPass):
    """
    Replaces `bitcast` by what it does to the logical array: transposes, reshapes, bit casts.

    Padding is read as what the layout says it holds, zero bits where it says nothing.

    ```
    %1 = xla.bitcast %0 : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32>
    // becomes
    %t = xla.transpose %0 {dimensions = [1, 0]} : (tensor<2x3xf32, ..>) -> tensor<3x2xf32>
    %1 = xla.reshape %t : (tensor<3x2xf32>) -> tensor<6xf32>
    ```
    """

    name = "xla-expand-bitcast"
    takes = UNLOWERED
    illegal: ClassVar[Sequence[str | type[Operation]]] = (BitcastOp,)
    conversions = conversion_table(expand_bitcast)
