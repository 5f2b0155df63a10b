"""Literals read and printed, against IEEE bit patterns and mlir-opt's output."""

import re
import struct
import subprocess
from functools import partial
from io import StringIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    Float6E2M3FNType,
    Float32Type,
    IntegerType,
    Signedness,
    TensorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from xla_dialect.xdsl.dense_literals import MAX_SPLAT_BYTES, is_splat, parse_dense_literal
from xla_dialect.xdsl.text import MlirParser, MlirPrinter

F16, F32, F64 = (partial(np.array, dtype=type_) for type_ in (np.float16, np.float32, np.float64))
I8, I32, I64 = (partial(np.array, dtype=type_) for type_ in (np.int8, np.int32, np.int64))
U8, U64 = (partial(np.array, dtype=type_) for type_ in (np.uint8, np.uint64))


def parser_of(text: str) -> MlirParser:
    context = Context()
    context.load_dialect(Builtin)
    return MlirParser(context, text)


def read(text: str) -> DenseIntOrFPElementsAttr[Any]:
    attribute = parser_of(text).parse_attribute()
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    return attribute


def printed(attribute: Attribute) -> str:
    MlirPrinter(output := StringIO()).print_attribute(attribute)
    return output.getvalue()


def data_of(text: str) -> bytes:
    return read(text).data.data


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("dense<0xFF800000> : tensor<f32>", F32("-inf")),
        ("dense<0x7FC00000> : tensor<f32>", F32("nan")),
        ("dense<0x3f800000> : tensor<2xf32>", F32([1.0, 1.0])),
        ("dense<[0x7F800000, 1.5, -2.0]> : tensor<3xf32>", F32([np.inf, 1.5, -2])),
        ("dense<[0.0, -0.0]> : tensor<2xf32>", F32([0.0, -0.0])),
        ("dense<0xFFF0000000000000> : tensor<f64>", F64("-inf")),
        ("dense<0x7C00> : tensor<f16>", F16("inf")),
        ("dense<0xFF80> : tensor<bf16>", np.array(-np.inf, ml_dtypes.bfloat16)),
        ("dense<[0x7F80, 1.0]> : tensor<2xbf16>", np.array([np.inf, 1], ml_dtypes.bfloat16)),
        ("dense<0x7F> : tensor<f8E4M3FN>", np.array(np.nan, ml_dtypes.float8_e4m3fn)),
        ("dense<500.0> : tensor<f8E4M3FN>", np.array(np.nan, ml_dtypes.float8_e4m3fn)),
        ("dense<0x7C> : tensor<f8E5M2>", np.array(np.inf, ml_dtypes.float8_e5m2)),
        ("dense<true> : tensor<si1>", I8(-1)),
        ("dense<[true, 0]> : tensor<2xui1>", np.array([1, 0], ml_dtypes.uint1)),
        ('dense<"0x0103"> : tensor<10xsi1>', I8([-1] + 7 * [0] + 2 * [-1])),
        ("dense<0x3F> : tensor<f6E2M3FN>", np.array(-7.5, ml_dtypes.float6_e2m3fn)),
        ("dense<0x3F> : tensor<f6E3M2FN>", np.array(-28, ml_dtypes.float6_e3m2fn)),
        ("dense<0xF> : tensor<f4E2M1FN>", np.array(-6, ml_dtypes.float4_e2m1fn)),
        ("dense<1.0e39> : tensor<f32>", F32("inf")),
        ("dense<[-1.0e39, 1.0]> : tensor<2xf32>", F32([-np.inf, 1])),
        ("dense<70000.0> : tensor<f16>", F16("inf")),
        ("dense<65519.0> : tensor<f16>", F16(65504)),
        (
            "dense<(0x7F800000, -1.0)> : tensor<complex<f32>>",
            np.array(complex(np.inf, -1), np.complex64),
        ),
        (
            "dense<[(0.0,0xFFF0000000000000), (1.0,2.0)]> : tensor<2xcomplex<f64>>",
            np.array([complex(0, -np.inf), 1 + 2j]),
        ),
        ("dense<> : tensor<0x4xf32>", np.zeros((0, 4), np.float32)),
        ("dense<[]> : tensor<0xf32>", np.zeros(0, np.float32)),
        ("dense<[[], []]> : tensor<2x0xf32>", np.zeros(0, np.float32)),
        ("dense<1.0> : tensor<0xf32>", np.zeros(0, np.float32)),
        ("dense<[[1, -2], [255, 0xFF]]> : tensor<2x2xi8>", I8([1, -2, -1, -1])),
        ("dense<[true, false, 1, 0]> : tensor<4xi1>", I8([-1, 0, -1, 0])),
        ("dense<[1, -8, 15]> : tensor<3xi4>", I8([1, -8, -1])),
        ("dense<[0, 15]> : tensor<2xui4>", U8([0, 15])),
        ("dense<18446744073709551615> : tensor<ui64>", U64(2**64 - 1)),
        ("dense<-9223372036854775808> : tensor<i64>", I64(-(2**63))),
        ("dense<- 5> : tensor<i32>", I32(-5)),
        ("dense<[1, // > one\n 2]> : tensor<2xi32>", I32([1, 2])),
        ('dense<"0x000080BF0000807F"> : tensor<2xf32>', F32([-1, np.inf])),
        ('dense<"0x000080BF"> : tensor<3xf32>', F32([-1, -1, -1])),
        ('dense<"0x"> : tensor<0xf32>', np.zeros(0, np.float32)),
        ('dense<"0x0D"> : tensor<5xi1>', I8([-1, 0, -1, -1, 0])),
        ('dense<"0x8101"> : tensor<9xi1>', I8([-1, 0, 0, 0, 0, 0, 0, -1, -1])),
        ('dense<"0x010001"> : tensor<3xi1>', I8([-1, 0, -1])),
        ('dense<"0xFF"> : tensor<20xi1>', I8([-1] * 20)),
        ('dense<"0x010F08"> : tensor<3xi4>', I8([1, -1, -8])),
        ('dense<"0x010FF8"> : tensor<3xui4>', U8([1, 15, 8])),
    ],
)
def test_elements(literal: str, expected: Any):
    assert data_of(literal) == np.asarray(expected).tobytes()


