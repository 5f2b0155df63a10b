"""Building the program of one device: operations before a place, and numbers by partition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import IntegerAttr, UnknownLoc, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.attributes import ComparisonDirection
from xla_dialect.devices.replica_groups import (
    ReplicaGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.literals.arrays import from_numpy, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import data_movement as movement
from xla_dialect.ops.collectives import AllGatherOp, CollectivePermuteOp, PartitionIdOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.elementwise import AddOp, AndOp, ClampOp, CompareOp, SelectOp
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
    heads: dict[Block, Operation] = field(default_factory=dict[Block, Operation])
    """The operation of a block before which there is what is made once."""
    _made: dict[tuple[Block, object], SSAValue] = field(
        default_factory=dict[tuple[Block, object], SSAValue]
    )

    def insert(self, op: OperationT) -> OperationT:
        """Inserts an operation before the anchor."""
        if isinstance(op.location, UnknownLoc):
            op.location = self.anchor.location
        insert_before(op, self.anchor)
        return op

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
            here = self.emit(PartitionIdOp)
            found = self.emit(movement.DynamicSliceOp, table, [here], dynamic_slice_sizes=[1])
            return self.reshape(found, ())

        return self._once(("by_partition", tuple(numbers)), look_up)

    def by_block(self, atoms: Atoms, numbers: Sequence[int]) -> SSAValue:
        """The number for the block, of those that atoms make, which is this partition's."""
        return self.by_partition([numbers[block] for block in self.mesh.blocks(atoms)])

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
        attribute = SourceTargetPairsAttr(SourceTargetPairs(tuple(pairs)))
        properties = {"source_target_pairs": attribute, "channel_id": CHANNEL}
        return self.insert(CollectivePermuteOp.make([value], properties)).results[0]


def grouped(groups: ReplicaGroups) -> Mapping[str, Attribute]:
    """The properties of a collective of groups of partitions."""
    return {"replica_groups": ReplicaGroupsAttr(groups), "channel_id": CHANNEL}


GLOBAL: Mapping[str, Attribute] = {
    "use_global_device_ids": IntegerAttr(1, cast(Any, PRED)),
}
"""Ids of groups are those of processes: partitions, as there are no replicas."""
