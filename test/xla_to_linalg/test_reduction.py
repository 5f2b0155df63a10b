"""Reductions on the tensors level against the reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_programs import computation, constant, numbers, shape
from tensors_level import check

from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.ops.reduction import MapOp, ReduceOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.types import ELEMENT_TYPES


def reduce(name: str, operation: Callable[..., Any], dimensions: list[int]) -> Callable[..., XlaOp]:
    scalar = shape(f"{name}[]")
    return lambda x, init: ReduceOp(
        [x],
        [init],
        dimensions=dimensions,
        regions=[computation([scalar, scalar], operation)],
    )


@pytest.mark.parametrize("name", [e.name for e in ELEMENT_TYPES])
def test_sums_and_extrema(name: str) -> None:
    x = numbers(name, (np.arange(24).reshape(2, 3, 4) * 7) % 5)
    init = numbers(name, 0)
    check(reduce(name, elementwise.AddOp, [1]), x, init)
    check(reduce(name, elementwise.MultiplyOp, [0, 2]), x, numbers(name, 1))
    if not name.startswith("c"):
        check(reduce(name, elementwise.MaximumOp, [2, 0, 1]), x, init)


def test_where_it_reduces() -> None:
    x = numbers("f32", np.random.default_rng(0).normal(size=(3, 4, 5)))
    for dimensions in ([], [0], [1], [2], [0, 1], [2, 1], [0, 2], [2, 1, 0]):
        check(reduce("f32", elementwise.AddOp, dimensions), x, numbers("f32", 10))


def test_empty_and_rank_zero() -> None:
    add = reduce("f32", elementwise.AddOp, [0])
    check(add, numbers("f32", np.zeros((0, 2))), numbers("f32", 7))
    check(add, numbers("f32", np.zeros((2, 0))), numbers("f32", 7))
    check(reduce("f32", elementwise.AddOp, []), numbers("f32", 3), numbers("f32", 4))
    check(reduce("f32", elementwise.AddOp, [0]), numbers("f32", np.zeros(0)), numbers("f32", -0.0))


def test_rounds_sums_once() -> None:
    x = numbers("bf16", [256.0] + [1.0] * 16)
    check(reduce("bf16", elementwise.AddOp, [0]), x, numbers("bf16", 0))


def test_order_of_arguments() -> None:
    """The accumulator is the first argument: a left fold."""
    x = numbers("s32", [1, 2, 3])
    check(reduce("s32", lambda a, v: elementwise.SubtractOp(a, v), [0]), x, numbers("s32", 100))


def argmax(value: Any, index: Any, other: Any, other_index: Any) -> list[XlaOp]:
    keep = elementwise.CompareOp(value, other, direction="GE")
    return [SelectOp(keep, value, other), SelectOp(keep, index, other_index)]


def build_argmax(in_tuple: bool) -> Callable[..., Any]:
    scalars = [shape("f32[]"), shape("u8[]")] * 2

    def pair(*arguments: Any) -> Any:
        chosen = argmax(*arguments)
        return TupleOp(chosen) if in_tuple else chosen

    def build(x: Any, y: Any, a: Any, b: Any) -> Any:
        region = computation(scalars, pair)
        op = ReduceOp([x, y], [a, b], dimensions=[1], regions=[region])
        if not in_tuple:
            return op
        tuple_type = TupleOp(list(op.results)).result.type
        whole = ReduceOp(
            [x, y],
            [a, b],
            dimensions=[1],
            regions=[computation(scalars, pair)],
            result_types=[tuple_type],
        )
        return [GetTupleElementOp(whole, index=1), GetTupleElementOp(whole, index=0)]

    return build


@pytest.mark.parametrize("in_tuple", [False, True])
def test_variadic(in_tuple: bool) -> None:
    x = numbers("f32", [[1, 3, 3, 2], [9, -1, 9, np.nan]])
    y = numbers("u8", [[0, 1, 2, 200], [0, 1, 2, 255]])
    check(build_argmax(in_tuple), x, y, numbers("f32", -np.inf), numbers("u8", 255))


def test_longer_computations() -> None:
    """Constants, conversions and values from outside, in the computation."""

    def build(x: Any, init: Any, scale: Any) -> XlaOp:
        def step(a: Any, v: Any) -> XlaOp:
            scaled = elementwise.MultiplyOp(ConvertOp(v, result_types=[shape("f32[]")]), scale)
            total = elementwise.AddOp(ConvertOp(a, result_types=[shape("f32[]")]), scaled)
            return elementwise.AddOp(
                ConvertOp(total, result_types=[shape("s32[]")]), constant("s32", 1)
            )

        scalar = shape("s32[]")
        return ReduceOp([x], [init], dimensions=[0], regions=[computation([scalar, scalar], step)])

    check(build, numbers("s32", [[1, 2], [3, 4]]), numbers("s32", 0), numbers("f32", 2.5))


def test_reduction_of_what_is_computed() -> None:
    """Fusion leaves no loop whose extent shows nowhere."""

    def build(init: Any) -> XlaOp:
        from_constant = constant("f32", np.ones((3, 4)))
        return reduce("f32", elementwise.AddOp, [1])(from_constant, init)

    check(build, numbers("f32", 0))


def test_map() -> None:
    def build(x: Any, y: Any) -> XlaOp:
        def function(a: Any, b: Any) -> XlaOp:
            return elementwise.AddOp(elementwise.MultiplyOp(a, constant("s32", 3)), b)

        region = computation([shape("s32[]")] * 2, function)
        return MapOp([x, y], dimensions=[0, 1], regions=[region])

    check(build, numbers("s32", [[1, 2], [3, 4]]), numbers("s32", [[5, 6], [7, 8]]))
    check(build, *[numbers("s32", np.zeros((0, 2)))] * 2)
