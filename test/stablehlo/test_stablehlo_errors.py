"""Wrong StableHLO: one located error, which names the operation and the rule.

In the texts of these tests `§` stands where the error has to point; it is taken out before.
"""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.parser import MAX_REGION_DEPTH

PROGRAMS = Path(__file__).parents[1] / "programs"


def error_of(marked: str) -> LocatedError:
    """The error of a text, after a check that it points to the mark."""
    assert marked.count("§") == 1
    offset = marked.index("§")
    text = marked.replace("§", "")
    with pytest.raises(LocatedError) as caught:
        read_stablehlo(text, "f.mlir")
    error = caught.value
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    assert (error.file, error.line, error.column) == ("f.mlir", line, column), str(error)
    assert str(error).startswith(f"f.mlir:{line}:{column}: error: ")
    return error


def body(operations: str, arguments: str = "%a: tensor<2x3xf32>, %i: tensor<i32>") -> str:
    return f"func.func @main({arguments}) {{\n  {operations}\n  return\n}}\n"


WRONG_OPERATIONS = {
    # What is not known
    "%0 = §stablehlo.foo %a : tensor<2x3xf32>": "stablehlo.foo: this operation is not supported",
    '%0 = "§stablehlo.foo"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>': "stablehlo.foo",
    "%0 = §add %a, %a : tensor<2x3xf32>": "add: this operation is not supported",
    "%0 = §xla.negate %a : tensor<2x3xf32>": "xla.negate: this operation is not supported here",
    "%0 = stablehlo.transpose %a, §dimensions = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>": (
        "Expected 'dims'"
    ),
    '%0 = "§stablehlo.negate"(%a) <{speed = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>': (
        "(Properties) there is no speed (there are: none)"
    ),
    "%0 = §stablehlo.reverse %a, dims = [1] {dimensions = array<i64: 0>} : tensor<2x3xf32>": (
        "attribute 'dimensions' is given twice"
    ),
    "%0 = stablehlo.compare §LESS, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>": (
        "LESS is none of EQ, NE, GE, GT, LE, LT"
    ),
    # Names
    "%0 = stablehlo.negate §%b : tensor<2x3xf32>": "%b is not defined before this use",
    "%0 = stablehlo.negate §%0 : tensor<2x3xf32>": "%0 is not defined before this use",
    "%0 = stablehlo.negate %a : tensor<2x3xf32>\n§%0 = stablehlo.negate %a : tensor<2x3xf32>": (
        "SSA value %0 is already defined"
    ),
    "%0 = stablehlo.negate §%a#1 : tensor<2x3xf32>": "index out of bounds",
    # Types and arity
    "%0 = stablehlo.negate §%a : tensor<3x2xf32>": "operand is used with type tensor<3x2xf32>",
    "%0 = stablehlo.negate §%a, %a : tensor<2x3xf32>": "Expected 1 operand, but got 2",
    "§%0:2 = stablehlo.negate %a : tensor<2x3xf32>": "1 results, but was given 2",
    '%0 = "§stablehlo.add"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>': (
        "(Operands) found 1, taken are (lhs, rhs)"
    ),
    '"§stablehlo.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()': (
        "(Results) found 0, taken are (result)"
    ),
    "%0 = stablehlo.select %i, %a, %a : §tensor<i32>": "expected a function type here",
    "%0 = §stablehlo.add %a, %i : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>": (
        "xla.add: (C1) lhs and rhs have element types f32 and s32"
    ),
    "%0 = §stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<7xf32>": "xla.reshape: (C2) 6 elements",
    "%0 = §stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>": (
        "xla.transpose: (C1) [0, 0] is no permutation"
    ),
    "%0 = §stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>": (
        "xla.transpose: (Result) declared"
    ),
    "%0 = §stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>": (
        "stablehlo.broadcast_in_dim: (C1) dimensions has 1 entries, not 2"
    ),
    "%0 = §stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<i32>) -> tensor<2xi32>": (
        "stablehlo.broadcast_in_dim: (C1) dimensions has 1 entries, not 0"
    ),
    "%0 = §stablehlo.iota dim = 2 : tensor<2x3xf32>": "xla.iota: (C2) iota_dimension = 2 of rank 2",
    "%0 = §stablehlo.slice %a [0:2] : (tensor<2x3xf32>) -> tensor<2xf32>": "xla.slice: (C",
    "%0 = §stablehlo.concatenate %a, %a, dim = 2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>": (
        "xla.concatenate: (C"
    ),
    '%0 = "§stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<0xf32>': (
        "xla.concatenate: (C"
    ),
    '%0 = "§stablehlo.dynamic_slice"() <{slice_sizes = array<i64>}> : () -> tensor<f32>': (
        "(Operands) found 0, taken are (operand, start_indices...)"
    ),
    '%0 = "§stablehlo.transpose"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>': "permutation is missing",
    '%0 = "§stablehlo.transpose"(%a) <{permutation = "x"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>': (
        'permutation is "x", not a list of i64'
    ),
    "%0 = §stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>": (
        "xla.dot: (C2) contracting sizes are [3] and [2]"
    ),
    "%0 = stablehlo.pad %a, %i, low = [0, §99999999999999999999], high = [0], interior = [0] : tensor<f32>": (
        "does not fit into 64 bits"
    ),
    # Unsupported types
    "%0 = §stablehlo.iota dim = 0 : tensor<4xindex>": "index is not an element type of XLA",
    "%0 = §stablehlo.iota dim = 0 : tensor<4xi7>": "i7 is not an element type of XLA",
    "%0 = §stablehlo.iota dim = 0 : tensor<?xf32>": "its sizes have to be known",
    "%0 = §stablehlo.uniform_quantize %a : (tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f16, 2.0>>": (
        "stablehlo.uniform_quantize: (C2) quantizes f32 as f16"
    ),
    "%0 = §stablehlo.iota dim = 0 : tensor<4x!quant.any<i8:f32>>": (
        "!quant.any<i8:f32> is not an element type of XLA"
    ),
    "%0 = §stablehlo.iota dim = 0 : vector<4xf32>": "it is no array, tuple or token",
    f"%0 = §stablehlo.iota dim = 0 : tensor<{'9' * 200}xf32>": "more than 2^63 - 1 elements",
    "%0 = §stablehlo.iota dim = 0 : tensor<0x99999999999999999999xf32>": (
        "more than 2^63 - 1 elements"
    ),
    # Constants
    "%0 = stablehlo.constant dense<[1.0, §true]> : tensor<2xf32>": "'true' is no value of f32",
    "%0 = stablehlo.constant dense<[1.0, 2.0§]> : tensor<3xf32>": "has 3 elements, the literal has 2",
    "%0 = stablehlo.constant dense<§__elided__> : tensor<3xf32>": "left out when it was printed",
    "%0 = §stablehlo.constant dense_resource<__elided__> : tensor<3xf32>": (
        "there is no resource '__elided__' in this text"
    ),
    "§check.expect_eq_const %a, dense_resource<lost> : tensor<2x3xf32>": (
        "check.expect_eq_const: there is no resource 'lost' in this text"
    ),
    "%0 = stablehlo.constant §1.0 : f32": "expected dense<...> or dense_resource<...>",
    '%0 = "§stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>': (
        "value has type tensor<2xf32>, the result tensor<3xf32>"
    ),
    '%0 = "§stablehlo.constant"() : () -> tensor<3xf32>': "(Properties) value is missing",
    "%0 = §stablehlo.constant dense<1> : vector<4xi32>": "it is no array, tuple or token",
    # Regions
    "%0 = stablehlo.reduce(%a init: %i) applies §stablehlo.foo across dimensions = [0] : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>": (
        "stablehlo.foo cannot be applied by stablehlo.reduce"
    ),
    "%0 = §stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>": (
        "xla.reduce: (RC3) init value 0"
    ),
    "%0 = stablehlo.reduce(%a init: %i) applies §stablehlo.compare across dimensions = [0] : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>": (
        "stablehlo.compare cannot be applied by stablehlo.reduce"
    ),
    '%0 = "§stablehlo.case"(%i) : (tensor<i32>) -> tensor<i32>': "xla.conditional: (C2)",
    '%0 = "§stablehlo.if"(%i) ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>': (
        "(Regions) found 1, taken are (true_branch, false_branch)"
    ),
    '%0 = "§stablehlo.case"(%i) ({\n}) : (tensor<i32>) -> tensor<i32>': "has 0 blocks instead of one",
    '%0 = "§stablehlo.case"(%i) ({\n %1 = stablehlo.negate %i : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>': (
        "ends with stablehlo.negate, not with stablehlo.return"
    ),
    '%0 = "stablehlo.case"(%i) ({\n §stablehlo.return %i : tensor<i32>\n stablehlo.return %i : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>': (
        "stablehlo.return: stands before the end of its block"
    ),
    '%0 = "§stablehlo.case"(%i) ({\n ^bb0:\n stablehlo.return %i : tensor<i32>\n ^bb1:\n stablehlo.return %i : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>': (
        "has 2 blocks instead of one"
    ),
    "%0 = §stablehlo.while(%x = %i) : tensor<i32> cond {\n stablehlo.return %x : tensor<i32>\n} do {\n stablehlo.return %x : tensor<i32>\n}": (
        "xla.while: (C1) condition"
    ),
    "%0 = stablehlo.while(%x = %i) : §tensor<i32>, tensor<i32> cond {\n} do {\n}": (
        "expected 2 operand types but had 1"
    ),
    # Windows and dimension numbers
    "%0 = §stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[o, i]->[b, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>": (
        "stride has 1 entries, size has 0"
    ),
    "%0 = §stablehlo.convolution(%a, %a) dim_numbers = [b, 0]x[o, i]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>": (
        "dimension_numbers #stablehlo.conv<[b, 0]x[o, i]->[b, f]> for a kernel of rank 2"
    ),
    "%0 = stablehlo.convolution(%a, %a) dim_numbers = §[b, x]x[o, i]->[b, f], window = {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>": (
        "expected labels like bf01_oi01->bf01"
    ),
    "%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[o, i]->[b, f], window = {§size = [1]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>": (
        "'size' is unknown here"
    ),
    "%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[o, i]->[b, f], window = {pad = [§[1]]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>": (
        "expected a pair [low, high]"
    ),
    '%0 = "§stablehlo.convolution"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>': (
        "(Properties) dimension_numbers is missing"
    ),
    "%0 = §stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[i, o]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>": (
        "xla.convolution: (C6)"
    ),
    '%0 = "§stablehlo.reduce_window"(%a, %i) ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>': (
        "window_dimensions is missing"
    ),
    '%0 = "§stablehlo.reduce_window"(%a) <{window_dimensions = array<i64: 1, 1>}> ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>) -> tensor<2x3xf32>': (
        "(Operands) found 1, taken are (inputs..., init_values...) with lists of one length"
    ),
    '%0 = "§stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 1, 1>, padding = dense<0> : tensor<1x3xi64>}> ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>': (
        "padding is [[0, 0, 0]], not pairs"
    ),
    '%0 = "§stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 1, 1>, window_reversal = array<i1: false, false>}> ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>': (
        "(Properties) there is no window_reversal (there are: base_dilations, "
    ),
    '%0 = "§stablehlo.scatter"(%a, %i) ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>': (
        "(Operands) found 2, taken are (inputs..., scatter_indices, updates...)"
    ),
    '"§stablehlo.sort"() <{dimension = 0 : i64}> ({\n stablehlo.return %i : tensor<i32>\n}) : () -> ()': (
        "(C1) there are no inputs"
    ),
    '%0 = "§stablehlo.sort"(%a) <{dimension = -3 : i64}> ({\n stablehlo.return %i : tensor<i32>\n}) : (tensor<2x3xf32>) -> tensor<2x3xf32>': (
        "xla.sort: (C3) dimension -1"
    ),
    "%0 = stablehlo.reduce_precision %a, format = §f32 : tensor<2x3xf32>": "f32 is no format like e5m2",
    "%0 = §stablehlo.reduce_precision %a, format = e0m2 : tensor<2x3xf32>": "(C2) exponent_bits is 0",
    "%0 = stablehlo.fft %a, §length = [3] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>": (
        "Expected 'type'"
    ),
    "%0 = stablehlo.fft %a, type = §DCT, length = [3] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>": (
        "DCT is none of FFT, IFFT, RFFT, IRFFT"
    ),
    '%0 = "§stablehlo.batch_norm_inference"(%a, %a, %a, %a, %a) <{epsilon = 1 : i64, feature_index = 0 : i64}> : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>': (
        "(Properties) epsilon: 1 : i64 should be"
    ),
    # Syntax
    "%0 = stablehlo.negate %a\n  §%1 = stablehlo.negate %a : i32": "Expected ':'",
    "%0 = stablehlo.pad %a, %i, low = §1": "'[' expected",
    "%0 = stablehlo.gather §%a, %i : tensor<i32>": "stablehlo.gather does not have a custom format",
}


