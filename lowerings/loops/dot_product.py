"""Products of words that hold several narrow factors, added to sums by one instruction."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import StringAttr, UnitAttr, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
)

from lowerings.dialects.schedule import Factor
from lowerings.ir.dot_products import BFLOAT_PAIRS, LANES, QUADS, DotProduct
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import vector_of
from lowerings.loops.memory import shuffled
from xla_dialect.xdsl.creation import create

SIGN_BITS = -0x7F7F7F80
"""The sign bits of the four bytes of a word."""


@irdl_op_definition
class DotProductOp(IRDLOperation):
    """
    The sum of the products of what two words hold: four bytes, those of one factor unsigned and of
    the other signed, or two numbers of bf16.

    It stands in bodies of nests only; loops have what `dot_product` writes.
    """

    name = "arith.dot_product"
    lhs = operand_def(i32)
    rhs = operand_def(i32)
    result = result_def()
    rhs_is_unsigned = opt_prop_def(UnitAttr)
    """Of bytes."""
    flipped = opt_prop_def(StringAttr)
    """
    The factor whose bytes have their sign bits flipped, which makes signed ones unsigned and the
    other way round. Whoever writes the loops subtracts the products of `SIGN_BITS`.
    """

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        total: Attribute,
        *,
        rhs_is_unsigned: bool = False,
        flipped: Factor | None = None,
    ):
        properties: dict[str, Attribute] = {}
        if rhs_is_unsigned:
            properties["rhs_is_unsigned"] = UnitAttr()
        if flipped is not None:
            properties["flipped"] = StringAttr(flipped)
        super().__init__(operands=[lhs, rhs], result_types=[total], properties=properties)


def dot_product(
    op: DotProductOp, factors: Sequence[SSAValue], addend: SSAValue, builder: LoopBuilder
) -> SSAValue:
    """Writes a `DotProductOp` of numbers or vectors, added to a number or vector."""
    kind = QUADS if op.result.type == i32 else BFLOAT_PAIRS
    type_: Attribute = addend.type
    if not isinstance(type_, VectorType):
        several = [_broadcast(each, LANES[0], builder) for each in (*factors, addend)]
        total = dot_product(op, several[:-1], several[-1], builder)
        return builder.add(vector.ExtractOp(total, [0], kind.total)).result
    (lanes,) = type_.get_shape()
    whole = next(each for each in LANES if each >= lanes)
    words = [_parts(each, kind, whole, builder) for each in factors]
    if op.rhs_is_unsigned is not None:
        words.reverse()
    total = _call(kind, whole, [_filled_up(addend, whole, builder), *words], builder)
    return total if whole == lanes else shuffled([total, total], range(lanes), builder)


def _call(
    kind: DotProduct, lanes: int, operands: Sequence[SSAValue], builder: LoopBuilder
) -> SSAValue:
    # Few programs need the dialect, which takes 30 ms to load.
    from xdsl.dialects.llvm import CallIntrinsicOp  # noqa: PLC0415

    result_type = vector_of(kind.total, lanes)
    return builder.add(CallIntrinsicOp(kind.intrinsic(lanes), operands, [result_type])).results[0]


def _broadcast(value: SSAValue, lanes: int, builder: LoopBuilder) -> SSAValue:
    result_types = [vector_of(value.type, lanes)]
    return builder.add(
        create(vector.BroadcastOp, operands=[value], result_types=result_types)
    ).vector


def _filled_up(value: SSAValue, lanes: int, builder: LoopBuilder) -> SSAValue:
    """A vector with as many lanes; those that are added repeat the last one."""
    type_: Attribute = value.type
    assert isinstance(type_, VectorType)
    (own,) = type_.get_shape()
    if own == lanes:
        return value
    return shuffled([value, value], [min(lane, own - 1) for lane in range(lanes)], builder)


def _parts(value: SSAValue, kind: DotProduct, lanes: int, builder: LoopBuilder) -> SSAValue:
    """The factors that the words of a vector hold."""

    def write() -> SSAValue:
        result_types = [vector_of(kind.factor, kind.terms * lanes)]
        operands = [_filled_up(value, lanes, builder)]
        cast = create(vector.BitcastOp, operands=operands, result_types=result_types)
        return builder.add(cast).result

    return builder.shared((DotProductOp, value), write)
