"""Which operations are computed together, and which are computed again where they are used."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import tensor
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.tensors.fusion_graph import FusionGroup, Node, ReindexedView, node_of, view_of
from lowerings.tensors.indices import Indices, compose, identity, is_permutation, loops_of
from lowerings.tensors.recomputation import estimate_recomputation

MAX_DUPLICATED_COST = 12
"""Up to this cost an element is computed again rather than stored and read."""

MAX_GROUP_SIZE = 256
"""Scalar operations in a body; more would only spill registers."""

MAX_ROOTS = 8
"""Tensors that one operation writes."""

MIN_REUSE = 8
"""How often an expensive value must be used in inner loops to be worth computing in outer ones."""


@dataclass
class Demand:
    """The uses of a node's results."""

    places: dict[tuple[FusionGroup, Indices], None] = field(
        default_factory=dict["tuple[FusionGroup, Indices]", None]
    )
    """The groups that can compute the node inline, and at which indices."""
    reader_positions: list[int] = field(default_factory=list[int])
    """Positions of the users that need the result as a tensor in memory."""


class FusionPlan:
    """
    The groups of a block.

    Nodes are visited from last to first, so that all users of a node have a group. A node without
    other uses is computed inside of its users, unless that would repeat expensive work; else it is
    stored, by the group of a user with the same loops if there is one, or by a group of its own.
    A group runs where its last node stood: whatever it reads comes before.
    """

    def __init__(self, block: Block):
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
        operations = list(block.ops)
        for position, op in enumerate(operations):
            self.positions[op] = position
            if isinstance(op, GenericOp):
                node = node_of(op, position)
                if node is not None:
                    self.nodes[op] = node
            else:
                view = view_of(op, position)
                if view is not None:
                    self.views[op] = view
        for node in self.nodes.values():
            estimate_recomputation(node, self.nodes, self.views)
        for op in reversed(operations):
            if op in self.nodes:
                self._place(self.nodes[op])
            elif op in self.views:
                self._look_through(self.views[op])
        self.groups.sort(key=lambda group: group.position)

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
        if self._is_inlined(node, demand):
            node.placements = list(demand.places)
            for group, _ in demand.places:
                if group.scalar is not None and not group.members:
                    self.groups.append(group)
        else:
            group = self._joinable(node, demand)
            place = identity(len(node.sizes))
            if group is None:
                group = FusionGroup(node.position, node.sizes, node.reduces, node.is_contraction)
                self.groups.append(group)
            else:
                place = self._place_in(node, group, demand)
            node.placements = [(group, place)]
            group.roots.append((node, place))
        for group, place in node.placements:
            group.members.add((node, place))
            group.size += node.length
            for value, indices in node.inputs:
                reading = group, compose(indices, place)
                self.readers.setdefault(value, []).append(reading)

    def _is_inlined(self, node: Node, demand: Demand) -> bool:
        """Whether every user computes the node itself."""
        places = demand.places
        if not node.is_pointwise or demand.reader_positions:
            return False
        if any(group.size + node.length > MAX_GROUP_SIZE for group, _ in places):
            return False
        if node.moves_only:
            return True
        if any(group.is_contraction for group, _ in places):
            return False
        if _computes_once(node, demand) or (len(places) == 1 and node.cost <= MAX_DUPLICATED_COST):
            return True
        return node.recomputation <= MAX_DUPLICATED_COST and len(node.tensors) <= 1

    def _joinable(self, node: Node, demand: Demand) -> FusionGroup | None:
        """The first group with the loops of the node that may store it, if there is one."""
        if node.is_contraction:
            return None
        candidates = (
            {group for group, _ in demand.places} if node.is_pointwise else set[FusionGroup]()
        )
        if not candidates:
            candidates = self._siblings(node)
        for group in sorted(candidates, key=lambda g: g.position):
            readers = [other.position for other, _ in demand.places if other is not group]
            is_first = all(p > group.position for p in (*readers, *demand.reader_positions))
            if is_first and self._fits(node, group, demand):
                return group
        return None

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

    def _fits(self, node: Node, group: FusionGroup, demand: Demand) -> bool:
        """Whether the loops of the node are loops of the group, at one place only."""
        if (
            group.scalar is not None
            or group.is_contraction
            or len(group.roots) >= MAX_ROOTS
            or group.size + node.length > MAX_GROUP_SIZE
        ):
            return False
        places = [indices for other, indices in demand.places if other is group]
        if not places:
            return (node.sizes, node.reduces) == (group.sizes, group.reduces)
        rank = len(group.sizes)
        if len(places) != 1 or not node.is_pointwise or not is_permutation(places[0], rank):
            return False
        # Loops over a slice that begins with the first element look like those over all of it.
        runs = [group.sizes[loop] for loop, _, _ in places[0] if loop is not None]
        if tuple(runs) != node.sizes:
            return False
        return any(group.reduces) or places[0] == identity(rank)

    def _place_in(self, node: Node, group: FusionGroup, demand: Demand) -> Indices:
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
