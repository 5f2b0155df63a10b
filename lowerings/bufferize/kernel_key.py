"""
A key for a sequence of operations that is equal for all sequences that do the same.

Values are numbered in the order in which they are met, so their names do not matter; locations do
not matter either.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xla_dialect.xdsl.attribute_identity import AttributeIdentities

__all__ = ["KernelKey", "kernel_key"]

KernelKey: TypeAlias = tuple[Hashable, ...]


def kernel_key(
    operations: Sequence[Operation],
    arguments: Sequence[SSAValue],
    argument_types: Sequence[Attribute],
    constants: Mapping[SSAValue, Attribute],
    identities: AttributeIdentities,
    open_constants: Set[Operation] = frozenset(),
) -> KernelKey:
    """
    The key of operations that take `arguments`, as values of `argument_types`, and `constants`
    from outside. Takes time linear in the size of the operations. What the `open_constants`
    among them are is not part of it.

    Keys made with the same `identities` can be compared.
    """
    key = _Key(identities, open_constants)
    for value in arguments:
        key.number(value)
    key.numbers.update((value, ("constant", identities(c))) for value, c in constants.items())
    for op in operations:
        key.add(op)
    return (tuple(map(identities, argument_types)), tuple(key.parts))


@dataclass(eq=False)
class _Key:
    identities: AttributeIdentities
    open_constants: Set[Operation]
    numbers: dict[SSAValue, Hashable] = field(default_factory=dict[SSAValue, Hashable])
    parts: list[Hashable] = field(default_factory=list[Hashable])

    def number(self, value: SSAValue) -> None:
        self.numbers[value] = len(self.numbers)

    def add(self, op: Operation) -> None:
        identities = self.identities
        self.parts += (
            type(op),
            tuple([self.numbers[operand] for operand in op.operands]),
            tuple([identities(result.type) for result in op.results]),
            () if op in self.open_constants else identities.named(op.properties),
            identities.named(op.attributes),
            len(op.regions),
        )
        for region in op.regions:
            self.parts.append(len(region.blocks))
            for block in region.blocks:
                self._add_block(block)
        for result in op.results:
            self.number(result)

    def _add_block(self, block: Block) -> None:
        for argument in block.args:
            self.number(argument)
        self.parts.append(tuple([self.identities(argument.type) for argument in block.args]))
        for op in block.ops:
            self.add(op)
