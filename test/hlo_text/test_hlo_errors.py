"""Bad HLO text: one located error, at the right place, with the operation and the rule.

The place is marked by `@@` in each text.
"""

from contextlib import suppress

import pytest

from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import HloImportError, HloSyntaxError, read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify

MARK = "@@"


def error_of(marked: str) -> LocatedError:
    """The error for a text; asserts that it is at the mark."""
    before, _, after = marked.partition(MARK)
    text = before + after
    with pytest.raises(LocatedError) as caught:
        read_hlo(text, "bad.hlo")
    error = caught.value
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    assert (error.file, error.line, error.column) == ("bad.hlo", line, column), str(error)
    lines = str(error).split("\n")
    assert lines[0] == f"bad.hlo:{line}:{column}: error: {error.message}"
    return error


def in_entry(*lines: str, before: str = "") -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"HloModule m\n{before}ENTRY e {{\n  x = f32[2] parameter(0)\n{body}}}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@@", "module has no computations"),
        ("@@{", "expected 'HloModule', a computation or an instruction, found '{'"),
        ("func.func @@@main()", "unexpected character '@'"),
        ("func.func@@", "expected '{', found the end of the text"),
        ("HloModule@@", "expected the name of the module, found the end of the text"),
        ("HloModule m@@", "module has no computations"),
        ("HloModule @@ENTRY e {", "expected the name of the module, found 'ENTRY'"),
        ("HloModule m,@@", "expected an attribute, 'name=' without a blank, found the end"),
        ("HloModule m\nENTRY@@", "expected a computation, found the end of the text"),
        ("HloModule m\nENTRY e@@", "expected '{', found the end of the text"),
        ("HloModule m\nENTRY e (a@@", "expected ':', found the end of the text"),
        ("HloModule m\nENTRY e (a: f32[])@@", "expected '->', found the end of the text"),
        ("HloModule m\nENTRY e (a: f32[]) ->@@", "expected a shape, found the end of the text"),
        ("HloModule m\nENTRY e {@@", "expected an instruction, found the end of the text"),
        ("HloModule m\nENTRY e { @@}", "computation 'e' has no instructions"),
        ("HloModule m\nENTRY e { x@@", "expected '=', found the end of the text"),
        ("HloModule m\nENTRY e { x =@@", "expected a shape or an opcode, found the end"),
        ("HloModule m\nENTRY e { x = f32[2]@@", "expected an opcode, found the end of the text"),
        ("HloModule m\nENTRY e { x = f32@@[2", "the shape 'f32[' is never closed"),
        ("HloModule m\nENTRY e { x = f32[2] add@@", "expected '(' after the opcode 'add', found"),
        ("HloModule m\nENTRY e { x = f32[2] add(@@", "expected an operand, found the end"),
        ("HloModule m\nENTRY e { x = f32[2] add(a@@", "expected ')', found the end of the text"),
        ("HloModule m\nENTRY e { x = f32[2] add(a,@@", "expected an operand, found the end"),
        ("HloModule m\nENTRY e { x = f32[2] constant@@", "expected '(' after the opcode"),
        ("HloModule m\nENTRY e { x = f32[2] constant(@@{1, 2", "'{' is never closed"),
        ("HloModule m\nENTRY e { x = (f32[2], f32@@[2", "'[' is never closed"),
        ("HloModule m\nENTRY e { x = f32[] parameter(0)@@", "expected an instruction, found the"),
        ("HloModule m\nENTRY e { x = f32[] parameter(0), a=@@", "attribute 'a' has no value"),
        ("HloModule m\nENTRY e { x = f32[] parameter(0), a=@@{", "'{' is never closed"),
        ("HloModule m\nFileNames\n1 @@", "expected a line of 'FileNames', found the end"),
        ("HloModule m\nFileNames\n1 @@{}", "expected a line of 'FileNames', found '{'"),
        ('HloModule m\nFileNames\n@@2 "a"', "expected '1', the number of the next line"),
        (
            'HloModule m\nFileNames\n1 "a"\n@@FileNames\n',
            "expected the table 'FunctionNames', found 'FileNames'",
        ),
    ],
)
def test_truncated_text(text: str, message: str):
    error = error_of(text)
    assert isinstance(error, HloSyntaxError)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("@@y=f32[2] add(x, x)", "expected an instruction, found 'y='"),
        ("y = f32[2] add(x, @@,x)", "expected an operand, found ','"),
        ("y = f32[2] add(x @@x)", "expected ')', found 'x'"),
        ("y = f32[2] add(x, x) @@metadata={}", "expected an instruction, found 'metadata='"),
        ("y = f32[2] add(x, x), @@metadata ={}", "expected an attribute, 'name=' without a blank"),
        ("y = f32[2] add(x, x), a={}, @@a={}", "attribute 'a' is given twice"),
        ("y = f32[2] add(x, x), a={(@@]", "expected ')', found ']'"),
        ("y = f32[2] add(x, x), a=@@}", "attribute 'a' has no value"),
        ("y = f32[2] add(x, x), a={(@@}", "expected ')', found '}'"),
        ("y = f32[2] @@é(x, x)", "unexpected character 'é'"),
        ("y = f32[2] @@/* add(x, x)", "comment is never closed"),
        ("@@x = f32[2] add(x, x)", "'x' is defined twice in 'e'"),
        ("ROOT y = f32[2] copy(x)\n  @@ROOT z = f32[2] copy(x)", "second ROOT instruction"),
        ("y = f32[2] @@parameter(0)", "second parameter 0"),
        ("y = f32[2] parameter(@@a)", "expected the number of the parameter, found 'a'"),
        ("y = f32[2] parameter(@@)", "expected the number of the parameter, found ')'"),
        ("y = f32[2] parameter(1@@, 2)", "expected ')', found ','"),
        ("y = @@f33[2] copy(x)", "unknown element type 'f33'; did you mean"),
        ("y = f32[2]@@{1} copy(x)", "(C1) minor_to_major {1} is no permutation"),
        ("y = (f32[2], @@f33[2]) tuple(x, x)", "unknown element type 'f33'"),
        ("y = (f32[2] @@f32[2]) tuple(x, x)", "expected ',', found 'f32[2]'"),
        ("y = f32[2] copy(@@g32[2] x)", "unknown element type 'g32'"),
        (f"y = f32[@@{'9' * 200}] copy(x)", "dimension size 99999999999999999999... (200 digits)"),
        ("y = @@f32[4294967296,4294967296] copy(x)", "array has more than 2^63 - 1 elements"),
        (
            "y = f32[1] slice(x), slice={[0:@@99999999999999999999]}",
            "slice: '99999999999999999999' does not",
        ),
        (
            "y = f32[1] slice(x), slice={@@[0:1:1:1]}",
            "slice: expected a range [start:limit:stride]",
        ),
        ("y = f32[1] slice(x), slice=@@[0:1]", "slice: expected '{', found '[0:1]'"),
        (
            "y = f32[2] transpose(x), dimensions={@@a}",
            "dimensions: expected an integer, found 'a}'",
        ),
        ("y = f32[2] transpose(x), dimensions={0@@.5}", "dimensions: expected '}', found '.5}'"),
        ("y = pred[2] compare(x, x), direction=@@LX", "direction: expected one of EQ, NE, GE, GT"),
        (
            "y = f32[4] pad(x, x), padding=1_1x@@1",
            "padding: expected padding low_high or low_high_",
        ),
        ("y = f32[2] iota(), iota_dimension=@@x", "iota_dimension: expected an integer, found 'x'"),
        ("y = f32[4] concatenate(x, x), dimensions=@@{}", "dimensions: expected one dimension"),
        ("y = f32[2] call(x), to_apply={f @@g}", "expected '=', found 'g'"),
        (
            'y = f32[2] call(x), to_apply=@@"f"',
            "expected a computation after to_apply=, found '\"f",
        ),
        ("y = f32[2] call(x), to_apply=@@{}", "to_apply takes one computation, not a list"),
        ("y = f32[2] call(x), to_apply=@@{f}", "to_apply takes one computation, not a list"),
        ("y = f32[2] call(x), to_apply=@@{f, g}", "to_apply takes one computation, not a list"),
        ("y = f32[2] call(x), to_apply=@@{{}}", "to_apply takes one computation, not a list"),
        ("y = f32[2] conditional(x), branch_computations=@@f", "expected '{' after branch_comp"),
        ("y = f32[2] conditional(x), branch_computations={f @@g}", "expected ',', found 'g'"),
        ("y = f32[2] copy(x), control-predecessors={x @@x}", "control-predecessors: expected '}'"),
    ],
)
def test_syntax(line: str, message: str):
    error = error_of(in_entry(line))
    assert isinstance(error, HloSyntaxError)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("y = f32[2] @@addd(x, x)", "unknown opcode 'addd'; did you mean 'add'?"),
        ("y = f32[2] @@dynamic_slice(x, x)", "unknown opcode 'dynamic_slice'; did you mean "),
        ("y = f32[2] @@frobnicate(x)", "unknown opcode 'frobnicate'"),
        (
            "y = f32[2] @@tuple-select(x, x, x)",
            "unknown opcode 'tuple-select'; XLA has a select of",
        ),
        ("t = token[] @@create-token()", "unknown opcode 'create-token'; XLA has after-all with"),
        ("y = f32[2] transpose(x), @@dimension={0}", "transpose has no attribute 'dimension' (it "),
        (
            "y = f32[2] transpose(x), dimensions={0}, @@metdata={}",
            "transpose has no attribute 'metd",
        ),
        ("y = f32[] dot(x, x), @@sparsity=L.0@2:4", "dot has no attribute 'sparsity' (it has "),
        (
            "weights = f32[2] copy(x)\n  y = f32[2] copy(@@wieghts)",
            "'wieghts' is not defined befor",
        ),
        ("y = f32[2] add(x, @@z)", "'z' is not defined before its use"),
        ("y = f32[2] add(x, @@y)", "'y' is not defined before its use"),
        ("y = f32[2] copy(@@z)\n  z = f32[2] copy(x)", "'z' is not defined before its use"),
        (
            "y = f32[2] add(x, @@f32[3] x)",
            "operand 'x' is written as f32[3], but defined as f32[2]",
        ),
        ("y = f32[2] @@add(x)", "add takes 2 operands, found 1"),
        ("y = f32[2] @@copy(x, x)", "copy takes 1 operand, found 2"),
        ("y = f32[2] @@copy()", "copy takes 1 operand, found 0"),
        ("y = token[] @@outfeed(x, x, x)", "outfeed takes 2 operands, found 3"),
        ("y = token[] @@send(x)", "send takes 2 operands, found 1"),
        ("y = f32[2] @@dynamic-slice()", "dynamic-slice takes at least 1 operand, found 0"),
        ("y = @@f32[3] add(x, x)", "xla.add: (Result) declared (f32[3]), inferred (f32[2])"),
        ("y = @@s32[2] add(x, x)", "xla.add: (Result) declared (s32[2]), inferred (f32[2])"),
        ("c = f32[] constant(1)\n  y = f32[2] @@add(x, c)", "xla.add: (C2)"),
        ("y = f32[1] @@slice(x), slice={[0:3]}", "xla.slice: (C2) [0:3] of dimension 0"),
        ("y = f32[2] @@transpose(x), dimensions={1}", "xla.transpose: (C"),
        ("y = f32[2] @@transpose(x)", "transpose needs the attribute 'dimensions'"),
        ("y = f32[2] @@not(x)", "xla.not: (C1) operand has element type f32"),
        ("y = f32[2] add(x, x), @@foo=3", "add has no attribute 'foo' (it has none of its own)"),
        ("y = f32[2] transpose(x), @@dims={0}", "transpose has no attribute 'dims' (it has dimens"),
        ("y = f32[2] copy(x), @@to_apply=f", "copy has no attribute 'to_apply'"),
        ("y = f32[2] copy(x), control-predecessors={x, @@q}", "'q' is not defined before its use"),
        ("c = f32[2] constant({1, @@x})", "'x' is no value of f32"),
        ("c = f32[2] constant({1@@})", "dimension 0 of f32[2] has 2 elements, the literal has 1"),
        ("c = f32[2] constant({1, @@...})", "'...' stands for all elements of an array"),
        ("c = f32[] constant(@@...)", "'...' stands for all elements of an array"),
        ("y = f32[2] negate(@@p#0)", "'p' is not defined before its use"),
        (
            "y = f32[2] parameter(1), @@parameter_replication={true,false}",
            "parameter_replication has 2 flags, the parameter 1 arrays",
        ),
        (
            "y = (f32[2], f32[]) parameter(1), @@parameter_replication={false}",
            "parameter_replication has 1 flags, the parameter 2 arrays",
        ),
        ("y = f32[2] negate(x), @@parameter_replication={true}", "negate is no parameter"),
        ("y = f32[2] parameter(1), control-predecessors={@@y}", "'y' is not defined before"),
        ("c = s8[] constant(@@300)", "'300' is out of range for s8"),
        ("c = @@constant(1)", "a constant needs its shape written"),
        ("y = @@parameter(1)", "a parameter needs its shape written"),
        (
            "y = f32[2] parameter(1), @@dimensions={0}",
            "parameter has no attribute 'dimensions' (it has b",
        ),
        ("y = @@iota(), iota_dimension=0", "the shape of iota does not follow from its operands"),
        ("y = f32[2] @@iota(), iota_dimension=1", "xla.iota: (C2) iota_dimension = 1 of rank 1"),
        ("y = f32[2] @@get-tuple-element(x), index=0", "xla.get_tuple_element: (C1) operand is"),
        ("y = f32[2] call(x), to_apply=@@f", "computation 'f' is not defined"),
        ("y = f32[2] @@call(x)", "call needs the attribute 'to_apply'"),
        ("y = f32[2] @@while(x), body=f", "while needs the attribute 'condition'"),
    ],
)
def test_meaning(line: str, message: str):
    error = error_of(in_entry(line))
    assert isinstance(error, HloImportError)
    assert error.message.startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("y = f32[2] negate(x#@@a)", "expected the number of an element, found 'a'"),
        ("y@@#1 = f32[2] negate(x)", "expected '=', found '#'"),
        (
            'y = f32[2] custom-call(), custom_call_target="a", api_version=@@API_VERSION_UNSPECIFIED',
            "api_version: expected one of API_VERSION_ORIGINAL",
        ),
        ("y = f32[2]{0:D(@@X)} parameter(1)", "expected a level type D, C, S or H"),
        (
            "y = f32[2] exponential(x), result_accuracy={tolerance={@@atol=-1}}",
            "result_accuracy: atol is -1, tolerances are not negative",
        ),
    ],
)
def test_spelling(line: str, message: str):
    error = error_of(in_entry(line))
    assert isinstance(error, HloSyntaxError)
    assert error.message.startswith(message), error.message


