"""Programs of JAX, written as StableHLO from three sources, compute on XLA what JAX computes."""

from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from jax_programs import PROGRAMS
from peers import DEVICES, has_jax
from same_modules import everything
from sweeps import each_or_full
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.targets.stablehlo import StableHloTarget
from xla_dialect.hlo_text import read_hlo
from xla_dialect.stablehlo import read_stablehlo

if has_jax():
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from jaxlib import xla_client

pytestmark = pytest.mark.jax

COLLECTIVE = ("psum", "all_gather", "ring", "reduce_scatter", "all_to_all")
"""Programs on rows, one for each device."""

SHARDED_BY_XLA = ("constrained",)
"""Where XLA chooses the shardings of arguments."""

SOURCES = ("stablehlo", "hlo", "optimized")
PROGRAM_NAMES = sorted(PROGRAMS.keys() - {*SHARDED_BY_XLA})
CASES = [
    f"{name}-{source}"
    for name in PROGRAM_NAMES
    for source in SOURCES
    if name not in COLLECTIVE or source == "hlo"
]
"""Collectives of StableHLO ask for the id of the partition, which XLA does not partition; in
optimized HLO they are partitioned already."""

QUICK = (
    "scan-stablehlo",
    "sort-hlo",
    "nested_loops-optimized",
    "eigenvalues-stablehlo",
    "ring-hlo",
    "types-stablehlo",
)


def written(module: ModuleOp) -> str:
    """The StableHLO of a module."""
    output = StringIO()
    StableHloTarget().emit(make_context(), module, output)
    return output.getvalue()


def on_xla(text: str, arguments: Sequence[Any], partitions: int) -> list[np.ndarray]:
    """The results of StableHLO; rows of arguments and results are spread over the partitions."""
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = partitions
    build.use_spmd_partitioning = build.use_shardy_partitioner = partitions > 1
    devices = jax.devices()[:partitions]
    options.device_assignment = xla_client.DeviceAssignment.create(
        np.arange(partitions).reshape(1, partitions)
    )
    executable = devices[0].client.compile_and_load(
        text, xla_client.DeviceList(tuple(devices)), options
    )
    rows = PartitionSpec("device") if partitions > 1 else PartitionSpec()
    sharding = NamedSharding(Mesh(np.array(devices), "device"), rows)
    inputs = [jax.device_put(argument, sharding) for argument in arguments]
    results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
    if partitions == 1:
        return [np.asarray(parts[0]) for parts in results]
    return [np.concatenate([np.asarray(part) for part in parts]) for parts in results]


@pytest.mark.parametrize("case", each_or_full(CASES, QUICK))
def test_programs_compute_the_same(case: str) -> None:
    name, _, source = case.partition("-")
    program = PROGRAMS[name]
    lowered = program.lower(keep_unused=True)
    if source == "stablehlo":
        module = read_stablehlo(lowered.as_text())
    elif source == "hlo":
        module = read_hlo(lowered.as_text("hlo"))
    else:
        executable: Any = lowered.compile().runtime_executable()
        (optimized,) = executable.hlo_modules()
        module = read_hlo(optimized.to_string(everything()))
    arguments = [np.asarray(leaf) for leaf in jax.tree.leaves(program.arguments)]
    expected = jax.tree.leaves(jax.jit(program.function)(*program.arguments))
    found = on_xla(written(module), arguments, DEVICES if name in COLLECTIVE else 1)
    for ours, theirs in zip(found, expected, strict=True):
        wanted = np.asarray(theirs)
        assert ours.dtype == wanted.dtype
        assert ours.shape == wanted.shape
        exact = ours.tobytes() == wanted.tobytes()
        # Another order of operations: what the optimizer fused, and formulas for CHLO.
        assert exact or np.allclose(ours, wanted, rtol=2e-6, atol=2e-6, equal_nan=True)
