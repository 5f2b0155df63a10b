"""Times, sizes and counts as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from ..alternating_turns import CONFIDENCE
from ..machine_load import MachineLoad, spelled
from .contender import ProgramVariant
from .figures import Comparison, VariantFigures

UNKNOWN = "-"


def seconds(value: float) -> str:
    """Three digits and a unit: `12.3 us`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def integer(value: int | None) -> str:
    """Digits in groups of three."""
    return UNKNOWN if value is None else f"{value:,}"


def difference(value: float, tolerance: float) -> str:
    """A largest difference, marked where it is more than the tolerance."""
    return f"{value:.1e} !" if value > tolerance else "0" if value == 0 else f"{value:.1e}"


_COLUMNS = (
    "contender",
    "time",
    "quartiles",
    "ratio",
    "interval",
    "verdict",
    "difference",
    "instructions",
    "kernels",
    "calls",
    "moved",
    "allocated",
    "arena",
    "code",
    "compile",
)
"""Of the table of contenders; memory and code are in bytes."""


def table_of(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """The table of contenders, its head and its rows, without figures that nobody asked for."""
    measured = comparison.measured
    rows = [
        (
            contender.label,
            *_cells(figures, comparison.tolerance, is_first=figures is measured[0][1]),
        )
        for contender, figures in measured
    ]
    kept = [n for n in range(len(_COLUMNS)) if any(row[n] != UNKNOWN for row in rows)]
    return [_COLUMNS[n] for n in kept], [[row[n] for n in kept] for row in rows]


def _cells(figures: VariantFigures, tolerance: float, *, is_first: bool) -> tuple[str, ...]:
    """The row of a contender, after its label."""
    call, memory = figures.call, figures.memory
    return (
        *(
            (
                seconds(call.median),
                " .. ".join(map(seconds, call.quartiles)),
                f"{call.ratio:.2f}",
                " .. ".join(f"{each:.2f}" for each in call.interval or ()) or UNKNOWN,
                UNKNOWN if is_first else call.verdict,
            )
            if figures.same_code_as is None
            else (UNKNOWN, f"as {figures.same_code_as}", UNKNOWN, UNKNOWN, UNKNOWN)
        ),
        difference(figures.difference, tolerance),
        integer(figures.instructions),
        integer(memory.kernels),
        integer(memory.kernel_calls),
        integer(memory.moved),
        integer(memory.usage and memory.usage.allocated),
        integer(memory.usage and memory.usage.arena),
        integer(figures.code_bytes),
        seconds(figures.compilation.seconds),
    )


def parts_of(measured: Iterable[tuple[ProgramVariant, VariantFigures]]) -> list[str]:
    """The parts of all compilations, each once, in order."""
    rows = _aligned([list(figures.compilation.parts) for _, figures in measured])
    return list(dict.fromkeys(name for name, _ in rows))


def passes_of(
    measured: Iterable[tuple[ProgramVariant, VariantFigures]],
) -> list[tuple[str, list[int | None]]]:
    """
    The runs of passes of all pipelines, in order: the pass, and which one of its own passes that
    run is for each contender, None where it has no such run.
    """
    return _aligned([[each.name for each in figures.passes] for _, figures in measured])


def _aligned(lists: Sequence[Sequence[str]]) -> list[tuple[str, list[int | None]]]:
    """
    Lists beside each other, each in its order. A row is a name, and its place in each list.

    What a list has in common with those before it shares their rows; all else gets rows of its own.
    """
    rows: list[tuple[str, list[int | None]]] = []
    for number, names in enumerate(lists):
        merged: list[tuple[str, list[int | None]]] = []
        matcher = SequenceMatcher(None, [name for name, _ in rows], names, autojunk=False)
        for kind, start, end, own_start, own_end in matcher.get_opcodes():
            own = range(own_start, own_end)
            if kind == "equal":
                pairs = zip(rows[start:end], own, strict=True)
                merged += [(name, [*places, place]) for (name, places), place in pairs]
            else:
                merged += [(name, [*places, None]) for name, places in rows[start:end]]
                merged += [(names[place], [*[None] * number, place]) for place in own]
        rows = merged
    return rows


def heading(comparison: Comparison) -> str:
    """What was compared, on what."""
    return f"{comparison.signature} on {comparison.processor}; seed {comparison.seed}"


def remarks(comparison: Comparison) -> list[str]:
    """What a reader of the table has to know."""
    found = [
        "ratio: of times to the first, median over turns; interval: where it lies, with "
        f"{CONFIDENCE:.0%} confidence; verdict: what the interval says.",
        "difference: of results from the first's, relative to their largest magnitude"
        + (
            f"; ! is more than {comparison.tolerance:g}."
            if any(f.difference > comparison.tolerance for _, f in comparison.measured)
            else "."
        ),
        _load(comparison.load),
    ]
    reasons: dict[str, list[str]] = {}
    for contender, figures in comparison.measured:
        if figures.no_instructions:
            reasons.setdefault(figures.no_instructions, []).append(contender.label)
    for reason, labels in reasons.items():
        whose = "" if len(labels) == len(comparison.measured) else f" of {', '.join(labels)}"
        found.append(f"no instructions{whose}: {reason}")
    return found


def _load(load: MachineLoad) -> str:
    """What the machine did beside, and what that means for verdicts."""
    if load.others is None:
        return "load: this system does not tell what others did meanwhile."
    said = (
        f"load: others used {load.others:.1f} of {len(load.processors)} processors "
        f"({spelled(load.processors)}) meanwhile"
    )
    if not load.is_busy:
        return f"{said}."
    return (
        f"{said}. A busy machine slows down programs with more threads more, so that there are no "
        "verdicts: wait, or bind this program to processors that are free (--processors)."
    )
