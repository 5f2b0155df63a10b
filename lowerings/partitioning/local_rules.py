"""What the partitioner can do with each operation: the one table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.ir import Operation

from lowerings.ir.equality import StructuralKeys
from lowerings.partitioning import local_indexing, local_movement, local_windows
from lowerings.partitioning.factors import Division, FactorAtoms, is_regular
from lowerings.partitioning.local_operation import (
    DividedOperation,
    LocalOperation,
    LocalRule,
    regular,
    sent_elements,
)
from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms, static_sizes
from lowerings.partitioning.relations import (
    custom_call_relations,
    fold_of,
    linear_operands,
    picking_relations,
)
from xla_dialect.builder import XlaValue
from xla_dialect.dimensions import DimensionRelations, FactorType
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.random import RngGetAndUpdateStateOp, RngOp
from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.types import BY_TYPE, Array
from xla_dialect.xdsl.traversal import operands_of

RULES: dict[type[XlaOp], LocalRule] = {
    **local_movement.RULES,
    **local_indexing.RULES,
    **local_windows.RULES,
}
WHOLE = (ScanOp, RngOp, RngGetAndUpdateStateOp)
"""Computed whole by every device: a computation on arrays, and numbers that depend on places."""


@dataclass(eq=False)
class Divisions:
    """How operations may be divided over a mesh: found once for those that are equal."""

    mesh: MeshAtoms
    keys: StructuralKeys = field(default_factory=StructuralKeys)
    found: dict[Hashable, Division | None] = field(
        default_factory=dict["Hashable", "Division | None"]
    )

    def of(self, op: Operation) -> Division | None:
        """How an operation may be divided; None where nothing is known of its dimensions."""
        key = (
            self.keys.form(op, of_attributes=isinstance(op, CustomCallOp)),
            tuple([self.keys.identity(value.type) for value in operands_of(op)]),
            self.keys.of(op.regions) if op.regions else None,
        )
        if key not in self.found:
            self.found[key] = _division(op, self.mesh)
        division = self.found[key]
        if division is not None:
            division.op = cast(XlaOp, op)  # The one before may have been erased since.
        return division


def _division(op: Operation, mesh: MeshAtoms) -> Division | None:
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
    return Division(op, mesh, relations, *sizes, _admits, linear_operands(op))


def _admits(division: Division, factor: int, atoms: Atoms) -> bool:
    op, relations = division.op, division.relations
    found = relations.factors[factor]
    if isinstance(op, CustomCallOp) and found.size % division.mesh.parts(atoms):
        return False  # What it makes of padding, nobody knows.
    if is_regular(relations, factor):
        if found.type is FactorType.REDUCTION:
            return fold_of(op) is not None
        # What results do not have, such as a size of 1 that a reshape drops, one device has.
        return any(factor in dimension for dims in relations.results for dimension in dims)
    rule = RULES.get(type(op))
    return rule is not None and rule.admits(division, factor, atoms)


def _relations(
    op: XlaOp, operands: Sequence[Sizes], results: Sequence[Sizes]
) -> DimensionRelations | None:
    if isinstance(op, CustomCallOp):
        return custom_call_relations(op, operands, results)
    if op.contract().relate is None:
        return None
    return picking_relations(op, op.relations_for(operands, results, op.properties), results)


def moved_bytes(division: Division, divided: FactorAtoms) -> float:
    """What a device sends, beside reshards, for a division of an operation."""
    rule = RULES.get(type(division.op))
    if rule is None or not divided:
        return 0.0
    found, total = DividedOperation(division, divided), 0.0
    for move in rule.moves(found):
        here, type_ = found.blocked(move.operand, move.d), found.op.operands[move.operand].type
        element_bytes = BY_TYPE[cast(Array, type_).element_type].bits / 8
        block = element_bytes * prod(found.local_sizes(move.operand))
        if here.block:
            total += sent_elements(here, move) * block / here.block
    return total


def build_local(local: LocalOperation) -> Sequence[XlaValue]:
    """The part of an operation that one device computes."""
    rule = RULES.get(type(local.op))
    return regular(local) if rule is None else rule.build(local)
