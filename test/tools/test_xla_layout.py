"""xla-layout: what it says of the examples of docs/specification/layouts.md, pictures, bad input."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts_by_hand import PADDING, laid_out, memory_by_hand, shape, typed

from tools import xla_layout
from tools.layout_drawing import drawing
from tools.layout_report import LEFT_OUT, MemoryView, report, shown, slices_of
from xla_dialect.diagnostics import LocatedError
from xla_dialect.layout import Layout
from xla_dialect.types import ELEMENT_TYPES

SVG = "{http://www.w3.org/2000/svg}"


def said(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the tool prints for a shape."""
    assert xla_layout.main([text]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def table(text: str) -> list[list[str]]:
    """The rows of the linear order, the position first."""
    rows = [line.split("|") for line in text.splitlines() if "|" in line]
    return [[head.strip(), *cells.split()] for head, cells in rows]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        pytest.param(
            "f32[3,5]{1,0:T(2,2)}",
            [
                "2 x 3 x 2 x 2, the most major",
                "24 elements, 96 bytes",
                "9 elements of padding, 37.5 %",
            ],
            id="T1",
        ),
        pytest.param(
            "f32[4,8]{1,0:T(2,4)(2,1)}", ["2 x 2 x 1 x 4 x 2 x 1,", "none: there"], id="T2"
        ),
        pytest.param(
            "bf16[10,130]{1,0:T(8,128)(2,1)}",
            ["2 x 2 x 4 x 128 x 2 x 1,", "4096 elements, 8192 bytes", "2796 elements of padding"],
            id="T3",
        ),
        pytest.param(
            "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
            ["1 x 8 x 160 x 128 x 4 x 128 x 2 x 1,", "167772160 elements, 335544320 bytes"],
            id="T4",
        ),
        pytest.param(
            "bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}",
            ["32 x 4 x 32 x 4 x 128 x 2 x 1,", "8388608 bytes", "VMEM"],
            id="T5",
        ),
        pytest.param(
            "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
            ["(2 x 7 x 8), (11 x 10) become 112 x 110", "56 x 37 tiles of 2 x 3"],
            id="T7",
        ),
        pytest.param("f32[]{:T(256)}", ["256 elements, 1024 bytes", "1 tile of 256"], id="T8"),
        pytest.param(
            "f32[3,5]{1,0:T(2,2)L(16)}", ["32 elements, 128 bytes", "a multiple of 16"], id="G4"
        ),
        pytest.param("f32[2,3]{0,1}", ["column-major", "1 element of memory, 4 bytes"], id="G1"),
        pytest.param("f32[2,3]", ["row-major", "f32[2,3]{1,0}", "1, 0."], id="L4"),
        pytest.param("s4[3,5]{1,0:E(4)}", ["s4, 4 bits each", "15 elements, 8 bytes"], id="packed"),
        pytest.param(
            "f32[<=3,4]{1,0:M(64)}", ["at most 3", "64 bytes hold the sizes"], id="bounded"
        ),
        pytest.param("f32[?,4]", ["known only when the program runs"], id="unbounded"),
        pytest.param("f32[10]{0:SC(0:3)}", ["2 parts", "7 elements, 28 bytes"], id="split"),
        pytest.param("f32[0,4]", ["no elements, so memory holds none"], id="empty"),
        pytest.param("token[]", ["takes no memory"], id="token"),
        pytest.param("()", ["A tuple of 0 elements."], id="empty tuple"),
        pytest.param(
            "(f32[4], (token[], s8[3]))",
            [
                "take 19 bytes",
                "Element {0} of the tuple: f32[4]{0}",
                "Element {1,1} of the tuple: s8",
            ],
            id="tuple",
        ),
        pytest.param(
            "tensor<2x3xf32, #xla.layout<{0,1}, padded_dimensions = [3, 5], padding_value = ZERO_PAD>>",
            ["padded to 3 x 5", "The padding is zeros.", "15 elements, 60 bytes"],
            id="G3",
        ),
    ],
)
def test_facts(text: str, facts: list[str], capsys: pytest.CaptureFixture[str]):
    output = said(text, capsys)
    for fact in facts:
        assert fact in output
    assert max(map(len, output.splitlines())) <= 120


