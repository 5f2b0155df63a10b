"""Merging of equal operations on the tensors level."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Hashable, MutableMapping
from typing import TypeAlias, cast

from xdsl.dialects import tensor
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.tensors.purity import is_pure

Numbers: TypeAlias = MutableMapping[SSAValue, Hashable]
"""What stands for a value in keys, where that is not the value itself."""

Known: TypeAlias = MutableMapping[Hashable, Operation]
"""The operation for each key that has been met on the way here."""


def merge_equal_operations(block: Block) -> None:
    """
    Replaces every pure operation by an equal one that comes before it, regions included.

    Fills and empty tensors stay apart, for they are destinations; operations are equal if they
    differ in such destinations only.
    """
    _merge(block, ChainMap(), ChainMap())


def _merge(
    block: Block,
    known: ChainMap[Hashable, Operation],
    numbers: ChainMap[SSAValue, Hashable],
) -> None:
    op = block.first_op
    while op is not None:
        following = op.next_op
        if isinstance(op, tensor.EmptyOp):
            numbers[op.tensor] = "empty", op.tensor.type, tuple(op.operands)
        elif isinstance(op, FillOp) and op.res:
            numbers[op.res[0]] = "fill", _number(numbers, op.inputs[0]), op.res[0].type
        elif is_pure(op):
            key = _key(op, numbers)
            equal = known.get(key)
            if equal is None:
                known[key] = op
            else:
                for result, value in zip(op.results, equal.results, strict=True):
                    result.replace_all_uses_with(value)
                block.erase_op(op)
        else:
            for region in op.regions:
                for inner in region.blocks:
                    _merge(inner, known.new_child(), numbers.new_child())
        op = following


def _number(numbers: Numbers, value: SSAValue) -> Hashable:
    return numbers.get(value, value)


def _key(op: Operation, numbers: Numbers) -> Hashable:
    operands = tuple(_number(numbers, operand) for operand in op.operands)
    bodies = (_body_key(op.body.block),) if isinstance(op, GenericOp) else ()
    return (op.name, operands, _attributes(op), tuple(op.result_types), bodies)


def _attributes(op: Operation) -> Hashable:
    return (
        tuple(sorted(op.properties.items(), key=_name)),
        tuple(sorted(op.attributes.items(), key=_name)),
    )


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]


def _body_key(body: Block) -> Hashable:
    """The operations of a body; values that it defines stand as numbers."""
    local: dict[SSAValue, Hashable] = {argument: i for i, argument in enumerate(body.args)}
    operations: list[Hashable] = []
    for op in body.ops:
        operands = tuple(local.get(operand, operand) for operand in op.operands)
        operations.append((op.name, operands, _attributes(op), tuple(op.result_types)))
        for result in op.results:
            local[result] = len(local)
    return cast(Hashable, tuple(operations))
