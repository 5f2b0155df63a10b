"""
What other installed packages add to the tables of this one: entry points, as xDSL finds dialects.

Dialects, passes and targets come with the group `xdsl.universe`; the groups here are what xDSL has
no place for.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from xla_dialect.diagnostics import XlaError

REFERENCE = "xla.reference"
"""Functions for the reference interpreter: subclasses of `InterpreterFunctions`."""

CONVERSIONS = "xla.conversions"
"""Conversions for the pass with the name of the entry: mappings from class to function."""


SHARDING_RULES = "xla.sharding_rules"
"""Sharding rules of custom calls, by target: functions from the operation to its rule, or None."""


class ExtensionError(XlaError):
    """An entry point of another package that cannot be loaded."""


@cache
def extensions(group: str, name: str | None = None) -> tuple[Any, ...]:
    """
    The objects that installed packages offer in a group (under a name, if given), loaded once.

    Raises ExtensionError naming the entry point that does not load.
    """
    found = sorted(_of_group(group), key=lambda entry: (entry.name, entry.value))
    return tuple(_loaded(entry) for entry in found if name is None or entry.name == name)


@cache
def _of_group(group: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def _loaded(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ExtensionError(
            f"entry point {entry.name} = {entry.value} of {entry.group}: {error}"
        ) from error
