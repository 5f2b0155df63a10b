"""Rules of attributes of StableHLO: each is broken alone, and jaxlib breaks it off as well."""

import pytest
from stablehlo_oracle import rejection
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import read_mlir
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import StableHloPrintError, print_stablehlo

DOT = "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
TYPES = "(tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"


def dot(attributes: str) -> str:
    return f'"stablehlo.dot_general"(%x, %x) <{{{DOT}, {attributes}}}> : {TYPES}'


def algorithm(
    types: tuple[str, str, str] = ("f32", "f32", "f32"),
    counts: tuple[int, int, int] = (1, 1, 1),
    imprecise: str = "false",
) -> str:
    lhs, rhs, sums = types
    return (
        f"algorithm = #stablehlo.dot_algorithm<lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, "
        f"accumulation_type = {sums}, lhs_component_count = {counts[0]}, "
        f"rhs_component_count = {counts[1]}, num_primitive_operations = {counts[2]}, "
        f"allow_imprecise_accumulation = {imprecise}>"
    )


def precisions(*words: str) -> str:
    listed = ", ".join(f"#stablehlo<precision {word}>" for word in words)
    return f"precision_config = [{listed}]"


UNARY = '"stablehlo.exponential"(%x) <{result_accuracy ='
SAME = "(tensor<4x4xf32>) -> tensor<4x4xf32>"


def accuracy(atol: float, rtol: float, ulps: int, mode: str) -> str:
    return (
        f"{UNARY} #stablehlo.result_accuracy<atol = {atol:e}, rtol = {rtol:e}, ulps = {ulps}, "
        f"mode = #stablehlo.result_accuracy_mode<{mode}>>}}> : {SAME}"
    )


SHAPES = {"i": "i64", "ii": "1x1xi64", "n": "1xindex", "nn": "2xindex"}


def rng(shape: str) -> str:
    return (
        f'"stablehlo.rng"(%a, %a, %{shape}) <{{rng_distribution = #stablehlo<rng_distribution UNIFORM>}}> : '
        f"(tensor<f32>, tensor<f32>, tensor<{SHAPES[shape]}>) -> tensor<4xf32>"
    )


def composite(name: str) -> str:
    return f'"stablehlo.composite"(%x) <{{name = "{name}", decomposition = @f, version = 1 : i32}}> : (tensor<4x4xf32>) -> tensor<4x4xf32>'


def infeed(layout: str) -> str:
    return f'"stablehlo.infeed"(%t) <{{layout = {layout}}}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)'


def recv(handle: str, results: str) -> str:
    return f'"stablehlo.recv"(%t) {{channel_handle = {handle}}} : (!stablehlo.token) -> {results}'


HANDLE = "#stablehlo.channel_handle<handle = 1, type = 1>"

LEGAL = [
    recv(HANDLE, "(tensor<4xf32>, !stablehlo.token)"),
    f'stablehlo.composite "a.b" %x ({{ stablehlo.return %x : tensor<4x4xf32> }}) {{decomposition = @f}} : {SAME}',
    infeed("[[0]]"),
    dot(precisions("HIGH", "HIGHEST")),
    dot(precisions()),
    dot(precisions("HIGH")),
    *(dot(algorithm(("bf16", "bf16", "f32"), (1, 1, count))) for count in (1, 3, 6, 9)),
    dot(f"{algorithm(('tf32', 'tf32', 'f32'), (1, 1, 3))}, {precisions('DEFAULT', 'DEFAULT')}"),
    *(dot(algorithm(("f8E4M3FN", "f8E5M2", "f32"), imprecise=word)) for word in ("true", "false")),
    accuracy(0, 0.5, 2, "TOLERANCE"),
    accuracy(0, 0, 0, "HIGHEST"),
    composite("a1.b.c$"),
    rng("n"),
]

