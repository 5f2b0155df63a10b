"""
A plugin of pytest: runs a sample of the tests, without those that are done, and notes how they end.

Loaded in the processes of `sessions` with `-p`; it says each thing when it happens, in a line of
JSON, so that what ends the process is known as well.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PLAN = "JAX_TESTS_PLAN"
"""The variable of the environment with a `RunPlan` as JSON."""


@dataclass(frozen=True)
class RunPlan:
    """What a process runs."""

    record: str
    """The file that gets the lines: `[test]` at the start, `[test, result, reason]` at the end."""
    sample: int | None
    """So many of the file's tests; all by default."""
    seed: int = 0
    """Which ones."""
    done: list[str] = field(default_factory=list[str])
    """Tests that need not be run again."""

    def text(self) -> str:
        """For the environment."""
        return json.dumps(asdict(self))


def _plan() -> RunPlan:
    return RunPlan(**json.loads(os.environ[PLAN]))


def _note(*line: str) -> None:
    with Path(_plan().record).open("a") as record:
        record.write(json.dumps(line) + "\n")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leaves what is to be run."""
    plan = _plan()
    chosen = list(items)
    if plan.sample is not None:
        chosen = random.Random(plan.seed).sample(chosen, min(plan.sample, len(chosen)))
    done = set(plan.done)
    items[:] = [item for item in chosen if item.nodeid not in done]


def pytest_runtest_logstart(nodeid: str) -> None:
    """A test begins."""
    _note(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """A part of a test has ended: the call, or one before or behind it that went wrong."""
    if report.when == "call" or not report.passed:
        reason = ""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = (crash.message if crash else str(report.longrepr)).splitlines()[:1]
            reason = reason[0] if reason else ""
        elif report.skipped and isinstance(report.longrepr, tuple):
            reason = str(report.longrepr[2])
        _note(report.nodeid, report.outcome, reason)
