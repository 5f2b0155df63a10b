"""
Which operations are computed together, which are computed again where they are used, and why.

Remarks say so on demand: groups, and the reasons for which operations are in them or are not.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from math import prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from lowerings.dialects.schedule import schedule_of
from lowerings.tensors.constants import constant_of, exact_reciprocal
from lowerings.tensors.fusion_decisions import (
    ALONE,
    INLINE,
    FusionDecision,
    FusionError,
    decision_of,
    named,
)
from lowerings.tensors.fusion_graph import (
    CHEAP,
    DIVISION,
    FusionGroup,
    Node,
    ReindexedView,
    node_of,
    view_of,
)
from lowerings.tensors.indices import Indices, compose, identity, is_permutation, loops_of
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import operations_in

FEW_ELEMENTS = 4
"""
To read so many again takes less than to wait for them, when they were stored a moment before; so
their tensors do not count.
"""


def origin_of(
    value: SSAValue,
    indices: Indices,
    nodes: Mapping[Operation, Node],
    views: Mapping[Operation, ReindexedView],
) -> tuple[SSAValue, Indices]:
    """What an input of a node is, seen through views and data movement, and where it is read."""
    while isinstance(value, OpResult):
        view, node = views.get(value.op), nodes.get(value.op)
        if view is not None:
            value, indices = view.source, view.transform(indices)
        elif node is not None and node.moves_only:
            value, inner = node.inputs[0]
            indices = compose(inner, indices)
        else:
            break
    return value, indices


def estimate_recomputation(
    node: Node, nodes: Mapping[Operation, Node], views: Mapping[Operation, ReindexedView]
) -> None:
    """
    Fills in cost, recomputation and tensors of a node, after those of all nodes before it.

    Elementwise producers of the same size are computed along with the node, to any depth;
    everything else is read. Divisions by powers of two will be multiplications.
    """
    origins = [origin_of(value, indices, nodes, views) for value, indices in node.inputs]
    node.cost -= sum(
        DIVISION - CHEAP
        for op in node.op.body.block.ops
        if type(op) is arith.DivfOp
        and isinstance(op.rhs, BlockArgument)
        and op.rhs.index < len(origins)
        and exact_reciprocal(constant_of(origins[op.rhs.index][0])) is not None
    )
    node.recomputation = node.cost
    size = prod(node.sizes)
    tensors: set[SSAValue] = set()
    for value, indices in origins:
        if constant_of(value) is not None:
            continue
        owner = value.owner
        producer = nodes.get(owner) if isinstance(owner, Operation) else None
        if producer is not None and producer.is_pointwise and prod(producer.sizes) == size:
            node.recomputation += producer.recomputation
            tensors |= producer.tensors
        elif FEW_ELEMENTS < size == prod(node.sizes[loop] for loop in loops_of(indices)):
            tensors.add(value)
    node.tensors = frozenset(tensors)


MAX_DUPLICATED_COST = 12
"""Up to this cost an element is computed again rather than stored and read."""

MAX_GROUP_SIZE = 256
"""Scalar operations in a body; more would only spill registers."""

MAX_ROOTS = 8
"""Tensors that one operation writes."""

MIN_REUSE = 8
"""How often an expensive value must be used in inner loops to be worth computing in outer ones."""


class FusionReason(Enum):
    """A reason; its value is what remarks and errors say after `because`."""

    # To compute it in the bodies of its users.
    MOVES_DATA = "it moves data only"
    COMPUTED_ONCE = "that computes every element once, or once for all inner loops"
    CHEAP_FOR_ONE = f"it costs at most {MAX_DUPLICATED_COST} and one operation uses it"
    CHEAP_FOR_ALL = (
        f"to compute it again costs at most {MAX_DUPLICATED_COST} and reads at most one tensor"
    )
    # To store it beside the results of another operation.
    STORED_BY_USER = "that operation reads it and has the same loops"
    STORED_BY_SIBLING = "that operation reads the same tensor in the same loops"
    # For both.
    GIVEN = "it is so decided"

    # Against computing it in its users, whatever is decided.
    NOT_ELEMENTWISE = "its elements are complete only after its loops"
    NEEDED_IN_MEMORY = "an operation that is not fused needs it in memory"
    # Against computing it there, unless decided.
    CONTRACTION_TAKES_MOVES = "a contraction takes nothing but data movement"
    RECOMPUTATION = (
        f"to compute it again costs more than {MAX_DUPLICATED_COST}, or reads several tensors"
    )
    # Against storing it there, whatever is decided.
    IS_CONTRACTION = "a contraction has loops of its own"
    NO_LOOPS = "that reads a single element"
    USED_BEFORE = "another operation uses it before"
    SPACES_DIFFER = "the iteration spaces differ"
    SEVERAL_PLACES = "that reads several of its elements in an iteration"
    # Against storing it there, unless decided.
    TRANSPOSED = "it would be stored with strides"
    TOO_MANY_RESULTS = f"an operation writes at most {MAX_ROOTS} tensors"
    # Against either.
    ALONE = "one of them is to be alone"
    TOO_LARGE = f"a body has at most {MAX_GROUP_SIZE} operations"


@dataclass
class Demand:
    """The uses of a node's results."""

    places: dict[tuple[FusionGroup, Indices], None] = field(
        default_factory=dict["tuple[FusionGroup, Indices]", None]
    )
    """The groups that can compute the node inline, and at which indices."""
    reader_positions: list[int] = field(default_factory=list[int])
    """Positions of the users that need the result as a tensor in memory."""


