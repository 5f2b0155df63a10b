"""What fusion says of itself on demand: groups, and why operations are in them or are not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.tensors.fusion_decisions import decision_of, named
from lowerings.tensors.fusion_graph import FusionGroup
from lowerings.tensors.fusion_plan import FusionPlan, Placement
from lowerings.tensors.fusion_reasons import FusionReason
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class FusionRemark:
    """What is said of a group, or of an operation and one of its users."""

    op: Operation
    """The first that the group stores, or the operation."""
    subject: str
    text: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.subject} {self.text}{', because ' if self.reason else ''}{self.reason}"


class FusionRemarks:
    """Numbers the groups of a module and says what they are, as MLIR's remarks."""

    def __init__(self, module: ModuleOp):
        given = (decision_of(op) for op in operations_in(module) if op.attributes)
        taken = {decision.group for decision in given if decision is not None}
        self._numbers = (number for number in count() if number not in taken)

    def number_groups(self, plan: FusionPlan) -> None:
        """Gives the groups of a block numbers that no other has; those given stay."""
        for group in plan.groups:
            if group.number is None and group.scalar is None:
                group.number = next(self._numbers)

    def print_plan(self, plan: FusionPlan) -> None:
        """Prints the remarks on a block to stderr."""
        for remark in self.on(plan):
            place = place_of(remark.op.location)
            where = "<unknown>:0" if place is None else ":".join(map(str, place))
            print(f"{where}: remark: {remark}", file=sys.stderr)

    def on(self, plan: FusionPlan) -> Iterator[FusionRemark]:
        """Each group of a block, before what is said of the nodes that it stores or computes."""
        self.number_groups(plan)
        for group in plan.groups:
            if group.scalar is None:
                stored = ", ".join(named(node.op) for node, _ in reversed(group.roots))
                yield FusionRemark(group.roots[0][0].op, _title(group), f"stores {stored}")
        for placement in reversed(plan.placements):
            for text, reason in _reasons(plan, placement):
                op = placement.node.op
                yield FusionRemark(op, named(op), text, reason)


def _reasons(plan: FusionPlan, placement: Placement) -> Iterator[tuple[str, str]]:
    """Whether an operation and each of its users are in one group, and why."""
    group, inlining = placement.group, placement.inlining
    users = _sorted(user for user, _ in placement.demand.places)
    if group is None:
        for user in users:
            yield f"is computed in {_title(user)}", inlining.value
        return
    if placement.storing is not None:
        yield f"is stored by {_title(group)}", placement.storing.value
    refusals = dict(placement.refusals)
    for user in _sorted((*users, *refusals)):
        if user is group:
            continue
        against = [inlining] if user in users else list[FusionReason]()
        if user in refusals and refusals[user] not in against:
            against.append(refusals[user])
        why = ", and ".join(reason.value for reason in against)
        yield f"is not fused into {_title(user)}", why
    for position in dict.fromkeys(placement.demand.reader_positions):
        reader = named(plan.operations[position])
        yield f"is read by {reader}, which is not fused", ""


def _sorted(groups: Iterable[FusionGroup]) -> list[FusionGroup]:
    """Groups in the order of the block, each once."""
    return sorted(set(groups), key=lambda group: group.position)


def _title(group: FusionGroup) -> str:
    """A group by its number, the read of an element by its name."""
    return f"group {group.number}" if group.scalar is None else named(group.scalar)
