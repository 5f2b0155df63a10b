"""Named operations of linalg, such as `linalg.matmul`, as `linalg.generic`."""

from __future__ import annotations

from collections.abc import Container

from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from xla_dialect.xdsl.traversal import operations_in


def generalize(op: LinalgStructuredOperation) -> GenericOp:
    """Puts the `linalg.generic` that does the same in the place of an operation."""
    new = GenericOp(
        op.inputs,
        op.outputs,
        op.body.clone(),
        op.get_indexing_maps(),
        op.get_iterator_types(),
        [result.type for result in op.results],
    )
    new.attributes.update(op.attributes)
    new.location = op.location
    Rewriter.replace_op(op, new)
    return new


def generalize_all(inside: Operation, but: Container[type[Operation]]) -> None:
    """Generalizes all operations in one whose maps xDSL knows, except those of some classes."""
    named = [
        op
        for op in operations_in(inside)
        if op.name.startswith("linalg.")
        and type(op) not in but
        and isinstance(op, LinalgStructuredOperation)
    ]
    for op in named:
        generalize(op)
