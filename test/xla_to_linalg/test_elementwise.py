"""Every elementwise operation, for every element type that it takes, against the reference."""

from typing import Any

import numpy as np
import pytest
from element_values import float_values, pairs
from small_programs import numbers
from tensors_level import check, module_of

from lowerings.compilation import compile_module
from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.op import XlaOp
from xla_dialect.ops import elementwise, operations_of
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import (
    ClampOp,
    CompareOp,
    ElementwiseBinaryOp,
    ElementwiseUnaryOp,
    SelectOp,
)
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

COMPLEX_TYPES = ("c64", "c128")

# What the reference rounds correctly and the lowering computes with one rounding.
INEXACT_ULPS = 4.0
INEXACT = {
    elementwise.AcosOp,
    elementwise.AcoshOp,
    elementwise.AsinOp,
    elementwise.AsinhOp,
    elementwise.AtanhOp,
    elementwise.CbrtOp,
    elementwise.CosineOp,
    elementwise.CoshOp,
    elementwise.ErfOp,
    elementwise.ExponentialOp,
    elementwise.ExponentialMinusOneOp,
    elementwise.LogOp,
    elementwise.LogPlusOneOp,
    elementwise.LogisticOp,
    elementwise.RsqrtOp,
    elementwise.SineOp,
    elementwise.SinhOp,
    elementwise.TanOp,
    elementwise.TanhOp,
    elementwise.Atan2Op,
    elementwise.PowerOp,
}


def values(name: str) -> np.ndarray:
    """Numbers of every sort that an element type has."""
    match BY_NAME[name].element_class:
        case ElementClass.PRED:
            return np.array([False, True])
        case ElementClass.FLOAT if BY_NAME[name].bits < 16:
            bits = np.arange(1 << BY_NAME[name].bits, dtype=np.uint8)
            return bits.view(numbers(name, 0).dtype)
        case ElementClass.FLOAT:
            return float_values(name)
        case ElementClass.COMPLEX:
            # Products of these are exact: numpy may multiply and add with one rounding.
            parts = [0.0, 1.0, -2.5, 0.125, 300.0]
            return numbers(name, [complex(a, b) for a in parts for b in parts])
        case _:
            bits = BY_NAME[name].bits
            is_signed = BY_NAME[name].element_class == ElementClass.SIGNED
            least = -(1 << (bits - 1)) if is_signed else 0
            rest = np.random.default_rng(0).integers(0, 1 << 63, 6)
            corners = [0, 1, 2, 3, bits, (1 << bits) - 1, (1 << bits) - 2, 1 << (bits - 1)]
            return numbers(
                name, [(int(n) - least) % (1 << bits) + least for n in (*corners, *rest)]
            )


def ulps_of(operation: type[XlaOp]) -> float:
    return INEXACT_ULPS if operation in INEXACT else 0


def taken(operation: Any) -> list[str]:
    """The element types that an operation takes."""
    return [e.name for e in ELEMENT_TYPES if e.element_class & operation.contract().elements]


UNARY = [
    pytest.param(operation, name, id=f"{operation.name.removeprefix('xla.')}-{name}")
    for operation in operations_of(elementwise)
    if issubclass(operation, ElementwiseUnaryOp)
    for name in taken(operation)
    if name not in COMPLEX_TYPES
]


@pytest.mark.parametrize(("operation", "name"), UNARY)
def test_unary(operation: type[XlaOp], name: str) -> None:
    check(operation, values(name), ulps=ulps_of(operation))


BINARY = [
    pytest.param(operation, name, id=f"{operation.name.removeprefix('xla.')}-{name}")
    for operation in operations_of(elementwise)
    if issubclass(operation, ElementwiseBinaryOp)
    for name in taken(operation)
    if name not in COMPLEX_TYPES
    and (operation is not elementwise.ComplexOp or name in ("f32", "f64"))
]


@pytest.mark.parametrize(("operation", "name"), BINARY)
def test_binary(operation: type[XlaOp], name: str) -> None:
    few = values(name)[:: 1 if BY_NAME[name].bits > 8 else 5]
    check(operation, *pairs(few), ulps=ulps_of(operation))


