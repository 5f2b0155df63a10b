"""What a program came to, and how a process tells it to another."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class DeviceComparison:
    """What was found. Ratios are ours over XLA's; without turns there are none of calls."""

    name: str
    difference: str
    """What is not as on XLA's CPU, or nothing."""
    compile_ratio: float = 0.0
    call_ratio: float = 0.0
    xla_call: float = 0.0
    """Seconds."""


def as_line(outcome: DeviceComparison) -> str:
    """One line of JSON."""
    return json.dumps(asdict(outcome))


def of_line(line: str) -> DeviceComparison:
    """What `as_line` wrote."""
    return DeviceComparison(**json.loads(line))
