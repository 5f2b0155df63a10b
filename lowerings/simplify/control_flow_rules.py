"""Branches that are known, tuples taken apart where they were made, sorts of one element."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Region, SSAValue

from lowerings.simplify.constant_folding import array_type, splat_of
from lowerings.simplify.rewriting import Inserter, Replacement, Rule
from xla_dialect.op import XlaOp
from xla_dialect.ops import control_flow, sorting, transfers, tuples
from xla_dialect.types import PRED, TokenType, is_scalar
from xla_dialect.xdsl.operation_table import OperationTable


def take_branch(op: control_flow.ConditionalOp, inserter: Inserter) -> Replacement:
    """The operations of the branch that a constant chooses."""
    number = splat_of(op.branch_index)
    if number is None:
        return None
    if is_scalar(op.branch_index.type, PRED):
        chosen = 0 if number else 1
    else:
        chosen = int(number) if 0 <= int(number) < len(op.branch) else len(op.branch) - 1
    before = sum(len(region.block.args) for region in op.branch[:chosen])
    return _inlined(op.branch[chosen], op.branch_operands[before:], inserter)


def _inlined(region: Region, operands: tuple[SSAValue, ...], inserter: Inserter) -> Replacement:
    block = region.block
    arguments = tuple(block.args)
    if any(a.type != b.type for a, b in zip(arguments, operands, strict=False)):
        return None
    for argument, operand in zip(arguments, operands, strict=False):
        argument.replace_all_uses_with(operand)
    returned = block.last_op
    assert returned is not None
    for op in list(block.ops):
        if op is not returned:
            op.detach()
            inserter.insert(cast(XlaOp, op))
    return tuple(returned.operands)


def take_element(op: tuples.GetTupleElementOp, inserter: Inserter) -> Replacement:
    """An element of a tuple that was made of it."""
    inner = op.operand.owner
    return inner.elements[op.index.value.data] if isinstance(inner, tuples.TupleOp) else None


def rejoin_tuple(op: tuples.TupleOp, inserter: Inserter) -> Replacement:
    """A tuple of all elements of a tuple."""
    whole: SSAValue | None = None
    for number, element in enumerate(op.elements):
        owner = element.owner
        if not isinstance(owner, tuples.GetTupleElementOp) or owner.index.value.data != number:
            return None
        if whole is not None and owner.operand is not whole:
            return None
        whole = owner.operand
    return whole if whole is not None and whole.type == op.result.type else None


def forward_token(op: transfers.AfterAllOp, inserter: Inserter) -> Replacement:
    """After one token comes that token."""
    alone = len(op.operands) == 1 and isinstance(op.operands[0].type, TokenType)
    return op.operands[0] if alone else None


def skip_sort(op: sorting.SortOp, inserter: Inserter) -> Replacement:
    """Along a dimension of one element everything is sorted."""
    type_ = array_type(op.inputs[0])
    if type_ is None or type_.get_shape()[op.dimension.value.data] > 1:
        return None
    return tuple(op.inputs)


RULES = (
    OperationTable[Rule]()
    .add(control_flow.ConditionalOp, take_branch)
    .add(tuples.GetTupleElementOp, take_element)
    .add(tuples.TupleOp, rejoin_tuple)
    .add(transfers.AfterAllOp, forward_token)
    .add(sorting.SortOp, skip_sort)
)
"""The rule of each operation."""
