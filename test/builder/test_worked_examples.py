"""Worked examples of methods that are more than one operation, or spell it otherwise."""

from typing import Any

import numpy as np
import pytest
from built_programs import build, evaluate, f32, reparsed, s32
from xdsl.dialects.builtin import DictionaryAttr, StringAttr

from xla_dialect.builder import BuildError, DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.hlo_text import read_hlo
from xla_dialect.ops.control_flow import CallOp

V = f32(
    [
        [[10, 11, 12], [15, 16, 17]],
        [[20, 21, 22], [25, 26, 27]],
        [[30, 31, 32], [35, 36, 37]],
        [[40, 41, 42], [45, 46, 47]],
    ]
)


def same(found: Any, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(found, expected, strict=True)


def test_broadcast_of_a_scalar() -> None:
    found = evaluate(lambda b: b.broadcast(b.constant(2.0), [2, 3]))
    same(found, np.full((2, 3), 2, np.float32))


def test_broadcast_puts_new_dimensions_first() -> None:
    same(
        evaluate(lambda b, x: b.broadcast(x, [2, 0]), f32([7, 8])), np.zeros((2, 0, 2), np.float32)
    )
    same(evaluate(lambda b, x: b.broadcast(x, [2]), f32([7, 8])), f32([7, 8], [7, 8]))


def test_broadcast_in_dim() -> None:
    vector = f32([7, 8, 9])
    same(evaluate(lambda b, x: b.broadcast_in_dim(x, [2, 3], [1]), vector), f32([[7, 8, 9]] * 2))
    same(evaluate(lambda b, x: b.broadcast_in_dim(x, [3, 3], [0]), vector), f32([[7, 8, 9]] * 3).T)


def test_broadcast_in_dim_stretches() -> None:
    column = f32([[1], [2]])
    same(
        evaluate(lambda b, x: b.broadcast_in_dim(x, [2, 3], [0, 1]), column), f32([1] * 3, [2] * 3)
    )


@pytest.mark.parametrize(
    ("out_dim_size", "broadcast_dimensions", "label"),
    [
        ([2, 3], [0], "C1"),
        ([3], [0, 0], "C2"),
        ([2, 3], [0, 2], "C3"),
        ([2, 3], [1, 0], "C3"),
        ([2, 3], [-2, -1], "C3"),
        ([3, 3], [0, 1], "C4"),
        ([2, 3, -1], [0, 1], "C5"),
    ],
)
def test_broadcast_in_dim_rules(
    out_dim_size: list[int], broadcast_dimensions: list[int], label: str
) -> None:
    with pytest.raises(BuildError, match=rf"broadcast_in_dim: \({label}\)"):
        build(lambda b, x: b.broadcast_in_dim(x, out_dim_size, broadcast_dimensions), "f32[2,3]")


@pytest.mark.parametrize(
    ("dimensions", "sizes"),
    [
        pytest.param([0, 1, 2], (24,), id="example 1"),
        pytest.param([0, 1], (8, 3), id="example 2"),
        pytest.param([1, 2], (4, 6), id="example 3"),
        pytest.param([-2, -1], (4, 6), id="from the end"),
        pytest.param([1], (4, 2, 3), id="C2"),
        pytest.param([], (4, 2, 3), id="C2-empty"),
    ],
)
def test_collapse(dimensions: list[int], sizes: tuple[int, ...]) -> None:
    same(evaluate(lambda b, x: b.collapse(x, dimensions), V), V.reshape(sizes))


@pytest.mark.parametrize("dimensions", [[1, 0], [0, 2], [2, 3], [-4, -3], [3]])
def test_collapse_c1(dimensions: list[int]) -> None:
    with pytest.raises(BuildError, match=r"collapse: \(C1\)"):
        build(lambda b, x: b.collapse(x, dimensions), "f32[4,2,3]")


def test_composite_call() -> None:
    """What the reader makes of the text of the example, the builder makes."""
    imported = read_hlo(
        "HloModule m\n"
        "computation {\n  c = f32[] constant(0.5)\n  x = f32[] parameter(0)\n"
        "  ROOT y = f32[] add(x, c)\n}\n"
        "ENTRY e {\n  p = f32[] parameter(0)\n"
        "  ROOT r = f32[] call(p), to_apply=computation, is_composite=true, frontend_attributes="
        '{composite.attributes={n = 1 : i32, tensor = dense<1> : tensor<i32>},composite.name="foo.bar",composite.version="1"}\n}\n'
    )

    def body(b: XlaBuilder, x: XlaValue) -> XlaValue:
        attributes = "{n = 1 : i32, tensor = dense<1> : tensor<i32>}"
        return b.composite_call(lambda y: y + 0.5, [x], "foo.bar", attributes, version=1)

    (expected,) = (op for op in imported.walk() if isinstance(op, CallOp))
    (found,) = (op for op in reparsed(build(body, "f32[]")).walk() if isinstance(op, CallOp))
    name = "xla.frontend_attributes"
    assert found.attributes[name] == expected.attributes[name]
    assert found.is_composite == expected.is_composite
    same(evaluate(body, f32(1)), f32(1.5))


def test_a_composite_call_without_attributes() -> None:
    module = build(lambda b, x: b.composite_call(b.tanh, [x], "a.b"), "f32[2]")
    (call,) = (op for op in module.walk() if isinstance(op, CallOp))
    assert call.attributes["xla.frontend_attributes"] == DictionaryAttr(
        {"composite.name": StringAttr("a.b"), "composite.version": StringAttr("0")}
    )


@pytest.mark.parametrize(
    ("name", "version", "label"),
    [("tanh", 0, "C3"), ("", 0, "C3"), (".b", 0, "C3"), ("a.b", -1, "C4")],
)
def test_composite_call_rules(name: str, version: int, label: str) -> None:
    with pytest.raises(BuildError, match=rf"composite_call: \({label}\)"):
        build(lambda b, x: b.composite_call(b.tanh, [x], name, version=version), "f32[2]")


@pytest.mark.parametrize("index", [0, 1, 2, 3, -1, -2147483648])
def test_conditional_on_an_index(index: int) -> None:
    def body(b: XlaBuilder, i: XlaValue) -> XlaValue:
        branches = [lambda value=value: b.constant(value) for value in (10, 20, 30)]
        return b.conditional(i, branches, [(), (), ()])

    same(evaluate(body, s32(index)), s32({0: 10, 1: 20}.get(index, 30)))


@pytest.mark.parametrize("pred", [True, False])
def test_conditional_on_pred(pred: bool) -> None:
    def body(b: XlaBuilder, p: XlaValue, x: XlaValue, y: XlaValue) -> Any:
        return b.conditional(p, x, b.neg, [x, y], lambda u, w: u * w)

    found = evaluate(body, np.array(pred), f32([2, 3]), f32([5, 7]))
    same(found, f32([-2, -3]) if pred else f32([10, 21]))


@pytest.mark.parametrize(
    ("arguments", "label"),
    [
        (lambda b, i, c: (i, i, b.neg, i, b.neg), r"A\.C1"),
        (lambda b, i, c: (c, [b.neg, b.neg], [i, i]), r"B\.C1"),
        (lambda b, i, c: (i, [b.neg], [i, i]), r"B\.C2"),
        (lambda b, i, c: (i, [], []), "C2"),
        (lambda b, i, c: (c, i, b.neg, c, b.not_), "C4"),
    ],
)
def test_conditional_rules(arguments: Any, label: str) -> None:
    with pytest.raises(BuildError, match=rf"conditional: \({label}\)"):
        build(lambda b, i, c: b.conditional(*arguments(b, i, c)), "s32[]", "pred[]")


DOTS = [
    pytest.param(f32([1, 2]), f32([3, 4]), f32(11), id="vector-vector"),
    pytest.param(f32([1, 2], [3, 4]), f32([1, 10]), f32([21, 43]), id="matrix-vector"),
    pytest.param(f32([1, 10]), f32([1, 2], [3, 4]), f32([31, 42]), id="vector-matrix"),
    pytest.param(f32([[1, 2]]), f32([1, 2], [3, 4]), f32([[7, 10]]), id="matrix-matrix"),
]


@pytest.mark.parametrize(("lhs", "rhs", "result"), DOTS)
def test_dot(lhs: np.ndarray, rhs: np.ndarray, result: np.ndarray) -> None:
    same(evaluate(lambda b, x, y: x @ y, lhs, rhs), result)


@pytest.mark.parametrize(
    ("lhs", "rhs", "label"),
    [
        ("f32[]", "f32[]", "C2"),
        ("f32[2,2,2]", "f32[2]", "C2"),
        ("f32[2]", "f32[3]", "C2"),
        ("f32[2]", "f64[2]", "C1"),
    ],
)
def test_dot_rules(lhs: str, rhs: str, label: str) -> None:
    with pytest.raises(BuildError, match=rf"\({label}\)"):
        build(lambda b, x, y: b.dot(x, y), lhs, rhs)


def test_dot_general() -> None:
    lhs, rhs = f32([1, 2, 3], [4, 5, 6]), f32([1, 1, 1], [2, 2, 2])
    numbers = DotDimensionNumbers([1], [1])
    found = evaluate(lambda b, x, y: b.dot_general(x, y, numbers), lhs, rhs)
    same(found, f32([6, 12], [15, 30]))

    batched = f32([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
    numbers = DotDimensionNumbers([-1], [-2], [0], [0])
    identities = np.stack([np.eye(2, dtype=np.float32)] * 2)
    same(evaluate(lambda b, x, y: b.dot_general(x, y, numbers), batched, identities), batched)

    hundreds = np.array([100, 100], np.int8)
    numbers = DotDimensionNumbers([0], [0])
    found = evaluate(lambda b, x: b.dot_general(x, x, numbers, "s32"), hundreds)
    same(found, s32(20000))
    same(evaluate(lambda b, x: b.dot_general(x, x, numbers), hundreds), np.array(32, np.int8))


def test_clamp() -> None:
    same(evaluate(lambda b, x: b.clamp(0, x, 6), s32([-1, 5, 9])), s32([0, 5, 6]))


def test_select_of_whole_arrays_and_tuples() -> None:
    v1, v2 = s32([1, 2, 3, 4]), s32([100, 200, 300, 400])
    same(evaluate(lambda b, x, y: b.select(b.constant(True), x, y), v1, v2), v1)

    def body(b: XlaBuilder, c: XlaValue, x: XlaValue, y: XlaValue) -> XlaValue:
        return b.select(c, b.tuple([x, b.tuple([y])]), b.tuple([y, b.tuple([x])]))

    for choice, expected in ((True, (v1, v2)), (False, (v2, v1))):
        found = evaluate(body, np.array(choice), v1, v2)
        same(found[0], expected[0])
        same(found[1], expected[1])


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (lambda b, p, x: b.select(p, b.tuple([x]), b.tuple([x])), "C4"),
        (lambda b, p, x: b.select(p, b.tuple([x]), b.tuple([p])), "C2"),
        (lambda b, p, x: b.select(p, b.tuple([x]), x), "C2"),
        (lambda b, p, x: b.select(x, x, x), "C1"),
        (lambda b, p, x: b.select(p, x, b.constant([1.0])), "C2"),
    ],
)
def test_select_rules(body: Any, label: str) -> None:
    with pytest.raises(BuildError, match=rf"select: \({label}\)"):
        build(body, "pred[4]", "f32[4]")


def test_pad() -> None:
    x = f32([1, 2, 3])
    for config, expected in (
        ((1, 2, 1), [0, 1, 0, 2, 0, 3, 0, 0]),
        ((-1, 2, 1), [0, 2, 0, 3, 0, 0]),
        ((-1, -2, 2), [0, 0, 2, 0]),
        ((0, 1), [1, 2, 3, 0]),
    ):
        same(evaluate(lambda b, x, c=config: b.pad(x, 0, [c]), x), f32(expected))


def test_while() -> None:
    def body(b: XlaBuilder, vector: XlaValue) -> Any:
        return b.while_(
            lambda count, _: count < 1000,
            lambda count, sums: (count + 1, sums + vector),
            [b.constant(0), b.constant(0, "f32[10]")],
        )

    count, sums = evaluate(body, np.full(10, 0.5, np.float32))
    same(count, s32(1000))
    same(sums, np.full(10, 500, np.float32))


def test_a_while_that_carries_a_tuple() -> None:
    def body(b: XlaBuilder, vector: XlaValue) -> XlaValue:
        return b.while_(
            lambda state: state[0] < 3,
            lambda state: b.tuple([state[0] + 1, state[1] * 2]),
            b.tuple([b.constant(0), vector]),
        )

    count, powers = evaluate(body, f32([1, 3]))
    same(count, s32(3))
    same(powers, f32([8, 24]))


def test_reduce_of_pairs() -> None:
    """The last maximum and its index: `value >= max ? (value, index) : (max, argmax)`."""

    def body(b: XlaBuilder, values: XlaValue) -> Any:
        def later(best: XlaValue, at: XlaValue, value: XlaValue, index: XlaValue) -> Any:
            better = value >= best
            return b.select(better, value, best), b.select(better, index, at)

        return b.reduce([values, b.iota("s32[4]", 0)], [-np.inf, -1], later, [0])

    value, index = evaluate(body, f32([1, 3, 3, 2]))
    same(value, f32(3))
    same(index, s32(2))


def test_numbers_may_be_those_of_numpy() -> None:
    order, sizes = np.array([2, 0, 1]), np.array([4, 6])
    same(evaluate(lambda b, x: b.transpose(x, order), V), V.transpose(order))
    same(evaluate(lambda b, x: b.reshape(x, sizes), V), V.reshape(sizes))
    same(evaluate(lambda b, x: b.concatenate([x, x], np.int64(1)), V), np.concatenate([V, V], 1))
