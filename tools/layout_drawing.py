"""A picture of an array beside its memory, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast
from xml.etree import ElementTree

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from xla_dialect.layouts.type_layouts import (
    bits_per_element,
    human_string_with_layout,
    layout_of,
)
from xla_dialect.types import Array, element_count, extents, sizes_of

from .layout_report import (
    Cell,
    Grid,
    MemoryView,
    leaves_of,
    size_and_waste,
    slices_of,
    spell_index,
)

MOST_DRAWN = 8
"""Arrays of a tuple that are drawn."""

_MARGIN = 28.0
_CELL_HEIGHT = 26.0
_NARROWEST_CELL = 30.0
_DIGIT_WIDTH = 6.7
_LINE = 18.0
_GAP = 76.0
"""Between the array and its memory."""
_FEWEST_COLUMNS, _MOST_COLUMNS = 6, 11
_GRID = 520.0
"""About how wide the array and the memory may be each."""
_BAR = 260.0
"""Width of the bar that shows the padding's share."""

_HUES = (212, 28, 150, 330, 265, 48, 188, 5)
"""One per row of memory, in turn."""
_LIGHTEST, _DARKEST = 88.0, 66.0
"""Lightness in percent of the first and the last cell of a row."""

_STYLE = """
  text { font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328 }
  .title { font-size: 17px; font-weight: 600 }
  .heading { font: 600 14px system-ui, sans-serif }
  .said { font: 12.5px system-ui, sans-serif; fill: #57606a }
  .axis { fill: #6e7781 }
  .paper { fill: #ffffff }
  .cell { stroke: #ffffff; stroke-width: 1.5 }
  .inside { fill: #14181d; text-anchor: middle }
  .middle { text-anchor: middle }
  .end { text-anchor: end }
  .padding { fill: url(#hatch); stroke: #ffffff; stroke-width: 1.5 }
  .hatch-ground { fill: #eff1f3 }
  .hatch-line { stroke: #c3c9d0; stroke-width: 1.5 }
  .held { fill: #6ba3e8 }
  .arrow { fill: none; stroke: #8c959f; stroke-width: 2; stroke-linecap: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .said { fill: #9ba4ae }
    .axis { fill: #8b949e }
    .paper { fill: #0d1117 }
    .cell { stroke: #0d1117; filter: brightness(0.9) }
    .inside { fill: #14181d }
    .padding { stroke: #0d1117 }
    .hatch-ground { fill: #1c2129 }
    .hatch-line { stroke: #39414c }
  }
"""


_HATCH = """
<defs>
  <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"
    patternTransform="rotate(45)">
    <rect class="hatch-ground" width="7" height="7" />
    <line class="hatch-line" x1="0" y1="0" x2="0" y2="7" />
  </pattern>
</defs>
"""


@dataclass
class _Canvas:
    """The picture that is being drawn, and how far it reaches."""

    root: ElementTree.Element
    right: float = 0.0

    def add(self, tag: str, /, text: str = "", **attributes: Any) -> ElementTree.Element:
        """An element; `_` in names stands for `-`, numbers have one decimal at most."""
        spelled = {
            name.rstrip("_").replace("_", "-"): f"{value:.1f}".removesuffix(".0")
            if isinstance(value, float)
            else str(value)
            for name, value in attributes.items()
        }
        element = ElementTree.SubElement(self.root, tag, spelled)
        element.text = text or None
        return element

    def write(self, text: str, x: float, y: float, class_: str, width: float | None = None) -> None:
        """Text from `x` on; `width` is about as wide as it is, if that may be the widest."""
        self.add("text", text, x=x, y=y, class_=class_)
        if width is not None:
            self.right = max(self.right, x + width)

    def cell(self, x: float, y: float, width: float, label: str, fill: str, hint: str) -> None:
        """A rectangle with a label; without `fill` it is padding."""
        shape: dict[str, Any] = {"fill": fill, "class_": "cell"} if fill else {"class_": "padding"}
        box = self.add("rect", x=x, y=y, width=width, height=_CELL_HEIGHT, rx=4, **shape)
        ElementTree.SubElement(box, "title").text = hint
        if label:
            self.write(label, x + width / 2, y + _CELL_HEIGHT / 2 + 4, "inside")
        self.right = max(self.right, x + width)


