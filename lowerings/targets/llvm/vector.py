"""`vector`: vectors of one dimension in registers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from lowerings.targets.llvm.arith import arithmetic_type, flags_of, intrinsic
from lowerings.targets.llvm.constants import float_constant
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import (
    INDEX,
    INTEGERS,
    Kind,
    UnsupportedType,
    ValueType,
    value_type,
)
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import long_integers

# ---- masks


def steps(type_: ValueType) -> str:
    """The constant 0, 1, 2, ... of a vector type of integers."""
    numbers = ", ".join(f"{type_.element.text} {lane}" for lane in range(type_.lanes or 0))
    return f"<{numbers}>"


def mask_below(e: FunctionEmitter, count: str, type_: ValueType) -> str:
    """The mask whose first `count` lanes are on: none below 0, all from the lane count on."""
    lanes = str(type_.lanes)
    counters = type_.with_element(INTEGERS[32])
    if not count.startswith("%"):
        count = str(min(max(int(count), 0), int(lanes)))
    else:
        bounded = e.call("smax", INDEX, e.call("smin", INDEX, count, lanes), "0")
        count = e.temporary(f"trunc nuw nsw i64 {bounded} to i32")
    limit = splat(e, count, counters)
    return e.temporary(f"icmp ugt {counters.text} {limit}, {steps(counters)}")


def emit_create_mask(e: FunctionEmitter, op: vector.CreateMaskOp) -> None:
    (count,) = op.operands
    result = op.results[0]
    e.values[result] = mask_below(e, e.values[count], e.type_of(result))


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
    common = max(first_lanes, second_lanes)
    lhs, rhs = (
        resized(e, type_, e.values[operand], common)
        for operand, type_ in zip(op.operands, (first, second), strict=True)
    )
    shift = common - first_lanes
    mask = long_integers(op.mask)
    chosen = [lane if lane < first_lanes else lane + shift for lane in mask]
    e.values[op.results[0]] = shuffled(e, value_type(first.element, common), lhs, chosen, rhs)


def shuffled(
    e: FunctionEmitter, type_: ValueType, lhs: str, chosen: Sequence[int], rhs: str = "poison"
) -> str:
    """The chosen lanes of two vectors that follow each other; negative ones hold nothing."""
    lanes = ", ".join(f"i32 {'poison' if lane < 0 else lane}" for lane in chosen)
    operands = f"{type_.text} {lhs}, {type_.text} {rhs}"
    return e.temporary(f"shufflevector {operands}, <{len(chosen)} x i32> <{lanes}>")


def resized(e: FunctionEmitter, type_: ValueType, operand: str, lanes: int) -> str:
    """The first lanes of a vector; further ones hold nothing."""
    own = type_.lanes or 0
    if own == lanes:
        return operand
    return shuffled(e, type_, operand, [lane if lane < own else -1 for lane in range(lanes)])


def emit_bitcast(e: FunctionEmitter, op: vector.BitcastOp) -> None:
    source, result = op.operands[0], op.results[0]
    e.define(result, f"bitcast {e.typed(source)} to {e.type_of(result).text}")


# ---- arithmetic


_REDUCTIONS = {
    **{(Kind.INTEGER, word): word for word in ("add", "mul", "and", "or", "xor")},
    (Kind.INTEGER, "minsi"): "smin",
    (Kind.INTEGER, "maxsi"): "smax",
    (Kind.INTEGER, "minui"): "umin",
    (Kind.INTEGER, "maxui"): "umax",
    (Kind.FLOAT, "add"): "fadd",
    (Kind.FLOAT, "mul"): "fmul",
    (Kind.FLOAT, "maximumf"): "fmaximum",
    (Kind.FLOAT, "minimumf"): "fminimum",
    (Kind.FLOAT, "maxnumf"): "fmax",
    (Kind.FLOAT, "minnumf"): "fmin",
}
"""LLVM's names of reductions."""
_OF_TWO = {"fmaximum": "maximum", "fminimum": "minimum", "fmax": "maxnum", "fmin": "minnum"}
"""The intrinsics for two numbers, where they have other names."""
_NEUTRAL = {"fadd": -0.0, "fmul": 1.0}
"""What changes nothing: the start value of reductions that take one."""


def emit_reduction(e: FunctionEmitter, op: vector.ReductionOp) -> None:
    kind = op.kind.data.value
    source, *start = op.operands
    type_ = arithmetic_type(e, source)
    flags = flags_of(op) if type_.element.kind is Kind.FLOAT else ""
    scalar, operands = value_type(type_.element), e.typed(source)
    accumulator = e.values[start[0]] if start else None
    name = _REDUCTIONS.get((type_.element.kind, kind))
    if name is None:
        raise UnsupportedType(f"reduction {kind} of {source.type}")
    if name in _NEUTRAL:
        first = accumulator or float_constant(scalar, _NEUTRAL[name])
        operands, accumulator = f"{scalar.text} {first}, {operands}", None
    reduce = f"@llvm.vector.reduce.{name}.{type_.suffix}({operands})"
    total = e.temporary(f"call {flags}{scalar.text} {reduce}")
    if accumulator is None:
        e.values[op.results[0]] = total
    elif name == kind:
        e.define(op.results[0], f"{name} {scalar.text} {total}, {accumulator}")
    else:
        intrinsic = _OF_TWO.get(name, name)
        e.values[op.results[0]] = e.call(intrinsic, scalar, total, accumulator, flags=flags)


HANDLERS = (
    OperationTable[Handler]()
    .add(vector.CreateMaskOp, emit_create_mask)
    .add(vector.BroadcastOp, emit_broadcast)
    .add(vector.ExtractOp, emit_extract)
    .add(vector.InsertOp, emit_insert)
    .add(vector.ShuffleOp, emit_shuffle)
    .add(vector.BitcastOp, emit_bitcast)
    .add(vector.FMAOp, intrinsic("fma"))
    .add(vector.ReductionOp, emit_reduction)
)
