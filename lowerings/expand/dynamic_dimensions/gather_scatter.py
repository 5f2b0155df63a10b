"""Reads and writes at computed places."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import cast

from lowerings.expand.dynamic_dimensions.regular import regular, with_sizes
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.builder import XlaValue
from xla_dialect.op import Ints, decode
from xla_dialect.ops.dynamic_shapes import whole_windows
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import BY_TYPE, ElementClass
from xla_dialect.xdsl.operation_table import OperationTable


def scatter(rules: Rules, op: ScatterOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Updates that are not there, or whose windows are not inside of what is, change nothing."""
    b, count = rules.b, len(op.inputs)
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    takes_place = _takes_place(rules, op, indices, updates)
    data = [x.data for x in inputs]
    if takes_place is None:
        return with_sizes(rules, rules.again(*data, indices.data, *(x.data for x in updates)))

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
    return with_sizes(rules, found[1:])


def _takes_place(
    rules: Rules,
    op: ScatterOp,
    indices: Sized,
    updates: Sequence[Sized],
) -> XlaValue | None:
    """Which updates take place, as far as the operation itself does not say; None for all."""
    sizes = updates[0].data.shape
    window = cast(Ints, decode(op.update_window_dims))
    places = without(range(len(sizes)), window)
    of_indices = without(range(indices.data.rank), [cast(int, decode(op.index_vector_dim))])
    common, counts = rules.counted(0), rules.counted(len(op.inputs) + 1)
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


RULES = OperationTable[Rule]().add(GatherOp, regular).add(ScatterOp, scatter)
