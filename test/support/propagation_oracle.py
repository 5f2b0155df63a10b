"""What jaxlib's own propagation says of a program, array by array, beside ours."""

import functools
import itertools
from typing import Any

from peers import has_jax
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.transforms.dead_code_elimination import dce

from lowerings.driver.context import make_context
from lowerings.partitioning.xla_propagate_shardings import XlaPropagateShardingsPass
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


IMPORT = ",".join(
    (
        *("sdy-lift-inlined-meshes", "sdy-remove-size-one-axes"),
        *("sdy-constant-or-scalar-splitter", "sdy-manual-axes-cleanup"),
        *("sdy-add-data-flow-edges", "sdy-apply-sharding-constraints"),
        "sdy-sharding-group-import",
    )
)
PROPAGATE = "sdy-user-priority-propagate"
SINK = "func.func(sdy-sink-data-flow-edges)"
"""jaxlib's propagation, without what its pipeline does to parameters and results afterwards."""


def run_passes(text: str, *passes: str) -> str:
    """A program, whose operations are numbered, after passes of jaxlib's."""
    with _context() as context:
        module = ir.Module.parse(text, context)
        numbers = itertools.count()

        def number(op: Any) -> Any:
            if not op.name.startswith(("func.", "builtin.", "sdy.mesh")):
                name = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), next(numbers))
                if NUMBER not in op.attributes:
                    op.attributes[NUMBER] = name
            return ir.WalkResult.ADVANCE

        module.operation.walk(number)
        for each in passes:
            passmanager.PassManager.parse(f"builtin.module({each})").run(module.operation)
        return str(module.operation.get_asm(use_local_scope=True))


NUMBER = "test.number"
"""The attribute by which operations of both sides are found."""


def axes_of(sharding: Sharding | None) -> str:
    """The axes of each dimension; what nothing is said of is whole."""
    if sharding is None:
        return ""
    found = " ".join("{" + ",".join(map(str, each)) + "}" for each in sharding.axes)
    return found if next(sharding.split_axes, None) is not None else ""


def axes_of_values(module: ModuleOp) -> dict[str, set[str]]:
    """How each array is split: a constant may have several copies that are split in other ways."""
    found: dict[str, set[str]] = {}
    for function in module.ops:
        assert isinstance(function, FuncOp)
        for i, sharding in enumerate(parameter_shardings(function)):
            found[f"parameter {i}"] = {axes_of(sharding)}
        for i, sharding in enumerate(returned_shardings(function)):
            found[f"returned {i}"] = {axes_of(sharding)}
        for op in operations_in(function.body):
            number = op.attributes.get(NUMBER)
            if not isinstance(number, IntegerAttr) or _is_annotation(op):
                continue
            shardings = result_shardings(op)
            for i in range(len(op.results)):
                sharding = None if shardings is None else shardings[i]
                key = f"{number.value.data}: {op.name}.{i}"
                found.setdefault(key, set()).add(axes_of(sharding))
    return found


def _is_annotation(op: Operation) -> bool:
    return isinstance(op, CustomCallOp) and op.custom_call_target.data in ANNOTATIONS


def compared(text: str) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The axes of all values by our propagation, and by jaxlib's; those that are not used go."""
    numbered = run_passes(text)
    mine = read_stablehlo(numbered)
    dce(mine)  # as MLIR's driver of patterns does
    XlaPropagateShardingsPass().apply(make_context(), mine)
    theirs = read_stablehlo(run_passes(numbered, IMPORT, PROPAGATE, SINK))
    ours, expected = axes_of_values(mine), axes_of_values(theirs)
    return {key: ours[key] for key in expected if key in ours}, expected
