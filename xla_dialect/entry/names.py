"""The entry function, and under which names modules keep what is said of it."""

from __future__ import annotations

ENTRY_SYMBOL = "main"
"""The function that a module without its own word for it begins with."""


def kept_name(attribute: str) -> str:
    """Where an attribute is kept: `control-predecessors` is `xla.control_predecessors`."""
    return f"xla.{attribute.replace('-', '_')}"


ENTRY_LAYOUT = kept_name("entry_computation_layout")
