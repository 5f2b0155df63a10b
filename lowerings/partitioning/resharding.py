"""Reshards as operations: copies whose result has another sharding than their operand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.reshard_steps import (
    Atoms,
    ReshardProblem,
    ReshardStep,
    Spread,
    plan_reshard,
)
from xla_dialect.ops.custom_calls import ANNOTATIONS, SHARDING_GROUP, CustomCallOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.sharding.attributes import RESHARD, set_result_shardings
from xla_dialect.types import BY_TYPE, Array, sizes_of

REDUCTION = "sdy.reduction"
"""How a reshard folds what is unreduced, unless by sums."""


def reshard(
    value: SSAValue, mesh: MeshAtoms, spread: Spread, fold: str = "add", collective: str = ""
) -> CopyOp:
    """The operation that brings a value to another sharding."""
    attributes = {RESHARD: StringAttr(collective)}
    if fold != "add":
        attributes[REDUCTION] = StringAttr(fold)
    op = CopyOp.make([value], {}, result_types=[value.type], attributes=attributes)
    set_result_shardings(op, [mesh.sharding(spread)])
    return op


def is_reshard(op: Operation) -> bool:
    """Whether an operation is a reshard."""
    return isinstance(op, CopyOp) and RESHARD in op.attributes


def is_annotation(op: Operation) -> bool:
    """Whether an operation only says something of its operand, which is its result if any."""
    return isinstance(op, CustomCallOp) and (
        op.custom_call_target.data == SHARDING_GROUP
        or (op.custom_call_target.data in ANNOTATIONS and op.operand_types == op.result_types)
    )


def fold_name(op: Operation) -> str:
    """How a reshard folds what is unreduced."""
    found = op.attributes.get(REDUCTION)
    return found.data if isinstance(found, StringAttr) else "add"


@dataclass(frozen=True)
class ReshardPlan:
    """The steps from one spread to another, and the bytes that a device sends."""

    steps: Sequence[ReshardStep]
    bytes: float


def plan(mesh: MeshAtoms, type_: Array, before: Spread, after: Spread) -> ReshardPlan:
    """The plan for an array of this type, by atoms as coarse as both spreads allow."""
    if before == after:
        return ReshardPlan((), 0.0)
    element_bytes = BY_TYPE[type_.element_type].bits / 8
    return _plan(mesh, sizes_of(type_), element_bytes, before, after)


@lru_cache(1 << 14)
def _plan(
    mesh: MeshAtoms, sizes: tuple[int, ...], element_bytes: float, before: Spread, after: Spread
) -> ReshardPlan:
    runs = _runs(before, after)
    numbers = {run[0]: number for number, run in enumerate(runs)}
    problem = ReshardProblem(
        tuple(mesh.parts(run) for run in runs), sizes, element_bytes, _coarse(after, numbers)
    )
    steps, bytes_ = plan_reshard(problem, _coarse(before, numbers))

    def fine(atoms: Sequence[int]) -> Atoms:
        return tuple(atom for number in atoms for atom in runs[number])

    found = [
        replace(
            step,
            atoms=fine(step.atoms),
            after=Spread(
                tuple(map(fine, step.after.dimensions)),
                frozenset(fine(tuple(step.after.unreduced))),
            ),
        )
        for step in steps
    ]
    return ReshardPlan(tuple(found), bytes_)


def _coarse(spread: Spread, numbers: dict[int, int]) -> Spread:
    """By the numbers of runs of atoms; atoms inside of a run are left out."""
    dimensions = tuple(
        tuple(numbers[atom] for atom in atoms if atom in numbers) for atoms in spread.dimensions
    )
    return Spread(dimensions, frozenset(numbers[a] for a in spread.unreduced if a in numbers))


def _runs(before: Spread, after: Spread) -> list[Atoms]:
    """The atoms that either uses, those in one run that both have behind each other."""
    next_ = [_followers(before), _followers(after)]
    atoms = sorted(before.used | after.used)
    joined: dict[int, int] = {}
    for atom in atoms:
        follower = {side.get(atom) for side in next_}
        if len(follower) == 1 and None not in follower:
            other = follower.pop()
            assert other is not None
            joined[atom] = other
    inner = set(joined.values())
    runs: list[Atoms] = []
    for atom in atoms:
        if atom in inner:
            continue
        run = [atom]
        while run[-1] in joined:
            run.append(joined[run[-1]])
        runs.append(tuple(run))
    return runs


def _followers(spread: Spread) -> dict[int, int]:
    """The atom behind each, where one has to follow: in a dimension, or folded as well."""
    found: dict[int, int] = {}
    for atoms in (*spread.dimensions, tuple(sorted(spread.unreduced))):
        found.update(pairwise(atoms))
    return found
