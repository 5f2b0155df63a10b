"""
Running programs on XLA CPU, as an executor to compare with; needs jaxlib.

JAX has threads, beside which no process should be forked, and XLA may end the process that it is
in: another one runs one program after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.entry import isolate_entry
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.stablehlo.writing import print_stablehlo

from ..other_process import NoAnswer, OtherProcess


def run_on_xla_cpu(
    module: ModuleOp, entry: str, arrays: Sequence[Array], seconds: float
) -> list[Array]:
    """
    The results on XLA CPU, arrays in the order of the leaves.

    The program gets there as StableHLO. Raises XlaError for what StableHLO cannot express, for what
    XLA refuses, does not survive or takes more seconds for, and where jaxlib is missing.
    """
    module = module.clone()
    isolate_entry(module, entry)
    question = (print_stablehlo(module), [np.ascontiguousarray(array) for array in arrays])
    try:
        return _process(seconds).ask(question)
    except NoAnswer as error:
        raise XlaError(f"xla-cpu: {error}") from None


@cache
def _process(seconds: float) -> OtherProcess:
    """The process of XLA, which ends with this one."""
    return OtherProcess(_run, seconds)


def _run(question: tuple[str, Sequence[Array]]) -> list[Array]:
    text, arrays = question
    try:
        jax, xla_client = import_module("jax"), import_module("jaxlib.xla_client")
    except ImportError:
        raise XlaError("needs jaxlib: pip install 'xla-dialect[jax]'") from None
    device = jax.devices("cpu")[0]
    options = xla_client.CompileOptions()
    devices = xla_client.DeviceList((device,))
    jax.config.update("jax_enable_x64", True)
    program = device.client.compile_and_load(text.encode(), devices, options)
    given = [jax.device_put(array, device) for array in arrays]
    found = program.execute_sharded(given).disassemble_into_single_device_arrays()
    return [np.asarray(result[0]) for result in found]
