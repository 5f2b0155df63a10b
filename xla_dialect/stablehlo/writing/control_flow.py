"""Loops, branches, calls, barriers and tuples."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.xdsl.operation_table import OperationTable


def write_tuple(op: Operation, body: BodyWriter) -> None:
    """Nothing: the elements stand for themselves."""
    body.trees[op.results[0]] = tuple([body.tree(value) for value in op.operands])


def write_get_tuple_element(op: GetTupleElementOp, body: BodyWriter) -> None:
    """Nothing: the element stands for itself."""
    tree = body.tree(op.operands[0])
    assert isinstance(tree, tuple)
    index = op.index
    assert isinstance(index, IntegerAttr)
    body.trees[op.results[0]] = tree[index.value.data]


WRITERS = (
    OperationTable[Write]()
    .add(TupleOp, write_tuple)
    .add(GetTupleElementOp, write_get_tuple_element)
)
