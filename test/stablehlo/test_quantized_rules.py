"""The rules of quantized types, each broken alone, and acceptance beside jaxlib's verifier."""

import re
from collections.abc import Iterator

import pytest
from quantized_uses import quantized_changes, quantized_uses
from stablehlo_acceptance import own_rejection
from stablehlo_oracle import rejection
from stablehlo_uses import Use

from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo

TYPES = {
    "i8:f32, 0.0": "(C5) scale 0.0 is not positive, or no finite f32",
    "i8:f32, -1.0": "(C5) scale -1.0",
    "i8:f16, 1.0e5": "(C5) scale 100000.0 is not positive, or no finite f16",
    "i8:f16, 1.0e-9": "(C5) scale 1e-09",
    "i8:f32, 1.0:128": "(C7) zero point 128, storage is -128 to 127",
    "i8<-10:10>:f32, 1.0:11": "(C7) zero point 11, storage is -10 to 10",
    "u8:f32, 1.0:-1": "(C7) zero point -1, storage is 0 to 255",
    "i8<3:3>:f32, 1.0:3": "(C3) storage from 3 to 3, i8 has -128 to 127",
    "i8<-129:3>:f32, 1.0": "(C3) storage from -129 to 3",
    "i8<0:128>:f32, 1.0": "(C3) storage from 0 to 128",
    "i3:f32, 1.0": "storage type i3, not of 2, 4, 8, 16 or 32 bits",
    "i64:f32, 1.0": "storage type i64",
    "f8:f32, 1.0": "f8 is no storage type like i8 or u8",
    "i8:i32, 1.0": "i32 is no type of floats",
    "i8:f32:-1, {1.0, 1.0}": "(C11) dimension -1",
    "i8:f32:2, {1.0, 1.0}": "(C12) it is quantized along dimension 2 of 2",
    "i8:f32:0, {1.0, 1.0, 1.0}": "(C13) 3 scales for size 2",
    "i8:f32:0, {}": "",
    "i8:f32:0, 1.0": "'{' expected",
    "i8:f32, {1.0}": "",
    "i8:f32:{0:1}, {{1.0}, {1.0}}": "StableHLO has no scales for blocks of several dimensions",
}