F = "f {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] negate(a)\n}\n"
SCALAR = "s {\n  i = f32[] parameter(0)\n  j = f32[] parameter(1)\n  k = f32[] add(i, j)\n}\n"
X = "ENTRY e {\n  x = f32[2] parameter(0)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"HloModule m\n{F}@@{F}", "computation 'f' is defined twice"),
        ("HloModule m, to_apply=@@{", "only instructions have an attribute 'to_apply'"),
        (f"HloModule m\n{F}y = f32[2] add(@@a, a)", "'a' is not defined before its use; with its "),
        (f"{X}}}\n@@ROOT y = f32[2] copy(f32[2] a)", "second ENTRY computation"),
        (f"HloModule m\nENTRY {F}ENTRY @@{SCALAR}", "second ENTRY computation"),
        (
            "HloModule m\n@@e {\n  x = f32[] parameter(1)\n}\n",
            "parameter 0 is missing in computation 'e', which has parameter 1",
        ),
        (
            "HloModule m\nf {\n  a = f32[] parameter(0)\n  b = f32[] call(a), to_apply=@@f\n}\n",
            "computation 'f' calls itself",
        ),
        (
            "HloModule m\nf {\n  a = f32[] parameter(0)\n  b = f32[] call(a), to_apply=@@g\n}\n"
            "ENTRY g {\n  c = f32[] parameter(0)\n  d = f32[] call(c), to_apply=f\n}\n",
            "computation 'g' is called before its definition",
        ),
        (
            f"HloModule m\n{F}{X}  y = f32[2] @@call(x, x), to_apply=f\n}}\n",
            "xla.call: (C2) operands (f32[2], f32[2]) for parameters (f32[2]) of 'f'",
        ),
        (
            f"HloModule m\n{F}{X}  y = @@f32[3] call(x), to_apply=f\n}}\n",
            "xla.call: (C2) declared f32[3], but 'f' returns f32[2]",
        ),
        (
            f"HloModule m\n{F}{X}  y = f32[2] @@fusion(), kind=kLoop, calls=f\n}}\n",
            "xla.fusion: (C1) 0 operands for 1 parameters",
        ),
        (
            f"HloModule m\n{F}{X}  y = f32[2] fusion(x), kind=@@kloop, calls=f\n}}\n",
            "kind: expected one of kLoop, kInput, kOutput, kCustom; found 'kloop'",
        ),
        (
            f"HloModule m\n{SCALAR}{X}  y = f32[] @@reduce(x), dimensions={{0}}, to_apply=s\n}}\n",
            "reduce takes groups of 2 operands, found 1",
        ),
        (
            f"HloModule m\n{F}{X}  c = f32[] constant(0)\n"
            "  y = f32[] @@reduce(x, c), dimensions={0}, to_apply=f\n}\n",
            "xla.reduce: (RC1)",
        ),
        (
            f"HloModule m\n{F}{X}  p = pred[] constant(1)\n"
            "  y = f32[2] @@conditional(p, x, x), branch_computations={f, f}\n}\n",
            "conditional on pred[] needs the attribute 'true_computation'",
        ),
        (
            f"HloModule m\n{F}{X}  p = s32[] constant(1)\n"
            "  y = f32[2] @@conditional(p, x, x), true_computation=f, false_computation=f\n}\n",
            "conditional on s32[] needs the attribute 'branch_computations'",
        ),
        (
            f"HloModule m\n{F}{X}  p = s32[] constant(1)\n"
            "  y = f32[2] @@conditional(p, x), branch_computations={f, f}\n}\n",
            "xla.conditional: (C2)",
        ),
        (
            f"HloModule m\n{F[:-2]}}}, @@foo=1\n{X}}}\n",
            "a computation has no attribute 'foo' (it has execution_thread, frontend_attributes)",
        ),
        (
            "HloModule m\nENTRY e @@(x: f32[3]) -> f32[2] {\n  x = f32[2] parameter(0)\n}\n",
            "'e' is declared with parameters (f32[3]), but has (f32[2])",
        ),
        (
            "HloModule m\nENTRY e (x: f32[2]) -> @@f32[3] {\n  x = f32[2] parameter(0)\n}\n",
            "'e' is declared to return f32[3], but its root is f32[2]",
        ),
        (
            f"HloModule m, @@foo=1\n{X}}}\n",
            "HloModule has no attribute 'foo' (it has alias_passthrough_params, ",
        ),
        (
            f"HloModule m, is_scheduled=@@maybe\n{X}}}\n",
            "is_scheduled: expected one of true, false; found 'maybe'",
        ),
        (
            f"HloModule m, replica_count=@@{'1' * 30}\n{X}}}\n",
            f"replica_count: '{'1' * 30}' does not fit 64 bits",
        ),
        (
            f"HloModule m, entry_computation_layout=@@{{(f32[3])->f32[2]}}\n{X}}}\n",
            "entry_computation_layout is (f32[3]) -> f32[2], but 'e' is (f32[2]) -> (f32[2])",
        ),
        (
            f"HloModule m, entry_computation_layout={{(f32[2])->@@}}\n{X}}}\n",
            "expected a shape, found '}'",
        ),
    ],
)
def test_computations(text: str, message: str):
    assert error_of(text).message.startswith(message)


