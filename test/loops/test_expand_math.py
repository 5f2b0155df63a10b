"""
How exact the expansions of elementary functions are.

Each function says in its documentation by how many ULP it may be off; that is checked, in f32
against numpy's f64 and in f64 against numpy's long double, over dense samples and at the corners.
"""

import math
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from element_values import same
from machine_code import AnyArray, MachineCode, lower
from xdsl.ir import Operation

from lowerings.loops.expand_math import EXPANSIONS, ExpandMathPass
from lowerings.targets.llvm.machine import host
from lowerings.targets.llvm.module import emit_module
from xla_dialect.mlir_text import print_mlir

SAMPLES = 1 << 13
LANES = {"f32": 16, "f64": 8}
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
HAS_LONG_DOUBLE = np.finfo(np.longdouble).nmant >= 63


def erf(x: AnyArray) -> AnyArray:
    return np.array([math.erf(float(each)) for each in x])


@dataclass(frozen=True)
class Function:
    """A function with its reference and the ranges that its samples are taken from."""

    reference: Callable[..., AnyArray]
    ranges: tuple[tuple[float, float], ...]
    second: tuple[tuple[float, float], ...] = ()
    """The ranges of the second operand."""


FUNCTIONS: dict[str, Function] = {
    "math.exp": Function(np.exp, ((-104, 89), (-1, 1), (-746, 710))),
    "math.exp2": Function(np.exp2, ((-150, 128), (-1, 1), (-1075, 1024))),
    "math.expm1": Function(np.expm1, ((-20, 89), (-1, 1), (-1e-3, 1e-3))),
    "math.log": Function(np.log, ((0.5, 2), (0, 100), (0, 1e-38), (0, 1e-308))),
    "math.log2": Function(np.log2, ((0.5, 2), (0, 100), (0, 1e-38), (0, 1e-308))),
    "math.log10": Function(np.log10, ((0.5, 2), (0, 100), (0, 1e-38), (0, 1e-308))),
    "math.log1p": Function(np.log1p, ((-1, 3), (-1e-3, 1e-3), (0, 1e9))),
    "math.tanh": Function(np.tanh, ((-1, 1), (-10, 10), (-20, 20), (-1e-5, 1e-5))),
    "math.erf": Function(erf, ((-1.2, 1.2), (-6, 6), (-1e-5, 1e-5))),
    "math.sin": Function(np.sin, ((-4, 4), (-25000, 25000))),
    "math.cos": Function(np.cos, ((-4, 4), (-25000, 25000))),
    "math.tan": Function(np.tan, ((-4, 4), (-25000, 25000))),
    "math.atan": Function(np.arctan, ((-1, 1), (-10, 10), (-1e-3, 1e-3))),
    "math.cbrt": Function(np.cbrt, ((-10, 10), (-1e-40, 1e-40))),
    "math.rsqrt": Function(lambda x: 1 / np.sqrt(x), ((1, 4), (0, 100))),
    "math.atan2": Function(
        np.arctan2, ((-2, 2), (-1e30, 1e30), (-1, 1)), ((-2, 2), (-1e30, 1e30), (-1e10, 1e10))
    ),
    "math.powf": Function(
        np.power,
        ((0, 10), (0.9, 1.1), (0, 1e30), (0.98, 1.02)),
        ((-10, 10), (-900, 900), (-1, 1), (-4000, 4000)),
    ),
}
EXPANSION_OF: dict[str, Callable[..., Any]] = {
    op.name: function for op, function in EXPANSIONS.items()
}

CORNERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, 7.0, -7.0, 16777217.0]
CORNERS += [np.inf, -np.inf, np.nan, 0.625, 0.7071067811865476, 1e30, -1e30, 1e-30, -1e-30]


