"""Who runs random programs: XLA CPU, and all executors of ours."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from peers import has_jax
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness

from differential.draft import Array
from differential.judging import EXPLAINED_OF_XLA, Executor
from lowerings.compilation import Options, compile_module
from lowerings.execution.emulator import Emulation
from xla_dialect.hlo_text import print_hlo
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise_binary import AndOp, OrOp
from xla_dialect.types import Array as ArrayType

if has_jax():
    import jax
    from jaxlib import xla_client
    from xla_cpu import hlo, mlir

OPTIONS = {
    "xla_backend_optimization_level": 0,  # quick to compile
    "xla_allow_excess_precision": False,  # narrow floats are rounded after every operation
}


def on_xla(module: ModuleOp, arguments: Sequence[Array]) -> list[Array]:
    """The results of XLA CPU for the module as HLO text."""
    parsed = hlo.hlo_module_from_text(print_hlo(module))
    computation = hlo.XlaComputation(parsed.as_serialized_hlo_module_proto())
    program = mlir.xla_computation_to_mlir_module(computation)
    device = jax.devices()[0]
    options: Any = xla_client.CompileOptions()
    options.env_option_overrides = list(OPTIONS.items())
    with jax.enable_x64(True):
        executable = device.client.compile_and_load(
            program, xla_client.DeviceList((device,)), options
        )
        inputs = [jax.device_put(array, device) for array in arguments]
        return [np.asarray(array) for array in executable.execute(inputs)]


def ends_xla(module: ModuleOp) -> bool:
    """
    Whether XLA CPU (jaxlib 0.10.2) may end the process: so it does for `and` and `or` of a signed
    integer that was converted to a narrower one, whatever stands between.
    """
    return any(isinstance(op, ConvertOp) and _narrows_signed(op) for op in module.walk()) and any(
        isinstance(op, AndOp | OrOp) for op in module.walk()
    )


def _narrows_signed(op: ConvertOp) -> bool:
    source, target = (cast(ArrayType, value.type).element_type for value in (op.operand, op.result))
    return (
        isinstance(source, IntegerType)
        and isinstance(target, IntegerType)
        and source.signedness.data == target.signedness.data == Signedness.SIGNLESS
        and source.width.data > target.width.data > 1
    )


def compiled(options: Options) -> Executor:
    """The program on one of our backends."""
    return Executor(lambda module, arguments: compile_module(module, options)(*arguments))


XLA = Executor(on_xla, EXPLAINED_OF_XLA, flushes_subnormals=True)

EXECUTORS: Mapping[str, Executor] = {
    "llvm": compiled(Options(backend="llvm")),
    "tensors": compiled(Options(backend="interpreter", level="tensors")),
    "buffers": compiled(Options(backend="interpreter", level="buffers")),
    "loops": compiled(Options(backend="interpreter", level="loops")),
    "riscv64": compiled(Options(backend="riscv64", emulation=Emulation())),
    "riscv64_vectors": compiled(Options(backend="riscv64", emulation=Emulation("+v"))),
}
"""Ours; the reference is what they are compared with."""
