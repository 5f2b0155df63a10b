"""Which operations of the tensors level have no side effects."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation
from xdsl.traits import Pure

_PURE_BY_CLASS: dict[type[Operation], bool] = {
    # xDSL 0.74.0 does not declare these `Pure`; on tensors, where they have results, they are.
    GenericOp: True,
    FillOp: True,
    tensor.EmptyOp: True,
}


def is_pure(op: Operation) -> bool:
    """Whether an operation of the tensors level may be removed, or merged with an equal one."""
    if not op.results:
        return False
    op_class = type(op)
    found = _PURE_BY_CLASS.get(op_class)
    if found is None:
        found = _PURE_BY_CLASS[op_class] = not op.regions and op.has_trait(Pure())
    return found
