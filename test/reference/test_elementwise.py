"""Elementwise operations on values of which it is known what they give: limits, signs, NaN."""

from typing import Any

import numpy as np
import pytest
from small_programs import evaluate, numbers, same

from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise import (
    AbsOp,
    AddOp,
    AndOp,
    Atan2Op,
    CbrtOp,
    CeilOp,
    ClampOp,
    CompareOp,
    ComplexOp,
    CountLeadingZerosOp,
    DivideOp,
    ErfOp,
    ExponentialMinusOneOp,
    FloorOp,
    ImagOp,
    IsFiniteOp,
    LogOp,
    LogPlusOneOp,
    MaximumOp,
    MinimumOp,
    MulhiOp,
    MultiplyOp,
    NegateOp,
    NotOp,
    OrOp,
    PopcntOp,
    PowerOp,
    RealOp,
    RemainderOp,
    RoundNearestAfzOp,
    RoundNearestEvenOp,
    RsqrtOp,
    SelectOp,
    ShiftLeftOp,
    ShiftRightArithmeticOp,
    ShiftRightLogicalOp,
    SignOp,
    SineOp,
    SqrtOp,
    SubtractOp,
    TanhOp,
    TanOp,
    XorOp,
)

NAN, INF, PI = np.nan, np.inf, np.pi
I31 = 2**31

