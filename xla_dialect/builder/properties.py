"""Properties as callers of the builder give them: numbers of Python and numpy, words, texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import index
from typing import Any, TypeAlias

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr
from xdsl.dialects.utils.enum_attribute import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, OptionalDef, VerificationContext
from xdsl.utils.exceptions import VerifyException

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.builder.caller import build_error
from xla_dialect.devices.replica_groups import (
    ListedGroups,
    ReplicaGroupsAttr,
    SourceTargetPairs,
    SourceTargetPairsAttr,
)
from xla_dialect.op import PropertyValue, XlaOp
from xla_dialect.spelling import SpellingError

Groups: TypeAlias = Sequence[Sequence[int]] | str | None
"""
Replica groups: lists of ids, or as HLO spells them, `"[2,4]<=[8]"`. None: one group of all.
"""
Pairs: TypeAlias = Sequence[tuple[int, int]]
"""Pairs of source and target."""


def as_groups(given: Groups) -> ReplicaGroupsAttr:
    """The attribute for groups; raises BuildError for a text that does not spell any."""
    if isinstance(given, str):
        return _spelled(f"replica groups '{given}'", ReplicaGroupsAttr, given)
    groups = tuple(tuple(index(n) for n in group) for group in given or ())
    return ReplicaGroupsAttr(ListedGroups(groups))


def _as_pairs(given: Pairs) -> SourceTargetPairsAttr:
    return SourceTargetPairsAttr(SourceTargetPairs(tuple((index(s), index(t)) for s, t in given)))


_LISTS: Mapping[type[Attribute], tuple[str, Callable[[Any], Attribute]]] = {
    ReplicaGroupsAttr: ("Groups", as_groups),
    SourceTargetPairsAttr: ("Pairs", _as_pairs),
}
"""Attributes that are given as lists: the annotation of these, and what makes the attribute."""


@cache
def _attribute_class(operation: type[XlaOp], name: str) -> type[Any]:
    """The class of the attribute of a property; `Attribute` where it may be any."""
    constraint = operation.get_irdl_definition().properties[name].constr
    return next(iter(constraint.get_bases() or ()), Attribute)


def annotation(operation: type[XlaOp], name: str) -> str:
    """What callers give for a property."""
    definition = operation.get_irdl_definition().properties[name]
    given = _annotation(_attribute_class(operation, name), definition.constr)
    is_optional = isinstance(definition, OptionalDef) and given != "Groups"
    return f"{given} | None" if is_optional else given


def _annotation(attribute: type[Any], constraint: AttrConstraint[Attribute]) -> str:
    if attribute in _LISTS:
        return _LISTS[attribute][0]
    if issubclass(attribute, EnumAttribute):
        return f"{attribute.enum_type.__name__} | str"
    if issubclass(attribute, IntegerAttr):
        return "bool" if _accepts(constraint, BoolAttr.from_bool(True)) else "int"
    return {DenseArrayBase: "Sequence[int]", FloatAttr: "float"}.get(attribute, "str")


def _accepts(constraint: AttrConstraint[Attribute], value: Attribute) -> bool:
    try:
        constraint.verify(value, VerificationContext())
    except VerifyException:
        return False
    return True


def encoded(operation: type[XlaOp], name: str, given: Any) -> PropertyValue:
    """What the constructor of an operation takes for a property; raises BuildError."""
    if given is None or isinstance(given, Attribute):
        return given
    attribute = _attribute_class(operation, name)
    bases, what = attribute.__mro__, f"{operation.name}: {name}"
    if attribute in _LISTS:
        return _LISTS[attribute][1](given)
    if EnumAttribute in bases:
        return _word(what, attribute, given)
    if SpelledAttribute in bases:
        return _spelled(what, attribute, given)
    if FloatAttr in bases:
        return float(given)
    if DenseArrayBase in bases:
        return [_integer(what, number) for number in given]
    return given if isinstance(given, bool | str) else _integer(what, given)


def _word(what: str, attribute: type[Any], given: object) -> Attribute:
    """The attribute for a case of an enumeration, or for its name in HLO text."""
    try:
        return attribute(attribute.enum_type(given))
    except ValueError:
        cases = ", ".join(case.value for case in attribute.enum_type)
        raise build_error(f"{what}: '{given}' is none of {cases}") from None


def _spelled(what: str, attribute: type[Any], given: object) -> Any:
    """The attribute for its content, or for the text of it in HLO."""
    if not isinstance(given, str):
        return attribute(given)
    try:
        return attribute(attribute.read(given))
    except SpellingError as error:
        raise build_error(f"{what}: {error}") from None


def _integer(what: str, given: Any) -> int:
    """An integer of Python or numpy, as Python has it."""
    number = index(given)
    if not -(2**63) <= number < 2**63:
        raise build_error(f"{what}: {number} is not an integer of 64 bits")
    return number


def normalized(dimension: int, rank: int) -> int:
    """A dimension counted from the end (-1 is the last) counted from the start."""
    dimension = index(dimension)
    return dimension + rank if -rank <= dimension < 0 else dimension


def all_normalized(dimensions: Iterable[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the end counted from the start; what is out of range stays so."""
    return tuple(normalized(d, rank) for d in dimensions)
