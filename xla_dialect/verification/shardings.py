"""Shardings name meshes and axes that there are, each axis once, and fit their arrays.

So do the sharding rules of operations. Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    SHARDING,
    SHARDING_RULE,
    ShardingAttr,
    ShardingRuleAttr,
    meshes_of,
    result_shardings,
    sharding_fault,
)
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.types import extents, flatten, is_array
from xla_dialect.xdsl.traversal import operations_in


class ShardingFault(Exception):
    """A sharding that makes no sense, and the operation or function that has it."""

    def __init__(self, operation: Operation, message: str):
        self.operation = operation
        super().__init__(message)


def verify_shardings(module: ModuleOp) -> None:
    """Raises ShardingFault for the first sharding of a module that does not fit."""
    meshes: Mapping[str, Mesh] | None = None
    # Arrays that are split alike share a sharding, and most of them their type.
    right: set[tuple[int, int]] = set()
    for op in operations_in(module):
        if isinstance(op, FuncOp):
            if op.arg_attrs is None and op.res_attrs is None:
                continue
        else:
            if SHARDING_RULE in op.attributes:
                _check_rule(op)
            if SHARDING not in op.attributes:
                continue
        if meshes is None:
            meshes = meshes_of(module)
        for what, sharding, type_ in _said(op):
            if (id(sharding), id(type_)) in right:
                continue
            fault = sharding_fault(sharding, type_, meshes)
            if fault is not None:
                raise ShardingFault(op, f"{what}: sharding <{sharding}>: {fault}")
            right.add((id(sharding), id(type_)))


def _said(op: Operation) -> Iterator[tuple[str, Sharding, Attribute]]:
    """What an operation says of its results, or a function of its parameters and results."""
    if isinstance(op, FuncOp):
        type_ = op.function_type
        for side, types, entries in (
            ("parameter", type_.inputs, op.arg_attrs),
            ("result", type_.outputs, op.res_attrs),
        ):
            for number, (each, entry) in enumerate(zip(types, entries or (), strict=False)):
                said = entry.data.get(SHARDING)
                if isinstance(said, ShardingAttr):
                    yield f"{side} {number}", said.data, each
                elif said is not None:
                    what = f"{side} {number}: (SH9) {SHARDING}"
                    raise ShardingFault(op, f"{what} is {said}, not a sharding")
        return
    found = result_shardings(op)
    if found is None:
        said = op.attributes[SHARDING]
        raise ShardingFault(op, f"(SH9) {SHARDING} is {said}, not shardings of its results")
    if len(found) != len(op.results) and op.results:
        raise ShardingFault(op, f"(SH9) has {len(found)} shardings for {len(op.results)} results")
    for number, (sharding, result) in enumerate(zip(found, op.results, strict=False)):
        yield f"result {number}", sharding, result.type


def _check_rule(op: Operation) -> None:
    found = op.attributes[SHARDING_RULE]
    if not isinstance(found, ShardingRuleAttr):
        raise ShardingFault(op, f"(SH22) {SHARDING_RULE} is {found}, not a sharding rule")
    fault = fault_of_rule(found, op)
    if fault is not None:
        raise ShardingFault(op, fault)


def fault_of_rule(rule: ShardingRuleAttr, op: Operation) -> str | None:
    """What is wrong with a sharding rule for the arrays of an operation, if anything."""
    fault = rule.data.fault(sizes_of_arrays(op.operand_types), sizes_of_arrays(op.result_types))
    return None if fault is None else f"its sharding rule {rule.data}: {fault}"


def sizes_of_arrays(types: Sequence[Attribute]) -> list[tuple[int, ...]]:
    """The sizes of arrays, those in tuples too; of tokens none."""
    return [extents(type_) if is_array(type_) else () for type_ in flatten(types)]