ILLEGAL = {
    # Earlier spellings of transfers.
    recv(HANDLE, "tuple<tensor<4xf32>, !stablehlo.token>"): "(Result) declared",
    recv("{handle = 1 : i64, type = 1 : i64}", "(tensor<4xf32>, !stablehlo.token)"): (
        "channel_handle: "
    ),
    dot(precisions("HIGH", "HIGH", "HIGH")): "precision_config has 3 entries",
    dot(precisions("HIGH", "LOW")): "LOW is none of DEFAULT, HIGH, HIGHEST",
    dot(f"{algorithm()}, {precisions('HIGH', 'DEFAULT')}"): "precision_config is not DEFAULT",
    dot(algorithm(counts=(0, 1, 1))): "lhs_component_count of the algorithm is 0",
    dot(algorithm(counts=(1, -1, 1))): "rhs_component_count of the algorithm is -1",
    dot(algorithm(counts=(1, 1, 0))): "num_primitive_operations of the algorithm is 0",
    dot(algorithm(counts=(1, 1, 2))): "no hardware has the algorithm",
    dot(algorithm(counts=(2, 2, 1))): "no hardware has the algorithm",
    dot(algorithm(("f32", "f64", "f32"))): "no hardware has the algorithm",
    dot(algorithm(("i8", "i8", "i32"))): "no hardware has the algorithm",
    dot(algorithm(imprecise="true")): "no hardware has an imprecise algorithm",
    accuracy(-1, 0, 0, "TOLERANCE"): "atol is -1.0 in result_accuracy of mode TOLERANCE",
    accuracy(0, 0, -1, "TOLERANCE"): "ulps is -1 in result_accuracy of mode TOLERANCE",
    accuracy(0, 0.5, 0, "DEFAULT"): "rtol is 0.5 in result_accuracy of mode DEFAULT",
    accuracy(0, 0, 0, "EXACT"): "EXACT is none of DEFAULT, HIGHEST, TOLERANCE",
    accuracy(0, 0, 2, "HIGHEST"): "ulps is 2 in result_accuracy of mode HIGHEST",
    f"{UNARY} #stablehlo.result_accuracy<atol = 0.0>}}> : {SAME}": "mode is missing",
    f"{UNARY} #stablehlo.result_accuracy<slack = 1>}}> : {SAME}": "result_accuracy has no slack",
    '"stablehlo.tuple"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>': "not a tuple",
    f'"stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<[[0, -2]]> : tensor<1x2xi64>}}> : {SAME}': "have a negative id",
    '"stablehlo.case"(%b) ({ stablehlo.return %x : tensor<4x4xf32> }, { stablehlo.return %x : tensor<4x4xf32> }) : (tensor<i1>) -> tensor<4x4xf32>': "the index is pred[], expected s32[]",
    infeed("[0]"): "has entries that are no lists of numbers",
    infeed("[[0], [0]]"): "expected one of each of 1 arrays",
    rng("i"): "operand 2 is s64[], not a list of sizes",
    rng("ii"): "operand 2 is s64[1,1], not a list of sizes",
    rng("nn"): "operand 2 has 2 sizes for f32[4]",
    composite("1a.b"): "name is '1a.b', not of the form namespace.op",
    composite("a b.c"): "name is 'a b.c', not of the form namespace.op",
    composite("a"): "name is 'a', not of the form namespace.op",
}


def program(operation: str) -> str:
    return (
        "func.func @main(%x: tensor<4x4xf32>, %a: tensor<f32>, %i: tensor<i64>, %ii: tensor<1x1xi64>, %n: tensor<1xindex>, %nn: tensor<2xindex>, %t: !stablehlo.token, %b: tensor<i1>) {\n"
        f"%0{':2' * operation.endswith('!stablehlo.token)')} = {operation}\nreturn\n}}\n"
        "func.func private @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {\nreturn %x : tensor<4x4xf32>\n}"
    )


@pytest.mark.parametrize("operation", LEGAL)
def test_legal(operation: str):
    read_stablehlo(program(operation))


@pytest.mark.parametrize("operation", ILLEGAL)
def test_illegal(operation: str):
    with pytest.raises(LocatedError, match=r"^f.mlir:2:\d+: error: stablehlo\.") as caught:
        read_stablehlo(program(operation), "f.mlir")
    assert ILLEGAL[operation] in caught.value.message


def exponential(kept: str) -> ModuleOp:
    """A program with an accuracy as `xla` keeps it."""
    return read_mlir(
        f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
          %0 = xla.exponential %x attributes {{xla.result_accuracy = "{kept}"}} : tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }}""",
        make_context(),
    )


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        ("{mode=highest}", "mode = #stablehlo.result_accuracy_mode<HIGHEST>"),
        ("{tolerance={rtol=0.5,ulps=3}}", "rtol = 5.000000e-01, ulps = 3, mode"),
        ("{tolerance={ulps=inf}}", f"ulps = {2**63 - 1}, mode"),
    ],
)
def test_kept_accuracy(kept: str, written: str):
    text = print_stablehlo(exponential(kept))
    assert f"#stablehlo.result_accuracy<{written}" in text
    assert print_stablehlo(read_stablehlo(text)) == text


def test_kept_accuracy_that_is_none():
    with pytest.raises(StableHloPrintError, match="result_accuracy: expected one of mode, toleran"):
        print_stablehlo(exponential("{junk}"))


@pytest.mark.jax
def test_jaxlib_says_the_same():
    assert [rejection(program(operation)) for operation in LEGAL] == [None] * len(LEGAL)
    assert all(rejection(program(operation)) is not None for operation in ILLEGAL)