@pytest.mark.parametrize(
    ("literal", "column", "message"),
    [
        ("dense<0x17F800000> : tensor<f32>", 7, "'0x17F800000' is out of range for f32"),
        ("dense<[1.0, -0x7F800000]> : tensor<2xf32>", 13, "'-0x7F800000' is no value of f32"),
        ("dense<1e5> : tensor<f32>", 7, "'1e5' is no value of f32"),
        ("dense<[1, 2.5]> : tensor<2xi32>", 11, "'2.5' is no value of i32"),
        ("dense<[1, 256]> : tensor<2xi8>", 11, "'256' is out of range for i8"),
        ("dense<-1> : tensor<ui8>", 7, "'-1' is out of range for ui8"),
        ("dense<128> : tensor<si8>", 7, "'128' is out of range for si8"),
        ("dense<2> : tensor<i1>", 7, "'2' is out of range for i1"),
        (f"dense<{'9' * 5000}> : tensor<i32>", 7, "...' is no value of i32"),
        ("dense<true> : tensor<i8>", 7, "'true' is no value of i8"),
        ("dense<1.0> : tensor<complex<f32>>", 7, "'1.0' is no value of complex<f32>"),
        ("dense<(1.0,2.0,3.0)> : tensor<complex<f32>>", 7, "'(1.0,2.0,3.0)' is no value"),
        ("dense<[1.0, (1.0]> : tensor<2xf32>", 13, "'(1.0' is no value of f32"),
        ("dense<[1, 2]> : tensor<2x1xi32>", 8, "expected '[' for dimension 1"),
        ("dense<[]> : tensor<0x4xf32>", 7, "expected a literal of type tensor<0x4xf32>"),
        (
            "dense<[[1, 2], [3]]> : tensor<2x2xi32>",
            18,
            "dimension 1 of tensor<2x2xi32> has 2 elements, the literal has 1",
        ),
        ("dense<[1, [2]]> : tensor<2xi32>", 11, "brackets are nested deeper than the 1 dimensions"),
        ("dense<[[1], 2]> : tensor<2x1xi32>", 13, "expected '[' for dimension 1"),
        ("dense<[1, ]> : tensor<1xi32>", 11, "unexpected ']'"),
        ("dense<[1 2]> : tensor<2xi32>", 10, "expected ',', found '2'"),
        ("dense<[1, 2> : tensor<2xi32>", 12, "expected ']', found the end of the literal"),
        ("dense<1, 2> : tensor<2xi32>", 8, "unexpected ','"),
        ("dense<[1, 2] : tensor<2xi32", 28, "Expected '>'"),
        ("dense<> : tensor<1xi32>", 7, "expected a literal of type tensor<1xi32>"),
        ('dense<"0x0"> : tensor<1xi8>', 7, "Hex string in denseAttr is invalid"),
        ('dense<""> : tensor<0xi8>', 7, "Hex string in denseAttr is invalid"),
        ('dense<"0x0102"> : tensor<3xi8>', 7, "Expected 3 elements from the type, but got 2"),
        ('dense<"0x01"> : tensor<20xi1>', 7, "Expected 20 elements"),
        ("dense<__elided__> : tensor<4xf32>", 7, "left out when it was printed"),
        ("dense<1.0> : tensor<f80>", 7, "dense elements of type f80 are not supported"),
        ("dense<1> : tensor<i99999999>", 7, "of type i99999999 are not supported"),
        ("dense<1> : tensor<i128>", 7, "dense elements of type i128 are not supported"),
    ],
)
def test_wrong_literals_are_located(literal: str, column: int, message: str):
    with pytest.raises(ParseError, match=re.escape(message)) as error:
        read(literal)
    assert error.value.span.start + 1 == column


