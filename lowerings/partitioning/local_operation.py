"""
What one device computes of an operation: the builder, parts of operands, halos of neighbours.

`moved_block` is the one function for slices, pads, reversals, concatenations and windows: it
brings the elements from any place to any device, with the fewest bytes by collective-permutes of
the parts that are needed, or by an all-gather where that is less. Along most factors an operation
on parts is the operation itself with other sizes; the others are in `local_movement`,
`local_reductions` and `local_indexing`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.equality import KnownOperations, StructuralKeys
from lowerings.partitioning.factors import Division, FactorAtoms, is_regular
from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms
from lowerings.partitioning.relations import fold_of, neutral_number
from lowerings.simplify.purity import is_pure
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.devices.replica_groups import (
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.dimensions import FactorType
from xla_dialect.literals.arrays import from_numpy, numpy_dtype
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import data_movement as movement
from xla_dialect.ops.collectives import AllGatherOp, CollectivePermuteOp, PartitionIdOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.elementwise import AddOp, AndOp, ClampOp, CompareOp, SelectOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.types import PRED, S32, Array, array, sizes_of
from xla_dialect.xdsl.linking import insert_before

OperationT = TypeVar("OperationT", bound=XlaOp)
CHANNEL = IntegerAttr(1, i64)
"""With a channel, ids are those of partitions."""


def array_type(value: SSAValue) -> Array:
    """The type of a value that is an array."""
    return cast(Array, value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a value that is an array."""
    return sizes_of(array_type(value))


