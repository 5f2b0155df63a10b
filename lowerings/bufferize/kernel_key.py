"""
A key for a sequence of operations that is equal for all sequences that do the same.

Values are numbered in the order in which they are met, so their names do not matter; locations do
not matter either.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, SSAValue

__all__ = ["KernelKey", "kernel_key"]

KernelKey: TypeAlias = tuple[Hashable, ...]


def kernel_key(
    operations: Sequence[Operation],
    arguments: Sequence[SSAValue],
    argument_types: Sequence[Attribute],
    constants: Mapping[SSAValue, Attribute],
) -> KernelKey:
    """
    The key of operations that take `arguments`, as values of `argument_types`, and `constants`
    from outside. Takes time linear in the size of the operations.
    """
    numbers: dict[SSAValue, Hashable] = {}
    for value in arguments:
        numbers[value] = len(numbers)
    numbers.update(constants)
    body = tuple(_operation_key(op, numbers) for op in operations)
    return (tuple(argument_types), body)


def _operation_key(op: Operation, numbers: dict[SSAValue, Hashable]) -> KernelKey:
    operands = tuple(numbers[operand] for operand in op.operands)
    regions = tuple(
        tuple(_block_key(block, numbers) for block in region.blocks) for region in op.regions
    )
    for result in op.results:
        numbers[result] = len(numbers)
    return (
        op.name,
        operands,
        tuple(op.result_types),
        tuple(sorted(op.properties.items(), key=_name)),
        tuple(sorted(op.attributes.items(), key=_name)),
        regions,
    )


def _block_key(block: Block, numbers: dict[SSAValue, Hashable]) -> KernelKey:
    for argument in block.args:
        numbers[argument] = len(numbers)
    return (tuple(block.arg_types), tuple(_operation_key(op, numbers) for op in block.ops))


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]
