"""Operations that move elements: sizes of 1 that are stretched, and sizes that operands say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from xla_dialect.layout import Layout
from xla_dialect.layouts.type_layouts import layout_of
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import data_movement as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp
from xla_dialect.stablehlo.attributes import Inexpressible, integers
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.legalize.creation import emit_literal
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, Tree, same_operation
from xla_dialect.stablehlo.op import integers_of
from xla_dialect.stablehlo.ops import data_movement as stablehlo
from xla_dialect.stablehlo.ops.dynamic_shapes import DynamicReshapeOp as ShapedReshapeOp
from xla_dialect.stablehlo.ops.elementwise import BitcastConvertOp
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    array,
    is_scalar,
    is_unbounded,
    spell,
)
from xla_dialect.xdsl.operation_table import OperationTable

# Broadcasts


def convert_broadcast_in_dim(
    op: stablehlo.BroadcastInDimOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """
    The broadcast of the operand.

    Sizes of 1 that are stretched are first dropped by a reshape: `xla.broadcast` has none.
    """
    (operand,), (declared,) = conversion.operands(op), conversion.result_types(op)
    dimensions = integers_of(op.broadcast_dimensions) or ()
    type_, dimensions = stablehlo.unstretched(operand.type, declared, dimensions)
    if type_ is not operand.type:
        (operand,) = conversion.emit(xla.ReshapeOp, [operand], [type_])
    return [conversion.broadcast(operand, declared, dimensions)]


def convert_broadcast(op: stablehlo.BroadcastOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.broadcast` puts new dimensions in front."""
    (operand,), declared = conversion.operands(op), conversion.result_types(op)
    inferred = op.inferred([operand.type], declared)
    if is_unbounded(declared[0]):
        declared = inferred
    rank = len(sizes_of(inferred[0]))
    dimensions = range(rank - len(sizes_of(operand.type)), rank)
    return [conversion.broadcast(operand, declared[0], dimensions)]


