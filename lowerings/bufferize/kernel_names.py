"""Names that say what a kernel does, from what its main operation computes."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, MemRefType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Operation

from lowerings.bufferize.tensor_operands import is_permutation
from xla_dialect.xdsl.traversal import operations_in

__all__ = ["kernel_name"]

NAMED_OPERATIONS = 3
"""A name lists so many different operations of the body at most, from the last to the first."""

_UNNAMED = {
    "arith.constant",
    "arith.index_cast",
    "linalg.index",
    "linalg.yield",
    "memref.load",
}
"""Operations that occur in most bodies and so do not distinguish kernels."""


def kernel_name(op: Operation) -> str:
    """A descriptive name for the kernel of which `op` is the main operation."""
    if isinstance(op, memref.CopyOp):
        return "copy"
    if not isinstance(op, linalg.GenericOp):
        return op.name.partition(".")[2]
    described = _body_operations(op)
    if any(kind.data is not IteratorType.PARALLEL for kind in op.iterator_types):
        is_contraction = len(op.inputs) == 2 and described[-2:] in (
            ["add", "mul"],
            ["addf", "mulf"],
            ["addi", "muli"],
        )
        return "contraction" if is_contraction else "_".join(["reduce", *described])
    loads = any(isinstance(inner, memref.LoadOp) for inner in operations_in(op.body.block))
    return "_".join((["gather"] if loads else []) + described) or _movement(op)


def _body_operations(op: linalg.GenericOp) -> list[str]:
    """
    The names of different operations of the body, without their dialects; the last one first.
    Where floats are computed, those that compute integers, which are positions, are left out.
    """
    block = op.body.block
    computes_floats = any(isinstance(type, AnyFloat) for type in block.arg_types)
    names: dict[str, None] = {}
    for inner in reversed(block.ops):
        is_position = computes_floats and any(
            isinstance(type, IntegerType | IndexType) for type in inner.result_types
        )
        if inner.name not in _UNNAMED and not is_position:
            names[inner.name.partition(".")[2]] = None
    return list(names)[:NAMED_OPERATIONS]


def _movement(op: linalg.GenericOp) -> str:
    """The name for an operation whose body only moves elements."""
    if not any(isinstance(value.type, MemRefType) for value in op.inputs):
        return "fill"
    source, target = op.indexing_maps.data[0].data, op.indexing_maps.data[-1].data
    if source == target:
        return "copy"
    if is_permutation(source) and is_permutation(target):
        return "transpose"
    return "broadcast" if len(source.results) < len(target.results) else "move"
