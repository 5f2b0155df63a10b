"""The pass `xla-combine-collectives`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.partitioning.costs import bytes_of
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass, require_at_least
from lowerings.simplify.purity import is_pure
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import AllGatherOp, AllReduceOp, CollectiveOp, ReduceScatterOp
from xla_dialect.ops.reduction import only_operation
from xla_dialect.types import Array, sizes_of
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import operands_in, operands_of, operations_in

_COMBINED = (AllGatherOp, AllReduceOp, ReduceScatterOp)


@dataclass(frozen=True)
class XlaCombineCollectivesPass(ReportingPass):
    """
    Makes one collective of small ones of the same kind and groups, which has one start instead.

    All-reduces, all-gathers and reduce-scatters that do not depend on each other, that fold by the
    same operation and go along the same dimension, become one of several operands; what depends on
    none of them is computed before. `bytes`: of operands of more bytes together there are several.

    ```
    %a = xla.all_reduce %x ...
    %b = xla.all_reduce %y ...
    // becomes
    %a, %b = xla.all_reduce %x, %y ...
    ```
    """

    name = "xla-combine-collectives"
    takes = UNLOWERED

    bytes: int = 1 << 18
    """Of all operands of one collective together, at most; larger ones stay alone."""

    def __post_init__(self) -> None:
        require_at_least(0, bytes=self.bytes)

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all blocks."""
        found = [each.parent for each in operations_in(op) if isinstance(each, _COMBINED)]
        blocks = dict.fromkeys(block for block in found if block is not None)
        return sum(_combined(block, self.bytes) for block in blocks) > 0


def _combined(block: Block, limit: int) -> bool:
    """
    Combines the collectives of a block; whether there were any.

    In each round what does not depend on a collective goes first, then the collectives, as few as
    can be; what depends on them is for the next round.
    """
    last = block.last_op
    assert last is not None
    changed = False
    for each in _rounds([op for op in block.ops if op is not last], limit):
        for op in each.others:
            _move(op, last)
        for found in each.combined.values():
            changed |= _release(found, limit, last)
    return changed


@dataclass(eq=False, slots=True)
class _Round:
    """Operations that depend on collectives of rounds before only."""

    others: list[Operation]
    combined: dict[Hashable, list[Operation]]
    """The collectives, by what they have in common."""


def _rounds(operations: Sequence[Operation], limit: int) -> Sequence[_Round]:
    """The rounds of a block's operations; those with effects stay in their order."""
    found: list[_Round] = []
    known_from: dict[SSAValue, int] = {}
    ordered = 0
    for op in operations:
        number = max((known_from.get(value, 0) for value in operands_in(op)), default=0)
        is_ordered = not isinstance(op, CollectiveOp) and not is_pure(op)
        if is_ordered:
            number = ordered = max(number, ordered)
        while len(found) <= number:
            found.append(_Round([], {}))
        key = _key(op)
        is_combined = key is not None and _bytes(op) <= limit
        if is_combined:
            found[number].combined.setdefault(key, []).append(op)
        else:
            found[number].others.append(op)
        known_from.update(dict.fromkeys(op.results, number + is_combined))
    return found


def _move(op: Operation, before: Operation) -> None:
    block = before.parent
    assert block is not None
    op.detach()
    block.insert_op_before(op, before)


def _release(found: Sequence[Operation], limit: int, before: Operation) -> bool:
    """Puts the collectives, as few as their bytes allow, before another operation."""
    groups: list[list[Operation]] = []
    for op in found:
        if groups and sum(map(_bytes, (*groups[-1], op))) <= limit:
            groups[-1].append(op)
        else:
            groups.append([op])
    for group in groups:
        if len(group) == 1 or not attempt(partial(_unite, group, before)):
            for op in group:
                _move(op, before)
    return len(groups) < len(found)


def _unite(group: Sequence[Operation], before: Operation) -> bool:
    """Makes several collectives one."""
    first = group[0]
    assert isinstance(first, XlaOp)
    operands = [value for op in group for value in operands_of(op)]
    types = [type_ for op in group for type_ in op.result_types]
    regions = [region.clone() for region in first.regions]
    made = type(first).make(operands, first.properties, regions, types)
    made.location = first.location
    insert_before(made, before)
    results = iter(made.results)
    for op in group:
        for result in op.results:
            replace_uses(result, next(results))
        erase(op)
    return True


def _bytes(op: Operation) -> int:
    return sum(bytes_of(value.type) for value in operands_of(op))


def _key(op: Operation) -> Hashable | None:
    """What collectives have in common that can be one; None for what cannot be combined."""
    if not isinstance(op, _COMBINED):
        return None
    types = [cast(Array, value.type) for value in operands_of(op)]
    properties = tuple(sorted(op.properties.items()))
    if isinstance(op, AllGatherOp):
        return type(op), properties
    computation = only_operation(op.regions[0].block)
    if computation is None or not types:
        return None
    ranks = len(sizes_of(types[0])) if isinstance(op, ReduceScatterOp) else 0
    return type(op), properties, computation, types[0].element_type, ranks
