"""How long a program may run, and how much memory there is for it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from xla_dialect.diagnostics import XlaError


class TimeLimitReached(XlaError):
    """A program that has not ended within the time that its caller gives it."""

    def __init__(self, name: str, seconds: float):
        super().__init__(f"{name}: did not end within {seconds:g} s")


@dataclass
class Deadline:
    """The end of the time of one run, which begins now."""

    name: str
    seconds: float
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def check(self) -> None:
        """Raises TimeLimitReached when the time is over."""
        if time.monotonic() > self._end:
            raise TimeLimitReached(self.name, self.seconds)


def physical_memory() -> int:
    """Bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
