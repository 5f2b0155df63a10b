"""Whether two texts are the same module for XLA."""

import importlib
from typing import Any

from peers import has_jax

from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.verification import verify

if has_jax():
    # No stubs: the reader and the printer of XLA itself.
    hlo: Any = importlib.import_module("jaxlib._hlo")


def printed_by_xla(text: str, **choices: Any) -> str:
    """What XLA prints for a text, by default everything that it knows of the module."""
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    for name, value in choices.items():
        setattr(options, name, value)
    return hlo.hlo_module_from_text(text).to_string(options)


def assert_round_trip(text: str) -> str:
    """Reads and prints; for XLA it is the same module. Returns the text that we print."""
    module = read_hlo(text, "original.hlo")
    verify(module, {"original.hlo": text})
    printed = print_hlo(module)
    assert printed_by_xla(printed) == printed_by_xla(text)
    assert print_hlo(read_hlo(printed, "printed.hlo")) == printed
    return printed
