"""The pass `xla-partition`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.functions import defined_functions
from lowerings.partitioning.annotations import is_annotation, runs_on_parts
from lowerings.partitioning.factors import FactorAtoms
from lowerings.partitioning.local_operation import (
    CHANNEL,
    LocalBuilder,
    LocalOperation,
)
from lowerings.partitioning.local_rules import Divisions, build_local
from lowerings.partitioning.mesh_atoms import (
    MeshAtoms,
    Spread,
    ValueShardings,
    program_mesh,
    static_sizes,
    whole,
)
from lowerings.partitioning.relations import computation
from lowerings.partitioning.resharding import Collective, ReshardStep, fold_name, is_reshard, plan
from lowerings.partitioning.xla_import_shardings import XlaImportShardingsPass
from lowerings.partitioning.xla_insert_reshards import XlaInsertReshardsPass
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass, ResultDifference
from xla_dialect.analysis.manual_borders import located_border
from xla_dialect.builder import XlaValue
from xla_dialect.builder.recorder import XlaComputation
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import process_counts, set_process_counts
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.sharding.attributes import MESHES, SHARDING, SHARDING_RULE, set_function_shardings
from xla_dialect.types import Array, array
from xla_dialect.violations import described
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import operands_of, operations_in


class XlaPartitionPass(ReportingPass):
    """
    Makes the program of one device out of that of all: arrays become its parts.

    It has collectives where there were reshards, and offsets that depend on the number of the
    partition; all partitions run it. The module says how many there are. A dimension that is not
    divisible is padded at its end; what is there is never used. Follows `xla-insert-reshards`.

    ```
    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    // becomes, for a mesh of 2
    func.func @main(%x: tensor<4x4xf32>)
    ```
    """

    name = "xla-partition"
    takes = UNLOWERED
    difference = ResultDifference(4096, "what devices have summed is summed in their order")

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through all functions; raises XlaError for what cannot be partitioned."""
        mesh = program_mesh(op)
        if mesh is None:
            return False
        replicas, partitions = process_counts(op)
        count = mesh.mesh.device_count
        if partitions not in (1, count) or replicas != 1:
            raise XlaError(
                f"{self.name}: the mesh has {count} devices, the module {replicas} replicas and "
                f"{partitions} partitions"
            )
        for function in defined_functions(op):
            _Partition(mesh, ValueShardings.of(function, mesh)).function(function)
        for each in operations_in(op):  # Of computations, too, that are as they were.
            for said in (SHARDING, SHARDING_RULE):
                each.attributes.pop(said, None)
        op.attributes.pop(MESHES, None)
        set_process_counts(op, 1, count)
        return True


def partition_borders(ctx: Context, module: ModuleOp) -> None:
    """
    Partitions a program along the borders of its manual computations only.

    Every device has all of what it takes and returns; of the rest nothing is said.
    """
    XlaImportShardingsPass().apply(ctx, module)
    mesh = program_mesh(module)
    assert mesh is not None
    for op in operations_in(module):
        op.attributes.pop(SHARDING, None)
        if isinstance(op, FuncOp):
            values = op.body.block.args, operands_of(cast(Operation, op.body.block.last_op))
            set_function_shardings(
                op, *([mesh.sharding(whole(v)) for v in side] for side in values)
            )
    XlaInsertReshardsPass().apply(ctx, module)
    XlaPartitionPass().apply(ctx, module)


