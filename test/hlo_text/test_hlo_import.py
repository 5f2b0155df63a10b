"""HLO text to the dialect, beside the FileCheck tests: nothing of a program is lost."""

import re
from pathlib import Path

import pytest
from hlo_import import function, name_of, operations
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.driver.context import make_context
from xla_dialect.hlo_text import read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify
from xla_dialect.xdsl.text import MlirParser

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))
KEPT = Path(__file__).with_name("kept_attributes.hlo").read_text()


def in_entry(*lines: str, before: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"HloModule m\n{before}ENTRY e {{\n{body}}}\n"


def last_of(*lines: str, before: str = "") -> Operation:
    """The last operation of an entry computation, verified."""
    module = read_hlo(in_entry(*lines, before=before))
    verify(module)
    return operations(module)[-1]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_programs_of_jax_round_trip_through_mlir(path: Path):
    text = path.read_text()
    ctx = make_context()
    module = read_hlo(text, path.name)
    verify(module, {path.name: text})
    printed = print_mlir(module)
    again = MlirParser(ctx, printed).parse_module()
    verify(again)
    assert print_mlir(again) == printed
    assert again.is_structurally_equivalent(module)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_every_instruction_of_the_entry_is_there(path: Path):
    text = path.read_text()
    entry = text[text.index("\nENTRY ") :]
    lines = re.findall(r"^  (ROOT )?%?([\w.\-]+) = (?:\(.*?\)|\S+) ([\w\-]+)\(", entry, re.M)
    module = read_hlo(text, path.name)
    main = function(module)
    names = [(name, op) for _, name, op in lines if op != "parameter"]
    found = [
        (name_of(op), op.name.removeprefix("xla.").replace("_", "-")) for op in operations(module)
    ]
    assert found == names
    assert name_of(returned(main)) == next(name for mark, name, _ in lines if mark)
    assert main.attributes["xla.computation"] == StringAttr(entry.split()[1].lstrip("%"))


def returned(func: FuncOp) -> Operation:
    """The operation whose result a function returns."""
    terminator = func.body.block.last_op
    assert terminator is not None
    (value,) = terminator.operands
    assert isinstance(value.owner, Operation)
    return value.owner


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_shapes_that_follow_may_be_left_out(path: Path):
    """The result shape of an elementwise operation, tuple, reduce and so on can be inferred."""
    text = path.read_text()
    opcodes = "add|subtract|multiply|divide|maximum|compare|select|tuple|get-tuple-element|reduce"
    short, count = re.subn(
        rf"= (?:\([^=]*?\)|\S+) ((?:{opcodes}|while|call|fusion)\()", r"= \1", text
    )
    assert count > 5
    assert read_hlo(short).is_structurally_equivalent(read_hlo(text))


def test_percent_signs_and_operand_shapes_are_optional():
    plain = in_entry("a = f32[2] parameter(0)", "ROOT b = f32[2] add(a, a)")
    full = (
        "HloModule m\n\nENTRY %e (a: f32[2]) -> f32[2] {\n  %a = f32[2]{0} parameter(0)\n"
        "  ROOT %b = f32[2]{0} add(f32[2]{0} %a, /*index=1*/f32[2] %a)\n}\n"
    )
    assert print_mlir(read_hlo(plain)) == print_mlir(read_hlo(full))


def test_both_lines_of_the_page():
    """Those of docs/hlo_text.md#one-line."""
    tiled = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"
    op = last_of(
        f"exponential.183 = {tiled} parameter(0)",
        f"broadcast.3115 = {tiled} parameter(1)",
        f"add.936 = {tiled}\n          add(exponential.183, broadcast.3115)",
    )
    assert op.results[0].name_hint == "add.936"
    assert "#xla.layout<{3,2,0,1:T(8,128)(2,1)}>" in str(op.results[0].type)
    op = last_of(
        "%fusion.32 = bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} parameter(0)",
        "%fusion.3 = bf16[32,32,4096]{2,1,0:T(8,128)(2,1)S(1)}\n"
        "            fusion(bf16[32,32,8192]{2,1,0:T(8,128)(2,1)S(1)} %fusion.32),\n"
        "            kind=kCustom, calls=%all-reduce-scatter.3",
        before="%all-reduce-scatter.3 {\n  p = bf16[32,32,8192] parameter(0)\n"
        "  s = bf16[32,32,4096] slice(p), slice={[0:32], [0:32], [0:4096]}\n}\n",
    )
    assert str(op.properties["kind"]) == "#xla<fusion_kind kCustom>"
    assert op.attributes["xla.computations"] == ArrayAttr([StringAttr("all-reduce-scatter.3")])


NAMES = ["add", "add.1", "a_1", "a_b", "0", "1.5", "a_0_1", "x-y", "_"]


@pytest.mark.parametrize("name", NAMES)
def test_names_survive(name: str):
    ctx = make_context()
    text = in_entry(f"%{name} = f32[] parameter(0)", f"%q{name} = f32[] copy(%{name})")
    text += f"// {name}"
    again = MlirParser(ctx, print_mlir(read_hlo(text))).parse_module()
    main = function(again)
    (argument,) = main.body.block.args
    (facts,) = main.arg_attrs.data if main.arg_attrs else [DictionaryAttr({})]
    kept = facts.data.get("xla.name", StringAttr(argument.name_hint or ""))
    assert kept == StringAttr(name)
    assert name_of(operations(again)[0]) == f"q{name}"


@pytest.mark.parametrize(
    "metadata",
    [
        '{op_name="a",op_type="b"}',
        '{op_name="a"  op_type="b"}',
        "{source_line=07}",
        "{profile_type={1}}",
        '{ op_name="a"}',
    ],
)
def test_unusual_metadata_stays_a_string(metadata: str):
    op = last_of("x = f32[4,6] parameter(0)", f"y = f32[4,6] copy(x), metadata={metadata}")
    assert op.attributes["xla.metadata"] == StringAttr(metadata)


def test_locations():
    module = read_hlo(KEPT, "kept.hlo")
    lines = KEPT.split("\n")
    for op in operations(module):
        place = op.location
        assert isinstance(place, FileLineColLoc)
        assert place.filename.data == "kept.hlo"
        rest = lines[place.line.data - 1][place.column.data - 1 :]
        assert rest.startswith(f"%{op.results[0].name_hint} = ")
    for argument in function(module).args:
        place = argument.location
        assert isinstance(place, FileLineColLoc)
        rest = lines[place.line.data - 1][place.column.data - 1 :]
        assert rest.startswith(f"%{argument.name_hint} = ")
