"""Loading the compiler in less time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from lowerings.driver.collector import collector_paused


@contextmanager
def loading() -> Generator[None]:
    """While modules are loaded inside, no collection, for what they make stays."""
    is_collecting, loaded = gc.isenabled(), len(sys.modules)
    with collector_paused():
        yield
        # Else nothing was made that stays, and what is garbage by now would stay with it.
        if is_collecting and len(sys.modules) > loaded:
            _promote()


def _promote() -> None:
    """Makes all objects of the oldest generation, as what stays would be in the end."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
