"""Where the time goes: timers in a tree, printed as `mlir-opt --mlir-timing` prints it."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from lowerings.driver.pass_manager import PassTiming, PipelinePass

_RULE = f"==={'-' * 73}==="
_TITLE = "... Execution time report ..."


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
    print(f"{_RULE}\n{_TITLE:^79}".rstrip(), file=output)
    print(f"{_RULE}\n  Total Execution Time: {total.seconds:.4f} seconds\n", file=output)
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
