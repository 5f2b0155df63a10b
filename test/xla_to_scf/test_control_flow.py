"""Loops and branches on the tensors level against the reference."""

from typing import Any

import numpy as np
import pytest
from small_programs import computation, constant, numbers, shape
from tensors_level import check

from xla_dialect.ops.control_flow import ConditionalOp, WhileOp
from xla_dialect.ops.elementwise import AddOp, CompareOp, MultiplyOp, NegateOp, SubtractOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp

ZERO = numbers("s32", 0)


def counted(limit: int) -> Any:
    """A loop over a tuple (counter, value, step), whose value grows by step."""

    def element(state: Any, index: int) -> Any:
        return GetTupleElementOp(state, index=index)

    def build(state: Any) -> Any:
        condition = computation(
            [state.type],
            lambda s: CompareOp(element(s, 0), constant("s32", limit), direction="LT"),
        )

        def step(s: Any) -> Any:
            counter = AddOp(element(s, 0), constant("s32", 1))
            return TupleOp([counter, AddOp(element(s, 1), element(s, 2)), element(s, 2)])

        return WhileOp([state], regions=[condition, computation([state.type], step)])

    return build


@pytest.mark.parametrize("limit", [-1, 0, 1, 7])
@pytest.mark.parametrize("name", ["f32", "u8", "bf16"])
def test_while(limit: int, name: str) -> None:
    state = (ZERO, numbers(name, [1, 2]), numbers(name, [100, 3]))
    check(counted(limit), state)


def test_while_that_runs_never_gives_the_initial_values() -> None:
    def build(x: Any, y: Any) -> Any:
        condition = computation([x.type, y.type], lambda a, b: constant("pred", False))
        body = computation([x.type, y.type], lambda a, b: [b, a])
        return WhileOp([x, y], regions=[condition, body])

    check(build, numbers("f32", 1), numbers("f32", 2))


def test_values_that_change_places() -> None:
    """The body returns its parameters, but not where it got them."""

    def build(i: Any, x: Any, y: Any) -> Any:
        types = [i.type, x.type, y.type]
        condition = computation(
            types, lambda i, a, b: CompareOp(i, constant("s32", 3), direction="LT")
        )
        body = computation(types, lambda i, a, b: [AddOp(i, constant("s32", 1)), b, a])
        return WhileOp([i, x, y], regions=[condition, body])

    check(build, ZERO, numbers("f32", [1, 2]), numbers("f32", [3, 4]))


def test_loops_in_loops_with_values_from_outside() -> None:
    def build(x: Any, scale: Any) -> Any:
        scalar = shape("s32[]")

        def below(limit: int) -> Any:
            return lambda i, a: CompareOp(i, constant("s32", limit), direction="LT")

        def inner(i: Any, a: Any) -> Any:
            return [AddOp(i, constant("s32", 1)), MultiplyOp(a, scale)]

        def outer(i: Any, a: Any) -> Any:
            types = [scalar, x.type]
            nested = WhileOp(
                [constant("s32", 0), a],
                regions=[computation(types, below(2)), computation(types, inner)],
            )
            return [AddOp(i, constant("s32", 1)), SubtractOp(nested.outputs[1], x)]

        types = [scalar, x.type]
        return WhileOp(
            [constant("s32", 0), x],
            regions=[computation(types, below(3)), computation(types, outer)],
        )

    check(build, numbers("s32", [1, 2, 3]), numbers("s32", [2, 3, 4]))


@pytest.mark.parametrize("choice", [False, True])
def test_conditional_on_pred(choice: bool) -> None:
    def build(p: Any, x: Any, y: Any) -> Any:
        branches = [
            computation([x.type], NegateOp),
            computation([y.type], lambda b: AddOp(b, b)),
        ]
        return ConditionalOp(p, [x, y], regions=[branches])

    check(build, np.array(choice), numbers("u8", [1, 2]), numbers("u8", [200, 4]))


@pytest.mark.parametrize("index", [0, 1, 2, 3, -1, -(2**31), 2**31 - 1])
@pytest.mark.parametrize("count", [1, 3])
def test_conditional_on_a_number(index: int, count: int) -> None:
    def build(i: Any) -> Any:
        branches = [
            computation([], lambda n=n: [constant("s32", 10 * n), constant("f32", [n, n])])
            for n in range(count)
        ]
        return ConditionalOp(i, [], regions=[branches])

    check(build, numbers("s32", index))


def test_conditional_on_tuples() -> None:
    def build(p: Any, x: Any) -> Any:
        swap = computation(
            [x.type],
            lambda t: TupleOp([GetTupleElementOp(t, index=1), GetTupleElementOp(t, index=0)]),
        )
        return ConditionalOp(p, [x, x], regions=[[swap, computation([x.type], lambda t: t)]])

    pair = (numbers("f32", 1), numbers("f32", 2))
    check(build, np.array(True), pair)
    check(build, np.array(False), pair)


def test_branches_without_results() -> None:
    def build(p: Any, x: Any) -> Any:
        branches = [computation([x.type], lambda t: []) for _ in range(2)]
        return [*ConditionalOp(p, [x, x], regions=[branches]).outputs, x]

    check(build, np.array(True), numbers("f32", 3))


def test_a_loop_over_the_empty_tuple() -> None:
    def build(state: Any, x: Any) -> Any:
        condition = computation([state.type], lambda s: constant("pred", False))
        loop = WhileOp([state], regions=[condition, computation([state.type], lambda s: s)])
        return [loop, x]

    check(build, (), numbers("f32", 3))
