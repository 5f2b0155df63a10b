"""
What one device computes of an operation: the builder, parts of operands, halos of neighbours.

`moved_block` is the one function for slices, pads, reversals and windows: it brings the elements
from any place to any device, with the fewest bytes by collective-permutes of the parts that are
needed, or by an all-gather where that is less. Along most factors an operation on parts is the
operation itself with other sizes; the others are in `local_windows`, `local_movement`,
`local_reductions` and `local_indexing`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.ir import Attribute, Block, Operation

from lowerings.ir.equality import KnownOperations, StructuralKeys
from lowerings.partitioning.factors import Division, FactorAtoms, is_regular
from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms
from lowerings.partitioning.relations import fold_of, neutral_number
from lowerings.simplify.constant_folding import splat_of
from lowerings.simplify.purity import is_pure
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.devices.replica_groups import (
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.dimensions import FactorType
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp, decode, encode
from xla_dialect.ops.collectives import CollectivePermuteOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.types import S32, array
from xla_dialect.xdsl.linking import insert_before

CHANNEL = 1
"""With a channel, ids are those of partitions."""


class LocalBuilder(XlaBuilder):
    """Builds what a device computes before the operations that it is for, nothing twice."""

    def __init__(self, mesh: MeshAtoms):
        super().__init__("partition")
        self.mesh = mesh
        self.anchor: Operation
        self.heads: dict[Block, Operation] = {}
        """The operation of a block before which there is what it has of constants."""
        self._keys = StructuralKeys()
        self._known: dict[Block, KnownOperations] = {}
        self._sent: dict[Hashable, list[CollectivePermuteOp]] = {}

    def stand_before(self, op: Operation) -> None:
        """From now on builds before an operation, with its location."""
        super().stand_before(op)
        self.anchor = op

    def append(self, op: XlaOp) -> tuple[XlaValue, ...]:
        """Puts an operation there, unless an equal one is: gives the results of that."""
        if isinstance(op, ConstantOp) and self.anchor is not self.head():
            with self._at_head():
                return self.append(op)
        if is_pure(op):
            equal = self._known.setdefault(self.block, KnownOperations(self._keys)).first_equal(op)
            is_first = self.anchor is self.head()
            if equal is not op and (not is_first or equal.is_before_in_block(self.anchor)):
                op.drop_all_references()
                return tuple(XlaValue(self, result) for result in equal.results)
        return super().append(op)

    @property
    def block(self) -> Block:
        """Where it builds."""
        block = self.anchor.parent
        assert block is not None
        return block

    def head(self) -> Operation:
        """The operation before which there are constants."""
        return self.heads.get(self.block, self.anchor)

    @contextmanager
    def _at_head(self) -> Generator[None]:
        anchor = self.anchor
        self.stand_before(self.head())
        yield
        self.stand_before(anchor)

    def scalar(self, number: Any, element_type: Attribute) -> XlaValue:
        """A constant of rank 0, its number rounded to the type."""
        return self.constant(np.asarray(number).astype(numpy_dtype(element_type)))

    def by_block(self, atoms: Atoms, numbers: Sequence[int]) -> XlaValue:
        """The number, s32, for the block, of those that atoms make, which is this partition's."""
        table = [int(numbers[block]) for block in self.mesh.blocks(atoms)]
        if len(set(table)) == 1:
            return self.constant(table[0])
        with self._at_head():
            found = self.dynamic_slice(self.constant(table), [self.partition_id()], [1])
            return self.reshape(found, [])

    def begin_of_block(self, atoms: Atoms, block: int) -> XlaValue:
        """Where this partition's part of a dimension begins that atoms cut into blocks."""
        return self.by_block(atoms, [q * block for q in range(self.mesh.parts(atoms))])

    def inside(self, position: XlaValue, size: int) -> XlaValue:
        """Whether positions, s32 of any rank, are those of elements."""
        return (position >= 0) & (position < size)

    def masked(
        self, value: XlaValue, d: int, start: XlaValue, size: int, fill: XlaValue
    ) -> XlaValue:
        """Elements whose position, `start` and on, is none below `size`, become `fill`."""
        position = self.iota(array(S32, value.shape), d) + start
        return self.select(self.inside(position, size), value, fill)

    def without_tail(self, value: XlaValue, here: BlockedDimension, fill: XlaValue) -> XlaValue:
        """What is behind the end of the whole array, in its last blocks, becomes `fill`."""
        if here.size % here.parts == 0:
            return value
        begin = self.begin_of_block(here.atoms, here.block)
        return self.masked(value, here.d, begin, here.size, fill)

    def piece(self, value: XlaValue, d: int, start: int, limit: int) -> XlaValue:
        """A part along one dimension."""
        starts, limits = [0] * value.rank, list(value.shape)
        starts[d], limits[d] = start, limit
        is_all = not start and limit == value.shape[d]
        return value if is_all else self.slice(value, starts, limits)

    def padded(
        self, value: XlaValue, d: int, low: int, high: int, fill: XlaValue | None = None
    ) -> XlaValue:
        """With elements before and behind, zeros unless said otherwise."""
        if not (low or high):
            return value
        edges = [(low, high) if e == d else (0, 0) for e in range(value.rank)]
        zero = self.scalar(0, value.element_type) if fill is None else fill
        return self.pad(value, zero, edges)

    def cut(self, value: XlaValue, d: int, start: XlaValue, length: int) -> XlaValue:
        """A part along one dimension, from a place of this partition."""
        starts = [start if e == d else 0 for e in range(value.rank)]
        sizes = [length if e == d else size for e, size in enumerate(value.shape)]
        return self.dynamic_slice(value, starts, sizes)

    def joined(self, values: Sequence[XlaValue], d: int) -> XlaValue:
        """Values behind each other."""
        return values[0] if len(values) == 1 else self.concatenate(values, d)

    def clamped_indices(self, indices: XlaValue, last: int, first: int = 0) -> XlaValue:
        """Integers of any type as s32, those outside of `first` to `last` at the nearer end."""
        info = ml_dtypes.iinfo(numpy_dtype(indices.element_type))
        low, high = max(first, int(info.min)), min(last, int(info.max))
        return self.converted(self.clamp(low, indices, high), S32)

    def converted(self, value: XlaValue, element_type: Attribute) -> XlaValue:
        """The value with another element type."""
        if value.element_type == element_type:
            return value
        return self.convert_element_type(value, element_type)

    def groups(self, atoms: Atoms) -> Any:
        """Those of the devices that differ along atoms."""
        return ReplicaGroupsAttr(self.mesh.groups(atoms))

    def gathered(self, value: XlaValue, d: int, atoms: Atoms) -> XlaValue:
        """The blocks of all devices along atoms, behind each other."""
        groups, count = self.groups(atoms), self.mesh.parts(atoms)
        return self.all_gather(value, d, count, groups, CHANNEL, use_global_device_ids=True)

    def permuted(self, value: XlaValue, pairs: Sequence[tuple[int, int]]) -> XlaValue:
        """What the source of a pair has; zeros where this partition is no target."""
        return self.collective_permute(value, pairs, CHANNEL)

    def part_of_others(
        self, value: XlaValue, d: int, span: tuple[int, int], pairs: Sequence[tuple[int, int]]
    ) -> XlaValue:
        """
        A part of what the source of a pair has; anything where this partition is no target.

        Where others are sent the same part already, these are sent it by the same permute.
        """
        known = self._sent.setdefault((self.block, value.ssa, d, *span), [])
        for op in known:
            there = op.source_target_pairs.data.pairs
            both = sorted({*there, *pairs})
            if len(both) == len({source for source, _ in both}) == len({to for _, to in both}):
                merged = SourceTargetPairsAttr(SourceTargetPairs(tuple(both)))
                op.properties["source_target_pairs"] = merged
                return XlaValue(self, op.results[0])
        found = self.permuted(self.piece(value, d, *span), pairs)
        known.append(cast(CollectivePermuteOp, found.ssa.owner))
        return found