BINARY: list[tuple[str, type[XlaOp], str, list[Any], list[Any], list[Any]]] = [
    ("Add wraps", AddOp, "s8", [127, -128], [1, -1], [-128, 127]),
    ("Add pred is or", AddOp, "pred", [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]),
    ("Sub wraps", SubtractOp, "u8", [0, 5], [1, 7], [255, 254]),
    ("Mul wraps", MultiplyOp, "s8", [100, -128], [3, -1], [44, -128]),
    ("Mul pred is and", MultiplyOp, "pred", [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]),
    ("Mul s4 wraps", MultiplyOp, "s4", [7, -8, -8], [7, -8, -1], [1, 0, -8]),
    ("Div truncates", DivideOp, "s32", [-7, 7, -7], [2, -2, -2], [-3, -3, 3]),
    ("Div by zero", DivideOp, "s32", [7, 0, -I31], [0, 0, -1], [-1, -1, -I31]),
    ("Div u8 by zero", DivideOp, "u8", [7, 0, 200], [0, 0, 7], [255, 255, 28]),
    ("Div s4", DivideOp, "s4", [-8, 7, -7, 5], [-1, 0, 2, -2], [-8, -1, -3, -2]),
    ("Div u4", DivideOp, "u4", [15, 7, 0], [2, 0, 0], [7, 15, 15]),
    ("Div s64", DivideOp, "s64", [-(2**63), 1], [-1, 0], [-(2**63), -1]),
    ("Div u64", DivideOp, "u64", [2**64 - 1, 1], [2, 0], [2**63 - 1, 2**64 - 1]),
    ("Rem", RemainderOp, "s32", [-7, 7, 5, -I31], [3, -3, 0, -1], [-1, 1, 5, 0]),
    ("Rem s4", RemainderOp, "s4", [-8, -7, 7], [-1, 4, 0], [0, -3, 7]),
    (
        "Rem float",
        RemainderOp,
        "f32",
        [-7.5, 7, -0.0, 5, INF, 5, 0.5],
        [2, 0, 3, INF, 2, -3, NAN],
        [-1.5, NAN, -0.0, 5, NAN, 2, NAN],
    ),
    (
        "Pow",
        PowerOp,
        "s32",
        [2, 0, 1, -1, -1, 3, 0, 2, -3],
        [-1, -1, -5, -3, -4, 40, 0, 31, 3],
        [0, 0, 1, -1, 1, 689956897, 1, -I31, -27],
    ),
    ("Pow u8", PowerOp, "u8", [3, 0, 2], [200, 0, 255], [161, 1, 0]),
    ("Pow u32", PowerOp, "u32", [3], [127], [3**127 % 2**32]),
    ("Pow s4", PowerOp, "s4", [3, -3, 2], [3, -1, 7], [-5, 0, 0]),
    (
        "Pow float",
        PowerOp,
        "f32",
        [0, -0.0, -0.0, -1, -8, -INF, -INF, -1, 2, -0.0, -0.0, NAN, 1],
        [-1, -1, 3, INF, 1 / 3, 3, -3, -INF, -INF, 0.5, -0.5, 0, NAN],
        [INF, -INF, -0.0, 1, NAN, -INF, -0.0, 1, 0, 0, INF, 1, 1],
    ),
    ("Pow complex", PowerOp, "c64", [0, 0, 2], [0, 1, 3], [1, 0, 8]),
    ("Max signed zeros", MaximumOp, "f32", [-0.0, 0.0, -0.0], [0.0, -0.0, -0.0], [0.0, 0.0, -0.0]),
    ("Min signed zeros", MinimumOp, "f32", [-0.0, 0.0, 0.0], [0.0, -0.0, 0.0], [-0.0, -0.0, 0.0]),
    ("Max zero and negative", MaximumOp, "f64", [-0.0, -5.0], [-5.0, -0.0], [-0.0, -0.0]),
    ("Max NaN", MaximumOp, "bf16", [NAN, 1.0, 2.0], [1.0, NAN, 3.0], [NAN, NAN, 3.0]),
    ("Min NaN", MinimumOp, "f16", [NAN, 1.0, 2.0], [1.0, NAN, 3.0], [NAN, NAN, 2.0]),
    ("Max pred is or", MaximumOp, "pred", [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 1]),
    ("Min pred is and", MinimumOp, "pred", [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1]),
    ("Max u8 unsigned", MaximumOp, "u8", [200], [100], [200]),
    ("And", AndOp, "u4", [12, 15], [10, 1], [8, 1]),
    ("Or pred", OrOp, "pred", [0, 0, 1], [0, 1, 1], [0, 1, 1]),
    ("Xor", XorOp, "s8", [-1, 5], [1, 5], [-2, 0]),
    ("Xor pred", XorOp, "pred", [0, 1, 1], [1, 0, 1], [1, 1, 0]),
    ("mulhi s8", MulhiOp, "s8", [100, -128, -1], [100, -128, 1], [39, 64, -1]),
    ("mulhi s4", MulhiOp, "s4", [7, -8, -1], [7, -8, 1], [3, 4, -1]),
    ("mulhi u4", MulhiOp, "u4", [15], [15], [14]),
    ("mulhi u64", MulhiOp, "u64", [2**64 - 1, 2**63], [2**64 - 1, 6], [2**64 - 2, 3]),
    ("mulhi s64", MulhiOp, "s64", [-(2**63), -1, 2**62], [-(2**63), 5, 8], [2**62, -1, 2]),
    ("Shift left", ShiftLeftOp, "s32", [1], [32], [0]),
    ("Shift >>a", ShiftRightArithmeticOp, "s32", [-8], [1], [-4]),
    ("Shift >>l", ShiftRightLogicalOp, "s32", [-8], [1], [2147483644]),
    ("Shift s8 <<", ShiftLeftOp, "s8", [-5] * 4, [1, 7, 8, -1], [-10, -128, 0, 0]),
    ("Shift s8 >>a", ShiftRightArithmeticOp, "s8", [-5] * 4, [1, 7, 8, -1], [-3, -1, -1, -1]),
    ("Shift s8 >>l", ShiftRightLogicalOp, "s8", [-5] * 4, [1, 7, 8, -1], [125, 1, 0, 0]),
    (
        "Shift u8 >>a",
        ShiftRightArithmeticOp,
        "u8",
        [251] * 4,
        [1, 7, 8, 255],
        [253, 255, 255, 255],
    ),
    ("Shift s4 <<", ShiftLeftOp, "s4", [-5] * 4, [1, 3, 4, -1], [6, -8, 0, 0]),
    ("Shift s4 >>a", ShiftRightArithmeticOp, "s4", [-5] * 4, [1, 3, 4, -1], [-3, -1, -1, -1]),
    ("Shift s4 >>l", ShiftRightLogicalOp, "s4", [-5] * 4, [1, 3, 4, -1], [5, 1, 0, 0]),
    ("Shift u4 >>a", ShiftRightArithmeticOp, "u4", [11] * 4, [1, 3, 4, 15], [13, 15, 15, 15]),
    ("Shift u2 <<", ShiftLeftOp, "u2", [3, 3, 3], [1, 2, 3], [2, 0, 0]),
    (
        "Atan2",
        Atan2Op,
        "f32",
        [1, 0, -0.0, 0, -0.0],
        [-1, -0.0, 0, 0, -0.0],
        [2.3561945, PI, -0.0, 0, -PI],
    ),
    ("Div complex by 0", DivideOp, "c64", [1 + 1j], [0], [complex(INF, INF)]),
]


