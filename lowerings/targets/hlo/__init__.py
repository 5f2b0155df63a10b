"""HLO text as an output format."""

from lowerings.targets.hlo.target import HloTarget

__all__ = ["HloTarget"]