@pytest.mark.parametrize("operation", WRONG_OPERATIONS)
def test_wrong_operation(operation: str):
    assert WRONG_OPERATIONS[operation] in error_of(body(operation)).message


WRONG_MODULES = {
    "§)": "Could not parse entire input!",
    "%0 = §stablehlo.constant dense<1> : tensor<i32>": "a module contains functions only",
    "func.func @f() {\n  return\n}\n§func.func @f() {\n  return\n}\n": (
        "there is a function @f already"
    ),
    "func.func @f(%a: tensor<i32>) -> tensor<f32> {\n  §return %a : tensor<i32>\n}\n": (
        "func.return: returns (tensor<i32>), the function type of @f says (tensor<f32>)"
    ),
    "§func.func @f() {\n  %0 = stablehlo.constant dense<1> : tensor<i32>\n}\n": (
        "its region ends with stablehlo.constant, not with func.return"
    ),
    "func.func @f() {\n  §call @g() : () -> ()\n  return\n}\n": "there is no function @g",
    "func.func @f() {\n  §call @f() : () -> ()\n  return\n}\n": "in a cycle: @f -> @f",
    "§func.func @f(%a: tensor<4x!x.y>) {\n  return\n}\n": "!x.y is not an element type of XLA",
    "module {\n  sdy.mesh @m = §x\n}\n": "sdy.mesh: expected '<', found 'x'",
    "func.func @f() {\n  return\n§": "expected an operation, a block label or '}'",
    '"§func.func"() <{sym_name = "f", function_type = () -> (), speed = 1 : i32}> ({}) : () -> ()': (
        "func.func: unknown attribute 'speed'"
    ),
    "func.func @f() {\n  %0 = §stablehlo.constant dense_resource<r> : tensor<2xi8>\n  return\n}\n"
    '{-# dialect_resources: {builtin: {r: "0x0400000001"}} #-}': "resource 'r' has one element only",
    "func.func @f() {\n  %0 = §stablehlo.constant dense_resource<r> : tensor<2xi8>\n  return\n}\n"
    '{-# dialect_resources: {builtin: {r: "0x04000000010203"}} #-}': "Expected 2 elements",
    'func.func @f() attributes {a = §"x}\n': "closing string literal",
}


