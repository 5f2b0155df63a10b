"""Ragged-dot beside JAX's own expansion of it, and scaled-dot beside its definition."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hlo_examples import Operands, on_reference, program, spelled
from peers import has_jax
from small_programs import numbers, same

if has_jax():
    import jax
    import jax.numpy as jnp

RANDOM = np.random.default_rng(1)


def small(name: str, *sizes: int) -> np.ndarray:
    return numbers(name, RANDOM.integers(-3, 4, sizes))


def listed(name: str, dims: Sequence[int]) -> str:
    return f", {name}={{{','.join(map(str, dims))}}}" if dims else ""


CASES = {
    "rows": ((5, 3), (2, 3, 4), [3, 1], ([1], [1]), ([], []), [0], [0]),
    "too many groups": ((5, 3), (3, 3, 4), [3, 4, 2], ([1], [1]), ([], []), [0], [0]),
    "rows of batches": ((2, 5, 3), (2, 2, 3, 4), [2, 2], ([2], [2]), ([0], [1]), [1], [0]),
    "sizes per batch": (
        (2, 5, 3),
        (2, 2, 3, 4),
        [[2, 3], [0, 4]],
        ([2], [2]),
        ([0], [1]),
        [1],
        [0],
    ),
    "sizes per row": ((2, 5, 3), (2, 3, 4), [[2, 3], [0, 4]], ([2], [1]), ([], []), [1], [0]),
    "contracting": ((5, 3), (5, 4), [1, 0, 3], ([0], [0]), ([], []), [0], []),
    "contracting, batches": (
        (2, 5, 3),
        (2, 4, 5),
        [[1, 4, 0], [2, 2, 9]],
        ([1], [2]),
        ([0], [0]),
        [1],
        [],
    ),
    "contracting two": (
        (2, 5, 3),
        (5, 2, 4),
        [[1, 4], [2, 2]],
        ([0, 1], [1, 0]),
        ([], []),
        [1],
        [],
    ),
    "batch": ((4, 5, 3), (4, 3, 2), [1, 3], ([2], [1]), ([0], [0]), [0], []),
    "no groups": ((5, 3), (0, 3, 4), [], ([1], [1]), ([], []), [0], [0]),
}


@pytest.mark.jax
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("element", ["f32", "s8"])
def test_ragged_dot(name: str, element: str):
    lhs, rhs, groups, contracting, batch, ragged, group_dims = CASES[name]
    operands = {
        "l": small(element, *lhs),
        "r": small(element, *rhs),
        "g": numbers("s32", groups),
    }
    numbers_of_dot = (contracting, batch)
    dimension_numbers = jax.lax.RaggedDotDimensionNumbers(numbers_of_dot, ragged, group_dims)
    expected = np.asarray(
        jax.lax.ragged_dot_general(
            *map(jnp.asarray, operands.values()), ragged_dot_dimension_numbers=dimension_numbers
        )
    )
    text = (
        f"{spelled(expected)} ragged-dot(l, r, g)"
        f"{listed('lhs_batch_dims', batch[0])}{listed('lhs_contracting_dims', contracting[0])}"
        f"{listed('rhs_batch_dims', batch[1])}{listed('rhs_contracting_dims', contracting[1])}"
        f"{listed('lhs_ragged_dims', ragged)}{listed('rhs_group_dims', group_dims)}"
    )
    same(on_reference(program(text, operands), operands), (expected,))


def test_groups_do_not_leak():
    """An infinity of one group is not multiplied by the zeros of another."""
    operands = {
        "l": numbers("f32", [[1], [2], [3]]),
        "r": numbers("f32", [[[np.inf]], [[5]]]),
        "g": numbers("s32", [1, 1]),
    }
    text = "f32[3,1] ragged-dot(l, r, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
    text += "lhs_ragged_dims={0}, rhs_group_dims={0}"
    same(on_reference(program(text, operands), operands), (numbers("f32", [[np.inf], [10], [0]]),))


DOT = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
LHS = numbers("f32", np.arange(16).reshape(2, 8))
RHS = numbers("f32", np.arange(24).reshape(8, 3))
SCALE = numbers("f32", [[1, 2, 4, 8]])


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        pytest.param(
            (SCALE, numbers("f32", 1)), (LHS * np.repeat(SCALE, 2, axis=1)) @ RHS, id="of lhs"
        ),
        pytest.param(
            (numbers("f32", 7), SCALE.reshape(4, 1)),
            LHS @ (RHS * np.repeat(SCALE.T, 2, axis=0)),
            id="of rhs",
        ),
        pytest.param(
            (SCALE.reshape(2, 2), SCALE[:, :1].reshape(1, 1) * 2),
            (LHS * np.repeat(SCALE.reshape(2, 2), 4, axis=1)) @ (RHS * 2),
            id="of both",
        ),
    ],
)
def test_scaled_dot(scales: tuple[np.ndarray, np.ndarray], expected: np.ndarray):
    operands: Operands = {"l": LHS, "r": RHS, "p": scales[0], "q": scales[1]}
    text = program(f"f32[2,3] scaled-dot(l, r, p, q), {DOT}", operands)
    same(on_reference(text, operands), (expected,))


def test_scaled_dot_of_narrow_types():
    """Products of f4 elements and e8m0 scales are exact in f32."""
    operands: dict[str, Any] = {
        "l": numbers("f4e2m1fn", [[1, -6, 0.5, 3]]),
        "r": numbers("f8e4m3fn", [[2], [1], [448], [1]]),
        "p": numbers("f8e8m0fnu", [[1, 1024]]),
        "q": numbers("f8e8m0fnu", [[0.5], [4]]),
    }
    text = program(f"f32[1,1] scaled-dot(l, r, p, q), {DOT}", operands)
    expected = (2 - 6) * 0.5 + (224 + 3) * 1024 * 4
    same(on_reference(text, operands), (numbers("f32", [[expected]]),))
