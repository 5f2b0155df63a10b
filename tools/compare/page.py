"""A comparison as a page of HTML that needs no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from xml.etree.ElementTree import Element, SubElement, tostring

from .figures import (
    UNKNOWN,
    Comparison,
    PassEffect,
    heading,
    integer,
    parts_of,
    passes_of,
    remarks,
    seconds,
    table_of,
)

_COLOURS = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"),
    *("#332288", "#999933", "#882255", "#44aa99", "#ddcc77"),
)
"""Told apart by people who see colours differently; the first seven are Paul Tol's `bright`."""
_WIDTH, _LABELS, _ROW, _BAR = 900, 250, 24, 14
_STEPS = 190
"""Where the first step is: what leans left from it is up to so long."""
_RULE = "#8886"
_LONGEST_LABEL = 38


def bars(values: Sequence[tuple[str, float, Sequence[float], tuple[float, float]]]) -> str:
    """
    One bar for each label, median, turns and quartiles, in seconds: a thin line goes from the least
    turn to the most, a thick one from quartile to quartile.
    """
    svg = _svg(_ROW * len(values))
    scale = (_WIDTH - _LABELS - 90) / max((max(turns) for _, _, turns, _ in values), default=1.0)
    for number, (label, median, turns, quartiles) in enumerate(values):
        top = number * _ROW
        _label(svg, label, top)
        bar = _rectangle(svg, _LABELS, top + 5, median * scale, _COLOURS[0])
        SubElement(bar, "title").text = f"{label}: {seconds(median)}"
        middle = top + 5 + _BAR / 2
        for width, (low, high) in ((1, (min(turns), max(turns))), (3, quartiles)):
            _line(svg, [(_LABELS + x * scale, middle) for x in (low, high)], "currentColor", width)
        _text(svg, seconds(median), _LABELS + max(turns) * scale + 6, top + 16)
    return tostring(svg, "unicode")


def stacked_bars(
    labels: Sequence[str],
    parts: Sequence[str],
    values: Sequence[Mapping[str, float]],
    spelled: Callable[[float], str],
) -> str:
    """One bar for each label, put together of parts, with a legend."""
    svg = _svg(_ROW * (len(labels) + 1 + (len(parts) - 1) // 6))
    scale = (_WIDTH - _LABELS - 90) / max((sum(own.values()) for own in values), default=1.0)
    for number, (label, own) in enumerate(zip(labels, values, strict=True)):
        top, left = number * _ROW, float(_LABELS)
        _label(svg, label, top)
        for place, part in enumerate(parts):
            size = own.get(part, 0.0)
            bar = _rectangle(svg, left, top + 5, size * scale, _COLOURS[place % len(_COLOURS)])
            SubElement(bar, "title").text = f"{label}, {part}: {spelled(size)}"
            left += size * scale
        _text(svg, spelled(sum(own.values())), left + 6, top + 16)
    _legend(svg, parts, len(labels) * _ROW)
    return tostring(svg, "unicode")


def curves(labels: Sequence[str], steps: Sequence[str], values: Sequence[Mapping[int, int]]) -> str:
    """A line for each label over steps, with a legend; its values are by the numbers of steps."""
    height = 240
    svg = _svg(height + 160 + _ROW * (1 + (len(labels) - 1) // 6))
    most = max((value for own in values for value in own.values()), default=1)
    apart = (_WIDTH - _STEPS - 40) / max(1, len(steps) - 1)
    for share in (0, 0.5, 1):
        level = height - 10 - share * (height - 30)
        _line(svg, [(_STEPS, level), (_WIDTH - 40, level)], _RULE, 1)
        _text(svg, integer(round(most * share)), _STEPS - 8, level + 4, "end")
    for number, step in enumerate(steps):
        x = _STEPS + number * apart
        label = _text(svg, _short(step), x, height + 8, "end")
        label.set("transform", f"rotate(-40 {x:.1f} {height + 8})")
    for number, (label, own) in enumerate(zip(labels, values, strict=True)):
        points = [
            (_STEPS + place * apart, height - 10 - value / most * (height - 30))
            for place, value in own.items()
        ]
        line = _line(svg, points, _COLOURS[number % len(_COLOURS)], 2)
        SubElement(line, "title").text = label
    _legend(svg, labels, height + 160)
    return tostring(svg, "unicode")


def _svg(height: float) -> Element:
    attributes = {"viewBox": f"0 0 {_WIDTH} {height}", "width": str(_WIDTH), "role": "img"}
    return Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **attributes})


def _rectangle(svg: Element, x: float, y: float, width: float, colour: str) -> Element:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": str(_BAR)}
    return SubElement(svg, "rect", place | {"fill": colour})


def _line(
    svg: Element, points: Sequence[tuple[float, float]], colour: str, width: float
) -> Element:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    style = {"fill": "none", "stroke": colour, "stroke-width": str(width)}
    return SubElement(svg, "polyline", {"points": path} | style)


def _text(svg: Element, text: str, x: float, y: float, anchor: str = "start") -> Element:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    element = SubElement(svg, "text", place)
    element.text = text
    return element


def _label(svg: Element, label: str, top: float) -> None:
    text = _text(svg, _short(label), _LABELS - 8, top + 16, "end")
    SubElement(text, "title").text = label


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def _legend(svg: Element, names: Sequence[str], top: float) -> None:
    for number, name in enumerate(names):
        x, y = 20 + number % 6 * 145, top + 5 + number // 6 * _ROW
        _rectangle(svg, x, y, _BAR, _COLOURS[number % len(_COLOURS)])
        text = _text(svg, name if len(name) <= 18 else f"{name[:17]}…", x + 20, y + 12)
        SubElement(text, "title").text = name


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
