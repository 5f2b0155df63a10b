"""Contexts of asynchronous computations whose operands or results are bound later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.op import Types
from xla_dialect.types import all_compatible, flatten, spell, spell_all, tuple_elements
from xla_dialect.violations import require

OPEN: Attribute = TupleType(())
"""The results in a context as long as they are not bound."""


def as_one(types: Sequence[Attribute]) -> Attribute:
    """The only type, or the tuple of them."""
    return types[0] if len(types) == 1 else as_tuple(types)


def split_bound(context: Types, bound: int) -> tuple[Types, Types]:
    """The context among the operands of an `async_update` or `async_done`, and what it binds."""
    require(0 <= bound <= len(context), "C3", "binds {} of {} operands", bound, len(context))
    held = context[: len(context) - bound]
    require(bool(held), "C1", "there is no context")
    return held, context[len(held) :]


def continued(before: Types, now: Types, late: Types) -> Types:
    """
    A context after operands of these types were bound, of which `now` says how many were operands.

    Raises Violation.
    """
    bound, growing = tuple_elements(before[0]), tuple_elements(now[0])
    if bound is None or growing is None:
        require(not late, "C3", "operands are bound to a context without a tuple of operands")
        return before
    operands = late[: max(len(growing) - len(bound), 0)]
    opened = before[1] == OPEN != now[1]
    results = now[1] if opened else before[1]
    buffers = late[len(operands) :]
    require(
        not buffers or (opened and all_compatible(flatten(buffers), flatten((results,)))),
        "C3",
        "operands {} are bound, but the operands of the context become {} and its results {}",
        spell_all(late),
        spell(now[0]),
        spell(results),
    )
    require(len(before) == len(now), "C2", "{} elements become {}", len(before), len(now))
    return (as_tuple((*bound, *operands)), results, *before[2:])


def as_tuple(types: Sequence[Attribute]) -> Attribute:
    """The tuple of types."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))