def test_table(capsys: pytest.CaptureFixture[str]):
    """T1, a tile per row."""
    memory = "00 01 10 11 | 02 03 12 13 | 04 . 14 . | 20 21 . . | 22 23 . . | 24 . . ."
    expected = [
        [str(4 * number), *(c if c == "." else f"({c[0]},{c[1]})" for c in tile.split())]
        for number, tile in enumerate(memory.split("|"))
    ]
    assert table(said("f32[3,5]{1,0:T(2,2)}", capsys)) == expected


def test_older_form(capsys: pytest.CaptureFixture[str]):
    """G3: a d 0 b e 0 c f 0 0 0 0 0 0 0"""
    text = "tensor<2x3xf32, #xla.layout<{0,1}, padded_dimensions = [3, 5]>>"
    cells = [cell for row in table(said(text, capsys)) for cell in row[1:]]
    letters = {"(0,0)": "a", "(0,1)": "b", "(0,2)": "c", "(1,0)": "d", "(1,1)": "e", "(1,2)": "f"}
    assert [letters.get(cell, "0") for cell in cells] == "a d 0 b e 0 c f 0 0 0 0 0 0 0".split()


@given(laid_out())
def test_views_show_memory(case: tuple[tuple[int, ...], Layout]):
    """Every cell that is shown holds what lies there; nothing else is left out."""
    sizes, layout = case
    type_ = typed("f32", sizes, layout)
    memory = memory_by_hand(sizes, layout)
    view = MemoryView.of(type_)
    assert view.count == len(memory)
    numbers = {index: n for n, index in enumerate(shape_indices(sizes))}
    for part in (view, *slices_of(type_)):
        for cell in part.cells if part is not None else ():
            expected = memory[cell.position]
            assert (PADDING if cell.index is None else numbers[cell.index]) == expected
    if all(LEFT_OUT not in cells for _, cells in view.rows):
        assert [cell.position for cell in view.cells] == list(range(len(memory)))


def shape_indices(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    indices: list[tuple[int, ...]] = [()]
    for size in sizes:
        indices = [(*index, i) for index in indices for i in range(size)]
    return indices


def test_shown():
    assert shown(3, 6) == [0, 1, 2]
    assert shown(6, 6) == [0, 1, 2, 3, 4, 5]
    assert shown(100, 6) == [0, 1, 2, None, 98, 99]


def cells_of(svg: str) -> list[str]:
    """The hints of the cells of a picture, in order."""
    root = ElementTree.fromstring(svg)
    return [
        title.text or "" for box in root.iter(f"{SVG}rect") for title in box.iter(f"{SVG}title")
    ]


def test_drawing():
    """T1: the array's 15 cells and memory's 24, each element twice in one colour."""
    svg = drawing(shape("f32[3,5]{1,0:T(2,2)}"))
    hints = cells_of(svg)
    assert len(hints) == 15 + 24
    assert hints.count("element (2,3) lies at position 17, byte 68") == 2
    assert sum("is padding" in hint for hint in hints) == 9
    colours: dict[str, set[str | None]] = {}
    for box in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        for title in box.iter(f"{SVG}title"):
            colours.setdefault(title.text or "", set()).add(box.get("fill"))
    assert all(len(found) == 1 for found in colours.values())
    assert len({str(found) for hint, found in colours.items() if "padding" not in hint}) == 15


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(f32[2], (token[], s4[3]{0:E(4)}))", ["Element {1,1} of the tuple", "bit 8"]),
        ("f32[<=2,?]", ["known only when the program runs", "f32[<=2,?]{1,0}"]),
        ("f32[4]{0:SC(0:1)}", ["split into parts"]),
        ("f32[0,3]", ["takes no memory"]),
        ("f32[]", ["element () lies at position 0, byte 0"]),
        ("()", ["The empty tuple"]),
        (f"({', '.join(['f32[2]'] * 30)})", ["22 more elements"]),
        ("f32[2,2,3,4]", ["[1,1, :, :]", "dimension 3"]),
    ],
)
def test_what_drawings_say(text: str, expected: list[str]):
    svg = drawing(shape(text))
    found = "\n".join(element.text or "" for element in ElementTree.fromstring(svg).iter())
    for fact in expected:
        assert fact in found


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda e: e.name)
def test_every_element_type(element):
    type_ = shape(f"{element.name}[2,3]{{0,1}}")
    assert f"{element.name}, " in report(type_)
    ElementTree.fromstring(drawing(type_))