@dataclass(frozen=True)
class BlockedDimension:
    """A dimension that atoms cut into equal blocks, the last of them padded or empty."""

    d: int
    size: int
    """Without padding."""
    atoms: Atoms
    parts: int

    @property
    def block(self) -> int:
        """The size of a block."""
        return ceil_div(self.size, self.parts)


@dataclass(frozen=True)
class RemotePart:
    """What devices need of an operand along a dimension, other than what they have."""

    operand: int
    d: int
    starts: Sequence[int]
    """For each block where in the whole array it is to begin."""
    length: int
    end: int
    """Where in the array the last element is followed by what nobody needs, at most its size."""


@dataclass(frozen=True)
class _Piece:
    """What is needed of the block `delta` places further on, the same for all devices."""

    delta: int
    low: int
    high: int
    receivers: tuple[int, ...]
    """The numbers of the blocks whose devices need any of it."""


def moved_block(
    b: LocalBuilder,
    value: XlaValue,
    here: BlockedDimension,
    move: RemotePart,
    fill: XlaValue | None = None,
) -> XlaValue:
    """
    For the device of block q the elements `starts[q]` to `starts[q] + length` of the whole array.

    Elements outside of the array are `fill`, or anything where that is None.
    """
    pieces, starts, length = _pieces(here, move), move.starts, move.length
    if _permuted(pieces) > _gathered(here):
        found, base = b.gathered(value, here.d, here.atoms), [0] * here.parts
    elif pieces:
        parts = [_received(b, value, here, piece) for piece in pieces]
        found = b.joined(parts, here.d)
        first = pieces[0]
        base = [(q + first.delta) * here.block + first.low for q in range(here.parts)]
    else:
        found, base = b.piece(value, here.d, 0, 0), [0] * here.parts
    offsets = [start - at for start, at in zip(starts, base, strict=True)]
    if len(set(offsets)) > 1:
        offsets = [_nearest(o, s, move) for o, s in zip(offsets, starts, strict=True)]
    low = max(0, -min(offsets))
    high = max(0, max(offsets) + length - found.shape[here.d])
    found = b.padded(found, here.d, low, high)
    if len(set(offsets)) == 1:
        found = b.piece(found, here.d, offsets[0] + low, offsets[0] + low + length)
    else:
        start = b.by_block(here.atoms, [offset + low for offset in offsets])
        found = b.cut(found, here.d, start, length)
    inside = all(0 <= s and s + length <= here.size for s in starts)
    if fill is None or inside:
        return found
    return b.masked(found, here.d, b.by_block(here.atoms, starts), here.size, fill)


