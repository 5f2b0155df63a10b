"""`vector`: vectors of one dimension in registers, and their ways from and to memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.dialects.vector_extension import GatherOp, ScatterOp
from lowerings.targets.llvm.arith import fast_math_flags, float_call, require_float
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler, View
from lowerings.targets.llvm.memref import address, from_memory, load, store, to_memory
from lowerings.targets.llvm.types import (
    I1,
    I64,
    INDEX,
    INTEGERS,
    Kind,
    UnsupportedType,
    ValueType,
    value_type,
)
from xla_dialect.xdsl.operation_table import OperationTable

# ---- memory


def _unit_stride(view: View, value: SSAValue) -> None:
    """Checks that the elements along the last dimension are neighbours in memory."""
    layout = view.layout
    if layout.strides and layout.strides[-1] != 1 and layout.shape[-1] != 1:
        raise UnsupportedType(f"elements along the last dimension are not adjacent: {value.type}")


def emit_load(e: FunctionEmitter, op: vector.LoadOp) -> None:
    source, *indices = op.operands
    view = e.view(source)
    _unit_stride(view, source)
    load(e, op.results[0], address(e, view, indices))


def emit_store(e: FunctionEmitter, op: vector.StoreOp) -> None:
    value, destination, *indices = op.operands
    view = e.view(destination)
    _unit_stride(view, destination)
    store(e, value, address(e, view, indices), view)


def _masked_load(
    e: FunctionEmitter, result: SSAValue, pointer: str, mask: str, otherwise: str
) -> None:
    """`pointer` is one address, or a vector of them."""
    type_ = e.type_of(result)
    name, pointers = _masked_access(type_, "load", "gather", pointer)
    passed = to_memory(e, otherwise, type_)
    flags = type_.with_element(I1).text
    read = e.temporary(
        f"call {type_.memory} @llvm.masked.{name}({pointers}, {flags} {mask}, "
        f"{type_.memory} {passed})"
    )
    e.values[result] = from_memory(e, read, type_)


def _masked_store(e: FunctionEmitter, value: SSAValue, pointer: str, mask: str, view: View) -> None:
    """`pointer` is one address, or a vector of them."""
    type_ = e.type_of(value)
    name, pointers = _masked_access(type_, "store", "scatter", pointer)
    operand = to_memory(e, e.values[value], type_)
    flags = type_.with_element(I1).text
    e.emit(f"call void @llvm.masked.{name}({type_.memory} {operand}, {pointers}, {flags} {mask})")
    e.mark_stored(view)


def _masked_access(
    type_: ValueType, adjacent: str, scattered: str, pointer: str
) -> tuple[str, str]:
    """The name of the intrinsic and its address argument, `ptr %p` or `<n x ptr> %p`."""
    vector_of_pointers = pointer.startswith("<")
    kind, address_type, operand = (
        (scattered, f"<{type_.lanes} x ptr>", pointer.partition("> ")[2])
        if vector_of_pointers
        else (adjacent, "ptr", pointer)
    )
    suffix = f"v{type_.lanes}p0" if vector_of_pointers else "p0"
    element = type_.element.memory if type_.text != type_.memory else type_.element.suffix
    argument = f"{address_type} align {type_.element.alignment} {operand}"
    return f"{kind}.v{type_.lanes}{element}.{suffix}", argument


def emit_masked_load(e: FunctionEmitter, op: vector.MaskedLoadOp) -> None:
    source, *indices, mask, otherwise = op.operands
    view = e.view(source)
    _unit_stride(view, source)
    pointer = address(e, view, indices)
    _masked_load(e, op.results[0], pointer, e.values[mask], e.values[otherwise])


def emit_masked_store(e: FunctionEmitter, op: vector.MaskedStoreOp) -> None:
    destination, *indices, mask, value = op.operands
    view = e.view(destination)
    _unit_stride(view, destination)
    _masked_store(e, value, address(e, view, indices), e.values[mask], view)


def _scattered_addresses(
    e: FunctionEmitter, view: View, pointer: str, distances: str, type_: ValueType
) -> str:
    """
    The addresses at `distances`, a vector of `type_` that counts indices of the last
    dimension. Those of lanes that are masked off may be anything.
    """
    stride = view.strides[-1] if view.strides else "1"
    if stride != "1":
        if type_ is not type_.with_element(I64):
            wide = type_.with_element(I64)
            distances = e.temporary(f"sext {type_.text} {distances} to {wide.text}")
            type_ = wide
        by = splat(e, stride, type_)
        distances = e.temporary(f"mul {type_.text} {distances}, {by}")
    moved = e.temporary(
        f"getelementptr {view.layout.element.memory}, ptr {pointer}, {type_.text} {distances}"
    )
    return f"<{type_.lanes} x ptr> {moved}"


def emit_gather(e: FunctionEmitter, op: GatherOp) -> None:
    source, *indices, distances, mask, otherwise = op.operands
    view = e.view(source)
    pointers = _scattered_addresses(
        e, view, address(e, view, indices), e.values[distances], e.type_of(distances)
    )
    _masked_load(e, op.results[0], pointers, e.values[mask], e.values[otherwise])


def emit_scatter(e: FunctionEmitter, op: ScatterOp) -> None:
    destination, *indices, distances, mask, value = op.operands
    view = e.view(destination)
    pointers = _scattered_addresses(
        e, view, address(e, view, indices), e.values[distances], e.type_of(distances)
    )
    _masked_store(e, value, pointers, e.values[mask], view)


# ---- masks


def steps(type_: ValueType) -> str:
    """The constant 0, 1, 2, ... of a vector type of integers."""
    numbers = ", ".join(f"{type_.element.text} {lane}" for lane in range(type_.lanes or 0))
    return f"<{numbers}>"


def _mask_below(e: FunctionEmitter, count: str, type_: ValueType) -> str:
    """The mask whose first `count` lanes are on: none below 0, all from the lane count on."""
    lanes = str(type_.lanes)
    counters = type_.with_element(INTEGERS[32])
    if not count.startswith("%"):
        count = str(min(max(int(count), 0), int(lanes)))
    else:
        below = e.temporary(f"call i64 @llvm.smin.i64(i64 {count}, i64 {lanes})")
        bounded = e.temporary(f"call i64 @llvm.smax.i64(i64 {below}, i64 0)")
        count = e.temporary(f"trunc nuw nsw i64 {bounded} to i32")
    limit = splat(e, count, counters)
    return e.temporary(f"icmp ugt {counters.text} {limit}, {steps(counters)}")


def emit_create_mask(e: FunctionEmitter, op: vector.CreateMaskOp) -> None:
    (count,) = op.operands
    result = op.results[0]
    e.values[result] = _mask_below(e, e.values[count], e.type_of(result))


# ---- moving elements


def splat(e: FunctionEmitter, operand: str, type_: ValueType) -> str:
    """A scalar operand in every lane."""
    element = type_.element.text
    if not operand.startswith("%"):
        return type_.constant(operand)
    first = e.temporary(f"insertelement {type_.text} poison, {element} {operand}, i64 0")
    return e.temporary(
        f"shufflevector {type_.text} {first}, {type_.text} poison, "
        f"<{type_.lanes} x i32> zeroinitializer"
    )


def emit_broadcast(e: FunctionEmitter, op: vector.BroadcastOp) -> None:
    source, result = op.operands[0], op.results[0]
    type_, source_type = e.type_of(result), e.type_of(source)
    if source_type.lanes not in (None, 1, type_.lanes):
        raise UnsupportedType(f"no broadcast from {source.type} to {result.type}")
    operand = e.values[source]
    if source_type.lanes is None:
        e.values[result] = splat(e, operand, type_)
    elif source_type.lanes == type_.lanes:
        e.values[result] = operand
    else:
        number = e.temporary(f"extractelement {source_type.text} {operand}, i64 0")
        e.values[result] = splat(e, number, type_)


def _position(e: FunctionEmitter, static: Sequence[int], dynamic: Sequence[SSAValue]) -> str | None:
    """The lane of an extract or insert; None for the whole vector."""
    if not static:
        return None
    (lane,) = static
    return e.values[dynamic[0]] if lane == DYNAMIC_INDEX else str(lane)


def emit_extract(e: FunctionEmitter, op: vector.ExtractOp) -> None:
    lane = _position(e, op.static_position.get_values(), op.dynamic_position)
    if lane is None:
        e.values[op.results[0]] = e.values[op.vector]
    else:
        e.define(op.results[0], f"extractelement {e.typed(op.vector)}, i64 {lane}")


def emit_insert(e: FunctionEmitter, op: vector.InsertOp) -> None:
    lane = _position(e, op.static_position.get_values(), op.dynamic_position)
    if lane is None:
        e.values[op.results[0]] = e.values[op.source]
    else:
        operands = f"{e.typed(op.dest)}, {e.typed(op.source)}"
        e.define(op.results[0], f"insertelement {operands}, i64 {lane}")


def emit_shuffle(e: FunctionEmitter, op: vector.ShuffleOp) -> None:
    first, second = (e.type_of(operand) for operand in op.operands)
    first_lanes, second_lanes = first.lanes or 0, second.lanes or 0
    # LLVM's operands are equally long: lanes of the second count from the longer length.
    common = value_type(first.element, max(first_lanes, second_lanes))
    shift = (common.lanes or 0) - first_lanes
    operands = ", ".join(
        f"{common.text} {_lengthened(e, e.values[operand], type_, common)}"
        for operand, type_ in zip(op.operands, (first, second), strict=True)
    )
    chosen = [int(lane) for lane in op.mask.get_values()]
    lanes = ", ".join(
        "i32 poison" if lane < 0 else f"i32 {lane if lane < first_lanes else lane + shift}"
        for lane in chosen
    )
    e.define(op.results[0], f"shufflevector {operands}, <{len(chosen)} x i32> <{lanes}>")


def _lengthened(e: FunctionEmitter, operand: str, type_: ValueType, longer: ValueType) -> str:
    """The operand with lanes added that hold nothing."""
    if type_ is longer:
        return operand
    lanes = ", ".join(
        f"i32 {lane}" if lane < (type_.lanes or 0) else "i32 poison"
        for lane in range(longer.lanes or 0)
    )
    return e.temporary(
        f"shufflevector {type_.text} {operand}, {type_.text} poison, "
        f"<{longer.lanes} x i32> <{lanes}>"
    )


def emit_bitcast(e: FunctionEmitter, op: vector.BitcastOp) -> None:
    source, result = op.operands[0], op.results[0]
    e.define(result, f"bitcast {e.typed(source)} to {e.type_of(result).text}")


# ---- arithmetic


_INTEGER_REDUCTIONS = {
    "add": ("add", "add {0}, {1}"),
    "mul": ("mul", "mul {0}, {1}"),
    "and": ("and", "and {0}, {1}"),
    "or": ("or", "or {0}, {1}"),
    "xor": ("xor", "xor {0}, {1}"),
    "minsi": ("smin", None),
    "maxsi": ("smax", None),
    "minui": ("umin", None),
    "maxui": ("umax", None),
}
"""Kind of reduction: LLVM's name of it, and the instruction for two numbers if it is not a call."""

