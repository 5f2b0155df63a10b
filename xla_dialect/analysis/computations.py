"""Analyses of the computations (regions on scalars) of reductions, scatters and sorts."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute, Block

from xla_dialect.op import XlaOp
from xla_dialect.ops.elementwise_binary import ElementwiseBinaryOp
from xla_dialect.types import ElementClass, element_class


def only_operation(computation: Block) -> type[XlaOp] | None:
    """The operation of both parameters that a computation of two parameters consists of."""
    op, last = computation.first_op, computation.last_op
    if (
        not isinstance(op, XlaOp)
        or last is None
        or len(computation.args) != 2
        or set(op.operands) != set(computation.args)
        or op.next_op is not last
        or tuple(last.operands) != tuple(op.results)
    ):
        return None
    return type(op)


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
