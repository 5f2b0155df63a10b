"""Whether two texts are the same module for XLA."""

import importlib
from typing import Any

from peers import has_jax

from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.verification import verify

if has_jax():
    # No stubs: the reader and the printer of XLA itself.
    hlo: Any = importlib.import_module("jaxlib._hlo")


def everything() -> Any:
    """XLA's options for printing all that it knows of a module."""
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    return options


def printed_by_xla(text: str) -> str:
    """What XLA prints for a text: everything that it knows of the module."""
    return hlo.hlo_module_from_text(text).to_string(everything())


def assert_round_trip(text: str) -> str:
    """Reads and prints; for XLA it is the same module. Returns the text that we print."""
    module = read_hlo(text, "original.hlo")
    verify(module, {"original.hlo": text})
    printed = print_hlo(module)
    assert printed_by_xla(printed) == printed_by_xla(text)
    assert print_hlo(read_hlo(printed, "printed.hlo")) == printed
    return printed