@dataclass(eq=False)
class LocalBuilder:
    """Puts operations before another, with its location."""

    mesh: MeshAtoms
    anchor: Operation
    keys: StructuralKeys = field(default_factory=StructuralKeys)
    heads: dict[Block, Operation] = field(default_factory=dict[Block, Operation])
    """The operation of a block before which there is what is made once."""
    _made: dict[tuple[Block, object], SSAValue] = field(
        default_factory=dict[tuple[Block, object], SSAValue]
    )
    _sent: dict[Hashable, list[CollectivePermuteOp]] = field(
        default_factory=dict["Hashable", list[CollectivePermuteOp]]
    )
    _known: dict[Block, KnownOperations] = field(default_factory=dict[Block, KnownOperations])

    def insert(self, op: OperationT) -> OperationT:
        """Inserts an operation before the anchor, unless an equal one is there: returns that."""
        block = self.anchor.parent
        assert block is not None
        if is_pure(op):
            known = self._known.setdefault(block, KnownOperations(self.keys))
            equal = cast(OperationT, known.first_equal(op))
            is_first = self.anchor is self.heads.get(block)
            if equal is not op and (not is_first or equal.is_before_in_block(self.anchor)):
                op.drop_all_references()
                return equal
        return insert_before(op, self.anchor)

    def emit(
        self,
        op_class: type[XlaOp],
        *operands: SSAValue | Sequence[SSAValue],
        **properties: Any,
    ) -> SSAValue:
        """The result of a new operation, its type inferred."""
        return self.insert(op_class(*operands, **properties)).results[0]

    def constant(self, values: Any) -> SSAValue:
        """A constant of a numpy array, s32 for integers of Python."""
        data = np.asarray(values)
        data = data.astype(np.int32) if isinstance(values, int | list) else data
        key = data.dtype.str, data.shape, data.tobytes()
        return self._once(
            key, lambda: self.insert(ConstantOp.make((), {"value": from_numpy(data)})).result
        )

    def scalar(self, number: float, element_type: Attribute) -> SSAValue:
        """A constant of rank 0."""
        return self.constant(np.asarray(number).astype(numpy_dtype(element_type)))

    def _once(self, key: object, make: Callable[[], SSAValue]) -> SSAValue:
        """A value made at most once in a block, before its first operation."""
        block = self.anchor.parent
        assert block is not None
        found = self._made.get((block, key))
        if found is None:
            anchor, self.anchor = self.anchor, self.heads.get(block, self.anchor)
            found = self._made[block, key] = make()
            self.anchor = anchor
        return found

    def by_partition(self, numbers: Sequence[int]) -> SSAValue:
        """The number, s32 of rank 0, that a table by partition has for this one."""
        if len(set(numbers)) == 1:
            return self.constant(int(numbers[0]))

        def look_up() -> SSAValue:
            table = self.insert(
                ConstantOp.make((), {"value": from_numpy(np.array(numbers, np.int32))})
            ).result
            here = self._once("partition", lambda: self.emit(PartitionIdOp))
            found = self.emit(movement.DynamicSliceOp, table, [here], dynamic_slice_sizes=[1])
            return self.reshape(found, ())

        return self._once(("by_partition", tuple(numbers)), look_up)

    def by_block(self, atoms: Atoms, numbers: Sequence[int]) -> SSAValue:
        """The number for the block, of those that atoms make, which is this partition's."""
        return self.by_partition([numbers[block] for block in self.mesh.blocks(atoms)])

    def begin_of_block(self, atoms: Atoms, block: int) -> SSAValue:
        """Where this partition's part of a dimension begins that atoms cut into blocks."""
        return self.by_block(atoms, [q * block for q in range(self.mesh.parts(atoms))])

    def reshape(self, value: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """The value with other sizes."""
        type_ = array(array_type(value).element_type, sizes)
        return self.insert(movement.ReshapeOp.make([value], {}, result_types=[type_])).results[0]

    def splat(self, scalar: SSAValue, sizes: Sequence[int]) -> SSAValue:
        """A scalar everywhere."""
        type_ = array(array_type(scalar).element_type, sizes)
        if not sizes:
            return scalar
        op = movement.BroadcastOp.make([scalar], {}, result_types=[type_])
        return self.insert(op).results[0]

    def broadcast(
        self, value: SSAValue, dimensions: Sequence[int], sizes: Sequence[int]
    ) -> SSAValue:
        """The value, whose dimensions become these of the result, along all others."""
        type_ = array(array_type(value).element_type, sizes)
        properties = {"dimensions": integer_list(dimensions)}
        op = movement.BroadcastOp.make([value], properties, result_types=[type_])
        return self.insert(op).results[0]

    def indices(self, sizes: Sequence[int], d: int) -> SSAValue:
        """s32 positions along a dimension."""
        properties = {"iota_dimension": IntegerAttr(d, i64)}
        op = IotaOp.make((), properties, result_types=[array(S32, sizes)])
        return self.insert(op).result

    def compare(self, lhs: SSAValue, direction: ComparisonDirection, rhs: SSAValue) -> SSAValue:
        """Elementwise; the right side may be a scalar."""
        sizes = shape_of(lhs)
        if shape_of(rhs) != sizes:
            rhs = self.splat(rhs, sizes)
        return self.emit(CompareOp, lhs, rhs, direction=direction)

    def both(self, lhs: SSAValue | None, rhs: SSAValue) -> SSAValue:
        """The logical and, or the second where there is no first."""
        return rhs if lhs is None else self.emit(AndOp, lhs, rhs)

    def select(self, mask: SSAValue, value: SSAValue, fill: SSAValue) -> SSAValue:
        """The value where the mask holds, else a scalar."""
        return self.emit(SelectOp, mask, value, self.splat(fill, shape_of(value)))

    def masked(
        self, value: SSAValue, d: int, start: SSAValue, size: int, fill: SSAValue
    ) -> SSAValue:
        """Elements whose position, `start` and on, is none below `size`, become `fill`."""
        sizes = shape_of(value)
        position = self.plus(self.indices(sizes, d), start)
        below = self.compare(position, ComparisonDirection.LT, self.constant(size))
        above = self.compare(position, ComparisonDirection.GE, self.constant(0))
        return self.select(self.both(above, below), value, fill)

    def without_tail(self, value: SSAValue, here: BlockedDimension, fill: SSAValue) -> SSAValue:
        """What is behind the end of the whole array, in its last blocks, becomes `fill`."""
        if here.size % here.parts == 0:
            return value
        begin = self.begin_of_block(here.atoms, here.block)
        return self.masked(value, here.d, begin, here.size, fill)

    def inside(self, position: SSAValue, size: int) -> SSAValue:
        """Whether positions, s32 of any rank, are those of elements."""
        above = self.compare(position, ComparisonDirection.GE, self.constant(0))
        below = self.compare(position, ComparisonDirection.LT, self.constant(size))
        return self.emit(AndOp, above, below)

    def plus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The sum; the right side may be a scalar."""
        return self.emit(AddOp, lhs, self.splat(rhs, shape_of(lhs)))

    def slice(self, value: SSAValue, d: int, start: int, limit: int, stride: int = 1) -> SSAValue:
        """A part along one dimension."""
        sizes = shape_of(value)
        if (start, limit, stride) == (0, sizes[d], 1):
            return value
        rank = len(sizes)
        starts, limits, strides = [0] * rank, list(sizes), [1] * rank
        starts[d], limits[d], strides[d] = start, limit, stride
        return self.emit(
            movement.SliceOp,
            value,
            start_indices=starts,
            limit_indices=limits,
            strides=strides,
        )

    def pad(
        self,
        value: SSAValue,
        d: int,
        low: int,
        high: int,
        fill: SSAValue | None = None,
        interior: int = 0,
    ) -> SSAValue:
        """With elements before, behind and between; zeros unless said otherwise."""
        if not (low or high or interior):
            return value
        if fill is None:
            fill = self.scalar(0, array_type(value).element_type)
        rank = len(shape_of(value))
        edges = [0] * rank, [0] * rank, [0] * rank
        edges[0][d], edges[1][d], edges[2][d] = low, high, interior
        return self.emit(
            movement.PadOp,
            value,
            fill,
            edge_padding_low=edges[0],
            edge_padding_high=edges[1],
            interior_padding=edges[2],
        )

    def clamped_indices(self, indices: SSAValue, last: int, first: int = 0) -> SSAValue:
        """Integers of any type as s32, those outside of `first` to `last` at the nearer end."""
        element_type = array_type(indices).element_type
        info = ml_dtypes.iinfo(numpy_dtype(element_type))
        low = self.scalar(max(first, int(info.min)), element_type)
        high = self.scalar(min(last, int(info.max)), element_type)
        return self.convert(self.emit(ClampOp, low, indices, high), S32)

    def convert(self, value: SSAValue, element_type: Attribute) -> SSAValue:
        """The value with another element type."""
        if array_type(value).element_type == element_type:
            return value
        type_ = array(element_type, shape_of(value))
        return self.insert(ConvertOp.make([value], {}, result_types=[type_])).results[0]

    def cut(self, value: SSAValue, d: int, start: SSAValue, length: int) -> SSAValue:
        """A part along one dimension, from a place of this partition."""
        sizes = list(shape_of(value))
        zero = self.constant(0)
        starts = [start if e == d else zero for e in range(len(sizes))]
        sizes[d] = length
        return self.emit(movement.DynamicSliceOp, value, starts, dynamic_slice_sizes=sizes)

    def concatenate(self, values: Sequence[SSAValue], d: int) -> SSAValue:
        """Values behind each other."""
        if len(values) == 1:
            return values[0]
        return self.emit(movement.ConcatenateOp, list(values), dimension=d)

    def all_gather(self, value: SSAValue, d: int, atoms: Atoms) -> SSAValue:
        """The blocks of all devices along atoms, behind each other."""
        groups = self.mesh.groups(atoms)
        sizes = list(shape_of(value))
        sizes[d] *= self.mesh.parts(atoms)
        op = AllGatherOp.make(
            [value],
            {**grouped(groups), **GLOBAL, "dimension": IntegerAttr(d, i64)},
            result_types=[array(array_type(value).element_type, sizes)],
        )
        return self.insert(op).results[0]

    def permute(self, value: SSAValue, pairs: Sequence[tuple[int, int]]) -> SSAValue:
        """What the source of a pair has; zeros where this partition is no target."""
        properties = {"source_target_pairs": _pairs(pairs), "channel_id": CHANNEL}
        return self.insert(CollectivePermuteOp.make([value], properties)).results[0]

    def part_of_others(
        self, value: SSAValue, d: int, span: tuple[int, int], pairs: Sequence[tuple[int, int]]
    ) -> SSAValue:
        """
        A part of what the source of a pair has; anything where this partition is no target.

        Where others are sent the same part already, these are sent it by the same permute.
        """
        known = self._sent.setdefault((self.anchor.parent, value, d, *span), [])
        for op in known:
            there = op.source_target_pairs.data.pairs
            both = sorted({*there, *pairs})
            if len(both) == len({source for source, _ in both}) == len({to for _, to in both}):
                op.properties["source_target_pairs"] = _pairs(both)
                return op.results[0]
        found = self.permute(self.slice(value, d, *span), pairs)
        known.append(cast(CollectivePermuteOp, found.owner))
        return found


def _pairs(pairs: Iterable[tuple[int, int]]) -> SourceTargetPairsAttr:
    return SourceTargetPairsAttr(SourceTargetPairs(tuple(pairs)))


def grouped(groups: ReplicaGroups) -> Mapping[str, Attribute]:
    """The properties of a collective of groups of partitions."""
    return {"replica_groups": ReplicaGroupsAttr(groups), "channel_id": CHANNEL}


GLOBAL: Mapping[str, Attribute] = {
    "use_global_device_ids": IntegerAttr(1, cast(Any, PRED)),
}
"""Ids of groups are those of processes: partitions, as there are no replicas."""


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
    end: int | None = None
    """Where in the array the last element is followed by what nobody needs; its size if None."""


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
    value: SSAValue,
    here: BlockedDimension,
    move: RemotePart,
    fill: SSAValue | None = None,
) -> SSAValue:
    """
    For the device of block q the elements `starts[q]` to `starts[q] + length` of the whole array.

    Elements outside of the array are `fill`, or anything where that is None.
    """
    pieces, starts, length = _pieces(here, move), move.starts, move.length
    if _permuted(pieces) > _gathered(here):
        found, base = b.all_gather(value, here.d, here.atoms), [0] * here.parts
    elif pieces:
        parts = [_received(b, value, here, piece) for piece in pieces]
        found = b.concatenate(parts, here.d)
        first = pieces[0]
        base = [(q + first.delta) * here.block + first.low for q in range(here.parts)]
    else:
        found, base = b.slice(value, here.d, 0, 0), [0] * here.parts
    offsets = [start - at for start, at in zip(starts, base, strict=True)]
    if len(set(offsets)) > 1:
        end = _end(here, move)
        offsets = [_nearest(o, s, end, length) for o, s in zip(offsets, starts, strict=True)]
    low = max(0, -min(offsets))
    high = max(0, max(offsets) + length - shape_of(found)[here.d])
    found = b.pad(found, here.d, low, high)
    if len(set(offsets)) == 1:
        found = b.slice(found, here.d, offsets[0] + low, offsets[0] + low + length)
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


def _end(here: BlockedDimension, move: RemotePart) -> int:
    return here.size if move.end is None else min(move.end, here.size)


def _nearest(offset: int, start: int, end: int, length: int) -> int:
    """Where nothing of the array is needed it does not matter what is read."""
    return 0 if start >= end or start + length <= 0 else offset


def _pieces(here: BlockedDimension, move: RemotePart) -> list[_Piece]:
    """What has to be received, so that all of it is one run of elements."""
    block = here.block
    needs: dict[int, list[tuple[int, int, int]]] = {}
    for q, start in enumerate(move.starts):
        first, end = max(start, 0), min(start + move.length, _end(here, move))
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


def _received(b: LocalBuilder, value: SSAValue, here: BlockedDimension, piece: _Piece) -> SSAValue:
    span = piece.low, piece.high
    if not piece.delta:
        return b.slice(value, here.d, *span)
    pairs = [
        (group[q + piece.delta], group[q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in piece.receivers
    ]
    return b.part_of_others(value, here.d, span, pairs)


def mirrored(b: LocalBuilder, value: SSAValue, here: BlockedDimension) -> SSAValue:
    """The blocks in opposite order, the elements of each as they are."""
    pairs = [
        (group[q], group[here.parts - 1 - q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in range(here.parts)
    ]
    return b.permute(value, pairs)


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
        spread = division.spread(factors, self.divided)
        counts = map(division.mesh.parts, spread.dimensions)
        return tuple(ceil_div(n, k) for n, k in zip(sizes, counts, strict=True))

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
    operands: Sequence[SSAValue]
    """What this device has of the operands."""
    result_types: Sequence[Attribute]
    """The types of the parts of the results."""

    def moved(
        self, moves: Iterable[RemotePart], fills: Mapping[int, SSAValue] | None = None
    ) -> list[SSAValue]:
        """The operands after these moves; `fills`: what is outside of the array, by operand."""
        found = list(self.operands)
        for move in moves:
            here, fill = self.blocked(move.operand, move.d), (fills or {}).get(move.operand)
            found[move.operand] = moved_block(self.b, found[move.operand], here, move, fill)
        return found

    def again(
        self, operands: Sequence[SSAValue], properties: Mapping[str, Attribute] | None = None
    ) -> list[SSAValue]:
        """The operation itself on these operands; it takes the computations away from the other."""
        regions = [region.clone() for region in self.op.regions]
        attributes = {k: v for k, v in self.op.attributes.items() if k not in _OF_WHOLES}
        made = type(self.op).make(
            operands,
            {**self.op.properties, **(properties or {})},
            regions,
            self.result_types,
            attributes,
        )
        made.location = self.op.location
        for mine, old in zip(made.results, self.op.results, strict=True):
            mine.name_hint = old.name_hint
        return list(self.b.insert(made).results)


Build: TypeAlias = Callable[[LocalOperation], Sequence[SSAValue]]


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


def integer_list(numbers: Sequence[int]) -> Attribute:
    """A list property."""
    return DenseArrayBase.from_list(i64, numbers)


def regular(local: LocalOperation) -> Sequence[SSAValue]:
    """The operation on parts; what is no element takes no part in what is folded."""
    return local.again(without_padding(local, local.operands))


def without_padding(local: LocalOperation, operands: Sequence[SSAValue]) -> list[SSAValue]:
    """Operands whose padding along folded factors is replaced by what changes nothing."""
    found = list(operands)
    relations = local.division.relations
    for factor in relations.of_type(FactorType.REDUCTION):
        if not local.divided.get(factor) or not is_regular(relations, factor):
            continue
        for i, d in relations.operand_places(factor):
            here = local.blocked(i, d)
            number, fold = relations.factors[factor].neutral, fold_of(local.op)
            element_type = array_type(found[i]).element_type
            if here.size % here.parts == 0:
                continue
            if number is None and fold is not None:
                fill = local.b.constant(neutral_number(fold, element_type))
            else:
                fill = local.b.scalar(number or 0, element_type)
            found[i] = local.b.without_tail(found[i], here, fill)
    return found


def has_property_sizes(local: LocalOperation, operand: int, values: Sequence[int]) -> list[int]:
    """Sizes in a property, those of whole dimensions replaced by the sizes of parts."""
    whole = local.division.operand_sizes[operand]
    parts = shape_of(local.operands[operand])
    return [
        part if value == size else value
        for value, size, part in zip(values, whole, parts, strict=True)
    ]


def sizes_of_type(type_: Attribute) -> tuple[int, ...]:
    """The sizes of an array type."""
    return sizes_of(cast(Array, type_))
