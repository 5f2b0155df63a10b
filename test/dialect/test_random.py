"""The result types of random numbers."""

from typing import Any

import pytest
from small_programs import shape, tuple_of, value
from violations import accepts

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
        value(a), value(b), [], distribution=f"rng_{distribution}", result_types=[shape(result)]
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
