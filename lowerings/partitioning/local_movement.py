"""Operations that move or make elements, computed on parts; a part of random bits among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import cast

from xdsl.ir import SSAValue

from lowerings.partitioning.factors import Division
from lowerings.partitioning.local_operation import (
    BlockedDimension,
    DividedOperation,
    LocalBuilder,
    LocalOperation,
    LocalRule,
    RemotePart,
    array_type,
    integer_list,
    mirrored,
    moved_block,
    shape_of,
    sizes_of_type,
)
from lowerings.partitioning.mesh_atoms import Atoms
from xla_dialect.attributes import ComparisonDirection, RandomAlgorithm
from xla_dialect.dimensions import Padding, Slicing, Traversal
from xla_dialect.literals.arrays import dense_to_numpy
from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement as ops
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.shapes.size_arithmetic import ceil_div, dilated
from xla_dialect.types import BY_TYPE, U64, Array, array
from xla_dialect.xdsl.dense_literals import is_splat


def slice_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """The elements that a part of the result is made of."""
    names = ("start_indices", "limit_indices", "strides")
    starts, limits, strides = map(divided.integers, names)
    for d, size in enumerate(divided.local_sizes(0, is_result=True)):
        if isinstance(divided.along(0, d), Slicing):
            parts = divided.blocked(0, d).parts
            places = [starts[d] + q * size * strides[d] for q in range(parts)]
            length = (size - 1) * strides[d] + 1 if size else 0
            yield RemotePart(0, d, places, length, limits[d])


def slice_(local: LocalOperation) -> Sequence[SSAValue]:
    """Each device gets the elements that its part of the result is made of."""
    (value,) = local.moved(slice_moves(local))
    names = ("start_indices", "limit_indices", "strides")
    starts, limits, strides = map(list, map(local.integers, names))
    for d, size in enumerate(shape_of(value)):
        if local.factor_of(0, d) is not None:
            starts[d], limits[d] = 0, size
    lists = map(integer_list, (starts, limits, strides))
    return local.again([value], dict(zip(names, lists, strict=True)))


@dataclass(frozen=True)
class DilatedBlocks:
    """What of a base with holes between its elements falls into each block."""

    starts: Sequence[int]
    """The first element of each block."""
    count: int
    low: int
    """How many holes there are before the elements."""
    high: int
    """How many holes there are behind them."""
    early: Sequence[int] = ()
    """How much comes before each block begins, where they begin at different places."""


def dilated_blocks(first: Sequence[int], block: int, dilation: int) -> DilatedBlocks:
    """Blocks that begin at these places of a base, each with as many elements."""
    starts, early = [ceil_div(at, dilation) for at in first], list[int]()
    low, *others = {start * dilation - at for start, at in zip(starts, first, strict=True)}
    if others or low >= block:
        # All begin at an element, and are as much larger as one of them has to be early.
        starts, early = [at // dilation for at in first], [at % dilation for at in first]
        low, block = 0, block + dilation - 1
    count = ceil_div(block - low, dilation)
    return DilatedBlocks(starts, count, low, block - low - dilated(count, dilation), early)


def _padded_starts(along: Padding, size: int, parts: int) -> tuple[list[int], int]:
    whole = along.low + max(size - 1, 0) * (along.interior + 1) + min(size, 1) + along.high
    block = ceil_div(whole, parts)
    return [q * block - along.low for q in range(parts)], block


def admits_pad(division: Division, factor: int, atoms: Atoms) -> bool:
    """Wherever the elements of a device are among the padding."""
    return isinstance(division.relations.factors[factor].along, Padding)


def _padded(divided: DividedOperation) -> Iterator[tuple[int, DilatedBlocks]]:
    """Padded dimensions that are divided, and the elements within each part."""
    for d in range(len(divided.division.operand_sizes[0])):
        here, along = divided.blocked(0, d), divided.along(0, d)
        if isinstance(along, Padding):
            first, block = _padded_starts(along, here.size, here.parts)
            yield d, dilated_blocks(first, block, along.interior + 1)


def pad_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """The elements within a part of the result."""
    for d, blocks in _padded(divided):
        yield RemotePart(0, d, blocks.starts, blocks.count)


def pad(local: LocalOperation) -> Sequence[SSAValue]:
    """Each device gets the elements within its part of the result; all else is padding."""
    value, fill = local.moved(pad_moves(local), {0: local.operands[1]})
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, interior = map(list, map(local.integers, names))
    sizes = local.local_sizes(0, is_result=True)
    padded = dict(_padded(local))
    for d, blocks in padded.items():
        low[d], high[d] = blocks.low, blocks.high
    edges = {"edge_padding_low": low, "edge_padding_high": high, "interior_padding": interior}
    made = local.b.emit(ops.PadOp, value, fill, **edges)
    for d, blocks in padded.items():
        if blocks.early:
            start = local.b.by_block(local.blocked(0, d).atoms, blocks.early)
            made = local.b.cut(made, d, start, sizes[d])
    return [made]


def reverse_moves(divided: DividedOperation) -> Iterator[RemotePart]:
    """As many elements as a neighbour's block."""
    for d in divided.integers("dimensions"):
        here = divided.blocked(0, d)
        if here.parts > 1:
            yield RemotePart(0, d, [(q + 1) * here.block for q in range(here.parts)], here.block)


