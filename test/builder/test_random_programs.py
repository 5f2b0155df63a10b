"""Random programs without a single result type: what the builder infers is what numpy computes."""

import numpy as np
import pytest
from builder_steps import MAX_ELEMENTS, STEPS, SideBySide, Step
from built_programs import reparsed
from hypothesis import given, settings
from hypothesis import strategies as st

from xla_dialect.builder import XlaBuilder
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.reference import run


def start(data: st.DataObject) -> tuple[SideBySide, list[np.ndarray]]:
    """A program with a parameter of each element type."""
    program = SideBySide(data, XlaBuilder("random"))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    arguments: list[np.ndarray] = []
    for number, dtype in enumerate((np.int32, np.float32, np.bool_, np.int32)):
        sizes = program.sizes() if number < 3 else [2, 3]
        array = random.integers(-9, 10, sizes).astype(dtype)
        arguments.append(array)
        program.values.append((program.b.parameter(number, array), array))
    return program, arguments


def take(program: SideBySide, step: Step) -> None:
    """One step; its type is that of numpy's array."""
    value, found = step(program)
    array = np.asarray(found)  # numpy makes scalars of rank 0
    assert value.shape == array.shape
    assert numpy_dtype(value.element_type) == array.dtype
    if array.size <= MAX_ELEMENTS and array.ndim <= 3:
        program.values.append((value, array))


def check(program: SideBySide, arguments: list[np.ndarray]) -> None:
    """All values together as the results of the program, after printing and reading it."""
    module = reparsed(program.b.build([value for value, _ in program.values]))
    results = run(module, arguments)
    for found, (_, array) in zip(results, program.values, strict=True):
        np.testing.assert_array_equal(found, array, strict=True)


@pytest.mark.parametrize("step", STEPS)
@settings(max_examples=10)
@given(data=st.data())
def test_step(step: Step, data: st.DataObject) -> None:
    program, arguments = start(data)
    take(program, step)
    check(program, arguments)


@given(data=st.data())
def test_program(data: st.DataObject) -> None:
    program, arguments = start(data)
    for step in data.draw(st.lists(st.sampled_from(STEPS), max_size=8)):
        take(program, step)
    check(program, arguments)
