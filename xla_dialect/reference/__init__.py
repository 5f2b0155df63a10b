"""What each operation means, in numpy: one file per family, and `run` for whole modules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_dialect.devices.process_grid import Host
    from xla_dialect.literals.literal import (
        MEMORY_LIMIT,
        MemoryLimitError,
        Value,
        check_memory,
        element_type_of,
        flatten_results,
        from_numpy,
        literal_of,
        numpy_dtype,
        to_numpy,
    )
    from xla_dialect.reference.interpreter import (
        ReferenceInterpreter,
        RunOptions,
        nest_arguments,
        register_reference,
        run,
    )
    from xla_dialect.reference.observation import Observer
    from xla_dialect.reference.parallel import run_programs, run_replicated
    from xla_dialect.reference.programs import Program

__all__ = [
    "MEMORY_LIMIT",
    "Host",
    "MemoryLimitError",
    "Observer",
    "Program",
    "ReferenceInterpreter",
    "RunOptions",
    "Value",
    "check_memory",
    "element_type_of",
    "flatten_results",
    "from_numpy",
    "literal_of",
    "nest_arguments",
    "numpy_dtype",
    "register_reference",
    "run",
    "run_programs",
    "run_replicated",
    "to_numpy",
]

_MODULES = (
    "xla_dialect.literals.literal",
    "xla_dialect.reference.observation",
    "xla_dialect.devices.process_grid",
    "xla_dialect.reference.programs",
    "xla_dialect.reference.parallel",
    "xla_dialect.reference.interpreter",
)
"""Where the names are; the quickest to load first."""


def __getattr__(name: str) -> Any:
    """Loads what is first asked for: a compiler needs types of arrays and interprets nothing."""
    if name in __all__:
        for module in _MODULES:
            found = getattr(import_module(module), name, None)
            if found is not None:
                return found
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
