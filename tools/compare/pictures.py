"""Bars and curves as SVG, for a page of HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from .quantities import integer, seconds

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
