"""
Which operations do the same: structural keys, and the search for common subexpressions.

Values are numbered in the order in which they are met, so their names do not matter; locations do
not matter either.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, Region, SSAValue

from xla_dialect.xdsl.traversal import AttributeIdentities, operands_of


@dataclass(eq=False)
class StructuralKeys:
    """
    Keys of operations. Those that one object has made can be compared: they are equal for
    operations that do the same with the same operands.
    """

    identity: AttributeIdentities = field(default_factory=AttributeIdentities)

    def form(self, op: Operation, *, of_attributes: bool = True) -> tuple[Hashable, ...]:
        """What an operation is, without its operands and what is in its regions."""
        identity = self.identity
        return (
            type(op),
            tuple([identity(result.type) for result in op.results]),
            identity.named(op.properties),
            identity.named(op.attributes) if of_attributes else (),
            len(op.regions),
        )

    def of(
        self,
        parts: Sequence[Operation] | Sequence[Region],
        numbers: Mapping[SSAValue, Hashable] | None = None,
        unnamed: Set[Operation] = frozenset(),
    ) -> tuple[Hashable, ...]:
        """
        The key of operations one after the other, or of regions; in linear time.

        `numbers` has what stands for values from outside, else they are the values themselves. What
        the operations of `unnamed` are is not part of the key.
        """
        walk = _Walk(self, dict(numbers or {}), unnamed)
        for part in parts:
            if isinstance(part, Region):
                walk.add_region(part)
            else:
                walk.add(part)
        return tuple(walk.parts)


@dataclass(eq=False)
class _Walk:
    keys: StructuralKeys
    numbers: dict[SSAValue, Hashable]
    unnamed: Set[Operation]
    parts: list[Hashable] = field(default_factory=list[Hashable])

    def add(self, op: Operation) -> None:
        numbers = self.numbers
        self.parts.append(tuple([numbers.get(operand, operand) for operand in operands_of(op)]))
        form = self.keys.form(op)
        self.parts += (form[0], form[1], *form[3:]) if op in self.unnamed else form
        for region in op.regions:
            self.add_region(region)
        for result in op.results:
            numbers[result] = len(numbers)

    def add_region(self, region: Region) -> None:
        self.parts.append(len(region.blocks))
        for block in region.blocks:
            self._add_block(block)

    def _add_block(self, block: Block) -> None:
        for argument in block.args:
            self.numbers[argument] = len(self.numbers)
        self.parts.append(tuple([self.keys.identity(argument.type) for argument in block.args]))
        for op in block.ops:
            self.add(op)


@dataclass(eq=False)
class KnownOperations:
    """Operations that dominate those that are still to be met, to find equal ones among them."""

    keys: StructuralKeys
    of_attributes: bool = True
    """Whether operations whose attributes differ, beside their properties, are equal to none."""
    numbers: dict[SSAValue, Hashable] = field(default_factory=dict[SSAValue, Hashable])
    """What stands for values in keys, where that is not the value itself."""
    _known: dict[Hashable, list[Operation]] = field(default_factory=dict[Hashable, list[Operation]])
    """By what is the same outside of regions."""
    _noted: list[list[Operation]] = field(default_factory=list[list[Operation]])
    """The lists of `_known` that were added to."""

    def first_equal(self, op: Operation) -> Operation:
        """The operation known that does what this one does; this one, if it is the first."""
        form = self.keys.form(op, of_attributes=self.of_attributes)
        operands = operands_of(op)
        if self.numbers:
            operands = tuple([self.numbers.get(operand, operand) for operand in operands])
        known = self._known.setdefault((operands, form), [])
        if known:
            if not op.regions:
                return known[0]
            inside = self.keys.of(op.regions)
            for each in known:
                if each is op or self.keys.of(each.regions) == inside:
                    return each
        known.append(op)
        self._noted.append(known)
        return op

    @contextmanager
    def scope(self) -> Generator[None]:
        """What is met inside does not dominate what comes after it."""
        outside = len(self._noted)
        yield
        while len(self._noted) > outside:
            self._noted.pop().pop()
