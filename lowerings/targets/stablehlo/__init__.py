"""StableHLO as an output format: text, and portable artifacts."""

from lowerings.targets.stablehlo.target import StableHloBytecodeTarget, StableHloTarget

__all__ = ["StableHloBytecodeTarget", "StableHloTarget"]
