"""Reads and writes at computed places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import cast

from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.builder import XlaValue
from xla_dialect.dynamic_dimensions import whole_windows
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import BY_TYPE, ElementClass

Ints = tuple[int, ...]


def gather(rules: Rules, op: GatherOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Slices of all of a dimension have what is there of it, others have zeros for the rest."""
    operand, indices = operands
    sizes = cast(Ints, decode(op.slice_sizes))
    offsets = cast(Ints, decode(op.offset_dims))
    dropped = cast(Ints, decode(op.collapsed_slice_dims)) + cast(
        Ints, decode(op.operand_batching_dims)
    )
    window = without(range(operand.data.rank), dropped)
    counts: dict[int, XlaValue] = {}
    missing = dict(operand.sizes)
    for place, d in zip(offsets, window, strict=True):
        if d in missing and sizes[d] == operand.data.shape[d]:
            counts[place] = missing.pop(d)
    (result,) = rules.again(rules.filled(operand.data, missing), indices.data)
    batch = without(range(result.rank), offsets)
    of_indices = without(range(indices.data.rank), [cast(int, decode(op.index_vector_dim))])
    for place, d in zip(batch, of_indices, strict=True):
        if d in indices.sizes:
            counts[place] = indices.sizes[d]
    return [Sized(result, counts)]


def scatter(rules: Rules, op: ScatterOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Updates that are not there, or whose windows are not inside of what is, change nothing."""
    b, count = rules.b, len(op.inputs)
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    common = rules.common(*inputs)
    takes_place = _takes_place(rules, op, common, indices, updates)
    data = [x.data for x in inputs]
    if takes_place is None:
        found = rules.again(*data, indices.data, *(x.data for x in updates))
        return [Sized(value, common) for value in found]

    def combine(*values: XlaValue) -> Sequence[XlaValue]:
        (kept, *current), (is_there, *new) = values[: count + 1], values[count + 1 :]
        both = rules.applied(op.to_apply, *current, *new)
        found = (b.select(is_there, *pair) for pair in zip(both, current, strict=True))
        return [kept, *found]

    nothing = b.broadcast(b.constant(False), data[0].shape)
    found = b.scatter(
        [nothing, *data],
        indices.data,
        [takes_place, *(x.data for x in updates)],
        combine,
        decode(op.index_vector_dim),
        decode(op.update_window_dims),
        decode(op.inserted_window_dims),
        decode(op.scatter_dims_to_operand_dims),
        decode(op.indices_are_sorted),
        decode(op.unique_indices),
        input_batching_dims=decode(op.input_batching_dims),
        scatter_indices_batching_dims=decode(op.scatter_indices_batching_dims),
    )
    return [Sized(value, common) for value in found[1:]]


def _takes_place(
    rules: Rules,
    op: ScatterOp,
    common: Mapping[int, XlaValue],
    indices: Sized,
    updates: Sequence[Sized],
) -> XlaValue | None:
    """Which updates take place, as far as the operation itself does not say; None for all."""
    sizes = updates[0].data.shape
    window = cast(Ints, decode(op.update_window_dims))
    places = without(range(len(sizes)), window)
    of_indices = without(range(indices.data.rank), [cast(int, decode(op.index_vector_dim))])
    counts = dict(rules.common(*updates))
    for d, place in zip(of_indices, places, strict=True):
        if d in indices.sizes:
            found = [counts[place]] if place in counts else []
            counts[place] = rules.smallest([*found, indices.sizes[d]])
    conditions = [rules.inside(sizes, counts)] if counts else []
    batching = cast(Ints, decode(op.input_batching_dims))
    dropped = (*cast(Ints, decode(op.inserted_window_dims)), *batching)
    kept = without(range(len(rules.bounds(0))), dropped)
    extents = dict(zip(kept, (sizes[place] for place in window), strict=True))
    indexed = cast(Ints, decode(op.scatter_dims_to_operand_dims))
    whole = whole_windows(op).values()
    for d in (d for d in common if d not in whole):
        if d in batching:
            pairs = dict(zip(batching, decode(op.scatter_indices_batching_dims), strict=True))
            place = places[of_indices.index(pairs[d])]
            conditions.append(rules.inside(sizes, {place: common[d]}))
            continue
        room = rules.wide(common[d]) - int(extents.get(d, 1))
        if d in indexed:
            start = _signed(rules, _part(rules, op, indices.data, indexed.index(d)))
        else:
            start = rules.b.broadcast(rules.b.constant(0, "s64"), [sizes[p] for p in places])
        inside = rules.b.le(start, rules.b.broadcast(room, start.shape))
        conditions.append(rules.b.broadcast_in_dim(inside, sizes, places))
    return reduce(rules.b.and_, conditions) if conditions else None


def _part(rules: Rules, op: ScatterOp, indices: XlaValue, part: int) -> XlaValue:
    """One part of each index."""
    vector = cast(int, decode(op.index_vector_dim))
    if vector == indices.rank:
        return indices
    sizes = indices.shape
    starts, ends = [0] * len(sizes), list(sizes)
    starts[vector], ends[vector] = part, part + 1
    return rules.b.reshape(rules.b.slice(indices, starts, ends), without(sizes, [vector]))


def _signed(rules: Rules, indices: XlaValue) -> XlaValue:
    """As s64; what is larger becomes 2^63 - 1."""
    row = BY_TYPE[indices.element_type]
    if row.element_class == ElementClass.UNSIGNED and row.bits == 64:
        limit = rules.b.broadcast(rules.b.constant(2**63 - 1, "u64"), indices.shape)
        indices = rules.b.min(indices, limit)
    return rules.b.convert_element_type(indices, "s64")


RULES: Mapping[type[XlaOp], Rule] = {GatherOp: gather, ScatterOp: scatter}
