"""Fixtures and options shared by all pytest tests."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import settings
from peers import DEVICES, missing_peers, mlir_opt, unexpectedly_missing
from sweeps import PROFILE

from lowerings.execution.compile_cache import CACHE_VARIABLE
from lowerings.execution.executable import BOUNDS_VARIABLE

# Read when JAX makes its first array. XLA's devices wait for each other as long as it takes where
# other programs have the processors.
XLA_FLAGS = (
    f"--xla_force_host_platform_device_count={DEVICES}",
    "--xla_cpu_collective_call_terminate_timeout_seconds=600",
)
os.environ.setdefault("XLA_FLAGS", " ".join(XLA_FLAGS))

# Examples are derived from the test itself: a red run stays red when it is repeated.
settings.register_profile("quick", max_examples=12, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=500, deadline=None, print_blob=True)
settings.load_profile(PROFILE)

# The device for JAX keeps what it compiles: nothing is taken from a user's cache, or put there.
os.environ.setdefault(CACHE_VARIABLE, "0")

# Programs share the processors with the other workers of pytest-xdist.
os.environ.setdefault("OMP_NUM_THREADS", "1")


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


_LONG = pytest.StashKey[int]()
"""How many tests a run leaves out because they take long."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what needs `--full`, and skips what needs a peer whose absence is no error."""
    if not config.getoption("--full"):
        # Thousands: to skip them one by one takes half a minute.
        quick = [item for item in items if item.get_closest_marker("full") is None]
        config.stash[_LONG] = len(items) - len(quick)
        items[:] = quick
    skipped = {
        _marker(peer): pytest.mark.skip(reason=reason)
        for peer, reason in missing_peers().items()
        if peer not in unexpectedly_missing()
    }
    for item in items:
        for mark in [skipped[mark.name] for mark in item.iter_markers() if mark.name in skipped]:
            item.add_marker(mark)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist tells what it has left out: all of them collect the same."""
    output = getattr(session.config, "workeroutput", {})
    output["long"] = session.config.stash.get(_LONG, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker has told, for the summary."""
    node.config.stash[_LONG] = getattr(node, "workeroutput", {}).get("long", 0)


def _marker(peer: str) -> str:
    """The marker of the tests that need a peer."""
    return peer.replace("-", "_")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps what is collected, 20,000 tests, out of every round of the garbage collector."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test whose peer must not be missing fails with what to install."""
    for peer, remedy in unexpectedly_missing().items():
        if item.get_closest_marker(_marker(peer)) is not None:
            pytest.fail(remedy, pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not tested: every reason once, with how many tests it has kept from running."""
    reports = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    reasons["takes long: make test-full"] = terminalreporter.config.stash.get(_LONG, 0)
    if reasons := +reasons:
        terminalreporter.section("not tested, and how to have it")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:6} {reason}")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """
    Ctrl-C raises KeyboardInterrupt, also where the tests, or what they
    start, run in the background of a shell: that ignores it. No garbage is
    collected meanwhile: Python drops what is raised in a callback of the collector, as Hypothesis has.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    yield
    gc.enable()
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def mlir_opt_path() -> str:
    """The path of mlir-opt 22, for tests marked `mlir_opt`."""
    path = mlir_opt()
    assert path is not None, "mark tests that use this fixture with @pytest.mark.mlir_opt"
    return path