@dataclass
class Placement:
    """What became of a node, and why."""

    node: Node
    demand: Demand
    inlining: FusionReason
    """Why its users compute it, or why they do not."""
    group: FusionGroup | None = None
    """What stores it; None where its users compute it."""
    storing: FusionReason | None = None
    """Why that group does, if it has loops of its own for another node."""
    refusals: list[tuple[FusionGroup, FusionReason]] = field(
        default_factory=list["tuple[FusionGroup, FusionReason]"]
    )
    """The groups that might have stored it, and why they do not."""


class FusionPlan:
    """
    The groups of a block: as the attributes of its operations say, for the others as it pays.

    Nodes are visited from last to first, so that all users of a node have a group. A node without
    other uses is computed inside of its users, unless that would repeat expensive work; else it is
    stored, by the group of a user with the same loops if there is one, or by a group of its own.
    A group runs where its last node stood: whatever it reads comes before.
    """

    def __init__(self, block: Block, only: Collection[Operation] | None = None):
        """`only`: the nodes; None for all but those with a schedule, which is for them alone."""
        self.block = block
        self.positions: dict[Operation, int] = {}
        self.nodes: dict[Operation, Node] = {}
        self.views: dict[Operation, ReindexedView] = {}
        self.groups: list[FusionGroup] = []
        self.readers: dict[SSAValue, list[tuple[FusionGroup, Indices]]] = {}
        self.stored: dict[SSAValue, SSAValue] = {}
        """The new results that stand for the old ones, as groups are made."""
        self.slices: dict[tuple[SSAValue, tuple[tuple[int, int, int], ...]], SSAValue] = {}
        """Slices for groups: of what, and offset, size and stride for each dimension."""
        self._scalar_groups: dict[Operation, FusionGroup] = {}
        self.given: dict[Operation, FusionDecision] = {}
        """What is decided on nodes."""
        self._numbered: dict[int, FusionGroup] = {}
        self.placements: list[Placement] = []
        """From the last node to the first."""
        self.operations = list(block.ops)
        for position, op in enumerate(self.operations):
            self.positions[op] = position
            if type(op) is GenericOp:
                if schedule_of(op) is None if only is None else op in only:
                    self._add_generic(op, position)
            else:
                view = view_of(op, position)
                if view is not None:
                    self.views[op] = view
        for node in self.nodes.values():
            estimate_recomputation(node, self.nodes, self.views)
        for op in reversed(self.operations):
            if op in self.nodes:
                self._place(self.nodes[op])
            elif op in self.views:
                self._look_through(self.views[op])
        self.groups.sort(key=lambda group: group.position)

    def forget_places(self) -> None:
        """To be called last: nodes and groups refer to each other, and keep what they replaced."""
        for node in self.nodes.values():
            node.placements.clear()

    def _add_generic(self, op: GenericOp, position: int) -> None:
        node = node_of(op, position)
        given = decision_of(op) if op.attributes else None
        if node is not None:
            self.nodes[op] = node
            if given is not None:
                self.given[op] = given
        elif given is not None:
            raise FusionError(op, f"{given.name} is for what fusion can take apart")

    def _demand(self, op: Operation) -> Demand:
        """Collects the uses of all results of an operation."""
        demand = Demand()
        for result in op.results:
            for use in result.uses:
                self._add_use(demand, use.operation, use.index)
        return demand

    def _add_use(self, demand: Demand, user: Operation, index: int) -> None:
        node = self.nodes.get(user)
        if node is not None and index < len(node.inputs):
            indices = node.inputs[index][1]
            for group, place in node.placements:
                demand.places[group, compose(indices, place)] = None
            return
        view = self.views.get(user)
        if view is not None:
            demand.places.update(dict.fromkeys(view.demands))
            if view.escapes:
                demand.reader_positions.append(view.position)
            return
        if isinstance(user, tensor.ExtractOp) and len(user.operands) == 1:
            group = self._scalar_group(user)
            if group is not None:
                demand.places[group, ()] = None
                return
        ancestor = self.block.find_ancestor_op_in_block(user)
        assert ancestor is not None
        demand.reader_positions.append(self.positions[ancestor])

    def _scalar_group(self, user: tensor.ExtractOp) -> FusionGroup | None:
        """The group of a read of the only element of a tensor, in this block."""
        position = self.positions.get(user)
        if position is None:
            return None
        found = self._scalar_groups.get(user)
        if found is None:
            found = self._scalar_groups[user] = FusionGroup(position, (), (), scalar=user)
        return found

    def _look_through(self, view: ReindexedView) -> None:
        demand = self._demand(view.op)
        view.escapes = bool(demand.reader_positions)
        view.demands = [(group, view.transform(indices)) for group, indices in demand.places]

    def _place(self, node: Node) -> None:
        demand = self._demand(node.op)
        if not demand.places and not demand.reader_positions:
            return
        given = self.given.get(node.op)
        found = self._chosen(node, demand) if given is None else self._obeyed(node, demand, given)
        self.placements.append(found)
        if found.group is None:
            node.placements = list(demand.places)
            for group, _ in demand.places:
                if group.scalar is not None and not group.members:
                    self.groups.append(group)
        else:
            place = _place_in(node, found.group, demand)
            node.placements = [(found.group, place)]
            found.group.roots.append((node, place))
        for group, place in node.placements:
            group.members.add((node, place))
            group.size += node.length
            for value, indices in node.inputs:
                reading = group, compose(indices, place)
                self.readers.setdefault(value, []).append(reading)

    def _obeyed(self, node: Node, demand: Demand, given: FusionDecision) -> Placement:
        """What is decided; raises PassFailedException where that cannot be."""
        found = Placement(node, demand, FusionReason.GIVEN, storing=FusionReason.GIVEN)
        if given.name == INLINE:
            against = rule_against_inlining(node, demand)
            if against is not None:
                raise FusionError(
                    node.op, f"cannot be computed by what uses it, because {against.value}"
                )
            return found
        found.group = None if given.group is None else self._numbered.get(given.group)
        if found.group is None:
            found.group = self._new_group(node)
            found.group.is_alone = given.name == ALONE
            if given.group is not None:
                found.group.number = given.group
                self._numbered[given.group] = found.group
        elif (against := rule_against_storing(node, found.group, demand)) is not None:
            raise FusionError(node.op, f"cannot be in group {given.group}, because {against.value}")
        return found

    def _chosen(self, node: Node, demand: Demand) -> Placement:
        """What pays."""
        is_inlined, inlining = choose_inlining(node, demand)
        found = Placement(node, demand, inlining)
        if is_inlined:
            return found
        candidates = (
            {group for group, _ in demand.places} if node.is_pointwise else set[FusionGroup]()
        )
        found.storing = FusionReason.STORED_BY_USER
        if not candidates:
            candidates = self._siblings(node)
            found.storing = FusionReason.STORED_BY_SIBLING
        for group in sorted(candidates, key=lambda g: g.position):
            against = reason_against_storing(node, group, demand)
            if against is None:
                found.group = group
                return found
            found.refusals.append((group, against))
        found.group, found.storing = self._new_group(node), None
        return found

    def _new_group(self, node: Node) -> FusionGroup:
        group = FusionGroup(node.position, node.sizes, node.reduces, node.is_contraction)
        self.groups.append(group)
        return group

    def _siblings(self, node: Node) -> set[FusionGroup]:
        """The groups that read a large input of the node where the node reads it."""
        rank = len(node.sizes)
        return {
            group
            for value, indices in node.inputs
            if len(loops_of(indices)) == rank
            for group, place in self.readers.get(value, ())
            if place == indices
        }


