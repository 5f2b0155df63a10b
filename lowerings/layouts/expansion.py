"""The arrays of a program in memory order: which new value stands for which old one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnrealizedConversionCastOp
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
    to_memory,
    transposed,
)
from lowerings.rewriting.conversion import ConversionFailed, IllegalOp, illegal_op
from xla_dialect.layout import LayoutAttr
from xla_dialect.types import Array, array, is_array, without_layout
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before
from xla_dialect.xdsl.traversal import block_of, operations_in, tensor_shape

Placed: TypeAlias = tuple[SSAValue, MemoryOrder]
"""A new value: the dense array that holds an array in this order."""

ExpandFunction: TypeAlias = "Callable[[Operation, Expansion], Sequence[Placed] | None]"
"""Inserts what computes an operation in memory order: a new value for each result, or None."""


@dataclass(eq=False)
class Expansion:
    """
    Rewrites operations from first to last.

    Casts stand for arrays in default order, in the place of what has been rewritten. In the end,
    those that are used become what moves them there, behind their definition.
    """

    expansion_of: Callable[[Operation, bool], ExpandFunction | None]
    """How an operation, that touches such arrays or not, is computed; None: in default order."""
    anchor: Operation
    """In front of what is inserted: the operation that is being rewritten."""
    _placed: dict[SSAValue, Placed] = field(default_factory=dict[SSAValue, Placed])
    """What holds arrays in memory that are not in default order there."""
    _casts: dict[SSAValue, Placed] = field(default_factory=dict[SSAValue, Placed])
    """What results of casts are made of."""
    _moves: list[Operation] = field(default_factory=list[Operation])
    """What was inserted to bring arrays to other orders."""

    def expand_all(self, operations: Sequence[Operation]) -> None:
        """Rewrites operations that follow each other."""
        for op in operations:
            self.expand(op)

    def expand(self, op: Operation) -> None:
        """Rewrites an operation that touches arrays in another order than the default one."""
        touched = any(operand in self._placed for operand in op.operands) or any(
            is_laid_out(result.type) for result in op.results
        )
        if not (touched or op.regions):
            return
        function = self.expansion_of(op, touched)
        self.anchor = op
        results = None if function is None else function(op, self)
        if results is None:
            simplify_computations(op)
            for old in tuple(op.results):
                wanted = self.declared(old)
                result = in_default_layout(old)
                if not wanted.is_default:
                    self.take(result, wanted, _after(result))
            return
        for old, (new, order) in zip(op.results, results, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            self._define(old, new, order, self.declared(old))
        erase(op)

    def finish(self) -> None:
        """Moves what is used in default order; erases what was inserted and is not needed."""
        for op in reversed(self._moves):
            if not any(result.uses for result in op.results):
                erase(op)
        for value, (new, order) in self._casts.items():
            if value.uses:
                cast_op = self.anchor = cast(Operation, value.owner)
                sizes = tensor_shape(value)
                default = MemoryOrder.default(len(sizes))
                value.replace_all_uses_with(self._moved(new, order, default, sizes))
                erase(cast_op)

    def insert(self, op: OperationT) -> OperationT:
        """Inserts an operation before the one that is being rewritten."""
        return self._in_front_of(self.anchor)(op)

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
        return canonical(memory_order(value.type).without_padding, tensor_shape(value))

    def order(self, value: SSAValue) -> MemoryOrder:
        """The order in which an array is in memory."""
        placed = self._placed.get(value)
        if placed is not None:
            return placed[1]
        return MemoryOrder.default(len(tensor_shape(value)) if is_array(value.type) else 0)

    def take(self, value: SSAValue, order: MemoryOrder, before: Operation) -> None:
        """Has a value in default order used in another one."""
        self._placed[value] = to_memory(self._in_front_of(before), value, order), order

    def take_physical(self, argument: BlockArgument, order: MemoryOrder) -> None:
        """Replaces a parameter by one that is the dense array that holds it in this order."""
        type_ = cast(Array, argument.type)
        new = argument.block.insert_arg(physical_type(type_, order), argument.index)
        new.name_hint = argument.name_hint
        self._define(argument, new, order, order)
        argument.block.erase_arg(argument)

    def _define(
        self, old: SSAValue, new: SSAValue, order: MemoryOrder, wanted: MemoryOrder
    ) -> None:
        """Has a new value, which is in some order, used in another one in the place of an old."""
        value = moved = self._moved(new, order, wanted, tensor_shape(old))
        if not wanted.is_default:
            type_ = without_layout(cast(Array, old.type))
            cast_op = UnrealizedConversionCastOp.get([new], [type_])
            value = self._in_front_of(_after(new))(cast_op).results[0]
            self._casts[value], self._placed[value] = (new, order), (moved, wanted)
            # What the cast becomes in the end has no name.
            old.name_hint = None
        old.replace_all_uses_with(value)

    def value_in(self, value: SSAValue, order: MemoryOrder) -> SSAValue:
        """The dense array that holds a value in some order."""
        if order.is_default:
            return value
        placed, own = self._placed.get(value, (value, None))
        if own is None or (own != order and own.tiles):
            return to_memory(self.insert, value, order)
        return self._moved(placed, own, order, tensor_shape(value))

    def returned(self, value: SSAValue, order: MemoryOrder) -> SSAValue:
        """As `value_in`, but made where it is returned, so that it can be computed in its place."""
        others = (use.operation for use in value.uses if use.operation is not self.anchor)
        if value not in self._casts or any(others):
            return self.value_in(value, order)
        return self._moved(*self._casts[value], order, tensor_shape(value))

    def _moved(
        self, new: SSAValue, order: MemoryOrder, wanted: MemoryOrder, sizes: Sequence[int]
    ) -> SSAValue:
        """What holds an array of these sizes in one order, brought to another."""
        if order == wanted:
            return new
        if order.tiles or wanted.tiles:
            return to_memory(self.insert, from_memory(self.insert, new, order, sizes), wanted)
        if canonical(order, tuple(sizes)) == canonical(wanted, tuple(sizes)):
            return reshaped(self.insert, new, wanted.physical_sizes(sizes))
        places = [order.place_of(dimension) for dimension in wanted.major_to_minor]
        return transposed(self.insert, new, places)

    # Operations

    def expand_computation(
        self, block: Block, arguments: Sequence[MemoryOrder], results: Sequence[MemoryOrder]
    ) -> None:
        """Rewrites a computation with parameters and results that are arrays in some orders."""
        outer = self.anchor
        for argument, order in zip(tuple(block.args), arguments, strict=True):
            if order.is_default:
                in_default_layout(argument)
            else:
                self.take_physical(argument, order)
        *operations, self.anchor = tuple(block.ops)
        last = self.anchor
        self.expand_all(operations)
        self.anchor = last
        last.operands = list(map(self.value_in, last.operands, results))
        self.anchor = outer

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


def simplify_computations(op: Operation) -> None:
    """Has the computations of an operation, which are on scalars, take and give plain ones."""
    for inner in operations_in(op):
        for value in () if inner is op else tuple(inner.results):
            in_default_layout(value)
        for region in inner.regions:
            for block in region.blocks:
                for argument in tuple(block.args):
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