def broadcast_of_xla(op: xla.BroadcastOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.broadcast_in_dim`, of what was reshaped before where that only drops sizes."""
    reshape = op.operand.owner
    if isinstance(reshape, ConstantOp) and only_broadcast(reshape) and not reshape.attributes:
        (scalar,) = legalization.operands(op)
        Rewriter.erase_op(cast(Operation, scalar.owner))
        return [emit_literal(cast(Any, reshape.value), op.result.type, legalization)]
    operands, dimensions = legalization.operands(op), op.properties.get("dimensions")
    if isinstance(reshape, xla.ReshapeOp) and _is_stretched(reshape):
        operands = legalization.operands(reshape)
        dimensions = integers(range(len(sizes_of(op.result.type))))
    properties = {"broadcast_dimensions": dimensions or integers(())}
    types = legalization.result_types(op)
    return legalization.emit(stablehlo.BroadcastInDimOp, operands, types, properties).results


def reshape_of_xla(op: xla.ReshapeOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.reshape`, or nothing where an operation that follows says the same."""
    return legalization.operands(op) if _is_stretched(op) else movement_of_xla(op, legalization)


def _is_stretched(op: xla.ReshapeOp) -> bool:
    """
    Whether a reshape only drops sizes of 1 that the broadcast after it stretches.

    A `broadcast_in_dim` becomes such a pair.
    """
    user = op.next_op
    if (
        not isinstance(user, xla.BroadcastOp)
        or user.operand is not op.result
        or not op.result.has_one_use()
        or op.result.name_hint is not None
        or op.attributes
    ):
        return False
    sizes, target = sizes_of(op.operand.type), sizes_of(user.result.type)
    same = tuple(
        d for d, pair in enumerate(zip(sizes, target, strict=False)) if len(set(pair)) == 1
    )
    return (
        len(sizes) == len(target)
        and same == decode(user.properties["dimensions"])
        and all(size == 1 for d, size in enumerate(sizes) if d not in same)
    )


# Sizes that a dynamic reshape of `xla` takes one by one: in StableHLO they are one array


def dynamic_reshape_of_xla(op: DynamicReshapeOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.dynamic_reshape`, whose sizes are one array."""
    whole = sizes_array(op)
    operand, *sizes = legalization.operands(op)
    if whole is not None:
        whole = legalization.value(whole)
    elif sizes:
        one, all_sizes = array(i32, (1,)), array(i32, (len(sizes),))
        parts = [legalization.emit(stablehlo.ReshapeOp, [size], [one]).results[0] for size in sizes]
        properties = {"dimension": IntegerAttr(0, i64)}
        (whole,) = legalization.emit(
            stablehlo.ConcatenateOp, parts, [all_sizes], properties
        ).results
    else:
        none = array(i32, (0,))
        literal = DenseIntOrFPElementsAttr.from_list(cast(Any, none), [])
        whole = emit_literal(literal, none, legalization)
    types = legalization.result_types(op)
    return legalization.emit(ShapedReshapeOp, [operand, whole], types).results


def movement_of_xla(op: XlaOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The same operation, or nothing where a dynamic reshape says the same."""
    is_said = feeds_sizes(op)
    return legalization.operands(op) if is_said else legalization.same(op, same_operation(type(op)))


# What reading makes several operations of is one again in StableHLO


def sizes_array(op: DynamicReshapeOp) -> SSAValue | None:
    """The array whose elements are the sizes, as the reader takes it apart; None for others."""
    sources: list[SSAValue] = []
    for number, size in enumerate(op.dim_sizes):
        owner = size.owner
        if isinstance(owner, ConvertOp):
            owner = owner.operand.owner
        if not isinstance(owner, xla.ReshapeOp) or not isinstance(owner.operand.owner, xla.SliceOp):
            return None
        part = owner.operand.owner
        if decode(part.properties["start_indices"]) != (number,):
            return None
        sources.append(part.operand)
    same = len(set(sources)) == 1 and sizes_of(sources[0].type) == (len(sources),)
    return sources[0] if same else None


def feeds_sizes(op: Operation) -> bool:
    """Whether an operation only takes a size out of the array that a dynamic reshape prints."""
    while True:
        result = op.results[0]
        use = result.first_use
        if use is None or result.name_hint is not None or not result.has_one_use():
            return False
        user = use.operation
        if isinstance(user, DynamicReshapeOp):
            return use.index > 0 and sizes_array(user) is not None
        if not isinstance(user, xla.ReshapeOp | ConvertOp):
            return False
        op = user


def only_broadcast(op: Operation) -> xla.BroadcastOp | None:
    """
    The broadcast that makes an array of this scalar, where the scalar is there for that only.

    The reader makes these two of a literal with one value for all elements.
    """
    user = op.next_op
    result = op.results[0]
    if not isinstance(user, xla.BroadcastOp) or result.name_hint is not None:
        return None
    if not is_scalar(result.type):
        return None
    use = result.first_use
    return user if use is not None and use.operation is user and result.has_one_use() else None


# Bit casts


def bitcast_of_xla(op: xla.BitcastOp, legalization: FromXla) -> Sequence[Tree]:
    """A reshape or a bit cast, where both layouts are the default."""
    operand, result = (cast(Array, value.type) for value in (op.operands[0], op.results[0]))
    if not (_is_row_major(operand) and _is_row_major(result)):
        raise Inexpressible(
            f"layouts of {operand} and {result} are not the default; "
            "the pass xla-expand-bitcast takes it apart"
        )
    (value,) = legalization.operands(op)
    sizes = sizes_of(operand)
    if operand.element_type != result.element_type:
        old, new = BY_TYPE[operand.element_type], BY_TYPE[result.element_type]
        complexities = {each.element_class & ElementClass.COMPLEX for each in (old, new)}
        has_pred = ElementClass.PRED in (old.element_class, new.element_class)
        if old.bits != new.bits or len(complexities) > 1 or has_pred:
            raise Inexpressible(
                f"{spell(operand)} as {spell(result)}; the pass xla-expand-bitcast takes it apart"
            )
        same = array(result.element_type, sizes)
        (value,) = legalization.emit(BitcastConvertOp, [value], [same]).results
    if sizes == sizes_of(result):
        return [value]
    return legalization.emit(stablehlo.ReshapeOp, [value], legalization.result_types(op)).results


def _is_row_major(type_: Array) -> bool:
    layout = layout_of(type_)
    default = Layout.default(len(type_.shape))
    return layout.minor_to_major == default.minor_to_major and not layout.tiles


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.BroadcastOp, convert_broadcast)
    .add(stablehlo.BroadcastInDimOp, convert_broadcast_in_dim)
)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.BroadcastOp, broadcast_of_xla)
    .add(xla.ReshapeOp, reshape_of_xla)
    .add((xla.SliceOp, ConvertOp), movement_of_xla)
    .add(DynamicReshapeOp, dynamic_reshape_of_xla)
    .add(xla.BitcastOp, bitcast_of_xla)
)
