"""From where each sharding came, and how conflicts were decided: the report of a propagation."""

from __future__ import annotations

from collections.abc import Iterator

from lowerings.partitioning.factor_shardings import (
    NONE,
    FactorSharding,
    ProjectedArray,
    Projection,
)
from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.op_rules import OpPriority
from lowerings.partitioning.propagation import common_mesh
from lowerings.partitioning.propagation_graph import (
    AtomOrigin,
    Graph,
    PropagationNode,
    ShardedPlace,
    factor_directions,
)
from xla_dialect.sharding.mesh import spell_axes
from xla_dialect.sharding.sharding_rule import factor_name


def explanation(name: str, graph: Graph) -> str:
    """
    The report on a function after its propagation.

    For each array that is split: its sharding, whether the program says so, and for axes that
    propagation added the array that they came from first, with the last operation on the way. Then
    the conflicts that are left, operation by operation: who wants what, and why it cannot be had.
    """
    lines = [f"@{name}"]
    for place in graph.all_places():
        lines += (f"  {line}" for line in _of_place(place))
    conflicts = [line for node in (*graph.nodes, *graph.exits) for line in _conflicts(node)]
    if conflicts:
        lines.append("  conflicts")
        lines += (f"    {line}" for line in dict.fromkeys(conflicts))
    return "\n".join(lines)


def _of_place(place: ShardedPlace) -> Iterator[str]:
    mesh = place.mesh
    if mesh is None:
        return
    dimensions = ", ".join(_axes(mesh, atoms) for atoms in place.sharding.dimensions)
    said = ", said by the program" if place.said is not None and not place.origins else ""
    yield f"{place.name}: [{dimensions}]{said}"
    ways: dict[tuple[int, str], list[int]] = {}
    for d, atoms in enumerate(place.sharding.dimensions):
        for atom in atoms:
            origin = place.origins.get((d, atom))
            if origin is not None:
                root, steps = _root(origin, atom)
                way = "" if steps == 1 else f", {steps} operations away"
                source = f"from {root.name}{way}, through {origin.node.name}"
                ways.setdefault((d, source), []).append(atom)
    for (d, source), atoms in ways.items():
        yield f"  dimension {d}: {_axes(mesh, tuple(atoms))} {source}"


def _root(origin: AtomOrigin, atom: int) -> tuple[ShardedPlace, int]:
    """The place where an atom came from first, and how many operations are between."""
    steps = 1
    while True:
        place = origin.source
        further = next(
            (
                place.origins[d, atom]
                for d, atoms in enumerate(place.sharding.dimensions)
                if atom in atoms and (d, atom) in place.origins
            ),
            None,
        )
        if further is None:
            return place, steps
        origin, steps = further, steps + 1


def _conflicts(node: PropagationNode) -> Iterator[str]:
    """What is left to be wished of the factors of an operation."""
    mesh = common_mesh(node)
    if mesh is None:
        return
    directions = factor_directions(node, OpPriority.LAST)
    projection = Projection.of(node.rule, [place.sharding for place in node.places], mesh.sizes)
    for factor, direction in enumerate(directions):
        if direction == NONE:
            continue
        parts = [
            (place, array, array.factors[factor])
            for place, array in zip(node.places, projection.arrays, strict=True)
            if factor in array.factors
        ]
        if not parts:
            continue
        first, _, longest = max(parts, key=lambda part: len(part[2].atoms))
        for place, array, part in parts:
            if part.atoms != longest.atoms and place is not first:
                why = _why(mesh, projection, array, part, factor, longest)
                yield (
                    f"{node.name}, factor {factor_name(factor)}: {first.name} has "
                    f"{_axes(mesh, longest.atoms)}, {place.name} {_axes(mesh, part.atoms)}: {why}"
                )


def _why(
    mesh: MeshAtoms,
    projection: Projection,
    array: ProjectedArray,
    part: FactorSharding,
    factor: int,
    longest: FactorSharding,
) -> str:
    """Why an array does not go on as another one does."""
    if longest.atoms[: len(part.atoms)] != part.atoms:
        return "they go on in different ways"
    atom = longest.atoms[len(part.atoms)]
    if part.is_closed:
        return "the program says it is closed"
    if atom in array.sharding.reserved:
        return f"the program replicates it over {_axes(mesh, (atom,))}"
    for d, atoms in enumerate(array.sharding.dimensions):
        if atom in atoms:
            return f"its dimension {d} took {_axes(mesh, (atom,))}"
    size = projection.rule.sizes[factor]
    if not part.is_minor_most and size % projection.parts(longest.atoms):
        return f"its part of a dimension has size {size}"
    return "what is before it in its dimension is not split up"


def _axes(mesh: MeshAtoms, atoms: tuple[int, ...]) -> str:
    return spell_axes(mesh.axes_of(atoms))
