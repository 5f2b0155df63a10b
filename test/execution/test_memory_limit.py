"""Programs whose arrays cannot be in memory end in an error before anything is allocated."""

import pytest

import lowerings
from lowerings.execution.arrays import OutOfMemory, physical_memory

BROADCAST = """HloModule m
ENTRY main {{
  x = f32[] parameter(0)
  ROOT y = f32[{size}] broadcast(x), dimensions={{}}
}}
"""


def test_a_result_larger_than_the_machine_is_refused() -> None:
    size = physical_memory() // 4 + 1
    with pytest.raises(OutOfMemory, match=f"needs {4 * size + 4} bytes"):
        lowerings.compile(BROADCAST.format(size=size))
