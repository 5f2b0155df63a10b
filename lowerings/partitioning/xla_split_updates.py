"""The pass `xla-split-updates`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.partitioning.annotations import is_annotation
from lowerings.partitioning.costs import flops_of
from lowerings.partitioning.factors import Division, is_regular
from lowerings.partitioning.local_rules import Divisions
from lowerings.partitioning.mesh_atoms import (
    Atoms,
    MeshAtoms,
    Spread,
    ValueShardings,
    functions_over_mesh,
)
from lowerings.partitioning.relations import fold_of
from lowerings.partitioning.resharding import is_reshard, plan, reshard, sent_bytes
from lowerings.partitioning.xla_insert_reshards import OPERATIONS_PER_BYTE
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.dimensions import FactorType
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp, CopyOp
from xla_dialect.sharding.attributes import set_result_shardings
from xla_dialect.types import Array, sizes_of
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import operands_of, operations_in


class XlaSplitUpdatesPass(ReportingPass):
    """
    Lets each device compute a part of what all would compute of an all-reduced array.

    Such are the updates of weights that every device has. An all-reduce sends as much as a
    reduce-scatter and an all-gather behind what is computed: where one array comes out, the work is
    divided for nothing. With several results, as of an optimizer that keeps moments, it is done
    where what is saved is worth the bytes, by the measure of `xla-insert-reshards`. Follows that.
    Terms that were carried on after they were made are all-reduced where the program says.

    ```
    %1 = xla.copy %0 {sdy.reshard = "", sdy.sharding = <[<@mesh, [{}, {}]>]>}
    %2 = xla.subtract %w, %1 {sdy.sharding = <[<@mesh, [{}, {}]>]>}
    // becomes, where %0 has unreduced={"x"}
    %1 = xla.copy %0 {sdy.reshard = "", sdy.sharding = <[<@mesh, [{"x"}, {}]>]>}
    %2 = xla.copy %w {sdy.reshard = "", sdy.sharding = <[<@mesh, [{"x"}, {}]>]>}
    %3 = xla.subtract %2, %1 {sdy.sharding = <[<@mesh, [{"x"}, {}]>]>}
    %4 = xla.copy %3 {sdy.reshard = "", sdy.sharding = <[<@mesh, [{}, {}]>]>}
    ```
    """

    name = "xla-split-updates"
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all blocks that have reshards; raises XlaError for several meshes."""
        changed = False
        for function, mesh in functions_over_mesh(op):
            shardings, divisions = ValueShardings.of(function, mesh), Divisions(mesh)
            blocks = dict.fromkeys(
                each.parent for each in operations_in(function) if is_reshard(each)
            )
            for block in blocks:
                assert block is not None
                for update in _Search(mesh, shardings, divisions).updates(block):
                    if update.is_worth_it():
                        update.split()
                        changed = True
        return changed


@dataclass(eq=False)
class _Update:
    """What is computed of arrays that are all-reduced, each value in the parts it could have."""

    mesh: MeshAtoms
    shardings: ValueShardings
    spreads: dict[SSAValue, Spread] = field(default_factory=dict[SSAValue, Spread])
    """Of the all-reduced arrays and all that is computed of them, in the order of the text."""
    operands: dict[XlaOp, Sequence[Spread]] = field(default_factory=dict[XlaOp, "Sequence[Spread]"])
    """What the operations take, but for the reshards."""

    def inputs(self) -> Iterator[tuple[XlaOp, int, Spread]]:
        """The operations, with numbers, that take what is computed elsewhere."""
        for op, spreads in self.operands.items():
            for i, (value, spread) in enumerate(zip(operands_of(op), spreads, strict=True)):
                if value not in self.spreads and self.shardings.spread(value) != spread:
                    yield op, i, spread

    def users(self, value: SSAValue) -> list[tuple[Operation, int]]:
        """The uses of a value elsewhere."""
        uses = [(use.operation, use.index) for use in value.uses]
        return [(op, i) for op, i in uses if op not in self.operands]

    def is_worth_it(self) -> bool:
        """Whether the bytes that are sent on top are less than the work that is saved."""
        added = saved = 0.0
        for value, after in self.spreads.items():
            before, op = self.shardings.spread(value), value.owner
            if is_all_reduce(cast(Operation, op), self.shardings):
                terms = cast(CopyOp, op).operand
                start = self.shardings.spread(terms)
                added += sent_bytes(self.mesh, terms, start, after) - sent_bytes(
                    self.mesh, terms, start, before
                )
            else:
                here, there = (self.mesh.parts(spread.used) for spread in (before, after))
                saved += flops_of(cast(XlaOp, op)) * (1 / here - 1 / there)
            if self.users(value):
                added += sent_bytes(self.mesh, value, after, before)
        for op, i, spread in self.inputs():
            value = op.operands[i]
            if not _is_made_anywhere(value.owner):
                added += sent_bytes(self.mesh, value, self.shardings.spread(value), spread)
        return added < saved / OPERATIONS_PER_BYTE

    def split(self) -> None:
        """Gives all values their parts, and others that use them the whole."""
        for op, i, spread in list(self.inputs()):
            value = op.operands[i]
            op.operands[i] = self.part(value, spread, op)
            if _is_made_anywhere(value.owner) and not any(value.uses):
                erase(cast(Operation, value.owner))
        for value, spread in self.spreads.items():
            op, users = cast(Operation, value.owner), self.users(value)
            set_result_shardings(op, [self.mesh.sharding(spread)])
            if users:
                whole = reshard(value, self.mesh, self.shardings.spread(value))
                whole.location = op.location
                following = op.next_op
                assert following is not None
                insert_before(whole, following)
                for user, i in users:
                    user.operands[i] = whole.result

    def part(self, value: SSAValue, spread: Spread, user: Operation) -> SSAValue:
        """The part of an array that is computed elsewhere."""
        if _is_made_anywhere(value.owner):
            made = cast(Operation, value.owner).clone()
            set_result_shardings(made, [self.mesh.sharding(spread)])
        else:
            made = reshard(value, self.mesh, spread)
        made.location = user.location
        insert_before(made, user)
        return made.results[0]