_ORDERED_REDUCTIONS = {"add": ("fadd", -0.0), "mul": ("fmul", 1.0)}
"""Kinds that take a start value: LLVM's name, and the value that changes nothing."""

_FLOAT_REDUCTIONS = {
    "maximumf": ("fmaximum", "maximum"),
    "minimumf": ("fminimum", "minimum"),
    "maxnumf": ("fmax", "maxnum"),
    "minnumf": ("fmin", "minnum"),
}
"""The other kinds: LLVM's name, and its name for two numbers."""


def emit_reduction(e: FunctionEmitter, op: vector.ReductionOp) -> None:
    kind = op.kind.data.value
    source, *start = op.operands
    type_ = e.type_of(source)
    operand = e.values[source]
    accumulator = e.values[start[0]] if start else None
    element = type_.element
    if element.kind is Kind.INTEGER:
        e.values[op.results[0]] = _reduce_integers(e, kind, type_, operand, accumulator)
        return
    require_float(type_, source.type)
    flags = fast_math_flags(op)
    e.values[op.results[0]] = _reduce_floats(e, kind, flags, type_, operand, accumulator)


def _reduce_integers(
    e: FunctionEmitter, kind: str, type_: ValueType, operand: str, accumulator: str | None
) -> str:
    if kind not in _INTEGER_REDUCTIONS:
        raise UnsupportedType(f"reduction {kind} of integers")
    name, instruction = _INTEGER_REDUCTIONS[kind]
    scalar = type_.element.text
    intrinsic = f"llvm.vector.reduce.{name}.{type_.suffix}"
    total = e.temporary(f"call {scalar} @{intrinsic}({type_.text} {operand})")
    if accumulator is None:
        return total
    if instruction is not None:
        return e.temporary(instruction.format(f"{scalar} {total}", accumulator))
    both = f"{scalar} {total}, {scalar} {accumulator}"
    return e.temporary(f"call {scalar} @llvm.{name}.{type_.element.suffix}({both})")


