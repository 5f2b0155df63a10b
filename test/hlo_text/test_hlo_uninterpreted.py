"""Attributes that are kept as written: what XLA reads is kept, what it refuses is an error."""

import re

import pytest
from hlo_import import operations
from peers import has_jax
from xdsl.dialects.builtin import DictionaryAttr, StringAttr

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import HloSyntaxError, read_hlo
from xla_dialect.hlo_text.attributes import (
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    MODULE_ATTRIBUTES,
    kept_value,
)
from xla_dialect.hlo_text.grammars import DEFAULT, UNINTERPRETED
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.verification import verify

if has_jax():
    from xla_cpu import hlo_module

CONVOLUTION = "f32[1,1,2,2] convolution(l, k), window={size=2x2}, dim_labels=bf01_oi01->bf01, "
CUSTOM_CALL = 'f32[2] custom-call(x), custom_call_target="t", '
DOT = "f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
INSTRUCTIONS = {
    "algorithm": DOT,
    "batch_group_count": CUSTOM_CALL,
    "convolution_kind": CONVOLUTION,
    "dim_labels": CUSTOM_CALL,
    "domain": "f32[2] domain(x), ",
    "feature_group_count": CUSTOM_CALL,
    "inferred_dimension": "f32[2,1] reshape(x), ",
    "literal": CUSTOM_CALL,
    "mode": "f32[2] all-reduce(x), to_apply=add, ",
    "operand_layout_constraints": CUSTOM_CALL,
    "operand_precision": DOT,
    "block_scaling_config": CONVOLUTION,
    "sparsity_config": CONVOLUTION,
    "output_to_operand_aliasing": CUSTOM_CALL,
    "padding_type": CUSTOM_CALL,
    "schedule": CUSTOM_CALL,
    "slice_sizes": "f32[2] collective-permute(x, x, i, i), source_target_pairs={{0,1}}, ",
    "window": CUSTOM_CALL,
}
"""An instruction for the attributes that not every one takes."""


def text_of(attribute: str, value: str) -> str:
    """A module in which an attribute stands where it belongs."""
    on_module = f", {attribute}={value}" if attribute in MODULE_ATTRIBUTES else ""
    on_computation = f", {attribute}={value}" if attribute == "execution_thread" else ""
    instruction = INSTRUCTIONS.get(attribute, "f32[2] exponential(x), ") + f"{attribute}={value}"
    if on_module or on_computation:
        instruction = "f32[2] exponential(x)"
    return (
        f"HloModule m{on_module}\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}\nENTRY e {\n  x = f32[2] parameter(0)\n"
        "  l = f32[1,1,3,3] parameter(1)\n  k = f32[1,1,2,2] parameter(2)\n"
        f"  i = s32[] parameter(3)\n  t = (f32[], (s32[], s32[])) parameter(4)\n  ROOT y = {instruction}\n}}{on_computation}\n"
    )


