"""`--timing` and `--pass-statistics`: reports of a run of passes, in the form of `mlir-opt`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.pass_manager import PassTiming, PipelinePass

_RULE = f"==={'-' * 73}==="


@dataclass
class Timer:
    """Seconds of wall time, in total and by part."""

    name: str
    seconds: float = 0.0
    parts: dict[tuple[str, int], Timer] = field(default_factory=dict[tuple[str, int], "Timer"])
    """By name and, where one name comes several times, position."""

    def part(self, name: str, position: int = 0) -> Timer:
        """The timer of a part: the one there is, else a new one."""
        return self.parts.setdefault((name, position), Timer(name))

    @contextmanager
    def running(self) -> Generator[None]:
        """Adds the time of what is done inside."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start

    def add_passes(self, pipeline: Sequence[PipelinePass], timings: Sequence[PassTiming]) -> None:
        """
        Adds the passes that ran, below their pipeline and their level, with their verification.

        Of a run that failed there are fewer timings than passes.
        """
        for position, (scheduled, timing) in enumerate(zip(pipeline, timings, strict=False)):
            seconds = timing.seconds + timing.verification_seconds
            timer = self
            for name, kind in zip(scheduled.group, ("Pipeline", "Level"), strict=False):
                timer = timer.part(f"'{name}' {kind}")
                timer.seconds += seconds
            timer = timer.part(timing.name, position)
            timer.seconds += seconds
            if timing.verification_seconds:
                timer.part("Verifier").seconds += timing.verification_seconds


def print_timing_report(total: Timer, output: IO[str]) -> None:
    """Prints the tree of timers below `total`, and what none of them measured as `Rest`."""
    _print_title("Execution time report", output)
    print(f"  Total Execution Time: {total.seconds:.4f} seconds\n", file=output)
    print("  ----Wall Time----  ----Name----", file=output)
    for part in total.parts.values():
        _print_timer(part, total.seconds, 0, output)
    rest = max(0.0, total.seconds - sum(part.seconds for part in total.parts.values()))
    _print_timer(Timer("Rest", rest), total.seconds, 0, output)
    _print_timer(Timer(total.name, total.seconds), total.seconds, 0, output)


def _print_timer(timer: Timer, total: float, depth: int, output: IO[str]) -> None:
    share = 100 * timer.seconds / total if total else 100.0
    print(f"  {timer.seconds:8.4f} ({share:5.1f}%)  {'  ' * depth}{timer.name}", file=output)
    for part in timer.parts.values():
        _print_timer(part, total, depth + 1, output)


class PassStatistics:
    """Counts the operations of a module, as an event after each pass of a pass manager."""

    def __init__(self, module: ModuleOp):
        self._last = _operations(module)
        self._lines: list[str] = []

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Notes what a pass has changed; an operation that became another counts for both."""
        now = _operations(module)
        self._lines.append(module_pass.name)
        for dialect in sorted(now.keys() | self._last.keys()):
            before, after = self._last[dialect], now[dialect]
            if before != after:
                self._lines.append(f"  (S) {after - before:+7} {dialect}: {before} to {after}")
        self._last = now

    def print(self, output: IO[str]) -> None:
        """Prints the report, as `mlir-opt --mlir-pass-statistics` prints its own."""
        _print_title("Pass statistics report", output)
        print(*self._lines, sep="\n", file=output)


def _operations(module: ModuleOp) -> Counter[str]:
    """How many operations of each dialect a module has."""
    return Counter(op.name.split(".", 1)[0] for op in module.walk())


def _print_title(title: str, output: IO[str]) -> None:
    print(_RULE, f"{f'... {title} ...':^{len(_RULE)}}".rstrip(), _RULE, sep="\n", file=output)
