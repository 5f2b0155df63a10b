"""Pausing Python's cyclic garbage collector around work on IR, and while modules are loaded."""

from __future__ import annotations

import gc
import os
import sys
from _thread import get_ident
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """No collection inside: IR is made of cycles that are alive, and looking at them again and
    again costs reading 1.7 times and passes up to 3 times their time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    _pausing.add(get_ident())
    try:
        yield
    finally:
        _pausing.discard(get_ident())
        gc.enable()


_pausing: set[int] = set()
"""The threads that will switch it on again."""


def _after_fork() -> None:
    """A child has only the thread that forked: for others it goes on."""
    if _pausing - {get_ident()}:
        _pausing.intersection_update({get_ident()})
        gc.enable()


os.register_at_fork(after_in_child=_after_fork)


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