LEGAL = {
    "metadata": [
        *("{}", "{ }", '{op_name="a"}', '{op_type="b" op_name="a"}', '{op_type="b",op_name="a"}'),
        '{ source_file="/a//b/*c*/" source_line=7 source_end_line=7 source_column=0 }',
        '{deduplicated_name="f" profile_type={1} source_end_column=2 stack_frame_id=3}',
        r'{scheduling_name="a\n\t\\\"\'\x41\101\u00e9" op_name="é"}',
        '{op_name="two\nlines" /*comment*/ op_type="}"}',
    ],
    "backend_config": [
        *('""', r'"{\"a\": [1, 2]}"', "{}", '{"a":{"b":[1,{"c":"}{"}]}}', "{{}}", "{a=1}"),
        '{"a":"b\\"}"}',
    ],
    "frontend_attributes": [
        *("{}", "{ }", '{a="b"}', '{_a.b-c="d",e="f"}', "{a={b c}}", '{a={n = 1 : i32}, b="c"}'),
        "{composite.attributes={n = 1 : i32, tensor = dense<1> : tensor<i32>}}",
    ],
    "sharding": [
        *("{replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=3}", "{}"),
        *("{device=3 maximal}", "{devices=[2]0,1}", "{devices=[2]<=[2]}"),
        "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
        "{devices=[1,2]<=[2] last_tile_dims={manual}}",
        "{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}",
        "{devices=[2]<=[2] last_tile_dims={unreduced}}",
        "{{replicated}, {devices=[2]<=[2]}, {maximal device=0}}",
        "{replicated shard_like 2}",
        "{devices=[2]0,1 shard_as 1}",
        '{replicated metadata={op_name="a"}}',
        '{devices=[2]0,1 metadata={{op_name="a"}, {op_name="b"}}}',
        "{mesh['a'=2], [{'a'}]}",
        "{mesh['a'=2] [{'a'}]}",
        "{mesh['a'=2,'b'=2] [{'a','b'},{}]}",
        "{mesh['a'=4] [{'a':(1)2}]}",
        "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}",
        "{mesh['a'=2,'b'=4], [{'a'}, {}], replicated={'b'}}",
        "{mesh['a'=2,'b'=4], [{'a'}], unreduced={'b'}}",
        "{mesh['a'=2,'b'=4], replicated}",
        "{mesh['a'=4], manual}",
        "{mesh['a'=4], unreduced}",
        "{mesh['a'=4] [{'0':(1)2}]}",
        "{mesh['a'=4], unreduced=max}",
        "{mesh['a'=2,'b'=4], unreduced=max{'b'}}",
        "{mesh['a'=2,'b'=4], [{'a'}], unreduced=max{'b'}}",
        "{mesh['a'=2], [{'a'}], metadata={op_name=\"x\"}}",
        "{maximal_mesh[device_id=3]}",
    ],
    "control-predecessors": ["{x}", "{%x}", "{ x , %l }"],
    "statistics": ["{}", "{visualizing_index=0}", "{visualizing_index=-1,a=1,b=-2.5e-3}"],
    "origin": [
        *('{{"x"}}', '{{"x" {0}}}', "{}", '{({"a"},{"b"})}', '{({"a"}, ({"b"}, {"c" {1,0}}))}'),
        *("{[synthetic_call]}", "{{}}", "{({},{})}", '{{"x"}, ["calls"]}'),
        '{({"a"}, {"b" {1}}), ["calls"]}',
    ],
    "result_accuracy": [
        *("{mode=highest}", "{tolerance={atol=0,rtol=0,ulps=0}}"),
        "{tolerance={atol=0.1,rtol=1e-05,ulps=3}}",
    ],
    "algorithm": ["unset", "dot_f32_f32_f32", "dot_bf16_bf16_f32_x3", "dot_tf32_tf32_f32"],
    "sparsity_config": [
        *("{}", "{lhs={}}", "{rhs={sparsity=1x4 dimension=0 stride=1 idx=2}}"),
        "{lhs={dimension=1 sparsity=2x4} rhs={stride=1}}",
    ],
    "block_scaling_config": [
        *("{}", "{lhs={scale_idx=2}}", "{rhs={scale_idx=2 zero_idx=3 strides=1x4x1 steps=2}}"),
        "{lhs={} rhs={scale_idx=3}}",
    ],
    "debug_attributes": [
        *("{}", '{{"a"}:{log_mode=default}}', '{{"a" {0}} : {op_id=1,callback_id=-1}}'),
        '{{"a"}:({log_mode=fusion_debugger}, {partitioned=true}),{"b" {}}:()}',
    ],
    "operand_precision": ["{default,high}", "{ highest , highest }"],
    "convolution_kind": ["fprop", "wgrad", "dgrad", "unset"],
    "mode": ["cross_replica", "cross_partition", "flattened_id", "cross_replica_and_partition"],
    "batch_group_count": ["2"],
    "feature_group_count": ["2"],
    "inferred_dimension": ["0", "-1"],
    "dim_labels": ["bf01_oi01->bf01", "b01f_01io->b01f", "bf_oi->bf"],
    "window": ["{size=2x3 stride=1x2 pad=0_1x-1_1 lhs_dilate=2x1 rhs_dilate=1x2}", "{size=1}"],
    "padding_type": ["PADDING_VALID", "PADDING_SAME", "PADDING_INVALID"],
    "schedule": ["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"],
    "output_to_operand_aliasing": ["{}", "{{}: (0, {})}", "{{}: (0, {}),}"],
    "operand_layout_constraints": ["{f32[2]{0}}", "{ f32[2]{0} }"],
    "literal": [
        *("f32[] 3", "f32[] -nan(0x1)", "s32[2]{0} {1,2}", "pred[] true, backend_config={}"),
        *("f32[2,1]{1,0} {{1}, {2}}", "c64[] (1, 2)", "(f32[] 1, (s32[2]{0} {1,2}, pred[] 0))"),
        "()",
    ],
    "domain": ['{kind="sharding", entry={replicated}, exit={devices=[2]<=[2]}}'],
    "slice_sizes": ["{{1}}", "{{2}}", "{{0}}"],
    "input_output_alias": [
        *("{}", "{ {}: (0, {}, may-alias) }", "{{}: (0, {})}", "{ {}: (0, {}, must-alias), }"),
    ],
    "buffer_donor": ["{}", "{ (0, {}) }", "{ (0, {}), (4, {1,0}) }"],
    "allow_spmd_sharding_propagation_to_output": ["true", "{true}", "{true,false}", "{}"],
    "allow_spmd_sharding_propagation_to_parameters": ["false", "{false, true}"],
    "origin_recovery_table": ["{}", '{{"a"} : {"b"}}', '{\n{"a" {0}} : {"b"}\n}'],
    "execution_thread": ['"host"'],
}

