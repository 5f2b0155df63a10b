"""The rules of random numbers."""

from typing import Any

import pytest
from small_programs import shape, tuple_of, value
from violations import accepts, assert_violates, cases

from xla_dialect.op import XlaOp
from xla_dialect.ops.random import (
    RngBitGeneratorOp,
    RngGetAndUpdateStateOp,
    RngOp,
    StochasticConvertOp,
)
from xla_dialect.types import spell


def rng(a: Any, b: Any, result: str, distribution: str) -> XlaOp:
    return RngOp(
        value(a), value(b), distribution=f"rng_{distribution}", result_types=[shape(result)]
    )


def bits(state: Any, result: Any, algorithm: str = "default") -> XlaOp:
    types = [shape(result)] if isinstance(result, str) else result
    first = [] if result is None else [shape(state) if isinstance(state, str) else state]
    return RngBitGeneratorOp(
        value(state), algorithm=f"rng_{algorithm}", result_types=[*first, *(types or [])]
    )


def stochastic_convert(operand: Any, random: Any, result: Any) -> XlaOp:
    result = shape(result) if isinstance(result, str) else result
    return StochasticConvertOp(value(operand), value(random), result_types=[result])


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases(
            "rng",
            ("C1", lambda: rng("s32[]", "s32[]", "s32[4]", "normal")),
            ("C1", lambda: rng("f32[1]", "f32[]", "f32[4]", "normal")),
            ("C1", lambda: rng("f32[]", "f64[]", "f32[4]", "normal")),
            ("C1", lambda: rng("c64[]", "c64[]", "c64[4]", "uniform")),
            ("C1", lambda: rng("f32[]", "f32[2]", "f32[4]", "uniform")),
            ("C1", lambda: rng("s32[]", "s32[]", "u32[4]", "uniform")),
            ("Result", lambda: RngOp(value("f32[]"), value("f32[]"), distribution="rng_normal")),
        ),
        *cases(
            "rng_bit_generator",
            ("C1", lambda: bits("u32[2]", "u32[4]")),
            ("C1", lambda: bits("u64[1]", "u32[4]")),
            ("C1", lambda: bits("u64[2,1]", "u32[4]")),
            ("C1", lambda: bits("u64[4]", "u32[4]", "philox")),
            ("C1", lambda: bits("u64[3]", "u32[4]", "three_fry")),
            ("C1", lambda: bits(tuple_of(), "u32[4]", "three_fry")),
            ("C2", lambda: bits("u64[2]", "f32[4]")),
            ("C2", lambda: bits("u64[2]", "u4[4]")),
            ("C2", lambda: bits("u64[2]", "pred[4]")),
            ("Result", lambda: bits("u64[2]", None)),
            ("Result", lambda: bits("u64[2]", [shape("u32[4]")] * 2)),
        ),
        *cases(
            "stochastic_convert",
            ("C1", lambda: stochastic_convert("s32[4]", "u32[4]", "s8[4]")),
            ("C2", lambda: stochastic_convert("f32[4]", "s32[4]", "s8[4]")),
            ("C2", lambda: stochastic_convert("f32[4]", "u16[4]", "s8[4]")),
            ("C2", lambda: stochastic_convert("f32[4]", "u32[5]", "s8[4]")),
            ("C3", lambda: stochastic_convert("f32[4]", "u32[4]", "pred[4]")),
            ("Result", lambda: stochastic_convert("f32[4]", "u32[4]", "s8[5]")),
        ),
    ],
)
def test_constraint(name: str, label: str, build: Any):
    assert_violates(name, label, build)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: rng("pred[]", "pred[]", "pred[0]", "uniform"), ["pred[0]"]),
        (lambda: rng("bf16[]", "bf16[]", "bf16[2,3]", "normal"), ["bf16[2,3]"]),
        (lambda: bits("u64[3]", "s8[2]"), ["u64[3]", "s8[2]"]),
        (lambda: bits("u64[2]", "u64[]", "three_fry"), ["u64[2]", "u64[]"]),
        (lambda: RngGetAndUpdateStateOp(delta=4), ["u64[2]"]),
        (lambda: stochastic_convert("f32[4]", "u32[4]", "bf16[4]"), ["bf16[4]"]),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(type_) for type_ in accepts(build).infer_types()] == expected


def test_bits_as_one_tuple():
    accepts(
        lambda: RngBitGeneratorOp(
            value("u64[2]"),
            algorithm="rng_philox",
            result_types=[tuple_of("u64[2]", "u32[4]")],
        )
    )