def sent_elements(here: BlockedDimension, move: RemotePart) -> int:
    """How many elements of a line a device sends for `moved_block`."""
    return min(_permuted(_pieces(here, move)), _gathered(here))


def _permuted(pieces: Sequence[_Piece]) -> int:
    return sum(piece.high - piece.low for piece in pieces if piece.delta)


def _gathered(here: BlockedDimension) -> int:
    return (here.parts - 1) * here.block


def _nearest(offset: int, start: int, move: RemotePart) -> int:
    """Where nothing of the array is needed it does not matter what is read."""
    return 0 if start >= move.end or start + move.length <= 0 else offset


def _pieces(here: BlockedDimension, move: RemotePart) -> list[_Piece]:
    """What has to be received, so that all of it is one run of elements."""
    block = here.block
    needs: dict[int, list[tuple[int, int, int]]] = {}
    for q, start in enumerate(move.starts):
        first, end = max(start, 0), min(start + move.length, move.end)
        for r in range(here.parts if first < end else 0):
            low, high = max(first - r * block, 0), min(end - r * block, block)
            if low < high:
                needs.setdefault(r - q, []).append((low, high, q))
    if not needs:
        return []
    deltas = range(min(needs), max(needs) + 1)
    found: list[_Piece] = []
    for delta in deltas:
        spans = needs.get(delta, [])
        low = min((low for low, _, _ in spans), default=0) if delta == deltas[0] else 0
        high = max((high for _, high, _ in spans), default=0) if delta == deltas[-1] else block
        found.append(_Piece(delta, low, high, tuple(q for _, _, q in spans)))
    return found


