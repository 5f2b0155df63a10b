"""Custom calls that XLA expands itself, on all executors: operations of MHLO, `TopK`, factors."""

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import special
from stablehlo_oracle import results

import lowerings
from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import read_stablehlo

IN_PROCESS: list[Any] = [
    {"backend": "reference"},
    {"backend": "interpreter", "level": "tensors"},
    {"backend": "llvm"},
]
RISCV: Any = pytest.param({"backend": "riscv64"}, marks=pytest.mark.riscv64)
executed = pytest.mark.parametrize("executor", [*IN_PROCESS, RISCV], ids=str)
executed_in_process = pytest.mark.parametrize("executor", IN_PROCESS, ids=str)
"""An emulated program calls nothing outside."""

FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "cosh": np.cosh,
    "erf": special.erf,
    "erf_inv": special.erfinv,
    "erfc": special.erfc,
    "lgamma": special.gammaln,
    "sinh": np.sinh,
    "tan": np.tan,
}
ONLY_OURS = {"erf_inv", "erfc", "lgamma"}
"""Those that XLA's CPU has no call for."""


def program(arguments: str, call: str, returned: str, before: str = "") -> str:
    """A program that returns what one call returns."""
    types = returned.split(", ")
    names = ", ".join(f"%0#{n}" for n in range(len(types))) if len(types) > 1 else "%0"
    many = f":{len(types)}" if len(types) > 1 else ""
    given = ", ".join(each.partition(": ")[2] for each in arguments.split(", "))
    return (
        f"{before}\nfunc.func public @main({arguments}) -> ({returned}) {{\n"
        f"  %0{many} = stablehlo.custom_call {call} : ({given}) -> ({returned})\n"
        f"  return {names} : {returned}\n}}\n"
    )


def function_call(name: str, element: str) -> str:
    type_ = f"tensor<7x{element}>"
    attributes = "mhlo.attributes = {}, mhlo.version = 1 : i64"
    return program(f"%x: {type_}", f"@mhlo.{name}(%x) {{{attributes}}}", type_)


def points(name: str) -> np.ndarray:
    return np.linspace(*((1.0, 4.0) if name == "acosh" else (-0.9, 0.8)), 7)


@executed
@pytest.mark.parametrize("name", ["tan", "erf_inv"])
def test_functions(name: str, executor: dict[str, Any]) -> None:
    x = points(name).astype(np.float32)
    (found,) = lowerings.compile(function_call(name, "f32"), **executor)(x)
    np.testing.assert_allclose(found, FUNCTIONS[name](x.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function(name: str) -> None:
    x = points(name)
    (found,) = lowerings.compile(function_call(name, "f64"))(x)
    np.testing.assert_allclose(found, FUNCTIONS[name](x), rtol=1e-13)


@pytest.mark.jax
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - ONLY_OURS))
def test_functions_beside_xla(name: str) -> None:
    text, x = function_call(name, "f32"), points(name).astype(np.float32)
    (found,) = lowerings.compile(text)(x)
    np.testing.assert_allclose(found, results(text, x)[0], rtol=2e-6)


# The first elements

LINES = np.array(
    [[0.25, -0.5, math.nan, 0.125, 0.25], [1, 2, -0.0, 0.0, -math.inf]], dtype=np.float32
)


def comparator(direction: str, count: int = 1, kind: str = "TOTALORDER") -> str:
    """A function that compares the first two of pairs of scalars."""
    places = "".join(f", %i{n}: tensor<i32>" for n in range(2 * count - 2))
    return (
        f"func.func private @order(%a: tensor<f32>, %b: tensor<f32>{places}) -> tensor<i1> {{\n"
        f"  %0 = stablehlo.compare {direction}, %a, %b, {kind}"
        " : (tensor<f32>, tensor<f32>) -> tensor<i1>\n  return %0 : tensor<i1>\n}"
    )


def first_elements(call: str, before: str = "") -> str:
    returned = "tensor<2x4xf32>, tensor<2x4xi32>"
    return program("%x: tensor<2x5xf32>", call, returned, before)


