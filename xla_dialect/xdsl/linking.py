# pyright: reportPrivateUsage=false
"""Putting operations into blocks, taking them out and replacing their values, in less time.

These do what the methods of xDSL 0.74 do, without what is superfluous nearly always:
`Block.insert_op_before` and `Block.add_op` go up to the module to see that an operation is not put
into itself, which only one with regions could be; `Operation.erase` makes a placeholder for the
users of each result, which has none; `SSAValue.replace_all_uses_with` makes views of operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.core import SSAValues

from xla_dialect.xdsl.traversal import operations_in

OperationT = TypeVar("OperationT", bound=Operation)


def insert_before(op: OperationT, anchor: Operation) -> OperationT:
    """
    Puts an operation before another, as `Block.insert_op_before`, and returns it.

    A location that is unknown becomes that of the other.
    """
    block = anchor.parent
    assert block is not None
    if type(op.location) is UnknownLoc:
        op.location = anchor.location
    if op.regions or op.parent is not None:
        block.insert_op_before(op, anchor)
        return op
    op.parent = block
    previous = anchor._prev_op
    op._prev_op, op._next_op = previous, anchor
    anchor._prev_op = op
    if previous is None:
        block._first_op = op
    else:
        previous._next_op = op
    return op


def append(block: Block, op: Operation) -> None:
    """Puts an operation at the end of a block, as `Block.add_op`."""
    if op.regions or op.parent is not None:
        block.add_op(op)
        return
    op.parent = block
    last = block._last_op
    op._prev_op = last
    block._last_op = op
    if last is None:
        block._first_op = op
    else:
        last._next_op = op


def erase(op: Operation) -> None:
    """
    Takes an operation out of its block, as `Block.erase_op`.

    Raises ValueError where one of its results is used.
    """
    block = op.parent
    assert block is not None
    block.detach_op(op)
    if op.regions or op._successors:
        op.drop_all_references()
    else:
        for operand, use in zip(op._operands, op._operand_uses, strict=True):
            operand.remove_use(use)
        op._operand_uses = ()
    for result in op.results:
        if result.first_use is not None:
            # `erase` raises xDSL's error about a result that is still used.
            result.erase()
    if op.regions:
        release(op)
    else:
        op._operands = op.results = _NONE


_NONE: SSAValues[Any] = SSAValues()


def release(op: Operation) -> None:
    """
    Takes apart an operation and all in it, which nothing else refers to any more.

    IR is made of cycles. What is apart is freed at once, by counts of references, and not by the
    collector of garbage, which takes more than a microsecond for each of its objects.
    """
    for each in operations_in(op):
        for use in each._operand_uses:
            use._next_use = use._prev_use = None
        for region in each.regions:
            block = region._first_block
            while block is not None:
                following = block._next_block
                block._args = ()
                block._first_op = block._last_op = block._next_block = block._prev_block = None
                block.parent = None
                block = following
            region._first_block = region._last_block = region.parent = None
        each._operands = each.results = _NONE
        each._operand_uses = each._successors = each._successor_uses = each.regions = ()
        each.parent = each._prev_op = each._next_op = None


def replace_uses(old: SSAValue, new: SSAValue) -> None:
    """Lets all users of a value use another, as `SSAValue.replace_all_uses_with`."""
    if new is old:
        return
    use = old.first_use
    while use is not None:
        # Read before `add_use` links the use into the list of `new`.
        following = use._next_use
        operands = list((user := use._operation)._operands)
        operands[use._index] = new
        user._operands = SSAValues(operands)
        new.add_use(use)
        use = following
    old.first_use = None
    if new._name is None and old._name is not None:
        new.name_hint = old._name


def set_arguments(block: Block, arguments: Sequence[BlockArgument]) -> None:
    """
    Gives a block these of its arguments, in this order, and erases the others.

    `Block.erase_arg` moves all arguments behind one: for thousands of them that is long. Raises
    ValueError where one that goes is used.
    """
    gone = set(block.args).difference(arguments)
    for index, argument in enumerate(arguments):
        argument.index = index
    block._args = tuple(arguments)
    for argument in gone:
        argument.erase()
