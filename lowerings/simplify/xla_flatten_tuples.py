"""
The pass `xla-flatten-tuples`: values become their leaves, throughout a module.

What HLO says of how a tuple is split, and `input_output_alias` and `buffer_donor` of a module, are
said of the leaves then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TupleType,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from lowerings.layouts.memory_order import in_layout
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from lowerings.rewriting.value_attributes import Said, said_by, say
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import (
    ALIASES,
    ENTRY_SYMBOL,
    EntryAliases,
    entry_aliases,
    kept_name,
)
from xla_dialect.ops.asynchronous import (
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    operands_bound,
    start_of,
)
from xla_dialect.ops.control_flow import OptBarrierOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.transfers import AddDependencyOp, AfterAllOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.sharding.hlo_sharding import HloShardingAttr, HloShardingKind
from xla_dialect.spelling import SpellingError, shortened
from xla_dialect.types import TokenType, flatten, is_array, tuple_elements
from xla_dialect.violations import described
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.traversal import inventory

_NAMES = ("xla.sharding", "mhlo.sharding")


def leaf_attributes(attributes: Mapping[str, Attribute], count: int) -> Said:
    """
    The attributes of each of the leaves of a value.

    Raises SpellingError for a sharding that has another number of elements.
    """
    found = [dict(attributes) for _ in range(count)]
    for name in _NAMES:
        said = attributes.get(name)
        if not isinstance(said, HloShardingAttr) or said.data.kind is not HloShardingKind.TUPLE:
            continue
        leaves = said.data.leaves
        # XLA writes one element for a tuple without any.
        if count and len(leaves) != count:
            raise SpellingError(
                f"sharding {shortened(said.data.text)} has {len(leaves)} elements "
                f"for {count} arrays"
            )
        for number, entries in enumerate(found):
            entries[name] = HloShardingAttr(leaves[number])
    return found


def note_root(function: FuncOp) -> None:
    """
    Lets a function say of its result what the operation says that makes it.

    In HLO the result of a computation is that of its root, which may be a tuple that disappears.
    """
    blocks = function.body.blocks
    last = blocks[0].last_op if len(blocks) == 1 else None
    if function.res_attrs is not None or not isinstance(last, ReturnOp):
        return
    entries: list[DictionaryAttr] = []
    for value in last.operands:
        attributes = value.op.attributes if isinstance(value, OpResult) else {}
        said = {name: attributes[name] for name in _NAMES if name in attributes}
        is_one = isinstance(value, OpResult) and len(value.op.results) == 1
        entries.append(DictionaryAttr(said if is_one else {}))
    if any(entry.data for entry in entries):
        function.res_attrs = ArrayAttr(entries)


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
            self.replace_by(op, [OptBarrierOp.make([v], {}) for v in self.flat(op.operands)])
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

    def replace_by(self, op: Operation, parts: Sequence[Operation]) -> None:
        """Replaces an operation by one for each leaf of its result."""
        self.insert(parts, op)
        self.replace(op, [[part.results[0] for part in parts]])

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
        try:
            parameters, results = (
                [
                    self._with_leaf_number(leaf, type_.outputs.data)
                    for attributes, each in zip(said, types, strict=True)
                    for leaf in leaf_attributes(attributes, len(self.leaf_types([each])))
                ]
                for said, types in zip(said_by(op), (type_.inputs, type_.outputs), strict=True)
            )
        except SpellingError as error:
            raise XlaError(f"{described(op)}: {error}") from None
        say(op, parameters, results)
        op.properties["function_type"] = FunctionType.from_lists(
            self.leaf_types(type_.inputs.data), self.leaf_types(type_.outputs.data)
        )

    def _with_leaf_number(
        self, attributes: dict[str, Attribute], results: Sequence[Attribute]
    ) -> dict[str, Attribute]:
        """The attributes of a parameter; the result that it names is counted among leaves."""
        named = attributes.get(ALIASING_OUTPUT)
        if not isinstance(named, IntegerAttr):
            return attributes
        number = cast("IntegerAttr[Any]", named).value.data
        if not 0 <= number < len(results):
            return attributes
        del attributes[ALIASING_OUTPUT]
        if self.leaf_types([results[number]]):
            leaf = len(self.leaf_types(results[:number]))
            attributes[ALIASING_OUTPUT] = IntegerAttr(leaf, i32)
        return attributes

    def _erase(self) -> None:
        """Erases what was replaced, users before what they use."""
        for dead in reversed(self.dead):
            if isinstance(dead, BlockArgument):
                dead.block.erase_arg(dead)
            else:
                erase(dead)


_DONATED = BoolAttr.from_bool(True)


def take_entry_aliases(module: ModuleOp) -> tuple[func.FuncOp, EntryAliases] | None:
    """
    The entry and what the head of its module says of its memory, which is taken from there; None
    where it says nothing.
    """
    names = [name for name in map(kept_name, ALIASES) if name in module.attributes]
    if not names:
        return None
    found = None
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == ENTRY_SYMBOL:
            type_ = op.function_type
            found = op, entry_aliases(module, type_.inputs.data, type_.outputs.data)
    for name in names:
        del module.attributes[name]
    return found


def put_entry_aliases(entry: func.FuncOp, aliases: EntryAliases) -> None:
    """Says it at the parameters of the entry, when tuples have been taken apart."""
    attributes, of_results = said_by(entry)
    for parameter, result in aliases.results.items():
        attributes[parameter][ALIASING_OUTPUT] = IntegerAttr(result, i32)
    for parameter in aliases.donors:
        attributes[parameter][BUFFER_DONOR] = _DONATED
    say(entry, attributes, of_results)


def donate_only(module: ModuleOp, entry: func.FuncOp, parameters: Collection[int]) -> None:
    """
    Has the memory of these parameters used for results, and of no other: for the results that they
    name, or for any. Tuples have been taken apart if there are any parameters, and tokens do not
    count, as for those who pass arrays.
    """
    take_entry_aliases(module)
    attributes, of_results = said_by(entry)
    types = entry.function_type.inputs
    arrays = [own for own, t in zip(attributes, types, strict=True) if not isinstance(t, TokenType)]
    for number, own in enumerate(arrays):
        if number not in parameters:
            own.pop(ALIASING_OUTPUT, None)
            own.pop(BUFFER_DONOR, None)
        elif ALIASING_OUTPUT not in own:
            own[BUFFER_DONOR] = _DONATED
    say(entry, attributes, of_results)


class XlaFlattenTuplesPass(ReportingPass):
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
    takes = UNLOWERED

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Goes through the module once, from first to last and from the outside in."""
        aliased = take_entry_aliases(op)
        has_tuples = any(isinstance(type_, TupleType) for type_ in inventory(op).types)
        if has_tuples:
            TupleFlattening().flatten(op)
        if aliased is not None:
            put_entry_aliases(*aliased)
        return has_tuples or aliased is not None