def choose_inlining(node: Node, demand: Demand) -> tuple[bool, FusionReason]:
    """Whether every user computes the node itself, and why."""
    against = rule_against_inlining(node, demand)
    if against is not None:
        return False, against
    places = demand.places
    if any(group.size + node.length > MAX_GROUP_SIZE for group, _ in places):
        return False, FusionReason.TOO_LARGE
    if node.moves_only:
        return True, FusionReason.MOVES_DATA
    if any(group.is_contraction for group, _ in places):
        return False, FusionReason.CONTRACTION_TAKES_MOVES
    if _computes_once(node, demand):
        return True, FusionReason.COMPUTED_ONCE
    if len(places) == 1 and node.cost <= MAX_DUPLICATED_COST:
        return True, FusionReason.CHEAP_FOR_ONE
    if node.recomputation <= MAX_DUPLICATED_COST and len(node.tensors) <= 1:
        return True, FusionReason.CHEAP_FOR_ALL
    return False, FusionReason.RECOMPUTATION


def rule_against_inlining(node: Node, demand: Demand) -> FusionReason | None:
    """Why its users cannot compute a node, whatever it costs."""
    if not node.is_pointwise:
        return FusionReason.NOT_ELEMENTWISE
    if demand.reader_positions:
        return FusionReason.NEEDED_IN_MEMORY
    if any(group.is_alone for group, _ in demand.places):
        return FusionReason.ALONE
    return None


