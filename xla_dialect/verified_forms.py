"""Forms of operations that have been verified: what types and attributes decide is checked once.

A program of 100,000 operations has some hundred combinations of operation, types and attributes,
and xDSL 0.74 spends 10 to 50 us on each operation. What else an operation may be asked about (its
place in a block, its regions, symbols) is not of its form.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import HasAncestor, HasParent, IsTerminator, SymbolUserOpInterface

from xla_dialect.op import XlaOp

Form: TypeAlias = tuple[type[Operation] | int | str, ...]
"""The class of an operation and the identities of its types and attributes."""

_DIALECTS = frozenset({"arith", "complex", "math", "memref", "tensor", "vector"})
"""Beside `xla`, the dialects whose verifiers were read: they look at types and attributes only."""

_AROUND = (HasAncestor, HasParent, IsTerminator, SymbolUserOpInterface)
"""Traits whose verifiers look at what is around an operation."""


@cache
def is_decided_by_form(operation: type[Operation]) -> bool:
    """Whether operations of a class that end no block verify by types and attributes alone."""
    if operation is CallOp:
        # `verify` looks for the function itself: xDSL 0.74 goes through the module for each call.
        return True
    if issubclass(operation, XlaOp):
        if operation.verify_context is not XlaOp.verify_context:
            return False
    elif operation.name.partition(".")[0] not in _DIALECTS:
        return False
    return not any(isinstance(trait, _AROUND) for trait in operation.traits.traits)


class VerifiedForms:
    """The forms of operations that were found right; lives as long as one verification."""

    def __init__(self) -> None:
        self._forms: set[Form] = set()
        # Attributes by value; holding them keeps their identities theirs.
        self._attributes: dict[Attribute, Attribute] = {}
        self._held: list[Attribute] = []

    def holds(self, op: Operation) -> bool:
        """Whether an operation without regions has a form that `add` was called with."""
        form = _form(op)
        if form in self._forms:
            return True
        if self._by_value(op) not in self._forms:
            return False
        self._add(op, form)
        return True

    def add(self, op: Operation) -> None:
        """Remembers the form of an operation that was verified."""
        self._forms.add(self._by_value(op))
        self._add(op, _form(op))

    def _add(self, op: Operation, form: Form) -> None:
        self._forms.add(form)
        self._held.extend(_attributes_of(op))

    def _by_value(self, op: Operation) -> Form:
        """The form with one attribute in the place of all that are equal to it."""
        one = self._attributes
        found = (id(one.setdefault(attribute, attribute)) for attribute in _attributes_of(op))
        return (*_shape(op), *found)


def _form(op: Operation) -> Form:
    return (*_shape(op), *map(id, _attributes_of(op)))


def _shape(op: Operation) -> Form:
    """The class, and what the attributes are there for."""
    return (type(op), len(op.operands), *op.properties, len(op.properties), *op.attributes)


def _attributes_of(op: Operation) -> list[Attribute]:
    found = [operand.type for operand in op.operands]
    found += [result.type for result in op.results]
    found += op.properties.values()
    found += op.attributes.values()
    return found
