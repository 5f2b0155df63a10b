"""What the partitioner can do with each operation: the one table."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, TupleType
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.partitioning import (
    local_dynamic_slices,
    local_indexing,
    local_movement,
    local_random,
    local_reduction,
    local_windows,
)
from lowerings.partitioning.custom_call_relations import custom_call_relations
from lowerings.partitioning.factor_atoms import Division, FactorAtoms, is_regular
from lowerings.partitioning.folds import fold_of
from lowerings.partitioning.linear_operations import linear_operands
from lowerings.partitioning.local_blocks import sent_elements
from lowerings.partitioning.local_operation import (
    DividedOperation,
    LocalOperation,
    LocalRule,
    regular,
)
from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.picked_dimensions import picking_relations
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.dimensions import DimensionRelations, FactorType
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.custom_calls import PARTITIONED_CALLBACK, CustomCallOp
from xla_dialect.ops.random import RngGetAndUpdateStateOp, RngOp
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.types import BY_TYPE, Array
from xla_dialect.xdsl.traversal import operands_of

RULES: dict[type[XlaOp], LocalRule] = {
    **local_movement.RULES,
    **local_windows.RULES,
    **local_indexing.RULES,
    **local_dynamic_slices.RULES,
    **local_reduction.RULES,
    **local_random.RULES,
}
WHOLE = (ScanOp, RngOp, RngGetAndUpdateStateOp)
"""Computed whole by every device: a computation on arrays, and numbers that depend on places."""


def runs_on_parts(op: Operation) -> bool:
    """Whether each device runs an operation on the parts that it happens to have."""
    if not isinstance(op, CustomCallOp) or op.results:
        return False
    return op.custom_call_target.data == PARTITIONED_CALLBACK


def division_of(op: Operation, mesh: MeshAtoms) -> Division | None:
    """How an operation may be divided; None where nothing is known of its dimensions."""
    if not isinstance(op, XlaOp) or isinstance(op, WHOLE):
        return None
    operands = tuple([static_sizes(value.type) for value in operands_of(op)])
    results = tuple([static_sizes(result.type) for result in op.results])
    if None in operands or None in results:
        return None
    sizes = (
        cast("tuple[tuple[int, ...], ...]", operands),
        cast("tuple[tuple[int, ...], ...]", results),
    )
    relations = _relations(op, *sizes)
    if relations is None:
        return None

    def admits(division: Division, factor: int, atoms: Atoms) -> bool:
        if isinstance(op, CustomCallOp) and relations.factors[factor].size % mesh.parts(atoms):
            return False  # What it makes of padding, nobody knows.
        if is_regular(relations, factor):
            if relations.factors[factor].type is FactorType.REDUCTION:
                return fold_of(op) is not None
            # What results do not have, such as a size of 1 that a reshape drops, one device has.
            return any(factor in dimension for dims in relations.results for dimension in dims)
        rule = RULES.get(type(op))
        return rule is not None and rule.admits(op, division, factor, atoms)

    return Division(mesh, relations, *sizes, admits, linear_operands(op))


def _relations(
    op: XlaOp, operands: Sequence[Sizes], results: Sequence[Sizes]
) -> DimensionRelations | None:
    if isinstance(op, CustomCallOp):
        return custom_call_relations(op, operands, results)
    if op.contract().relate is None:
        return None
    return picking_relations(op, op.relations_for(operands, results, op.properties), results)


def static_sizes(type_: Attribute) -> tuple[int, ...] | None:
    """The sizes of an array, none for what is no array; None where some are dynamic."""
    if not isinstance(type_, TensorType):
        return None if isinstance(type_, TupleType) else ()
    sizes = cast(Array, type_).get_shape()
    return None if DYNAMIC_INDEX in sizes else sizes


def moved_bytes(op: XlaOp, division: Division, divided: FactorAtoms) -> float:
    """What a device sends, beside reshards, for a division of an operation."""
    rule = RULES.get(type(op))
    if rule is None or not divided:
        return 0.0
    found, total = DividedOperation(op, division, divided), 0.0
    for move in rule.moves(found):
        here, type_ = found.blocked(move.operand, move.d), op.operands[move.operand].type
        element_bytes = BY_TYPE[cast(Array, type_).element_type].bits / 8
        block = element_bytes * prod(found.local_sizes(move.operand))
        if here.block:
            total += sent_elements(here, move.starts, move.length) * block / here.block
    return total


def build_local(local: LocalOperation) -> Sequence[SSAValue]:
    """The part of an operation that one device computes."""
    rule = RULES.get(type(local.op))
    return regular(local) if rule is None else rule.build(local)
