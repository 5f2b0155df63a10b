"""
Propagation of shardings, as Shardy has it: the graph of a function, strategies, the fixed point.

A place has one sharding: a value, all targets of a data-flow edge together, a result of the
function, all arrays of a group. Between places are nodes, operations with a sharding rule. Nodes
extend places until nothing changes, by priorities of users, then by those of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from math import prod
from operator import is_
from typing import NamedTuple, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from lowerings.partitioning.annotations import target_of
from lowerings.partitioning.factors import ArraySharding, ProjectedArray, projected
from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms, rank_of
from lowerings.partitioning.xla_populate_sharding_rules import identity_rule, rule_of
from xla_dialect.analysis.manual_borders import ManualBorder, located_border
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.custom_calls import (
    ALLOWED_DIRECTION,
    GROUP_ID,
    PROPAGATION_BARRIER,
    SHARDING_CONSTRAINT,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    ReshapeOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import (
    ClampOp,
    CompareOp,
    ElementwiseBinaryOp,
    ElementwiseUnaryOp,
    SelectOp,
)
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.attributes import (
    parameter_shardings,
    result_shardings,
    returned_shardings,
)
from xla_dialect.sharding.mesh import AxisReference
from xla_dialect.sharding.sharding_rule import Dimension, ShardingRule
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operands_of, operations_in


class Directions(NamedTuple):
    """Where shardings may be carried: to results, to operands."""

    forward: bool = True
    backward: bool = True

    def reaches(self, array: ProjectedArray) -> bool:
        """Whether an array may be split further."""
        return self.forward if array.is_result else self.backward

    def starts_from(self, array: ProjectedArray) -> bool:
        """Whether the sharding of an array may be carried to others."""
        return self.backward if array.is_result else self.forward


BOTH = Directions()


NONE = Directions(forward=False, backward=False)


FORWARD = Directions(backward=False)


BACKWARD = Directions(forward=False)


ELEMENTWISE: tuple[type[Operation], ...] = (
    ElementwiseUnaryOp,
    ElementwiseBinaryOp,
    CompareOp,
    SelectOp,
    ClampOp,
    ConvertOp,
    BitcastConvertOp,
    ReducePrecisionOp,
)


class OpPriority(IntEnum):
    """The steps of propagation, by which operations take part from then on."""

    PASS_THROUGH_OF_ONE_USE = 0
    """Those that pass each element on, of values that nobody else uses."""
    PASS_THROUGH = 1
    ALL = 2
    """All, but broadcasts only from their result to their operand, and no reduced factors."""
    LAST = 3


_FORWARD_FIRST = (DynamicSliceOp, DynamicUpdateSliceOp)
"""They pass elements on, but their operand is larger, or more than that."""


_PASS_THROUGH = (*ELEMENTWISE, CopyOp, ReshapeOp, TransposeOp, CustomCallOp)
"""A custom call has a rule if it annotates its operand, or its author says."""


_DIRECTIONS = {"NONE": NONE, "FORWARD": FORWARD, "BACKWARD": BACKWARD, "BOTH": BOTH}


def directions_of(op: Operation) -> tuple[Directions, ...]:
    """Where an operation carries shardings, by the steps of propagation."""
    found = _directions(type(op))
    if found[OpPriority.PASS_THROUGH] is NONE:
        return found
    uses = (value.uses.get_length() for value in operands_of(op) if rank_of(value.type))
    if all(count == 1 for count in uses):
        return found
    return (NONE, *found[OpPriority.PASS_THROUGH :])


@lru_cache(1024)
def _directions(operation: type[Operation]) -> tuple[Directions, ...]:
    """The same, of an operation whose operands nobody else uses."""
    is_forward = issubclass(operation, _FORWARD_FIRST)
    passed_on = BOTH if issubclass(operation, _PASS_THROUGH) else FORWARD if is_forward else NONE
    return passed_on, passed_on, BACKWARD if issubclass(operation, BroadcastOp) else BOTH, BOTH


def barrier_directions(op: Operation) -> Directions:
    """What a custom call lets through: all but a barrier let everything."""
    if isinstance(op, CustomCallOp) and op.custom_call_target.data == PROPAGATION_BARRIER:
        allowed = op.attributes.get(ALLOWED_DIRECTION)
        return _DIRECTIONS[allowed.data] if isinstance(allowed, StringAttr) else NONE
    return BOTH


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
    directions: tuple[Directions, ...] = (BOTH,) * len(OpPriority)
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
        graph._unite_kept(operations)
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
                rule, name = identity_rule(place.sizes, 1), f"the return of {place.name}"
                node = PropagationNode(name, rule, (source, place), last, is_exit=True)
                graph._connect(node, graph.exits)
        return graph

    def place(self, value: SSAValue) -> ShardedPlace | None:
        """The place of a value; None for what is no array of static sizes."""
        return self.places.get(value)

    def all_places(self) -> Iterator[ShardedPlace]:
        """Every place once."""
        yield from dict.fromkeys(self.places.values())
        yield from (*self.returned, *self.borders)

    def release(self) -> None:
        """Takes apart what is made of cycles: it is freed at once, and not by the collector."""
        for place in self.all_places():
            place.nodes.clear()
            place.origins.clear()

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

    def _unite_kept(self, operations: Sequence[Operation]) -> None:
        """What no turn of a loop changes is one place inside, behind and before it, as for XLA."""
        for op in operations:
            if isinstance(op, XlaOp) and op.forwards_values():
                for edge in op.data_flow_edges():
                    sources = [each.value for each in edge.sources]
                    outside = [each for each in sources if each not in edge.targets]
                    own, place = self.place(edge.targets[0]), self.place(outside[0])
                    is_kept = len(outside) == 1 < len(sources)
                    if is_kept and place is not None and own is not None and own.said is None:
                        self.places.update(dict.fromkeys(edge.targets, place))

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
                self._connect(PropagationNode(taken.name, rule, places, op), self.nodes)

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
            if target_of(op) == SHARDING_CONSTRAINT and len(op.results) == 1:
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
            if target_of(op) != SHARDING_GROUP:
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
                name = f"an edge of {described(op)}"
                self._connect(PropagationNode(name, rule, places, op), self.nodes)

    def _add_node(self, op: Operation) -> None:
        values = (*operands_of(op), *op.results)
        places = tuple(self.place(value) for value in values)
        if not isinstance(op, XlaOp) or not places or None in places:
            return
        rule = rule_of(op)
        if rule is None:
            return
        barrier, directions = barrier_directions(op), directions_of(op)
        if barrier is not BOTH:
            directions = tuple(
                Directions(d.forward and barrier.forward, d.backward and barrier.backward)
                for d in directions
            )
        known = cast("tuple[ShardedPlace, ...]", places)
        self._connect(PropagationNode(described(op), rule, known, op, directions), self.nodes)

    def _connect(self, node: PropagationNode, nodes: list[PropagationNode]) -> None:
        nodes.append(node)
        for place in dict.fromkeys(node.places):
            place.nodes.append(node)


def factor_directions(node: PropagationNode, priority: OpPriority) -> list[Directions]:
    """Where each factor of a node may be carried."""
    found = [node.directions[priority]] * len(node.rule.sizes)
    late = () if priority is OpPriority.LAST else node.rule.reduction
    for factor in (*node.rule.blocked_propagation, *late):
        found[factor] = NONE
    return found


def _sizes(type_: Attribute) -> tuple[int, ...]:
    return tuple([size.data for size in type_.shape.data]) if isinstance(type_, TensorType) else ()


@lru_cache(4096)
def border_rule(before: tuple[int, ...], after: tuple[int, ...]) -> ShardingRule:
    """
    The rule of a border between arrays of these sizes: what is free is split alike on both sides.

    A dimension that is larger on one side has a factor more there, for the parts of devices.
    """
    sizes = list(map(min, before, after))
    sides: list[list[Dimension]] = [[], []]
    for d, pair in enumerate(zip(before, after, strict=True)):
        for side, size in zip(sides, pair, strict=True):
            if size == sizes[d]:
                side.append((d,))
            else:
                side.append((len(sizes), d))
                sizes.append(size // max(sizes[d], 1))
    return ShardingRule(tuple(sizes), (tuple(sides[0]),), (tuple(sides[1]),))


def check_border(
    op: Operation,
    border: ManualBorder,
    sharding: Sharding,
    sizes: tuple[Sequence[int], Sequence[int]],
    parts: Callable[[Sequence[AxisReference]], int],
) -> None:
    """
    Raises XlaError where the part of a device has other sizes than follow from those of the whole.

    `sizes`: of what the border takes and gives; `parts`: how many axes make.
    """
    wholes, mine = sizes if border.is_cut else sizes[::-1]
    expected: list[int] = []
    for d, (whole, axes) in enumerate(zip(wholes, sharding.axes, strict=False)):
        count = parts([axis for axis in axes if axis.name in border.manual_axes])
        if whole % count:
            raise XlaError(f"{described(op)}: size {whole} of dimension {d} for {count} devices")
        expected.append(whole // count)
    if expected != list(mine):
        raise XlaError(
            f"{described(op)}: a part of {list(wholes)} by <{sharding}> is {list(mine)}, "
            f"expected {expected}"
        )


@dataclass(eq=False)
class Propagation:
    """The propagation of shardings in one function."""

    graph: Graph
    strategies: Sequence[Strategy]
    outcomes: dict[Hashable, Sequence[ArraySharding]] = field(
        default_factory=dict["Hashable", "Sequence[ArraySharding]"]
    )
    """What has become of shardings, by rules and meshes: layers repeat themselves."""

    def run(self) -> None:
        """Extends the shardings of all places as far as they go."""
        places = list(self.graph.all_places())
        priorities = {0} | {
            dimension.priority or 0
            for place in places
            if place.said is not None
            for dimension in place.said.dimensions
        }
        for priority in sorted(priorities):
            for place in places:
                _admit(place, priority)
            for step in OpPriority:
                self._run_step(step)

    def _run_step(self, priority: OpPriority) -> None:
        """Until nothing changes, with the operations of a priority."""
        active = [node for node in self.graph.nodes if node.directions[priority] != NONE]
        for node in self.graph.exits:
            self._propagate(node, priority)
        is_changing = True
        while is_changing:
            is_changing = self._sweep(active, priority)
            for node in self.graph.exits:
                is_changing |= bool(self._propagate(node, priority))

    def _sweep(self, active: Sequence[PropagationNode], priority: OpPriority) -> bool:
        """Each node once in order, and again right after its places have changed."""
        waiting = list(reversed(active))
        for node in waiting:
            node.is_waiting = True
        is_changed = False
        while waiting:
            node = waiting.pop()
            node.is_waiting = False
            changed = self._propagate(node, priority)
            is_changed |= bool(changed)
            for place in changed:
                for other in place.nodes:
                    if other.is_waiting or other.is_exit or other.directions[priority] == NONE:
                        continue
                    other.is_waiting = True
                    waiting.append(other)
        return is_changed

    def _propagate(self, node: PropagationNode, priority: OpPriority) -> list[ShardedPlace]:
        """The places that one node extends."""
        mesh = common_mesh(node)
        if mesh is None:
            return []
        is_last = priority is OpPriority.LAST or not node.rule.reduction
        state = (node.directions[priority], is_last, *(place.sharding for place in node.places))
        if node.settled and all(map(is_, state, node.settled)):
            return []
        changed: list[ShardedPlace] = []
        before = tuple([place.sharding for place in node.places])
        key = id(node.rule), node.directions[priority], priority, id(mesh), before
        outcome = self.outcomes.get(key)
        if outcome is None:
            arrays = projected(node.rule, before, mesh)
            for strategy in self.strategies:
                strategy(arrays, factor_directions(node, priority))
            outcome = self.outcomes[key] = [array.projected_back for array in arrays]
        for place, found in zip(node.places, outcome, strict=True):
            if found.dimensions != place.sharding.dimensions:
                _note_origins(node, place, found)
                place.sharding, place.mesh = found, mesh
                changed.append(place)
        node.settled = () if changed else state
        return changed


def common_mesh(node: PropagationNode) -> MeshAtoms | None:
    """The mesh of the places of a node; None where nothing is split, or over several meshes."""
    found: MeshAtoms | None = None
    for place in node.places:
        if place.mesh is not None and place.mesh is not found:
            if found is not None:
                return None
            found = place.mesh
    return found


def _note_origins(node: PropagationNode, place: ShardedPlace, after: ArraySharding) -> None:
    """From which of the other places of a node each new atom came."""
    for d, (old, new) in enumerate(zip(place.sharding.dimensions, after.dimensions, strict=True)):
        for atom in new[len(old) :]:
            source = next(
                (
                    other
                    for other in node.places
                    if other is not place
                    and any(atom in atoms for atoms in other.sharding.dimensions)
                ),
                None,
            )
            if source is not None:
                place.origins[d, atom] = AtomOrigin(node, source)


def _admit(place: ShardedPlace, priority: int) -> None:
    """Puts what is said of dimensions with this priority into force; what is later waits."""
    if place.said is None or place.mesh is None:
        return
    mesh, said = place.mesh, place.said
    dimensions: list[Atoms] = list(place.sharding.dimensions)
    is_closed = list(place.sharding.is_closed)
    waiting: list[int] = []
    for d, dimension in enumerate(said.dimensions):
        if (dimension.priority or 0) > priority:
            waiting += mesh.of_axes(dimension.axes)
        if (dimension.priority or 0) != priority:
            continue
        mine = mesh.of_axes(dimension.axes)
        if priority:
            used = {atom for other, atoms in enumerate(dimensions) if other != d for atom in atoms}
            mine = next((mine[:n] for n, atom in enumerate(mine) if atom in used), mine)
        if len(mine) >= len(dimensions[d]) or dimension.is_closed:
            dimensions[d] = mine
        is_closed[d] = dimension.is_closed
    named = (*mesh.of_axes(said.replicated), *mesh.of_axes(said.unreduced))
    reserved = frozenset((*named, *waiting))
    place.sharding = ArraySharding(tuple(dimensions), tuple(is_closed), reserved)


Strategy: TypeAlias = Callable[[Sequence[ProjectedArray], Sequence[Directions]], None]
"""Extends the arrays of each factor, given where factors may be carried."""


def propagate_basic(arrays: Sequence[ProjectedArray], directions: Sequence[Directions]) -> None:
    """
    Extends the arrays of each factor to what is compatible with all of them.

    A conflict is not decided: where two arrays go on differently, or one of them cannot go on,
    nothing is carried beyond.
    """
    for factor, atoms in enumerate([_compatible(arrays, *each) for each in enumerate(directions)]):
        _extend(arrays, factor, atoms, directions[factor])


def propagate_aggressive(
    arrays: Sequence[ProjectedArray], directions: Sequence[Directions]
) -> None:
    """
    Extends the arrays of each factor as far as each can.

    Two factors that want the same axis of one array are in conflict: the one goes first whose
    sharding comes from the array with the most elements; among equals the one that is split into
    the most parts, then the one of the first array.
    """
    wanted = [_longest(arrays, factor, direction) for factor, direction in enumerate(directions)]
    elements = [prod(array.sizes[factor] for factor in array.factors) for array in arrays]

    def preference(factor: int) -> tuple[int, int, int]:
        return min(
            (-elements[number], -array.mesh.parts(wanted[factor]), number)
            for number, array in enumerate(arrays)
            if factor in array.factors
            and array.factors[factor].atoms[: len(wanted[factor])] == wanted[factor]
        )

    for factor in sorted((f for f, atoms in enumerate(wanted) if atoms), key=preference):
        _extend(arrays, factor, wanted[factor], directions[factor])


STRATEGIES: dict[str, Sequence[Strategy]] = {
    "basic": (propagate_basic,),
    "aggressive": (propagate_aggressive,),
    "basic-then-aggressive": (propagate_basic, propagate_aggressive),
}
"""By the names of the option of the pass, one after the other."""


def _extend(
    arrays: Sequence[ProjectedArray], factor: int, atoms: Atoms, direction: Directions
) -> None:
    for array in arrays:
        if direction.reaches(array):
            array.extend(factor, atoms)


def _longest(arrays: Sequence[ProjectedArray], factor: int, direction: Directions) -> Atoms:
    """What the arrays of a factor begin with alike, and the longest goes on with."""
    found: Atoms = ()
    is_limited = False
    for array in arrays:
        part = array.factors.get(factor)
        if part is None or not direction.starts_from(array):
            continue
        common = _common_prefix(found, part.atoms)
        if len(common) < min(len(found), len(part.atoms)):
            found, is_limited = common, True
        elif not is_limited and len(part.atoms) > len(found):
            found = part.atoms
    return found


def _compatible(arrays: Sequence[ProjectedArray], factor: int, direction: Directions) -> Atoms:
    """The longest that every array of a factor can have, and no array uses for another one."""
    found = _longest(arrays, factor, direction)
    used = {
        atom
        for array in arrays
        for other, part in array.factors.items()
        for atom in (*part.overflow, *(part.atoms if other != factor else ()))
    }
    found = next((found[:n] for n, atom in enumerate(found) if atom in used), found)
    for array in arrays:
        part = array.factors.get(factor)
        if part is not None:
            if part.is_closed or part.overflow:
                found = _common_prefix(found, part.atoms)
            found = array.fitting(factor, found)
    return found


def _common_prefix(first: Atoms, second: Atoms) -> Atoms:
    pairs = enumerate(zip(first, second, strict=False))
    return first[: next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))]