@pytest.mark.parametrize("text", WRONG_MODULES)
def test_wrong_module(text: str):
    assert WRONG_MODULES[text] in error_of(text).message


def nested_cases(depth: int, operand: str = "%i") -> str:
    start = f'%0 = "stablehlo.case"({operand}) ({{\n' * depth
    end = "stablehlo.return %0 : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>\n" * depth
    return f"{start}%0 = stablehlo.negate %i : tensor<i32>\n{end}"


def test_nesting_is_bounded():
    read_stablehlo(body(nested_cases(MAX_REGION_DEPTH - 1)))
    with pytest.raises(LocatedError, match=f"nested more than {MAX_REGION_DEPTH} deep"):
        read_stablehlo(body(nested_cases(MAX_REGION_DEPTH)))


@pytest.mark.parametrize(
    "operation",
    [
        f"stablehlo.constant {{a.b = {'[' * 100_000}}} dense<1> : tensor<i32>",
        f"stablehlo.constant dense<1> : {'tuple<' * 100_000}",
        f"stablehlo.constant dense<1> : tensor<i32> loc({'callsite(' * 100_000}",
    ],
    ids=["attribute", "type", "location"],
)
def test_deep_nesting_is_an_error(operation: str):
    with pytest.raises(LocatedError, match="nested too deeply"):
        read_stablehlo(body(f"%0 = {operation}"))


