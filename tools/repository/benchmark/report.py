"""The tables of the benchmark, for the console and for the page of the documentation."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import XlaError

from .contenders import Effort, Figures
from .libraries import missing

AIMS = {"kernels": 1.0, "models": 1.5}
"""What the geometric mean of the ratios of calls should not exceed."""
COMPILE_AIM = 6.0
"""What no ratio of compilations should exceed."""
PEAK_AIM = 0.85
"""The share of the peak that large matrix products should reach."""
LEAD_AIMS = (0.8, 1.05, 1.3, 0.85)
"""
Beside the best of XLA and libraries: a share of the rows should have at most a ratio, none more
than another one, and their geometric mean should be at most the last.
"""
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
"""Around what the benchmark writes into the page."""


@dataclass(frozen=True)
class GroupReport:
    """The figures of a group of rows, by the number of threads, and the reasons of slow rows."""

    group: str
    figures: Mapping[int, Mapping[str, Figures]]
    reasons: Mapping[str, str]

    @property
    def first(self) -> Mapping[str, Figures]:
        """With the fewest threads; compilations are compared there."""
        return self.figures[min(self.figures)]

    @property
    def header(self) -> list[str]:
        """The titles of the columns."""
        calls = ((f"call µs, {threads}T", "XLA µs", "ratio") for threads in sorted(self.figures))
        titles = [title for group in calls for title in group]
        return [self.group, *titles, "compile ms", "XLA ms", "ratio", "error"]

    def lines(self) -> Iterable[list[str]]:
        """The cells of each row."""
        for name, first in self.first.items():
            cells = [name]
            for threads in sorted(self.figures):
                own = self.figures[threads][name]
                cells += [f"{own.own_call * 1e6:.1f}", f"{own.peer_call * 1e6:.1f}"]
                cells.append(f"{own.ratio:.2f}")
            cells += [f"{first.own_compile * 1e3:.0f}", f"{first.peer_compile * 1e3:.0f}"]
            yield [*cells, f"{first.compile_ratio:.2f}", f"{first.error:.1e}"]

    def means(self) -> Iterable[str]:
        """A sentence for each number of threads, and one for the compilations."""
        aim = AIMS[self.group]
        for threads, found in sorted(self.figures.items()):
            mean = statistics.geometric_mean(row.ratio for row in found.values())
            yield (
                f"Time per call, {_threads(threads)}: geometric mean of the ratios of {len(found)} "
                f"{self.group} {mean:.2f} (aim: at most {aim:g})."
            )
        ratios = [row.compile_ratio for row in self.first.values()]
        yield (
            f"Compilation: geometric mean {statistics.geometric_mean(ratios):.2f}, largest ratio "
            f"{max(ratios):.2f} (aim: at most {COMPILE_AIM:g})."
        )

    def peaks(self) -> Iterable[str]:
        """A sentence for each row that was compared with the peak."""
        for threads, found in sorted(self.figures.items()):
            shares = [
                f"{row.name} {row.peak_share:.0%}" for row in found.values() if row.peak_share
            ]
            if shares:
                yield (
                    f"Of the peak of the processor in f32, {_threads(threads)}: "
                    f"{', '.join(shares)} (aim: from 512 on at least {PEAK_AIM:.0%})."
                )

    @property
    def compared(self) -> list[str]:
        """The rows that libraries compute too."""
        return [name for name, row in self.first.items() if row.libraries]

    @property
    def best_header(self) -> list[str]:
        """The titles of the columns of what is beside libraries."""
        columns = ((f"ratio, {threads}T", "best") for threads in sorted(self.figures))
        return [f"{self.group} beside libraries", *(title for pair in columns for title in pair)]

    def best_lines(self) -> Iterable[list[str]]:
        """The cells of each row that libraries compute too: the best of all, and of how many."""
        for name in self.compared:
            rows = [found[name] for _, found in sorted(self.figures.items())]
            cells = ((f"{row.best[0]:.2f}", row.best[1]) for row in rows)
            yield [name, *(cell for pair in cells for cell in pair)]

    def best_means(self) -> Iterable[str]:
        """A sentence for each number of threads, and what did not count, or was not there."""
        share, least, most, mean = LEAD_AIMS
        for threads, found in sorted(self.figures.items()) if self.compared else ():
            ratios = [row.best[0] for row in found.values()]
            within = sum(ratio <= least for ratio in ratios) / len(ratios)
            yield (
                f"Over the best of XLA and libraries, {_threads(threads)}: {within:.0%} of "
                f"{len(ratios)} {self.group} at most {least:g} (aim: {share:.0%}), the largest "
                f"{max(ratios):.2f} (aim: {most:g}), geometric mean "
                f"{statistics.geometric_mean(ratios):.2f} (aim: {mean:g})."
            )
        off = [
            f"{package} in {name}"
            for name in self.compared
            for package, each in self.first[name].libraries.items()
            if not each.is_accurate
        ]
        if off:
            yield f"Less accurate than ours, so they do not count: {', '.join(off)}."
        if self.compared and missing():
            yield f"Not installed (pip install -e '.[bench]'): {', '.join(missing())}."

    def shortfalls(self) -> Iterable[str]:
        """A sentence for each row that is slower than the aims are."""
        for name, first in self.first.items():
            found = [
                f"a call takes {row.ratio:.2f} times as long as XLA's with {_threads(threads)}"
                for threads, figures in sorted(self.figures.items())
                if (row := figures[name]).ratio > AIMS[self.group]
            ]
            if first.compile_ratio > COMPILE_AIM:
                found.append(f"compiling {first.compile_ratio:.1f} times")
            if found:
                reason = self.reasons[name] or "No reason was found yet."
                yield f"{name}: {'; '.join(found)}. {reason}"


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def ratios(title: str, times: Mapping[str, Sequence[Sequence[float]]], unit: float) -> str:
    """
    A table of what each row's turns took, ours and theirs in seconds: the least in a unit, the
    ratio of these, and the median of the ratios of single turns.
    """
    rows: list[list[str]] = []
    for name, (ours, theirs) in times.items():
        least = min(ours), min(theirs)
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        cells = (f"{each * unit:.3g}" for each in least)
        rows.append([name, *cells, f"{least[0] / least[1]:.2f}", f"{ratio:.2f}"])
    return table([title, "ours", "theirs", "ours / theirs", "median"], rows)


def markdown(reports: Sequence[GroupReport], effort: Effort) -> str:
    """The tables, the means, and the rows that fall short, with date and machine."""
    parts = [
        f"Measured on {datetime.date.today().isoformat()} on {_processor()}, LLVM's "
        f"`{host().cpu}` with vectors of {host().vector_bits} bits; JAX {version('jax')}, "
        f"jaxlib {version('jaxlib')}, llvmlite {version('llvmlite')}, Python "
        f"{platform.python_version()}. {effort.turns} turns of calls, the shortest of "
        f"{effort.compiles} compilations."
    ]
    for report in reports:
        parts.append(f"## {report.group.capitalize()}")
        parts.append(table(report.header, report.lines()))
        parts.append("\n".join(f"- {each}" for each in (*report.means(), *report.peaks())))
        if report.compared:
            parts.append(table(report.best_header, report.best_lines()))
            parts.append("\n".join(f"- {each}" for each in report.best_means()))
        parts.append(f"### {report.group.capitalize()} that fall short")
        parts.append("\n".join(f"- {each}" for each in report.shortfalls()) or "None.")
    return "\n\n".join(parts)


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table of words and, from the second column on, numbers."""
    ruler = "|---" + "|--:" * (len(header) - 1) + "|"
    rows = ["| " + " | ".join(cells) + " |" for cells in (header, *lines)]
    return "\n".join([rows[0], ruler, *rows[1:]])


def write_page(path: Path, text: str) -> None:
    """Puts `text` between the marks of the page; raises XlaError if it has none."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise XlaError(f"cannot read {path}: {error}") from error
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise XlaError(f"{path} has no place for figures, between {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def _processor() -> str:
    """What the system calls the processor, and how many there are."""
    names = Path("/proc/cpuinfo")
    found = platform.processor() or platform.machine()
    if names.exists():
        lines = names.read_text(encoding="utf-8").splitlines()
        found = next((x.partition(": ")[2] for x in lines if x.startswith("model name")), found)
    return f"{os.cpu_count()} processors {found}"
