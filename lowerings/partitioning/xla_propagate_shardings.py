"""The pass `xla-propagate-shardings`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from lowerings.ir.functions import defined_functions
from lowerings.partitioning.factors import FactorSharding, ProjectedArray, projected
from lowerings.partitioning.mesh_atoms import MeshAtoms, Spread, rank_of
from lowerings.partitioning.propagation import (
    ELEMENTWISE,
    NONE,
    STRATEGIES,
    AtomOrigin,
    Graph,
    OpPriority,
    Propagation,
    PropagationNode,
    ShardedPlace,
    common_mesh,
    factor_directions,
)
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass, require_option
from lowerings.simplify.xla_inline import XlaInlinePass
from xla_dialect.analysis.computations import is_call
from xla_dialect.analysis.manual_borders import all_shardings
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    meshes_of,
    set_function_shardings,
    set_result_shardings,
)
from xla_dialect.sharding.mesh import Mesh, spell_axes
from xla_dialect.sharding.sharding_rule import factor_name
from xla_dialect.verification import Fault, verify_shardings
from xla_dialect.violations import described
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import AttributeIdentities, operands_of, operations_in


@dataclass(frozen=True)
class XlaPropagateShardingsPass(ReportingPass):
    """
    Says of all arrays how they are split, from what is said of some: Shardy's algorithm.

    Dimensions that an operation goes through together (see `xla-populate-sharding-rules`) are split
    together. What users gave a priority, `{"x"}p1`, goes in that order; then elementwise operations
    and reshapes, then all others, broadcasts last. Where two arrays disagree, what they begin with
    alike is carried on, and by the strategy `aggressive` each array takes what it can: axes that
    two of its dimensions want go to the one that an array of more elements asks for. By `basic`, a
    conflict stops both. `explain` prints where each sharding came from and how each conflict was
    decided, on stderr. Calls are inlined first: a function is split by how each call is.

    ```
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, ...
      %0 = xla.dot %x, %w {...} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    // becomes
      %0 = xla.dot %x, %w {...}
          attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : ...
    ```
    """

    name = "xla-propagate-shardings"
    takes = UNLOWERED
    strategy: str = "aggressive"
    """What to do where shardings disagree: `basic`, `aggressive`, or one after the other."""
    explain: bool = False
    """Says on stderr where each sharding is from."""

    def __post_init__(self) -> None:
        wanted = f"one of {', '.join(STRATEGIES)}"
        require_option(self.strategy in STRATEGIES, "strategy", self.strategy, wanted)

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all functions; raises XlaError for shardings that make no sense."""
        if any(map(is_call, operations_in(op))):
            XlaInlinePass(everything=True).apply(ctx, op)
        try:
            verify_shardings(op)
        except Fault as fault:
            raise XlaError(f"{described(fault.operation)}: {fault}") from None
        meshes = _mesh_atoms(op)
        if not meshes:
            return False
        for function in defined_functions(op):
            originals = _split_constants(function)
            graph = Graph.of(function, meshes)
            Propagation(graph, STRATEGIES[self.strategy]).run()
            if self.explain:
                print(explanation(function.sym_name.data, graph), file=sys.stderr)
            _write(function, graph)
            graph.release()
            _merge_constants(function, originals)
        return True


def _write(function: FuncOp, graph: Graph) -> None:
    """Gives the function and its operations the shardings that were found, closed."""
    parameters = [_found(graph.place(argument)) for argument in function.body.block.args]
    set_function_shardings(function, parameters, [_found(place) for place in graph.returned])
    for op in operations_in(function.body):
        found = [_found(graph.place(result)) for result in op.results]
        mesh = next((sharding.mesh for sharding in found if sharding is not None), None)
        if mesh is not None:
            set_result_shardings(
                op,
                [
                    sharding or Sharding.replicated_over(mesh, rank_of(result.type))
                    for result, sharding in zip(op.results, found, strict=True)
                ],
            )


