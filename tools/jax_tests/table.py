"""What passes on XLA's CPU and here, file by file, and the reasons of exceptions."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

from tools.jax_tests.sessions import FileOutcome

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