def test_deep_nesting_is_no_recursion():
    with pytest.raises(ParseError, match="nested deeper than the 1 dimensions"):
        read("dense<" + "[" * 100_000 + "> : tensor<1xf32>")


def test_huge_splat_is_not_expanded():
    text = "dense<0.0> : tensor<100000x100000xf32>"
    with pytest.raises(ParseError, match="40000000000 bytes is too large"):
        read(text)
    parser = parser_of(text.removeprefix("dense"))
    literal = parse_dense_literal(parser)
    assert literal.is_splat
    assert literal.data == bytes(4)
    assert literal.byte_size == 40_000_000_000 > MAX_SPLAT_BYTES
    assert printed(literal.compact()) == "dense<0.000000e+00> : tensor<100000x100000xf32>"


def bits_of(*patterns: int) -> bytes:
    return struct.pack(f"<{len(patterns)}I", *patterns)


@pytest.mark.parametrize(
    ("patterns", "text"),
    [
        ((0x80000000, 0), "dense<[-0.000000e+00, 0.000000e+00]>"),
        ((0x7FC00001, 0x7FC00001), "dense<0x7FC00001>"),
        ((0x7F800001, 0xFF800000), "dense<[0x7F800001, 0xFF800000]>"),
    ],
)
def test_printing_keeps_every_bit(patterns: tuple[int, ...], text: str):
    attribute = DenseIntOrFPElementsAttr(
        TensorType(Float32Type(), [len(patterns)]), BytesAttr(bits_of(*patterns))
    )
    assert printed(attribute) == f"{text} : tensor<{len(patterns)}xf32>"
    assert read(printed(attribute)) == attribute


def test_no_elements_are_no_splat():
    assert not is_splat(read("dense<> : tensor<0xf32>"))


