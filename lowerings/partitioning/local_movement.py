"""
Reversals, iotas, constants and random bits on parts, and reductions that no collective folds.

Reductions of several arrays at once, such as the place of the largest element, are of that kind:
all get the results of all, and reduce those again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, cast

from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_operation import (
    BlockedDimension,
    DividedOperation,
    LocalBuilder,
    LocalOperation,
    LocalRule,
    RemotePart,
    mirrored,
    moved_block,
    started_once,
    without_padding,
)
from lowerings.partitioning.mesh_atoms import Atoms
from lowerings.partitioning.relations import selects
from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.builder import XlaValue
from xla_dialect.dimensions import Traversal
from xla_dialect.literals.arrays import dense_to_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import ReverseOp
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.types import BY_TYPE, U64, Array, array, sizes_of
from xla_dialect.xdsl.dense_literals import is_splat


def reverse_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """As many elements as a neighbour's block."""
    for d in divided.integers("dimensions"):
        here = divided.blocked(0, d)
        if here.parts > 1:
            starts = [(q + 1) * here.block for q in range(here.parts)]
            yield RemotePart(0, d, starts, here.block, here.size)


def reverse(local: LocalOperation) -> Sequence[XlaValue]:
    """Blocks change places, each is reversed, and padding goes back to the end."""
    (value,) = local.operands
    divided = [local.blocked(0, d) for d in local.integers("dimensions")]
    divided = [here for here in divided if here.parts > 1]
    for here in divided:
        value = mirrored(local.b, value, here)
    (value,) = local.again([value])
    for here in divided:
        room = here.parts * here.block
        padding = room - here.size
        if padding:
            padded = BlockedDimension(here.d, room, here.atoms, here.parts)
            starts = [q * here.block + padding for q in range(here.parts)]
            move = RemotePart(0, here.d, starts, here.block, room)
            value = moved_block(local.b, value, padded, move)
    return [value]


def iota(local: LocalOperation) -> Sequence[XlaValue]:
    """From the place where the part of this device begins."""
    (made,) = local.again(())
    relations = local.division.relations
    for d, (factor,) in enumerate(relations.results[0]):
        atoms = local.divided.get(factor, ())
        if relations.factors[factor].along is Traversal.GENERATED and atoms:
            start = local.b.begin_of_block(atoms, made.shape[d])
            made = made + local.b.converted(start, made.element_type)
    return [made]


def constant(local: LocalOperation) -> Sequence[XlaValue]:
    """The number that all elements are, or the part of a table."""
    op = local.op
    assert isinstance(op, ConstantOp)
    b, value = local.b, cast(Any, op.value)
    is_divided, sizes = any(local.divided.values()), local.local_sizes(0, is_result=True)
    if is_splat(value) and (is_divided or not sizes):
        return [b.broadcast_in_dim(b.constant(dense_to_numpy(value).reshape(-1)[0]), sizes, [])]
    if not is_divided:
        return local.again(())
    made = b.append(ConstantOp.make((), {"value": value}))[0]
    for d, (factor,) in enumerate(local.division.relations.results[0]):
        atoms = local.divided.get(factor, ())
        if atoms:
            size = made.shape[d]
            made = b.padded(made, d, 0, local.division.mesh.parts(atoms) * sizes[d] - size)
            made = b.cut(made, d, b.begin_of_block(atoms, sizes[d]), sizes[d])
    return [made]


_WORDS_OF_A_BLOCK = 4
_MOST_BLOCKS = 1 << 31
"""Numbers by partition are s32."""


def _blocks(op: RngBitGeneratorOp, sizes: Sequence[int]) -> tuple[int, bool]:
    """How many blocks of the stream bits of these sizes take, and whether they use all of them."""
    wide = BY_TYPE[cast(Array, op.outputs[1].type).element_type].bits == 64
    words = prod(sizes) * (2 if wide else 1)
    return ceil_div(words, _WORDS_OF_A_BLOCK), words % _WORDS_OF_A_BLOCK == 0


