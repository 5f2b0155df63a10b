"""What the partitioner says to users where it could not do better."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar


class PartitionWarning(UserWarning):
    """Something is gathered, or computed by every device, that a rule could have divided."""


_is_quiet = ContextVar("_is_quiet", default=False)


@contextmanager
def no_partition_warnings() -> Generator[None]:
    """Nobody is warned inside; filters of `warnings`, which all threads have, are left alone."""
    before = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(before)


def warn(message: str) -> None:
    """Warns the user, unless somebody knows that they cannot do anything about it."""
    if not _is_quiet.get():
        warnings.warn(message, PartitionWarning, stacklevel=3)
