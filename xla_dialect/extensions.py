"""
What other installed packages add to the tables of this one: entry points, as xDSL finds dialects.

Dialects, passes and targets come with the group `xdsl.universe`; the other groups here are what
xDSL has no place for. An entry point that cannot be loaded stops only what needs it: messages about
something that is not known name it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

UNIVERSES = "xdsl.universe"
"""Dialects, passes and targets: a `Universe` of xDSL."""

REFERENCE = "xla.reference"
"""Functions for the reference interpreter: subclasses of `InterpreterFunctions`."""

CONVERSIONS = "xla.conversions"
"""Conversions for the pass with the name of the entry: mappings from class to function."""

SHARDING_RULES = "xla.sharding_rules"
"""Sharding rules of custom calls, by target: functions from the operation to its rule, or None."""

INTERPRETER = "xla.interpreter"
"""What operations below the xla level do: a `Dialect` of `lowerings.interpreter.machine`."""

LLVM_HANDLERS = "xla.llvm_handlers"
"""How operations of the loops level are printed as LLVM IR: mappings from class to function."""

BACKENDS = "xla.backends"
"""Executors, by name: a `Backend` of `lowerings.backends`."""


EXPLORER = "xla.explorer"
"""What `lowerings.explain` shows: functions from a `Source` and a pipeline to a page of HTML."""


class ExtensionError(XlaError):
    """An entry point of another package that cannot be loaded."""


def extensions(group: str, name: str | None = None) -> tuple[Any, ...]:
    """
    The objects that installed packages offer in a group (under a name, if given), loaded once.

    Raises ExtensionError naming the entry point that does not load.
    """
    found = _loaded(group, name)
    for each in found:
        if isinstance(each, ExtensionError):
            raise each
    return found


def loadable_extensions(group: str, name: str | None = None) -> tuple[Any, ...]:
    """As `extensions`, without those that do not load."""
    return tuple(each for each in _loaded(group, name) if not isinstance(each, ExtensionError))


def has_extensions(group: str) -> bool:
    """Whether there is anything in a group; nothing is loaded."""
    return bool(entries(group))


@cache
def entries(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, by name."""
    found = _all_entries().select(group=group)
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.value)))


@cache
def _all_entries() -> Any:
    """Those of all installed packages: a look for one group reads the files of them all."""
    # It loads the library for electronic mail.
    from importlib.metadata import entry_points  # noqa: PLC0415

    return entry_points()


def failures(*groups: str) -> str:
    """
    What of some groups could not be loaded, as the end of a message about something that is not
    known: empty, or a line for each.
    """
    found = (each for group in groups for each in _loaded(group))
    return "".join(f"\nnote: {each}" for each in found if isinstance(each, ExtensionError))


def extension_error(entry: EntryPoint, reason: object) -> ExtensionError:
    """The error about an entry point that is of no use."""
    return ExtensionError(f"entry point {entry.name} = {entry.value} of {entry.group}: {reason}")


@cache
def _loaded(group: str, name: str | None = None) -> tuple[Any, ...]:
    """What entry points load, or the error of those that do not."""
    return tuple(_load(entry) for entry in entries(group) if name is None or entry.name == name)


@cache
def _load(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:
        # Whatever a module of others does when it is loaded.
        return extension_error(entry, f"{type(error).__name__}: {error}")