def _received(b: LocalBuilder, value: XlaValue, here: BlockedDimension, piece: _Piece) -> XlaValue:
    span = piece.low, piece.high
    if not piece.delta:
        return b.piece(value, here.d, *span)
    pairs = [
        (group[q + piece.delta], group[q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in piece.receivers
    ]
    return b.part_of_others(value, here.d, span, pairs)


def mirrored(b: LocalBuilder, value: XlaValue, here: BlockedDimension) -> XlaValue:
    """The blocks in opposite order, the elements of each as they are."""
    pairs = [
        (group[q], group[here.parts - 1 - q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in range(here.parts)
    ]
    return b.permuted(value, pairs)


_OF_WHOLES = (SHARDING, "xla.operand_layout_constraints")
"""Attributes that say something of whole arrays."""


@dataclass(frozen=True)
class DividedOperation:
    """An operation whose factors are divided over a mesh."""

    division: Division
    divided: FactorAtoms

    @property
    def op(self) -> XlaOp:
        """The operation."""
        return self.division.op

    def local_sizes(self, array_: int, *, is_result: bool = False) -> tuple[int, ...]:
        """The sizes of the part of an operand or result."""
        division, relations = self.division, self.division.relations
        sizes = (division.result_sizes if is_result else division.operand_sizes)[array_]
        factors = (relations.results if is_result else relations.operands)[array_]
        return division.spread(factors, self.divided).blocks(sizes, division.mesh)

    def factor_of(self, operand: int, d: int) -> int | None:
        """The factor along which a dimension of an operand is divided; None where it is whole."""
        dimension = self.division.relations.operands[operand][d]
        leading = self.division.leading(dimension, self.divided)
        divided = (f for f in leading if self.divided.get(f))
        return next(divided, None)

    def along(self, operand: int, d: int) -> object:
        """How the operation goes along the factor of a dimension that is divided, else None."""
        factor = self.factor_of(operand, d)
        return None if factor is None else self.division.relations.factors[factor].along

    def blocked(self, operand: int, d: int) -> BlockedDimension:
        """A dimension of an operand that one factor divides."""
        factor = self.factor_of(operand, d)
        atoms = () if factor is None else self.divided[factor]
        size = self.division.operand_sizes[operand][d]
        return BlockedDimension(d, size, atoms, self.division.mesh.parts(atoms))

    def integers(self, name: str) -> tuple[int, ...]:
        """A list property."""
        return cast("tuple[int, ...]", decode(self.op.properties.get(name)) or ())


@dataclass(frozen=True)
class LocalOperation(DividedOperation):
    """What is known where the part of an operation is built."""

    b: LocalBuilder
    operands: Sequence[XlaValue]
    """What this device has of the operands."""
    result_types: Sequence[Attribute]
    """The types of the parts of the results."""

    def moved(
        self, moves: Iterable[RemotePart], fills: Mapping[int, XlaValue] | None = None
    ) -> list[XlaValue]:
        """The operands after these moves; `fills`: what is outside of the array, by operand."""
        found = list(self.operands)
        for move in moves:
            here, fill = self.blocked(move.operand, move.d), (fills or {}).get(move.operand)
            found[move.operand] = moved_block(self.b, found[move.operand], here, move, fill)
        return found

    def again(self, operands: Sequence[XlaValue], **properties: Any) -> Sequence[XlaValue]:
        """The operation itself on these operands, with these properties instead of its own."""
        classes = self.op.contract().classes
        changed = {name: encode(value, classes[name]) for name, value in properties.items()}
        made = type(self.op).make(
            [value.ssa for value in operands],
            {**self.op.properties, **changed},
            [region.clone() for region in self.op.regions],
            self.result_types,
            {k: v for k, v in self.op.attributes.items() if k not in _OF_WHOLES},
        )
        for mine, old in zip(made.results, self.op.results, strict=True):
            mine.name_hint = old.name_hint
        insert_before(made, self.b.anchor)
        return [XlaValue(self.b, result) for result in made.results]


Build: TypeAlias = Callable[[LocalOperation], Sequence[XlaValue]]


def is_divisible(division: Division, factor: int, atoms: Atoms) -> bool:
    """Whether not all of a factor is needed at once."""
    return division.relations.factors[factor].type is not FactorType.NEED_REPLICATION


@dataclass(frozen=True)
class LocalRule:
    """What the partitioner can do with an operation beyond the factors that are regular."""

    build: Build
    moves: Callable[[DividedOperation], Iterable[RemotePart]] = lambda _: ()
    """What devices have to be sent for it."""
    admits: Callable[[Division, int, Atoms], bool] = is_divisible
    """Whether the operation can be divided over atoms along a factor that is not regular."""


def regular(local: LocalOperation) -> Sequence[XlaValue]:
    """The operation on parts; what is no element takes no part in what is folded."""
    return local.again(without_padding(local, local.operands))


def without_padding(local: LocalOperation, operands: Sequence[XlaValue]) -> list[XlaValue]:
    """Operands whose padding along folded factors is replaced by what changes nothing."""
    found = list(operands)
    relations = local.division.relations
    for factor in relations.of_type(FactorType.REDUCTION):
        if not local.divided.get(factor) or not is_regular(relations, factor):
            continue
        for i, d in relations.operand_places(factor):
            here = local.blocked(i, d)
            number, fold = relations.factors[factor].neutral, fold_of(local.op)
            element_type = found[i].element_type
            if here.size % here.parts == 0:
                continue
            if number is None and fold is not None:
                number = neutral_number(fold, element_type)
            fill = local.b.scalar(0 if number is None else number, element_type)
            found[i] = local.b.without_tail(found[i], here, fill)
    return found


def started_once(local: LocalOperation, operand: int) -> XlaValue:
    """What a fold starts from, on the first of the devices whose results are folded once more."""
    b, start, fold = local.b, local.operands[operand], fold_of(local.op)
    reductions = local.division.relations.of_type(FactorType.REDUCTION)
    atoms = tuple(atom for factor in reductions for atom in local.divided.get(factor, ()))
    if not atoms or fold is None:
        return start
    neutral, number = neutral_number(fold, start.element_type), splat_of(start.ssa)
    if number is not None and np.array_equal(number, cast(Any, neutral)):
        return start
    is_first = b.broadcast(b.begin_of_block(atoms, 1) == 0, start.shape)
    return b.select(is_first, start, b.scalar(neutral, start.element_type))


def has_property_sizes(local: LocalOperation, operand: int, values: Sequence[int]) -> list[int]:
    """Sizes in a property, those of whole dimensions replaced by the sizes of parts."""
    whole = local.division.operand_sizes[operand]
    parts = local.operands[operand].shape
    return [
        part if value == size else value
        for value, size, part in zip(values, whole, parts, strict=True)
    ]
