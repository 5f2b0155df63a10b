"""What reads programs, makes contexts and runs passes over modules."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from xla_dialect.diagnostics import XlaError

InputFormat: TypeAlias = Literal["hlo", "stablehlo", "mlir"]
"""The formats that programs are read in; here, where command lines load nothing else for them."""
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)


class CompilationError(XlaError):
    """A program or an option that the compiler does not take."""
