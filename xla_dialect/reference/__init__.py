"""What each operation means, in numpy: one file per family, and `run` for whole modules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_dialect.reference.interpreter import (
        ReferenceInterpreter,
        register_reference,
        run,
        run_programs,
        run_replicated,
    )

__all__ = ["ReferenceInterpreter", "register_reference", "run", "run_programs", "run_replicated"]


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Imports on first access, so that users of one function do not load all operations."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.interpreter"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
