"""Contractions on the tensors level against the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import computation, numbers, shape
from tensors_level import check, check_natively

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.elementwise import AddOp, MultiplyOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import ELEMENT_TYPES


def dot(result: str | None, *, batch: Any = ((), ()), contracting: Any = ((1,), (0,))) -> Any:
    def build(x: Any, y: Any) -> XlaOp:
        properties: dict[str, Any] = {
            "lhs_batch_dims": list(batch[0]),
            "rhs_batch_dims": list(batch[1]),
            "lhs_contracting_dims": list(contracting[0]),
            "rhs_contracting_dims": list(contracting[1]),
        }
        if result is None:
            return DotOp(x, y, **properties)
        like = DotOp(x, y, **properties, result_types=[shape(f"{result}[]")])
        (inferred,) = like.infer_types()
        return DotOp(x, y, **properties, result_types=[inferred])

    return build


@pytest.mark.parametrize("name", [e.name for e in ELEMENT_TYPES])
def test_every_element_type(name: str) -> None:
    x = numbers(name, np.arange(6).reshape(2, 3) % 3)
    y = numbers(name, np.arange(12).reshape(3, 4) % 2)
    check(dot(None), x, y)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ("bf16", "bf16", "f32"),
        ("f16", "f16", "f32"),
        ("bf16", "f32", "f32"),
        ("f32", "f32", "bf16"),
        ("f32", "f32", "f64"),
        ("f8e4m3fn", "f8e5m2", "f32"),
        ("s8", "s8", "s32"),
        ("u8", "s8", "s32"),
        ("u8", "u8", "u32"),
        ("s32", "s32", "s8"),
        ("s4", "s4", "s32"),
        ("s8", "s8", "f32"),
        ("pred", "pred", "s32"),
        ("f32", "f32", "c64"),
    ],
)
def test_result_types(left: str, right: str, result: str) -> None:
    x = numbers(left, np.arange(6).reshape(2, 3) % 2)
    y = numbers(right, np.arange(6).reshape(3, 2) % 2)
    check(dot(result), x, y)


def test_accumulates_in_f32_and_rounds_once() -> None:
    ones = numbers("bf16", np.ones((17, 1)))
    check(dot(None), numbers("bf16", [[256.0] + [1.0] * 16]), ones)
    check(dot(None), numbers("f16", [[6e4, 6e4, -6e4]]), numbers("f16", np.ones((3, 1))))
    check(dot(None), numbers("s8", [[100, 100]]), numbers("s8", [[100], [100]]))


def test_empty_and_outer() -> None:
    nothing = ((), ())
    check(dot(None, contracting=nothing), numbers("f32", [1, 2]), numbers("f32", [3, 4, 5]))
    check(dot(None, contracting=nothing), numbers("f32", 3), numbers("f32", 4))
    check(dot(None), numbers("f32", np.zeros((2, 0))), numbers("f32", np.zeros((0, 3))))
    check(dot(None), numbers("bf16", np.zeros((2, 0))), numbers("bf16", np.zeros((0, 3))))
    check(dot(None), numbers("f32", np.zeros((0, 2))), numbers("f32", np.zeros((2, 3))))
    check(dot(None, contracting=((0,), (0,))), numbers("f32", [1, 2]), numbers("f32", [3, 4]))


@given(st.data())
def test_any_dimension_numbers(data: st.DataObject) -> None:
    sizes = {"b": 2, "B": 3, "m": 2, "M": 1, "n": 3, "k": 2, "K": 3}
    batch = data.draw(st.sampled_from(["", "b", "bB"]))
    contracted = data.draw(st.sampled_from(["", "k", "kK"]))
    left = data.draw(
        st.permutations(batch + contracted + data.draw(st.sampled_from(["", "m", "mM"])))
    )
    right = data.draw(st.permutations(batch + contracted + data.draw(st.sampled_from(["", "n"]))))
    generator = np.random.default_rng(0)
    operands = [
        numbers("s32", generator.integers(-9, 9, [sizes[c] for c in names]))
        for names in (left, right)
    ]
    check(
        dot(
            None,
            batch=([left.index(c) for c in batch], [right.index(c) for c in batch]),
            contracting=([left.index(c) for c in contracted], [right.index(c) for c in contracted]),
        ),
        *operands,
    )


@pytest.mark.parametrize("dimension", [0, 1])
def test_weighted_by_position(dimension: int) -> None:
    """A contraction of which one factor is made of positions alone."""

    def build(x: Any, zero: Any) -> XlaOp:
        weights = IotaOp(iota_dimension=dimension, result_types=[x.type])
        regions = [computation(["f32[]", "f32[]"], AddOp)]
        return ReduceOp([MultiplyOp(x, weights).result], [zero], dimensions=[0], regions=regions)

    x = numbers("f32", np.arange(6 * 50).reshape(6, 50) % 7)
    check_natively(build, x, numbers("f32", 0))
