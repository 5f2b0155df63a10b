"""Analyses of the computations (regions on scalars) of reductions, scatters and sorts."""

from __future__ import annotations

from typing import TypeAlias, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute, Block

from xla_dialect.op import decode
from xla_dialect.ops.elementwise_binary import AddOp, ElementwiseBinaryOp, MultiplyOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, SelectAndScatterOp, only_operation
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import (
    BY_TYPE,
    Array,
    ElementClass,
    element_class,
    element_count,
    sizes_of,
)

UPDATES_IN_ORDER = 16
"""So many terms, for each sum, are added one after the other."""

Reducing: TypeAlias = ReduceOp | ReduceWindowOp | ScatterOp | SelectAndScatterOp


def accumulates(computation: Block) -> bool:
    """
    Whether a computation is one addition or one multiplication: floats are accumulated in at least
    f32 by it, and rounded to their type once ((RC4)).
    """
    return only_operation(computation) in (AddOp, MultiplyOp)


def reducer_of(op: Reducing) -> Block:
    """The computation that an operation combines elements by."""
    return (op.scatter if isinstance(op, SelectAndScatterOp) else op.to_apply).block


def accumulates_in_f32(op: Reducing) -> bool:
    """
    Whether an operation is to accumulate narrow floats in f32.

    A scatter that combines no element with several updates rounds once anyway.
    """
    if len(op.results) != 1 or not accumulates(reducer_of(op)):
        return False
    row = BY_TYPE[cast(Array, op.results[0].type).element_type]
    if row.element_class != ElementClass.FLOAT or row.bits >= 32:
        return False
    if not isinstance(op, ScatterOp):
        return True
    updates = sizes_of(cast(Array, op.updates[0].type))
    scattered = without(range(len(updates)), decode(op.update_window_dims))
    return not op.unique_indices.value.data and element_count([updates[d] for d in scattered]) != 1


def adds_long_sums(computation: Block, updates: int, targets: int) -> bool:
    """
    Whether a computation adds so many updates to so many elements that rounding after each of them
    would tell: sums are kept in more digits then, and rounded once ((RC4)).
    """
    return updates > UPDATES_IN_ORDER * targets and only_operation(computation) is AddOp


def scatters_long_sums(op: ScatterOp) -> bool:
    """Whether a scatter into one array does."""
    arrays = [cast(Array, operand.type) for operand in (*op.updates, *op.inputs)]
    sizes = [element_count(sizes_of(array)) for array in arrays]
    return len(sizes) == 2 and adds_long_sums(op.to_apply.block, *sizes)


_FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type)
"""The float types with -0.0 and infinities."""


def neutral_element(computation: Block, element_type: Attribute) -> float | int | None:
    """
    The neutral element of a computation; None for those that are not known to have one.

    Complex numbers have none: in a product with 1 + 0i, infinities become NaN. Neither have the
    smallest floats, some of which lack infinities and -0.0.
    """
    operation = only_operation(computation)
    kind = element_class(element_type)
    if operation is None or not issubclass(operation, ElementwiseBinaryOp):
        return None
    if operation.NEUTRAL is None or kind == ElementClass.COMPLEX:
        return None
    if kind == ElementClass.FLOAT and not isinstance(element_type, _FLOATS):
        return None
    return operation.NEUTRAL(element_type)
