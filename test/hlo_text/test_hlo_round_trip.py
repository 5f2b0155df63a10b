"""HLO text that is read and printed is the same module for XLA, whoever printed it first."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hlo_examples import on_xla
from jax_programs import PROGRAMS
from peers import has_jax
from same_modules import assert_round_trip, everything, printed_by_xla
from sweeps import each_or_full

from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    import jax.numpy as jnp

STORED = sorted((Path(__file__).parents[1] / "programs").glob("*.hlo"))

NOT_READ = {"random": "the reader of StableHLO does not know chlo.erf_inv"}
"""The programs that are not read as StableHLO, with the reason."""

pytestmark = pytest.mark.jax


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_stored_programs(path: Path) -> None:
    assert_round_trip(path.read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_lowered_programs(name: str) -> None:
    lowered: Any = PROGRAMS[name].lower()
    assert_round_trip(lowered.as_text(dialect="hlo"))


@pytest.mark.parametrize("name", each_or_full(PROGRAMS, list(PROGRAMS)[::3]))
def test_optimised_programs(name: str) -> None:
    """What XLA CPU makes of them: fusions, schedules, backend configurations, custom calls."""
    executable = PROGRAMS[name].lower().compile().runtime_executable()
    for module in executable.hlo_modules():
        assert_round_trip(module.to_string(everything()))


@contextmanager
def shardings_of_gspmd() -> Generator[None]:
    """JAX prints `mhlo.sharding` and custom calls, instead of operations of Shardy."""
    name = "jax_use_shardy_partitioner"
    before = getattr(jax.config, name)
    jax.config.update(name, False)
    try:
        yield
    finally:
        jax.config.update(name, before)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in NOT_READ])
def test_stablehlo_becomes_hlo(name: str) -> None:
    with shardings_of_gspmd():
        text = PROGRAMS[name].lower().as_text()
    printed = print_hlo(read_stablehlo(text))
    printed_by_xla(printed)
    assert print_hlo(read_hlo(printed)) == printed


COMPUTED = (
    *("gradient", "convolution", "pooling_gradient", "sort", "scan", "nested_loops", "switch"),
    *("cholesky", "solve", "gather", "scatter", "complex"),
)
"""Programs that run on one device."""


@pytest.mark.parametrize("name", COMPUTED)
def test_stablehlo_and_its_hlo_compute_the_same(name: str) -> None:
    program = PROGRAMS[name]
    printed = print_hlo(read_stablehlo(program.lower().as_text()))
    leaves = jax.tree.leaves(program.arguments)
    # As JAX has them: 64-bit integers of numpy in 32 bits.
    operands = {f"p{i}": np.asarray(jnp.asarray(leaf)) for i, leaf in enumerate(leaves)}
    found = on_xla(printed, operands)
    expected = jax.tree.leaves(jax.jit(program.function)(*program.arguments))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-6, strict=True)
