"""Loading the modules of a tool, which takes most of a short run."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType


def load(name: str) -> ModuleType:
    """A module of this package."""
    with loading():
        return import_module(f"{__package__}.{name}")


@contextmanager
def loading() -> Generator[None]:
    """
    While modules are loaded inside, Python's cyclic garbage collector never looks at what is made:
    all of that stays.
    """
    enabled, loaded = gc.isenabled(), len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > loaded:
            gc.freeze()
        if enabled:
            gc.enable()
