"""
What loops have for the operations of the `words` dialect: products of narrow numbers, several in a
word of 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    IntegerType,
    VectorType,
    i16,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from lowerings.dialects.arith_extension import EXTENSIONS
from lowerings.dialects.words import WORD_BITS, DotProductOp
from lowerings.ir.dot_products import BFLOAT_PAIRS, LANES, QUADS, DotProduct
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import vector_of
from lowerings.loops.memory import shuffled


def word(parts: Sequence[SSAValue], builder: LoopBuilder) -> SSAValue:
    """Writes a `JoinOp` of numbers, or of vectors of them."""
    type_: Attribute = parts[0].type
    if not isinstance(type_, VectorType):
        return _word_of_numbers(parts, builder)
    (lanes,) = type_.get_shape()
    vectors = list(parts)
    while len(vectors) > 1:
        # Every other one first: that of places 0 and 2, of 1 and 3, then of both.
        half = len(vectors) // 2
        pairs = zip(vectors[:half], vectors[half:], strict=True)
        vectors = [_alternating(pair, builder) for pair in pairs]
    return builder.write(vector.BitcastOp, vectors, vector_of(i32, lanes))


def _word_of_numbers(parts: Sequence[SSAValue], builder: LoopBuilder) -> SSAValue:
    bits = WORD_BITS // len(parts)
    codes = parts
    if not isinstance(parts[0].type, IntegerType):
        casts = [arith.BitcastOp(part, IntegerType(bits)) for part in parts]
        codes = [builder.add(cast).result for cast in casts]
    whole, *others = (builder.add(arith.ExtUIOp(code, i32)).result for code in codes)
    for number, code in enumerate(others, 1):
        distance = builder.constants.number(number * bits, i32)
        upper = builder.binary(arith.ShLIOp, code, distance)
        whole = builder.binary(arith.OrIOp, whole, upper)
    return whole


def _alternating(vectors: Sequence[SSAValue], builder: LoopBuilder) -> SSAValue:
    """The elements of two vectors by turns."""
    type_: Attribute = vectors[0].type
    assert isinstance(type_, VectorType)
    (lanes,) = type_.get_shape()
    mask = [lane + part * lanes for lane in range(lanes) for part in (0, 1)]
    return shuffled(vectors, mask, builder)


def pair_product(lhs: SSAValue, rhs: SSAValue, builder: LoopBuilder) -> SSAValue:
    """Writes a `PairProductOp` of numbers, or of vectors of them."""
    type_: Attribute = lhs.type
    if not isinstance(type_, VectorType):
        total = pair_product(builder.broadcast(lhs, 1), builder.broadcast(rhs, 1), builder)
        return builder.add(vector.ExtractOp(total, [0], i32)).result
    (lanes,) = type_.get_shape()
    halves: list[SSAValue] = []
    for words in (lhs, rhs):
        codes = builder.write(vector.BitcastOp, [words], vector_of(i16, 2 * lanes))
        extend = EXTENSIONS[arith.ExtSIOp.name]
        halves.append(builder.write(extend, [codes], vector_of(i32, 2 * lanes)))
    products = builder.binary(arith.MuliOp, *halves)
    even, odd = (
        shuffled([products, products], range(first, 2 * lanes, 2), builder) for first in range(2)
    )
    return builder.binary(arith.AddiOp, even, odd)


def dot_product(
    op: DotProductOp, factors: Sequence[SSAValue], addend: SSAValue, builder: LoopBuilder
) -> SSAValue:
    """Writes a `DotProductOp` of numbers or vectors, added to a number or vector."""
    kind = QUADS if op.result.type == i32 else BFLOAT_PAIRS
    type_: Attribute = addend.type
    if not isinstance(type_, VectorType):
        several = [builder.broadcast(each, LANES[0]) for each in (*factors, addend)]
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
    filled = _filled_up(value, lanes, builder)
    return builder.write(vector.BitcastOp, [filled], vector_of(kind.factor, kind.terms * lanes))