def reason_against_storing(node: Node, group: FusionGroup, demand: Demand) -> FusionReason | None:
    """Why a group should not store the results of a node."""
    against = rule_against_storing(node, group, demand)
    if against is not None:
        return against
    if len(group.roots) >= MAX_ROOTS:
        return FusionReason.TOO_MANY_RESULTS
    if group.size + node.length > MAX_GROUP_SIZE:
        return FusionReason.TOO_LARGE
    rank = len(group.sizes)
    if not any(group.reduces) and _place_in(node, group, demand) != identity(rank):
        return FusionReason.TRANSPOSED
    return None


def rule_against_storing(node: Node, group: FusionGroup, demand: Demand) -> FusionReason | None:
    """Why a group cannot store the results of a node: its loops have to be theirs, at one place."""
    if node.is_contraction or group.is_contraction:
        return FusionReason.IS_CONTRACTION
    if group.scalar is not None:
        return FusionReason.NO_LOOPS
    if group.is_alone:
        return FusionReason.ALONE
    readers = [other.position for other, _ in demand.places if other is not group]
    if any(p <= group.position for p in (*readers, *demand.reader_positions)):
        return FusionReason.USED_BEFORE
    places = [indices for other, indices in demand.places if other is group]
    if not places:
        same = (node.sizes, node.reduces) == (group.sizes, group.reduces)
        return None if same else FusionReason.SPACES_DIFFER
    if not node.is_pointwise:
        return FusionReason.NOT_ELEMENTWISE
    if len(places) > 1:
        return FusionReason.SEVERAL_PLACES
    if not is_permutation(places[0], len(group.sizes)):
        return FusionReason.SPACES_DIFFER
    # Loops over a slice that begins with the first element look like those over all of it.
    runs = [group.sizes[loop] for loop, _, _ in places[0] if loop is not None]
    return None if tuple(runs) == node.sizes else FusionReason.SPACES_DIFFER


def _place_in(node: Node, group: FusionGroup, demand: Demand) -> Indices:
    """Where in the loops of a group a node is that the group stores."""
    for other, indices in demand.places:
        if other is group:
            return indices
    return identity(len(node.sizes))


def _computes_once(node: Node, demand: Demand) -> bool:
    """
    Whether the users of a node compute every element once, or once for many inner iterations.

    Loops on which the only user's node does not depend repeat it, unless they are the inner ones:
    then the value is computed outside of them.
    """
    evaluations = sum(prod(group.sizes) for group, _ in demand.places)
    if evaluations <= prod(node.sizes):
        return True
    if len(demand.places) != 1:
        return False
    ((group, indices),) = demand.places
    used = loops_of(indices)
    repeated = [d for d, size in enumerate(group.sizes) if d not in used and size > 1]
    if not repeated or any(d > repeated[0] for d in used if group.sizes[d] > 1):
        return False
    return prod(group.sizes[d] for d in repeated) >= MIN_REUSE


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