def admits_random_bits(division: Division, factor: int, atoms: Atoms) -> bool:
    """Parts that follow each other in row-major order, each of whole blocks."""
    op = division.op
    assert isinstance(op, RngBitGeneratorOp)
    sizes = list(division.result_sizes[1])
    d = next((d for d, size in enumerate(sizes) if size != 1), None)
    if op.algorithm.data == RandomAlgorithm.THREE_FRY or d is None or op.fault():
        return False
    if division.relations.results[1][d] != (factor,) or _blocks(op, sizes)[0] >= _MOST_BLOCKS:
        return False
    sizes[d] = ceil_div(sizes[d], division.mesh.parts(atoms))
    return _blocks(op, sizes)[1]


def random_bits(local: LocalOperation) -> Sequence[XlaValue]:
    """The next state of all, and the bits of the state that is further on by those before."""
    op, b, (state,) = local.op, local.b, local.operands
    assert isinstance(op, RngBitGeneratorOp)
    if not local.divided:
        return local.again(local.operands)
    ((_, atoms),) = local.divided.items()
    block, _ = _blocks(op, sizes_of(cast(Array, local.result_types[1])))
    total, _ = _blocks(op, local.division.result_sizes[1])
    key, low, *high = (b.piece(state, 0, i, i + 1) for i in range(state.shape[0]))
    # The state of two numbers counts in the second one; a block of it may carry beyond that.
    here = b.reshape(b.converted(b.begin_of_block(atoms, block), U64), (1,))
    begin = b.concatenate([key, *_advanced(b, (low, *(high or [key])[:1]), here)], 0)
    kinds = array(U64, (3,)), local.result_types[1]
    bits = replace(local, result_types=kinds).again([begin])[1]
    after = b.reshape(b.scalar(total, U64), (1,))
    moved = _advanced(b, (low, *high[:1]), after)
    return [b.concatenate([key, *moved, *high[1:]], 0), bits]


def _advanced(b: LocalBuilder, counter: Sequence[XlaValue], by: XlaValue) -> list[XlaValue]:
    """A counter, its low 64 bits first, moved on."""
    low, *high = counter
    moved = low + by
    carry = b.converted(moved < low, U64)
    return [moved, *(part + carry for part in high)]


def admits_reduction(division: Division, factor: int, atoms: Atoms) -> bool:
    """Whether elements are only selected: the start, and any order, may come twice."""
    return isinstance(division.op, ReduceOp) and selects(division.op)


def reduce(local: LocalOperation) -> Sequence[XlaValue]:
    """What all devices have selected, selected from once more; padding is the start."""
    op, b = local.op, local.b
    assert isinstance(op, ReduceOp)
    atoms: list[int] = []
    count = len(op.inputs)
    inputs, starts = local.operands[:count], local.operands[count:]
    for d in local.integers("dimensions"):
        factor = local.factor_of(0, d)
        if factor is None or is_regular(local.division.relations, factor):
            continue
        here = local.blocked(0, d)
        atoms.extend(here.atoms)
        inputs = [
            b.without_tail(value, here, start) for value, start in zip(inputs, starts, strict=True)
        ]
    if not atoms:
        operands = without_padding(local, local.operands)
        operands[count] = started_once(local, count)
        return local.again(operands)
    found = local.again([*inputs, *starts])
    lined = [b.reshape(value, (1, *value.shape)) for value in found]
    gathered = [b.gathered(value, 0, tuple(atoms)) for value in lined]
    return local.again([*gathered, *starts], dimensions=[0])


RULES: dict[type[XlaOp], LocalRule] = {
    ReverseOp: LocalRule(reverse, reverse_moves),
    IotaOp: LocalRule(iota),
    ConstantOp: LocalRule(constant),
    RngBitGeneratorOp: LocalRule(random_bits, admits=admits_random_bits),
    ReduceOp: LocalRule(reduce, admits=admits_reduction),
}
