"""
Elementwise operations where `test/run` has few values: functions of complex numbers, on their cuts
too, and numbers without a sign.
"""

from typing import Any

import numpy as np
import pytest
from element_values import pairs
from small_programs import numbers
from sweeps import each_or_full
from tensors_level import check, module_of

from lowerings.compilation import compile_module
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise, operations_of
from xla_dialect.ops.elementwise import (
    CompareOp,
    ElementwiseUnaryOp,
)
from xla_dialect.types import ElementClass

COMPLEX_TYPES = ("c64", "c128")


def test_compare_of_numbers_without_sign() -> None:
    numbers_of_8_bits = np.arange(256, dtype=np.uint8).view(numbers("f8e8m0fnu", 0).dtype)
    comparisons = [
        (direction, type_)
        for direction in ComparisonDirection
        for type_ in (ComparisonType.FLOAT, ComparisonType.TOTALORDER)
    ]

    def build(x: Any, y: Any) -> list[XlaOp]:
        return [CompareOp(x, y, direction=d, comparison_type=type_) for d, type_ in comparisons]

    check(build, *pairs(numbers_of_8_bits[::5]))


def complex_values(name: str) -> np.ndarray:
    """Numbers in all quadrants, on the axes, near 0 and far from it."""
    generator = np.random.default_rng(0)
    parts = generator.normal(size=(2, 60)) * np.repeat([1e-3, 1, 30], 20)
    axes = [0, 1, -1, 1j, -1j, 0.5, -2.5, 3j, -1e-4j, 2 + 0.5j]
    return numbers(name, [*axes, *(parts[0] + 1j * parts[1])])


OF_COMPLEX_NUMBERS = [
    operation
    for operation in operations_of(elementwise)
    if issubclass(operation, ElementwiseUnaryOp)
    and operation.contract().elements & ElementClass.COMPLEX
]


@pytest.mark.parametrize("name", each_or_full(COMPLEX_TYPES, ("c64",)))
@pytest.mark.parametrize("operation", OF_COMPLEX_NUMBERS)
def test_complex_functions(operation: type[XlaOp], name: str) -> None:
    check(operation, complex_values(name), ulps=16)


FAR = (0.0, 0.5, 1.5, 101999.0, np.inf)
C99: dict[type[XlaOp], Any] = {
    elementwise.AcosOp: np.arccos,
    elementwise.AcoshOp: np.arccosh,
    elementwise.AsinOp: np.arcsin,
    elementwise.AsinhOp: np.arcsinh,
    elementwise.AtanhOp: np.arctanh,
    elementwise.CosineOp: np.cos,
    elementwise.CoshOp: np.cosh,
    elementwise.ExponentialOp: np.exp,
    elementwise.LogOp: np.log,
    elementwise.SineOp: np.sin,
    elementwise.SinhOp: np.sinh,
    elementwise.SqrtOp: np.sqrt,
    elementwise.TanOp: np.tan,
    elementwise.TanhOp: np.tanh,
}


@pytest.mark.parametrize("name", COMPLEX_TYPES)
@pytest.mark.parametrize("operation", C99)
def test_complex_functions_on_cuts_and_far_out(operation: type[XlaOp], name: str) -> None:
    """As numpy by C99, Annex G, which leaves some signs open where a part is not finite."""
    parts = np.array([*FAR, *np.negative(FAR), np.nan])
    z = numbers(name, [complex(a, b) for a in parts for b in parts])
    (found,) = compile_module(module_of(operation, [z]))(z)
    with np.errstate(all="ignore"):
        expected = C99[operation](z)
    for part in (np.real, np.imag):
        mine, theirs = part(found), part(expected)
        mine, theirs = (np.where(np.isfinite(z), each, abs(each)) for each in (mine, theirs))
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
        is_number = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(mine)[is_number], np.signbit(theirs)[is_number])


@pytest.mark.parametrize("name", COMPLEX_TYPES)
def test_complex_arc_tangent(name: str) -> None:
    # A quotient near 1 is rounded before its logarithm is taken: values far from 0 keep digits.
    some = numbers(name, [1j, 2 + 1j, -1.5 + 0.5j, 0.3 - 2j, -1 - 3j, -2.5, 3])
    check(elementwise.Atan2Op, *pairs(some[:4]), ulps=16)
    check(elementwise.Atan2Op, some, some[::-1].copy(), ulps=16)


@pytest.mark.parametrize("name", COMPLEX_TYPES)
def test_complex_power(name: str) -> None:
    bases, exponents = pairs(numbers(name, [0, 1, 2, -1.5, 1j, 1 + 1j, 0.3 - 2j, -0.5 + 0.1j]))
    check(elementwise.PowerOp, bases, exponents, ulps=32)