@pytest.mark.parametrize(
    "text",
    [
        "f32[1000000,1000000]{1,0}",
        "f32[1000000,1000000]{0,1:T(8,128)}",
        "f32[9223372036854775807]",
        "f32[0,9223372036854775807]{1,0:T(9223372036854775807,3)}",
        "f32[4]{0:T(1000000000000)}",
        "f32[4]{0:L(1000000000000)}",
        "bf16[3,5,7,9,11,13,15]{0,2,4,6,1,3,5:T(8,128)(2,1)}",
        f"({', '.join(['f32[100,100]'] * 3000)})",
        f"f32[{','.join(['2'] * 60)}]",
        f"f32[{','.join(['1'] * 2000)}]",
    ],
    ids=lambda text: text[:40],
)
def test_output_is_bounded(text: str):
    type_ = shape(text)
    assert len(report(type_)) < 40_000 + 60 * len(text)
    svg = drawing(type_)
    assert len(svg) < 1_000_000
    ElementTree.fromstring(svg)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("f32[3,5]{1,1}", 9, "(C1) minor_to_major {1,1} is no permutation"),
        ("f32[3,5]{1,0:S(1)T(2,2)}", 18, "expected '}' in a layout, found 'T'"),
        ("(s8[2], f32[3]{0:T(0)})", 15, "(C2) tile T(0)"),
        ("f33[3]", 1, "unknown element type 'f33'; did you mean 'f32'?"),
        ("f32[3", 1, "expected"),
        ("", 1, "expected a shape"),
        ("f32[3] f32[3]", 8, "expected the end of the type"),
        ("f32[4]{0:T(9223372036854775807,2)}", 7, "(Size) padding makes the buffer larger"),
        ("(" * 100_000, 100_000, "never closed"),
        ("tensor<2x3xf31>", 12, "Expected shape type"),
        ("tensor<2x3xf32, #xla.layout<{0}>>", 17, "(C1)"),
        ("tensor<2x3xf32, #xla.layout<{0,1:Q}>>", 34, "in a layout"),
        ("tensor<3xindex>", 1, "no type of XLA"),
        ("tensor<3xf32, 5 : i32>", 1, "5 : i32 is no layout"),
        ("tensor<99999999999x99999999999xf32>", 1, "more than 2^63 - 1 elements"),
        ("tensor<3xf32> 5", 15, "expected the end of the type"),
        ("tuple<" * 20_000, None, "nested too deeply"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_shapes(
    text: str, column: int | None, message: str, capsys: pytest.CaptureFixture[str]
):
    assert xla_layout.main([text]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    first, *rest = output.err.splitlines()
    match = re.match(r"<type>:1:(\d+): error: (.*)", first)
    assert match is not None, output.err
    assert message in match[2]
    assert column is None or int(match[1]) == column
    if len(text) < 100 and text:
        assert rest == [text, " " * (int(match[1]) - 1) + "^"]


@given(st.text("f32s4[](){}<=?,:T1 0*SLEMCD#tensorxl", max_size=40))
def test_any_text_is_answered(text: str):
    """One report or one located error."""
    message = ""
    try:
        type_ = xla_layout.parse(text)
    except LocatedError as error:
        message = str(error)
    if message:
        assert re.match(r"<type>:\d+:\d+: error: \S", message)
        return
    assert report(type_)
    ElementTree.fromstring(drawing(type_))


def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "memory.svg"
    assert xla_layout.main(["f32[2,3]", "-o", str(file)]) == 0
    assert "The linear order" in capsys.readouterr().out
    assert file.read_text(encoding="utf-8") == drawing(shape("f32[2,3]"))
    assert xla_layout.main(["f32[2,3]", "-o", "-"]) == 0
    assert capsys.readouterr().out == drawing(shape("f32[2,3]"))
    assert xla_layout.main(["f32[2,3]", "-o", str(tmp_path / "missing" / "x.svg")]) == 1
    assert "No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["f32[2]", "--colour"], ["f32[2]", "f32[3]"]])
def test_bad_command_lines(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert xla_layout.main(arguments) == 1
    assert "(see xla-layout --help)" in capsys.readouterr().err
    assert xla_layout.main(["--help"]) == 0
