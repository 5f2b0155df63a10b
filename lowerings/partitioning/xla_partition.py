"""The pass `xla-partition`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.functions import defined_functions
from lowerings.partitioning.factor_atoms import FactorAtoms
from lowerings.partitioning.local_builder import LocalBuilder
from lowerings.partitioning.local_collectives import local_step
from lowerings.partitioning.local_operation import LocalOperation
from lowerings.partitioning.local_rules import build_local, division_of, runs_on_parts, static_sizes
from lowerings.partitioning.mesh_atoms import MeshAtoms, program_mesh
from lowerings.partitioning.reshard_steps import Spread
from lowerings.partitioning.resharding import fold_name, is_annotation, is_reshard, plan
from lowerings.partitioning.value_shardings import ValueShardings
from lowerings.rewriting.change import ReportingPass
from lowerings.rewriting.difference import ResultDifference
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.analysis.manual_borders import located_border
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import process_counts, set_process_counts
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.shapes.size_arithmetic import ceil_div
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


@dataclass(eq=False)
class _Partition:
    """What is known while a function is gone through."""

    mesh: MeshAtoms
    shardings: ValueShardings
    local: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    divisions: dict[Hashable, FactorAtoms | None] = field(
        default_factory=dict["Hashable", "FactorAtoms | None"]
    )
    """The divisions of operations found so far: layers repeat themselves."""
    b: LocalBuilder = field(init=False)

    def local_type(self, value: SSAValue) -> Attribute:
        """The type of this device's part of a value."""
        return self.part(value.type, self.shardings.spread(value))

    def part(self, type_: Attribute, spread: Spread) -> Attribute:
        """The type of a part of an array; anything else is whole."""
        sizes = static_sizes(type_)
        if sizes is None or not any(spread.dimensions):
            return type_
        blocks = [
            ceil_div(n, self.mesh.parts(atoms))
            for n, atoms in zip(sizes, spread.dimensions, strict=True)
        ]
        return array(cast(Array, type_).element_type, blocks)

    def function(self, function: FuncOp) -> None:
        """Its parameters, its operations and its type."""
        block = function.body.block
        self.b = LocalBuilder(self.mesh, cast(Operation, block.first_op))
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
        whole: list[SSAValue] = []
        for argument, type_ in zip(tuple(block.args), types, strict=True):
            # The old argument keeps its type for those that are still to be replaced.
            new = block.insert_arg(type_, argument.index)
            new.name_hint = argument.name_hint
            self.local[argument] = new
            whole.append(argument)
        *operations, last = old
        for op in operations:
            self.b.anchor = op
            for result, value in zip(op.results, self.operation(op), strict=True):
                self.local[result] = value
        for i, value in enumerate(operands_of(last)):
            last.operands[i] = self.local[value]
        gone = set(operations)
        for value in (*whole, *(result for op in operations for result in op.results)):
            self.captured(value, gone)
        for op in reversed(operations):
            erase(op)
        for argument in whole:
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
        division = division_of(op, self.mesh)
        before = [self.shardings.spread(value) for value in operands_of(op)]
        results = [self.shardings.spread(value) for value in op.results]
        if division is None:
            if any(any(spread.dimensions) for spread in (*before, *results)):
                raise XlaError(
                    f"{described(op)} takes whole arrays: xla-insert-reshards makes them"
                )
            return self.copied(op, operands)
        key = type(op), division.relations, tuple(before), tuple(results)
        if key not in self.divisions:
            self.divisions[key] = division.divided_by(before, results)
        divided = self.divisions[key]
        if divided is None:
            raise XlaError(
                f"{described(op)} has shardings that contradict each other: xla-insert-reshards "
                "makes reshards of them"
            )
        return build_local(
            LocalOperation(
                cast(XlaOp, op),
                division,
                divided,
                self.b,
                operands,
                [self.local_type(result) for result in op.results],
            )
        )

    def copied(self, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The operation as it is."""
        made = op.clone(dict(zip(operands_of(op), operands, strict=True)))
        made.attributes.pop(SHARDING, None)
        insert_before(made, op)
        return list(made.results)

    def reshard(self, op: CopyOp, value: SSAValue) -> SSAValue:
        """The collectives of a reshard."""
        before, after = self.shardings.spread(op.operand), self.shardings.spread(op.result)
        type_ = cast(Array, op.operand.type)
        sizes = static_sizes(type_)
        assert sizes is not None
        for step in plan(self.mesh, type_, before, after).steps:
            value = local_step(self.b, value, sizes, before, step, fold_name(op))
            before = step.after
        return value

    def computations(self, op: XlaOp, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """A loop or branch, the parts of whose values go through its computations."""
        types = [self.local_type(result) for result in op.results]
        attributes = {k: v for k, v in op.attributes.items() if k != SHARDING}
        for region in op.regions:
            self.block(region.block)
        self.b.anchor = op
        made = type(op).make(
            operands,
            op.properties,
            [op.detach_region(r) for r in tuple(op.regions)],
            types,
            attributes,
        )
        made.location = op.location
        insert_before(made, op)
        return list(made.results)
