"""The pass `xla-reshard-to-collectives`."""

from __future__ import annotations

from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from lowerings.partitioning.mesh_atoms import MeshAtoms, Spread, ValueShardings, functions_over_mesh
from lowerings.partitioning.resharding import fold_name, is_reshard, plan, reshard
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.types import Array
from xla_dialect.xdsl.linking import erase, insert_before, replace_uses
from xla_dialect.xdsl.traversal import operations_in


class XlaReshardToCollectivesPass(ReportingPass):
    """
    Replaces each reshard by the collectives that send the fewest bytes.

    They are reshards as well, each of one collective: all_gather, all_slice, all_to_all,
    collective_permute, all_reduce or reduce_scatter. A reshard of a reshard that nothing else uses
    is one; so an all-reduce of which each device needs a part is a reduce-scatter. Bytes are those
    that a device sends in a ring.

    ```
    %1 = xla.copy %0 {sdy.reshard = "", sdy.sharding = <[<@mesh, [{}, {"x"}]>]>}
    // becomes, where %0 is split over "x" along its first dimension
    %1 = xla.copy %0 {sdy.reshard = "all_to_all", sdy.sharding = <[<@mesh, [{}, {"x"}]>]>}
    ```
    """

    name = "xla-reshard-to-collectives"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all functions; raises XlaError for shardings over several meshes."""
        found = list(functions_over_mesh(op))
        for function, mesh in found:
            _expand_reshards(function, mesh)
        return bool(found)


def _expand_reshards(function: FuncOp, mesh: MeshAtoms) -> None:
    shardings = ValueShardings.of(function, mesh)
    for op in operations_in(function):
        if not isinstance(op, CopyOp) or not is_reshard(op) or _is_inner(op, shardings):
            continue
        chain = [op]
        while (source := _reshard_of(chain[-1].operand)) and _is_inner(source, shardings):
            chain.append(source)
        start = chain[-1].operand
        folds = {fold_name(each) for each in chain} - {"add"}
        _insert_steps(op, start, mesh, shardings, next(iter(folds), "add"))
        for each in chain:
            erase(each)


def _reshard_of(value: SSAValue) -> CopyOp | None:
    """The reshard that gives a value."""
    op = value.owner
    return op if isinstance(op, CopyOp) and is_reshard(op) else None


def _is_inner(op: CopyOp, shardings: ValueShardings) -> bool:
    """
    Whether a reshard is only there to be resharded.

    What is folded otherwise than by a sum has to be, before it is in terms of a sum.
    """
    last = op
    while len(uses := list(last.result.uses)) == 1 and is_reshard(user := uses[0].operation):
        last = cast(CopyOp, user)
    is_sum = fold_name(op) == "add"
    return last is not op and (is_sum or not shardings.spread(last.result).unreduced)


def _insert_steps(
    op: CopyOp, value: SSAValue, mesh: MeshAtoms, shardings: ValueShardings, fold: str
) -> None:
    before: Spread = shardings.spread(value)
    steps = plan(mesh, cast(Array, value.type), before, shardings.spread(op.result)).steps
    for step in steps:
        made = reshard(value, mesh, step.after, fold, step.collective.value)
        value = insert_before(made, op).result
    replace_uses(op.result, value)
