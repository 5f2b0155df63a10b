"""What jaxlib's own StableHLO says about a text."""

import functools
from typing import Any

from peers import has_jax

if has_jax():
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir


@functools.cache
def _context() -> Any:
    return mlir.make_ir_context()


def rejection(text: str) -> str | None:
    """Why jaxlib rejects a module, or None where it parses and verifies it."""
    with _context() as context:
        try:
            ir.Module.parse(text, context)
        except ir.MLIRError as error:
            return "; ".join(diagnostic.message for diagnostic in error.error_diagnostics)
    return None


def printed(text: str) -> str:
    """A module as jaxlib prints it, in custom form."""
    with _context() as context:
        return str(ir.Module.parse(text, context))
