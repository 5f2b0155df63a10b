"""What jaxlib's own propagation says of a program, array by array, beside ours."""

import functools
from typing import Any

from peers import has_jax
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.driver.context import make_context
from lowerings.partitioning.constant_uses import ConstantUses
from lowerings.partitioning.xla_propagate_shardings import XlaPropagateShardingsPass
from xla_dialect.op import XlaOp
from xla_dialect.ops import creation, data_movement
from xla_dialect.ops.custom_calls import ANNOTATIONS, CustomCallOp
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    parameter_shardings,
    result_shardings,
    returned_shardings,
)
from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.xdsl.traversal import operations_in

if has_jax():
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir, passmanager


@functools.cache
def _context() -> Any:
    return mlir.make_ir_context()


def run_passes(text: str, pipeline: str) -> str:
    """A program after passes of jaxlib's."""
    with _context() as context:
        module = ir.Module.parse(text, context)
        passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
        return module.operation.get_asm(use_local_scope=True)


def axes_of(sharding: Sharding | None) -> str:
    """The axes of each dimension; what nothing is said of is whole."""
    if sharding is None:
        return ""
    found = " ".join("{" + ",".join(map(str, each)) + "}" for each in sharding.axes)
    return found if next(sharding.split_axes, None) is not None else ""


def axes_of_values(module: ModuleOp) -> dict[str, str]:
    """How each array is split, by its place: parameters, results, operations in their order."""
    found: dict[str, str] = {}
    for function in module.ops:
        assert isinstance(function, FuncOp)
        for i, sharding in enumerate(parameter_shardings(function)):
            found[f"parameter {i}"] = axes_of(sharding)
        for i, sharding in enumerate(returned_shardings(function)):
            found[f"returned {i}"] = axes_of(sharding)
        number = 0
        for op in operations_in(function.body):
            if not _is_compared(op):
                continue
            shardings = result_shardings(op)
            for i in range(len(op.results)):
                sharding = None if shardings is None else shardings[i]
                found[f"{number}: {op.name}.{i}"] = axes_of(sharding)
            number += 1
    return found


def _is_compared(op: Operation) -> bool:
    """Operations that both sides have once: constants are taken apart and put together."""
    if isinstance(op, CustomCallOp) and op.custom_call_target.data in ANNOTATIONS:
        return False
    if isinstance(op, data_movement.CopyOp | creation.ConstantOp | creation.IotaOp):
        return False
    return isinstance(op, XlaOp) and bool(op.results)


def compared(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """The axes of all values by our propagation, and by jaxlib's."""
    whole = run_passes(text, "func.func(cse),canonicalize")
    mine = read_stablehlo(whole)
    XlaPropagateShardingsPass().apply(make_context(), mine)
    theirs = read_stablehlo(run_passes(whole, "sdy-propagation-pipeline"))
    return axes_of_values(mine), axes_of_values(theirs)