@pytest.mark.parametrize("parameters", TYPES)
def test_types(parameters: str):
    text = f"func.func @main(%x: tensor<2x3x!quant.uniform<{parameters}>>) {{\n  return\n}}"
    with pytest.raises(LocatedError, match=r"^f.mlir:1:\d+: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert TYPES[parameters] in caught.value.message


SPELLINGS = {
    "i8:f32, 0.1": "i8:f32, 1.000000e-01",
    "i8:f32, 1.0:0": "i8:f32, 1.000000e+00",
    "si8:f32, 0.5:-3": "i8:f32, 5.000000e-01:-3",
    "ui8:f32, 0.5:3": "u8:f32, 5.000000e-01:3",
    "i8<-128:127>:f32, 0.5": "i8:f32, 5.000000e-01",
    "i8<-127:127>:bf16, 0.5": "i8<-127:127>:bf16, 5.000000e-01",
    "i4:f16:1, {0.5,0.25:1,2.0}": "i4:f16:1, {5.000000e-01,2.500000e-01:1,2.000000e+00}",
    "i32:f32, 0.1234567890123": "i32:f32, 0.12345678901230001",
    "u32:f64, 1.0:4294967295": "u32:f64, 1.000000e+00:4294967295",
}


@pytest.mark.parametrize("parameters", SPELLINGS)
def test_spellings(parameters: str):
    """Types are printed as MLIR prints them, and read back to the same text."""
    text = f"func.func @main(%x: tensor<2x3x!quant.uniform<{parameters}>>) {{\n  return\n}}"
    found = print_mlir(read_stablehlo(text))
    assert f"!quant.uniform<{SPELLINGS[parameters]}>" in found
    assert print_mlir(read_stablehlo(found)) == found


Q = "!quant.uniform<i8:f32, 0.5>"
ROWS, COLUMNS = "!quant.uniform<i8:f32:0, {0.5,0.5}>", "!quant.uniform<i8:f32:1, {0.5,0.5}>"
ZERO = "!quant.uniform<i8:f32, 0.5:1>"


def square(element: str) -> str:
    return f"tensor<2x2x{element}>"


DOT = "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
CONVOLUTION = (
    "stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
)
WRONG = {
    ("stablehlo.add %a, %b", Q, Q, "f32"): "f32 among operands and results that are quantized",
    ("stablehlo.add %a, %b", "!quant.uniform<i4:f32, 0.5>", Q, Q): "(C3) storage types i4 and i8",
    ("stablehlo.add %a, %b", Q, "!quant.uniform<i8:f16, 0.5>", Q): "(C4) expressed types f16 and",
    ("stablehlo.add %a, %b", Q, Q, ROWS): "(C5) the result is quantized along 0, no operand is",
    ("stablehlo.add %a, %b", ROWS, Q, Q): "(C5) an operand is quantized along dimension 0",
    ("stablehlo.add %a, %b", ROWS, COLUMNS, COLUMNS): "(C6) an operand is quantized along",
    ("stablehlo.add %a, %b", ROWS, COLUMNS, ROWS): "(C7) an operand is quantized along",
    ("stablehlo.multiply %a, %b", ROWS, ROWS, ROWS): "is quantized along dimension 0, not as",
    ("stablehlo.multiply %a, %b", Q, "!quant.uniform<i8<0:9>:f32, 0.5>", Q): "differ in more than",
    ("stablehlo.and %a, %b", Q, Q, Q): "stablehlo.and: takes and returns no quantized arrays",
    (DOT, Q, ZERO, Q): "(C15) the zero points of rhs are [1], not 0",
    (DOT, Q, ROWS, Q): "(C16) rhs is quantized along dimension 0, which is contracted",
    (DOT, Q, "f32", Q): "(C14) all are quantized, or only rhs",
    (DOT, "f32", Q, Q): "(C14) all are quantized, or only rhs",
    (DOT, "!quant.uniform<i4:f32, 0.5>", Q, Q): "(C17) storage types i4 and i8",
    (DOT, Q, Q, "!quant.uniform<i8:bf16, 0.5>"): "(C18) expressed types f32, f32 and bf16",
    (DOT, Q, Q, COLUMNS): "(C19) rhs is quantized as a whole, the result along dimension 1",
    (DOT, "f16", Q, "f16"): "(C20) f16 and f32 become f16",
    (DOT, ROWS, Q, Q): "is quantized along dimension 0, not as a whole",
    (CONVOLUTION, Q, "f32", Q): "(C28) all are quantized, or only rhs",
    (CONVOLUTION, Q, ROWS, Q): "(C29) rhs is quantized along dimension 0",
    (CONVOLUTION, Q, COLUMNS, ROWS): "(C30) the result is quantized along dimension 0",
    (CONVOLUTION, "!quant.uniform<i4:f32, 0.5>", Q, Q): "(C31) storage types i4 and i8",
    (CONVOLUTION, Q, Q, "!quant.uniform<i8:bf16, 0.5>"): "(C32) expressed types",
    (CONVOLUTION, Q, Q, COLUMNS): "(C33) rhs is quantized as a whole",
    (CONVOLUTION, "f16", Q, "f16"): "(C34) f16 and f32 become f16",
    ("stablehlo.uniform_quantize %a", "f16", "", Q): "(C2) quantizes f16 as f32",
    ("stablehlo.uniform_quantize %a", "f32", "", "f32"): "f32 among operands and results that",
    ("stablehlo.uniform_dequantize %a", Q, "", "f16"): "(C2) f32 becomes f16",
    ("stablehlo.uniform_dequantize %a", "f32", "", "f32"): "f32 among operands and results that",
    ("stablehlo.transpose %a, dims = [1, 0]", ROWS, "", ROWS): "(C4) quantized along 0, after",
    ("stablehlo.transpose %a, dims = [1, 0]", Q, "", ZERO): "(C1)",
    ("stablehlo.reshape %a", ROWS, "", COLUMNS): "(C3) dimension 0 of",
    ("stablehlo.broadcast_in_dim %a, dims = [1, 0]", ROWS, "", ROWS): "(C6) dimension 0 becomes 1",
    (
        "stablehlo.broadcast_in_dim %a, dims = [0, 1]",
        ROWS,
        "",
        "!quant.uniform<i8:f32:0, {0.5,0.25}>",
    ): "(C6) scales [0.5, 0.5] become [0.5, 0.25]",
    ("stablehlo.concatenate %a, %b, dim = 0", Q, "i8", Q): "are not the same",
    ("stablehlo.concatenate %a, %b, dim = 0", Q, ZERO, Q): "are not the same",
    (
        "func.call @g(%a)",
        Q,
        "",
        ZERO,
    ): "but provided tensor<2x2x!quant.uniform<i8:f32, 5.000000e-01:1>>",
}


@pytest.mark.parametrize("parts", WRONG)
def test_operations(parts: tuple[str, str, str, str]):
    operation, *elements = parts
    a, b, result = map(square, elements)
    if "concatenate" in operation:
        result = result.replace("2x2x", "4x2x", 1)
    types = f"({a}, {b})" if "%b" in operation else f"({a})"
    text = (
        f"func.func @main(%a: {a}, %b: {b if elements[1] else a}) {{\n"
        f"  %r = {operation} : {types} -> {result}\n  return\n}}\n"
        f"func.func private @g(%a: {a}) -> {a} {{\n  return %a : {a}\n}}"
    )
    with pytest.raises(LocatedError, match=r"^f.mlir:2:8: error: ") as caught:
        read_stablehlo(text, "f.mlir")
    assert WRONG[parts] in caught.value.message


def test_region_of_an_operation_on_integers():
    q = f"tensor<{Q}>"
    text = (
        "func.func @main(%x: tensor<4xi8>) {\n"
        '%r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({\n'
        f"^bb0(%a: {q}, %b: {q}):\n"
        f"%o = stablehlo.compare LT, %a, %b : ({q}, {q}) -> tensor<i1>\n"
        "stablehlo.return %o : tensor<i1>\n}) : (tensor<4xi8>) -> tensor<4xi8>\nreturn\n}"
    )
    with pytest.raises(LocatedError, match="its region takes quantized arrays"):
        read_stablehlo(text)


def test_types_of_functions():
    text = f"func.func @main(%a: {square(Q)}) -> {square(ZERO)} {{\n  return %a : {square(Q)}\n}}"
    with pytest.raises(LocatedError, match=r"same types as the function output types"):
        read_stablehlo(text)


# Operation, change, and why we reject what jaxlib accepts.
STRICTER = (
    (r"(add|convolution|dynamic_conv|dot_general)", r".*: unsigned", "jaxlib compares widths only"),
    (
        r"(dynamic_broadcast_in_dim|dynamic_reshape|dot|reduce_scatter|all_reduce)",
        r".*",
        "jaxlib does not look at the types of the operands; there (C1) or (C14) to (C20) hold",
    ),
    (
        r"(dynamic_gather|map|reduce|reduce_window|scatter|sort|while|select_and_scatter)",
        r".*: (another scale|a zero point)",
        "jaxlib compares types without scales; the specification has them equal",
    ),
    (
        r"select_and_scatter",
        r"operand 2: .*",
        "jaxlib does not compare the initial value; the specification has (C3)",
    ),
    (
        r"bitcast_convert",
        r".*",
        "jaxlib compares widths by the last size only; here the numbers of bits differ",
    ),
)

# Operation, change, and why we accept what jaxlib rejects.
LAXER = (
    (r"add", r".*: narrower range", "ranges may differ: (C3) to (C7) do not have them"),
    (r"add", r"everywhere: along .*", "the result is quantized as an operand is: (C5)"),
    (r"select", r"operand [12]: (another scale|a zero point)", "scales may differ: (C2)"),
    (r"triangular_solve", r".*", "the specification has it on quantized arrays"),
    (r"dynamic_conv", r"operand 1: along 3", "the kernel may be so: (C28)"),
)

ENDS_THE_ORACLE = (r"(dynamic_)?broadcast_in_dim", r".*: (too many scales )?along .*")
"""jaxlib 0.10.2 does not survive scales that are too many, or along no dimension."""


def every_change() -> Iterator[tuple[str, Use]]:
    for use in quantized_uses():
        name = use.name.removeprefix("stablehlo.")
        for label, change in [("valid", use), *quantized_changes(use)]:
            if not all(map(re.fullmatch, ENDS_THE_ORACLE, (name, label))):
                yield label, change


def compare(label: str, use: Use) -> tuple[tuple[str, ...], ...]:
    """Fails where acceptance differs without a reason; the exception that is used, if any."""
    theirs, ours = rejection(use.text()), own_rejection(use)
    if (theirs is None) == (ours is None):
        return ()
    name = use.name.removeprefix("stablehlo.")
    known = STRICTER if theirs is None else LAXER
    found = [each for each in known if all(map(re.fullmatch, each[:2], (name, label)))]
    assert found, f"{label}\njaxlib: {theirs}\nhere: {ours}\n{use.text()}"
    return (found[0],)


SAMPLED = 60
"""One of so many changes is tried in every run, all of them with `--full`."""


@pytest.mark.jax
def test_sampled_changes():
    for number, (label, use) in enumerate(every_change()):
        if number % SAMPLED == 0:
            compare(label, use)


@pytest.mark.jax
@pytest.mark.full
def test_all_changes():
    used = {found for label, use in every_change() for found in compare(label, use)}
    assert used == {*STRICTER, *LAXER}