def reverse(local: LocalOperation) -> Sequence[SSAValue]:
    """Blocks change places, each is reversed, and padding goes back to the end."""
    (value,) = local.operands
    for d in local.integers("dimensions"):
        here = local.blocked(0, d)
        if here.parts > 1:
            value = mirrored(local.b, value, here)
    (value,) = local.again([value])
    for d in local.integers("dimensions"):
        here = local.blocked(0, d)
        padding = here.parts * here.block - here.size
        if here.parts > 1 and padding:
            padded = BlockedDimension(d, here.parts * here.block, here.atoms, here.parts)
            starts = [q * here.block + padding for q in range(here.parts)]
            value = moved_block(local.b, value, padded, RemotePart(0, d, starts, here.block))
    return [value]


def iota(local: LocalOperation) -> Sequence[SSAValue]:
    """From the place where the part of this device begins."""
    (made,) = local.again(())
    relations = local.division.relations
    for d, dimension in enumerate(relations.results[0]):
        (factor,) = dimension
        atoms = local.divided.get(factor, ())
        if relations.factors[factor].along is Traversal.GENERATED and atoms:
            start = local.b.begin_of_block(atoms, shape_of(made)[d])
            start = local.b.convert(start, array_type(made).element_type)
            made = local.b.plus(made, start)
    return [made]


def constant(local: LocalOperation) -> Sequence[SSAValue]:
    """The number that all elements are, or the part of a table."""
    op = local.op
    assert isinstance(op, ConstantOp)
    b, value = local.b, op.value
    is_divided, sizes = any(local.divided.values()), local.local_sizes(0, is_result=True)
    if is_splat(value) and (is_divided or not sizes):  # pyright: ignore
        number = dense_to_numpy(value).reshape(-1)[0]  # pyright: ignore
        return [b.splat(b.constant(number), sizes)]
    if not is_divided:
        return local.again(())
    made = b.insert(ConstantOp.make((), {"value": value})).result
    for d, (factor,) in enumerate(local.division.relations.results[0]):
        atoms = local.divided.get(factor, ())
        if atoms:
            parts = local.division.mesh.parts(atoms)
            size = shape_of(made)[d]
            block = ceil_div(size, parts)
            made = b.pad(made, d, 0, parts * block - size)
            made = b.cut(made, d, b.begin_of_block(atoms, block), block)
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


def random_bits(local: LocalOperation) -> Sequence[SSAValue]:
    """The next state of all, and the bits of the state that is further on by those before."""
    op, b, (state,) = local.op, local.b, local.operands
    assert isinstance(op, RngBitGeneratorOp)
    if not local.divided:
        return local.again(local.operands)
    ((_, atoms),) = local.divided.items()
    block, _ = _blocks(op, sizes_of_type(local.result_types[1]))
    total, _ = _blocks(op, local.division.result_sizes[1])
    (length,) = shape_of(state)
    numbers = [b.slice(state, 0, i, i + 1) for i in range(length)]
    # The state of two numbers counts in the second one; a block of it may carry beyond that.
    here = b.reshape(b.convert(b.begin_of_block(atoms, block), U64), (1,))
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
    ops.SliceOp: LocalRule(slice_, slice_moves),
    ops.PadOp: LocalRule(pad, pad_moves, admits_pad),
    ops.ReverseOp: LocalRule(reverse, reverse_moves),
    IotaOp: LocalRule(iota),
    ConstantOp: LocalRule(constant),
    RngBitGeneratorOp: LocalRule(random_bits, admits=admits_random_bits),
}
