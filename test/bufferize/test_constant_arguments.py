"""Kernels that differ in constants only are one, and compute what each of them did."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import few_examples

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
SIZE = 4
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "compare")


ZEROS = ("0.0", "-0.0")


def steps(
    seed: int, element: str, count: int, operations: tuple[str, ...] = BINARY, zeros: float = 0
) -> str:
    """
    A program of so many steps: a product with a matrix, and operations that are the same in each
    step but for their constants, of which some are the same too, and a part `zeros` are zeros.
    """
    plan, generator = random.Random(seed), random.Random(seed + 1)
    type_ = f"tensor<{SIZE}x{SIZE}x{element}>"
    chosen = [(plan.choice(operations), plan.random() < 0.2) for _ in range(5)]

    def number() -> str:
        if element.startswith("i"):
            return "0" if generator.random() < zeros else str(generator.randint(2, 1 << 20))
        number = f"{generator.uniform(-1, 1):.6f}"
        return generator.choice(ZEROS) if generator.random() < zeros else number

    equal = number()
    lines: list[str] = []
    value = "%x"
    for step in range(count):
        lines.append(
            f"%d{step} = stablehlo.dot_general {value}, %w, contracting_dims = [1] x [0] : "
            f"({type_}, {type_}) -> {type_}"
        )
        value = f"%d{step}"
        for place, (operation, is_equal) in enumerate(chosen):
            name, given_ = f"%v{step}_{place}", equal if is_equal else number()
            lines.append(f"{name}c = stablehlo.constant dense<{given_}> : {type_}")
            if operation == "compare":
                mask = f"tensor<{SIZE}x{SIZE}xi1>"
                lines += [
                    f"{name}p = stablehlo.compare LT, {value}, {name}c : "
                    f"({type_}, {type_}) -> {mask}",
                    f"{name} = stablehlo.select {name}p, {name}c, {value} : {mask}, {type_}",
                ]
            else:
                lines.append(f"{name} = stablehlo.{operation} {value}, {name}c : {type_}")
            value = name
    body = "\n".join(lines)
    return (
        f"func.func @main(%x: {type_}, %w: {type_}) -> {type_} {{\n{body}\n"
        f"return {value} : {type_}\n}}"
    )


def kernels(text: str) -> int:
    """How many functions the program has besides its entry."""
    module = load_program(text, "stablehlo")
    PassManager(make_context()).run(module, parse_passes("native{to=buffers}"))
    return len(list(module.ops)) - 1


@few_examples(8)
@given(st.integers(0, 2**32), st.sampled_from(sorted(DTYPES)), st.integers(1, 9))
def test_results_stay_the_same(seed: int, element: str, count: int):
    text, dtype = steps(seed, element, count, zeros=0.3), DTYPES[element]
    x = np.random.default_rng(seed).integers(-4, 5, (SIZE, SIZE)).astype(dtype)
    w = np.eye(SIZE, dtype=dtype)[np.random.default_rng(seed).permutation(SIZE)]
    (expected,) = lowerings.compile(text, backend="reference")(x, w)
    (found,) = lowerings.compile(text)(x, w)
    if element.startswith("i"):
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("element", DTYPES)
def test_kernels_are_as_few_for_more_steps(element: str):
    operations = ("add", "multiply")
    assert kernels(steps(3, element, 40, operations)) == kernels(steps(3, element, 8, operations))
    assert kernels(steps(3, element, 3, operations)) == 4


def test_divisors_are_constants():
    """To divide by a known integer takes less: such kernels stay apart."""
    assert kernels(steps(0, "i32", 8, ("divide",))) == 9
