"""Numbers of 32 bits that hold several narrow ones."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, VectorType, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, result_def, var_operand_def

from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import vector_of
from lowerings.loops.memory import shuffled
from lowerings.loops.nest import Access
from xla_dialect.xdsl.creation import create

WORD_BITS = 32


@irdl_op_definition
class WordOp(IRDLOperation):
    """
    The number of 32 bits that holds numbers of as many bits as fill it, the first one lowest.

    It stands in bodies of nests only; loops have what `word` and `loaded_word` write.
    """

    name = "arith.word"
    parts = var_operand_def(FixedBitwidthType)
    result = result_def(i32)

    def __init__(self, parts: Sequence[SSAValue]):
        super().__init__(operands=[parts], result_types=[i32])


def word(parts: Sequence[SSAValue], builder: LoopBuilder) -> SSAValue:
    """Writes a `WordOp` of numbers, or of vectors of them."""
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
    result_types = [vector_of(i32, lanes)]
    cast = create(vector.BitcastOp, operands=vectors, result_types=result_types)
    return builder.add(cast).result


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


def are_adjacent(accesses: Sequence[Access]) -> bool:
    """Whether accesses read neighbours along the last dimension of a memref, at every point."""
    first, *others = accesses
    layout = first.layout
    if first.is_collapsed or first.recast or layout is None or not layout[0] or layout[0][-1] != 1:
        return False
    return all(
        other.memref is first.memref
        and other.strides == first.strides
        and other.indices[:-1] == first.indices[:-1]
        and None not in (other.offset, first.offset)
        and (other.offset or 0) - (first.offset or 0) == number
        for number, other in enumerate(others, 1)
    )


def loaded_word(
    memref: SSAValue, indices: Sequence[SSAValue], part: Attribute, builder: LoopBuilder
) -> SSAValue:
    """The word that neighbours in memory are."""
    assert isinstance(part, FixedBitwidthType)
    result_types = [vector_of(part, WORD_BITS // part.bitwidth)]
    load = create(vector.LoadOp, operands=[memref, *indices], result_types=result_types)
    parts = builder.add(load).result
    cast = create(vector.BitcastOp, operands=[parts], result_types=[vector_of(i32, 1)])
    return builder.add(vector.ExtractOp(builder.add(cast).result, [0], i32)).result
