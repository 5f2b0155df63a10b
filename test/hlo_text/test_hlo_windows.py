"""HLO text of windows, dimension labels and floating-point attributes: read, refused, kept."""

from typing import Any

import pytest
from hlo_examples import Operands, binary, program, relation
from small_programs import numbers
from xdsl.dialects.builtin import FloatAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.driver.context import make_context
from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.shapes.window import ConvolutionLabelsAttr, Window, WindowAttr
from xla_dialect.verification import verify
from xla_dialect.xdsl.text import MlirParser

OPERANDS: Operands = {
    "x": numbers("f32", range(5)),
    "z": numbers("f32", 0),
    "l": numbers("f32", [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]),
    "k": numbers("f32", [[[[1, 2], [3, 4]]]]),
    "m": numbers("f32", [[4, 2], [2, 5]]),
    "v": numbers("f32", [1, 2]),
    "o": numbers("f32", [1]),
}
COMPUTATIONS = binary("add") + relation("GE")


def text_of(instruction: str) -> str:
    return program(instruction, OPERANDS, COMPUTATIONS)


def last_of_main(module: ModuleOp) -> Operation:
    """The last operation before the terminator of the entry."""
    (main,) = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"]
    return list(main.body.block.ops)[-2]


def read(instruction: str) -> Operation:
    """The operation for an instruction, after a way through MLIR text."""
    text = text_of(instruction)
    module = read_hlo(text, "example.hlo")
    verify(module, {"example.hlo": text})
    again = MlirParser(make_context(), print_mlir(module)).parse_module()
    assert again.is_structurally_equivalent(module)
    return last_of_main(again)


CONVOLUTION = "f32[1,1,2,2] convolution(l, k)"
REDUCE = "reduce-window(x, z)"


@pytest.mark.parametrize(
    ("instruction", "window"),
    [
        (f"f32[4] {REDUCE}, window={{size=2}}, to_apply=add", "size=2"),
        (f"{REDUCE}, window={{ size=2  stride=2 }}, to_apply=add", "size=2 stride=2"),
        (f"{REDUCE}, window={{stride=1 size=2 pad=0_0}}, to_apply=add", "size=2"),
        (f"{REDUCE}, window={{pad=-1_2 size=2}}, to_apply=add", "size=2 pad=-1_2"),
        ("f32[] reduce-window(z, z), to_apply=add", ""),
        ("f32[] reduce-window(z, z), window={}, to_apply=add", ""),
        ("select-and-scatter(x, o, z), window={size=5}, select=ge, scatter=add", "size=5"),
    ],
)
def test_windows(instruction: str, window: str):
    assert read(instruction).properties["window"] == WindowAttr(Window.parse(window))


def test_convolution():
    op = read(
        f"{CONVOLUTION}, window={{size=2x2}}, dim_labels=bf01_oi01->bf01, "
        "operand_precision={highest,default}, algorithm=dot_f32_f32_f32, "
        "convolution_kind=fprop, feature_group_count=1"
    )
    assert op.properties["dim_labels"] == ConvolutionLabelsAttr(
        ConvolutionLabelsAttr.read("bf01_oi01->bf01")
    )
    assert op.attributes["xla.operand_precision"] == StringAttr("{highest,default}")
    assert op.attributes["xla.algorithm"] == StringAttr("dot_f32_f32_f32")
    assert op.attributes["xla.convolution_kind"] == StringAttr("fprop")


@pytest.mark.parametrize(
    ("text", "value"), [("0.001", 0.0010000000474974513), ("1e-3", 0.0010000000474974513), ("0", 0)]
)
def test_numbers(text: str, value: float):
    op = read(f"batch-norm-training(m, v, v), epsilon={text}, feature_index=1")
    epsilon: Any = op.properties["epsilon"]
    assert isinstance(epsilon, FloatAttr)
    assert epsilon.value.data == value


def test_nan():
    op = read("batch-norm-training(m, v, v), feature_index=1, epsilon=nan")
    assert str(op.properties["epsilon"]) == "0x7fc00000 : f32"


