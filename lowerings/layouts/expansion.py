"""The arrays of a program in memory order: which new value stands for which old one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from lowerings.layouts.memory_order import (
    Insert,
    LayoutNotLowered,
    MemoryOrder,
    OperationT,
    canonical,
    from_memory,
    memory_order,
    reshaped,
    sizes_of,
    to_memory,
    transposed,
)
from lowerings.rewriting.conversion import ConversionFailed, IllegalOp, illegal_op
from xla_dialect.layout import LayoutAttr
from xla_dialect.types import Array, array, is_array, without_layout
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import block_of, operations_in

Placed: TypeAlias = tuple[SSAValue, MemoryOrder]
"""A new value: the dense array that holds an array in this order."""

ExpandFunction: TypeAlias = "Callable[[Operation, Expansion], Sequence[Placed] | None]"
"""Inserts what computes an operation in memory order: a new value for each result, or None."""


@dataclass(eq=False)
class Expansion:
    """Rewrites operations from first to last."""

    expansion_of: Callable[[Operation, bool], ExpandFunction | None]
    """How an operation, that touches such arrays or not, is computed; None: in default order."""
    _placed: dict[SSAValue, Placed] = field(default_factory=dict[SSAValue, Placed])
    """What stands for the values that are not in default order."""
    _logical: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """These values in default order, where that was needed."""
    _dead: list[Operation] = field(default_factory=list[Operation])
    _dead_arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])
    _anchor: Operation | None = None
    _moves: list[Operation] = field(default_factory=list[Operation])
    """What was inserted to bring arrays to other orders."""

    def expand_all(self, operations: Sequence[Operation]) -> None:
        """Rewrites operations that follow each other."""
        for op in operations:
            self.expand(op)

    def expand(self, op: Operation) -> None:
        """Rewrites an operation that touches arrays in another order than the default one."""
        touched = self.touches(op)
        if not (touched or op.regions):
            return
        function = self.expansion_of(op, touched)
        self._anchor = op
        results = None if function is None else function(op, self)
        if results is None:
            self._compute_in_default_order(op)
            return
        for old, (new, order) in zip(op.results, results, strict=True):
            self.define(old, new, order)
        self._dead.append(op)

    def finish(self) -> None:
        """Erases what was replaced, and what was inserted and turned out not to be needed."""
        for op in reversed(self._dead):
            erase(op)
        for op in reversed(self._moves):
            if not any(result.uses for result in op.results):
                erase(op)
        for argument in reversed(self._dead_arguments):
            argument.block.erase_arg(argument)

    def touches(self, op: Operation) -> bool:
        """Whether an operand is not in default order, or the layout of a result is written out."""
        return any(operand in self._placed for operand in op.operands) or any(
            is_laid_out(result.type) for result in op.results
        )

    def start_at(self, op: Operation) -> None:
        """Has what is inserted next put in front of an operation."""
        self._anchor = op

    def insert(self, op: OperationT) -> OperationT:
        """Inserts an operation before the one that is being rewritten."""
        assert self._anchor is not None
        return self._in_front_of(self._anchor)(op)

    def _in_front_of(self, anchor: Operation) -> Insert:
        """Puts operations that move elements in front of one, with its location."""

        def insert(op: OperationT) -> OperationT:
            self._moves.append(op)
            return insert_before(op, anchor)

        return insert

    # Values

    def declared(self, value: SSAValue) -> MemoryOrder:
        """The order that the type of a value says, without padding."""
        if not is_array(value.type):
            return MemoryOrder.default(0)
        order = memory_order(value.type)
        return canonical(order.without_padding, sizes_of(value))

    def order(self, value: SSAValue) -> MemoryOrder:
        """The order of what stands for a value."""
        placed = self._placed.get(value)
        if placed is not None:
            return placed[1]
        return MemoryOrder.default(len(sizes_of(value)) if is_array(value.type) else 0)

    def place(self, value: SSAValue, new: SSAValue, order: MemoryOrder) -> None:
        """Says that `new` stands for `value` from now on."""
        self._placed[value] = new, order

    def take(self, value: SSAValue, order: MemoryOrder) -> None:
        """Has a value in default order, that is in memory in another one, used in that one."""
        self.place(value, to_memory(self.insert, value, order), order)
        self._logical[value] = value

    def take_physical(self, argument: BlockArgument, order: MemoryOrder) -> None:
        """Replaces a parameter by one that is the dense array that holds it in this order."""
        type_ = physical_type(cast(Array, argument.type), order)
        new = argument.block.insert_arg(type_, argument.index)
        new.name_hint = argument.name_hint
        self.place(argument, new, order)
        self._dead_arguments.append(argument)

    def define(self, old: SSAValue, new: SSAValue, order: MemoryOrder) -> None:
        """Brings a new value to the order that the type of the old one says."""
        wanted = self.declared(old)
        sizes = sizes_of(old)
        if new.name_hint is None:
            new.name_hint = old.name_hint
        if wanted.is_default:
            old.replace_all_uses_with(self._moved(self.insert, new, order, wanted, sizes))
            return
        if order.is_default:
            self._logical[old] = new
        self.place(old, self._moved(self.insert, new, order, wanted, sizes), wanted)

    def value_in(self, value: SSAValue, order: MemoryOrder) -> SSAValue:
        """The dense array that holds a value in some order."""
        placed = self._placed.get(value)
        if order.is_default:
            return self.plain(value)
        if placed is None:
            return to_memory(self.insert, value, order)
        if placed[1] == order:
            return placed[0]
        if placed[1].tiles:
            return to_memory(self.insert, self._in_default_order(value, placed), order)
        return self._moved(self.insert, *placed, order, sizes_of(value))

    def returned(self, value: SSAValue, order: MemoryOrder) -> SSAValue:
        """As `value_in`, but made where it is returned, so that it can be computed in its place."""
        placed = self._placed.get(value)
        if placed is None or value in self._logical:
            return self.value_in(value, order)
        return self._moved(self.insert, *placed, order, sizes_of(value))

    def _in_default_order(self, value: SSAValue, placed: Placed) -> SSAValue:
        """Computed once, where the value is defined."""
        found = self._logical.get(value)
        if found is None:
            new, order = placed
            found = from_memory(self._in_front_of(_after(new)), new, order, sizes_of(value))
            self._logical[value] = found
        return found

    def plain(self, value: SSAValue) -> SSAValue:
        """A value in default order."""
        placed = self._placed.get(value)
        return value if placed is None else self._in_default_order(value, placed)

    def _moved(
        self,
        insert: Insert,
        new: SSAValue,
        order: MemoryOrder,
        wanted: MemoryOrder,
        sizes: Sequence[int],
    ) -> SSAValue:
        """What holds an array of these sizes in one order, brought to another."""
        if order == wanted:
            return new
        if order.tiles or wanted.tiles:
            return to_memory(insert, from_memory(insert, new, order, sizes), wanted)
        if canonical(order, tuple(sizes)) == canonical(wanted, tuple(sizes)):
            return reshaped(insert, new, wanted.physical_sizes(sizes))
        places = [order.place_of(dimension) for dimension in wanted.major_to_minor]
        return transposed(insert, new, places)

    # Operations

    def expand_computation(
        self,
        block: Block,
        arguments: Sequence[MemoryOrder],
        results: Sequence[MemoryOrder] | None = None,
    ) -> None:
        """
        Rewrites a computation whose parameters are arrays in these orders.

        What it returns is brought to the orders `results`, or to default order.
        """
        outer = self._anchor
        for argument, order in zip(tuple(block.args), arguments, strict=True):
            if order.is_default:
                in_default_layout(argument)
                continue
            self.take_physical(argument, order)
        *operations, last = tuple(block.ops)
        self.expand_all(operations)
        self._anchor = last
        if results is None:
            results = [MemoryOrder.default(len(sizes_of(value))) for value in last.operands]
        for index, order in enumerate(results):
            last.operands[index] = self.value_in(last.operands[index], order)
        self._anchor = outer

    def rebuild(
        self,
        op: Operation,
        operands: Sequence[SSAValue],
        orders: Sequence[MemoryOrder],
        properties: Mapping[str, Attribute] | None = None,
    ) -> list[Placed]:
        """The operation with other operands; its results are arrays in `orders`."""
        new = create(
            type(op),
            operands=operands,
            result_types=[
                physical_type(cast(Array, result.type), order)
                for result, order in zip(op.results, orders, strict=True)
            ],
            properties=op.properties if properties is None else properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in tuple(op.regions)],
        )
        return list(zip(insert_before(new, op).results, orders, strict=True))

    def _compute_in_default_order(self, op: Operation) -> None:
        for index, operand in enumerate(op.operands):
            op.operands[index] = self.plain(operand)
        self.simplify_computations(op)
        for old in tuple(op.results):
            wanted = self.declared(old)
            result = in_default_layout(old)
            if not wanted.is_default:
                self._logical[result] = result
                insert = self._in_front_of(_after(result))
                self.place(result, to_memory(insert, result, wanted), wanted)

    def simplify_computations(self, op: Operation) -> None:
        """Has the computations of an operation, which are on scalars, take and give plain ones."""
        for region in op.regions:
            for block in region.blocks:
                for argument in tuple(block.args):
                    in_default_layout(argument)
            for inner in operations_in(region):
                for index, operand in enumerate(inner.operands):
                    inner.operands[index] = self.plain(operand)
                for result in tuple(inner.results):
                    in_default_layout(result)
                for nested in inner.regions:
                    for argument in tuple(nested.block.args):
                        in_default_layout(argument)


def is_laid_out(type_: Attribute) -> bool:
    """Whether a type is that of an array whose layout is written out."""
    return is_array(type_) and isinstance(type_.encoding, LayoutAttr)


def physical_type(type_: Array, order: MemoryOrder) -> Array:
    """The type of the dense array that holds an array in some order."""
    return array(type_.element_type, order.physical_sizes(type_.get_shape()))


def in_default_layout(value: SSAValue) -> SSAValue:
    """The value that takes the place of one, of the same type in the default layout."""
    if not is_array(value.type):
        return value
    return retyped(value, without_layout(value.type))


def retyped(value: SSAValue, type_: Attribute) -> SSAValue:
    """The value that takes the place of one, of this type."""
    if type_ == value.type:
        return value
    return Rewriter.replace_value_with_new_type(value, type_)


def _after(value: SSAValue) -> Operation:
    """The operation behind the definition of a value."""
    following = value.op.next_op if isinstance(value, OpResult) else block_of(value).first_op
    assert following is not None
    return following


def require_lowered_layouts(pass_name: str, module: ModuleOp) -> None:
    """Raises ConversionFailed naming the operations whose layouts are not lowered, and why."""
    functions = (op for op in module.ops if isinstance(op, func.FuncOp))
    found = [problem for function in functions for problem in _objections(function)]
    if found:
        raise ConversionFailed(pass_name, found)


def require_default_boundaries(pass_name: str, module: ModuleOp) -> None:
    """
    Raises ConversionFailed naming the public functions whose parameters or results lie in memory
    otherwise than in the default layout: without it they would be other arrays.
    """
    found = [
        illegal_op(op, "xla-expand-layouts lowers the layouts of its parameters and results")
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and op.sym_visibility != StringAttr("private")
        and not all(map(_is_default, (*op.function_type.inputs, *op.function_type.outputs)))
    ]
    if found:
        raise ConversionFailed(pass_name, found)


def _is_default(type_: Attribute) -> bool:
    try:
        return not is_laid_out(type_) or memory_order(cast(Array, type_)).is_default
    except LayoutNotLowered:
        return False


def _objections(function: func.FuncOp) -> Iterator[IllegalOp]:
    types = function.function_type
    for op in operations_in(function):
        values: list[Attribute] = [result.type for result in op.results]
        if op is function:
            values = [*types.inputs, *types.outputs]
            if not function.body.blocks and any(map(is_laid_out, values)):
                yield illegal_op(op, "functions without a body take default layouts")
                continue
        for type_ in filter(is_laid_out, values):
            try:
                memory_order(cast(Array, type_))
            except LayoutNotLowered as reason:
                yield illegal_op(op, str(reason))
                break
