"""Names: of the entry function, and of discardable attributes that keep those of HLO text."""

from __future__ import annotations

ENTRY_SYMBOL = "main"
"""The entry function of a module that does not name one."""


def kept_name(attribute: str) -> str:
    """The discardable attribute for one of HLO: `xla.control_predecessors`."""
    return f"xla.{attribute.replace('-', '_')}"


ENTRY_LAYOUT = kept_name("entry_computation_layout")

ALIASING_OUTPUT = "tf.aliasing_output"
"""The attribute of a parameter that says which result is in its memory, by number."""

BUFFER_DONOR = "jax.buffer_donor"
"""The attribute of a parameter whose memory may be used, for no result in particular."""