# The place of the error is marked by @@.
ILLEGAL = {
    "metadata": [
        ("{@@op_nam=3}", "unknown field 'op_nam' (there are op_type, op_name, source_file, "),
        ("{op_name=@@a}", "expected a string in quotes, found 'a}'"),
        ('{source_line=@@"7"}', "expected an integer"),
        ("{source_line=@@99999999999}", "'99999999999' does not fit 32 bits"),
        ('{op_name="a" @@op_name="b"}', "field 'op_name' is given twice"),
        ('{op_name="a",@@}', "expected one of op_type, "),
        ('{op_name="a@@\\q"}', "unknown escape \\q in a string"),
        ("@@3", "expected '{', found '3'"),
        ("{}@@x", "expected the end of the value, found 'x'"),
        ("{metadata_payload=@@{}}", "expected a string"),
    ],
    "backend_config": [
        ("@@a", "expected a string in quotes, found 'a'"),
        ("@@[1]", "expected a string"),
    ],
    "frontend_attributes": [
        ("{a=@@b}", "expected a string in quotes, found 'b}'"),
        ('{a="b",@@}', "expected a name with '='"),
        ('{a="b" @@c="d"}', "expected '}', found 'c"),
        ("@@3", "expected '{', found '3'"),
        ('{@@"a"="b"}', "expected a name with '='"),
        ('{@@1a="b"}', "expected a name with '='"),
    ],
    "sharding": [
        ("@@replicated", "expected '{', found 'replicated'"),
        ("{@@foo}", "expected one of maximal, replicated, manual, "),
        ("{manual @@subgroup}", "expected one of maximal, "),
        ("{@@maximal}", "a maximal sharding needs 'device='"),
        ("{maximal device=0@@,1}", "expected one of maximal, "),
        ("{devices=[2]@@}", "expected a number, found '}'"),
        ("{@@replicated device=0}", "a sharding that is replicated has no devices"),
        ("{@@manual devices=[2]0,1}", "a sharding that is manual has no devices"),
        ("{{@@}}", "expected one of maximal, "),
        ("{{replicated}@@ ", None),
        ("{mesh['a'=2] [{'a'}] @@foo}", "expected '}', found 'foo'"),
        ("{mesh[@@a=2], [{'a'}]}", "expected a name in quotes, found 'a'"),
        ("{mesh['a'=2], unreduced=@@all}", "expected one of sum, max, min; found 'all'"),
        ("{mesh['a'=2], [{}], unreduced=@@all{'a'}}", "expected one of sum, max, min"),
        ("{mesh['a'=2], [{'a', ?}p1@@]}", "a dimension has no priority in HLO text"),
        ("{last_tile_dims={@@foo}}", "expected one of maximal, replicated, manual, unreduced; "),
    ],
    "control-predecessors": [("{@@}", "expected an instruction"), ("@@x", "expected '{'")],
    "statistics": [
        ("@@3", "expected '{'"),
        ("{visualizing_index=0,a=@@x}", "expected a number, found 'x}'"),
        ("{visualizing_index=0,@@}", "expected a name with '='"),
    ],
    "origin": [
        ("@@x", "expected '{'"),
        ('{@@"x"}', "expected '{'"),
        ('{({"a"@@)}', None),
        ('{{"x"@@,"y"}}', "expected '}'"),
        ('{{"x"}, [@@calls]}', "expected a string in quotes"),
        ('{{"x"}, ["a"]@@, ["b"]}', "expected '}'"),
        ("{[@@foo]}", "expected one of synthetic_call; found 'foo'"),
        (f"{{{'(' * 32}@@{'(' * 99_999}{')' * 100_031}}}", "tuples are nested deeper than 32"),
    ],
    "result_accuracy": [
        ("@@highest", "expected '{'"),
        ("{@@}", "expected one of mode, tolerance with '='"),
        (
            "{mode=@@hihgest}",
            "expected one of default, highest; found 'hihgest'; did you mean 'hig",
        ),
        ("{tolerance={@@foo=1}}", "unknown field 'foo' (there are atol, rtol, ulps)"),
        ("{mode=highest@@,tolerance={}}", "expected '}'"),
    ],
    "algorithm": [
        ("@@dot_foo", "expected one of unset, dot_any_f8_any_f8_f32, "),
        ('@@"dot_f32_f32_f32"', "expected one of unset, "),
    ],
    "operand_precision": [
        (
            "{@@hihg,high}",
            "expected one of default, high, highest, packed_nibble; found 'hihg'; did",
        ),
        ("@@highest", "expected '{'"),
    ],
    "sparsity_config": [
        ("@@foo", "expected '{', found 'foo'"),
        ("{@@foo={}}", "unknown field 'foo' (there are lhs, rhs)"),
        ("{lhs={}@@, rhs={}}", "expected one of lhs, rhs with '='"),
        ("{lhs=@@2}", "expected '{'"),
        ("{lhs={sparsity=@@2:4}}", "expected how many of how many, 1x4"),
        ("{lhs={sparsity=@@1x2x4}}", "expected how many of how many, 1x4"),
        ("{lhs={dimension=@@a}}", "expected an integer"),
        ("{lhs={@@scale_idx=1}}", "unknown field 'scale_idx' (there are sparsity, dimension, "),
    ],
    "block_scaling_config": [
        ("{@@lhs}", "expected one of lhs, rhs with '='"),
        ("{rhs={strides=@@x}}", "expected numbers, 1x4"),
        ("{rhs={@@sparsity=1x4}}", "unknown field 'sparsity' (there are scale_idx, zero_idx, "),
    ],
    "debug_attributes": [
        ("{@@a}", "expected '{', found 'a}'"),
        ('{{"a"}@@}', "expected ':'"),
        ('{{"a"}:{@@}}', "expected one of log_mode, callback_id, partitioned, op_id with '='"),
        ('{{"a"}:{@@foo=1}}', "unknown field 'foo' (there are log_mode, callback_id, "),
        ('{{"a"}:{log_mode=@@all}}', "expected one of default, fusion_debugger; found 'all'"),
        ('{{"a"}:{op_id=1 @@partitioned=true}}', "expected '}'"),
        ('{{"a"}:({op_id=1}, @@)}', "expected '{'"),
        ('{{"a"}:{partitioned=@@1}}', "expected one of true, false"),
    ],
    "convolution_kind": [
        ("@@forward", "expected one of fprop, wgrad, dgrad, unset; found 'forward'")
    ],
    "mode": [("@@flattened", "expected one of cross_replica, ")],
    "feature_group_count": [("@@x", "expected an integer")],
    "inferred_dimension": [("@@x", "expected an integer")],
    "dim_labels": [("@@foo", "expected labels like")],
    "window": [("{size=@@x}", "expected an integer"), ("@@2", "expected '{' and '}', found '2'")],
    "padding_type": [("@@FOO", "expected one of PADDING_INVALID, ")],
    "schedule": [("@@LATEST", "expected one of SCHEDULE_NONE, SCHEDULE_LATEST, ")],
    "output_to_operand_aliasing": [("{@@0}", "expected '{'"), ("{{}: @@0}", "expected '('")],
    "operand_layout_constraints": [
        ("{@@f33[2]{0}}", "unknown element type 'f33'; did you mean"),
        ("@@f32[2]{0}", "expected '{'"),
    ],
    "literal": [
        ("@@3", "expected a shape, found '3'"),
        ("f32[] @@x", "'x' is no value of f32"),
        ("s32[2]{0} {1@@}", "dimension 0 of s32[2] has 2 elements, the literal has 1"),
        (f"@@{'(' * 100_000}{')' * 100_000}", None),
    ],
    "domain": [
        ("@@3", "expected '{'"),
        ('{kind=@@"foo", entry={replicated}, exit={replicated}}', 'expected the kind "sharding"'),
        ('@@{kind="sharding"}', "field 'entry' is missing"),
        ('{kind="sharding", entry={@@foo}, exit={replicated}}', "expected one of maximal"),
    ],
    "slice_sizes": [("{@@1}", "expected '{'")],
    "input_output_alias": [
        ("@@foo", "expected '{'"),
        ("{ {}: @@0 }", "expected '('"),
        ("{ {}: (0, {}, @@maybe) }", "expected one of may-alias, must-alias; found 'maybe'"),
        ("{ {}: (0, {}) @@{}: (0, {}) }", "expected '}'"),
    ],
    "buffer_donor": [("@@1", "expected '{'"), ("{ @@0 }", "expected '('")],
    "allow_spmd_sharding_propagation_to_output": [("{@@x}", "expected one of true, false")],
    "origin_recovery_table": [("{@@a}", "expected '{'")],
    "execution_thread": [("@@main", "expected a string in quotes, found 'main'")],
}