def test_deep_nesting():
    deep = 100_000
    for line, message in (
        (f"c = f32[] constant(@@{'{' * deep}{'}' * deep})", "braces are nested deeper than the 0"),
        (f"c = f32[] constant({'{' * deep}@@)", "expected '}', found ')'"),
        (f"y = {'(' * 32}@@{'(' * deep}{')' * deep}{')' * 32} x", "tuples are nested deeper than"),
        (f"y = f32[2] copy(x), sharding={'{' * deep}@@]", "expected '}', found ']'"),
    ):
        assert error_of(in_entry(line)).message.startswith(message)
    for legal in ("backend_config={deep}", "frontend_attributes={{a={deep}}}"):
        line = legal.format(deep="{" * deep + "}" * deep)
        module = read_hlo(in_entry(f"y = f32[2] copy(x), {line}"))
        verify(module)
        assert "{" * deep in print_mlir(module)


def chain(length: int, uses: int) -> str:
    """Computations each of which uses the one before `uses` times."""
    text = "HloModule m\nf0 {\n  x = f32[] parameter(0)\n}\n"
    for i in range(1, length):
        entry = "ENTRY " if i == length - 1 else ""
        lines = [f"a{j + 1} = f32[] fusion(a{j}), kind=kLoop, calls=f{i - 1}" for j in range(uses)]
        body = "\n  ".join(["a0 = f32[] parameter(0)", *lines])
        text += f"{entry}f{i} {{\n  {body}\n}}\n"
    return text