def corners(element: str) -> AnyArray:
    info = np.finfo(DTYPES[element])
    limits = [float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    values = [*CORNERS, *limits, *(-limit for limit in limits)]
    return np.array(values, DTYPES[element])


def text_of(name: str, element: str, lanes: int | None, size: int) -> str:
    """A function @main that applies an operation to arrays of a size."""
    operands = 2 if FUNCTIONS[name].second else 1
    memref = f"memref<{size}x{element}>"
    value = f"vector<{lanes}x{element}>" if lanes else element
    dialect, suffix = ("vector", f", {value}") if lanes else ("memref", "")
    loads = "\n".join(
        f"%x{n} = {dialect}.load %p{n}[%i] : {memref}{suffix}" for n in range(operands)
    )
    parameters = ", ".join(f"%p{n} : {memref}" for n in range(operands + 1))
    arguments = ", ".join(f"%x{n}" for n in range(operands))
    return f"""
    func.func @main({parameters}) attributes {{xla.entry}} {{
      %zero = arith.constant 0 : index
      %size = arith.constant {size} : index
      %step = arith.constant {lanes or 1} : index
      scf.for %i = %zero to %size step %step {{
        {loads}
        %y = {name} {arguments} : {value}
        {dialect}.store %y, %p{operands}[%i] : {memref}{suffix}
      }}
      func.return
    }}
    """


def apply(name: str, element: str, lanes: int | None, *operands: AnyArray) -> AnyArray:
    """The values that the expansion of an operation computes for arrays, padded to full vectors."""
    size = len(operands[0]) + -len(operands[0]) % (lanes or 1)
    code = compiled(name, element, lanes, size)
    padded = [np.ascontiguousarray(np.resize(operand, size)) for operand in operands]
    result = np.empty(size, operands[0].dtype)
    code.run("main", [*padded, result])
    return result[: len(operands[0])]


@cache
def compiled(name: str, element: str, lanes: int | None, size: int) -> MachineCode:
    return MachineCode(lower(text_of(name, element, lanes, size), [ExpandMathPass()]))


def samples(name: str, element: str) -> Iterator[list[AnyArray]]:
    """Operands from each range, from all bit patterns, and the corners."""
    function, dtype = FUNCTIONS[name], DTYPES[element]
    source = np.random.default_rng(0)
    limit = float(np.finfo(dtype).max)
    sides = [function.ranges, function.second] if function.second else [function.ranges]
    for ranges in zip(*sides, strict=True):
        if all(abs(bound) < limit for pair in ranges for bound in pair):
            yield [source.uniform(low, high, SAMPLES).astype(dtype) for low, high in ranges]
    bits = np.dtype(dtype).itemsize * 8
    if not function.second and name not in ("math.sin", "math.cos", "math.tan"):
        patterns = source.integers(0, 1 << bits, SAMPLES, dtype=np.uint64).astype(f"u{bits // 8}")
        yield [patterns.view(dtype)]
    special = corners(element)
    if function.second:
        yield [each.ravel() for each in np.meshgrid(special, special)]
    elif name not in ("math.sin", "math.cos", "math.tan"):
        yield [special]


def exact(reference: Callable[..., AnyArray], element: str, *operands: AnyArray) -> AnyArray:
    wide = np.float64 if element == "f32" else np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(reference(*(operand.astype(wide) for operand in operands)))


def errors_in_ulp(found: AnyArray, expected: AnyArray) -> AnyArray:
    """How far values are from wider exact ones; infinite where NaN or infinity disagree."""
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        rounded = expected.astype(found.dtype)
        _, exponent = np.frexp(expected)
        unit = np.ldexp(np.ones_like(expected), np.maximum(exponent - 1, info.minexp) - info.nmant)
        error = np.abs(found.astype(expected.dtype) - expected) / unit
    agree = (found == rounded) | (np.isnan(found) & np.isnan(rounded))
    regular = np.isfinite(found) & np.isfinite(rounded)
    return np.where(regular, error, np.where(agree, 0, np.inf))


def bound(name: str) -> float:
    """The error that the documentation of a function allows."""
    found = re.search(r"At most ([\d.]+) ULP", EXPANSION_OF[name].__doc__ or "")
    assert found is not None, f"{name} does not say how exact it is"
    return float(found.group(1))


def test_every_expansion_is_tested() -> None:
    assert FUNCTIONS.keys() == {op.name for op in EXPANSIONS}


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name: str, element: str) -> None:
    if element == "f64" and not HAS_LONG_DOUBLE:
        pytest.skip("numpy's long double is no wider than f64 here: no reference")
    for operands in samples(name, element):
        found = apply(name, element, LANES[element], *operands)
        expected = exact(FUNCTIONS[name].reference, element, *operands)
        errors = errors_in_ulp(found, expected)
        worst = int(np.argmax(errors))
        at = [operand[worst] for operand in operands]
        assert errors[worst] <= bound(name), f"{name}({at}) = {found[worst]}, not {expected[worst]}"
        zeros = (found == 0) & (expected == 0)
        assert (np.signbit(found[zeros]) == np.signbit(expected[zeros])).all()


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_scalars_are_like_vectors(name: str, element: str) -> None:
    special = corners(element)
    operands = [special, special[::-1].copy()] if FUNCTIONS[name].second else [special]
    same(apply(name, element, None, *operands), apply(name, element, LANES[element], *operands))


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_narrow_floats_are_rounded_from_f32(element: str) -> None:
    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    x = np.linspace(-8, 8, 64).astype(dtype)
    found = apply("math.exp", element, 16, x)
    expected = apply("math.exp", "f32", 16, x.astype(np.float32)).astype(dtype)
    same(found, expected)


