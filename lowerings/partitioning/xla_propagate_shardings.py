"""The pass `xla-propagate-shardings`."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from lowerings.ir.functions import defined_functions
from lowerings.partitioning.constant_uses import ConstantUses
from lowerings.partitioning.explanation import explanation
from lowerings.partitioning.factor_propagation import STRATEGIES
from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.op_rules import rank_of
from lowerings.partitioning.propagation import Propagation
from lowerings.partitioning.propagation_graph import Graph, ShardedPlace
from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.options import require_option
from lowerings.simplify.xla_inline import XlaInlinePass
from xla_dialect.analysis.computations import is_call
from xla_dialect.analysis.manual_borders import all_shardings
from xla_dialect.diagnostics import XlaError
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    meshes_of,
    set_function_shardings,
    set_result_shardings,
)
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.verification import ShardingFault, verify_shardings
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operations_in


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
        strategies = STRATEGIES[self.strategy]
        if any(map(is_call, operations_in(op))):
            XlaInlinePass(everything=True).apply(ctx, op)
        try:
            verify_shardings(op)
        except ShardingFault as fault:
            raise XlaError(f"{described(fault.operation)}: {fault}") from None
        meshes = _mesh_atoms(op)
        if not meshes:
            return False
        for function in defined_functions(op):
            uses = ConstantUses.split(function)
            graph = Graph.of(function, meshes)
            Propagation(graph, strategies).run()
            if self.explain:
                print(explanation(function.sym_name.data, graph), file=sys.stderr)
            _write(function, graph)
            uses.merge()
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
    mesh = place.mesh
    found = Sharding.of_axes(mesh.name, [mesh.axes_of(d) for d in place.sharding.dimensions])
    said = place.said
    return (
        found
        if said is None
        else replace(found, replicated=said.replicated, unreduced=said.unreduced)
    )


def _mesh_atoms(module: ModuleOp) -> dict[str, MeshAtoms]:
    """The meshes of a module by what shardings call them, in parts that none of these cuts."""
    meshes = meshes_of(module)
    shardings: dict[str, list[Sharding]] = {name: [] for name in meshes}
    named: dict[str, str | Mesh] = {name: name for name in meshes}
    for sharding in all_shardings(module):
        key = str(sharding.mesh)
        if isinstance(sharding.mesh, Mesh):
            named[key] = sharding.mesh
        shardings.setdefault(key, []).append(sharding)
    found: dict[str, MeshAtoms] = {}
    for key, name in named.items():
        mesh = name if isinstance(name, Mesh) else meshes[name]
        found[key] = MeshAtoms.of(name, mesh, shardings[key])
    return found
