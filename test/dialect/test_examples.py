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
from xla_dialect.op import XlaOp
from xla_dialect.ops import OPERATIONS
from xla_dialect.reference import run

# Floats are stated with eight digits: one unit in the last place of f32, twice.
TOLERANCE = 3e-7

NAMES = sorted(examples())


def lowered() -> list[str]:
    """The examples of which machine code can be made."""
    by_name = {operation.name.removeprefix("xla."): operation for operation in OPERATIONS}
    return [name for name in NAMES if only_lowered(name, by_name)]


def only_lowered(name: str, by_name: dict[str, type[XlaOp]]) -> bool:
    """Whether every operation of an example is lowered; computations end with xla.return."""
    module = parse_program(examples()[name].text)
    used = {by_name[op.name[4:]] for op in module.walk() if op.name.startswith("xla.")}
    return {op for op in used if op is not by_name["return"]} <= lowered_operations()


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


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_its_operation(name: str) -> None:
    module = parse_program(examples()[name].text)
    assert f"xla.{name}" in {op.name for op in module.walk()}
    assert examples()[name].results


def with_locations(module: ModuleOp) -> str:
    """The text of a module, with the locations of operations and arguments but not its own."""
    text = StringIO()
    Printer(text, print_debuginfo=True).print_op(module)
    return text.getvalue().rpartition(" loc(")[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_with_locations_is_read_again(name: str) -> None:
    text = with_locations(parse_program(examples()[name].text))
    assert "loc(" in text
    assert with_locations(parse_program(text)) == text


@pytest.mark.parametrize("name", NAMES)
def test_an_example_on_the_reference(name: str) -> None:
    module = load_program(examples()[name].text)
    assert_results(flatten_results(run(module, entry=name)), name)


@pytest.mark.parametrize("name", lowered())
def test_an_example_as_machine_code(name: str) -> None:
    program = compile_module(load_program(examples()[name].text), Options(entry=name))
    assert_results(program(), name)