@dataclass(eq=False)
class TupleFlattening(Flattening):
    """Takes tuples apart, and those operations away that only handle them."""

    open: set[AsyncStartOp] = field(default_factory=set[AsyncStartOp])
    """The starts so far whose contexts are open."""

    def is_compound(self, type_: Attribute) -> bool:
        """Whether it is a tuple."""
        return isinstance(type_, TupleType)

    def leaf_types(self, types: Sequence[Attribute]) -> list[Attribute]:
        """The types in tuples, at every depth."""
        return list(flatten(types))

    def flatten_operation(self, op: Operation) -> None:
        """As of any value; of tuples that are made or selected from, only the leaves are left."""
        match op:
            case TupleOp():
                self.replace(op, [self.flat(op.operands)])
            case GetTupleElementOp():
                self._select(op)
            case ConstantOp() if self.is_compound(op.result.type):
                literals = _literals(op.value)
                self.replace_by(op, [ConstantOp.make((), {"value": v}) for v in literals])
            case CopyOp() if self.is_compound(op.result.type):
                pairs = zip(self.flat(op.operands), flatten(op.result_types), strict=True)
                self.replace_by(op, [CopyOp.make([v], {}, (), [type_]) for v, type_ in pairs])
            case AddDependencyOp():
                self._wait(op)
            case AsyncStartOp() if op.is_open:
                self.open.add(op)
                self._begin(op, op)
            case AsyncUpdateOp() | AsyncDoneOp() if (start := start_of(op)) and start in self.open:
                self._begin(start, op)
            case _:
                super().flatten_operation(op)

    def _wait(self, op: AddDependencyOp) -> None:
        """Each leaf waits for what the whole waits for."""
        awaited = self.flat([op.token])
        if len(awaited) != 1:
            self.insert([after := AfterAllOp.make(awaited, {})], op)
            awaited = [after.result]
        leaves = self.flat([op.operand])
        self.replace_by(op, [AddDependencyOp.make([v, *awaited], {}) for v in leaves])

    def _begin(self, start: AsyncStartOp, op: AsyncStartOp | AsyncUpdateOp | AsyncDoneOp) -> None:
        """
        Of an open context: the start, as soon as all operands are bound, with all its results.

        Before there is no context, and `async_update` does nothing.
        """
        context: list[SSAValue] = [] if op is start else self.leaves[op.operands[0]]
        operands, block = operands_bound(op), start.calls.first_block
        if not context and block is not None and len(operands) == len(block.args):
            given = [operand.type for operand in operands]
            results = cast(Operation, block.last_op).operand_types
            rest = tuple_elements(start.result_types[0]) or ()
            new = create(
                AsyncStartOp,
                operands=self.flat(operands),
                result_types=self.leaf_types([*given, *results, *rest[2:]]),
                properties=start.properties,
                attributes=start.attributes,
                regions=[start.calls.clone()],
            )
            self.insert([new], op)
            self.flatten_block(new.calls.block)
            context = list(new.results)
        if not isinstance(op, AsyncDoneOp):
            super().replace(op, [context])
            return
        self.leaves[op.operands[0]] = context
        op.operands = op.operands[:1]
        op.properties.pop("bound", None)
        super().flatten_operation(op)

    def replace(self, op: Operation, leaves: Sequence[list[SSAValue]]) -> None:
        """As of any value; where an element of a tuple has another layout than its leaf, a copy."""
        super().replace(
            op,
            [
                [
                    in_layout(value, type_, op) if is_array(type_) else value
                    for value, type_ in zip(values, self.leaf_types([result.type]), strict=True)
                ]
                for result, values in zip(op.results, leaves, strict=True)
            ],
        )

    def _select(self, op: GetTupleElementOp) -> None:
        elements = cast(TupleType, op.operand.type).types.data
        index = op.index.value.data
        start = len(flatten(elements[:index]))
        count = len(flatten([elements[index]]))
        self.replace(op, [self.leaves[op.operand][start : start + count]])


def _literals(value: Attribute) -> list[Attribute]:
    """The dense literals of a literal, in order."""
    if not isinstance(value, ArrayAttr):
        return [value]
    return [leaf for part in cast("ArrayAttr[Attribute]", value).data for leaf in _literals(part)]