@pytest.mark.parametrize(
    ("op", "name", "lhs", "rhs", "expected"),
    [case[1:] for case in BINARY],
    ids=[c[0] for c in BINARY],
)
def test_binary(op: type[XlaOp], name: str, lhs: list[Any], rhs: list[Any], expected: list[Any]):
    same(evaluate(op, numbers(name, lhs), numbers(name, rhs)), numbers(name, expected))


def test_atan2_signs_of_zero():
    y, x = numbers("f32", [0, -0.0, 0, -0.0]), numbers("f32", [-0.0, 0, 0, -0.0])
    same(evaluate(Atan2Op, y, x)[:3], numbers("f32", [PI, -0.0, 0]))


def test_atan2_of_complex_numbers():
    """On the real axis the real function; elsewhere its tangent is the quotient."""
    y, x = numbers("c128", [1, -2, 0.5 + 0.25j]), numbers("c128", [-1, 3, 2 - 1j])
    angle = evaluate(Atan2Op, y, x)
    np.testing.assert_allclose(angle[:2], np.arctan2([1, -2], [-1, 3]), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(np.tan(angle), y / x, rtol=1e-14)


UNARY: list[tuple[str, type[XlaOp], str, list[Any], list[Any]]] = [
    (
        "Round",
        RoundNearestAfzOp,
        "f32",
        [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.3, -0.0, 0.49999997, 8388609, INF, NAN],
        [-3, -2, -1, 1, 2, 3, -0.0, -0.0, 0, 8388609, INF, NAN],
    ),
    (
        "RoundNearestEven",
        RoundNearestEvenOp,
        "f32",
        [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.3, -0.0],
        [-2, -2, -0.0, 0, 2, 2, -0.0, -0.0],
    ),
    ("Ceil", CeilOp, "f32", [-0.5, 1.2, -0.0], [-0.0, 2, -0.0]),
    ("Floor", FloorOp, "bf16", [-0.5, 1.5, -0.0], [-1, 1, -0.0]),
    ("Clz s32", CountLeadingZerosOp, "s32", [1, -1, 0], [31, 0, 32]),
    ("Clz s8", CountLeadingZerosOp, "s8", [0, 1, -1], [8, 7, 0]),
    ("Clz s4", CountLeadingZerosOp, "s4", [0, 1, -1, 4], [4, 3, 0, 1]),
    ("Clz u64", CountLeadingZerosOp, "u64", [0, 1, 2**63], [64, 63, 0]),
    ("Clz u2", CountLeadingZerosOp, "u2", [0, 1, 3], [2, 1, 0]),
    ("PopulationCount s32", PopcntOp, "s32", [-1, 0, 5], [32, 0, 2]),
    ("PopulationCount u8", PopcntOp, "u8", [0xF0], [4]),
    ("PopulationCount s4", PopcntOp, "s4", [-1, 5], [4, 2]),
    ("Sign", SignOp, "f32", [-0.0, 0.0, -3, 2, NAN, INF], [-0.0, 0.0, -1, 1, NAN, 1]),
    ("Sign int", SignOp, "s8", [-128, 0, 5], [-1, 0, 1]),
    (
        "Sign complex",
        SignOp,
        "c64",
        [3 + 4j, 0, complex(NAN, 1)],
        [0.6 + 0.8j, 0, complex(NAN, NAN)],
    ),
    (
        "Sign complex large",
        SignOp,
        "c128",
        [3e300 + 4e300j, 3e-320 + 4e-320j],
        [0.6 + 0.8j, 0.6 + 0.8j],
    ),
    ("Not pred", NotOp, "pred", [1, 0], [0, 1]),
    ("Not s32", NotOp, "s32", [0], [-1]),
    ("Not u4", NotOp, "u4", [0, 5], [15, 10]),
    ("Negate u8", NegateOp, "u8", [1, 0, 200], [255, 0, 56]),
    ("Negate s8", NegateOp, "s8", [-128, 3], [-128, -3]),
    ("Negate zero", NegateOp, "f32", [0.0, -0.0, NAN], [-0.0, 0.0, NAN]),
    ("Negate complex", NegateOp, "c64", [1 - 2j], [-1 + 2j]),
    ("Abs", AbsOp, "s32", [-I31, -5], [-I31, 5]),
    ("Abs s4", AbsOp, "s4", [-8, -7], [-8, 7]),
    ("Abs float", AbsOp, "bf16", [-0.0, -INF, 2], [0.0, INF, 2]),
    ("Sqrt", SqrtOp, "f32", [-0.0, -1, 4, INF], [-0.0, NAN, 2, INF]),
    ("Log", LogOp, "f32", [0.0, -0.0, -1, 1, INF], [-INF, -INF, NAN, 0, INF]),
    ("Log1p", LogPlusOneOp, "f32", [-1, -0.0, -2, 1e-20], [-INF, -0.0, NAN, 1e-20]),
    ("Rsqrt", RsqrtOp, "f32", [0.0, -0.0, INF, -1, 4], [INF, -INF, 0, NAN, 0.5]),
    ("Rsqrt f64", RsqrtOp, "f64", [0.0, -0.0, INF, -1, 4], [INF, -INF, 0, NAN, 0.5]),
    ("Cbrt", CbrtOp, "f32", [-0.0, -8, 27], [-0.0, -2, 3]),
    ("Expm1", ExponentialMinusOneOp, "f32", [-0.0, -INF, 1e-20], [-0.0, -1, 1e-20]),
    ("Sin", SineOp, "f32", [-0.0, INF], [-0.0, NAN]),
    ("Tan", TanOp, "f32", [-0.0], [-0.0]),
    ("Tanh", TanhOp, "f32", [-0.0, INF, -INF], [-0.0, 1, -1]),
    ("Erf", ErfOp, "f32", [-0.0, INF, -INF, NAN], [-0.0, 1, -1, NAN]),
]


@pytest.mark.parametrize(
    ("op", "name", "operand", "expected"), [case[1:] for case in UNARY], ids=[c[0] for c in UNARY]
)
def test_unary(op: type[XlaOp], name: str, operand: list[Any], expected: list[Any]):
    same(evaluate(op, numbers(name, operand)), numbers(name, expected))


OTHER_RESULT: list[tuple[str, Any, list[np.ndarray], np.ndarray]] = [
    ("Imag", ImagOp, [numbers("f32", [3])], numbers("f32", [0])),
    ("Real", RealOp, [numbers("f32", [3])], numbers("f32", [3])),
    ("Imag complex", ImagOp, [numbers("c64", [3 - 4j])], numbers("f32", [-4])),
    ("Real complex", RealOp, [numbers("c128", [3 - 4j])], numbers("f64", [3])),
    ("Imag f8e8m0fnu has no 0", ImagOp, [numbers("f8e8m0fnu", [2])], numbers("f8e8m0fnu", [NAN])),
    ("Abs complex", AbsOp, [numbers("c64", [3 - 4j, complex(NAN, INF)])], numbers("f32", [5, INF])),
    (
        "IsFinite",
        IsFiniteOp,
        [numbers("f16", [1, INF, -INF, NAN, -0.0])],
        numbers("pred", [1, 0, 0, 0, 1]),
    ),
    (
        "Complex keeps parts",
        ComplexOp,
        [numbers("f32", [INF, NAN, -0.0]), numbers("f32", [NAN, -0.0, INF])],
        numbers("c64", [complex(INF, NAN), complex(NAN, -0.0), complex(-0.0, INF)]),
    ),
]


@pytest.mark.parametrize(
    ("op", "operands", "expected"), [c[1:] for c in OTHER_RESULT], ids=[c[0] for c in OTHER_RESULT]
)
def test_other_result_type(op: Any, operands: list[np.ndarray], expected: np.ndarray):
    same(evaluate(op, *operands), expected)


@pytest.mark.parametrize(
    ("low", "operand", "high", "expected"),
    [
        pytest.param(*(numbers("s32", v) for v in (0, [-1, 5, 9], 6, [0, 5, 6])), id="example 1"),
        pytest.param(
            *(
                numbers("f32", v)
                for v in ([NAN, 0, 0, 5], [1, NAN, 1, 1], [2, 2, NAN, 3], [NAN, NAN, NAN, 3])
            ),
            id="float",
        ),
        pytest.param(*(numbers("s32", v) for v in (5, 1, 3, 3)), id="min above max"),
        pytest.param(*(numbers("u8", v) for v in (100, [50, 250], 200, [100, 200])), id="unsigned"),
        pytest.param(*(numbers("pred", v) for v in (0, [0, 1], 0, [0, 0])), id="pred"),
        pytest.param(*(numbers("f32", v) for v in (0.0, [-0.0], 1.0, [0.0])), id="zeros"),
        pytest.param(*(numbers("s4", v) for v in (-8, [7, -3], 2, [2, -3])), id="s4"),
    ],
)
def test_clamp(low: np.ndarray, operand: np.ndarray, high: np.ndarray, expected: np.ndarray):
    same(evaluate(ClampOp, low, operand, high), expected)


@pytest.mark.parametrize(
    ("pred", "expected"),
    [
        pytest.param([1, 0, 0, 1], [1, 200, 300, 4], id="example 1"),
        pytest.param(1, [1, 2, 3, 4], id="example 2"),
        pytest.param(0, [100, 200, 300, 400], id="scalar false"),
    ],
)
@pytest.mark.parametrize("name", ["s32", "bf16", "c64"])
def test_select(pred: Any, expected: list[int], name: str):
    on_true, on_false = numbers(name, [1, 2, 3, 4]), numbers(name, [100, 200, 300, 400])
    same(evaluate(SelectOp, numbers("pred", pred), on_true, on_false), numbers(name, expected))


def test_select_moves_bits():
    """Payloads of NaNs and the bits of narrow types are kept."""
    bits = np.array([0x7F800001, 0xFFC12345], np.uint32).view(np.float32)
    chosen = evaluate(SelectOp, numbers("pred", [1, 0]), bits, bits[::-1].copy())
    assert chosen.view(np.uint32).tolist() == [0x7F800001, 0x7F800001]


def compared(
    direction: str, lhs: np.ndarray, rhs: np.ndarray, order: str | None = None
) -> list[int]:
    return evaluate(
        lambda a, b: CompareOp(a, b, direction=direction, comparison_type=order), lhs, rhs
    ).tolist()


@pytest.mark.parametrize(
    ("direction", "order", "nans", "zeros"),
    [
        ("EQ", None, False, True),
        ("NE", None, True, False),
        ("GE", None, False, True),
        ("GT", None, False, False),
        ("LE", None, False, True),
        ("LT", None, False, False),
        ("EQ", "TOTALORDER", True, False),
        ("NE", "TOTALORDER", False, True),
        ("GE", "TOTALORDER", True, False),
        ("GT", "TOTALORDER", False, False),
        ("LE", "TOTALORDER", True, True),
        ("LT", "TOTALORDER", False, True),
    ],
)
@pytest.mark.parametrize("name", ["f32", "f64", "bf16", "f16", "f8e5m2"])
def test_compare_table(direction: str, order: str | None, nans: bool, zeros: bool, name: str):
    lhs, rhs = numbers(name, [NAN, -0.0]), numbers(name, [NAN, 0.0])
    assert compared(direction, lhs, rhs, order) == [nans, zeros]


@pytest.mark.parametrize(
    "name", ["f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3", "f8e4m3fn", "f8e3m4"]
)
def test_total_order_increases(name: str):
    ordered = numbers(name, [-INF, -1, -0.0, 0, 1, INF])
    if name == "f8e4m3fn":
        ordered = ordered[1:-1]
    nan = numbers(name, [NAN])
    bits = f"u{nan.itemsize}"
    sign = np.array(1 << (8 * nan.itemsize - 1), bits)
    positive = (nan.view(bits) & ~sign).view(nan.dtype)
    negative = (nan.view(bits) | sign).view(nan.dtype)
    ordered = np.concatenate([negative, ordered, positive])
    for i, x in enumerate(ordered):
        smaller = compared("LT", np.full(ordered.shape, x), ordered, "TOTALORDER")
        assert smaller == [i < j for j in range(len(ordered))]


@pytest.mark.parametrize("name", ["f8e4m3fnuz", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e8m0fnu"])
def test_total_order_of_formats_with_one_nan(name: str):
    """Numbers in order, then the NaN, which has no sign."""
    ordered = numbers(name, [0.25, 0.5, 1, 2, 4, NAN])
    if name != "f8e8m0fnu":
        ordered = np.concatenate([numbers(name, [-2, -1, 0]), ordered])
    for i, x in enumerate(ordered):
        smaller = compared("LT", np.full(ordered.shape, x), ordered, "TOTALORDER")
        assert smaller == [i < j for j in range(len(ordered))]


def test_f4_total_order():
    ordered = numbers("f4e2m1fn", [-6, -1, -0.5, -0.0, 0, 0.5, 6])
    for i, x in enumerate(ordered):
        smaller = compared("LT", np.full(ordered.shape, x), ordered, "TOTALORDER")
        assert smaller == [i < j for j in range(len(ordered))]


def test_total_order_payloads():
    lhs = np.array([0x7FC00001, 0x7F800001, 0xFFC00001, 0x7FC00000], np.uint32).view(np.float32)
    rhs = np.array([0x7FC00000, 0x7FC00000, 0xFFC00000, 0x7FC00000], np.uint32).view(np.float32)
    assert compared("EQ", lhs, rhs, "TOTALORDER") == [0, 0, 0, 1]
    assert compared("LT", lhs, rhs, "TOTALORDER") == [0, 1, 1, 0]
    assert compared("GT", lhs, rhs, "TOTALORDER") == [1, 0, 0, 0]


@pytest.mark.parametrize("name", ["s4", "u4", "s8", "u8", "u64", "pred", "c64", "f4e2m1fn"])
def test_compare_other_types(name: str):
    values = {"u8": [0, 255], "u64": [0, 2**64 - 1], "u4": [0, 15], "pred": [0, 1]}
    low, high = values.get(name, [-2, 1])
    lhs, rhs = numbers(name, [low, high, low]), numbers(name, [high, low, low])
    assert compared("EQ", lhs, rhs) == [0, 0, 1]
    assert compared("NE", lhs, rhs) == [1, 1, 0]
    if name != "c64":
        assert compared("LT", lhs, rhs) == [1, 0, 0]
        assert compared("GE", lhs, rhs) == [0, 1, 1]