def test_open_string_is_refused_at_once():
    """XDSL's own pattern doubles its time with every character here."""
    with pytest.raises(ParseError, match="before closing string literal"):
        parser_of('"' + "a" * 10_000 + "\\")


@pytest.mark.parametrize("text", ["1 : i9999999999", "dense<1> : tensor<2xi9999999999>"])
def test_integer_type_of_any_width_is_refused_at_once(text: str):
    with pytest.raises(ParseError, match="type"):
        parser_of(text).parse_attribute()


SI1, UI1 = (IntegerType(1, sign) for sign in (Signedness.SIGNED, Signedness.UNSIGNED))
SHAPES = st.lists(st.integers(0, 4), max_size=3) | st.just([7, 19])
TYPES = st.sampled_from(
    ["f32", "f64", "f16", "bf16", "f8E5M2", "complex<f32>", "i8", "ui16", "i64"]
)


@given(SHAPES, TYPES, st.data())
def test_print_and_parse_again(shape: list[int], element_type: str, data: st.DataObject):
    type_ = parser_of(f"tensor<{''.join(f'{n}x' for n in shape)}{element_type}>").parse_type()
    assert isinstance(type_, TensorType)
    size = int(np.prod(shape)) * type_.element_type.compile_time_size
    raw = data.draw(st.binary(min_size=size, max_size=size))
    attribute = DenseIntOrFPElementsAttr(type_, BytesAttr(raw))
    assert read(printed(attribute)).data.data == raw


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_bits_print_and_parse_again(values: list[bool]):
    attribute = DenseIntOrFPElementsAttr.from_list(TensorType(i1, [len(values)]), values)
    assert read(printed(attribute)) == attribute


@pytest.mark.mlir_opt
def test_mlir_reads_what_is_printed(mlir_opt_path: str):
    """What is printed must mean the same to mlir-opt: its print of it is read back equal."""
    rng = np.random.default_rng(0)
    types = [
        (TensorType(Float32Type(), [3, 5]), rng.integers(0, 2**32, 15, np.uint32).tobytes()),
        (TensorType(Float32Type(), [2]), bits_of(0x80000000, 0x7FC00001)),
        (TensorType(Float32Type(), [2, 2]), bits_of(*[0xFF800000] * 4)),
        (TensorType(Float32Type(), [150]), rng.bytes(600)),
        (TensorType(i1, [150]), bytes(rng.choice([0, 255], 150).tolist())),
        (TensorType(i1, [3]), b"\xff\x00\xff"),
        (TensorType(SI1, [150]), bytes(rng.choice([0, 255], 150).tolist())),
        (TensorType(SI1, [3]), b"\xff\x00\xff"),
        (TensorType(UI1, [150]), bytes(rng.choice([0, 1], 150).tolist())),
        (TensorType(UI1, [3]), b"\x01\x00\x01"),
        (TensorType(Float6E2M3FNType(), [150]), bytes(rng.integers(0, 64, 150).tolist())),
        (TensorType(IntegerType(4), [3]), b"\x07\xf8\xff"),
    ]
    attributes = [DenseIntOrFPElementsAttr(type_, BytesAttr(raw)) for type_, raw in types]
    body = "\n".join(f'"test.use"() {{value = {printed(a)}}} : () -> ()' for a in attributes)
    run = subprocess.run(
        [mlir_opt_path, "--allow-unregistered-dialect"],
        input=body,
        capture_output=True,
        text=True,
        check=True,
    )
    assert [read(text) for text in re.findall(r"value = (.*)}", run.stdout)] == attributes


@pytest.mark.parametrize("text", ["%y = test.foo\n%z = test.op", '"test.foo"() : () -> ()'])
def test_an_unknown_operation_is_an_error_at_its_name(text: str) -> None:
    with pytest.raises(ParseError, match=r"test\.foo is not registered") as caught:
        parser_of(text).parse_module()
    assert (caught.value.span.start, caught.value.span.text) == (text.index("test.foo"), "test.foo")
