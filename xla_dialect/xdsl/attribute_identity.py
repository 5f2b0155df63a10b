"""Attributes by their identity: hashing and comparing them takes longer than most uses of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeAlias, TypeVar

from xdsl.ir import Attribute

ValueT = TypeVar("ValueT")

Named: TypeAlias = tuple[str | int, ...]
"""Names, each with the identity of its attribute."""


class AttributeMemo(Generic[ValueT]):
    """A function of attributes that computes its value once for each object; lives for one pass."""

    def __init__(self, function: Callable[[Attribute], ValueT]) -> None:
        self._function = function
        # The attribute is kept alive: another one could get its id.
        self._values: dict[int, tuple[Attribute, ValueT]] = {}

    def __call__(self, attribute: Attribute) -> ValueT:
        """The value for an attribute."""
        found = self._values.get(id(attribute))
        if found is None:
            found = self._values[id(attribute)] = attribute, self._function(attribute)
        return found[1]


class AttributeIdentities(AttributeMemo[int]):
    """
    Tells attributes apart by numbers that are quick to hash; equal attributes have the same.

    The hash of an attribute of xDSL 0.74 goes through all of it each time, and most attributes of a
    program are the same few objects.
    """

    def __init__(self) -> None:
        first: dict[Attribute, int] = {}
        super().__init__(lambda attribute: first.setdefault(attribute, len(first)))

    def named(self, attributes: Mapping[str, Attribute]) -> Named:
        """What a dictionary of attributes says, whatever its order."""
        if not attributes:
            return ()
        if len(attributes) == 1:
            ((name, attribute),) = attributes.items()
            return name, self(attribute)
        return tuple(part for name in sorted(attributes) for part in (name, self(attributes[name])))
