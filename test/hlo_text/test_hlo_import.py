"""HLO text to the dialect: what becomes what, and that nothing is lost."""

import re
from pathlib import Path

import pytest
from hlo_import import function, name_of, operations
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
    IntegerAttr,
    StringAttr,
    TensorType,
    TupleType,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.driver.context import make_context
from xla_dialect.hlo_text import read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification.verify import verify
from xla_dialect.xdsl.text import MlirParser

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))


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


def opcodes_of(op: Operation) -> list[list[str]]:
    """The names of the operations in every region."""
    return [[inner.name for inner in region.block.ops] for region in op.regions]


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


def test_layouts_may_differ_between_definition_and_use():
    op = last_of("a = f32[2,3]{0,1} parameter(0)", "b = f32[2,3]{1,0} copy(f32[2,3] a)")
    assert str(op.operands[0].type) == "tensor<2x3xf32, #xla.layout<{0,1}>>"
    assert op.results[0].type == TensorType(f32, [2, 3])


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


def ints(*numbers: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, numbers)


X = "x = f32[4,6] parameter(0)"


@pytest.mark.parametrize(
    ("lines", "properties"),
    [
        (["y = f32[6,4] transpose(x), dimensions={1,0}"], {"dimensions": ints(1, 0)}),
        (["y = f32[6,4] transpose(x), dimensions= { 1 , 0 }"], {"dimensions": ints(1, 0)}),
        (
            ["y = f32[2,1] slice(x), slice={[1:3], [5:6]}"],
            {
                "start_indices": ints(1, 5),
                "limit_indices": ints(3, 6),
                "strides": ints(1, 1),
            },
        ),
        (
            ["y = f32[2,2] slice(x), slice={[0:4:2], [1:6:3]}"],
            {
                "start_indices": ints(0, 1),
                "limit_indices": ints(4, 6),
                "strides": ints(2, 3),
            },
        ),
        (
            ["c = f32[] constant(0)", "y = f32[10,3] pad(x, c), padding=1_2_1x-2_-1"],
            {
                "edge_padding_low": ints(1, -2),
                "edge_padding_high": ints(2, -1),
                "interior_padding": ints(1, 0),
            },
        ),
        (["y = f32[8,6] concatenate(x, x), dimensions={0}"], {"dimension": IntegerAttr(0, i64)}),
        (["y = s32[4,6] iota(), iota_dimension=1"], {"iota_dimension": IntegerAttr(1, i64)}),
        (
            ["c = f32[] constant(0)", "y = f32[2] broadcast(c)"],
            {"dimensions": ints()},
        ),
        (
            ["y = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"],
            {
                "lhs_contracting_dims": ints(1),
                "rhs_contracting_dims": ints(1),
                "lhs_batch_dims": ints(),
                "rhs_batch_dims": ints(),
            },
        ),
    ],
)
def test_attributes(lines: list[str], properties: dict[str, object]):
    op = last_of(X, *lines)
    assert op.properties == properties


def test_comparison():
    op = last_of(X, "y = pred[4,6] compare(x, x), direction=LT, type=TOTALORDER")
    assert str(op).endswith(
        "{direction = LT, comparison_type = TOTALORDER} : "
        "(tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>"
    )


def test_scalar_pad_and_slice():
    """Rank 0: HLO text has nothing to say about no dimensions."""
    op = last_of("a = f32[] parameter(0)", "b = f32[] pad(a, a)", "c = f32[] slice(b), slice={}")
    assert op.properties["strides"] == ints()


def test_conditionals():
    branches = "".join(
        f"f{i} {{\n  a{i} = f32[] parameter(0)\n  b{i} = f32[] {opcode}(a{i})\n}}\n"
        for i, opcode in enumerate(("negate", "exponential", "copy"))
    )
    op = last_of(
        "p = pred[] parameter(0)",
        "x = f32[] parameter(1)",
        "y = f32[] conditional(p, x, x), false_computation=f0, true_computation=f1",
        before=branches,
    )
    assert opcodes_of(op) == [["xla.exponential", "xla.return"], ["xla.negate", "xla.return"]]
    op = last_of(
        "i = s32[] parameter(0)",
        "x = f32[] parameter(1)",
        "y = f32[] conditional(i, x, x, x), branch_computations={%f2, %f0, f1}",
        before=branches,
    )
    assert op.attributes["xla.computations"] == ArrayAttr(map(StringAttr, ("f2", "f0", "f1")))


SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"


def test_one_copy_of_a_computation_per_use():
    module = read_hlo(
        in_entry(
            X,
            "z = f32[] constant(0)",
            "r = f32[4] reduce(x, z), dimensions={1}, to_apply=sum",
            "s = f32[] reduce(r, z), dimensions={0}, to_apply=sum",
            "t = f32[] call(s, z), to_apply=sum",
            before=SUM,
        )
    )
    verify(module)
    assert [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)] == ["sum", "main"]
    first, second = [op for op in operations(module) if op.name == "xla.reduce"]
    assert first.regions[0].is_structurally_equivalent(second.regions[0])
    assert function(module, "sum").sym_visibility == StringAttr("private")
    assert function(module).sym_visibility == StringAttr("public")


def test_unused_computations_stay():
    module = read_hlo(in_entry(X, before=SUM))
    assert len(operations(module, "sum")) == 1
    assert module.attributes["xla.computation_order"] == ArrayAttr(map(StringAttr, ("sum", "e")))


def test_symbols_do_not_collide_with_the_entry():
    text = in_entry(
        "a = f32[] parameter(0)",
        "b = f32[] call(a), to_apply=main",
        "c = f32[] call(b), to_apply=main_",
        before="main {\n  x = f32[] parameter(0)\n}\nmain_ {\n  y = f32[] parameter(0)\n}\n",
    )
    module = read_hlo(text)
    verify(module)
    symbols = [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)]
    assert len(set(symbols)) == 3
    assert symbols[1:] == ["main_", "main"]
    assert function(module, symbols[0]).attributes["xla.computation"] == StringAttr("main")


def test_single_computation_needs_no_entry_mark():
    module = read_hlo("HloModule m\ne {\n  ROOT a = () tuple()\n}\n")
    verify(module)
    assert function(module).function_type.outputs.data == (TupleType(()),)


def test_root_may_stand_anywhere():
    module = read_hlo(in_entry("a = f32[] parameter(0)", "ROOT b = f32[] copy(a)", "c = copy(b)"))
    assert name_of(returned(function(module))) == "b"


def test_zero_sized_arrays_and_empty_tuples():
    op = last_of(
        "a = f32[0,3] parameter(0)",
        "c = f32[0,3] constant({})",
        "b = add(a, c)",
        "t = (f32[0,3], ()) parameter(1)",
        "u = tuple(b, t)",
    )
    assert str(op.results[0].type) == "tuple<tensor<0x3xf32>, tuple<tensor<0x3xf32>, tuple<>>>"


def test_tuple_constant():
    op = last_of("c = (f32[2], (s32[], pred[])) constant(({1, 2}, (3, true)))")
    assert str(op).endswith(
        "xla.constant [dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, "
        "[dense<3> : tensor<i32>, dense<true> : tensor<i1>]]"
    )


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


COMPILED = """\
HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, \
entry_computation_layout={(f32[2]{0}, s32[])->f32[2]{0}}, replica_count=2, \
allow_spmd_sharding_propagation_to_output={true}, frontend_attributes={a="b",c.d="{}"}

FileNames
1 "/home/a \\"b\\".py"
2 "c.py"

FunctionNames
1 "<module>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 end_column=46}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


%body (param_0: f32[2]) -> f32[2] {
  %param_0 = f32[2]{0} parameter(0), sharding={replicated}, metadata={op_name="x"}
  ROOT %neg.1 = f32[2]{0} negate(%param_0), metadata={op_type="neg" op_name="jit(f)/neg" \
source_file="/home/a \\"b\\".py" source_line=7}
}

ENTRY %main.5 (x.1: f32[2], n: s32[]) -> f32[2] {
  %c = f32[] constant(-inf), backend_config={"outer":[{"a":"}"}]}
  %n = s32[] parameter(1), metadata={op_name="n"}, sharding={maximal device=0}
  %x.1 = f32[2]{0} parameter(0)
  %e = f32[2]{0} exponential(%x.1), result_accuracy={mode=highest}, statistics={a=1,b=2}
  ROOT %f = f32[2]{0} fusion(%x.1), kind=kLoop, calls=%body, control-predecessors={%c, %n}, \
output_to_operand_aliasing={{}: (0, {})}, frontend_attributes={_k="v"}, \
metadata={op_name="jit(f)/neg" stack_frame_id=1}
}, execution_thread="main"
"""