@cache
def pi_to(bits: int) -> int:
    """Pi * 2**bits, by Gauss's formula."""
    scale = 1 << (bits + 32)

    def arctangent_of_inverse(n: int) -> int:
        power, total, k = scale // n, 0, 0
        while power:
            total += (-1) ** k * (power // (2 * k + 1))
            power //= n * n
            k += 1
        return total

    quarter = (
        12 * arctangent_of_inverse(18)
        + 8 * arctangent_of_inverse(57)
        - 5 * arctangent_of_inverse(239)
    )
    return 4 * quarter >> 32


def trigonometric(name: str, x: float) -> Any:
    """The exact value for a large argument, reduced with rational numbers."""
    half_pi = Fraction(pi_to(1300), 1 << 1301)
    quadrant = round(Fraction(x) / half_pi)
    rest = Fraction(x) - quadrant * half_pi
    head = np.longdouble(rest.numerator / rest.denominator)
    tail = np.longdouble(float(rest - Fraction(float(head))))
    angle = head + tail
    sine, cosine = np.sin(angle), np.cos(angle)
    waves = [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)]
    sine, cosine = waves[quadrant % 4]
    return {"math.sin": sine, "math.cos": cosine, "math.tan": sine / cosine}[name]


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", ["math.sin", "math.cos", "math.tan"])
def test_large_angles(name: str, element: str) -> None:
    if element == "f64" and not HAS_LONG_DOUBLE:
        pytest.skip("numpy's long double is no wider than f64 here: no reference")
    dtype = DTYPES[element]
    source = np.random.default_rng(0)
    exponents = source.uniform(4, 37 if element == "f32" else 307, 240)
    # The last are the floats nearest to a multiple of pi/2, f32 and f64.
    x = (source.choice([-1.0, 1.0], 240) * 10.0**exponents).astype(dtype)
    nearest = [np.ldexp(16367173.0, 72), np.ldexp(6381956970095103.0, 797)]
    with np.errstate(over="ignore"):
        x = np.concatenate([x, np.array(nearest, dtype)])
    x = x[np.isfinite(x)]
    found = apply(name, element, LANES[element], x)
    expected = np.array([trigonometric(name, float(each)) for each in x], np.longdouble)
    errors = errors_in_ulp(found, expected)
    worst = int(np.argmax(errors))
    assert errors[worst] <= bound(name), f"{name}({x[worst]!r}) = {found[worst]!r}"
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    at_corners = apply(name, element, None, special)
    same(at_corners[:2], np.array([1, 1] if name == "math.cos" else [0.0, -0.0], dtype))
    assert np.isnan(at_corners[2:]).all()


def test_what_stays() -> None:
    text = """
    func.func @main(%x : f32, %v : vector<4xf32>) -> (f32, vector<4xf32>) {
      %a = math.sqrt %x : f32
      %b = math.fma %v, %v, %v : vector<4xf32>
      func.return %a, %b : f32, vector<4xf32>
    }
    """
    assert print_mlir(lower(text, [ExpandMathPass()])) == print_mlir(lower(text, []))


@pytest.mark.parametrize("name", ["math.sin", "math.exp", "math.tanh", "math.log"])
def test_long_chains_are_calls(name: str) -> None:
    """What LLVM generates code of grows by a few instructions for each further function."""

    def instructions(count: int) -> int:
        lines = [
            f"%y{n} = {name} %x{n} : vector<16xf32>\n"
            f"%c{n} = arith.constant dense<{n}.5> : vector<16xf32>\n"
            f"%x{n + 1} = arith.addf %y{n}, %c{n} : vector<16xf32>"
            for n in range(count)
        ]
        text = "\n".join(
            (
                "func.func @chain(%x0 : vector<16xf32>) -> vector<16xf32> {",
                *lines,
                f"func.return %x{count} : vector<16xf32>",
                "}",
            )
        )
        emitted = emit_module(lower(text, [ExpandMathPass()]), host())
        return host().optimized(emitted.text).count(" = ")

    assert instructions(200) - instructions(100) <= 100 * 5
    assert instructions(9) >= 9 * 15


@pytest.mark.mlir_opt
def test_mlir_accepts_the_expansions(mlir_opt_path: str) -> None:
    for name in FUNCTIONS:
        module = lower(text_of(name, "f32", 16, 64), [ExpandMathPass()])
        subprocess.run(
            [mlir_opt_path], input=print_mlir(module), text=True, check=True, capture_output=True
        )


def test_called_functions_are_defined_once() -> None:
    text = text_of("math.sin", "f32", 16, 64)
    module = lower(text, [ExpandMathPass(), ExpandMathPass()])
    names = [symbol(op) for op in module.body.block.ops]
    assert len(names) == len(set(names)) == 3


def symbol(op: Operation) -> str:
    return str(op.properties["sym_name"])
