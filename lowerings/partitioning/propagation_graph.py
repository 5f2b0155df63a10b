"""
The arrays of a function, and the operations between them, as propagation sees them.

A place has one sharding: a value, all targets of a data-flow edge together, a result of the
function, all arrays of a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from lowerings.partitioning.factor_shardings import BOTH, NONE, ArraySharding, Directions
from lowerings.partitioning.manual_computation import border_rule, check_border
from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.op_rules import (
    OpPriority,
    barrier_directions,
    directions_of,
    identity_rule,
    rule_of,
)
from xla_dialect.analysis.manual_borders import ManualBorder, located_border
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.custom_calls import (
    GROUP_ID,
    SHARDING_CONSTRAINT,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.attributes import (
    parameter_shardings,
    result_shardings,
    returned_shardings,
)
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operands_of, operations_in

_UNKNOWN = ArraySharding((), ())


@dataclass(eq=False, slots=True)
class AtomOrigin:
    """From where an atom of a place came: a place before, through an operation; or said so."""

    node: PropagationNode
    source: ShardedPlace


@dataclass(eq=False, slots=True)
class ShardedPlace:
    """What has one sharding."""

    name: str
    """As reports call it."""
    sizes: tuple[int, ...]
    said: Sharding | None = None
    """What the program says of it."""
    mesh: MeshAtoms | None = None
    sharding: ArraySharding = _UNKNOWN
    nodes: list[PropagationNode] = field(default_factory=list["PropagationNode"])
    """Those that have it among their places, in order."""
    origins: dict[tuple[int, int], AtomOrigin] = field(
        default_factory=dict[tuple[int, int], AtomOrigin]
    )
    """By dimension and atom, for those that propagation added."""
    operation: Operation | None = None
    """Which has it as a result."""


@dataclass(eq=False, slots=True)
class PropagationNode:
    """An operation, a data-flow edge, or what a function returns, between places."""

    name: str
    rule: ShardingRule
    places: tuple[ShardedPlace, ...]
    """Of the operands, then of the results."""
    operation: Operation
    directions: tuple[Directions, ...] = ()
    """By the priority of operations."""
    is_exit: bool = False
    """Whether it is between what a function returns and its results."""
    is_waiting: bool = False
    settled: tuple[object, ...] = ()
    """Directions and shardings with which it has changed nothing; none before that."""


@dataclass(eq=False)
class Graph:
    """The places and nodes of one function."""

    meshes: Mapping[str, MeshAtoms]
    places: dict[SSAValue, ShardedPlace] = field(default_factory=dict[SSAValue, ShardedPlace])
    returned: list[ShardedPlace] = field(default_factory=list[ShardedPlace])
    borders: list[ShardedPlace] = field(default_factory=list[ShardedPlace])
    """What the borders of manual computations take: as they say, whatever is given."""
    nodes: list[PropagationNode] = field(default_factory=list[PropagationNode])
    """In the order of the text."""
    exits: list[PropagationNode] = field(default_factory=list[PropagationNode])
    """Between what the function returns and its results."""

    @staticmethod
    def of(function: FuncOp, meshes: Mapping[str, MeshAtoms]) -> Graph:
        """The graph of a function with what is said of its arrays."""
        graph = Graph(meshes)
        arguments = function.body.block.args
        for number, (argument, sharding) in enumerate(
            zip(arguments, parameter_shardings(function), strict=True)
        ):
            place = graph._add(argument, f"parameter {number}")
            graph._say(place, sharding)
        operations = operations_in(function.body)
        for op in operations:
            if isinstance(op, XlaOp) and op.forwards_values():
                graph._add_edge_targets(op)
        for op in operations:
            graph._add_results(op)
        graph._apply_constraints(operations)
        graph._unite_groups(operations)
        graph._add_nodes_of(function.body)
        last = cast(ReturnOp, function.body.block.last_op)
        for number, (value, sharding) in enumerate(
            zip(operands_of(last), returned_shardings(function), strict=True)
        ):
            place = ShardedPlace(f"result {number}", _sizes(value.type))
            graph._say(place, sharding)
            graph.returned.append(place)
            source = graph.place(value)
            if source is not None:
                rule = identity_rule(place.sizes, 1)
                node = PropagationNode(f"the return of {place.name}", rule, (source, place), last)
                node.directions = (BOTH,) * len(OpPriority)
                node.is_exit = True
                graph._connect(node)
                graph.exits.append(node)
        return graph

    def place(self, value: SSAValue) -> ShardedPlace | None:
        """The place of a value; None for what is no array of static sizes."""
        return self.places.get(value)

    def all_places(self) -> Iterator[ShardedPlace]:
        """Every place once."""
        yield from dict.fromkeys(self.places.values())
        yield from (*self.returned, *self.borders)

    def _add(self, value: SSAValue, name: str) -> ShardedPlace:
        place = ShardedPlace(name, _sizes(value.type))
        place.sharding = ArraySharding.unknown(len(place.sizes))
        if isinstance(value.type, TensorType) and DYNAMIC_INDEX not in place.sizes:
            self.places[value] = place
        return place

    def _add_edge_targets(self, op: XlaOp) -> None:
        """All targets of an edge are one place."""
        for edge in op.data_flow_edges():
            first, *others = edge.targets
            place = self._add(first, described(op))
            place.operation = op
            if first in self.places:
                self.places.update(dict.fromkeys(others, place))

    def _add_results(self, op: Operation) -> None:
        shardings = result_shardings(op)
        for number, result in enumerate(op.results):
            place = self.places.get(result)
            if place is None:
                place = self._add(result, described(op))
                place.operation = op
            if shardings is not None and number < len(shardings):
                self._say(place, shardings[number])
        border = located_border(op)
        if border is not None:
            self._say_of_border(op, border)

    def _say_of_border(self, op: Operation, border: ManualBorder) -> None:
        """A border says how what it takes and gives is split: parts along free axes only."""
        values = zip(operands_of(op), op.results, border.shardings, strict=True)
        for number, (operand, result, sharding) in enumerate(values):
            source, target = self.place(operand), self.place(result)
            if source is None or target is None:
                continue
            mesh = self.meshes[str(sharding.mesh)].mesh
            check_border(op, border, sharding, (source.sizes, target.sizes), mesh.size)
            taken = ShardedPlace(f"operand {number} of {described(op)}", source.sizes)
            inside = Sharding(
                sharding.mesh,
                tuple(
                    DimensionSharding(
                        tuple(a for a in each.axes if a.name not in border.manual_axes),
                        each.is_closed,
                    )
                    for each in sharding.dimensions
                ),
            )
            self._say(taken, sharding if border.is_cut else inside)
            self._say(target, inside if border.is_cut else sharding)
            self.borders.append(taken)
            rules = identity_rule(taken.sizes, 1), border_rule(taken.sizes, target.sizes)
            for rule, places in zip(rules, ((source, taken), (taken, target)), strict=True):
                node = PropagationNode(taken.name, rule, places, op)
                node.directions = (BOTH,) * len(OpPriority)
                self._connect(node)
                self.nodes.append(node)

    def _say(self, place: ShardedPlace, sharding: Sharding | None) -> None:
        """Notes what is said of a place."""
        place.sharding = ArraySharding.unknown(len(place.sizes))
        if sharding is None:
            return
        mesh = self.meshes[str(sharding.mesh)]
        if not mesh.mesh.is_maximal:
            place.said, place.mesh = sharding, mesh

    def _apply_constraints(self, operations: Sequence[Operation]) -> None:
        """
        What a constraint says for good, it says of its operand as well.

        Unless the operand has a sharding of its own, or another constraint says something else.
        """
        wanted: dict[ShardedPlace, list[ShardedPlace]] = {}
        for op in operations:
            if _target(op) == SHARDING_CONSTRAINT and len(op.results) == 1:
                operand, result = self.place(operands_of(op)[0]), self.place(op.results[0])
                if operand is not None and result is not None:
                    wanted.setdefault(operand, []).append(result)
        for operand, results in wanted.items():
            said = results[0].said
            if operand.said is None and said is not None:
                agrees = all(result.said == said for result in results)
                if agrees and all(dimension.is_closed for dimension in said.dimensions):
                    operand.said, operand.mesh = said, results[0].mesh

    def _unite_groups(self, operations: Sequence[Operation]) -> None:
        """All arrays of a group are one place; raises XlaError for those of other sizes."""
        first: dict[int, ShardedPlace] = {}
        for op in operations:
            if _target(op) != SHARDING_GROUP:
                continue
            number, place = op.attributes.get(GROUP_ID), self.place(operands_of(op)[0])
            if place is None or not isinstance(number, IntegerAttr):
                continue
            leader = first.setdefault(cast("IntegerAttr", number).value.data, place)
            if leader is place:
                continue
            if len(leader.sizes) != len(place.sizes):
                raise XlaError(f"{described(op)}: arrays of its group have other ranks")
            if leader.said is None:
                leader.said, leader.mesh = place.said, place.mesh
            self.places = {v: leader if p is place else p for v, p in self.places.items()}

    def _add_nodes_of(self, region: Region) -> None:
        """The operations in their order; the edges of one behind what is in its regions."""
        for op in region.block.ops:
            if isinstance(op, XlaOp) and op.forwards_values():
                for inner in op.regions:
                    self._add_nodes_of(inner)
                self._add_edges(op)
            else:
                self._add_node(op)

    def _add_edges(self, op: XlaOp) -> None:
        for edge in op.data_flow_edges():
            target = self.place(edge.targets[0])
            sources = tuple(self.place(source.value) for source in edge.sources)
            if target is not None and None not in sources:
                rule = identity_rule(target.sizes, len(sources))
                places = (*cast("tuple[ShardedPlace, ...]", sources), target)
                node = PropagationNode(f"an edge of {described(op)}", rule, places, op)
                node.directions = (BOTH,) * len(OpPriority)
                self._connect(node)
                self.nodes.append(node)

    def _add_node(self, op: Operation) -> None:
        values = (*operands_of(op), *op.results)
        places = tuple(self.place(value) for value in values)
        if not isinstance(op, XlaOp) or not places or None in places:
            return
        rule = rule_of(op)
        if rule is None:
            return
        node = PropagationNode(described(op), rule, cast("tuple[ShardedPlace, ...]", places), op)
        barrier = barrier_directions(op)
        node.directions = directions_of(op)
        if barrier is not BOTH:
            node.directions = tuple(
                Directions(d.forward and barrier.forward, d.backward and barrier.backward)
                for d in node.directions
            )
        self._connect(node)
        self.nodes.append(node)

    def _connect(self, node: PropagationNode) -> None:
        for place in dict.fromkeys(node.places):
            place.nodes.append(node)


def factor_directions(node: PropagationNode, priority: OpPriority) -> list[Directions]:
    """Where each factor of a node may be carried."""
    found = [node.directions[priority]] * len(node.rule.sizes)
    late = () if priority is OpPriority.LAST else node.rule.reduction
    for factor in (*node.rule.blocked_propagation, *late):
        found[factor] = NONE
    return found


def _target(op: Operation) -> str | None:
    return op.custom_call_target.data if isinstance(op, CustomCallOp) else None


def _sizes(type_: Attribute) -> tuple[int, ...]:
    return tuple([size.data for size in type_.shape.data]) if isinstance(type_, TensorType) else ()