def _reduce_floats(
    e: FunctionEmitter,
    kind: str,
    flags: str,
    type_: ValueType,
    operand: str,
    accumulator: str | None,
) -> str:
    scalar = type_.element.text
    if kind in _ORDERED_REDUCTIONS:
        name, neutral = _ORDERED_REDUCTIONS[kind]
        first = accumulator or float_constant(value_type(type_.element), neutral)
        return e.temporary(
            f"call {flags}{scalar} @llvm.vector.reduce.{name}.{type_.suffix}"
            f"({scalar} {first}, {type_.text} {operand})"
        )
    if kind not in _FLOAT_REDUCTIONS:
        raise UnsupportedType(f"reduction {kind} of floats")
    name, of_two = _FLOAT_REDUCTIONS[kind]
    intrinsic = f"llvm.vector.reduce.{name}.{type_.suffix}"
    total = e.temporary(f"call {flags}{scalar} @{intrinsic}({type_.text} {operand})")
    if accumulator is None:
        return total
    both = f"{scalar} {total}, {scalar} {accumulator}"
    return e.temporary(f"call {flags}{scalar} @llvm.{of_two}.{type_.element.suffix}({both})")


# ---- transfers


def _transfer_mask(
    e: FunctionEmitter,
    op: vector.TransferReadOp | vector.TransferWriteOp,
    view: View,
    type_: ValueType,
) -> str | None:
    """The lanes that are read or written; None for all. Raises where the transfer permutes."""
    permutation = op.permutation_map.data
    last = len(view.sizes) - 1
    if permutation.results != (AffineDimExpr(last),):
        raise UnsupportedType(f"only transfers along the last dimension, not {permutation}")
    mask = None if op.mask is None else e.values[op.mask]
    (in_bounds,) = op.in_bounds.data
    if in_bounds.value.data:
        return mask
    index = e.values[op.indices[last]]
    remaining = e.temporary(f"sub {INDEX.text} {view.sizes[last]}, {index}")
    inside = _mask_below(e, remaining, type_)
    if mask is None:
        return inside
    return e.temporary(f"and {type_.with_element(I1).text} {inside}, {mask}")


