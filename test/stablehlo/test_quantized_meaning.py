"""Operations on quantized arrays beside the definition in the StableHLO specification, in numpy.

With scales that are powers of two the numbers are exact, so that every executor has to give the
very integers. With any other scales a quotient may be as good as half way between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from stablehlo_oracle import legalized, printed, rejection

import lowerings
from xla_dialect.mlir_text import print_mlir
from xla_dialect.stablehlo import read_stablehlo

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Q:
    """A quantized element type, and what it means."""

    scales: tuple[float, ...] = (0.5,)
    zero_points: tuple[int, ...] = (0,)
    dimension: int | None = None
    storage: str = "i8"
    limits: tuple[int, int] | None = None
    expressed: str = "f32"

    def __str__(self) -> str:
        limits = "" if self.limits is None else f"<{self.limits[0]}:{self.limits[1]}>"
        pairs = [f"{s!r}:{z}" for s, z in zip(self.scales, self.zero_points, strict=True)]
        numbers = pairs[0] if self.dimension is None else f"{{{','.join(pairs)}}}"
        along = "" if self.dimension is None else f":{self.dimension}"
        return f"!quant.uniform<{self.storage}{limits}:{self.expressed}{along}, {numbers}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(f"{'u' if self.storage[0] == 'u' else ''}int{self.storage[1:]}")

    @property
    def range(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return (int(info.min), int(info.max)) if self.limits is None else self.limits

    def along(self, numbers: Sequence[float], rank: int) -> Array:
        sizes = [1] * rank
        if self.dimension is not None:
            sizes[self.dimension] = len(numbers)
        return np.array(numbers, np.float64).reshape(sizes)

    def numbers(self, stored: Array) -> Array:
        """The numbers that stored integers stand for."""
        rank = stored.ndim
        shifted = stored.astype(np.float64) - self.along(self.zero_points, rank)
        return shifted * self.along(self.scales, rank)

    def stored(self, numbers: Array) -> Array:
        """The stored integers for numbers."""
        rank = numbers.ndim
        scaled = numbers / self.along(self.scales, rank) + self.along(self.zero_points, rank)
        return np.rint(np.clip(scaled, *self.range)).astype(self.dtype)

    def some(self, sizes: Sequence[int], choose: np.random.Generator) -> Array:
        """Any stored integers, the ends of the range among them."""
        low, high = self.range
        found = choose.integers(low, high, sizes, endpoint=True).astype(self.dtype)
        found.reshape(-1)[:2] = [low, high][: found.size]
        return found


def tensor(sizes: Sequence[int], element: object) -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


@dataclass(frozen=True)
class Case:
    """An operation in custom form (`{t}` are its types), and the same on numbers."""

    text: str
    operands: tuple[tuple[tuple[int, ...], Q | str], ...]
    result: tuple[tuple[int, ...], Q | str]
    meaning: Callable[..., Array]

    def program(self) -> str:
        operands = [tensor(*operand) for operand in self.operands]
        result = tensor(*self.result)
        arguments = ", ".join(f"%{name}: {t}" for name, t in zip("abc", operands, strict=False))
        types = f"({', '.join(operands)}) -> {result}"
        return (
            f"func.func @main({arguments}) -> {result} {{\n"
            f"  %r = {self.text} : {types}\n  return %r : {result}\n}}"
        )

    def arguments(self, seed: int) -> list[Array]:
        choose = np.random.default_rng(seed)
        return [
            element.some(sizes, choose)
            if isinstance(element, Q)
            else choose.integers(0, 2, sizes).astype(bool)
            if element == "i1"
            else np.round(choose.uniform(-40, 40, sizes) * 8).astype(np.float32) / 8
            for sizes, element in self.operands
        ]

    def expected(self, arguments: Sequence[Array]) -> Array:
        numbers = [
            element.numbers(argument) if isinstance(element, Q) else argument
            for (_, element), argument in zip(self.operands, arguments, strict=True)
        ]
        found = np.asarray(self.meaning(*numbers))
        element = self.result[1]
        if isinstance(element, Q):
            return element.stored(found)
        return found if element == "i1" else found.astype(np.float32)


def convolved(x: Array, w: Array) -> Array:
    """A convolution of [b, 0, f] and [0, i, o] with padding 1 and 2 and stride 2."""
    padded = np.pad(x, [(0, 0), (1, 2), (0, 0)])
    window = w.shape[0]
    places = range(0, padded.shape[1] - window + 1, 2)
    return np.stack([np.einsum("bki,kio->bo", padded[:, p : p + window], w) for p in places], 1)


def dilated(x: Array, distance: int) -> Array:
    """The second dimension with its elements this far apart, and zeros between them."""
    found = np.zeros((x.shape[0], (x.shape[1] - 1) * distance + 1, *x.shape[2:]), x.dtype)
    found[:, ::distance] = x
    return found


A, B = Q((0.5,), (3,)), Q((0.25,), (-7,))
WHOLE, NARROW = Q((2.0,), (10,)), Q((0.5,), (-4,), limits=(-100, 90))
UNSIGNED = Q((0.125,), (200,), storage="u8")
WIDE = Q((0.5,), (-300,), storage="i16")
WIDER = Q((0.25,), (1,), storage="i32", limits=(-(1 << 20), 1 << 20))
HALF = Q((0.5,), (3,), expressed="f16")
WIDER_THAN_HALF = Q((0.25,), (-7,), storage="i32", expressed="f16")
ROWS = Q((0.5, 0.25), (3, -4), dimension=0)
COLUMNS = Q((0.5, 0.25, 2.0), (1, 0, -9), dimension=1)
WEIGHTS = Q((0.5, 0.25, 0.125, 1.0), (0, 0, 0, 0), dimension=1)
KERNEL = Q((0.5, 0.25), (3, -2), dimension=2)
S = (2, 3)
CONVOLUTION = (
    "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], "
    "window = {stride = [2], pad = [[1, 2]]} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
)


def binary(name: str, function: Callable[..., Array], a: Q, b: Q, result: Q | str) -> Case:
    return Case(f"stablehlo.{name} %a, %b", ((S, a), (S, b)), (S, result), function)


CASES = {
    "quantize": Case("stablehlo.uniform_quantize %a", ((S, "f32"),), (S, A), lambda x: x),
    "quantize rows": Case("stablehlo.uniform_quantize %a", ((S, "f32"),), (S, ROWS), lambda x: x),
    "quantize unsigned": Case(
        "stablehlo.uniform_quantize %a", ((S, "f32"),), (S, UNSIGNED), lambda x: x
    ),
    "dequantize": Case("stablehlo.uniform_dequantize %a", ((S, B),), (S, "f32"), lambda x: x),
    "dequantize columns": Case(
        "stablehlo.uniform_dequantize %a", ((S, COLUMNS),), (S, "f32"), lambda x: x
    ),
    "dequantize wide": Case(
        "stablehlo.uniform_dequantize %a", ((S, WIDE),), (S, "f32"), lambda x: x
    ),
    "requantize": Case("stablehlo.uniform_quantize %a", ((S, A),), (S, B), lambda x: x),
    "requantize rows": Case("stablehlo.uniform_quantize %a", ((S, ROWS),), (S, A), lambda x: x),
    "requantize to rows": Case("stablehlo.uniform_quantize %a", ((S, A),), (S, ROWS), lambda x: x),
    "requantize rows as columns": Case(
        "stablehlo.uniform_quantize %a", ((S, ROWS),), (S, COLUMNS), lambda x: x
    ),
    "requantize a shift": Case(
        "stablehlo.uniform_quantize %a", ((S, A),), (S, NARROW), lambda x: x
    ),
    "requantize narrower": Case("stablehlo.uniform_quantize %a", ((S, WIDE),), (S, B), lambda x: x),
    "requantize numbers of f16": Case(
        "stablehlo.uniform_quantize %a", ((S, HALF),), (S, WIDER_THAN_HALF), lambda x: x
    ),
    "add": binary("add", np.add, A, B, WHOLE),
    "add alike": binary("add", np.add, A, A, A),
    "add shifted": binary("add", np.add, A, NARROW, Q((0.5,), (9,))),
    "add rows": binary("add", np.add, ROWS, A, Q((0.25, 1.0), (0, 5), dimension=0)),
    "add wide": binary("add", np.add, WIDE, WIDE, WIDE),
    "add wider": binary("add", np.add, WIDER, WIDER, WIDER),
    "subtract": binary("subtract", np.subtract, A, B, WHOLE),
    "subtract unsigned": binary("subtract", np.subtract, UNSIGNED, UNSIGNED, UNSIGNED),
    "multiply": binary("multiply", np.multiply, A, B, WHOLE),
    "maximum": binary("maximum", np.maximum, A, B, WHOLE),
    "maximum alike": binary("maximum", np.maximum, UNSIGNED, UNSIGNED, UNSIGNED),
    "minimum": binary("minimum", np.minimum, A, A, A),
    "compare": binary("compare LT,", np.less, A, B, "i1"),
    "compare alike": binary("compare GE,", np.greater_equal, A, A, "i1"),
    "negate": Case("stablehlo.negate %a", ((S, A),), (S, A), np.negative),
    "abs": Case("stablehlo.abs %a", ((S, A),), (S, B), np.abs),
    "floor": Case("stablehlo.floor %a", ((S, B),), (S, A), np.floor),
    "sign": Case("stablehlo.sign %a", ((S, B),), (S, A), np.sign),
    "is_finite": Case(
        "stablehlo.is_finite %a", ((S, B),), (S, "i1"), lambda x: np.ones(x.shape, bool)
    ),
    "clamp": Case(
        "stablehlo.clamp %a, %b, %c",
        (((), A), (S, A), ((), A)),
        (S, A),
        lambda low, x, high: np.minimum(np.maximum(low, x), high),
    ),
    "clamp others": Case(
        "stablehlo.clamp %a, %b, %c",
        (((), A), (S, B), ((), A)),
        (S, WHOLE),
        lambda low, x, high: np.minimum(np.maximum(low, x), high),
    ),
    "select": Case("stablehlo.select %a, %b, %c", ((S, "i1"), (S, A), (S, B)), (S, A), np.where),
    "select alike": Case(
        "stablehlo.select %a, %b, %c", ((S, "i1"), (S, A), (S, A)), (S, A), np.where
    ),
    "dot_general": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, A), ((3, 4), Q((0.25,)))),
        ((2, 4), WHOLE),
        np.matmul,
    ),
    "dot_general symmetric": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, Q()), ((3, 4), Q((0.25,)))),
        ((2, 4), Q((0.125,), (0,), storage="i32")),
        np.matmul,
    ),
    "dot_general columns": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, B), ((3, 4), WEIGHTS)),
        ((2, 4), WHOLE),
        np.matmul,
    ),
    "dot_general columns of the result": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, B), ((3, 4), WEIGHTS)),
        ((2, 4), Q((2.0, 4.0, 1.0, 8.0), (0, 1, -2, 3), dimension=1)),
        np.matmul,
    ),
    "dot_general batch": Case(
        "stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0]",
        (((2, 5, 3), A), ((3, 2, 4), Q((0.5, 0.25), (0, 0), dimension=1))),
        ((2, 5, 4), WHOLE),
        lambda a, b: np.einsum("nmk,knj->nmj", a, b),
    ),
    "dot_general hybrid": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, "f32"), ((3, 4), WEIGHTS)),
        ((2, 4), "f32"),
        np.matmul,
    ),
    "dot_general wide": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, WIDE), ((3, 4), Q((0.25,), storage="i16"))),
        ((2, 4), Q((1024.0,), (7,), storage="i16")),
        np.matmul,
    ),
    "dot_general unsigned": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, UNSIGNED), ((3, 4), Q((0.25,), storage="u8"))),
        ((2, 4), Q((16.0,), (128,), storage="u8")),
        np.matmul,
    ),
    "convolution": Case(
        CONVOLUTION, (((2, 5, 3), A), ((3, 3, 2), KERNEL)), ((2, 3, 2), Q((8.0,), (-5,))), convolved
    ),
    "convolution unsigned": Case(
        CONVOLUTION,
        (((2, 5, 3), UNSIGNED), ((3, 3, 2), Q((0.5, 0.25), (130, 0), dimension=2, storage="u8"))),
        ((2, 3, 2), Q((64.0,), (128,), storage="u8")),
        convolved,
    ),
    "convolution of a dilated base": Case(
        CONVOLUTION.replace("pad = [[1, 2]]", "pad = [[1, -1]], lhs_dilate = [3]"),
        (((2, 5, 3), B), ((3, 3, 2), KERNEL)),
        ((2, 6, 2), Q((8.0,), (-5,))),
        lambda x, w: convolved(dilated(x, 3)[:, :-3], w),
    ),
    "convolution in groups": Case(
        CONVOLUTION.replace("feature_group_count = 1", "feature_group_count = 3"),
        (((2, 5, 3), A), ((3, 1, 3), Q((0.5, 0.25, 1.0), (0, 7, -1), dimension=2))),
        ((2, 3, 3), Q((4.0,), (-5,))),
        lambda x, w: np.concatenate(
            [convolved(x[..., g : g + 1], w[..., g : g + 1]) for g in range(3)], 2
        ),
    ),
    "convolution symmetric": Case(
        CONVOLUTION, (((2, 5, 3), Q()), ((3, 3, 2), Q((0.25,)))), ((2, 3, 2), WHOLE), convolved
    ),
    "convolution hybrid": Case(
        CONVOLUTION, (((2, 5, 3), "f32"), ((3, 3, 2), KERNEL)), ((2, 3, 2), "f32"), convolved
    ),
    "transpose": Case(
        "stablehlo.transpose %a, dims = [1, 0]",
        ((S, ROWS),),
        ((3, 2), Q((0.5, 0.25), (3, -4), dimension=1)),
        np.transpose,
    ),
    "broadcast": Case(
        "stablehlo.broadcast_in_dim %a, dims = [1, 0]",
        ((S, ROWS),),
        ((3, 2), Q((0.5, 0.25), (3, -4), dimension=1)),
        np.transpose,
    ),
    "reshape": Case("stablehlo.reshape %a", ((S, A),), ((3, 2), A), lambda x: x.reshape(3, 2)),
    "concatenate": Case(
        "stablehlo.concatenate %a, %b, dim = 0",
        ((S, A), (S, A)),
        ((4, 3), A),
        lambda a, b: np.concatenate([a, b]),
    ),
    "pad": Case(
        "stablehlo.pad %a, %b, low = [0, 1], high = [0, 0], interior = [0, 0]",
        ((S, A), ((), A)),
        ((2, 4), A),
        lambda x, v: np.pad(x, [(0, 0), (1, 0)], constant_values=float(v)),
    ),
    "slice": Case("stablehlo.slice %a [0:1, 1:3]", ((S, B),), ((1, 2), B), lambda x: x[:1, 1:]),
    "reverse": Case("stablehlo.reverse %a, dims = [1]", ((S, B),), (S, B), lambda x: x[:, ::-1]),
    "reduce": Case(
        "stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [1]",
        ((S, A), ((), A)),
        ((2,), A),
        lambda x, v: np.maximum(x.max(1), v),
    ),
}


EXECUTORS = ("reference", "llvm")


@pytest.mark.parametrize("name", CASES)
def test_exact_numbers(name: str):
    case = CASES[name]
    programs = [lowerings.compile(case.program(), backend=backend) for backend in EXECUTORS]
    for seed in range(8):
        arguments = case.arguments(seed)
        expected = case.expected(arguments)
        for backend, program in zip(EXECUTORS, programs, strict=True):
            (found,) = program(*arguments)
            np.testing.assert_array_equal(found, expected, f"{backend}, seed {seed}", strict=True)


ANY = Q((0.0173, 0.31), (5, -9), dimension=0), Q((0.0412,), (17,)), Q((0.093,), (-3,))
INEXACT = {
    "quantize": Case("stablehlo.uniform_quantize %a", ((S, "f32"),), (S, ANY[0]), lambda x: x),
    "requantize": Case("stablehlo.uniform_quantize %a", ((S, ANY[0]),), (S, ANY[1]), lambda x: x),
    "add": binary("add", np.add, ANY[0], ANY[1], ANY[0]),
    "subtract": binary("subtract", np.subtract, ANY[1], ANY[2], ANY[2]),
    "multiply": binary("multiply", np.multiply, ANY[1], ANY[2], ANY[2]),
    "tanh": Case("stablehlo.tanh %a", ((S, ANY[1]),), (S, Q((1 / 128,))), np.tanh),
    "exponential": Case("stablehlo.exponential %a", ((S, ANY[2]),), (S, ANY[1]), np.exp),
    "dot_general": Case(
        "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]",
        ((S, ANY[1]), ((3, 2), Q((0.017, 0.0031), (0, 0), dimension=1))),
        ((2, 2), ANY[2]),
        np.matmul,
    ),
    "convolution": Case(
        CONVOLUTION,
        (((2, 5, 3), ANY[1]), ((3, 3, 2), Q((0.017, 0.0031), (3, -2), dimension=2))),
        ((2, 3, 2), ANY[2]),
        convolved,
    ),
}


@pytest.mark.parametrize("name", INEXACT)
def test_nearest_numbers(name: str):
    """The nearest stored integer, or one of two where the number is half way within 0.1 %."""
    case = INEXACT[name]
    sizes, result = case.result
    assert isinstance(result, Q)
    for backend in EXECUTORS:
        program = lowerings.compile(case.program(), backend=backend)
        for seed in range(20):
            arguments = case.arguments(seed)
            expected = case.expected(arguments)
            (found,) = program(*arguments)
            numbers = case.meaning(
                *(
                    element.numbers(argument) if isinstance(element, Q) else argument
                    for (_, element), argument in zip(case.operands, arguments, strict=True)
                )
            )
            steps = numbers / result.along(result.scales, len(sizes))
            is_tie = np.abs(steps - np.floor(steps) - 0.5) < 1e-3
            off = np.abs(found.astype(int) - expected.astype(int))
            assert np.all(off <= is_tie), f"{backend}, seed {seed}: {found} for {expected}"


def test_limits_between_numbers_of_the_expressed_type():
    """1003 is no number of bf16: the integers still are those that the type allows."""
    limited = Q((0.125,), (0,), storage="i16", limits=(-1003, 1003), expressed="bf16")
    text = Case(
        "stablehlo.uniform_quantize %a",
        (((256,), Q((2.0,), expressed="bf16")),),
        ((256,), limited),
        lambda x: x,
    ).program()
    stored = np.arange(-128, 128).astype(np.int8)
    for backend in EXECUTORS:
        (found,) = lowerings.compile(text, backend=backend)(stored)
        np.testing.assert_allclose(found, np.clip(stored.astype(int) * 16, -1003, 1003), atol=3)
        assert np.abs(found).max() <= 1003


@pytest.mark.jax
@pytest.mark.parametrize("name", [name for name in CASES if name != "select"])
def test_what_jaxlib_prints(name: str):
    """What jaxlib prints of a program is the same program, and our text of it is one for jaxlib."""
    text = CASES[name].program()
    assert rejection(text) is None
    assert read_stablehlo(printed(text)).is_structurally_equivalent(read_stablehlo(text))
    again = print_mlir(read_stablehlo(text))
    assert print_mlir(read_stablehlo(again)) == again
    assert rejection(again) is None


NOT_LEGALIZED = {
    **dict.fromkeys(
        (
            "quantize unsigned",
            "subtract unsigned",
            "maximum alike",
            "dot_general unsigned",
            "convolution unsigned",
        ),
        "StableHLO's passes take unsigned storage as signed",
    ),
    "requantize rows as columns": "StableHLO's passes refuse another dimension",
    "select": "jaxlib wants one type of both choices; the specification has (C2)",
    **dict.fromkeys(("is_finite", "reverse", "reduce"), "StableHLO's passes refuse it"),
}
"""What StableHLO's own passes refuse, or compute in another way, and why."""


@pytest.mark.jax
@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in CASES if name not in NOT_LEGALIZED])
def test_legalized_by_stablehlo(name: str):
    """What StableHLO's own passes make of a program computes the same."""
    case = CASES[name]
    passes = ("stablehlo-legalize-quantized-op-to-qdq", "stablehlo-legalize-quant-to-math")
    text = legalized(case.program(), *passes)
    program = lowerings.compile(text, backend="reference")
    for seed in range(20):
        arguments = case.arguments(seed)
        np.testing.assert_array_equal(program(*arguments)[0], case.expected(arguments), strict=True)
