"""Arguments of wrong Python types: an error of the builder, at the line of the call."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xla_dialect.builder import BuildError, XlaBuilder, XlaValue
from xla_dialect.builder.arguments import fits


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda b, x: b.transpose(x, "ab"), "transpose: permutation is 'ab', not Sequence[int]"),
        (lambda b, x: b.transpose(x, [0, 1.0]), "transpose: permutation is [0, 1.0], not Sequ"),
        (lambda b, x: b.reduce(x, 0, b.add, 1), "reduce: dimensions is 1, not Sequence[int]"),
        (lambda b, x: b.iota("s32[4]", "x"), "iota: iota_dimension is 'x', not int"),
        (lambda b, x: b.all_gather(x, 0, 2.0), "all_gather: shard_count is 2.0, not int"),
        (lambda b, x: b.reshape(None, [4]), "reshape: operand is None, not XlaValue"),
        (lambda b, x: b.dot_general(x, x, [1]), "dot_general: dimension_numbers is [1], not Dot"),
        (
            lambda b, x: b.conditional(b.constant(0), None, []),
            "conditional_on_index: branch_computations is None, not Sequence[Computation]",
        ),
    ],
)
def test_the_message_says_what_the_signature_does(
    make: Callable[[XlaBuilder, XlaValue], object], message: str
) -> None:
    b = XlaBuilder("wrong")
    x = b.constant(np.zeros((2, 2), np.float32))
    with pytest.raises(BuildError) as caught:
        make(b, x)
    assert caught.value.message.startswith(message)
    assert caught.value.file == __file__
    assert "lambda b, x:" in caught.value.source_line


def test_errors_of_the_function_that_is_passed() -> None:
    b = XlaBuilder("callers")
    x = b.constant([1.0])

    def broken(value: XlaValue, other: XlaValue) -> XlaValue:
        raise TypeError("of the caller")

    with pytest.raises(TypeError, match="of the caller"):
        b.reduce(x, 0, broken, [0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        b.neg(x, y=1)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (np.int64(1), int, True),
        (True, int, True),
        (1.0, int, False),
        (np.float32(1), float, True),
        (1, complex, True),
        ("1", float, False),
        (np.arange(3), list[int], True),
        (range(3), tuple[int, ...], True),
        ("ab", list[str], False),
        ([(0, 1), (1, 2)], list[tuple[int, int]], True),
        ([(0, 1, 2)], list[tuple[int, int]], False),
        (None, int | None, True),
        (len, Callable[..., Any], True),
        (3, Callable[..., Any], False),
        ({}, dict[str, int], True),
        ([], dict[str, int], False),
    ],
)
def test_fits(value: object, hint: Any, expected: bool) -> None:
    assert fits(value, hint) == expected
