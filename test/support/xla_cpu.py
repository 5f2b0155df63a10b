"""Running HLO text on XLA CPU, over replicas and partitions."""

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from peers import DEVICES, has_jax

if has_jax():
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    from jaxlib import xla_client

    # Not in JAX's interface: the readers of HLO text and of what it becomes.
    hlo: Any = importlib.import_module("jaxlib._hlo")
    mlir: Any = importlib.import_module("jaxlib.xla_client")._xla.mlir


def xla_cpu(
    text: str, arguments: Sequence[Sequence[Any]], replicas: int = 1, partitions: int = 1
) -> list[list[np.ndarray]]:
    """
    The results on each device, arrays in the order of the leaves.

    `arguments`: per device, replica by replica and inside a replica partition by partition.
    """
    assert len(arguments) == replicas * partitions <= DEVICES
    executable = _compiled(text, replicas, partitions)
    devices = jax.devices()[: replicas * partitions]
    sharding = NamedSharding(Mesh(np.array(devices), "device"), PartitionSpec("device"))
    inputs = [
        jax.make_array_from_single_device_arrays(
            (len(devices), *np.shape(values[0])),
            sharding,
            [
                jax.device_put(np.asarray(value)[None], device)
                for value, device in zip(values, devices, strict=True)
            ],
        )
        for values in zip(*arguments, strict=True)
    ]
    results = executable.execute_sharded(inputs).disassemble_into_single_device_arrays()
    return [[np.asarray(array[device]) for array in results] for device in range(len(devices))]


def hlo_module(text: str) -> Any:
    """XLA's own module for a text."""
    return hlo.hlo_module_from_text(text)


@cache
def _compiled(text: str, replicas: int, partitions: int) -> Any:
    """The executable of XLA for the first devices."""
    computation = hlo.XlaComputation(hlo_module(text).as_serialized_hlo_module_proto())
    program = mlir.xla_computation_to_mlir_module(computation)
    client = jax.devices()[0].client
    devices = jax.devices()[: replicas * partitions]
    grid = np.arange(replicas * partitions).reshape(replicas, partitions)
    options = xla_client.CompileOptions()
    options.num_replicas = options.executable_build_options.num_replicas = replicas
    options.num_partitions = options.executable_build_options.num_partitions = partitions
    options.executable_build_options.use_spmd_partitioning = partitions > 1
    options.device_assignment = xla_client.DeviceAssignment.create(grid)
    return client.compile_and_load(program, xla_client.DeviceList(tuple(devices)), options)
