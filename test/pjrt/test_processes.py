"""The device in several processes of `jax.distributed`, each of which runs the same tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs_of_processes.py")
OPTIONS = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default"]

pytestmark = [pytest.mark.jax, pytest.mark.flax]

KNOWN = "import lowerings.pjrt\nlowerings.pjrt.initialize()\n"
"""Whether or not the package is installed with its entry points."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return found.getsockname()[1]


def start(script: str, count: int, devices: int = 1) -> list[subprocess.Popen[str]]:
    """Starts processes that run a script; their names are in the environment."""
    common = {
        "PROCESS_COUNT": str(count),
        "COORDINATOR": f"127.0.0.1:{free_port()}",
        "JAX_PLATFORMS": "xdsl,cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
        "PYTHONPATH": str(ROOT),
    }
    return [
        subprocess.Popen(
            [sys.executable, "-c", KNOWN + script],
            cwd=ROOT,
            env={**os.environ, **common, "PROCESS_NUMBER": str(number)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number in range(count)
    ]


def outputs(processes: Sequence[subprocess.Popen[str]], seconds: float = 300) -> list[str]:
    """What processes print, which have to end in time."""
    end = time.monotonic() + seconds
    try:
        return [each.communicate(timeout=max(end - time.monotonic(), 1))[0] for each in processes]
    finally:
        for each in processes:
            each.kill()


def run(script: str, count: int, devices: int = 1) -> None:
    """Runs a script in processes that have to end well."""
    processes = start(script, count, devices)
    for process, output in zip(processes, outputs(processes), strict=True):
        assert process.returncode == 0, output


@pytest.mark.parametrize(
    ("count", "devices"),
    [
        (2, 1),
        pytest.param(2, 2, marks=pytest.mark.full),
        pytest.param(4, 1, marks=pytest.mark.full),
        pytest.param(4, 2, marks=pytest.mark.full),
    ],
)
def test_programs(count: int, devices: int):
    run(
        f"import pytest; raise SystemExit(pytest.main({[*OPTIONS, str(PROGRAMS)]!r}))",
        count,
        devices,
    )
