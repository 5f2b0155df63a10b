"""Computations as Python functions and as programs of other builders."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from built_programs import build, evaluate, f32, reparsed, s32
from xdsl.dialects.func import FuncOp

from xla_dialect.builder import BuildError, XlaBuilder, XlaComputation, XlaValue
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops.control_flow import CallOp
from xla_dialect.reference import run


def program(name: str, types: list[str], body: Callable[..., Any]) -> XlaComputation:
    """A computation of its own builder."""
    b = XlaBuilder(name)
    return b.build_computation(body(b, *(b.parameter(i, t) for i, t in enumerate(types))))


SCALARS = ["f32[]", "f32[]"]


@pytest.mark.parametrize(
    "computation",
    [
        lambda b: b.add,
        lambda b: lambda a, c: a + c,
        lambda b: lambda *values: values[0] + values[1],
        lambda b: program("sum", SCALARS, lambda inner, a, c: inner.add(a, c)),
        lambda b: program("sum", SCALARS, lambda inner, a, c: inner.call(inner.add, [a, c])),
    ],
    ids=["method", "lambda", "rest", "builder", "builder-with-call"],
)
def test_forms(computation: Any) -> None:
    x = f32([1, 2, 3], [4, 5, 6])

    def body(b: XlaBuilder, x: XlaValue) -> Any:
        return b.reduce(x, 0, computation(b), [1])

    np.testing.assert_array_equal(evaluate(body, x), f32([6, 15]))
    np.testing.assert_array_equal(evaluate(body, x, compiled=True), f32([6, 15]))


def test_parameters_are_named_as_in_python() -> None:
    module = build(lambda b, x: b.reduce(x, 0, lambda total, value: total + value, [0]), "f32[4]")
    assert "to_apply (%total: tensor<f32>, %value: tensor<f32>)" in print_mlir(module)


def test_names_that_the_ir_does_not_have() -> None:
    module = build(lambda b, x: b.reduce(x, 0, lambda α, β: α + β, [0]), "f32[4]")
    reparsed(module)


def test_values_from_around_are_captured() -> None:
    def body(b: XlaBuilder, x: XlaValue, limit: XlaValue) -> Any:
        def step(k: XlaValue) -> Any:
            return b.conditional(k > limit, (), lambda: k + limit, (), lambda: k * 2)

        return b.while_(lambda k: k < limit * 3, step, x)

    # 5 10 20 32
    np.testing.assert_array_equal(evaluate(body, s32(5), s32(12)), s32(44))


def test_a_loop_without_values() -> None:
    module = build(lambda b: b.while_(lambda: b.constant(False), lambda: (), []))
    assert run(module) == ()


@pytest.mark.parametrize("several", [False, True])
def test_calls_give_what_the_computation_returns(several: bool) -> None:
    def function(b: XlaBuilder, x: XlaValue) -> Any:
        return (x + 1, x * 2) if several else x + 1

    def body(b: XlaBuilder, x: XlaValue) -> Any:
        direct = b.call(lambda y: function(b, y), [x])
        built = b.call(program("f", ["f32[2]"], function), [x])
        fused = b.fusion([x], lambda y: function(b, y), "kLoop")
        branched = b.conditional(
            b.constant(True), x, lambda y: function(b, y), x, lambda y: function(b, y)
        )
        for found in (direct, built, fused, branched):
            assert isinstance(found, tuple if several else XlaValue)
        return (*direct, *built, *fused, *branched) if several else (direct, built, fused, branched)

    x = f32([1, 5])
    expected = [x + 1, x * 2] if several else [x + 1]
    for found, value in zip(evaluate(body, x), expected * 4, strict=True):
        np.testing.assert_array_equal(found, value)


def functions(module: Any) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}


def test_one_function_for_each_computation() -> None:
    square = program("square", ["f32[]"], lambda b, x: x * x)

    def body(b: XlaBuilder, x: XlaValue) -> Any:
        y = b.call(square, [b.call(square, [x])])
        return b.call(lambda z: z + 1, [b.call(lambda z: b.call(square, [z]), [y])])

    module = build(body, "f32[]")
    assert list(functions(module)) == ["main", "square", "lambda", "lambda.1"]
    assert [f.sym_visibility.data for f in functions(module).values() if f.sym_visibility] == [
        "public", "private", "private", "private",
    ]  # fmt: skip
    assert run(module, [f32(2)]) == (257,)


def test_functions_of_other_builders_keep_out_of_each_others_way() -> None:
    def nested(constant: float) -> XlaComputation:
        def helper(b: XlaBuilder, x: XlaValue) -> XlaValue:
            inner = program("helper", ["f32[]"], lambda c, y: y * constant)
            return b.call(lambda y: b.call(inner, [y]), [x])

        return program("main", ["f32[]"], helper)

    twice, thrice = nested(2), nested(3)

    def body(b: XlaBuilder, x: XlaValue) -> Any:
        product = b.call(thrice, [b.call(twice, [x])])
        return product, b.fusion([x], twice), b.fusion([x], thrice)

    module = reparsed(build(body, "f32[]"))
    assert run(module, [f32(5)]) == (30, 10, 15)
    called = {op.to_apply.root_reference.data for op in module.walk() if isinstance(op, CallOp)}
    assert called == functions(module).keys() - {"main"}
    assert len(called) == 6


def test_the_order_of_parameters_is_free() -> None:
    b = XlaBuilder("p")
    second = b.parameter(1, "s32[]", "second")
    first = b.parameter(0, "f32[2]", "first")
    module = b.build([second, first])
    assert "@main(%first: tensor<2xf32>, %second: tensor<i32>)" in print_mlir(module)


def test_an_operation_rejects_what_does_not_fit() -> None:
    wrong = program("wrong", ["f32[]"], lambda b, x: x)
    with pytest.raises(BuildError, match=r"xla\.reduce: \(RC1\)"):
        build(lambda b, x: b.reduce(x, 0, wrong, [0]), "f32[4]")
    with pytest.raises(BuildError, match=r"xla\.call: \(C1\) 2 operands for 1 parameters"):
        build(lambda b, x: b.call(wrong, [x, x]), "f32[]")
    with pytest.raises(BuildError, match=r"xla\.call: \(C2\) argument 0 is s32\[\]"):
        build(lambda b, x: b.call(wrong, [x]), "s32[]")
    with pytest.raises(BuildError, match=r"xla\.while: \(C1\)"):
        build(lambda b, x: b.while_(lambda k: k, lambda k: k, x), "f32[]")
    with pytest.raises(BuildError, match=r"xla\.while: \(C2\)"):
        build(lambda b, x: b.while_(lambda k: k < 1, lambda k: k < 1, x), "f32[]")


def test_a_scan_without_inputs() -> None:
    """Scan: the outputs say what is stacked, `length` how often."""
    b = XlaBuilder("count")
    start = b.parameter(0, "f32[2]")
    found = b.scan([], [start], lambda x: (x, x + 1), -1, length=3)
    stacked, last = run(b.build(found), [np.array([0, 10], np.float32)])
    np.testing.assert_array_equal(stacked, [[0, 1, 2], [10, 11, 12]])
    np.testing.assert_array_equal(last, [3, 13])


@pytest.mark.parametrize(
    ("dimension", "length", "message"),
    [
        (0, None, r"\(C2\) either there are inputs, or length is given"),
        (0, -1, r"\(C2\) length is -1"),
        (2, 2, r"\(C2\) dimension 2 for rank 2"),
    ],
)
def test_a_scan_of_nothing(dimension: int, length: int | None, message: str) -> None:
    b = XlaBuilder("nothing")
    start = b.parameter(0, "f32[2]")
    with pytest.raises(BuildError, match=message):
        b.scan([], [start], lambda x: (x, x), dimension, length=length)