def ordered(descends: bool) -> tuple[np.ndarray, np.ndarray]:
    """By definition: by sign and magnitude, NaN above all, lower places first."""
    keys = [(1 if math.isnan(v) else 0, v, math.copysign(1, v)) for v in LINES.ravel().tolist()]
    keys = [(nan, 0.0 if nan else value, sign) for nan, value, sign in keys]
    places = np.array(
        [
            sorted(range(5), key=lambda i, row=row: keys[5 * row + i], reverse=descends)[:4]
            for row in range(2)
        ],
        np.int32,
    )
    return np.take_along_axis(LINES, places, 1), places


CALLS = {
    "mhlo.topk": ("@mhlo.topk(%x) {mhlo.attributes = {k = 4 : i64, largest = true}}", "", True),
    "mhlo.topk, smallest": (
        "@mhlo.topk(%x) {mhlo.attributes = {k = 4 : i64, largest = false}}",
        "",
        False,
    ),
    "TopK": ("@TopK(%x)", "", True),
    "TopK by a comparator": (
        "@TopK(%x) {called_computations = [@order]}",
        comparator("GT", 2),
        True,
    ),
    "TopK, smallest": ("@TopK(%x) {called_computations = [@order]}", comparator("LT"), False),
}


@executed
@pytest.mark.parametrize("name", CALLS)
def test_first_elements(name: str, executor: dict[str, Any]) -> None:
    call, before, descends = CALLS[name]
    values, places = lowerings.compile(first_elements(call, before), **executor)(LINES)
    expected = ordered(descends)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(places, expected[1])


@pytest.mark.jax
@pytest.mark.parametrize("name", ["mhlo.topk", "TopK", "TopK by a comparator"])
def test_first_elements_beside_xla(name: str) -> None:
    call, before, _ = CALLS[name]
    for found, theirs in zip(
        ordered(descends=True), results(first_elements(call, before), LINES), strict=True
    ):
        np.testing.assert_array_equal(found, theirs)


@executed
@pytest.mark.parametrize("direction", ["GT", "LT"])
def test_first_elements_in_hlo_text(direction: str, executor: dict[str, Any]) -> None:
    text = (
        "HloModule m\n\norder {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        f"  ROOT c = pred[] compare(a, b), direction={direction}, type=TOTALORDER\n}}\n\n"
        "ENTRY e {\n  x = f32[2,5] parameter(0)\n"
        '  ROOT t = (f32[2,4], s32[2,4]) custom-call(x), custom_call_target="TopK", '
        "called_computations={order}\n}\n"
    )
    found = lowerings.compile(text, **executor)(LINES)
    for array, expected in zip(found, ordered(direction == "GT"), strict=True):
        np.testing.assert_array_equal(array, expected)