@pytest.mark.parametrize("name", [e.name for e in ELEMENT_TYPES])
def test_compare(name: str) -> None:
    few = values(name)[:: 1 if BY_NAME[name].bits > 8 else 5]
    elements = BY_NAME[name].element_class
    directions = list(ComparisonDirection)
    if elements == ElementClass.COMPLEX:
        directions = [ComparisonDirection.EQ, ComparisonDirection.NE]

    def build(x: Any, y: Any) -> list[XlaOp]:
        found: list[XlaOp] = [CompareOp(x, y, direction=d) for d in directions]
        if elements == ElementClass.FLOAT:
            total = ComparisonType.TOTALORDER
            found += [CompareOp(x, y, direction=d, comparison_type=total) for d in directions]
        return found

    check(build, *pairs(few))


@pytest.mark.parametrize("name", [e.name for e in ELEMENT_TYPES])
def test_select(name: str) -> None:
    some = values(name)
    condition = np.arange(some.size) % 3 == 0
    check(SelectOp, condition, some, some[::-1].copy())
    check(SelectOp, np.array(True), some, some[::-1].copy())


@pytest.mark.parametrize(
    "name", [e.name for e in ELEMENT_TYPES if e.element_class != ElementClass.COMPLEX]
)
def test_clamp(name: str) -> None:
    few = values(name)[:: 9 if BY_NAME[name].element_class == ElementClass.FLOAT else 1]
    low, x = pairs(few)
    check(ClampOp, low, x, np.roll(x, 3))
    check(ClampOp, few[1], few, few[-2])


def test_scalars_and_empty_arrays() -> None:
    check(elementwise.AddOp, numbers("f32", 1.5), numbers("f32", 2))
    check(elementwise.AddOp, numbers("u8", np.zeros((0, 3))), numbers("u8", np.zeros((0, 3))))
    check(elementwise.NegateOp, numbers("f32", np.zeros((2, 0))))


@pytest.mark.parametrize("source", [e.name for e in ELEMENT_TYPES])
def test_convert(source: str) -> None:
    """To every type."""
    some = values(source)
    targets = [array(e.type, some.shape) for e in ELEMENT_TYPES]
    check(lambda x: [ConvertOp(x, result_types=[target]) for target in targets], some)


@pytest.mark.parametrize("name", COMPLEX_TYPES)
@pytest.mark.parametrize(
    ("operation", "ulps"),
    [
        (elementwise.AddOp, 0),
        (elementwise.SubtractOp, 0),
        (elementwise.MultiplyOp, 0),
        (elementwise.DivideOp, 8),
    ],
)
def test_complex_binary(operation: type[XlaOp], ulps: float, name: str) -> None:
    check(operation, *pairs(values(name)), ulps=ulps)


@pytest.mark.parametrize("name", COMPLEX_TYPES)
@pytest.mark.parametrize(
    ("operation", "ulps"),
    [
        (elementwise.AbsOp, 2),
        (elementwise.ImagOp, 0),
        (elementwise.NegateOp, 0),
        (elementwise.RealOp, 0),
        (elementwise.SignOp, 4),
        (elementwise.LogOp, 4),
    ],
)
def test_complex_unary(operation: type[XlaOp], ulps: float, name: str) -> None:
    check(operation, values(name), ulps=ulps)


def complex_values(name: str) -> np.ndarray:
    """Numbers in all quadrants, on the axes, near 0 and far from it."""
    generator = np.random.default_rng(0)
    parts = generator.normal(size=(2, 60)) * np.repeat([1e-3, 1, 30], 20)
    axes = [0, 1, -1, 1j, -1j, 0.5, -2.5, 3j, -1e-4j, 2 + 0.5j]
    return numbers(name, [*axes, *(parts[0] + 1j * parts[1])])


TRANSCENDENTAL = [
    operation
    for operation in operations_of(elementwise)
    if issubclass(operation, ElementwiseUnaryOp)
    and operation.contract().elements & ElementClass.COMPLEX
    and operation in {*INEXACT, elementwise.SqrtOp}
]


@pytest.mark.parametrize("name", COMPLEX_TYPES)
@pytest.mark.parametrize("operation", TRANSCENDENTAL)
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
