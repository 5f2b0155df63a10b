"""
Decisions on fusion as attributes of a `linalg.generic`.

    fusion.group = 3 : i64   its results are stored, by the operation that group 3 becomes: that of
                             all operations of a block with this number
    fusion.inline            it is computed in the body of every operation that uses it
    fusion.alone             its results are stored by an operation that computes nothing else
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException

from xla_dialect.violations import described, place_of

GROUP = "fusion.group"
INLINE = "fusion.inline"
ALONE = "fusion.alone"


@dataclass(frozen=True)
class FusionDecision:
    """What is decided on an operation: the name of its attribute, and the number of a group."""

    name: str
    group: int | None = None

    @property
    def attribute(self) -> Attribute:
        """The attribute that says it."""
        return UnitAttr() if self.group is None else IntegerAttr(self.group, 64)


def decision_of(op: Operation) -> FusionDecision | None:
    """The decision that an operation carries; raises PassFailedException for what is none."""
    found = [name for name in (GROUP, INLINE, ALONE) if name in op.attributes]
    if not found:
        return None
    if len(found) > 1:
        raise fusion_error(op, f"{found[0]} and {found[1]} exclude each other")
    name, attribute = found[0], op.attributes[found[0]]
    if name == GROUP:
        if not isinstance(attribute, IntegerAttr):
            raise fusion_error(op, f"{name} is the number of a group, not {attribute}")
        return FusionDecision(name, cast("IntegerAttr[Any]", attribute).value.data)
    if not isinstance(attribute, UnitAttr):
        raise fusion_error(op, f"{name} has no value, but is {attribute}")
    return FusionDecision(name)


def set_decision(op: Operation, decision: FusionDecision) -> None:
    """Makes an operation carry a decision."""
    op.attributes[decision.name] = decision.attribute


def remove_decision(op: Operation) -> None:
    """Takes what has been done off an operation."""
    for name in (GROUP, INLINE, ALONE):
        op.attributes.pop(name, None)


def fusion_error(op: Operation, message: str) -> PassFailedException:
    """The error that a decision on an operation cannot be followed, with its place."""
    place = place_of(op.location)
    where = "" if place is None else f"{':'.join(map(str, place))}: "
    return PassFailedException(f"{where}{named(op)}: fusion: {message}")


def named(op: Operation) -> str:
    """An operation as messages name it: by its first result, if that has a name."""
    hint = op.results[0].name_hint if op.results else None
    return described(op) if hint is None else f"%{hint}"
