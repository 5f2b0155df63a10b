"""Worked examples of batch normalization, its gradient by finite differences, and XLA beside it."""

from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, on_reference, on_xla, program, spelled
from small_programs import numbers, same
from sweeps import each_or_full

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, ElementClass


def batch_norm(
    opcode: str, operands: Operands, expected: tuple[np.ndarray, ...], epsilon: str, feature: int
) -> str:
    shapes = ", ".join(map(spelled, expected))
    result = f"({shapes})" if len(expected) > 1 else shapes
    return program(
        f"{result} {opcode}({', '.join(operands)}), epsilon={epsilon}, feature_index={feature}",
        operands,
    )


def example(label: str, opcode: str, arguments: list[Any], expected: list[Any]) -> Any:
    operands = {f"p{i}": numbers("f32", x) for i, x in enumerate(arguments)}
    results = tuple(numbers("f32", x) for x in expected)
    return pytest.param(batch_norm(opcode, operands, results, "0", 1), operands, results, id=label)


X = [[1, 10], [3, 30]]
EXAMPLES = [
    example(
        "example 1",
        "batch-norm-training",
        [X, [2, 1], [0, 5]],
        [[[-2, 4], [2, 6]], [2, 20], [1, 100]],
    ),
    example(
        "example 1",
        "batch-norm-inference",
        [X, [2, 1], [0, 5], [2, 20], [1, 100]],
        [[[-2, 4], [2, 6]]],
    ),
    example(
        "example 1",
        "batch-norm-grad",
        [[[0], [0], [3]], [2], [1], [2], [[1], [2], [4]]],
        [[[-0.70710677], [0.70710677], [0]], [3.535534], [7]],
    ),
    example(
        "no elements",
        "batch-norm-training",
        [np.zeros((0, 2)), [1, 1], [0, 0]],
        [np.zeros((0, 2)), [np.nan] * 2, [np.nan] * 2],
    ),
]


@pytest.mark.parametrize(("text", "operands", "expected"), EXAMPLES)
def test_examples(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    for mine, theirs in zip(on_reference(text, operands), expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)


@pytest.mark.jax
@pytest.mark.parametrize(("text", "operands", "expected"), EXAMPLES)
def test_examples_on_xla(text: str, operands: Operands, expected: tuple[np.ndarray, ...]):
    for mine, theirs in zip(on_xla(text, operands), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


def test_gradient_of_no_elements():
    """Sums of nothing are 0."""
    operands = {
        "x": np.zeros((0, 2), np.float32),
        **{name: numbers("f32", [1, 2]) for name in ("scale", "mean", "variance")},
        "g": np.zeros((0, 2), np.float32),
    }
    expected = (operands["x"], numbers("f32", [0, 0]), numbers("f32", [0, 0]))
    text = batch_norm("batch-norm-grad", operands, expected, "0", 1)
    same(on_reference(text, operands), expected)


RANDOM = np.random.default_rng(3)
SIZES = (2, 3, 4, 2)


def features(name: str, count: int) -> np.ndarray:
    return numbers(name, RANDOM.uniform(0.5, 2, count))


@pytest.mark.parametrize("feature", range(4))
def test_gradient_is_that_of_training(feature: int):
    """Finite differences of training, in every direction (BatchNormGrad, "Checked")."""
    x, g = RANDOM.standard_normal(SIZES), RANDOM.standard_normal(SIZES)
    scale, offset = features("f64", SIZES[feature]), features("f64", SIZES[feature])

    def training(**operands: np.ndarray) -> tuple[np.ndarray, ...]:
        vector = np.empty(SIZES[feature])
        text = batch_norm(
            "batch-norm-training", operands, (operands["x"], vector, vector), "0.01", feature
        )
        return on_reference(text, operands)

    _, mean, variance = training(x=x, scale=scale, offset=offset)
    operands = {"x": x, "scale": scale, "mean": mean, "variance": variance, "g": g}
    text = batch_norm("batch-norm-grad", operands, (x, scale, scale), "0.01", feature)
    gradients = on_reference(text, operands)
    step = 1e-5
    for position, gradient in enumerate(gradients):
        direction = RANDOM.standard_normal(gradient.shape)
        values = [
            np.sum(training(**_moved(x, scale, offset, position, sign * step * direction))[0] * g)
            for sign in (1, -1)
        ]
        difference = (values[0] - values[1]) / (2 * step)
        np.testing.assert_allclose(np.sum(gradient * direction), difference, rtol=1e-6, atol=1e-6)


def _moved(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, position: int, by: np.ndarray
) -> dict[str, np.ndarray]:
    operands = [x, scale, offset]
    operands[position] = operands[position] + by
    return dict(zip(("x", "scale", "offset"), operands, strict=True))


@pytest.mark.jax
@pytest.mark.parametrize("feature", [0, 3])
def test_random_on_xla(feature: int):
    x, g = (numbers("f32", RANDOM.standard_normal(SIZES)) for _ in range(2))
    names = ("scale", "offset", "mean", "variance")
    vectors = {name: features("f32", SIZES[feature]) for name in names}
    vector = vectors["scale"]
    for opcode, operands, expected in (
        ("training", {"x": x, **{n: vectors[n] for n in names[:2]}}, (x, vector, vector)),
        ("inference", {"x": x, **vectors}, (x,)),
        (
            "grad",
            {"x": x, **{n: vectors[n] for n in ("scale", "mean", "variance")}, "g": g},
            (x, vector, vector),
        ),
    ):
        text = batch_norm(f"batch-norm-{opcode}", operands, expected, "0.001", feature)
        for mine, theirs in zip(on_reference(text, operands), on_xla(text, operands), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-5)


FLOATS = [row.name for row in BY_NAME.values() if row.element_class == ElementClass.FLOAT]


@pytest.mark.parametrize("name", each_or_full(FLOATS, ("f8e5m2", "bf16", "f64")))
def test_every_type(name: str):
    x = numbers(name, [[1, 2], [1, 2]])
    ones = np.ones(2, numpy_dtype(BY_NAME[name].type))
    operands = {"x": x, "scale": ones, "offset": ones, "mean": x[0], "variance": ones}
    text = batch_norm("batch-norm-inference", operands, (x,), "0", 1)
    same(on_reference(text, operands), (np.ones_like(x),))
