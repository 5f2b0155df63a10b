"""A flax model and its optax optimizer, data-parallel: a step in parts is JAX's step."""

import numpy as np
import pytest
from jax_programs.flax_step import FLAX_PROGRAMS
from partitioned import run_in_parts
from peers import DEVICES, has_jax

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program

if has_jax():
    import jax

pytestmark = [pytest.mark.jax, pytest.mark.flax]


@pytest.mark.full
@pytest.mark.parametrize("name", FLAX_PROGRAMS)
def test_a_training_step_with_pooling_and_adam(name: str) -> None:
    program = FLAX_PROGRAMS[name](DEVICES)
    module = parse_program(program.stablehlo())
    PassManager(make_context()).run(module, parse_passes("xla-inline,xla-flatten-tuples"))
    found = run_in_parts(module, program.leaves())
    expected = jax.tree.leaves(program.jitted()(*program.arguments))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-5, atol=1e-6)
