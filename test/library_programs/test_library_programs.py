"""Programs of libraries on our device beside XLA's CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from library_programs.__main__ import LIBRARIES

SAMPLE = 3
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def run(library: str, sample: int) -> str:
    command = [sys.executable, "-m", "library_programs", library, f"--sample={sample}"]
    found = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.mark.jax
@pytest.mark.flax
def test_a_program_of_optax() -> None:
    assert "1 of 1 as on XLA's CPU" in run("optax", 1)


@pytest.mark.full
@pytest.mark.jax
@pytest.mark.libraries
@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_of(library: str) -> None:
    assert f"{SAMPLE} of {SAMPLE} as on XLA's CPU" in run(library, SAMPLE)


def test_an_unknown_library_is_named() -> None:
    command = [sys.executable, "-m", "library_programs", "keras"]
    found = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert found.returncode == 2
    assert "keras is none of" in found.stderr