@executed_in_process
def test_sum_of_one_replica(executor: dict[str, Any]) -> None:
    """`stablehlo.cross-replica-sum`, whose name has no letters only."""
    text = (
        "func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}>'
        " : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    )
    x = np.arange(4, dtype=np.float32)
    (found,) = lowerings.compile(text, **executor)(x)
    np.testing.assert_array_equal(found, x)


# Factors

ELEMENTS = {
    "f32": (np.float32, 1e-4),
    "f64": (np.float64, 1e-12),
    "complex<f32>": (np.complex64, 1e-4),
    "complex<f64>": (np.complex128, 1e-12),
}


def matrices(element: str, *sizes: int) -> np.ndarray:
    random = np.random.default_rng(3)
    found = random.standard_normal(sizes) + 1j * random.standard_normal(sizes)
    dtype = ELEMENTS[element][0]
    return (found if np.issubdtype(dtype, np.complexfloating) else found.real).astype(dtype)


def qr(element: str, rows: int, columns: int) -> str:
    """R over Householder vectors, their factors, and Q of these."""
    vectors, factors = f"tensor<2x{rows}x{columns}x{element}>", f"tensor<2x{columns}x{element}>"
    return (
        f"func.func public @main(%x: {vectors}) -> ({vectors}, {vectors}) {{\n"
        f"  %0:2 = stablehlo.custom_call @Qr(%x) : ({vectors}) -> ({vectors}, {factors})\n"
        "  %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1)"
        f" : ({vectors}, {factors}) -> {vectors}\n"
        f"  return %0#0, %1 : {vectors}, {vectors}\n}}\n"
    )


@executed_in_process
@pytest.mark.parametrize("element", ["f32", "complex<f64>"])
def test_qr(element: str, executor: dict[str, Any]) -> None:
    x = matrices(element, 2, 5, 3)
    over, q = lowerings.compile(qr(element, 5, 3), **executor)(x)
    bound = ELEMENTS[element][1]
    adjoint = np.conj(q).swapaxes(1, 2)
    np.testing.assert_allclose(q @ np.triu(over)[:, :3], x, atol=bound)
    np.testing.assert_allclose(adjoint @ q, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=bound)


@pytest.mark.jax
@pytest.mark.parametrize("element", ["f32", "complex<f64>"])
def test_qr_beside_xla(element: str) -> None:
    x, text = matrices(element, 2, 5, 3), qr(element, 5, 3)
    for found, theirs in zip(lowerings.compile(text)(x), results(text, x), strict=True):
        np.testing.assert_allclose(found, theirs, atol=ELEMENTS[element][1])


def eigh(element: str, configuration: str) -> str:
    part = element.removeprefix("complex<").removesuffix(">")
    return program(
        f"%x: tensor<2x4x4x{element}>",
        f'@Eigh(%x) {{backend_config = "{configuration}"}}',
        f"tensor<2x4x4x{element}>, tensor<2x4x{part}>",
    )


@executed_in_process
@pytest.mark.parametrize("element", ["f32", "complex<f64>"])
@pytest.mark.parametrize("lower", [0, 1])
def test_eigenvectors(element: str, lower: int, executor: dict[str, Any]) -> None:
    """One triangle of the matrix is not read."""
    whole = matrices(element, 2, 4, 4)
    whole = whole + np.conj(whole).swapaxes(1, 2)
    x = np.tril(whole) if lower else np.triu(whole)
    text = eigh(element, f"{lower},1,100,1e-6")
    vectors, values = lowerings.compile(text, **executor)(x)
    bound = 4 * ELEMENTS[element][1]
    np.testing.assert_allclose(whole @ vectors, vectors * values[:, None], atol=bound)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(whole), atol=bound)


@pytest.mark.jax
@pytest.mark.parametrize("lower", [0, 1])
def test_eigenvalues_beside_xla(lower: int) -> None:
    x, text = matrices("f64", 2, 4, 4), eigh("f64", f"{lower},1,100,1e-6")
    np.testing.assert_allclose(lowerings.compile(text)(x)[1], results(text, x)[1], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (eigh("f64", ""), "'Eigh' has the configuration '', not as '1,1,100,1e-6'"),
        (qr("bf16", 5, 3), "'Qr' takes float32, float64, complex64, complex128, found bfloat16"),
    ],
)
def test_what_factors_do_not_take(text: str, message: str) -> None:
    element = ml_dtypes.bfloat16 if "bf16" in text else np.float64
    sizes = (2, 5, 3) if "@Qr" in text else (2, 4, 4)
    with pytest.raises(XlaError, match=r"<input>:\d+:\d+: error: ") as caught:
        lowerings.compile(text, backend="reference")(np.zeros(sizes, element))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            function_call("erf", "f32").replace("mhlo.attributes = {}", "mhlo.attributes = 3"),
            "mhlo.attributes is 3",
        ),
        (first_elements("@mhlo.topk(%x)"), "its attributes have k = None"),
        (
            first_elements("@mhlo.topk(%x) {mhlo.attributes = {k = 6 : i64}}"),
            "k is 6, the last dimension has size 5",
        ),
        (
            first_elements("@TopK(%x) {called_computations = [@order]}", comparator("GE")),
            "its comparator does not compare the two elements by `<` or `>`",
        ),
    ],
)
def test_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(XlaError, match=r"<input>:\d+:\d+: error: ") as caught:
        read_stablehlo(text)
    assert message in str(caught.value)