def _found(place: ShardedPlace | None) -> Sharding | None:
    """The sharding of a place; None where nothing is known of it."""
    if place is None or place.mesh is None:
        return None
    found = place.mesh.sharding(Spread(place.sharding.dimensions))
    said = place.said
    return (
        found
        if said is None
        else replace(found, replicated=said.replicated, unreduced=said.unreduced)
    )


def _mesh_atoms(module: ModuleOp) -> dict[str, MeshAtoms]:
    """The meshes of a module by what shardings call them, in parts that none of these cuts."""
    shardings = [(str(each.mesh), each) for each in all_shardings(module)]
    named: dict[str, tuple[str | Mesh, Mesh]] = {
        name: (name, mesh) for name, mesh in meshes_of(module).items()
    }
    for key, sharding in shardings:
        if isinstance(sharding.mesh, Mesh):
            named[key] = sharding.mesh, sharding.mesh
    return {
        key: MeshAtoms.of(*mesh, [sharding for other, sharding in shardings if other == key])
        for key, mesh in named.items()
    }


_SOURCES = (ConstantOp, IotaOp)
_OF_CONSTANTS: tuple[type[Operation], ...] = (
    *ELEMENTWISE,
    BroadcastOp,
    ConcatenateOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)


def _split_constants(function: FuncOp) -> dict[Operation, Operation]:
    """
    Gives every use of an array that is computed of constants its own operation.

    So the sharding of one use does not become that of another: what is computed of constants only,
    and broadcasts of scalars, cost nothing to make again. Returns the originals by their copies,
    and by themselves.
    """
    originals: dict[Operation, Operation] = {}
    operations = operations_in(function.body)
    constant: set[SSAValue] = set()
    for op in operations:
        if isinstance(op, _SOURCES) or (
            isinstance(op, _OF_CONSTANTS) and all(v in constant for v in operands_of(op))
        ):
            constant.update(op.results)
    for op in reversed(operations):
        if len(op.results) != 1 or not rank_of(op.results[0].type):
            continue
        is_expansion = isinstance(op, BroadcastOp) and not rank_of(operands_of(op)[0].type)
        if op.results[0] not in constant and not is_expansion:
            continue
        for use in list(op.results[0].uses)[1:]:
            copy = op.clone()
            copy.location = op.location
            copy.results[0].name_hint = op.results[0].name_hint
            insert_before(copy, op)
            use.operation.operands[use.index] = copy.results[0]
            originals[copy] = originals.setdefault(op, op)
    return originals


def _merge_constants(function: FuncOp, originals: Mapping[Operation, Operation]) -> None:
    """Puts those together again whose operands and shardings are the same."""
    seen: dict[tuple[object, ...], Operation] = {}
    identity = AttributeIdentities()
    for op in operations_in(function.body):
        original = originals.get(op)
        if original is None:
            continue
        key = op.parent, original, operands_of(op), identity.named(op.attributes)
        first = seen.setdefault(key, op)
        if first is not op:
            replace_uses(op.results[0], first.results[0])
            erase(op)


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
    arrays = projected(node.rule, [place.sharding for place in node.places], mesh)
    for factor, direction in enumerate(directions):
        if direction == NONE:
            continue
        parts = [
            (place, array, array.factors[factor])
            for place, array in zip(node.places, arrays, strict=True)
            if factor in array.factors
        ]
        if not parts:
            continue
        first, _, longest = max(parts, key=lambda part: len(part[2].atoms))
        for place, array, part in parts:
            if part.atoms != longest.atoms and place is not first:
                why = _why(mesh, array, part, factor, longest)
                yield (
                    f"{node.name}, factor {factor_name(factor)}: {first.name} has "
                    f"{_axes(mesh, longest.atoms)}, {place.name} {_axes(mesh, part.atoms)}: {why}"
                )


def _why(
    mesh: MeshAtoms,
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
    size = array.sizes[factor]
    if not part.is_minor_most and size % mesh.parts(longest.atoms):
        return f"its part of a dimension has size {size}"
    return "what is before it in its dimension is not split up"


def _axes(mesh: MeshAtoms, atoms: tuple[int, ...]) -> str:
    return spell_axes(mesh.axes_of(atoms))
