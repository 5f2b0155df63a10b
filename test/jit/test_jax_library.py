"""
JAX's own library beside XLA CPU: on the reference, from StableHLO and HLO text, and compiled.

Integers and what only moves are equal; floats differ by the bound that each program states. Without
`--full` only those of `QUICK` run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from closeness import assert_within
from jax_programs import LIBRARY, MODELS, PROGRAMS, JaxProgram
from peers import has_jax

import lowerings
from lowerings.execution.process_calls import LIBRARIES
from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run_replicated
from xla_dialect.runtime.runs import nest_arguments
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.verification import verify

if has_jax():
    import jax

pytestmark = pytest.mark.jax

Array = np.ndarray[Any, Any]

ALL = {**PROGRAMS, **LIBRARY, **MODELS}
QUICK = (
    *("bessel_functions", "rearranged", "updated", "contracted", "convolved_3d", "empty"),
    *("transform_gradient", "derivatives", "scans", "branches", "nested_functions"),
    *("arithmetic_uint8", "narrow_bfloat16", "exchanges", "flax_transformer", "optax_clipped_sgd"),
)

# Quick to compile; and narrow floats are rounded after every operation, as HLO says.
XLA_OPTIONS = {"xla_backend_optimization_level": 0, "xla_allow_excess_precision": False}


@dataclass(frozen=True)
class Expected:
    """A lowered program, and what XLA makes of it and computes."""

    lowered: Any
    compiled: Any
    results: Sequence[Any]


def expected_of(program: JaxProgram) -> Expected:
    """The results as arrays of JAX, spread over its devices as XLA likes."""
    lowered = program.lower(keep_unused=True)
    with jax.enable_x64(program.wide):
        compiled = lowered.compile(compiler_options=XLA_OPTIONS)
        return Expected(lowered, compiled, jax.tree.leaves(compiled(*program.arguments)))


def on_reference(module: Any, arguments: Sequence[Sequence[Array]]) -> list[tuple[Array, ...]]:
    """What every partition returns."""
    verify(module)
    nested = [nest_arguments(module, arrays) for arrays in arguments]
    results = run_replicated(module, nested, partitions=len(arguments), libraries=LIBRARIES)
    return [flatten_results(values) for values in results]


def whole(expected: Expected) -> list[Array]:
    return [np.asarray(array) for array in expected.results]


def check_stablehlo(program: JaxProgram, expected: Expected) -> None:
    """Every partition takes and returns whole arrays: the text says which part is whose."""
    module = read_stablehlo(expected.lowered.as_text(), "program.mlir")
    for found in on_reference(module, [program.leaves()] * program.devices):
        assert_within(found, whole(expected), program.bound)


def check_hlo_text(program: JaxProgram, expected: Expected) -> None:
    """For several devices as partitioned by XLA: JAX's own text leaves that to Shardy."""
    if program.devices == 1:
        module = read_hlo(expected.lowered.as_text(dialect="hlo"), "program.hlo")
        (found,) = on_reference(module, [program.leaves()])
        assert_within(found, whole(expected), program.bound)
        return
    module = read_hlo(expected.compiled.as_text(), "program.hlo")
    devices = jax.devices()[: program.devices]
    shardings = jax.tree.leaves(expected.compiled.input_shardings[0])
    arguments = [
        [
            array[sharding.devices_indices_map(array.shape)[device]]
            for array, sharding in zip(program.leaves(), shardings, strict=True)
        ]
        for device in devices
    ]
    for device, found in zip(devices, on_reference(module, arguments), strict=True):
        parts = [
            np.asarray(next(shard.data for shard in x.addressable_shards if shard.device == device))
            for x in expected.results
        ]
        assert_within(found, parts, program.bound)


def check_native(program: JaxProgram, expected: Expected) -> None:
    """Compiled; every partition takes and returns whole arrays."""
    text = expected.lowered.as_text()
    compiled = lowerings.compile(text, input_format="stablehlo", partitions=program.devices)
    for found in compiled.run_processes([program.leaves()] * program.devices):
        assert_within(found, whole(expected), program.bound)


@pytest.mark.flax
def test_there_are_enough() -> None:
    assert len(LIBRARY) + len(MODELS) >= 60
    assert set(QUICK) <= set(ALL)
    assert len(ALL) == len(PROGRAMS) + len(LIBRARY) + len(MODELS), "two programs of one name"


def parameters() -> list[Any]:
    """All programs, and what they need."""
    found: list[Any] = []
    for name in ALL:
        marks = [] if name in QUICK else [pytest.mark.full]
        found.append(pytest.param(name, marks=[*marks, *([pytest.mark.flax] * (name in MODELS))]))
    return found


@pytest.mark.parametrize("name", parameters())
def test_program(name: str) -> None:
    program = ALL[name]
    expected = expected_of(program)
    for check in (check_stablehlo, check_hlo_text, check_native):
        check(program, expected)