@pytest.mark.parametrize(
    ("instruction", "at", "message"),
    [
        (f"{REDUCE}, window={{size=2 size=2}}, to_apply=add", "size=2}", "each once"),
        (f"{REDUCE}, window={{size=2, pad=0_0}}, to_apply=add", "2, pad", "found '2,'"),
        (f"{REDUCE}, window=2, to_apply=add", "2, to_apply", "expected '{' and '}'"),
        (f"{REDUCE}, window={{size=2 pad=1}}, to_apply=add", "1}", "padding low_high"),
        (f"{REDUCE}, window={{size=2x2}}, to_apply=add", "reduce-window(", "(C3) window has 2"),
        (
            f"{CONVOLUTION}, window={{size=2x2}}, dim_labels=bf01->bf01",
            "bf01->bf01",
            "expected labels like",
        ),
        (f"{CONVOLUTION}, window={{size=2x2}}", "convolution(", "needs the attribute 'dim_labels'"),
        (
            f"{CONVOLUTION}, dim_labels=bf01_oi01->bf01",
            "convolution(",
            "(C1) window has 0 dimensions",
        ),
        (
            "convolution(l, k), window={size=2}, dim_labels=bf01_oi01->bf01",
            "convolution(",
            "xla.convolution: (C",
        ),
        (
            "batch-norm-training(m, v, v), feature_index=1, epsilon=inf",
            "inf",
            "'inf' does not fit a 32-bit float",
        ),
        (
            "batch-norm-training(m, v, v), feature_index=1, epsilon=1e39",
            "1e39",
            "does not fit a 32-bit float",
        ),
        ("batch-norm-training(m, v, v), feature_index=1", "batch", "needs the attribute 'epsilon'"),
        (
            "f32[2,2] triangular-solve(m, m), lower=true",
            "triangular",
            "needs the attribute 'transpose_a'",
        ),
        (
            "f32[2,2] triangular-solve(m, m), transpose_a=MAYBE",
            "MAYBE",
            "expected one of NO_TRANSPOSE, TRANSPOSE, ADJOINT",
        ),
        ("f32[5] sort(x), to_apply=ge", "sort(", "needs the attribute 'dimensions'"),
        ("f32[5] sort(x), dimensions={0,1}, to_apply=ge", "{0,1}", "expected one dimension"),
        ("f32[5] sort(x), dimensions={0}", "sort(", "needs the attribute 'to_apply'"),
        ("c64[5] fft(x), fft_type=DCT, fft_length={5}", "DCT", "expected one of FFT, IFFT"),
        ("scatter(x, x), to_apply=add", "scatter(", "scatter takes"),
    ],
)
def test_errors(instruction: str, at: str, message: str):
    """Every error names the place that is wrong."""
    text = text_of(instruction)
    with pytest.raises(LocatedError) as error:
        read_hlo(text, "example.hlo")
    assert message in str(error.value)
    start = text.rindex(at)
    line = text.count("\n", 0, start) + 1
    column = start - text.rfind("\n", 0, start)
    assert (error.value.line, error.value.column) == (line, column)


@pytest.mark.parametrize(
    "text", ["#xla.window<size=2", "#xla.window<>", "#xla.dim_labels<bf0>", "#xla.window<size=2>>"]
)
def test_misspelled_in_mlir(text: str):
    """Damaged attributes of MLIR text are errors too."""
    module = print_mlir(read_hlo(text_of(f"f32[4] {REDUCE}, window={{size=2}}, to_apply=add")))
    damaged = module.replace("#xla.window<size=2>", text)
    assert damaged != module
    with pytest.raises(Exception, match=r"xla\.|[Ee]xpected") as error:
        MlirParser(make_context(), damaged).parse_module().verify()
    assert type(error.value).__name__ in ("ParseError", "VerifyException")


def test_kept_attribute_of_topk():
    op = read("(f32[2], s32[2]) topk(x), k=2, largest=true, is_stable=true")
    assert op.attributes["xla.is_stable"] == StringAttr("true")
