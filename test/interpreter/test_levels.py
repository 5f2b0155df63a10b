"""
The levels below xla, interpreted, compute what the reference does: the examples of all operations,
and the stored programs.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sweeps import each_or_full
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.compilation import (
    INTERPRETED_LEVELS,
    Lowering,
    Options,
    compile_module,
    interpreted_program,
)
from lowerings.driver.program import load_program
from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from tools.comparison import DEFAULT_TOLERANCE, largest_relative_error
from tools.repository.programs import StoredProgram, examples, stored_programs
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, bits_of
from xla_dialect.runtime.comparison import ulps_between
from xla_dialect.types import ElementClass

AnyArray = np.ndarray[Any, np.dtype[Any]]

ULPS = {"tensors": 0, "buffers": 0, "loops": 4}
"""
How far results of floats may be off. Above the loops level the reference's own functions are
evaluated, in the order that it folds in; loops have polynomials and sums of several lanes.
"""
EXPANDED = {op.name.removeprefix("xla.") for op in XlaExpandCompoundPass.conversions} | {"fft"}
"""Operations that other formulas stand for: they round elsewhere, and what cancels is noise."""


def example(name: str) -> ModuleOp:
    return load_program(examples()[name].text, "mlir")


def same_bits(found: AnyArray, expected: AnyArray) -> None:
    """Equal bits, but that all NaNs are equal."""
    if expected.dtype.kind == "c":
        found, expected = (x.view(np.real(x).dtype) for x in map(np.atleast_1d, (found, expected)))
    number = expected == expected
    np.testing.assert_array_equal(found == found, number)
    np.testing.assert_array_equal(bits_of(found)[number], bits_of(expected)[number])


def compare(found: AnyArray, expected: AnyArray, ulps: int) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    is_float = ELEMENT_OF_DTYPE[expected.dtype].element_class & (
        ElementClass.FLOAT | ElementClass.COMPLEX
    )
    if ulps and is_float:
        assert ulps_between(found, expected).max(initial=0) <= ulps
    else:
        same_bits(found, expected)


@pytest.mark.parametrize("name", examples())
def test_examples_at_every_level(name: str) -> None:
    expected = compile_module(example(name), Options(backend="reference", entry=name))()
    lowering = Lowering(example(name), name)
    for level in INTERPRETED_LEVELS:
        found = interpreted_program(lowering, Options(backend="interpreter", level=level))()
        for mine, theirs in zip(found, expected, strict=True):
            if name in EXPANDED:
                assert largest_relative_error(mine, theirs) <= DEFAULT_TOLERANCE
            else:
                compare(mine, theirs, ULPS[level])


CASES = [(program.name, level) for program in stored_programs() for level in INTERPRETED_LEVELS]
SLOW = [("transformer_block", "loops")]


@pytest.mark.parametrize(
    "case",
    each_or_full(CASES, [case for case in CASES if case not in SLOW]),
)
def test_stored_programs(case: tuple[str, str]) -> None:
    name, level = case
    program: StoredProgram = next(each for each in stored_programs() if each.name == name)
    path: Path = program.stablehlo
    outputs = lowerings.compile(path, backend="interpreter", level=level)(*program.inputs())
    for output, theirs in zip(outputs, program.outputs(), strict=True):
        assert largest_relative_error(output, theirs) <= DEFAULT_TOLERANCE
