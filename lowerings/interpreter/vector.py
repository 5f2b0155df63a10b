"""`vector`: vectors of one dimension, the last axis of their arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, TensorType, VectorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from lowerings.dialects.vector_extension import GatherOp, ScatterOp
from lowerings.interpreter.arith import (
    maximum_number,
    minimum_number,
)
from lowerings.interpreter.elements import (
    Element,
    Number,
    element_of,
    is_vector,
    require_inside,
    where,
)
from lowerings.interpreter.machine import Dialect, Function, ValueMaker, of_one
from lowerings.interpreter.memory import Memref
from lowerings.interpreter.multiply_add import multiply_add
from lowerings.interpreter.views import named
from xla_dialect.diagnostics import XlaError
from xla_dialect.reference.elementwise import maximum, minimum
from xla_dialect.xdsl.operation_table import OperationTable


def lanes_of(value: SSAValue) -> int:
    """The number of lanes of a vector; raises XlaError if it has several dimensions."""
    type_ = value.type
    if not isinstance(type_, VectorType) or type_.get_num_dims() != 1:
        raise XlaError(f"only vectors of one dimension are interpreted, not {type_}")
    if type_.get_num_scalable_dims():
        raise XlaError(f"scalable vectors are not interpreted: {type_}")
    return type_.get_shape()[0]


def lane_axis(number: Number) -> Number:
    """A number for each lane of a vector, all the same."""
    return number[..., None] if np.ndim(number) else number


# Memory


def _places(
    memory: Memref, indices: Sequence[Number], distances: Number, mask: Number | None, what: str
) -> tuple[Number, ...]:
    """
    The indices of each lane: the last one moves by the distances. Lanes of a mask must be inside,
    others are at 0.
    """
    sizes = memory.array.shape
    if mask is None:
        require_inside(indices, sizes, what, len(distances))
    *outer, last = indices
    places = (*map(lane_axis, outer), lane_axis(last) + distances)
    if mask is not None:
        places = tuple(where(mask, place, 0) for place in places)
        require_inside(places, sizes, what)
    return places


def _with_dimension(memory: Memref, indices: Sequence[Number]) -> tuple[Memref, Sequence[Number]]:
    """Memory of rank 0 as one dimension."""
    if indices:
        return memory, indices
    return replace(memory, array=memory.array.reshape(1)), (np.int64(0),)


def read(
    source: Memref,
    indices: Sequence[Number],
    distances: Number,
    what: str,
    mask: Number | None = None,
    otherwise: Number = None,
) -> Number:
    """The elements that the lanes of a mask read, and the pass-through values of the others."""
    if mask is not None and not np.any(mask):
        return np.array(otherwise)
    source, indices = _with_dimension(source, indices)
    places = _places(source, indices, distances, mask, what)
    found = source.element.loaded(source.array[places])
    return found if mask is None else where(mask, found, otherwise)


def write(
    values: Number,
    target: Memref,
    indices: Sequence[Number],
    distances: Number,
    what: str,
    mask: Number | None = None,
) -> None:
    """Writes the lanes of a mask, the last one where several write the same element."""
    if mask is not None and not np.any(mask):
        return
    target, indices = _with_dimension(target, indices)
    places = _places(target, indices, distances, mask, what)
    if mask is None:
        target.put(places, values, len(distances))
        return
    *places, kept, values = np.broadcast_arrays(*places, np.asarray(mask), values)
    target.put([place[kept] for place in places], values[kept])


def load(op: vector.LoadOp | vector.MaskedLoadOp | GatherOp) -> Function:
    """Elements at distances from an index along the last dimension, those of neighbours if none."""
    what, lanes, count = named(op.base), np.arange(lanes_of(op.results[0])), _index_count(op.base)

    def run(source: Memref, *rest: Number) -> Number:
        *distances, mask, otherwise = rest[count:] or (None, None)
        (places,) = distances or (lanes,)
        return read(source, rest[:count], places, what, mask, otherwise)

    return run


def store(op: vector.StoreOp) -> Function:
    """Writes neighbours along the last dimension."""
    what, lanes = named(op.base), np.arange(lanes_of(op.vector))

    def run(values: Number, target: Memref, *indices: Number) -> None:
        write(values, target, indices, lanes, what)

    return run


def scatter(op: vector.MaskedStoreOp | ScatterOp) -> Function:
    """Writes elements at distances from an index along the last dimension, as `load` reads."""
    what, lanes = named(op.base), np.arange(lanes_of(op.operands[-1]))
    count = _index_count(op.base)

    def run(target: Memref, *rest: Number) -> None:
        *distances, mask, values = rest[count:]
        (places,) = distances or (lanes,)
        write(values, target, rest[:count], places, what, mask)

    return run


def _index_count(memory: SSAValue) -> int:
    return cast("MemRefType[Any]", memory.type).get_num_dims()


# Lanes


def create_mask(op: vector.CreateMaskOp) -> Function:
    """The first lanes on."""
    lanes = np.arange(lanes_of(op.results[0]))
    return of_one(lambda count: lanes < lane_axis(count))


def broadcast(op: vector.BroadcastOp) -> Function:
    """A number in every lane."""
    count = lanes_of(op.results[0])
    if is_vector(op.source.type):
        return of_one(lambda values: np.broadcast_to(values, (*values.shape[:-1], count)))

    def run(number: Number) -> Number:
        return np.repeat(np.asarray(number)[..., None], count, axis=-1)

    return run


def _position(op: vector.ExtractOp | vector.InsertOp, dynamic: Sequence[Number]) -> Number:
    (static,) = op.static_position.get_values()
    return dynamic[0] if static == DYNAMIC_INDEX else static


def extract(op: vector.ExtractOp) -> Function:
    """The number in a lane."""
    count = lanes_of(op.vector)

    def run(values: Number, *dynamic: Number) -> Number:
        position = _position(op, dynamic)
        require_inside((position,), (count,), "a vector")
        if np.ndim(position):
            each = np.broadcast_to(values, (*np.shape(position), count))
            return np.take_along_axis(each, position[..., None], axis=-1)[..., 0]
        return values[..., position]

    return run


def insert(op: vector.InsertOp) -> Function:
    """The vector with the number in a lane replaced."""
    count = lanes_of(op.dest)
    lanes = np.arange(count)

    def run(number: Number, values: Number, *dynamic: Number) -> Number:
        position = _position(op, dynamic)
        require_inside((position,), (count,), "a vector")
        return where(lanes == lane_axis(position), lane_axis(number), values)

    return run


def shuffle(op: vector.ShuffleOp) -> Function:
    """Lanes of two vectors, by number; -1 is a lane of any content."""
    lanes_of(op.v1)
    chosen = np.array([max(int(lane), 0) for lane in op.mask.get_values()])

    def run(first: Number, second: Number) -> Number:
        axes = np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
        both = [np.broadcast_to(v, (*axes, v.shape[-1])) for v in (first, second)]
        return np.concatenate(both, axis=-1)[..., chosen]

    return run


def bitcast(op: vector.BitcastOp) -> Function:
    """The same bits as elements of another width."""
    source, target = element_of(op.source.type), element_of(op.result.type)
    if not (source.is_whole and target.is_whole):
        raise XlaError(f"the bits of {op.source.type} as {op.result.type} are not interpreted")
    return of_one(lambda values: np.ascontiguousarray(values).view(target.dtype))


# Reductions

_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": np.minimum,
    "maxui": np.maximum,
    "minimumf": minimum,
    "maximumf": maximum,
    "minnumf": minimum_number,
    "maxnumf": maximum_number,
}


def reduction(op: vector.ReductionOp) -> Function:
    """All lanes folded, one after the other, onto the accumulator if there is one."""
    kind, element = str(op.kind.data), element_of(op.vector.type)
    count, combine = lanes_of(op.vector), _KINDS[kind]
    read, write = _representation(kind, element)

    def run(values: Number, *accumulator: Number) -> Number:
        lanes = read(values)
        total = read(accumulator[0]) if accumulator else lanes[..., 0]
        for lane in range(0 if accumulator else 1, count):
            total = combine(total, lanes[..., lane])
        return write(total)

    return run


def _representation(kind: str, element: Element) -> tuple[Function, Function]:
    """How numbers are read before they are folded, and what the total becomes."""
    if not element.is_integer:
        wide = np.result_type(element.dtype, np.float32)
        return of_one(lambda x: x.astype(wide)), of_one(lambda x: x.astype(element.dtype))
    return (element.unsigned if kind.endswith("ui") else element.signed), element.wrapped


# Transfers


def _transfer(op: vector.TransferReadOp | vector.TransferWriteOp) -> bool:
    """Whether the transfer stays inside; raises XlaError where it permutes."""
    rank = cast("MemRefType[Any] | TensorType[Any]", op.source.type).get_num_dims()
    permutation = op.permutation_map.data
    if permutation.results != (AffineDimExpr(rank - 1),):
        raise XlaError(f"only transfers along the last dimension, not {permutation}")
    if not isinstance(op.source.type, MemRefType):
        raise XlaError(f"only transfers from and to memory, not {op.source.type}")
    (in_bounds,) = op.in_bounds.data
    return bool(in_bounds.value.data)


def _transfer_mask(
    memory: Memref, indices: Sequence[Number], lanes: Number, inside: bool, mask: Sequence[Number]
) -> Number:
    found = np.ones(lanes.shape, np.bool_) if not mask else mask[0]
    return found if inside else found & (lane_axis(indices[-1]) + lanes < memory.array.shape[-1])


def transfer_read(op: vector.TransferReadOp) -> Function:
    """Neighbours along the last dimension; padding for what lies outside."""
    inside, what, rank = _transfer(op), named(op.source), len(op.indices)
    lanes = np.arange(lanes_of(op.result))

    def run(source: Memref, *rest: Number) -> Number:
        indices, padding, mask = rest[:rank], rest[rank], rest[rank + 1 :]
        kept = _transfer_mask(source, indices, lanes, inside, mask)
        otherwise = np.broadcast_to(lane_axis(padding), np.shape(kept))
        return read(source, indices, lanes, what, kept, otherwise)

    return run


def transfer_write(op: vector.TransferWriteOp) -> Function:
    """Writes neighbours along the last dimension, but for what lies outside."""
    inside, what, rank = _transfer(op), named(op.source), len(op.indices)
    lanes = np.arange(lanes_of(op.vector))

    def run(values: Number, target: Memref, *rest: Number) -> None:
        indices, mask = rest[:rank], rest[rank:]
        kept = _transfer_mask(target, indices, lanes, inside, mask)
        write(values, target, indices, lanes, what, kept)

    return run


VALUES = (
    OperationTable[ValueMaker]()
    .add(vector.BitcastOp, bitcast)
    .add(vector.BroadcastOp, broadcast)
    .add(vector.CreateMaskOp, create_mask)
    .add(vector.ExtractOp, extract)
    .add(vector.FMAOp, lambda _op: multiply_add)
    .add(vector.InsertOp, insert)
    .add((vector.LoadOp, vector.MaskedLoadOp, GatherOp), load)
    .add(vector.ReductionOp, reduction)
    .add((vector.MaskedStoreOp, ScatterOp), scatter)
    .add(vector.ShuffleOp, shuffle)
    .add(vector.StoreOp, store)
    .add(vector.TransferReadOp, transfer_read)
    .add(vector.TransferWriteOp, transfer_write)
)

VECTOR = Dialect(VALUES, {})
