"""Options of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from xla_dialect.runtime.custom_calls import CustomCallFunction, CustomCallLibrary
from xla_dialect.runtime.observation import Observer


class RunOptions(TypedDict, total=False):
    """The options of a run beside its arguments; each has a default."""

    iteration_limit: int | None
    """How often the body of one loop may run; by default there is no limit."""
    memory_limit: int
    """Bytes of the largest array, and of all that a process holds at the same time; by default
    `MEMORY_LIMIT` and all that this machine has."""
    time_limit: float | None
    """Seconds that a process may take; by default there is no limit."""
    scatter_oob: str
    """What a scatter skips where a window is partly outside: the whole `window`, as XLA does, or
    the `element`, as the specification of StableHLO says."""
    seed: int
    """Seeds the random numbers of `rng`."""
    custom_calls: Mapping[str, CustomCallFunction]
    """The functions that custom calls may call, by target."""
    libraries: Sequence[CustomCallLibrary]
    """What else knows functions that custom calls may call."""
    observer: Observer
    """Where printed and probed values go."""