LEGAL_CASES = [(name, value) for name, values in LEGAL.items() for value in values]
ILLEGAL_CASES = [(name, *case) for name, cases in ILLEGAL.items() for case in cases]


NEWER = ("debug_attributes", "block_scaling_config", " idx=", "unreduced=max", '["calls"]')
"""What jaxlib 0.10.2 does not read yet: attributes, and parts of values."""


def identify(value: object) -> str:
    return str(value)[:60]


def test_every_attribute_has_a_grammar():
    kept = {*COMMON_ATTRIBUTES, *COMPUTATION_ATTRIBUTES}
    kept |= {name for opcode in OPCODES.values() for name in opcode.difference.kept}
    kept |= {name for name, s in MODULE_ATTRIBUTES.items() if s.properties[0] == f"xla.{name}"} - {
        "alias_passthrough_params",
        "is_scheduled",
        "num_partitions",
        "replica_count",
    }
    # The parser reads it.
    kept -= {"entry_computation_layout"}
    assert kept <= set(UNINTERPRETED)


def test_every_grammar_is_tested():
    # Older names of others; one that only parameters may carry; one that only our texts have.
    untested = {"original_value", "custom_call_schedule", "parameter_replication", "is_stable"}
    assert set(UNINTERPRETED) - untested == set(LEGAL)


