"""What callers of machine code know of its module, apart from how that is printed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

THREADS = "xla.threads"
"""The pointer to the number of threads, an i64, to be set before a program with tasks is called."""

STOP_REQUESTED = -1
"""What a caller writes into the first word to end a run; checks that fail write their number."""


class RunState(IntEnum):
    """The words of the global, each an i64."""

    FAILURE = 0
    """0, `STOP_REQUESTED`, or one more than the number of the guard that failed."""
    FOUND = 1
    """The number that was checked."""
    LIMIT = 2
    """The bound that the number was checked against."""
    CALL = 3
    """One more than the number of the guard behind the outermost call; 0 if there was no call."""


@dataclass(frozen=True)
class Guard:
    """A place where a run may end."""

    message: str
    """What failed; `{found}` and `{limit}` stand for the numbers of the state."""
    place: tuple[str, int, int] | None
    """File, line and column of the operation, where they are known."""


@dataclass(frozen=True)
class ModuleGuards:
    """What a caller needs to know of the guards of a module."""

    symbol: str
    """The global of `RunState`; exported."""
    guards: tuple[Guard, ...]
    """The guards, indexed by their number."""


@dataclass(frozen=True)
class ExternalConstant:
    """A large constant: before it runs, the program's pointer `symbol` must be set to `data`."""

    symbol: str
    data: bytes
    """To lie at an address that is a multiple of `ALLOCATION_ALIGNMENT`."""
