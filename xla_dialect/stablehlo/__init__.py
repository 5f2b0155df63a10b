"""StableHLO and CHLO, as JAX prints them,, read into the `xla` dialect."""

from xla_dialect.stablehlo.reader import CHLO, STABLEHLO, read_stablehlo

__all__ = ["CHLO", "STABLEHLO", "read_stablehlo"]
