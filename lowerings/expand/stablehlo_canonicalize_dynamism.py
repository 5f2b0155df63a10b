"""The pass `stablehlo-canonicalize-dynamism`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from xla_dialect.stablehlo import STABLEHLO
from xla_dialect.types import is_unbounded
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class _Static:
    """The operation that takes lists as attributes, in the place of one that has operands."""

    name: str
    operands: int
    """How many operands are left."""
    lists: tuple[str, ...] = ()
    """The attributes that the following operands become, if they are constant."""


_STATIC: Mapping[str, _Static] = {
    "stablehlo.dynamic_reshape": _Static("reshape", 1),
    "stablehlo.dynamic_broadcast_in_dim": _Static("broadcast_in_dim", 1),
    "stablehlo.dynamic_iota": _Static("iota", 0),
    "stablehlo.real_dynamic_slice": _Static(
        "slice", 1, ("start_indices", "limit_indices", "strides")
    ),
    "stablehlo.dynamic_pad": _Static(
        "pad", 2, ("edge_padding_low", "edge_padding_high", "interior_padding")
    ),
    "stablehlo.dynamic_gather": _Static("gather", 2, ("slice_sizes",)),
}
_HINTS = ("known_expanding_dimensions", "known_nonexpanding_dimensions")
_CLASSES = {op.name: op for op in STABLEHLO.operations}


@dataclass(frozen=True)
class StablehloCanonicalizeDynamismPass(ModulePass):
    """
    Replaces operations whose shape is an operand, where their types or constants say it.

    ```
    %0 = "stablehlo.dynamic_reshape"(%x, %s) : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x3xf32>
    // becomes
    %0 = "stablehlo.reshape"(%x) : (tensor<?xf32>) -> tensor<2x3xf32>
    ```
    """

    name = "stablehlo-canonicalize-dynamism"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Leaves what depends on arguments as it is."""
        for inner in list(operations_in(op)):
            static = _STATIC.get(inner.name)
            found = None if static is None else _replacement(inner, static)
            if found is not None:
                Rewriter.replace_op(inner, found)


def _replacement(op: Operation, static: _Static) -> Operation | None:
    """The operation with its shape in types and attributes; None where that is not known."""
    (result,) = op.results
    lists = [_constant(value) for value in op.operands[static.operands :]] if static.lists else []
    if None in lists or (not static.lists and is_unbounded(result.type)):
        return None
    properties = {name: value for name, value in op.properties.items() if name not in _HINTS}
    for name, values in zip(static.lists, cast("list[Sequence[int]]", lists), strict=True):
        properties[name] = DenseArrayBase.from_list(i64, values)
    found = create(
        _CLASSES[f"stablehlo.{static.name}"],
        operands=op.operands[: static.operands],
        result_types=[result.type],
        properties=properties,
        attributes=op.attributes,
    )
    found.location = op.location
    found.results[0].name_hint = result.name_hint
    return found


def _constant(value: SSAValue) -> Sequence[int] | None:
    """The integers of a constant; None for any other value."""
    owner = value.owner
    literal: Attribute | None = None
    if isinstance(owner, Operation) and owner.name == "stablehlo.constant":
        literal = owner.properties.get("value")
    if not isinstance(literal, DenseIntOrFPElementsAttr):
        return None
    literal = cast("DenseIntOrFPElementsAttr[Any]", literal)
    count = cast("TensorType[Any]", value.type).element_count()
    values = cast("Sequence[int]", literal.get_values())
    return list(values) * count if len(values) == 1 else list(values)
