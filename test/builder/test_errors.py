"""Errors of the builder: they point at the line of the caller, and leave the builder as it was."""

import inspect
from typing import Any

import numpy as np
import pytest
from built_programs import build

from xla_dialect.builder import BuildError, XlaBuilder
from xla_dialect.reference import run
from xla_dialect.violations import place_of


def line() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_an_error_points_at_the_call() -> None:
    b = XlaBuilder("e")
    x, v = b.parameter(0, "f32[4,8]", "x"), b.parameter(1, "f32[8]", "v")
    expected = line() + 2
    with pytest.raises(BuildError) as caught:
        _ = b.tanh(x), b.add(x, v)
    assert caught.value.file == __file__
    assert caught.value.line == expected
    assert caught.value.column == 24
    head, source, caret = str(caught.value).splitlines()
    assert head.startswith(f"{__file__}:{expected}:24: error: add: (B7) sizes [4, 8] and [8]")
    assert source == "        _ = b.tanh(x), b.add(x, v)"
    assert caret == " " * 23 + "^"


def test_an_error_of_an_operator_points_at_the_expression() -> None:
    b = XlaBuilder("e")
    x, v = b.parameter(0, "f32[4,8]", "x"), b.parameter(1, "f32[8]", "v")
    expected = line() + 2
    with pytest.raises(BuildError, match="B7") as caught:
        _ = x + v
    assert (caught.value.line, caught.value.column) == (expected, 13)


def test_columns_count_characters() -> None:
    b = XlaBuilder("e")
    x, v = b.parameter(0, "f32[4,8]", "x"), b.parameter(1, "f32[8]", "v")
    with pytest.raises(BuildError, match="B7") as caught:
        _ = "äöü", b.add(x, v)
    assert caught.value.column == 20


def test_an_error_in_a_computation_points_into_it() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4,8]", "x")

    def computation(a: Any, c: Any) -> Any:
        return b.and_(a, c)

    with pytest.raises(BuildError, match=r"xla\.and: \(C1\)") as caught:
        b.reduce(x, 0, computation, [0])
    assert caught.value.line == inspect.getsourcelines(computation)[1] + 1
    # The builder stands outside again, and can go on.
    b.build(b.tanh(x))


def test_operations_have_the_place_of_their_call() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4,8]", "x")
    expected = line() + 1
    total = b.reduce(x, 0, lambda a, c: a + c, [0])
    owner = total.ssa.owner
    assert place_of(owner.location) == (__file__, expected, 0)  # pyright: ignore
    module = b.build(total)
    places = {place_of(op.location) for op in module.walk()} - {None}
    assert {(file, number) for file, number, _ in places if number == expected} == {  # pyright: ignore
        (__file__, expected)
    }


