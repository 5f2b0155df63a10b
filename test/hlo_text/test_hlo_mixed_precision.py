"""Operations of floats of several precisions: kept, printed, and computed as numpy does it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from peers import has_jax

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassFailed, PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.targets.stablehlo import StableHloTarget
from xla_dialect.builder import XlaBuilder
from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify

if has_jax():
    from xla_cpu import hlo_module

DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "f8e5m2": ml_dtypes.float8_e5m2,
}
"""From the narrowest on, but for the first two, which share no float of their width."""
RANK = {"f8e5m2": 0, "bf16": 1, "f16": 1, "f32": 2, "f64": 3}


@dataclass(frozen=True)
class Form:
    """An operation of some floats, what its result has for sizes, and what numpy makes of it."""

    operands: int
    sizes: str
    text: str
    """After the type of the result."""
    numpy: Callable[..., Any]
    """Of operands of one type, and that type."""


FORMS = {
    "copy": Form(1, "4", "copy(x)", lambda x: x),
    "negate": Form(1, "4", "negate(x)", lambda x: -x),
    "abs": Form(1, "4", "abs(x)", np.abs),
    "reverse": Form(1, "4", "reverse(x), dimensions={0}", lambda x: x[::-1]),
    "reshape": Form(1, "2,2", "reshape(x)", lambda x: x.reshape(2, 2)),
    "slice": Form(1, "2", "slice(x), slice={[1:3]}", lambda x: x[1:3]),
    "broadcast": Form(
        1, "4,3", "broadcast(x), dimensions={0}", lambda x: np.repeat(x[:, None], 3, 1)
    ),
    "add": Form(2, "4", "add(x, y)", np.add),
    "multiply": Form(2, "4", "multiply(x, y)", np.multiply),
    "maximum": Form(2, "4", "maximum(x, y)", np.maximum),
    "concatenate": Form(
        2, "8", "concatenate(x, y), dimensions={0}", lambda x, y: np.concatenate([x, y])
    ),
    "clamp": Form(3, "4", "clamp(x, y, z)", lambda x, y, z: np.minimum(np.maximum(x, y), z)),
}


def random_program(seed: int) -> tuple[str, list[Any], Any]:
    """A program of one such operation, its arguments, and its result by numpy."""
    draw = random.Random(seed)
    form = FORMS[list(FORMS)[seed % len(FORMS)]]
    names = [draw.choice(list(DTYPES)) for _ in range(form.operands)]
    # Of one width there is no highest one.
    if {"bf16", "f16"} <= set(names):
        names = ["bf16" if name == "f16" else name for name in names]
    result = draw.choice([name for name in DTYPES if [name] * form.operands != names])
    if RANK[result] == 1:
        result = next((name for name in names if RANK[name] == 1), result)
    integers = [[draw.randint(-8, 8) / 2 for _ in range(4)] for _ in names]
    arguments = [np.array(n, DTYPES[name]) for n, name in zip(integers, names, strict=True)]
    computed = DTYPES[max(names, key=RANK.__getitem__)]
    expected = np.asarray(form.numpy(*(x.astype(computed) for x in arguments)), computed)
    parameters = "".join(
        f"  {letter} = {name}[4] parameter({i})\n"
        for i, (letter, name) in enumerate(zip("xyz", names, strict=False))
    )
    text = f"ENTRY e {{\n{parameters}  ROOT r = {result}[{form.sizes}] {form.text}\n}}\n"
    return text, arguments, expected.astype(DTYPES[result])


def same(found: Any, expected: Any) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("seed", range(3 * len(FORMS)))
def test_any_floats(seed: int) -> None:
    text, arguments, expected = random_program(seed)
    module = read_hlo(text)
    verify(module)
    if has_jax():
        hlo_module(text)
    printed = print_hlo(module)
    assert print_hlo(read_hlo(printed)) == printed
    mlir = print_mlir(module)
    again = parse_program(mlir, "text.mlir", "mlir")
    verify(again)
    assert print_mlir(again) == mlir
    backends: Sequence[Any] = ("reference", "llvm") if seed < len(FORMS) else ("reference",)
    for backend in backends:
        (found,) = lowerings.compile(text, backend=backend)(*arguments)
        same(found, expected)


@pytest.mark.parametrize("reducer", ["f32", "bf16"])
@pytest.mark.parametrize("backend", ["reference", "llvm", "interpreter"])
def test_reductions_in_fusions(reducer: str, backend: Any) -> None:
    """The computation says what they are computed in; sums of few small integers are exact."""
    text = f"""HloModule m

