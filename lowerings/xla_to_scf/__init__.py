"""From the control flow of the xla dialect to scf."""

from lowerings.xla_to_scf.convert_xla_to_scf import ConvertXlaToScfPass

__all__ = ["ConvertXlaToScfPass"]