def drawing(type_: Attribute) -> str:
    """
    The SVG text for a shape: every array beside its memory, one colour per row of memory.

    It follows the reader's choice of light or dark. Of large arrays and tuples it shows a part.
    """
    root = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
    ElementTree.SubElement(root, "title").text = f"The memory of {human_string_with_layout(type_)}"
    ElementTree.SubElement(root, "style").text = _STYLE
    root.append(ElementTree.fromstring(_HATCH))
    paper = ElementTree.SubElement(root, "rect", {"class": "paper"})
    canvas = _Canvas(root)
    leaves = list(leaves_of(type_))
    y = _MARGIN
    for way, leaf in leaves[:MOST_DRAWN]:
        if way:
            y = _say(canvas, f"Element {{{_index(way)}}} of the tuple", _MARGIN, y + 8) - 4
        title = human_string_with_layout(leaf)
        canvas.write(title, _MARGIN, y + 16, "title", 10.4 * len(title))
        y = _draw_leaf(canvas, leaf, y + 42) + 40
    if not leaves:
        canvas.write("()", _MARGIN, y + 16, "title", 20)
        y = _say(canvas, "The empty tuple holds no data.", _MARGIN, y + 42) + 10
    if len(leaves) > MOST_DRAWN:
        more = f"{len(leaves) - MOST_DRAWN} more elements of the tuple are left out."
        y = _say(canvas, more, _MARGIN, y) + 20
    if any(isinstance(leaf, TensorType) for _, leaf in leaves):
        y = _draw_legend(canvas, y) + 36
    width, height = canvas.right + _MARGIN, y - 8
    root.set("viewBox", f"0 0 {width:.0f} {height:.0f}")
    for element in (root, paper):
        element.set("width", f"{width:.0f}")
        element.set("height", f"{height:.0f}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _say(canvas: _Canvas, sentence: str, x: float, y: float) -> float:
    """A sentence; returns the height of the next line."""
    canvas.write(sentence, x, y, "said", 6.2 * len(sentence))
    return y + _LINE


def _draw_leaf(canvas: _Canvas, leaf: Attribute, y: float) -> float:
    """An array or a token; returns the height of what follows."""
    if not isinstance(leaf, TensorType):
        return _say(canvas, "A token holds no data and takes no memory.", _MARGIN, y)
    type_ = cast(Array, leaf)
    if DYNAMIC_INDEX in extents(type_):
        return _say(canvas, "The size is known only when the program runs.", _MARGIN, y)
    if layout_of(type_).split_configs:
        return _say(canvas, "It is split into parts, each with a buffer of its own.", _MARGIN, y)
    y = _say(canvas, size_and_waste(type_), _MARGIN, y)
    view = MemoryView.of(type_, _columns(_index([max(0, n - 1) for n in extents(type_)])))
    if not view.count:
        return y
    held = _BAR * float(Fraction(element_count(sizes_of(type_)), view.count))
    canvas.add("rect", x=_MARGIN, y=y - 6, width=_BAR, height=8, rx=2, class_="padding")
    canvas.add("rect", x=_MARGIN, y=y - 6, width=held, height=8, rx=2, class_="held")
    y += 36
    array_end, array_bottom = _draw_array(canvas, type_, view, y)
    middle = array_end + _GAP / 2
    arrow = y + 22 + 2.5 * _LINE
    canvas.add(
        "path",
        d=f"M {middle - 14:.0f} {arrow:.0f} h 28 m -8 -7 l 8 7 l -8 7",
        class_="arrow",
    )
    memory_bottom = _draw_memory(canvas, type_, view, array_end + _GAP, y)
    return max(array_bottom, memory_bottom)


def _fill(view: MemoryView, position: int) -> str:
    """The colour of a position: a hue per row, darker along it."""
    row, column = divmod(position, view.row_length)
    return _colour(row, column / max(1, view.row_length - 1))


def _colour(row: int, share: float) -> str:
    """The colour of a row, at a share of the way along it."""
    lightness = _LIGHTEST + (_DARKEST - _LIGHTEST) * share
    return f"hsl({_HUES[row % len(_HUES)]}, 72%, {lightness:.0f}%)"


def _cell_width(labels: Sequence[str]) -> float:
    return max(_NARROWEST_CELL, 10 + _DIGIT_WIDTH * max(map(len, labels), default=0))


def _columns(label: str) -> int:
    """How many cells there is room for beside each other."""
    return max(_FEWEST_COLUMNS, min(_MOST_COLUMNS, int(_GRID / _cell_width([label]))))


def _index(index: Sequence[int]) -> str:
    return spell_index(index)[1:-1]


def _hint(type_: Array, cell: Cell) -> str:
    if cell.index is None:
        return f"position {cell.position} is padding"
    bits = bits_per_element(type_)
    unit, size = ("bit", 1) if bits % 8 else ("byte", 8)
    place = f"{unit} {cell.position * bits // size}"
    return f"element {spell_index(cell.index)} lies at position {cell.position}, {place}"


def _draw_array(canvas: _Canvas, type_: Array, view: MemoryView, y: float) -> tuple[float, float]:
    """The logical array, slice below slice; returns how far it reaches to the right and down."""
    canvas.write("The array", _MARGIN, y, "heading", 80)
    _say(canvas, "A cell says where in memory it lies.", _MARGIN, y + _LINE)
    slices, sizes = slices_of(type_, _columns(str(view.count))), extents(type_)
    width = _cell_width([str(cell.position) for part in slices if part for cell in part.cells])
    left = _MARGIN
    if len(sizes) > 1:
        left += 28 + _DIGIT_WIDTH * len(str(sizes[-2]))
    right = _MARGIN + 210
    y += 2 * _LINE + 16
    for part in slices:
        if part is None:
            canvas.write("...", left, y + 4, "axis")
            y += 30
            continue
        if part.leading:
            canvas.write(f"[{_index(part.leading)}, :, :]", left, y, "axis")
            y += _LINE
        if sizes:
            canvas.write(f"dimension {len(sizes) - 1} \N{RIGHTWARDS ARROW}", left, y, "axis")
            y += 16
        if len(sizes) > 1:
            x, top = _MARGIN + 6, y + 6 + _CELL_HEIGHT * len(part.rows) / 2
            text = f"\N{LEFTWARDS ARROW} dimension {len(sizes) - 2}"
            turned = f"rotate(-90 {x:.1f} {top:.1f})"
            canvas.add("text", text, x=x, y=top, class_="axis middle", transform=turned)
        y = _draw_grid(canvas, type_, view, part, (left, y, width), lambda each: str(each.position))
        y += 26
        right = max(right, left + width * len(part.heads))
    return right, y


def _draw_grid(
    canvas: _Canvas,
    type_: Array,
    view: MemoryView,
    grid: Grid,
    frame: tuple[float, float, float],
    label: Callable[[Cell], str],
) -> float:
    """Rows of cells with the heads of both; returns how far they reach down."""
    left, y, width = frame
    for number, head in enumerate(grid.heads):
        if head:
            canvas.write(head, left + width * (number + 0.5), y, "axis middle")
    y += 6
    for head, cells in grid.rows:
        if head:
            canvas.write(head, left - 8, y + _CELL_HEIGHT / 2 + 4, "axis end")
        for number, cell in enumerate(cells):
            x = left + width * number
            if isinstance(cell, Cell):
                fill = "" if cell.index is None else _fill(view, cell.position)
                canvas.cell(x, y, width, label(cell), fill, _hint(type_, cell))
            elif cell:
                canvas.write("\N{MIDDLE DOT}" * 3, x + width / 2, y + 17, "axis middle")
        y += _CELL_HEIGHT
    return y


def _draw_memory(canvas: _Canvas, type_: Array, view: MemoryView, x: float, y: float) -> float:
    """The buffer row by row; returns how far it reaches down."""
    canvas.write("Memory", x, y, "heading")
    _say(canvas, "Read row by row. A cell says which element it holds.", x, y + _LINE)

    def label(cell: Cell) -> str:
        return "" if cell.index is None else _index(cell.index) or "()"

    width = _cell_width(list(map(label, view.cells)))
    left = x + 10 + _DIGIT_WIDTH * max(len(head) for head, _ in view.rows)
    return _draw_grid(canvas, type_, view, view, (left, y + 2 * _LINE + 32, width), label)


def _draw_legend(canvas: _Canvas, y: float) -> float:
    """What colours and hatching mean."""
    x = _MARGIN
    swatch: dict[str, Any] = {"y": y - 11, "width": 14, "height": 14, "rx": 3}
    for number in range(4):
        fill = _colour(0, number / 3)
        canvas.add("rect", x=x + 14 * number, fill=fill, class_="cell", **swatch)
    x += 64
    text = "A colour is a row of memory; it grows darker along the row."
    canvas.write(text, x, y, "said", 6.2 * len(text))
    x += 6.2 * len(text) + 18
    canvas.add("rect", x=x, class_="padding", **swatch)
    canvas.write("Padding: no element lies there.", x + 22, y, "said", 190)
    return y