def test_cycle_of_locations_is_an_error():
    text = body("%0 = stablehlo.negate %i : tensor<i32> loc(#loc1)")
    text += "#loc1 = loc(callsite(#loc2 at #loc2))\n#loc2 = loc(fused[#loc1])\n"
    with pytest.raises(LocatedError, match="undefined alias #loc1"):
        read_stablehlo(text)


def test_string_with_wrong_escape():
    with pytest.raises(LocatedError, match=r"^f\.mlir:1:1: error: "):
        read_stablehlo('"\\q" () : () -> ()', "f.mlir")


PROGRAM = (PROGRAMS / "argmax.mlir").read_text(encoding="utf-8")
TOKEN = re.compile(r"%\w+|[\w.]+|\S")
TOKENS = TOKEN.findall(PROGRAM)


@given(st.integers(1, len(PROGRAM) - 3))
def test_truncated_text(length: int):
    with pytest.raises(LocatedError) as error:
        read_stablehlo(PROGRAM[:length])
    assert error.value.line >= 1
    assert error.value.column >= 1


def error_if_any(text: str) -> LocatedError | None:
    """What is wrong with a text; any other exception is a failure of the test."""
    try:
        read_stablehlo(text)
    except LocatedError as error:
        return error
    return None


@given(st.randoms(use_true_random=False))
def test_changed_tokens(choose: random.Random):
    """Whatever a text becomes when tokens are replaced: it is read, or there is a located error."""
    text = PROGRAM
    for _ in range(choose.randint(1, 3)):
        match = choose.choice(list(TOKEN.finditer(text)))
        replacement = choose.choice(["", "-1", "9" * 30, '"', "<", *choose.choices(TOKENS, k=5)])
        text = text[: match.start()] + replacement + text[match.end() :]
    error = error_if_any(text)
    assert error is None or (error.line >= 1 and error.column >= 1)
