"""Replacing values by their leaves, throughout a module."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.simplify.leaf_shardings import leaf_attributes, note_root
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.control_flow import OptBarrierOp
from xla_dialect.spelling import SpellingError
from xla_dialect.violations import described
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase


@dataclass(eq=False)
class Flattening(ABC):
    """
    Replaces values of certain types by their leaves, of which there may be none.

    `leaves` has those of every such value seen so far, `dead` what is to be erased at the end.
    """

    leaves: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    dead: list[Operation | BlockArgument] = field(default_factory=list[Operation | BlockArgument])

    @abstractmethod
    def is_compound(self, type_: Attribute) -> bool:
        """Whether values of a type are replaced by their leaves."""

    @abstractmethod
    def leaf_types(self, types: Sequence[Attribute]) -> list[Attribute]:
        """The types of the leaves of all values of these types."""

    def flatten(self, module: ModuleOp) -> None:
        """Goes through the module once, from first to last and from the outside in."""
        for block in module.body.blocks:
            self.flatten_block(block)
        self._erase()

    def flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """All leaves of the values, in order."""
        found: list[SSAValue] = []
        for value in values:
            if self.is_compound(value.type):
                found.extend(self.leaves[value])
            else:
                found.append(value)
        return found

    def flatten_block(self, block: Block) -> None:
        """Flattens the parameters and all operations of a block."""
        for argument in block.args:
            if self.is_compound(argument.type):
                self.leaves[argument] = [
                    block.insert_arg(leaf, argument.index)
                    for leaf in self.leaf_types([argument.type])
                ]
                self.dead.append(argument)
        op = block.first_op
        while op is not None:
            following = op.next_op
            self.flatten_operation(op)
            op = following

    def flatten_operation(self, op: Operation) -> None:
        """Takes apart the operands and results of an operation, then its regions."""
        if isinstance(op, OptBarrierOp) and self.is_compound(op.operand.type):
            barriers = [OptBarrierOp.make([v], {}) for v in self.flat(op.operands)]
            self.insert(barriers, op)
            self.replace(op, [[barrier.result for barrier in barriers]])
        elif any(self.is_compound(result.type) for result in op.results):
            op = self._rebuild(op)
        elif any(self.is_compound(operand.type) for operand in op.operands):
            op.operands = self.flat(op.operands)
        elif isinstance(op, func.FuncOp):
            self._flatten_signature(op)
        for region in op.regions:
            for block in region.blocks:
                self.flatten_block(block)

    def insert(self, parts: Sequence[Operation], op: Operation) -> None:
        """Inserts operations in front of another, with its location."""
        block = op.parent
        assert block is not None
        for part in parts:
            part.location = op.location
        block.insert_ops_before(parts, op)

    def replace(self, op: Operation, leaves: Sequence[list[SSAValue]]) -> None:
        """Replaces every result of an operation by its leaves."""
        for result, values in zip(op.results, leaves, strict=True):
            if self.is_compound(result.type):
                self.leaves[result] = values
            else:
                (value,) = values
                result.replace_all_uses_with(value)
        self.dead.append(op)

    def _rebuild(self, op: Operation) -> Operation:
        """The same operation with leaves as operands and results."""
        new = create(
            type(op),
            operands=self.flat(op.operands),
            result_types=self.leaf_types(op.result_types),
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        self.insert([new], op)
        rest: list[SSAValue] = list(new.results)
        leaves: list[list[SSAValue]] = []
        for result in op.results:
            count = len(self.leaf_types([result.type]))
            leaves.append(rest[:count])
            rest = rest[count:]
        self.replace(op, leaves)
        return new

    def _flatten_signature(self, op: func.FuncOp) -> None:
        """
        Takes apart the types of parameters and results; attributes go to all leaves.

        Raises XlaError for a sharding of a tuple that does not fit.
        """
        if not op.is_declaration:
            note_root(op)
        type_ = op.function_type
        for name, types in (("arg_attrs", type_.inputs.data), ("res_attrs", type_.outputs.data)):
            old = op.properties.get(name)
            if isinstance(old, ArrayAttr):
                per_value = cast("ArrayAttr[Any]", old).data
                try:
                    op.properties[name] = ArrayAttr(
                        self._with_leaf_number(leaf, type_.outputs.data)
                        for attributes, t in zip(per_value, types, strict=True)
                        for leaf in leaf_attributes(attributes, len(self.leaf_types([t])))
                    )
                except SpellingError as error:
                    raise XlaError(f"{described(op)}: {error}") from None
        op.properties["function_type"] = FunctionType.from_lists(
            self.leaf_types(type_.inputs.data), self.leaf_types(type_.outputs.data)
        )

    def _with_leaf_number(
        self, attributes: DictionaryAttr, results: Sequence[Attribute]
    ) -> DictionaryAttr:
        """The attributes of a parameter; the result that it names is counted among leaves."""
        named = attributes.data.get(ALIASING_OUTPUT)
        if not isinstance(named, IntegerAttr):
            return attributes
        number = cast("IntegerAttr[Any]", named).value.data
        if not 0 <= number < len(results):
            return attributes
        rest = {name: value for name, value in attributes.data.items() if value is not named}
        if not self.leaf_types([results[number]]):
            return DictionaryAttr(rest)
        leaf = len(self.leaf_types(results[:number]))
        return DictionaryAttr({**rest, ALIASING_OUTPUT: IntegerAttr(leaf, i32)})

    def _erase(self) -> None:
        """Erases what was replaced, users before what they use."""
        for dead in reversed(self.dead):
            if isinstance(dead, BlockArgument):
                dead.block.erase_arg(dead)
            else:
                erase(dead)
