"""StableHLO and CHLO, as JAX prints them,, read into the `xla` dialect."""

from xla_dialect.stablehlo.reader import read_stablehlo

__all__ = ["read_stablehlo"]
