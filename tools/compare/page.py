"""A comparison as a page of HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .figures import Comparison, PassEffect
from .pictures import bars, curves, stacked_bars
from .quantities import (
    UNKNOWN,
    heading,
    integer,
    parts_of,
    passes_of,
    remarks,
    seconds,
    table_of,
)

_STYLE = """
:root { color-scheme: light dark; --rule: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; }
h1 { font-size: 1.5em; margin-bottom: 0; }
h2 { border-top: 1px solid var(--rule); font-size: 1.1em; margin: 2em 0 .8em; padding-top: 1em; }
p { color: color-mix(in srgb, currentColor 75%, transparent); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1em 0; }
th, td { border-bottom: 1px solid var(--rule); padding: .3em .7em; text-align: right; }
table.figures td, th { white-space: nowrap; }
tr:hover td { background: var(--rule); }
th:first-child, td:first-child, table.words td, table.words th { text-align: left; }
table.words td { vertical-align: top; }
summary { cursor: pointer; padding: .2em 0; }
.scroll { overflow-x: auto; }
svg { display: block; font: 12px system-ui, sans-serif; max-width: 100%; height: auto; }
svg text { fill: currentColor; }
code { overflow-wrap: anywhere; }
"""


def as_page(comparison: Comparison) -> str:
    """The page: tables, and pictures of times, compilations, memory and passes."""
    measured = comparison.measured
    labels = [contender.label for contender, _ in measured]
    figures = [each for _, each in measured]
    parts, passes = parts_of(measured), passes_of(measured)
    body = [
        f"<h1>xla-compare</h1><p><code>{escape(heading(comparison))}</code></p>",
        _table(*table_of(comparison)),
        *(f"<p>{escape(remark)}</p>" for remark in remarks(comparison)),
        "<h2>Time of a call: median, quartiles, least and most</h2>",
        bars(
            [
                (contender.label, own.call.median, own.call.turns, own.call.quartiles)
                for contender, own in measured
                if own.same_code_as is None
            ]
        ),
        "<h2>Compilation</h2>",
        stacked_bars(labels, parts, [own.compilation.parts for own in figures], seconds),
        _table(
            ["contender", "total", *parts],
            (
                [
                    label,
                    seconds(own.compilation.seconds),
                    *(_part(own.compilation.parts.get(part)) for part in parts),
                ]
                for label, own in zip(labels, figures, strict=True)
            ),
        ),
        "<h2>Bytes that each kernel moves in all its calls</h2>",
        _kernels(comparison),
        "<h2>Operations after each pass</h2>",
        curves(
            labels,
            [name for name, _ in passes],
            [
                {
                    step: own.passes[place].operations
                    for step, (_, places) in enumerate(passes)
                    if (place := places[number]) is not None
                }
                for number, own in enumerate(figures)
            ],
        ),
        *(
            _passes(label, own.passes, own.compilation.passes)
            for label, own in zip(labels, figures, strict=True)
        ),
    ]
    if comparison.failed:
        failed = ([row.contender.label, row.failure] for row in comparison.failed)
        body += ["<h2>Needed</h2>", _table(["contender", "because"], failed, "words")]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>xla-compare</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _part(taken: float | None) -> str:
    return seconds(taken) if taken else UNKNOWN


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "figures") -> str:
    titles = "".join(f"<th>{escape(each)}</th>" for each in head)
    lines = ("".join(f"<td>{escape(each)}</td>" for each in row) for row in rows)
    text = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table class="{kind}"><tr>{titles}</tr>\n{text}\n</table></div>'


def _kernels(comparison: Comparison) -> str:
    """One table; names of kernels tell what they compute, so that equal ones are one row."""
    moved = [
        {each.function: each.moved for each in figures.memory.traffic}
        for _, figures in comparison.measured
    ]
    names = dict.fromkeys(name for own in moved for name in own)
    rows = ([name, *(integer(own.get(name)) for own in moved)] for name in names)
    return _table(["kernel", *(contender.label for contender, _ in comparison.measured)], rows)


def _passes(label: str, effects: Sequence[PassEffect], times: Sequence[float]) -> str:
    """What each pass of a contender did, folded."""
    rows = (
        [
            each.name,
            each.level or UNKNOWN,
            seconds(taken),
            integer(each.operations),
            ", ".join(f"{count:+} {name}" for name, count in each.changes.items()) or "nothing",
        ]
        for each, taken in zip(effects, times, strict=True)
    )
    table = _table(["pass", "level", "time", "operations", "more or less of"], rows, "words")
    return f"<details><summary>{escape(label)}</summary>{table}</details>"
