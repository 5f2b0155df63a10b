"""Products of pairs of 16-bit numbers, added up: one operation of bodies, several of loops."""

from __future__ import annotations

from functools import cache

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType, i16, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def

from lowerings.dialects.arith_extension import EXTENSIONS
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.constants import vector_of
from xla_dialect.xdsl.creation import create

HALF_BITS = 16


@irdl_op_definition
class PairProductOp(IRDLOperation):
    """
    `low(lhs) * low(rhs) + high(lhs) * high(rhs)`, of the signed halves of 32-bit numbers.

    It stands in bodies of nests only; loops have what `pair_product` writes.
    """

    name = "arith.pair_product"
    lhs = operand_def(i32)
    rhs = operand_def(i32)
    result = result_def(i32)

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[i32])


def pair_product(lhs: SSAValue, rhs: SSAValue, builder: LoopBuilder) -> SSAValue:
    """Writes a `PairProductOp` of numbers, or of vectors of them."""
    result_type: Attribute = lhs.type
    if not isinstance(result_type, VectorType):
        return _product_of_scalars(lhs, rhs, builder)
    (lanes,) = result_type.get_shape()
    products = builder.binary(
        arith.MuliOp, _halves(lhs, lanes, builder), _halves(rhs, lanes, builder)
    )
    even, odd = (
        builder.add(
            create(
                vector.ShuffleOp,
                operands=[products, products],
                result_types=[vector_of(i32, lanes)],
                properties={"mask": _every_other(first, lanes)},
            )
        ).result
        for first in range(2)
    )
    return builder.binary(arith.AddiOp, even, odd)


@cache
def _every_other(first: int, lanes: int) -> DenseArrayBase[IntegerType]:
    """The mask of a shuffle that takes every other element."""
    return DenseArrayBase.from_list(i64, range(first, 2 * lanes, 2))


def _halves(value: SSAValue, lanes: int, builder: LoopBuilder) -> SSAValue:
    """The signed halves of the lanes of a vector, each in a lane of its own."""

    def write() -> SSAValue:
        cast = create(vector.BitcastOp, operands=[value], result_types=[vector_of(i16, 2 * lanes)])
        source = builder.add(cast).result
        wide = create(
            EXTENSIONS[arith.ExtSIOp.name],
            operands=[source],
            result_types=[vector_of(i32, 2 * lanes)],
        )
        return builder.add(wide).results[0]

    return builder.shared((PairProductOp, value), write)


def _product_of_scalars(lhs: SSAValue, rhs: SSAValue, builder: LoopBuilder) -> SSAValue:
    shift = builder.constants.number(HALF_BITS, i32)
    products: list[SSAValue] = []
    for is_low in (True, False):
        halves = [
            builder.binary(arith.ShLIOp, value, shift) if is_low else value for value in (lhs, rhs)
        ]
        signed = [builder.binary(arith.ShRSIOp, half, shift) for half in halves]
        products.append(builder.binary(arith.MuliOp, *signed))
    return builder.binary(arith.AddiOp, *products)