@dataclass(eq=False)
class _Search:
    """Goes through a block from its all-reduces on."""

    mesh: MeshAtoms
    shardings: ValueShardings
    divisions: Divisions
    found: dict[SSAValue, _Update] = field(default_factory=dict[SSAValue, _Update])
    known: dict[Hashable, Sequence[Spread] | None] = field(
        default_factory=dict["Hashable", "Sequence[Spread] | None"]
    )
    """How equal operations can be computed in parts: layers repeat themselves."""

    def updates(self, block: Block) -> Sequence[_Update]:
        """The updates of a block, none with values of another."""
        for op in block.ops:
            if is_all_reduce(op, self.shardings):
                spread = self.scattered(cast(CopyOp, op))
                if spread is not None:
                    update = _Update(self.mesh, self.shardings, {op.results[0]: spread})
                    self.found[op.results[0]] = update
            elif isinstance(op, XlaOp) and not is_reshard(op) and not op.forwards_values():
                self.follow(op)
        return list(dict.fromkeys(self.found.values()))

    def scattered(self, op: CopyOp) -> Spread | None:
        """The equal parts of an all-reduced array that take the fewest bytes; None for none."""
        terms = op.operand.owner
        if not isinstance(terms, XlaOp) or is_annotation(terms) or fold_of(terms) is None:
            return None  # A program that carries terms along says itself where it sums them.
        type_ = cast(Array, op.result.type)
        sizes, before = sizes_of(type_), self.shardings.spread(op.operand)
        after = self.shardings.spread(op.result)
        candidates: dict[Spread, tuple[int, int, int]] = {}
        for first in range(len(sizes)):
            order = sorted(range(len(sizes)), key=lambda d: (d != first, d))
            dimensions: list[Atoms] = list(before.dimensions)
            for atom in sorted(before.unreduced):
                for d in order:
                    if sizes[d] % self.mesh.parts((*dimensions[d], atom)) == 0 and sizes[d]:
                        dimensions[d] = (*dimensions[d], atom)
                        break
            found = Spread(tuple(dimensions))
            ways = [plan(self.mesh, type_, *way) for way in ((before, found), (found, after))]
            bytes_, steps = sum(way.bytes for way in ways), sum(len(way.steps) for way in ways)
            candidates[found] = -self.mesh.parts(found.used), round(bytes_), steps
        candidates.pop(after, None)
        return min(candidates, key=candidates.__getitem__, default=None)

    def follow(self, op: XlaOp) -> None:
        """Adds an operation that can be computed in the parts of what it takes."""
        values = [value for value in operands_of(op) if value in self.found]
        division = self.divisions.of(op) if values and len(op.results) == 1 else None
        if division is None:
            return
        parts = tuple(
            (i, self.found[value].spreads[value])
            for i, value in enumerate(operands_of(op))
            if value in self.found
        )
        key = division, parts
        if key not in self.known:
            self.known[key] = self.spreads(division, parts)
        spreads = self.known[key]
        if spreads is None:
            return
        first, *others = dict.fromkeys(self.found[value] for value in values)
        for other in others:
            first.spreads.update(other.spreads)
            first.operands.update(other.operands)
        *operands, result = spreads
        first.operands[op] = operands
        first.spreads[op.results[0]] = result
        self.found.update(dict.fromkeys(first.spreads, first))

    def spreads(
        self, division: Division, parts: Sequence[tuple[int, Spread]]
    ) -> Sequence[Spread] | None:
        """
        Those of the operands, then of the result, where some operands have these.

        None where that is not the same division.
        """
        relations, (i, spread) = division.relations, parts[0]
        divided = division.merged([division.said_by_array(relations.operands[i], spread)])
        for factor in divided:
            passes = relations.factors[factor].type is FactorType.PASS_THROUGH
            if not passes or not is_regular(relations, factor):
                return None
        operands, (result,) = division.operand_spreads(divided), division.result_spreads(divided)
        elements = prod(division.operand_sizes[i]), prod(division.result_sizes[0])
        is_all_there = self.mesh.parts(result.used) == self.mesh.parts(spread.used)
        if any(operands[n] != each for n, each in parts) or not is_all_there:
            return None
        return (*operands, result) if elements[0] == elements[1] else None


def is_all_reduce(op: Operation, shardings: ValueShardings) -> bool:
    """Whether an operation is a reshard that folds an array, and does nothing else."""
    if not is_reshard(op):
        return False
    before, after = shardings.spread(operands_of(op)[0]), shardings.spread(op.results[0])
    return bool(before.unreduced) and after == Spread(before.dimensions)


def _is_made_anywhere(op: Operation | Block) -> bool:
    """Whether a device makes its part of what an operation gives itself."""
    if isinstance(op, BroadcastOp):
        return not sizes_of(cast(Array, op.operand.type))
    return isinstance(op, (ConstantOp, IotaOp))
