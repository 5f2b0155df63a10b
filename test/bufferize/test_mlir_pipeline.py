"""
The buffers level means the same to MLIR: its own passes compile it, and the results agree.

Not compared are calls of LAPACK and floats of 8 bits, which MLIR's passes do not lower.
"""

from dataclasses import replace

import numpy as np
import pytest
from closeness import assert_within
from jax_programs import LIBRARY, PROGRAMS
from jax_programs.program import SUMS, Bound
from mlir_pipeline import MlirProgram
from sweeps import each_or_full

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from tools.repository.programs import StoredProgram, stored_programs

pytestmark = pytest.mark.mlir_opt


def assert_same_by_mlir(
    text: str, arguments: list[np.ndarray], bound: Bound, mlir_opt: str
) -> None:
    """MLIR's program and ours compute the same; both are within the bound of exact results."""
    module = load_program(text)
    PassManager(make_context(), verify_each=False).run(module, parse_passes("native{to=buffers}"))
    ours = lowerings.compile(text)
    theirs = MlirProgram(module, ours.signature, mlir_opt)
    twice = replace(bound, units=2 * bound.units)
    assert_within(theirs(*arguments), ours(*arguments), twice)


@pytest.mark.parametrize("program", stored_programs(), ids=lambda program: program.name)
def test_stored_programs(program: StoredProgram, mlir_opt_path: str) -> None:
    text = program.stablehlo.read_text(encoding="utf-8")
    assert_same_by_mlir(text, program.inputs(), SUMS, mlir_opt_path)


COMPARED = (
    *("cumulative", "associative_scan", "while", "nested_loops", "scan", "switch", "sort", "top_k"),
    *("convolution_gradient", "convolved_integers", "donated", "attention", "pooling_gradient"),
    *("fft", "complex", "gather", "scatter", "segments", "zero_sizes", "dynamic_slices"),
    "constants",
)
"""Quick ones that together have all kinds of buffers: views, loops, scatters, donated parameters."""


@pytest.mark.jax
@pytest.mark.parametrize("name", each_or_full(COMPARED, COMPARED[::2]))
def test_jax_programs(name: str, mlir_opt_path: str) -> None:
    program = {**PROGRAMS, **LIBRARY}[name]
    text = program.lower(keep_unused=True).as_text()
    assert_same_by_mlir(text, program.leaves(), program.bound, mlir_opt_path)
