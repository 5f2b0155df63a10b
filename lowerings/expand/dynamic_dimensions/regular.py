"""What follows from how the dimensions of an operation relate: sizes of results, what is masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import Float8E8M0FNUType

from lowerings.expand.dynamic_dimensions.sized import Rules, Sized, dynamic
from xla_dialect.builder import XlaValue
from xla_dialect.dimensions import (
    Concatenation,
    DimensionRelations,
    FactorType,
    Padding,
    Place,
    Slicing,
    Traversal,
)
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import CollectiveOp
from xla_dialect.shapes.size_arithmetic import dilated
from xla_dialect.shapes.window import WindowDimension
from xla_dialect.types import extents, is_array

NOT_COMPILED = "arrays of dynamic sizes are not compiled here"


def regular(rules: Rules, op: XlaOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The operation on what is there."""
    return with_sizes(rules, rules.again(*masked(rules)))


def with_sizes(rules: Rules, values: Iterable[XlaValue]) -> list[Sized]:
    """The results, each with those sizes that follow from sizes of the operands."""
    found: list[Sized] = []
    for number, value in enumerate(values):
        sizes = {d: _size(rules, number, d) for d in dynamic(rules.result_bounds(number))}
        found.append(Sized(value, {d: size for d, size in sizes.items() if size is not None}))
    return found


def _size(rules: Rules, result: int, dimension: int) -> XlaValue | None:
    """The size of a dimension of a result; None where it is the bound."""
    relations = rules.relations
    factors = relations.results[result][dimension]
    if len(factors) != 1:
        return None
    along = relations.factors[factors[0]].along
    places = relations.operand_places(relations.sized_as(factors[0]))
    if isinstance(along, Concatenation):
        sizes = [rules.size(rules.operands[i], d) for i, d in places]
        return sum(sizes[1:], sizes[0])
    # Operands with sizes of their own say the size where no other does.
    says = [place for place in places if place[0] not in relations.own_sizes] or places
    count = rules.counts.get(says[0]) if says else None
    follow = _FOLLOWS.get(type(along))
    return count if count is None or follow is None else follow(rules, along, count)


def _sliced(rules: Rules, along: Slicing, count: XlaValue) -> XlaValue:
    """What is there between start and limit."""
    b = rules.b
    end = b.min(count, rules.number(along.limit))
    length = b.max(end - along.start, rules.number(0))
    # Rounded up, without a sum that could overflow.
    return b.div(length, along.stride) + b.min(b.rem(length, along.stride), rules.number(1))


def _padded(rules: Rules, along: Padding, count: XlaValue) -> XlaValue:
    """With what is around and between; the parts may be far larger than their sum."""
    b, none = rules.b, rules.b.constant(0, "s64")
    gaps = b.max(rules.wide(count) - 1, none) * along.interior
    return rules.narrow(b.max(rules.wide(count) + gaps + (along.low + along.high), none))


def placements(rules: Rules, along: WindowDimension, count: XlaValue) -> XlaValue:
    """How often a window fits into a base of a size: `WindowDimension.placements` of it."""
    if not along.moves:
        return count
    b, none = rules.b, rules.b.constant(0, "s64")
    wide = rules.wide(count)
    base = b.select(wide > 0, (wide - 1) * along.base_dilation + 1, none)
    padded = base + (along.padding_low + along.padding_high)
    window = dilated(along.size, along.window_dilation)
    fits = (padded > 0) & (padded >= window)
    found = b.div(b.max(padded - window, none), along.stride) + 1
    return rules.narrow(b.select(fits, found, none))


_FOLLOWS: Mapping[type[object], Callable[[Rules, Any, XlaValue], XlaValue]] = {
    Padding: _padded,
    Slicing: _sliced,
    WindowDimension: placements,
}
"""By how an operation goes along a dimension: the size of a result's from that of an operand's."""


def masked(rules: Rules) -> list[XlaValue]:
    """
    The operands, with what has no influence in the place of what is not there, where it is met.

    It is met where it is reduced, and where a result has no dimension of that size. What changes
    nothing is what the relations say; elsewhere there are zeros.
    """
    return [_masked(rules, number) for number in range(len(rules.operands))]


def _masked(rules: Rules, number: int) -> XlaValue:
    data, relations = rules.operands[number].data, rules.relations
    met: dict[int | None, dict[int, XlaValue]] = {}
    for d, dimension in enumerate(relations.operands[number]):
        count = rules.counts.get((number, d))
        if count is None:
            continue
        neutral = [
            f.neutral
            for f in map(relations.factors.__getitem__, dimension)
            if f.neutral is not None
        ]
        if neutral or not _is_kept(rules, (number, d)):
            met.setdefault(neutral[0] if neutral else None, {})[d] = count
    for neutral, counts in met.items():
        if neutral is not None and isinstance(data.element_type, Float8E8M0FNUType):
            # It has no zero.
            data = rules.b.convert_element_type(data, "f32")
        value = np.array(neutral or 0).astype(numpy_dtype(data.element_type))
        data = rules.filled(data, counts, rules.b.constant(value))
    return data


def _is_kept(rules: Rules, place: Place) -> bool:
    """Whether results have a dimension with the size of one of an operand, and of no other."""
    relations = rules.relations
    (i, d) = place
    places = [p for factor in relations.operands[i][d] for p in relations.result_places(factor)]
    others = [j for f in relations.operands[i][d] for j, _ in relations.operand_places(f)]
    if i in relations.own_sizes and not set(others) <= set(relations.own_sizes):
        return False
    return bool(places) and all(e in dynamic(rules.result_bounds(j)) for j, e in places)


def irregularity(op: XlaOp) -> str | None:
    """Why `regular` does not apply to an operation."""
    relations = op.dimension_relations()
    if relations is None or isinstance(op, CollectiveOp):
        return NOT_COMPILED
    for i, operand in enumerate(op.operands):
        for d in dynamic(extents(operand.type)) if is_array(operand.type) else ():
            if not _is_regular(relations, (i, d)):
                return (
                    f"dimension {d} of operand {i} cannot be dynamic: no rule says what that means"
                )
    return None


def _is_regular(relations: DimensionRelations, place: Place) -> bool:
    """Whether relations tell all that there is to know of a dimension of an operand."""
    dimension = relations.operands[place[0]][place[1]]
    first, *rest = dimension or (None,)
    if first is None:
        return False
    along = relations.factors[first].along
    is_window = isinstance(along, WindowDimension) and len(rest) == 1
    reads = (
        along is None or isinstance(along, Slicing | WindowDimension) or along is Traversal.INDEXED
    )
    reductions = [
        f for f in map(relations.factors.__getitem__, dimension) if f.type is FactorType.REDUCTION
    ]
    if any(factor.neutral is None for factor in reductions):
        return False
    return reads and (not rest or is_window) and bool(reductions or relations.result_places(first))