@pytest.mark.parametrize(("attribute", "value"), LEGAL_CASES, ids=identify)
def test_kept(attribute: str, value: str):
    text = text_of(attribute, value)
    module = read_hlo(text)
    if attribute in INSTRUCTIONS or attribute in MODULE_ATTRIBUTES:
        return
    verify(module)
    kept = operations(module)[-1].attributes.get(f"xla.{attribute.replace('-', '_')}")
    assert attribute == "execution_thread" or isinstance(
        kept, DictionaryAttr | HloShardingAttr | StringAttr
    )
    if isinstance(kept, StringAttr | HloShardingAttr):
        assert str(kept.data) == value


@pytest.mark.parametrize(
    ("attribute", "value", "normal"),
    [
        ("result_accuracy", "{mode=Highest}", "{mode=highest}"),
        ("result_accuracy", "{mode=DEFAULT}", DEFAULT),
        ("result_accuracy", "{tolerance={}}", "{tolerance={atol=0,rtol=0,ulps=0}}"),
        (
            "result_accuracy",
            "{tolerance={ulps=2.5, atol=inf}}",
            "{tolerance={atol=inf,rtol=0,ulps=2}}",
        ),
        (
            "result_accuracy",
            "{tolerance={rtol=1.23456789e-05}}",
            "{tolerance={atol=0,rtol=1.23456789e-05,ulps=0}}",
        ),
        ("operand_precision", "{HIGH, Default}", "{high,default}"),
        ("operand_precision", "{default,DEFAULT}", DEFAULT),
        ("operand_precision", "{}", DEFAULT),
        ("operand_precision", "{default,default,highest}", "{default,default,highest}"),
        ("algorithm", "DOT_F32_F32_F32", "dot_f32_f32_f32"),
        ("algorithm", "unset", DEFAULT),
        ("schedule", "schedule_latest", "SCHEDULE_LATEST"),
        ("schedule", "SCHEDULE_NONE", DEFAULT),
    ],
)
def test_normal_forms(attribute: str, value: str, normal: str):
    assert kept_value(attribute, value) == StringAttr(normal)