def test_later_errors_point_there_too() -> None:
    def body(b: XlaBuilder) -> Any:
        return b.while_(lambda k: k < 1, lambda k: k, b.constant(0))

    module = build(body)
    with pytest.raises(Exception, match=rf"test_errors.py:{inspect.getsourcelines(body)[1] + 1}: "):
        run(module, iteration_limit=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b, x: b.add(1, 2), "neither operand is a value"),
        (lambda b, x: b.add(x, "1"), "rhs is a Python str, not a value; constant makes one"),
        (lambda b, x: b.add(x, np.ones(8, np.float32)), "rhs is a Python ndarray"),
        (lambda b, x: np.ones(8, np.float32) + x, "lhs is a Python ndarray"),
        (lambda b, x: np.float32(1) * x, "lhs is a Python float32"),
        (lambda b, x: x == None, "rhs is a Python NoneType"),  # noqa: E711
        (lambda b, x: x + 1j, "a complex number is no f32"),
        (lambda b, x: b.constant([1, 2]) + 1.5, "1.5 is no s32"),
        (lambda b, x: b.constant([1, 2]) + 2**31, "2147483648 does not fit s32"),
        (lambda b, x: b.constant([1, 2], "u8") - -1, "-1 does not fit u8"),
        (lambda b, x: x + 1e39, "1e[+]39 does not fit f32"),
        (lambda b, x: b.constant([1, 2]) / 2, "say div"),
        (lambda b, x: b.constant([1, 2]) ** 2, "say pow"),
        (lambda b, x: 1 if x > 0 else 2, "conditional or select"),
        (lambda b, x: x > 0 and x < 1, "& | ~ between pred arrays"),
        (lambda b, x: x[0], r"f32\[4,8\] is not a tuple; parts of arrays are taken by slice"),
        (lambda b, x: list(x), "not a tuple"),
        (lambda b, x: b.tuple([x])[1], r"xla\.get_tuple_element: \(C2\)"),
        (lambda b, x: b.get_tuple_element((x, x), 2), r"get_tuple_element: \(C2\)"),
        (lambda b, x: b.tuple([x]).shape, r"\(f32\[4,8\]\) is not an array"),
        (lambda b, x: b.tuple([x]) + 1, r"\(f32\[4,8\]\) is not an array"),
        (lambda b, x: b.reduce(x, 0, 1, [0]), "1 is not a computation"),
        (
            lambda b, x: b.reduce(x, 0, lambda a: a, [0]),
            r"<lambda>\(a\) is called with 2 parameters \(f32\[\], f32\[\]\)",
        ),
        (
            lambda b, x: b.reduce(x, 0, lambda a, c: 1, [0]),
            "the result of <lambda> is a Python int",
        ),
        (lambda b, x: b.reduce(x, 0, lambda a, c: x, [0]), r"xla\.reduce: \(RC2\)"),
        (lambda b, x: b.reduce(x, [0, 0], b.add, [0]), r"reduce: \(C1\) 1 operands and 2 init"),
        (lambda b, x: b.reduce([], [], b.add, [0]), r"reduce: \(C1\)"),
        (lambda b, x: b.reduce(x, 0, b.add, [2]), r"xla\.reduce: \(C4\)"),
        (lambda b, x: b.reduce(x, 0, b.add, [-3]), r"xla\.reduce: \(C4\)"),
        (lambda b, x: b.transpose(x, [0, 0]), r"xla\.transpose: \(C1\)"),
        (lambda b, x: b.reshape(x, [-1, 8]), r"reshape: \(C1\)"),
        (lambda b, x: b.reshape(x, [5]), r"xla\.reshape: \(C2\)"),
        (lambda b, x: b.broadcast(x, [2**62]), r"\(Size\)"),
        (lambda b, x: b.broadcast(x, [2**70]), r"\(Size\)"),
        (lambda b, x: b.reshape(x, [2**70]), r"xla\.reshape: \(C2\)"),
        (
            lambda b, x: b.slice(x, [2**63, 0], [4, 8]),
            "start_indices: 9223372036854775808 is not an",
        ),
        (lambda b, x: b.top_k(x, 2**64), "k: 18446744073709551616 is not an integer of 64 bits"),
        (lambda b, x: b.parameter(1, ("f32", (2**70,))), "more than 2.63 - 1 elements"),
        (
            lambda b, x: b.parameter(1, "f32[99999999999,99999999999]"),
            "more than 2.63 - 1 elements",
        ),
        (lambda b, x: b.call(lambda y: b.parameter(1, "f32[]"), [x]), "arguments of its function"),
        (lambda b, x: b.call(lambda y: b.build(y), [x]), "has not returned yet"),
        (lambda b, x: b.broadcast(x, [-1]), r"broadcast: \(C2\)"),
        (lambda b, x: b.concatenate([], 0), r"xla\.concatenate: \(C1\)"),
        (lambda b, x: b.pad(x, 0, [(1, 1)]), r"xla\.pad: \(C2\)"),
        (lambda b, x: b.pad(x, 0, [(1,), (2,)]), r"pad: \(C2\)"),
        (lambda b, x: b.iota("f32[]", 0), r"xla\.iota: \(C2\)"),
        (lambda b, x: b.iota("token[]", 0), "not the type of an array"),
        (lambda b, x: b.bitcast_convert_type(x, "c64"), r"xla\.bitcast_convert: \(C4\)"),
        (lambda b, x: b.dynamic_slice(x, [0], [1, 1]), r"xla\.dynamic_slice: \(C1\)"),
        (lambda b, x: b.dynamic_slice(x, [1.5, 0], [1, 1]), "1.5 is no s32"),
        (lambda b, x: x.named("a b"), "not a name"),
        (lambda b, x: b.parameter(0, "f32[]"), "parameter 0"),
        (lambda b, x: b.parameter(-1, "f32[]"), "parameter -1"),
    ],
)
def test_messages(call: Any, message: str) -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4,8]", "x")
    with pytest.raises(BuildError, match=message) as caught:
        call(b, x)
    assert caught.value.file == __file__


@pytest.mark.parametrize(
    "call",
    [
        lambda b, x: b.add(x, b.constant(1.0)),
        lambda b, x: b.broadcast(x, [2]),
        lambda b, x: b.collapse(x, [0, 1]),
        lambda b, x: b.reduce_window(x, 0, b.add, [1, 1]),
        lambda b, x: b.conv(x, x, [], "SAME"),
        lambda b, x: b.neg(b.transpose(x, [1, 0])),
    ],
)
def test_dimensions_without_a_bound(call: Any) -> None:
    b = XlaBuilder("e")
    with pytest.raises(BuildError, match=r"\(Size\) .*unbounded"):
        call(b, b.parameter(0, "f32[?,2]"))


def test_values_of_another_builder() -> None:
    b, other = XlaBuilder("one"), XlaBuilder("other")
    x, y = b.parameter(0, "f32[]"), other.parameter(0, "f32[]")
    with pytest.raises(BuildError, match="a value of another builder, 'other'"):
        b.add(x, y)


def test_values_do_not_leave_their_computation() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4]")
    kept: list[Any] = []
    b.reduce(x, 0, lambda a, c: kept.append(a + c) or kept[0], [0])
    with pytest.raises(BuildError, match="cannot be used here"):
        b.neg(kept[0])


def test_functions_do_not_see_values_around_them() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4]")
    with pytest.raises(BuildError, match="outside a function, and cannot be used here"):
        b.call(lambda: b.neg(x))


def test_the_end() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4]")
    b.build(x)
    with pytest.raises(BuildError, match="built already"):
        b.neg(x)
    with pytest.raises(BuildError, match="built already"):
        b.build(x)


def test_parameters_are_without_gaps() -> None:
    b = XlaBuilder("e")
    x = b.parameter(2, "f32[4]")
    b.parameter(0, "f32[4]")
    with pytest.raises(BuildError, match="no parameter 1, but a parameter 2"):
        b.build(x)


def test_a_parameter_of_a_computation_is_an_argument() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4]")
    with pytest.raises(BuildError, match="arguments of its function"):
        b.reduce(x, 0, lambda a, c: b.parameter(1, "f32[]"), [0])
    finish: Any = b.build
    with pytest.raises(BuildError, match="has not returned yet"):
        b.reduce(x, 0, lambda a, c: finish(a), [0])


def test_endless_computations() -> None:
    b = XlaBuilder("e")
    x = b.parameter(0, "f32[4]")

    def again(y: Any) -> Any:
        return b.call(again, [y])

    with pytest.raises(BuildError, match="again uses itself as a computation, without end"):
        again(x)
