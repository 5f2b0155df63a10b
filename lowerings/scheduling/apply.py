"""Schedules given by functions in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from lowerings.dialects.schedule import Schedule, set_schedule
from lowerings.loops.nest import NESTS, Nest, nest_of
from lowerings.loops.schedule_rules import scheduled_loops
from xla_dialect.xdsl.traversal import function_of, operations_in

Matcher: TypeAlias = Callable[[Operation], bool]
"""Whether an operation is meant."""
Scheduler: TypeAlias = "Schedule | Callable[[tuple[int, ...]], Schedule | None]"
"""A schedule, or what makes one of the extents of an operation's dimensions; None for none."""


def matching(
    name: str | None = None,
    *,
    iterators: Sequence[str] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    function: str | None = None,
) -> Matcher:
    """
    Matches operations by what is given of them: their name, such as `linalg.generic`; the iterator
    types of their dimensions, `parallel` or `reduction`; some attributes; the function they are in.
    """

    def matches(op: Operation) -> bool:
        given = {**op.properties, **op.attributes}
        return (
            name in (None, op.name)
            and (iterators is None or tuple(iterators) == iterators_of(nest_of(op)))
            and all(given.get(key) == value for key, value in (attributes or {}).items())
            and function in (None, function_of(op))
        )

    return matches


def iterators_of(nest: Nest) -> tuple[str, ...]:
    """The iterator types of the dimensions of a nest."""
    return tuple("reduction" if reduces else "parallel" for reduces in nest.is_reduction)


def apply(module: ModuleOp, matches: Matcher, schedule: Scheduler) -> Sequence[Operation]:
    """
    Gives the linalg operations on memrefs or tensors that match a schedule, in the place of one
    that they have; returns those that got one.

    Raises FailedAt, with the place of the operation and the rule, for a schedule that an
    operation does not admit, and for arrays of unknown sizes.
    """
    found: list[Operation] = []
    for op in operations_in(module):
        if type(op) not in NESTS or not matches(op):
            continue
        chosen = schedule
        if not isinstance(chosen, Schedule):
            chosen = chosen(nest_of(op).extents)
        if chosen is not None:
            set_schedule(op, chosen)
            found.append(op)
    for op in found:
        scheduled_loops(op)
    return found