def _transfer_address(
    e: FunctionEmitter, view: View, indices: Sequence[SSAValue], type_: ValueType
) -> str:
    """One address where elements are neighbours, else one for each lane."""
    pointer = address(e, view, indices)
    if view.strides[-1] == "1":
        return pointer
    counters = type_.with_element(I64)
    return _scattered_addresses(e, view, pointer, steps(counters), counters)


_ALL_LANES = "splat (i1 true)"


def emit_transfer_read(e: FunctionEmitter, op: vector.TransferReadOp) -> None:
    view, result = e.view(op.source), op.results[0]
    type_ = e.type_of(result)
    mask = _transfer_mask(e, op, view, type_)
    pointer = _transfer_address(e, view, op.indices, type_)
    if mask is None and not pointer.startswith("<"):
        load(e, result, pointer)
    else:
        otherwise = splat(e, e.values[op.padding], type_)
        _masked_load(e, result, pointer, mask or _ALL_LANES, otherwise)


def emit_transfer_write(e: FunctionEmitter, op: vector.TransferWriteOp) -> None:
    view = e.view(op.source)
    type_ = e.type_of(op.vector)
    mask = _transfer_mask(e, op, view, type_)
    pointer = _transfer_address(e, view, op.indices, type_)
    if mask is None and not pointer.startswith("<"):
        store(e, op.vector, pointer, view)
    else:
        _masked_store(e, op.vector, pointer, mask or _ALL_LANES, view)


HANDLERS = (
    OperationTable[Handler]()
    .add(vector.LoadOp, emit_load)
    .add(vector.StoreOp, emit_store)
    .add(vector.MaskedLoadOp, emit_masked_load)
    .add(vector.MaskedStoreOp, emit_masked_store)
    .add(GatherOp, emit_gather)
    .add(ScatterOp, emit_scatter)
    .add(vector.CreateMaskOp, emit_create_mask)
    .add(vector.BroadcastOp, emit_broadcast)
    .add(vector.ExtractOp, emit_extract)
    .add(vector.InsertOp, emit_insert)
    .add(vector.ShuffleOp, emit_shuffle)
    .add(vector.BitcastOp, emit_bitcast)
    .add(vector.FMAOp, float_call("fma"))
    .add(vector.ReductionOp, emit_reduction)
    .add(vector.TransferReadOp, emit_transfer_read)
    .add(vector.TransferWriteOp, emit_transfer_write)
)
