"""
Sessions of pytest in JAX's checkout, one process for each file and platform.

A test that ends the process, or hangs, is noted as such, and a new process goes on behind it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from jax_tests import recorder
from jax_tests.recorder import PLAN, RunPlan
from lowerings.execution.compile_cache import CACHE_VARIABLE

PLATFORMS = {"xla": "cpu", "xdsl": "xdsl,cpu"}
"""What `JAX_PLATFORMS` is for each column of the table."""

_FOLDER = Path(__file__).parents[1]
_HANGS = b"\nTimeout ("
"""How Python's fault handler begins to speak of a test that takes too long."""
_MAX_RESTARTS = 20


@dataclass(frozen=True)
class Session:
    """How tests are run."""

    checkout: Path
    sample: int | None
    """So many tests of a file; None for all."""
    cases: int
    """Random cases of each property."""
    devices: int
    limit: float
    """Seconds for the tests of a file."""
    test_limit: float
    """Seconds for one test."""
    folder: Path | None = None
    """Where outcomes are kept, and taken from."""
    brief: bool = False
    """Tests that pass on the device count as passed on XLA's CPU, and are not run there."""
    seed: int = 0
    """Which sample."""

    def environment(self, platform: str, plan: RunPlan) -> dict[str, str]:
        """The variables of a process."""
        path = os.environ.get("PYTHONPATH")
        return {
            **os.environ,
            "JAX_PLATFORMS": PLATFORMS[platform],
            # What is tested is the compiler.
            CACHE_VARIABLE: "0",
            "JAX_NUM_GENERATED_CASES": str(self.cases),
            "JAX_NUM_CPU_DEVICES": str(self.devices),
            "PYTHONFAULTHANDLER": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, (str(_FOLDER), path))),
            PLAN: plan.text(),
        }

    def command(self, file: str) -> list[str]:
        """Starts pytest."""
        options = ["-v", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist"]
        timeout = [f"faulthandler_timeout={self.test_limit}", "faulthandler_exit_on_timeout=true"]
        options += ["-p", recorder.__name__, *(word for each in timeout for word in ("-o", each))]
        return [sys.executable, "-m", "pytest", *options, f"tests/{file}.py"]


@dataclass
class FileOutcome:
    """What became of the tests of a file on one platform."""

    results: dict[str, str] = field(default_factory=dict[str, str])
    """By the test: `passed`, `failed`, `skipped`, `crashed` or `hangs`."""
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """The first line of what went wrong, or why a test was skipped."""
    seconds: float = 0.0
    sample: int | None = None
    """So many tests were to be run."""
    seed: int = 0
    failure: str = ""
    """The end of what a process printed that ran no test."""

    def with_result(self, *names: str) -> set[str]:
        """The tests that ended so."""
        return {test for test, result in self.results.items() if result in names}


def run_tests(
    session: Session, file: str, platform: str, before: FileOutcome | None = None
) -> FileOutcome:
    """
    Runs the tests of a file, unless the folder of outcomes has them.

    before: what became of them on the other platform.
    """
    folder = session.folder
    trusted = before.with_result("passed") if before and session.brief else set[str]()
    outcome = FileOutcome(
        dict.fromkeys(trusted, "passed"), sample=session.sample, seed=session.seed
    )
    if before and trusted and trusted == set(before.results):
        return outcome
    if folder is None:
        return _run(session, file, platform, outcome, None)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{file}.{platform}.json"
    if kept.exists():
        found = FileOutcome(**json.loads(kept.read_text()))
        if (found.sample, found.seed) == (session.sample, session.seed):
            return found
    with kept.with_suffix(".log").open("wb") as log:
        _run(session, file, platform, outcome, log)
    kept.write_text(json.dumps(asdict(outcome), indent=1))
    return outcome


def _run(
    session: Session, file: str, platform: str, outcome: FileOutcome, log: IO[bytes] | None
) -> FileOutcome:
    """Runs tests, again without those that are done when the process ends early."""
    start = time.monotonic()
    for _ in range(_MAX_RESTARTS):
        left = session.limit - (time.monotonic() - start)
        if left <= 0 or _run_process(session, file, platform, outcome, left, log):
            break
    outcome.seconds = time.monotonic() - start
    return outcome


def _run_process(
    session: Session,
    file: str,
    platform: str,
    outcome: FileOutcome,
    limit: float,
    log: IO[bytes] | None,
) -> bool:
    """Whether there is nothing left to do."""
    with tempfile.TemporaryDirectory() as folder:
        record, output = Path(folder, "record"), Path(folder, "output")
        plan = RunPlan(str(record), session.sample, session.seed, list(outcome.results))
        with output.open("wb") as stream:
            process = subprocess.Popen(
                session.command(file),
                cwd=session.checkout,
                env=session.environment(platform, plan),
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                code = None
        printed = output.read_bytes()
        running = _read(record.read_text() if record.exists() else "", outcome)
    if log is not None:
        log.write(printed)
    if running is not None:
        # Whoever runs when the time of the file is over need not hang.
        if code is not None:
            outcome.results[running] = "hangs" if _HANGS in printed else "crashed"
            outcome.reasons[running] = f"the process ended with {code}"
        return code is None
    if not outcome.results:
        outcome.failure = printed.decode(errors="replace")[-500:]
    return True


def _read(record: str, outcome: FileOutcome) -> str | None:
    """Notes the results; returns the test that has none."""
    running = None
    for line in record.splitlines():
        test, *end = json.loads(line)
        if not end:
            running = test
            continue
        # What fails behind a test that passed fails.
        running = None
        outcome.results[test], reason = end
        if reason:
            outcome.reasons[test] = reason
    return running


RESULTS = ("passed", "skipped", "failed", "crashed", "hangs")
"""How tests end here that pass on XLA's CPU."""

COLUMNS = ("file", "pass on XLA", *(f"{each} here" for each in RESULTS), "s XLA", "s here")

REASONS = Path(__file__).with_name("reasons.toml")
"""Why tests do not pass here: a regular expression for their names under each reason."""


@cache
def reasons() -> dict[str, re.Pattern[str]]:
    """The reasons that are known."""
    table = tomllib.loads(REASONS.read_text()).get("reason", [])
    return {row["why"]: re.compile("|".join(row["tests"])) for row in table}


def reason_of(test: str) -> str | None:
    """Why a test does not pass here, if somebody has found out."""
    name = test.removeprefix("tests/").replace(".py::", "::")
    return next((why for why, names in reasons().items() if names.match(name)), None)


class Table:
    """The table as it grows, in Markdown."""

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.missed: dict[str, str] = {}
        """Tests that pass on XLA's CPU and not here, with the first line of what they say."""
        self.not_run: dict[str, str] = {}

    def head(self) -> str:
        """Its first two lines."""
        return f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"

    def add(self, file: str, xla: FileOutcome, xdsl: FileOutcome) -> str:
        """The line of a file. Tests count that were run on both."""
        passing = xla.with_result("passed") & set(xdsl.results)
        counts = Counter({name: len(xdsl.with_result(name) & passing) for name in RESULTS})
        counts["on XLA"] = len(passing)
        self.total += counts
        for test in sorted(passing - xdsl.with_result("passed")):
            self.missed[test] = f"{xdsl.results[test]} {xdsl.reasons.get(test, '')}"
        for platform, outcome in (("XLA", xla), ("here", xdsl)):
            if not outcome.results:
                self.not_run[f"{file}, {platform}"] = outcome.failure
        return self._row(file, counts, xla.seconds, xdsl.seconds)

    def _row(self, name: str, counts: Counter[str], xla: float, xdsl: float) -> str:
        numbers = (counts[each] for each in ("on XLA", *RESULTS))
        cells = (name, *numbers, f"{xla:.0f}", f"{xdsl:.0f}")
        return f"| {' | '.join(map(str, cells))} |"

    def summary(self) -> str:
        """The share that passes, and the exceptions under their reasons."""
        total = self.total
        share = total["passed"] / max(total["on XLA"], 1)
        lines = [f"\n{total['passed']} of {total['on XLA']} pass here, {share:.2%}."]
        by_reason: dict[str | None, list[str]] = {}
        for test in self.missed:
            by_reason.setdefault(reason_of(test), []).append(test)
        unexplained = by_reason.pop(None, [])
        if by_reason:
            lines += ["", "| tests | reason |", "| --- | --- |"]
        for why, tests in sorted(by_reason.items(), key=lambda each: -len(each[1])):
            lines.append(f"| {len(tests)} | {why} |")
        for title, found in (
            ("Without a known reason:", {test: self.missed[test] for test in unexplained}),
            ("Not run:", self.not_run),
        ):
            if found:
                lines += ["", title, "", *(f"- {name}: {text}" for name, text in found.items())]
        return "\n".join(lines)