@dataclass(eq=False)
class _Partition:
    """What is known while a function is gone through."""

    mesh: MeshAtoms
    shardings: ValueShardings
    local: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    divided: dict[Hashable, FactorAtoms | None] = field(
        default_factory=dict["Hashable", "FactorAtoms | None"]
    )
    """How equal operations are divided: layers repeat themselves."""
    divisions: Divisions = field(init=False)
    b: LocalBuilder = field(init=False)

    def local_type(self, value: SSAValue) -> Attribute:
        """The type of this device's part of a value."""
        return self.part(value.type, self.shardings.spread(value))

    def part(self, type_: Attribute, spread: Spread) -> Attribute:
        """The type of a part of an array; anything else is whole."""
        sizes = static_sizes(type_)
        if sizes is None or not any(spread.dimensions):
            return type_
        return array(cast(Array, type_).element_type, spread.blocks(sizes, self.mesh))

    def function(self, function: FuncOp) -> None:
        """Its parameters, its operations and its type."""
        block, self.divisions = function.body.block, Divisions(self.mesh)
        self.b = LocalBuilder(self.mesh)
        outputs = [self.local_type(value) for value in operands_of(cast(Operation, block.last_op))]
        inputs = [self.local_type(argument) for argument in block.args]
        self.block(block)
        function.function_type = type(function.function_type).from_lists(inputs, outputs)
        count = len(inputs), len(outputs)
        set_function_shardings(function, [None] * count[0], [None] * count[1])

    def block(self, block: Block) -> None:
        """Gives parameters their types, and replaces all operations but the last."""
        types = [self.local_type(argument) for argument in block.args]
        old = list(block.ops)
        self.b.heads[block] = old[0]
        replaced: list[SSAValue] = []
        for argument, type_ in zip(tuple(block.args), types, strict=True):
            # The old argument keeps its type for those that are still to be replaced.
            new = block.insert_arg(type_, argument.index)
            new.name_hint = argument.name_hint
            self.local[argument] = new
            replaced.append(argument)
        *operations, last = old
        for op in operations:
            self.b.stand_before(op)
            for result, value in zip(op.results, self.operation(op), strict=True):
                self.local[result] = value
        for i, value in enumerate(operands_of(last)):
            last.operands[i] = self.local[value]
        gone = set(operations)
        for value in (*replaced, *(result for op in operations for result in op.results)):
            self.captured(value, gone)
        for op in reversed(operations):
            erase(op)
        for argument in replaced:
            block.erase_arg(argument)  # pyright: ignore

    def captured(self, value: SSAValue, gone: Set[Operation]) -> None:
        """Gives the new value to computations that were taken over and use the old one."""
        users = [use.operation for use in value.uses if use.operation not in gone]
        if not users:
            return
        local = self.local[value]
        if local.type != value.type:
            raise XlaError(f"{described(users[0])} uses an array of outside that is split")
        value.replace_all_uses_with(local)

    def operation(self, op: Operation) -> Sequence[SSAValue]:
        """The values that stand for the results of an operation."""
        operands = [self.local[value] for value in operands_of(op)]
        if is_reshard(op):
            return [self.reshard(cast(CopyOp, op), operands[0])]
        if is_annotation(op) or located_border(op) is not None:
            return operands[: len(op.results)]
        if isinstance(op, XlaOp) and op.forwards_values():
            return self.computations(op, operands)
        if runs_on_parts(op):
            return self.copied(op, operands)
        if isinstance(op, CallOp):
            types = [self.local_type(result) for result in op.results]
            return insert_before(CallOp(op.callee, operands, types), op).results
        division = self.divisions.of(op)
        before = [self.shardings.spread(value) for value in operands_of(op)]
        results = [self.shardings.spread(value) for value in op.results]
        if division is None:
            if any(any(spread.dimensions) for spread in (*before, *results)):
                raise XlaError(
                    f"{described(op)} takes whole arrays: xla-insert-reshards makes them"
                )
            return self.copied(op, operands)
        key = division, tuple(before), tuple(results)
        if key not in self.divided:
            self.divided[key] = division.divided_by(before, results)
        divided = self.divided[key]
        if divided is None:
            raise XlaError(
                f"{described(op)} has shardings that contradict each other: xla-insert-reshards "
                "makes reshards of them"
            )
        values = [XlaValue(self.b, value) for value in operands]
        types = [self.local_type(result) for result in op.results]
        made = build_local(LocalOperation(division, divided, self.b, values, types))
        return [value.ssa for value in made]

    def copied(self, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operation as it is."""
        made = op.clone(dict(zip(operands_of(op), operands, strict=True)))
        made.attributes.pop(SHARDING, None)
        return list(insert_before(made, op).results)

    def reshard(self, op: CopyOp, value: SSAValue) -> SSAValue:
        """The collectives of a reshard."""
        before, after = self.shardings.spread(op.operand), self.shardings.spread(op.result)
        type_ = cast(Array, op.operand.type)
        sizes = static_sizes(type_)
        assert sizes is not None
        found = XlaValue(self.b, value)
        for step in plan(self.mesh, type_, before, after).steps:
            found = local_step(self.b, found, sizes, before, step, fold_name(op))
            before = step.after
        return found.ssa

    def computations(self, op: XlaOp, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """A loop or branch, the parts of whose values go through its computations."""
        types = [self.local_type(result) for result in op.results]
        attributes = {k: v for k, v in op.attributes.items() if k != SHARDING}
        for region in op.regions:
            self.block(region.block)
        made = type(op).make(
            operands,
            op.properties,
            [op.detach_region(r) for r in tuple(op.regions)],
            types,
            attributes,
        )
        return list(insert_before(made, op).results)


def local_step(
    b: LocalBuilder,
    value: XlaValue,
    sizes: Sequence[int],
    before: Spread,
    step: ReshardStep,
    fold: str,
) -> XlaValue:
    """What a device has after a step; `sizes` are those of the whole array."""
    count, groups = b.mesh.parts(step.atoms), b.groups(step.atoms)
    source, target = step.source, step.target
    folded = XlaComputation(fold, computation(fold, value.element_type), True, ())
    blocks = step.after.blocks(sizes, b.mesh)
    if target is not None:
        # Room for a block of equal size for every member.
        value = b.padded(value, target, 0, count * blocks[target] - value.shape[target])
    match step.collective:
        case Collective.ALL_SLICE:
            assert target is not None
            start = b.begin_of_block(step.atoms, blocks[target])
            return b.cut(value, target, start, blocks[target])
        case Collective.ALL_GATHER:
            assert source is not None
            value = b.gathered(value, source, step.atoms)
        case Collective.ALL_TO_ALL:
            assert source is not None
            assert target is not None
            value = b.all_to_all(value, target, source, count, groups, CHANNEL)
        case Collective.COLLECTIVE_PERMUTE:
            return b.permuted(value, _moves(b.mesh, before, step.after))
        case Collective.ALL_REDUCE:
            return b.all_reduce(value, folded, groups, CHANNEL, use_global_device_ids=True)
        case Collective.REDUCE_SCATTER:
            assert target is not None
            return b.reduce_scatter(
                value, folded, target, count, groups, CHANNEL, use_global_device_ids=True
            )
        case Collective.SHARDED_TO_UNREDUCED:
            # The block of a device among zeros, in the place that it has in a larger block.
            assert source is not None
            zeros = b.broadcast(
                b.scalar(0, value.element_type),
                [n * count if d == source else n for d, n in enumerate(value.shape)],
            )
            start = b.begin_of_block(step.atoms, value.shape[source])
            places = [start if d == source else 0 for d in range(value.rank)]
            value = b.dynamic_update_slice(zeros, value, places)
        case Collective.REPLICATED_TO_UNREDUCED:
            is_first = b.begin_of_block(step.atoms, 1) == 0
            return b.select(b.broadcast(is_first, value.shape), value, 0)
    return b.piece(value, source, 0, blocks[source])


def _moves(mesh: MeshAtoms, before: Spread, after: Spread) -> list[tuple[int, int]]:
    """
    From a device that has a block to each that is to have it, along the atoms that take part.

    Along others devices may have other terms of it, or other values in a manual computation.
    """
    moving = {atom for atoms in (*before.dimensions, *after.dimensions) for atom in atoms}
    terms = mesh.blocks(tuple(a for a in range(len(mesh.atoms)) if a not in moving))

    def held(spread: Spread) -> list[tuple[int, ...]]:
        return list(zip(*map(mesh.blocks, spread.dimensions), terms, strict=True))

    owners: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for device, block in enumerate(held(before)):
        owners[block].append(device)
    wanted = list(enumerate(held(after)))
    pairs: list[tuple[int, int]] = []
    for stays in (True, False):
        for device, block in wanted:
            if stays and device in owners[block]:
                owners[block].remove(device)
                pairs.append((device, device))
            elif not stays and (device, device) not in pairs:
                pairs.append((owners[block].pop(0), device))
    return sorted(pairs)
