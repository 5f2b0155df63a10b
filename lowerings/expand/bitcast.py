"""The pass `xla-expand-bitcast`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.conversion import ConversionBuilder, ConversionPass
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.data_movement import BitcastOp, CopyOp, ReshapeOp, TransposeOp
from xla_dialect.types import BY_TYPE, Array, ElementClass, array, element_count, element_name


def expand_bitcast(op: BitcastOp, builder: ConversionBuilder) -> str | None:
    """To the physical order of the operand, to the element type of the result, and back."""
    source, target = cast(Array, op.operand.type), cast(Array, op.result.type)
    orders: list[tuple[int, ...]] = []
    for type_ in (source, target):
        order = major_to_minor(type_)
        if order is None:
            return f"the layout of {type_} is not dense"
        orders.append(order)
    reason = _element_types(source.element_type, target.element_type)
    if reason is not None:
        return reason
    physical = _transposed(builder, op.operand, orders[0])
    converted = _converted(builder, physical, target.element_type)
    sizes = target.get_shape()
    arranged = _reshaped(builder, converted, [sizes[d] for d in orders[1]])
    inverse = tuple(sorted(range(len(sizes)), key=orders[1].__getitem__))
    result = _transposed(builder, arranged, inverse)
    if result.type != target:
        # Users see the layout that the bitcast has; at the next bitcast it makes a difference.
        result = builder.insert(CopyOp.make([result], {}, result_types=[target])).result
    builder.replace([result])
    return None


def major_to_minor(type_: Array) -> tuple[int, ...] | None:
    """The dimensions of an array in the order of its layout; None if that is tiled or padded."""
    if not isinstance(type_.encoding, LayoutAttr):
        return tuple(range(len(type_.shape)))
    layout = type_.encoding.data
    if layout.tiles or layout != Layout(layout.minor_to_major, memory_space=layout.memory_space):
        return None
    return tuple(reversed(layout.minor_to_major))


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


def _transposed(
    builder: ConversionBuilder, value: SSAValue, permutation: tuple[int, ...]
) -> SSAValue:
    if permutation == tuple(range(len(permutation))):
        return value
    return builder.insert(TransposeOp(value, dimensions=permutation)).result


def _reshaped(builder: ConversionBuilder, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
    type_ = cast(Array, value.type)
    if type_.get_shape() == tuple(sizes):
        return value
    return builder.insert(ReshapeOp(value, result_types=[array(type_.element_type, sizes)])).result


def _converted(builder: ConversionBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    """The bytes of a value in row-major order as elements of another type, in some sizes."""
    type_ = cast(Array, value.type)
    if type_.element_type == element_type:
        return value
    old, new = BY_TYPE[type_.element_type].bits, BY_TYPE[element_type].bits
    count = element_count(type_.get_shape())
    if old < new:
        value = _reshaped(builder, value, (count * old // new, new // old))
        sizes: tuple[int, ...] = (count * old // new,)
    else:
        sizes = type_.get_shape() if old == new else (*type_.get_shape(), old // new)
    cast_op = BitcastConvertOp(value, result_types=[array(element_type, sizes)])
    return builder.insert(cast_op).result


class XlaExpandBitcastPass(ConversionPass):
    """
    Replaces `bitcast` by what it does to the logical array: transposes, reshapes, bit casts.

    ```
    %1 = xla.bitcast %0 : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32>
    // becomes
    %t = xla.transpose %0 {dimensions = [1, 0]} : (tensor<2x3xf32, ..>) -> tensor<3x2xf32>
    %1 = xla.reshape %t : (tensor<3x2xf32>) -> tensor<6xf32>
    ```
    """

    name = "xla-expand-bitcast"
    illegal: ClassVar[Sequence[str | type[Operation]]] = (BitcastOp,)
    conversions: ClassVar[dict[type[Operation], Any]] = {BitcastOp: expand_bitcast}
