"""StableHLO text as an output format."""

from lowerings.targets.stablehlo.target import StableHloTarget

__all__ = ["StableHloTarget"]
