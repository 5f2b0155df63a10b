"""The language server, asked by a real client over stdin and stdout."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from editor import Editor, edited, place_of
from hypothesis import given
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.workspace import PositionCodec

from lowerings.driver.program import parse_program
from tools.language_server.document import Document

PROGRAMS = Path(__file__).parents[1] / "programs"

HLO = """\
// A sum of rows.
HloModule rows

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[2,3]) -> f32[2] {
  %x = f32[2,3]{0,1} parameter(0)
  %zero = f32[] constant(0)
  // Twice.
  %twice = f32[2,3]{0,1} add(%x, %x)  // behind
  ROOT %out = f32[2]{0} reduce(%twice, %zero), dimensions={1}, to_apply=%plus
}
"""

MLIR = """\
// RUN: xla-opt %s -p xla-simplify | filecheck %s

// CHECK-LABEL: func.func @twice
func.func @twice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %sum = xla.add %x, %x : tensor<2x3xf32>
  func.return %sum : tensor<2x3xf32>
}

func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %doubled = func.call @twice(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %turned = xla.transpose %doubled {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %turned : tensor<3x2xf32>
}
"""


@pytest.fixture(scope="module")
def editor() -> Iterator[Editor]:
    editor = Editor()
    yield editor
    assert editor.close() == 0


def messages(diagnostics: list[types.Diagnostic]) -> list[tuple[int, str, str]]:
    return [(d.range.start.line, str(d.code or ""), d.message) for d in diagnostics]


def document(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


def hover(editor: Editor, uri: str, place: types.Position) -> str:
    params = types.HoverParams(document(uri), place)
    found = editor.ask(editor.client.text_document_hover_async, params)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


def complete(editor: Editor, uri: str, place: types.Position) -> dict[str, types.CompletionItem]:
    params = types.CompletionParams(document(uri), place)
    found = editor.ask(editor.client.text_document_completion_async, params)
    assert isinstance(found, types.CompletionList)
    return {item.label: item for item in found.items}


# Diagnostics


def test_all_errors_of_hlo_text(editor: Editor) -> None:
    text = HLO.replace("add(%x, %x)", "add(%x, ").replace("add(%a, %b)", "addd(%a, %b)")
    text = text.replace("constant(0)", "constant({1,2})")
    _, found = editor.open("errors.hlo", text)
    assert sorted(line for line, *_ in messages(found)) == [6, 11, 14]
    assert {d.source for d in found} == {"xla"}


def test_errors_of_rules_quote_them(editor: Editor) -> None:
    text = MLIR.replace("[1, 0]", "[1, 1]")
    uri, found = editor.open("rules.mlir", text)
    ((line, rule, message),) = messages(found)
    assert (line, rule) == (10, "C1")
    assert message.startswith("xla.transpose: (C1)")
    (diagnostic,) = found
    underlined = text.splitlines()[line][
        diagnostic.range.start.character : diagnostic.range.end.character
    ]
    assert underlined == "xla.transpose"
    assert "is a permutation of the dimensions" in hover(
        editor, uri, place_of(text, "xla.transpose", 3)
    )


def test_several_errors_of_mlir(editor: Editor) -> None:
    text = MLIR.replace("xla.add %x, %x :", "xla.add %x, :").replace("xla.transpose", "xla.turn")
    _, found = editor.open("several.mlir", text)
    assert [line for line, *_ in messages(found)] == [4, 10]


def test_several_errors_of_the_verifier(editor: Editor) -> None:
    line = "  %bad{0} = xla.transpose %x {{dimensions = [{0}, {0}]}} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
    text = "func.func @f(%x: tensor<2x3xf32>) {\n"
    text += "".join(line.format(number) for number in range(3)) + "  func.return\n}\n"
    _, found = editor.open("verifier.mlir", text)
    assert [(line, rule) for line, rule, _ in messages(found)] == [(n, "C1") for n in (1, 2, 3)]


def test_several_errors_of_stablehlo(editor: Editor) -> None:
    line = "  %{0} = stablehlo.reverse %x, dims = [{0}] : tensor<2x3xf32>\n"
    text = "func.func @f(%x: tensor<2x3xf32>) {\n"
    text += "".join(line.format(number) for number in (1, 2, 3)) + "  func.return\n}\n"
    _, found = editor.open("stable.mlir", text)
    assert [line for line, *_ in messages(found)] == [2, 3]


def test_programs_of_a_split_file_are_apart(editor: Editor) -> None:
    bad = MLIR.replace("[1, 0]", "[1, 1]")
    _, found = editor.open("split.mlir", f"{MLIR}// -----\n{bad}// -----\n{bad}")
    length = MLIR.count("\n") + 1
    assert [line for line, *_ in messages(found)] == [length + 10, 2 * length + 10]


def test_diagnostics_follow_what_is_typed(editor: Editor) -> None:
    uri, found = editor.open("typed.hlo", HLO)
    assert found == []
    place = place_of(HLO, "add(%x, %x)")
    for number, letter in enumerate("zzz"):
        editor.type(uri, place.line, place.character + number, letter)
    assert [line for line, *_ in messages(editor.diagnostics(uri))] == [place.line]
    editor.type(uri, place.line, place.character, "", removed=3)
    assert editor.diagnostics(uri) == []


def test_closing_takes_diagnostics_away(editor: Editor) -> None:
    uri, found = editor.open("closed.hlo", "HloModule m\nENTRY e { ROOT x = f32[] foo() }\n")
    assert len(found) == 1
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(document(uri)))
    assert not editor.wait(editor.published.get()).diagnostics


def test_a_large_text_keeps_nobody_waiting(editor: Editor) -> None:
    lines = "".join(f"  x{i + 1} = f32[2,3] negate(x{i})\n" for i in range(8_000))
    text = f"HloModule large\n\nENTRY e {{\n  x0 = f32[2,3] parameter(0)\n{lines}}}\n"
    small, _ = editor.open("small.hlo", HLO)
    item = types.TextDocumentItem("file:///large.hlo", "hlo", 1, text)
    editor.versions["file:///large.hlo"] = 1
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    assert "add(%x, %x)" in hover(editor, small, place_of(HLO, "twice, "))
    assert editor.published.empty()
    assert editor.diagnostics("file:///large.hlo") == []


# What there is to know of a place


def test_hover_on_values_tells_shape_and_layout(editor: Editor) -> None:
    uri, _ = editor.open("hover.hlo", HLO)
    text = hover(editor, uri, place_of(HLO, "%twice, ", 2))
    assert "%twice = f32[2,3]{0,1} add(%x, %x)" in text
    assert "Dimension 0 is the most minor" in text
    assert "column-major" in text


def test_hover_on_opcodes_is_the_contract(editor: Editor) -> None:
    uri, _ = editor.open("opcodes.hlo", HLO)
    text = hover(editor, uri, place_of(HLO, "reduce(", 1))
    assert "xla.reduce" in text
    assert "**(C1)**" in text
    assert "dimensions" in text


def test_hover_in_mlir(editor: Editor) -> None:
    uri, _ = editor.open("hover.mlir", MLIR)
    assert "f32[3,2]{1,0}" in hover(editor, uri, place_of(MLIR, "%turned :", 2))
    assert "(C1)" in hover(editor, uri, place_of(MLIR, "xla.transpose", 5))
    assert "permutation" in hover(editor, uri, place_of(MLIR, "dimensions =", 2))
    assert "Computes what is constant" in hover(editor, uri, place_of(MLIR, "xla-simplify", 4))
    assert "row-major" in hover(editor, uri, place_of(MLIR, "tensor<3x2xf32> {", 3))


def test_definition_and_references(editor: Editor) -> None:
    uri, _ = editor.open("names.hlo", HLO)
    params = types.DefinitionParams(document(uri), place_of(HLO, "to_apply=%plus", 11))
    found = editor.ask(editor.client.text_document_definition_async, params)
    assert isinstance(found, types.Location)
    assert found.range.start == place_of(HLO, "%plus (a", 1)
    asked = types.ReferenceParams(
        context=types.ReferenceContext(include_declaration=True),
        text_document=document(uri),
        position=place_of(HLO, "%x = f32", 1),
    )
    places = editor.ask(editor.client.text_document_references_async, asked)
    assert places is not None
    # The head of the computation, the definition, two operands.
    assert [place.range.start.line for place in places] == [9, 10, 13, 13]


def test_outline(editor: Editor) -> None:
    uri, _ = editor.open("outline.mlir", MLIR)
    params = types.DocumentSymbolParams(document(uri))
    found = editor.ask(editor.client.text_document_document_symbol_async, params)
    symbols = [s for s in found or () if isinstance(s, types.DocumentSymbol)]
    assert [s.name for s in symbols] == ["@twice", "@main"]
    assert [s.name for s in symbols[1].children or ()] == ["%x", "%doubled", "%turned"]
    assert [s.detail for s in symbols[1].children or ()][-1] == "f32[3,2]{1,0}"


# Changes


def rename(editor: Editor, uri: str, text: str, place: types.Position, name: str) -> str:
    params = types.RenameParams(document(uri), place, name)
    edit = editor.ask(editor.client.text_document_rename_async, params)
    assert edit is not None
    assert edit.changes is not None
    return edited(text, list(edit.changes[uri]))


@pytest.mark.parametrize(
    ("name", "text", "needle", "new"),
    [
        ("a.hlo", HLO, "%twice, ", "%both"),
        ("b.hlo", HLO, "%plus (a", "sum_of_two"),
        ("c.hlo", HLO, "%x = f32", "operand"),
        ("a.mlir", MLIR, "%doubled {", "%0"),
        ("b.mlir", MLIR, "@twice(%x) :", "@two_times"),
        ("c.mlir", MLIR, "%sum = ", "total"),
    ],
)
def test_renamed_programs_mean_the_same(
    editor: Editor, name: str, text: str, needle: str, new: str
) -> None:
    uri, _ = editor.open(f"rename_{name}", text)
    result = rename(editor, uri, text, place_of(text, needle, 2), new)
    assert result.count(new.lstrip("%@")) >= 2
    renamed_program = parse_program(result, name, verified=True)
    old = needle.split()[0].split("(")[0].rstrip(",").lstrip("%@")
    new_name = new.lstrip("%@")
    again = parse_program(text.replace(old, new_name) if old != "x" else text, name, verified=True)
    assert [len(list(op.walk())) for op in renamed_program.ops] == [
        len(list(op.walk())) for op in again.ops
    ]


@pytest.mark.parametrize(
    ("name", "text", "needle", "new", "message"),
    [
        ("a.hlo", HLO, "%twice, ", "x", "there is another value 'x'"),
        ("b.hlo", HLO, "%twice, ", "two words", "'two words' is no name in HLO text"),
        ("c.hlo", HLO, "%twice, ", "ROOT", "'ROOT' is no name in HLO text"),
        ("a.mlir", MLIR, "@twice(%x) :", "main", "there is another symbol 'main'"),
        ("b.mlir", MLIR, "%sum = ", "1a", "'1a' is no name of a value in MLIR"),
        ("c.mlir", MLIR, "xla.add", "b", "there is no name here"),
    ],
)
def test_names_that_cannot_be(
    editor: Editor, name: str, text: str, needle: str, new: str, message: str
) -> None:
    uri, _ = editor.open(f"refused_{name}", text)
    with pytest.raises(JsonRpcException) as error:
        rename(editor, uri, text, place_of(text, needle, 2), new)
    assert str(error.value) == message


def format_text(editor: Editor, uri: str, text: str) -> str:
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    params = types.DocumentFormattingParams(document(uri), options)
    edits = editor.ask(editor.client.text_document_formatting_async, params)
    return edited(text, list(edits or ()))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.hlo", HLO.replace("add(%x, %x)", "add( %x,%x )")),
        ("a.mlir", MLIR.replace("%x, %x :", "%x,%x:")),
        ("two.mlir", f"{MLIR}\n// -----\n\n// Another.\n{MLIR}"),
        ("b.mlir", MLIR.replace("  func.return %turned", "  // last\n  func.return %turned")),
    ],
)
def test_formatting_keeps_program_and_comments(editor: Editor, name: str, text: str) -> None:
    uri, _ = editor.open(f"format_{name}", text)
    result = format_text(editor, uri, text)
    assert result != text
    comments = [line.partition("//")[2].strip() for line in text.splitlines() if "//" in line]
    assert [r.partition("//")[2].strip() for r in result.splitlines() if "//" in r] == comments
    for before, after in zip(text.split("// -----"), result.split("// -----"), strict=True):
        old, new = (parse_program(each, name, verified=True) for each in (before, after))
        assert old.body.is_structurally_equivalent(new.body)
    again, _ = editor.open(f"again_{name}", result)
    assert format_text(editor, again, result) == result
    if name == "a.hlo":
        lines = result.splitlines()
        assert lines[0] == "// A sum of rows."
        (number,) = (i for i, line in enumerate(lines) if line.endswith("// behind"))
        assert "%twice = " in lines[number]
        assert lines[number - 1].strip() == "// Twice."


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.hlo", HLO.replace("add(%x", "plus(%x"), "unknown opcode"),
        ("b.hlo", HLO.replace("add(%x, ", "add(%x, /* the same */ "), "would be lost"),
        ("a.mlir", MLIR.replace("[1, 0]}", "[1, 0]").replace("// C", "/ C"), "not formatted"),
        ("b.mlir", MLIR.rstrip() + ' loc("here")\n', "would be lost"),
        (
            "c.mlir",
            f"{MLIR}// -----\n{MLIR.replace('xla.add', 'xla.plus')}",
            rf"c\.mlir:{MLIR.count(chr(10)) + 6}:10: error: Operation xla\.plus is not registered",
        ),
    ],
)
def test_what_cannot_be_formatted_is_refused(
    editor: Editor, name: str, text: str, message: str
) -> None:
    uri, _ = editor.open(f"unformatted_{name}", text)
    with pytest.raises(JsonRpcException, match=message):
        format_text(editor, uri, text)


# Completion


def test_completion_in_hlo_text(editor: Editor) -> None:
    text = HLO.replace("add(%x, %x)  ", "add(%x, \n").replace("dimensions={1}, to", "to")
    uri, _ = editor.open("complete.hlo", text)
    assert {"x", "zero"} <= complete(editor, uri, place_of(text, "add(%x, ", 8)).keys()
    opcodes = complete(editor, uri, place_of(text, "{0} reduce", 7))
    assert {"reduce", "reduce-window", "parameter"} <= opcodes.keys()
    resolved = editor.ask(
        editor.client.completion_item_resolve_async, opcodes["reduce"]
    ).documentation
    assert isinstance(resolved, types.MarkupContent)
    assert "(C1)" in resolved.value
    attributes = complete(editor, uri, place_of(text, "%zero), ", 8))
    assert attributes["dimensions"].detail == "required"
    assert "to_apply" in attributes
    assert complete(editor, uri, place_of(text, "to_apply=%", 10)).keys() == {"plus", "main"}


def test_completion_of_words(editor: Editor) -> None:
    text = "HloModule m\nENTRY e {\n  x = f32[] parameter(0)\n  y = pred[] compare(x, x), direction=\n}\n"
    uri, _ = editor.open("words.hlo", text)
    assert complete(editor, uri, place_of(text, "direction=", 10)).keys() == {
        *("EQ", "NE", "GE", "GT", "LE", "LT")
    }


def test_completion_in_mlir(editor: Editor) -> None:
    text = MLIR.replace("%turned : tensor", "% : tensor").replace("= xla.transpose", "= xla.")
    text = text.replace("@twice(%x) :", "@(%x) :")
    uri, _ = editor.open("complete.mlir", text)
    assert complete(editor, uri, place_of(text, "return % :", 8)).keys() == {
        *("%x", "%doubled", "%turned")
    }
    assert "xla.transpose" in complete(editor, uri, place_of(text, "= xla. ", 6))
    assert complete(editor, uri, place_of(text, "call @(", 6)).keys() == {"@twice", "@main"}


def inserted(item: types.CompletionItem) -> str:
    assert isinstance(item.text_edit, types.TextEdit)
    is_snippet = item.insert_text_format is types.InsertTextFormat.Snippet
    assert is_snippet == ("${" in item.text_edit.new_text)
    return item.text_edit.new_text


def test_snippets_are_programs_once_they_are_filled_in(editor: Editor) -> None:
    assert "${" not in inserted(complete_opcodes(editor)["transpose"])
    other = Editor(takes_snippets=True)
    opcodes = complete_opcodes(other)
    reduce = inserted(opcodes["reduce"])
    for hole, text in {
        "${1:%inputs}": "%twice",
        "${2:%init_values}": "%zero",
        "${3:dimensions}": "{1}",
        "${4:to_apply}": "%plus",
    }.items():
        assert hole in reduce
        reduce = reduce.replace(hole, text)
    text = re.sub(r"reduce\(.*", reduce, HLO)
    assert other.open("filled.hlo", text)[1] == []
    uri, _ = other.open("complete.mlir", MLIR.replace("= xla.transpose", "= xla."))
    found = complete(other, uri, place_of(MLIR, "= xla.transpose", 6))
    filled = inserted(found["xla.transpose"])
    for hole, text in {
        "${1:%operand}": "%doubled",
        "${2:dimensions}": "[1, 0]",
        "${3:type}": "(tensor<2x3xf32>) -> tensor<3x2xf32>",
    }.items():
        assert hole in filled
        filled = filled.replace(hole, text)
    assert other.open("filled.mlir", re.sub(r"xla\.transpose .*", filled, MLIR))[1] == []
    assert "${" not in inserted(found["xla.reduce"])
    line = "// RUN: xla-opt %s -p "
    uri, _ = other.open("run.mlir", f"{line}\n{MLIR}")
    native = complete(other, uri, types.Position(0, len(line)))["native{to=...}"]
    assert inserted(native) == "native{to=${1:level}}"
    assert other.close() == 0


def complete_opcodes(editor: Editor) -> dict[str, types.CompletionItem]:
    uri, _ = editor.open("opcodes.hlo", HLO)
    return complete(editor, uri, place_of(HLO, "{0} reduce", 7))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("// RUN: xla-opt %s -p ", "convert-xla-to-linalg"),
        ("// RUN: xla-opt %s -p 'xla-simplify,xla-", "xla-inline"),
        ("// RUN: xla-opt %s -p 'native{to=", "loops"),
        ("// RUN: xla-opt %s -p 'xla-simplify{", "max_constant_bytes"),
        ("// RUN: xla-opt %s --pass-pipeline='builtin.module(", "cse"),
        ("// RUN: xla-opt %s -t ", "stablehlo"),
        ("// RUN: xla-opt %s --split", "--split-input-file"),
        ("// RUN: xla-run %s --back", "--backend"),
        ("// RUN: xla", "xla-run"),
    ],
)
def test_completion_in_run_lines(editor: Editor, line: str, expected: str) -> None:
    uri, _ = editor.open("run.mlir", f"{line}\n{MLIR}")
    assert expected in complete(editor, uri, types.Position(0, len(line)))


@pytest.mark.parametrize(
    ("name", "line", "wrong", "right"),
    [
        ("p.hlo", "ROOT y = f32[2] negat(x)", "negat", "negate"),
        ("p.hlo", "ROOT y = f32[2] add(x, xx)", "xx", "x"),
        ("p.mlir", "%y = xla.negat %x : tensor<2xf32>", "xla.negat", "xla.negate"),
        ("p.mlir", "%y = xla.negate %xs : tensor<2xf32>", "%xs", "%x"),
    ],
)
def test_what_was_meant_is_put_there(
    editor: Editor, name: str, line: str, wrong: str, right: str
) -> None:
    text = (
        f"ENTRY main {{\n  x = f32[2] parameter(0)\n  {line}\n}}\n"
        if name == "p.hlo"
        else f"func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {{\n  {line}\n"
        "  func.return %y : tensor<2xf32>\n}\n"
    )
    uri, (problem, *_) = editor.open(name, text)
    context = types.CodeActionContext([problem])
    params = types.CodeActionParams(document(uri), problem.range, context)
    found = editor.ask(editor.client.text_document_code_action_async, params)
    assert found is not None
    (action,) = found
    assert isinstance(action, types.CodeAction)
    assert action.title == f"Change to '{right}'"
    assert action.edit is not None
    assert action.edit.changes is not None
    (edit,) = action.edit.changes[uri]
    assert edit.new_text == right
    lines = text.splitlines()[edit.range.start.line]
    assert lines[edit.range.start.character : edit.range.end.character] == wrong


def test_columns_count_units_of_the_protocol(editor: Editor) -> None:
    text = 'HloModule m\nENTRY e {\n  x = f32[] parameter(0), metadata={op_name="𝒙"}, foo=1\n}\n'
    uri, (found,) = editor.open("columns.hlo", text)
    # The letter before takes two units.
    units = text.splitlines()[2].index("foo") + 1
    assert found.range.start == types.Position(2, units)
    editor.type(uri, 2, units, "sharding={replicated}", removed=len("foo=1"))
    assert editor.diagnostics(uri) == []


@given(
    st.text(alphabet="aé𝒙\n%\ud800", max_size=20), st.sampled_from(["utf-8", "utf-16", "utf-32"])
)
def test_columns_and_offsets(text: str, encoding: str) -> None:
    document = Document(text, "a.mlir", PositionCodec(encoding))
    codec = encoding if encoding == "utf-8" else f"{encoding}-le"
    for offset in range(len(text) + 1):
        position = document.position(offset)
        before = text[:offset].split("\n")
        width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        units = len(before[-1].encode(codec, "surrogatepass")) // width
        assert position == types.Position(len(before) - 1, units)
        assert document.offset(position) == offset


@pytest.mark.parametrize(("name", "text"), [("half.hlo", HLO), ("half.mlir", MLIR)])
def test_half_of_a_surrogate_pair_is_a_character(editor: Editor, name: str, text: str) -> None:
    """In a comment it is no error, and all that is asked about the line is answered."""
    uri, found = editor.open(name, f"// \ud800 %x f32\n{text}// {chr(0xDFFF)}")
    assert found == []
    for column in range(8):
        place = types.Position(0, column)
        params = types.HoverParams(document(uri), place)
        assert editor.ask(editor.client.text_document_hover_async, params) is None
        complete(editor, uri, place)
    assert "add" in hover(
        editor, uri, place_of(f"\n{text}", "add(%x, %x)" if "hlo" in name else "xla.add")
    )
    outline = types.DocumentSymbolParams(document(uri))
    assert editor.ask(editor.client.text_document_document_symbol_async, outline)
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    formatting = types.DocumentFormattingParams(document(uri), options)
    editor.ask(editor.client.text_document_formatting_async, formatting)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", MLIR.encode()])
def test_files_that_are_not_open(content: bytes | None, editor: Editor, tmp_path: Path) -> None:
    """They are read if they can be; else there is no answer, and no error either."""
    path = tmp_path / "closed.mlir"
    if content is not None:
        path.write_bytes(content)
    place = place_of(MLIR, "xla.add", 5)
    params = types.HoverParams(document(path.as_uri()), place)
    found = editor.ask(editor.client.text_document_hover_async, params)
    assert (found is not None) == (content == MLIR.encode())
    for uri in (path.as_uri(), "untitled:Untitled-1"):
        params = types.CompletionParams(document(uri), place)
        editor.ask(editor.client.text_document_completion_async, params)


MESSAGES: dict[str, dict[str, Any]] = {
    "initialize": {"id": 1, "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    "initialized": {"params": {}},
    "textDocument/didOpen": {
        "params": {
            "textDocument": {"uri": "file:///m.mlir", "languageId": "", "version": 1, "text": MLIR}
        }
    },
    "shutdown": {"id": 2},
    "exit": {},
}


@pytest.mark.parametrize(
    ("methods", "code"),
    [
        pytest.param(["exit"], 1, marks=pytest.mark.full),
        pytest.param(["initialize", "exit"], 1, marks=pytest.mark.full),
        pytest.param(["initialize", "initialized", "exit"], 1, marks=pytest.mark.full),
        (["initialize", "initialized", "textDocument/didOpen", "exit"], 1),
        (["initialize", "initialized", "textDocument/didOpen", "shutdown", "exit"], 0),
        (["initialize", "initialized"], 1),
        pytest.param(["initialize", "initialized", "shutdown"], 0, marks=pytest.mark.full),
    ],
)
def test_exit_ends_the_server(methods: list[str], code: int) -> None:
    """So does the end of what it reads, and it waits for nothing: no text, no dialect, no thread."""
    server = subprocess.Popen(
        [sys.executable, "-m", "xla_dialect_tools.xla_lsp_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with server:
        assert server.stdin is not None
        assert server.stderr is not None
        for method in methods:
            body = json.dumps({"jsonrpc": "2.0", "method": method, **MESSAGES[method]}).encode()
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            server.stdin.flush()
        if methods[-1] != "exit":
            server.stdin.close()
        try:
            assert server.wait(60) == code
        finally:
            server.kill()
        assert server.stderr.read() == b""