def test_depth_of_computations_is_bounded():
    module = read_hlo(chain(32, 1))
    module.verify()
    assert print_mlir(module).count("xla.fusion") == 31
    with pytest.raises(HloImportError, match="computations are nested deeper than 32 in 'f32'"):
        read_hlo(chain(33, 1))


def test_copies_of_computations_are_bounded():
    with pytest.raises(HloImportError, match="module has more than 262144 instructions"):
        read_hlo(chain(30, 2))


def test_long_chain_of_calls():
    length = 1200
    text = "HloModule m\nf0 {\n  x = f32[] parameter(0)\n}\n"
    for i in range(1, length):
        entry = "ENTRY " if i == length - 1 else ""
        text += f"{entry}f{i} {{\n  a = f32[] parameter(0)\n  b = f32[] call(a), to_apply=f{i - 1}\n}}\n"
    assert len(list(read_hlo(text).ops)) == length


# Each would take minutes or more if its time were quadratic.
@pytest.mark.parametrize(
    "line",
    [
        " ".join(f"a{i} = f32[2] copy(x)" for i in range(1000)),
        "y = f32[2] " + "a" * 250_000 + "(x)",
        "y = f32[2] copy(" + "a" * 250_000 + ")",
        "y = " + "f" * 250_000 + "[2] copy(x)",
        "y = f32[2] copy(x), metadata={" + "a" * 250_000 + "}",
        "y = f32[2] copy(x), metadata={" + " ".join(f"a{i}=1" for i in range(25_000)) + "}",
        "y = f32[2] copy(x), " + "a" * 250_000 + "=1",
        "y = f32[2] slice(x), slice={" + "[0:1]," * 50_000 + "}",
        "y = f32[2] constant({" + "1," * 75_000 + "})",
        "y = f32[2] constant(" + "nan(0x1" * 25_000 + ")" * 25_000 + ")",
        "y = (" + "f32[2]," * 50_000 + "f32[2]) copy(x)",
    ],
    ids=lambda line: line[:40],
)
def test_long_lines_in_linear_time(line: str):
    with suppress(LocatedError):
        read_hlo(in_entry(line))


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("y = f32[2] addd(x, x)", "; did you mean 'add'?"),
        ("y = f32[2] dynamic_slice(x, x)", "; did you mean 'dynamic-slice'?"),
        ("y = f33[2] copy(x)", "; did you mean 'f32'?"),
        ("y = f32[2] transpose(x), dimension={0}", "; did you mean 'dimensions'?"),
        ("y = f32[2] copy(x), metdata={}", "; did you mean 'metadata'?"),
        ("y = pred[2] compare(x, x), direction=lt", "; did you mean 'LT'?"),
        ("y = f32[2] ADD(x, x)", "; did you mean 'add'?"),
        ("y = f32[2] fusion(x), kind=kLop, calls=negate", "; did you mean 'kLoop'?"),
        ("y = f32[2] call(x), to_apply=negat", "; did you mean 'negate'?"),
        ("weights = copy(x)\n  y = copy(wieghts)", "; did you mean 'weights'?"),
        ("weights = copy(x)\n  y = copy(x), control-predecessors={weihgts}", "mean 'weights'?"),
        ("y = f32[] dot(x, x), sparsity=L.0@2:4", "; XLA has removed dots of sparse operands"),
        (
            "y = f32[2] copy(x)\n}, execution_tread=1\nf {\n x = f32[] parameter(0)",
            "'execution_thr",
        ),
    ],
)
def test_suggestions(line: str, hint: str):
    """A word that is nearly right is answered with the right one."""
    computation = "negate {\n  a = f32[2] parameter(0)\n  b = negate(a)\n}\n"
    with pytest.raises(LocatedError) as caught:
        read_hlo(in_entry(line, before=computation))
    assert hint in caught.value.message


def test_suggestion_for_the_head():
    with pytest.raises(LocatedError, match="did you mean 'replica_count'"):
        read_hlo("HloModule m, replica_cuont=2\nENTRY e {\n  x = f32[] parameter(0)\n}\n")


def test_suggestion_among_many_names_is_bounded():
    lines = (f"name.{i} = copy(x)" for i in range(20_000))
    with pytest.raises(LocatedError, match="is not defined before its use"):
        read_hlo(in_entry(*lines, "y = copy(name.x)"))