@pytest.mark.jax
@pytest.mark.parametrize(("attribute", "value"), LEGAL_CASES, ids=identify)
def test_xla_reads_it_too(attribute: str, value: str):
    if any(newer in f"{attribute}={value}" for newer in NEWER):
        pytest.skip("jaxlib 0.10.2 does not know it")
    hlo_module(text_of(attribute, value))


@pytest.mark.parametrize(("attribute", "marked", "message"), ILLEGAL_CASES, ids=identify)
def test_errors(attribute: str, marked: str, message: str | None):
    before, _, after = text_of(attribute, marked).partition("@@")
    with pytest.raises(LocatedError) as caught:
        read_hlo(before + after)
    error = caught.value
    if message is None:
        return
    assert isinstance(error, HloSyntaxError)
    assert error.message.startswith((f"{attribute}: {message}", message))
    assert error.line == before.count("\n") + 1
    assert error.column == len(before) - before.rfind("\n")


@pytest.mark.jax
@pytest.mark.parametrize(
    ("attribute", "marked"),
    # jaxlib 0.10.2 ends the process at a list of calls.
    [(name, m) for name, m, _ in ILLEGAL_CASES if len(m) < 1000 and '"}, [' not in m],
    ids=identify,
)
def test_xla_refuses_it_too(attribute: str, marked: str):
    with pytest.raises(Exception, match=re.escape("Syntax error")):
        hlo_module(text_of(attribute, marked.replace("@@", "")))


TABLES = """\
FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=0 end_column=46}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "FunctionNames\n",
            "@@Functions\n",
            "expected the table 'FunctionNames', found 'Functions'",
        ),
        ("StackFrames\n1 ", "@@", "expected the table 'StackFrames', found '{'"),
        ("line=7 ", "@@", None),
        ("line=7", "@@lin=7", "unknown field 'lin' (there are file_name_id, "),
        ("line=7", "line=@@x", "expected an integer, found 'x end_line"),
        (
            "1 {file_location_id=1 parent_frame_id=1}",
            "1 @@{file_location_id=1}",
            "field 'parent_fra",
        ),
        ('1 "a.py"', '1 "@@\\q"', "unknown escape"),
    ],
)
def test_stack_frame_tables(old: str, new: str, message: str | None):
    text = f"HloModule m\n\n{TABLES}ENTRY e {{\n  ROOT x = f32[] parameter(0)\n}}\n"
    read_hlo(text)
    before, _, after = text.replace(old, new, 1).partition("@@")
    with pytest.raises(LocatedError) as caught:
        read_hlo(before + after)
    if message is not None:
        assert caught.value.message.startswith(message)
        assert caught.value.line == before.count("\n") + 1
        assert caught.value.column == len(before) - before.rfind("\n")
