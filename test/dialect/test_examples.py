"""The examples of docs/examples give the results that they state."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from lowerings.compilation import Options, compile_module
from lowerings.driver.program import load_program, parse_program
from tools.comparison import mismatches
from tools.repository.docs import lowered_operations
from tools.repository.programs import examples
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.ops import OPERATIONS
from xla_dialect.reference import run

# Floats are stated with eight digits: one unit in the last place of f32, twice.
TOLERANCE = 3e-7

NAMES = sorted(examples())
BY_NAME = {operation.name.removeprefix("xla."): operation for operation in OPERATIONS}
LOWERED = lowered_operations()


def assert_results(results: Sequence[Any], name: str) -> None:
    """The stated element types, sizes and values, zeros with their signs."""
    expected = examples()[name].expected()
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        assert not mismatches(result, wanted, TOLERANCE).any(), (result, wanted)
        if wanted.dtype.kind == "f":
            zero = (wanted == 0) & (result == 0)
            np.testing.assert_array_equal(np.signbit(result[zero]), np.signbit(wanted[zero]))


def with_locations(module: ModuleOp) -> str:
    """The text of a module, with the locations of operations and arguments but not its own."""
    text = StringIO()
    Printer(text, print_debuginfo=True).print_op(module)
    return text.getvalue().rpartition(" loc(")[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_example(name: str) -> None:
    """It shows its operation, is read again with its locations, and gives the results it states."""
    text = examples()[name].text
    module = load_program(text)
    used = {op.name.removeprefix("xla.") for op in module.walk() if op.name.startswith("xla.")}
    assert name in used
    assert examples()[name].results
    located = with_locations(parse_program(text))
    assert "loc(" in located
    assert with_locations(parse_program(located)) == located
    assert_results(flatten_results(run(module, entry=name)), name)
    if all(BY_NAME[each] in LOWERED for each in used - {"return"}):
        assert_results(compile_module(load_program(text), Options(entry=name))(), name)
