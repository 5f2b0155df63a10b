"""A training script of flax on our device, with a pass switched on in the middle."""

import subprocess
import sys

import pytest


@pytest.mark.full
@pytest.mark.jax
@pytest.mark.flax
def test_the_losses_part_where_the_pass_is_switched_on() -> None:
    command = [sys.executable, "-m", "tools.repository.training_demo"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "compiles with the pass low-precision-products" in found.stdout
