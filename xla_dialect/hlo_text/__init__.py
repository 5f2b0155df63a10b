"""HLO text, as XLA and JAX print it, to the `xla` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xla_dialect.hlo_text.errors import HloImportError, HloSyntaxError
from xla_dialect.hlo_text.importer import import_module
from xla_dialect.hlo_text.parser import parse_module

__all__ = ["HloImportError", "HloSyntaxError", "read_hlo"]


def read_hlo(text: str, file_name: str = "<input>") -> ModuleOp:
    """
    Reads a module of HLO text.

    The result is not verified, but every instruction was checked against the constraints of its
    operation and its inferred result. Raises HloSyntaxError or HloImportError, both `LocatedError`
    with file, line, column and the source line, for the first thing that is wrong.
    """
    return import_module(parse_module(text, file_name))
