"""Memoized verification, where verifiers depend on types and attributes alone.

A program of 100,000 operations has some hundred combinations of operation, types and attributes,
and xDSL 0.74 spends 10 to 50 us on each operation. What else an operation may be asked about (its
place in a block, its regions, symbols) is not part of the key.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TypeAlias

from xdsl.dialects.func import CallOp
from xdsl.ir import Operation
from xdsl.traits import HasAncestor, HasParent, IsTerminator, SymbolUserOpInterface

from xla_dialect.op import XlaOp
from xla_dialect.xdsl.attribute_identity import AttributeIdentities
from xla_dialect.xdsl.traversal import operands_of

OperationKey: TypeAlias = tuple[type[Operation] | int | str, ...]
"""The class of an operation, and its types and attributes as numbers."""

VERIFIED_BY_KEY = frozenset({"arith", "complex", "linalg", "math", "memref", "tensor", "vector"})
"""Dialects beside `xla` whose verifiers look at types and attributes only: a test reads them."""

_REGIONS_OF_ANY_BODY = "linalg"
"""The dialect whose verifiers ask of a region which arguments its blocks have, and no more."""

_AROUND = (HasAncestor, HasParent, SymbolUserOpInterface)
"""Traits whose verifiers look at what is around an operation."""


class Decided(Enum):
    """Which operations of a class verify by types and attributes alone."""

    NONE = 0
    ENDS = 1
    """Terminators."""
    OTHERS = 2
    """Operations other than terminators, without regions."""
    WITH_REGIONS = 3
    """Operations other than terminators; block arguments of their regions count as types."""


@cache
def decided_by_key(operation: type[Operation]) -> Decided:
    """Which operations of a class verify by their key."""
    if operation is CallOp:
        # xDSL 0.74 searches the whole module for the callee; `verify` has a table of functions.
        return Decided.OTHERS
    dialect = operation.name.partition(".")[0]
    if issubclass(operation, XlaOp):
        known = operation.verify_context is XlaOp.verify_context
    else:
        known = dialect in VERIFIED_BY_KEY
    if not known or any(isinstance(trait, _AROUND) for trait in operation.traits.traits):
        return Decided.NONE
    if any(isinstance(trait, IsTerminator) for trait in operation.traits.traits):
        return Decided.ENDS
    return Decided.WITH_REGIONS if dialect == _REGIONS_OF_ANY_BODY else Decided.OTHERS


def is_decided_by_key(op: Operation) -> bool:
    """Whether another operation of this key that verifies is proof that this one does."""
    decided = decided_by_key(type(op))
    if decided is Decided.OTHERS:
        return op.next_op is not None and not op.regions
    if decided is Decided.ENDS:
        return op.next_op is None and not op.successors
    return decided is Decided.WITH_REGIONS and op.next_op is not None


class VerifiedKeys:
    """The keys of operations that were found right; lives as long as one verification."""

    def __init__(self) -> None:
        self._keys: set[OperationKey] = set()
        self._identity = AttributeIdentities()

    def key(self, op: Operation) -> OperationKey:
        """The key of an operation."""
        identity = self._identity
        operands = operands_of(op)
        found: list[type[Operation] | int | str] = [type(op), len(operands)]
        for value in operands:
            found.append(identity(value.type))
        for value in op.results:
            found.append(identity(value.type))
        if op.properties:
            found += identity.named(op.properties)
        found.append(len(op.properties))
        if op.attributes:
            found += identity.named(op.attributes)
        for region in op.regions:
            for block in region.blocks:
                found.append(-1)
                found += [identity(argument.type) for argument in block.args]
        return tuple(found)

    def __contains__(self, key: OperationKey) -> bool:
        return key in self._keys

    def add(self, key: OperationKey) -> None:
        """Remembers the key of an operation that was verified."""
        self._keys.add(key)
