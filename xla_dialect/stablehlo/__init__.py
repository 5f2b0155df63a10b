"""StableHLO and CHLO, as JAX prints them, read into the `xla` dialect."""

from xla_dialect.stablehlo.reader import (
    CHLO,
    STABLEHLO,
    ArithmeticName,
    convert_stablehlo,
    has_source_operations,
    read_stablehlo,
    takes_dynamic_arguments,
)

__all__ = [
    "CHLO",
    "STABLEHLO",
    "ArithmeticName",
    "convert_stablehlo",
    "has_source_operations",
    "read_stablehlo",
    "takes_dynamic_arguments",
]
