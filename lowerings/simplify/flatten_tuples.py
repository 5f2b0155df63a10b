"""The pass `xla-flatten-tuples`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, TupleType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.simplify.alias_attributes import put_entry_aliases, take_entry_aliases
from xla_dialect.ops.control_flow import OptBarrierOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.types import flatten


class XlaFlattenTuplesPass(ModulePass):
    """
    Replaces every tuple by its leaves, at every depth: no value has a tuple type afterwards.

    Functions, computations, loops, branches, calls and reductions take and return the leaves one
    by one; `tuple` and `get_tuple_element` disappear; an empty tuple is nothing at all.

    ```
    func.func @main(%x: tuple<tensor<f32>, tensor<i32>>) -> tuple<tensor<i32>, tensor<f32>> {
      %0 = xla.get_tuple_element %x {index = 0} : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
      %1 = xla.get_tuple_element %x {index = 1} : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>
      %2 = xla.tuple %1, %0 : (tensor<i32>, tensor<f32>) -> tuple<tensor<i32>, tensor<f32>>
      func.return %2 : tuple<tensor<i32>, tensor<f32>>
    }
    // becomes
    func.func @main(%x: tensor<f32>, %y: tensor<i32>) -> (tensor<i32>, tensor<f32>) {
      func.return %y, %x : tensor<i32>, tensor<f32>
    }
    ```
    """

    name = "xla-flatten-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through the module once, from first to last and from the outside in."""
        aliased = take_entry_aliases(op)
        flattening = Flattening()
        for block in op.body.blocks:
            flattening.flatten_block(block)
        flattening.erase_tuples()
        if aliased is not None:
            put_entry_aliases(*aliased)


def _is_tuple(value: SSAValue) -> bool:
    return isinstance(value.type, TupleType)


@dataclass(eq=False)
class Flattening:
    """The leaves of every tuple seen so far, and what is to be erased at the end."""

    leaves: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    dead: list[Operation | BlockArgument] = field(default_factory=list[Operation | BlockArgument])

    def flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """All leaves of the values, in order."""
        found: list[SSAValue] = []
        for value in values:
            if _is_tuple(value):
                found.extend(self.leaves[value])
            else:
                found.append(value)
        return found

    def flatten_block(self, block: Block) -> None:
        """Flattens the parameters and all operations of a block."""
        for argument in block.args:
            if _is_tuple(argument):
                self.leaves[argument] = [
                    block.insert_arg(leaf, argument.index) for leaf in flatten([argument.type])
                ]
                self.dead.append(argument)
        op = block.first_op
        while op is not None:
            following = op.next_op
            self.flatten_operation(op)
            op = following

    def flatten_operation(self, op: Operation) -> None:
        """Takes apart the operands and results of an operation, then its regions."""
        match op:
            case TupleOp():
                self.leaves[op.result] = self.flat(op.operands)
                self.dead.append(op)
            case GetTupleElementOp():
                self._select(op)
            case ConstantOp() if _is_tuple(op.result):
                literals = _literals(op.value)
                parts = [ConstantOp.make((), {"value": v}, (), None) for v in literals]
                self._insert(parts, op)
                self._replace(op, [part.result for part in parts])
            case OptBarrierOp() if _is_tuple(op.operand):
                barriers = [OptBarrierOp.make([v], {}) for v in self.flat(op.operands)]
                self._insert(barriers, op)
                self._replace(op, [barrier.result for barrier in barriers])
            case _ if any(_is_tuple(r) for r in op.results):
                op = self._rebuild(op)
            case _ if any(_is_tuple(o) for o in op.operands):
                op.operands = self.flat(op.operands)
            case func.FuncOp():
                _flatten_signature(op)
            case _:
                pass
        for region in op.regions:
            for block in region.blocks:
                self.flatten_block(block)

    def _select(self, op: GetTupleElementOp) -> None:
        elements = cast(TupleType, op.operand.type).types.data
        index = op.index.value.data
        start = len(flatten(elements[:index]))
        count = len(flatten([elements[index]]))
        self._replace(op, self.leaves[op.operand][start : start + count])

    def _insert(self, parts: Sequence[Operation], op: Operation) -> None:
        block = op.parent
        assert block is not None
        for part in parts:
            part.location = op.location
        block.insert_ops_before(parts, op)

    def _replace(self, op: Operation, leaves: list[SSAValue]) -> None:
        """Replaces the only result of an operation, which may be a tuple, by leaves."""
        result = op.results[0]
        if _is_tuple(result):
            self.leaves[result] = leaves
        else:
            result.replace_all_uses_with(leaves[0])
        self.dead.append(op)

    def _rebuild(self, op: Operation) -> Operation:
        """The same operation with leaves as operands and results."""
        new = type(op).create(
            operands=self.flat(op.operands),
            result_types=flatten(op.result_types),
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        self._insert([new], op)
        rest: Sequence[SSAValue] = new.results
        for result in op.results:
            count = len(flatten([result.type]))
            if _is_tuple(result):
                self.leaves[result] = list(rest[:count])
            else:
                result.replace_all_uses_with(rest[0])
            rest = rest[count:]
        self.dead.append(op)
        return new

    def erase_tuples(self) -> None:
        """Erases what was replaced, users before what they use."""
        for dead in reversed(self.dead):
            if isinstance(dead, BlockArgument):
                dead.block.erase_arg(dead)
            else:
                dead.detach()
                dead.erase()


def _literals(value: Attribute) -> list[Attribute]:
    """The dense literals of a literal, in order."""
    if not isinstance(value, ArrayAttr):
        return [value]
    return [leaf for part in cast("ArrayAttr[Attribute]", value).data for leaf in _literals(part)]


def _flatten_signature(op: func.FuncOp) -> None:
    """Takes apart the types of parameters and results; attributes go to all leaves."""
    type_ = op.function_type
    for name, types in (("arg_attrs", type_.inputs.data), ("res_attrs", type_.outputs.data)):
        old = op.properties.get(name)
        if isinstance(old, ArrayAttr):
            per_value = cast("ArrayAttr[Any]", old).data
            op.properties[name] = ArrayAttr(
                attributes
                for attributes, t in zip(per_value, types, strict=True)
                for _ in flatten([t])
            )
    op.properties["function_type"] = FunctionType.from_lists(
        flatten(type_.inputs.data), flatten(type_.outputs.data)
    )
