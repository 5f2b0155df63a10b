"""What the comparators of sorts compare: keys of both places, in lexicographic order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.ops import elementwise


@dataclass(frozen=True)
class SortKey:
    """One key of a comparator's lexicographic order."""

    value: SSAValue
    """A function of one of the two places."""
    order: ComparisonType
    is_descending: bool


def sort_keys(comparator: Region) -> list[SortKey] | None:
    """
    The keys by which a comparator orders lexicographically, None if it is not known to.

    Keys are computed by operations without regions; the comparator's must be without effects.
    """
    last = comparator.block.last_op
    assert last is not None
    (returned,) = last.operands
    keys: list[SortKey] = []
    rest: SSAValue | None = returned
    while rest is not None:
        before, rest = _first_and_rest(rest, comparator.block)
        key = _key_of(before, comparator.block)
        if key is None:
            return None
        keys.append(key)
    return keys


def _first_and_rest(value: SSAValue, block: Block) -> tuple[SSAValue, SSAValue | None]:
    """`before` and `rest` of `before or (equal and rest)`, where equal compares as before does."""
    for before, other in _factors(value, elementwise.OrOp):
        for equal, rest in _factors(other, elementwise.AndOp):
            if _compares_the_same(before, equal, block):
                return before, rest
    return value, None


def _factors(value: SSAValue, op_type: type[Operation]) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Both orders of the operands of an operation of this type; nothing for any other."""
    if isinstance(value.owner, op_type):
        left, right = value.owner.operands
        yield left, right
        yield right, left


def _compares_the_same(before: SSAValue, equal: SSAValue, block: Block) -> bool:
    mine, theirs = before.owner, equal.owner
    return (
        isinstance(mine, elementwise.CompareOp)
        and isinstance(theirs, elementwise.CompareOp)
        and theirs.direction.data == ComparisonDirection.EQ
        and mine.order == theirs.order
        and any(
            all(_corresponds(a, b, block, 0) for a, b in zip(mine.operands, pair, strict=True))
            for pair in (theirs.operands, reversed(theirs.operands))
        )
    )


def _key_of(value: SSAValue, block: Block) -> SortKey | None:
    """The key of `f(place) < f(other place)` or `>`."""
    compare = value.owner
    if not isinstance(compare, elementwise.CompareOp) or compare.direction.data not in _ASCENDING:
        return None
    sides = {argument.index % 2 for argument in _arguments(compare.lhs, block)}
    if len(sides) > 1 or not _corresponds(compare.lhs, compare.rhs, block, 1):
        return None
    reads_second = sides == {1}
    return SortKey(compare.lhs, compare.order, _ASCENDING[compare.direction.data] == reads_second)


_ASCENDING = {ComparisonDirection.LT: True, ComparisonDirection.GT: False}


def _arguments(value: SSAValue, block: Block) -> list[BlockArgument]:
    """The arguments of the block that a value is computed from."""
    needed = needed_operations(value, block)
    used = [value, *(operand for op in needed for operand in op.operands)]
    return [v for v in used if isinstance(v, BlockArgument) and v.owner is block]


def needed_operations(value: SSAValue, block: Block) -> set[Operation]:
    """The operations of the block that a value is computed by."""
    found: set[Operation] = set()
    stack = [value]
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            stack.extend(owner.operands)
    return found


def _corresponds(a: SSAValue, b: SSAValue, block: Block, swap: int) -> bool:
    """Whether two values are computed alike, from the same places or (swap = 1) opposite ones."""
    seen: set[tuple[SSAValue, SSAValue]] = set()
    stack = [(a, b)]
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        mine, theirs = pair
        if isinstance(mine, BlockArgument) and mine.owner is block:
            if not isinstance(theirs, BlockArgument) or theirs.owner is not block:
                return False
            if theirs.index != mine.index ^ swap:
                return False
        elif isinstance(mine.owner, Operation) and mine.owner.parent is block:
            left, right = mine.owner, theirs.owner
            if not isinstance(right, Operation) or type(left) is not type(right):
                return False
            if left.properties != right.properties or mine.type != theirs.type or left.regions:
                return False
            stack.extend(zip(left.operands, right.operands, strict=True))
        elif mine is not theirs:
            return False
    return True
