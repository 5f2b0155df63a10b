"""From the xla dialect to linalg on tensors."""

from lowerings.xla_to_linalg.convert_xla_to_linalg import ConvertXlaToLinalgPass

__all__ = ["ConvertXlaToLinalgPass"]
