"""Fixtures and options shared by all pytest tests."""

import gc
import os

import pytest
from hypothesis import settings
from peers import DEVICES, in_ci, missing_peers, mlir_opt
from sweeps import PROFILE

from lowerings.execution.executable import BOUNDS_VARIABLE
from lowerings.execution.openmp import OpenMPRuntime, runtime

# Read when JAX makes its first array.
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={DEVICES}")

# Examples are derived from the test itself: a red run stays red when it is repeated.
settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=500, deadline=None, print_blob=True)
settings.load_profile(PROFILE)

# Programs share the processors with the other workers of pytest-xdist.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_PEER_OF_MARKER = {
    "jax": "jax",
    "flax": "flax",
    "mlir_opt": "mlir-opt",
    "openmp": "openmp",
    "riscv64": "riscv64",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests marked `full` too")
    parser.addoption(
        "--check-bounds",
        action="store_true",
        help="compile checks of all accesses to memory into programs",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Lets all programs check their bounds if asked for, also those of other processes."""
    if config.getoption("--check-bounds"):
        os.environ[BOUNDS_VARIABLE] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skips, with the reason, what needs a missing peer (in CI: leaves it to fail) or `--full`."""
    missing = missing_peers()
    for item in items:
        if item.get_closest_marker("full") is not None and not config.getoption("--full"):
            item.add_marker(pytest.mark.skip(reason="runs with --full only"))
        for marker, peer in _PEER_OF_MARKER.items():
            if item.get_closest_marker(marker) is not None and peer in missing and not in_ci():
                item.add_marker(pytest.mark.skip(reason=missing[peer]))


def pytest_collection_finish() -> None:
    """Keeps what was collected, 20,000 tests, out of every later round of the garbage collector."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """In CI a test whose peer is missing fails with what to install."""
    missing = missing_peers()
    for marker, peer in _PEER_OF_MARKER.items():
        if item.get_closest_marker(marker) is not None and peer in missing:
            pytest.fail(missing[peer], pytrace=False)


@pytest.fixture(scope="session")
def mlir_opt_path() -> str:
    """The path of mlir-opt 22, for tests marked `mlir_opt`."""
    path = mlir_opt()
    assert path is not None, "mark tests that use this fixture with @pytest.mark.mlir_opt"
    return path


@pytest.fixture(scope="session")
def openmp_runtime() -> OpenMPRuntime:
    """The threads of compiled programs, for tests marked `openmp`."""
    found = runtime()
    assert found is not None, "mark tests that use this fixture with @pytest.mark.openmp"
    return found