def strings(*texts: str) -> ArrayAttr[StringAttr]:
    return ArrayAttr(map(StringAttr, texts))


def dictionary(**values: str | int) -> DictionaryAttr:
    return DictionaryAttr(
        {k: IntegerAttr(v, i64) if isinstance(v, int) else StringAttr(v) for k, v in values.items()}
    )


def test_kept_of_the_module():
    module = read_hlo(COMPILED, "compiled.hlo")
    verify(module)
    assert module.sym_name == StringAttr("jit_f")
    assert {name: str(value) for name, value in module.attributes.items()} == {
        "xla.is_scheduled": "true",
        "xla.input_output_alias": '"{ {}: (0, {}, may-alias) }"',
        "xla.entry_computation_layout": '"{(f32[2]{0}, s32[])->f32[2]{0}}"',
        "xla.replica_count": "2 : i64",
        "xla.allow_spmd_sharding_propagation_to_output": '"{true}"',
        "xla.frontend_attributes": '{a = "b", c.d = "{}"}',
        "xla.computation_order": '["body", "main.5"]',
        "xla.file_names": str(strings('/home/a \\"b\\".py', "c.py")),
        "xla.function_names": '["<module>"]',
        "xla.file_locations": '["file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 '
        'end_column=46"]',
        "xla.stack_frames": '["file_location_id=1 parent_frame_id=1"]',
    }


def test_kept_of_computations_and_their_parameters():
    main = function(read_hlo(COMPILED))
    assert main.attributes == {
        "xla.computation": StringAttr("main.5"),
        "xla.execution_thread": StringAttr('"main"'),
    }
    of_n = {
        "xla.metadata": dictionary(op_name="n"),
        "xla.sharding": StringAttr("{maximal device=0}"),
    }
    assert main.arg_attrs == ArrayAttr(
        [DictionaryAttr({"xla.position": IntegerAttr(2, i64)}), DictionaryAttr(of_n)]
    )


def test_kept_of_instructions():
    constant, exponential, fusion = operations(read_hlo(COMPILED))
    assert constant.attributes == {"xla.backend_config": StringAttr('{"outer":[{"a":"}"}]}')}
    assert exponential.attributes == {
        "xla.result_accuracy": StringAttr("{mode=highest}"),
        "xla.statistics": StringAttr("{a=1,b=2}"),
    }
    parameter = {
        "xla.name": StringAttr("param_0"),
        "xla.sharding": StringAttr("{replicated}"),
        "xla.metadata": dictionary(op_name="x"),
    }
    assert fusion.attributes == {
        "xla.control_predecessors": StringAttr("{%c, %n}"),
        "xla.output_to_operand_aliasing": StringAttr("{{}: (0, {})}"),
        "xla.frontend_attributes": dictionary(_k="v"),
        "xla.metadata": dictionary(op_name="jit(f)/neg", stack_frame_id=1),
        "xla.computations": strings("body"),
        "xla.parameters": ArrayAttr([ArrayAttr([DictionaryAttr(parameter)])]),
    }
    negate = fusion.regions[0].block.first_op
    assert negate is not None
    assert negate.attributes["xla.metadata"] == dictionary(
        op_type="neg",
        op_name="jit(f)/neg",
        source_file='/home/a \\"b\\".py',
        source_line=7,
    )


def test_kept_of_computations_that_become_regions():
    op = last_of(
        X,
        "y = fusion(x), calls=f",
        before='f { a = f32[4,6] parameter(0) }, execution_thread="t"\n',
    )
    thread = DictionaryAttr({"xla.execution_thread": StringAttr('"t"')})
    assert op.attributes["xla.computation_attributes"] == ArrayAttr([thread])


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
    op = last_of(X, f"y = f32[4,6] copy(x), metadata={metadata}")
    assert op.attributes["xla.metadata"] == StringAttr(metadata)


def test_locations():
    module = read_hlo(COMPILED, "compiled.hlo")
    lines = COMPILED.split("\n")
    for op in operations(module):
        place = op.location
        assert isinstance(place, FileLineColLoc)
        assert place.filename.data == "compiled.hlo"
        rest = lines[place.line.data - 1][place.column.data - 1 :]
        assert rest.startswith(f"%{op.results[0].name_hint} = ")
    for argument in function(module).args:
        place = argument.location
        assert isinstance(place, FileLineColLoc)
        rest = lines[place.line.data - 1][place.column.data - 1 :]
        assert rest.startswith(f"%{argument.name_hint} = ")