add {{
  a = {reducer}[] parameter(0)
  b = {reducer}[] parameter(1)
  ROOT c = {reducer}[] add(a, b)
}}

fused {{
  x = bf16[3,4] parameter(0)
  y = f32[3,4] parameter(1)
  d = f32[3,4] multiply(bf16[3,4] x, f32[3,4] y)
  z = f32[] constant(0)
  s = bf16[3] reduce(d, z), dimensions={{1}}, to_apply=add
  p = pred[3,4] compare(x, y), direction=LT
  n = bf16[3,4] copy(f32[3,4] d)
  ROOT t = (bf16[3], pred[3,4], bf16[3,4]) tuple(s, p, n)
}}

ENTRY e {{
  x = bf16[3,4] parameter(0)
  y = f32[3,4] parameter(1)
  ROOT f = (bf16[3], pred[3,4], bf16[3,4]) fusion(x, y), kind=kLoop, calls=fused
}}
"""
    x = np.array([[1, 2, -3, 4], [0, 5, 1, 1], [7, -7, 2, 3]], ml_dtypes.bfloat16)
    y = np.array([[2, 1, 1, -1], [3, 2, -8, 1], [1, 1, 5, 0]], np.float32)
    product = x.astype(np.float32) * y
    sums, less, narrow = lowerings.compile(text, backend=backend)(x, y)
    same(sums, product.sum(axis=1).astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(less, x.astype(np.float32) < y)
    same(narrow, product.astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("seed", range(len(FORMS)))
def test_stablehlo_has_conversions(seed: int) -> None:
    """It has no such operations; what is printed computes the same."""
    text, arguments, expected = random_program(seed)
    output = StringIO()
    StableHloTarget().emit(make_context(), read_hlo(text), output)
    (found,) = lowerings.compile(output.getvalue(), backend="reference")(*arguments)
    same(found, expected)


def test_parts_of_complex_numbers() -> None:
    """Their parts are floats of one precision, whatever is declared."""
    text = "ROOT r = bf16[3] abs(c64[3] x)"
    x = np.array([3 + 4j, 5 - 12j, 300 + 1j], np.complex64)
    for backend in ("reference", "llvm"):
        (found,) = lowerings.compile(text, backend=backend)(x)
        same(found, np.abs(x).astype(ml_dtypes.bfloat16))


NO_PRECISION = {
    "bitcast": "bitcast(x)",
    "bitcast-convert": "bitcast-convert(x)",
    "opt-barrier": "opt-barrier(x)",
    "a tuple's element": "get-tuple-element((f32[4]) t), index=0",
    "a fusion": "fusion(x), kind=kLoop, calls=f",
    "a call": "call(x), to_apply=f",
}


@pytest.mark.parametrize("text", NO_PRECISION.values(), ids=NO_PRECISION)
def test_what_hands_on_rounds_nothing(text: str) -> None:
    program = f"""HloModule m

f {{
  ROOT p = f32[4] parameter(0)
}}

ENTRY e {{
  x = f32[4] parameter(0)
  t = (f32[4]) tuple(x)
  ROOT r = bf16[4] {text}
}}
"""
    with pytest.raises(LocatedError):
        read_hlo(program)


@pytest.mark.parametrize(
    "text",
    [
        "f32[5] negate(f32[4] x)",
        "s32[4] negate(f32[4] x)",
        "f32[4] add(f32[4] x, s32[4] y)",
        "c64[4] negate(f32[4] x)",
    ],
)
def test_only_floats_mix(text: str) -> None:
    with pytest.raises(LocatedError):
        read_hlo(f"ROOT r = {text}")


def test_a_pass_that_meets_them_says_what_to_do() -> None:
    module = read_hlo("ROOT r = bf16[4] negate(f32[4] x)")
    with pytest.raises(PassFailed, match=r"xla\.negate.*xla-expand-mixed-precision"):
        PassManager(make_context()).run(module, parse_passes("convert-xla-to-linalg"))
    PassManager(make_context()).run(
        module, parse_passes("xla-expand-mixed-precision,convert-xla-to-linalg")
    )


def test_builders_do_not_mix() -> None:
    """What is made here has one precision; only texts of others mix them."""
    b = XlaBuilder("e")
    with pytest.raises(LocatedError, match=r"\(C1\) lhs and rhs have element types f32 and bf16"):
        b.add(b.parameter(0, "f32[4]"), b.parameter(1, "bf16[4]"))
