"""
Ragged dots: a loop over the groups, and within each over tiles of its rows. Scaled dots: dots of
operands that have been multiplied by their scales.

A tile is a slice of fixed size, of which only what is in the group counts; so all groups together
cost what one dot costs, and at most one tile more for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, cast

from xdsl.ir import Attribute

from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.literals.arrays import accumulator_dtype, element_type_of, numpy_dtype
from xla_dialect.op import Ints, decode
from xla_dialect.ops.contraction import RaggedDotOp, ScaledDotOp, ragged_prefix
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.types import BY_TYPE, PRED, Array, ElementClass


def scaled_dot(b: XlaBuilder, op: ScaledDotOp, *operands: XlaValue) -> Sequence[XlaValue]:
    """The dot in the type in which the reference adds up."""
    lhs, rhs, lhs_scale, rhs_scale = operands
    result = cast(Array, op.result.type).element_type
    types = (lhs.element_type, rhs.element_type, result)
    accumulator = element_type_of(accumulator_dtype(*map(numpy_dtype, types)))
    contracting = decode(op.lhs_contracting_dims), decode(op.rhs_contracting_dims)
    batch = decode(op.lhs_batch_dims), decode(op.rhs_batch_dims)
    numbers = DotDimensionNumbers(*cast("list[Ints]", [*contracting, *batch]))
    factors = (_scaled(b, lhs, lhs_scale, accumulator), _scaled(b, rhs, rhs_scale, accumulator))
    return [b.convert_element_type(b.dot_general(*factors, numbers), result)]


def _scaled(b: XlaBuilder, operand: XlaValue, scale: XlaValue, type_: Attribute) -> XlaValue:
    """Every block of the operand times its element of the scale; a scalar stands for none."""
    factor = b.convert_element_type(operand, type_)
    if not scale.rank:
        return factor
    sizes: list[int] = []
    for size, blocks in zip(operand.shape, scale.shape, strict=True):
        sizes += (blocks, size // blocks if blocks else 1)
    wide = b.convert_element_type(scale, type_)
    repeated = b.broadcast_in_dim(wide, sizes, list(range(0, len(sizes), 2)))
    return factor * b.reshape(repeated, operand.shape)


SMALLEST_TILE, LARGEST_TILE = 16, 128
"""Rows that are multiplied at once: enough for a kernel, few compared with those of a group."""
_LARGEST = 2**63 - 1


def ragged_dot(
    b: XlaBuilder, op: RaggedDotOp, lhs: XlaValue, rhs: XlaValue, group_sizes: XlaValue
) -> Sequence[XlaValue]:
    """Dispatches on the role of the ragged dimension in the dot: batch, contracting or free."""
    dot = RaggedDot(b, op)
    result = cast(Array, op.result.type)
    if dot.ragged in dot.lhs_batch:
        return [b.dot_general(lhs, rhs, dot.numbers(), result.element_type)]
    groups = Groups.of(dot, lhs, group_sizes)
    is_contracting = dot.ragged in dot.lhs_contracting
    return [(dot.contracting if is_contracting else dot.free)(groups, lhs, rhs, result)]


class RaggedDot:
    """The dimensions of a ragged dot."""

    def __init__(self, b: XlaBuilder, op: RaggedDotOp):
        types = (cast(Array, value.type) for value in (op.lhs, op.rhs, op.result))
        dtypes = (numpy_dtype(type_.element_type) for type_ in types)
        self.b = b
        self.lhs_batch: Ints = decode(op.lhs_batch_dims)
        self.rhs_batch: Ints = decode(op.rhs_batch_dims)
        self.lhs_contracting: Ints = decode(op.lhs_contracting_dims)
        self.rhs_contracting: Ints = decode(op.rhs_contracting_dims)
        (self.ragged,) = cast(Ints, decode(op.lhs_ragged_dims))
        self.group: Ints = decode(op.rhs_group_dims)
        """The dimension of rhs for the groups, if there is one."""
        self.accumulator = element_type_of(accumulator_dtype(*dtypes))
        """The element type in which the reference adds up."""

    def numbers(self) -> DotDimensionNumbers:
        """The dimension numbers of a plain dot of the operands, rhs without its group dimension."""
        batch, contracting = (
            tuple(d - sum(g < d for g in self.group) for d in dims)
            for dims in (self.rhs_batch, self.rhs_contracting)
        )
        return DotDimensionNumbers(self.lhs_contracting, contracting, self.lhs_batch, batch)

    def free(self, groups: Groups, lhs: XlaValue, rhs: XlaValue, result: Array) -> XlaValue:
        """Rows of lhs meet the part of rhs for their group; rows in no group are 0."""
        b, sizes, place = self.b, result.get_shape(), len(groups.prefix)
        # f8e8m0fnu has no zero: the constant is rounded like any sum.
        zero = b.convert_element_type(b.constant(0, self.accumulator), result.element_type)
        zeros = b.broadcast(zero, sizes)
        if not prod(sizes) or not groups.count:
            return zeros
        opposite = dict(zip(self.lhs_batch, self.rhs_batch, strict=True))
        (group_dim,) = self.group

        def of_group(group: RaggedGroup, found: XlaValue) -> XlaValue:
            where = {opposite[d]: index for d, index in group.at.items() if d in opposite}
            part = groups.box(rhs, {**where, group_dim: group.number})
            part = b.reshape(part, shapes.without(part.shape, (group_dim,)))
            rows = groups.box(lhs, group.at)

            def tile(first: XlaValue, inside: XlaValue, found: XlaValue) -> XlaValue:
                taken = groups.box(rows, {self.ragged: first}, groups.tile)
                new = b.dot_general(taken, part, self.numbers(), result.element_type)
                # The prefix comes first in the result, then the ragged dimension.
                corner = [group.at.get(d, 0) for d in groups.prefix] + [first]
                corner += [0] * (len(sizes) - len(corner))
                old = b.dynamic_slice(found, corner, new.shape)
                is_new = b.broadcast_in_dim(inside, new.shape, [place])
                return b.dynamic_update_slice(found, b.select(is_new, new, old), corner)

            return groups.tiles(group, found, tile)

        return groups.each(zeros, of_group)

    def contracting(self, groups: Groups, lhs: XlaValue, rhs: XlaValue, result: Array) -> XlaValue:
        """Per group the dot of what is in it."""
        b, sizes = self.b, result.get_shape()
        zeros = b.broadcast(b.constant(0, self.accumulator), sizes)
        if not prod(sizes) or not groups.length:
            return b.convert_element_type(zeros, result.element_type)
        pairs = (self.lhs_batch + self.lhs_contracting, self.rhs_batch + self.rhs_contracting)
        opposite = dict(zip(*pairs, strict=True))
        add = b.or_ if self.accumulator == PRED else b.add

        def of_group(group: RaggedGroup, found: XlaValue) -> XlaValue:
            where = {opposite[d]: index for d, index in group.at.items()}
            rows, columns = groups.box(lhs, group.at), groups.box(rhs, where)

            def tile(first: XlaValue, inside: XlaValue, found: XlaValue) -> XlaValue:
                lhs_part, rhs_part = (
                    self._only(inside, groups.box(part, {dimension: first}, groups.tile), dimension)
                    for part, dimension in ((rows, self.ragged), (columns, opposite[self.ragged]))
                )
                new = b.dot_general(lhs_part, rhs_part, self.numbers(), self.accumulator)
                new = b.reshape(new, [1, *new.shape])
                corner = [group.number, *(group.at.get(d, 0) for d in self.lhs_batch)]
                corner += [0] * (len(sizes) - len(corner))
                old = b.dynamic_slice(found, corner, new.shape)
                return b.dynamic_update_slice(found, add(old, new), corner)

            return groups.tiles(group, found, tile)

        return b.convert_element_type(groups.each(zeros, of_group), result.element_type)

    def _only(self, inside: XlaValue, x: XlaValue, dimension: int) -> XlaValue:
        """The part of `x` that is in a group, 0 elsewhere, in the type of the accumulator."""
        wide = self.b.convert_element_type(x, self.accumulator)
        counts = self.b.broadcast_in_dim(inside, wide.shape, [dimension])
        zero = self.b.broadcast(self.b.constant(0, self.accumulator), wide.shape)
        return self.b.select(counts, wide, zero)


class RaggedGroup(NamedTuple):
    """One group, of one index of the prefix."""

    number: XlaValue
    line: XlaValue
    """The flat index of the prefix; 0 if the groups are the same for all."""
    at: Mapping[int, XlaValue]
    """The index of each dimension of the prefix; none if the groups are the same for all."""


@dataclass(frozen=True)
class Groups:
    """Where the groups begin and end along the ragged dimension."""

    b: XlaBuilder
    begins: XlaValue
    """`s64[p, g]` within the ragged dimension, with p = 1 where the groups are the same for all."""
    ends: XlaValue
    prefix: Ints
    """The dimensions of lhs that may have groups of their own."""
    prefix_sizes: Ints
    is_split: bool
    """Whether each index of the prefix has groups of its own."""
    length: int
    """The size of the ragged dimension."""
    tile: int

    @staticmethod
    def of(dot: RaggedDot, lhs: XlaValue, group_sizes: XlaValue) -> Groups:
        """Reads the sizes as the reference does: running sums in s64, which wrap."""
        b = dot.b
        prefix = ragged_prefix(lhs.rank, dot.lhs_batch, dot.lhs_contracting, dot.ragged)
        is_split = group_sizes.rank > 1
        lines, count = prod(group_sizes.shape[:-1]), group_sizes.shape[-1]
        sizes = b.reshape(as_signed(b, group_sizes), [lines, count])
        length = lhs.shape[dot.ragged]
        if count:
            ends = b.reduce_window(sizes, 0, b.add, [1, count], padding=[(0, 0), (count - 1, 0)])
        else:
            ends = sizes
        begins = ends - sizes
        limit = b.constant(length, "s64")
        within = [b.clamp(b.constant(0, "s64"), each, limit) for each in (begins, ends)]
        average = shapes.ceil_div(length, max(count, 1))
        tile = min(max(SMALLEST_TILE, 1 << (average - 1).bit_length()), LARGEST_TILE)
        return Groups(
            b,
            within[0],
            within[1],
            prefix,
            tuple(lhs.shape[d] for d in prefix),
            is_split,
            length,
            min(tile, length),
        )

    @property
    def count(self) -> int:
        """The number of groups."""
        return self.begins.shape[1]

    def box(self, x: XlaValue, at: Mapping[int, XlaValue], size: int = 1) -> XlaValue:
        """The slice of this size at the given index of some dimensions, all of the others."""
        if not at:
            return x
        sizes = [size if d in at else whole for d, whole in enumerate(x.shape)]
        return self.b.dynamic_slice(x, [at.get(d, 0) for d in range(x.rank)], sizes)

    def each(
        self, initial: XlaValue, step: Callable[[RaggedGroup, XlaValue], XlaValue]
    ) -> XlaValue:
        """A loop over the groups: the last `x` of `x = step(group, x)`, from `initial`."""
        b, (lines, count) = self.b, self.begins.shape

        def body(turn: XlaValue, found: XlaValue) -> Sequence[XlaValue]:
            number, line = b.rem(turn, count), b.div(turn, count)
            at: dict[int, XlaValue] = {}
            if self.is_split:
                rest = line
                for dimension, size in zip(self.prefix[::-1], self.prefix_sizes[::-1], strict=True):
                    at[dimension] = b.rem(rest, size)
                    rest = b.div(rest, size)
            return (turn + 1, step(RaggedGroup(number, line, at), found))

        def goes_on(turn: XlaValue, _found: XlaValue) -> XlaValue:
            return turn < lines * count

        return b.while_(goes_on, body, [b.constant(0, "s64"), initial])[1]

    def tiles(
        self,
        group: RaggedGroup,
        initial: XlaValue,
        step: Callable[[XlaValue, XlaValue, XlaValue], XlaValue],
    ) -> XlaValue:
        """
        A loop over the tiles of a group: the last `x` of `x = step(start, rows, x)`, where `rows`
        are those of the tile that are in the group.
        """
        b = self.b
        begin, end = (
            b.reshape(b.dynamic_slice(each, [group.line, group.number], [1, 1]), [])
            for each in (self.begins, self.ends)
        )

        def body(row: XlaValue, found: XlaValue) -> Sequence[XlaValue]:
            first = b.min(row, b.constant(self.length - self.tile, "s64"))
            rows = b.iota(f"s64[{self.tile}]", 0) + first
            inside = (rows >= row) & (rows < end)
            return (row + self.tile, step(first, inside, found))

        def goes_on(row: XlaValue, _found: XlaValue) -> XlaValue:
            return row < end

        return b.while_(goes_on, body, [begin, initial])[1]


def as_signed(b: XlaBuilder, sizes: XlaValue) -> XlaValue:
    """As s64; what is larger becomes 2^63 - 1."""
    row = BY_TYPE[sizes.element_type]
    if row.element_class == ElementClass.UNSIGNED and row.bits == 64:
        sizes = b.min(sizes, b.constant(_LARGEST, "u64"))
    return b.convert_element_type(sizes, "s64")
