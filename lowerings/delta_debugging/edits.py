"""What an edit is; values that may stand for others: constants of any type, new parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
    TupleType,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lowerings.ir.scalar_attributes import scalar_attribute
from lowerings.layouts.entry_layout import ENTRY_LAYOUT
from lowerings.simplify.xla_flatten_tuples import take_entry_aliases
from xla_dialect.literals.arrays import from_numpy, numpy_dtype
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.tuples import TupleOp
from xla_dialect.types import element_class, extents, is_array
from xla_dialect.xdsl.traversal import ancestors

Edit: TypeAlias = Callable[[], bool]
"""
Makes a module smaller in one place; whether it did.

Others of its kind may have been made before: it looks whether its place is still there. It may
leave a module that is not valid, or raise anything.
"""


@dataclass(frozen=True)
class Reduction:
    """A kind of edits."""

    name: str
    edits: Callable[[ModuleOp], list[Edit]]
    """
    The edits that a module admits, of which none is made yet.

    In the order of the program, and equal for equal modules.
    """
    in_groups: bool = True
    """Whether several are made at once; else each is for itself, the most promising first."""


LARGEST_CONSTANT = 1 << 16
"""Elements of an array that a new constant may have."""


def is_attached(op: Operation, module: ModuleOp) -> bool:
    """Whether an operation is still a part of a module."""
    return module.is_ancestor(op)


def function_around(op: Operation) -> FuncOp | None:
    """The function whose body an operation stands in directly, if it has one block."""
    parent = op.parent_op()
    if isinstance(parent, FuncOp) and parent.body.first_block is parent.body.last_block:
        return parent
    return None


def constant_before(anchor: Operation, type_: Attribute) -> SSAValue | None:
    """A zero of a type in front of an operation; None for types that have no constants."""
    block = anchor.parent
    if block is None:
        return None
    made = _constants(type_, _is_of_xla(anchor))
    if made is None:
        return None
    block.insert_ops_before(made, anchor)
    return made[-1].results[0]


def _is_of_xla(op: Operation) -> bool:
    if any(each.name.startswith("xla.") for each in (op, *ancestors(op))):
        return True
    return any(each.name.startswith("xla.") for each in op.parent.ops) if op.parent else False


def _constants(type_: Attribute, is_of_xla: bool) -> list[Operation] | None:
    """The operations that make a zero of a type, that of the result last."""
    if isinstance(type_, TupleType):
        parts = [_constants(part, is_of_xla) for part in type_.types.data]
        if not is_of_xla or any(part is None for part in parts):
            return None
        made = [op for part in parts for op in cast("Sequence[Operation]", part)]
        values = [cast("list[Operation]", part)[-1].results[0] for part in parts]
        return [*made, TupleOp.make(values, {}, result_types=[type_])]
    if is_array(type_) and element_class(type_.element_type):
        sizes = extents(type_)
        if any(size < 0 for size in sizes) or np.prod(sizes, dtype=object) > LARGEST_CONSTANT:
            return None
        literal = from_numpy(np.zeros(sizes, numpy_dtype(type_.element_type)), type_)
        if is_of_xla:
            return [ConstantOp.make([], {"value": literal}, result_types=[type_])]
        return [arith.ConstantOp(literal)]
    if isinstance(type_, IntegerType | IndexType | AnyFloat):
        return [arith.ConstantOp(scalar_attribute(0, cast(Attribute, type_)))]
    if isinstance(type_, VectorType):
        vector = cast("VectorType[Any]", type_)
        if isinstance(vector.element_type, IntegerType | IndexType | AnyFloat):
            return [arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(vector, [0]))]
    return None


def new_parameter(function: FuncOp, type_: Attribute) -> BlockArgument:
    """A parameter behind those that a function has, which nothing calls."""
    block = function.body.block
    argument = block.insert_arg(type_, len(block.args))
    sign(function)
    return argument


def sign(function: FuncOp, kept: Sequence[int] | None = None) -> None:
    """
    Gives a function the type that its block and its return say.

    `kept` are the numbers of the parameters that were left. What is said about single parameters
    and results goes with them; the head of the module says nothing about the entry any more.
    """
    block = function.body.block
    last = block.last_op
    outputs = (
        [value.type for value in last.operands]
        if isinstance(last, FuncReturnOp)
        else list(function.function_type.outputs)
    )
    inputs = [argument.type for argument in block.args]
    if function.arg_attrs is not None:
        numbers = range(len(function.arg_attrs)) if kept is None else kept
        if len(numbers) == len(inputs):
            function.arg_attrs = ArrayAttr([function.arg_attrs.data[n] for n in numbers])
        else:
            function.arg_attrs = None
    if function.res_attrs is not None and len(function.res_attrs) != len(outputs):
        function.res_attrs = None
    function.function_type = FunctionType.from_lists(inputs, outputs)
    module = function.parent_op()
    if isinstance(module, ModuleOp):
        module.attributes.pop(ENTRY_LAYOUT, None)
        take_entry_aliases(module)


def body_of(function: FuncOp) -> Block | None:
    """The one block of a function; None for a declaration, or one with several."""
    block = function.body.first_block
    return block if block is not None and block.next_block is None else None
