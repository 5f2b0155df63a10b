"""Random bits of Philox in parts: a device counts from where its part begins in the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from lowerings.partitioning.factor_atoms import Division
from lowerings.partitioning.local_builder import LocalBuilder, shape_of
from lowerings.partitioning.local_operation import LocalOperation, LocalRule, sizes_of_type
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.attributes import ComparisonDirection, RandomAlgorithm
from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.random import U64, RngBitGeneratorOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.types import BY_TYPE, Array, array

_WORDS_OF_A_BLOCK = 4
_MOST_BLOCKS = 1 << 31
"""Numbers by partition are s32."""


def _blocks(op: RngBitGeneratorOp, sizes: Sequence[int]) -> tuple[int, bool]:
    """How many blocks of the stream bits of these sizes take, and whether they use all of them."""
    wide = BY_TYPE[cast(Array, op.outputs[1].type).element_type].bits == 64
    words = prod(sizes) * (2 if wide else 1)
    return ceil_div(words, _WORDS_OF_A_BLOCK), words % _WORDS_OF_A_BLOCK == 0


def admits_random_bits(op: XlaOp, division: Division, factor: int, atoms: Atoms) -> bool:
    """Parts that follow each other in row-major order, each of whole blocks."""
    assert isinstance(op, RngBitGeneratorOp)
    sizes = list(division.result_sizes[1])
    d = next((d for d, size in enumerate(sizes) if size != 1), None)
    if op.algorithm.data == RandomAlgorithm.THREE_FRY or d is None or op.fault():
        return False
    if division.relations.results[1][d] != (factor,) or _blocks(op, sizes)[0] >= _MOST_BLOCKS:
        return False
    sizes[d] = ceil_div(sizes[d], division.mesh.parts(atoms))
    return _blocks(op, sizes)[1]


def random_bits(local: LocalOperation) -> Sequence[SSAValue]:
    """The next state of all, and the bits of the state that is further on by those before."""
    op, b, (state,) = local.op, local.b, local.operands
    assert isinstance(op, RngBitGeneratorOp)
    if not local.divided:
        return local.again(local.operands)
    ((_, atoms),) = local.divided.items()
    parts = local.division.mesh.parts(atoms)
    block, _ = _blocks(op, sizes_of_type(local.result_types[1]))
    total, _ = _blocks(op, local.division.result_sizes[1])
    (length,) = shape_of(state)
    numbers = [b.slice(state, 0, i, i + 1) for i in range(length)]
    # The state of two numbers counts in the second one; a block of it may carry beyond that.
    here = b.reshape(b.convert(b.by_block(atoms, [q * block for q in range(parts)]), U64), (1,))
    high = numbers[2] if length > 2 else numbers[0]
    begin = b.concatenate([numbers[0], *_advanced(b, (numbers[1], high), here)], 0)
    kinds = array(U64, (3,)), local.result_types[1]
    bits = replace(local, result_types=kinds).again([begin])[1]
    after = b.reshape(b.scalar(total, U64), (1,))
    moved = _advanced(b, numbers[1:3], after)
    return [b.concatenate([numbers[0], *moved, *numbers[3:]], 0), bits]


def _advanced(b: LocalBuilder, counter: Sequence[SSAValue], by: SSAValue) -> list[SSAValue]:
    """A counter, its low 64 bits first, moved on."""
    low, *high = counter
    moved = b.emit(AddOp, low, by)
    carry = b.convert(b.compare(moved, ComparisonDirection.LT, low), U64)
    return [moved, *(b.emit(AddOp, part, carry) for part in high)]


RULES: dict[type[XlaOp], LocalRule] = {
    RngBitGeneratorOp: LocalRule(admits_random_bits, random_bits)
}
