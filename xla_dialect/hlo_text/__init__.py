"""HLO text, as XLA and JAX print it, to the `xla` dialect and back."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text.importer import import_module
from xla_dialect.hlo_text.instruction_text import HloPrintOptions
from xla_dialect.hlo_text.parser import parse_module
from xla_dialect.hlo_text.printer import print_hlo
from xla_dialect.hlo_text.syntax import HloImportError, HloPrintError, HloSyntaxError, Recovery

__all__ = [
    "HloImportError",
    "HloPrintError",
    "HloPrintOptions",
    "HloSyntaxError",
    "print_hlo",
    "read_hlo",
    "read_with_all_errors",
]


def read_hlo(text: str, file_name: str = "<input>") -> ModuleOp:
    """
    Reads a module of HLO text.

    The result is not verified, but every instruction was checked against the constraints of its
    operation and its inferred result. Raises HloSyntaxError or HloImportError, both `LocatedError`
    with file, line, column and the source line, for the first thing that is wrong.

    >>> from xla_dialect.hlo_text import read_hlo
    >>> print(read_hlo("ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }"))
    builtin.module @module_main {
      func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %y = xla.add %x, %x : tensor<2xf32>
        func.return %y : tensor<2xf32>
      }
    }
    """
    return import_module(parse_module(text, file_name))


def read_with_all_errors(
    text: str, file_name: str = "<input>"
) -> tuple[ModuleOp | None, list[LocatedError]]:
    """
    Reads a module of HLO text and goes on after errors; returns the module and all errors found.

    The module is not verified, and None where there are errors.
    """
    recovery = Recovery()
    module = None
    try:
        module = import_module(parse_module(text, file_name, recovery), recovery)
    except LocatedError as error:
        # What a computation or the module has to be may be wrong for want of what was left out.
        recovery.errors += [] if recovery.errors else [error]
    # A computation is read anew wherever it is used.
    errors = list({str(error): error for error in recovery.errors}.values())
    return (None if errors else module), errors
