"""What it takes to compute a node once more, rather than to store and read its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from lowerings.tensors.constants import constant_of, exact_reciprocal
from lowerings.tensors.fusion_graph import CHEAP, DIVISION, Node, ReindexedView
from lowerings.tensors.indices import Indices, compose, loops_of

FEW_ELEMENTS = 4
"""
To read so many again takes less than to wait for them, when they were stored a moment before; so
their tensors do not count.
"""


@dataclass(frozen=True)
class Origin:
    """What an input of a node is, seen through views and data movement."""

    value: SSAValue
    indices: Indices
    """Where it is read, in the loops of the node."""
    constant: Attribute | None


def origin_of(
    value: SSAValue,
    indices: Indices,
    nodes: Mapping[Operation, Node],
    views: Mapping[Operation, ReindexedView],
) -> Origin:
    """The origin of a tensor that is read at these indices."""
    while isinstance(value, OpResult):
        view, node = views.get(value.op), nodes.get(value.op)
        if view is not None:
            value, indices = view.source, view.transform(indices)
        elif node is not None and node.moves_only:
            value, inner = node.inputs[0]
            indices = compose(inner, indices)
        else:
            break
    return Origin(value, indices, constant_of(value))


def estimate_recomputation(
    node: Node, nodes: Mapping[Operation, Node], views: Mapping[Operation, ReindexedView]
) -> None:
    """
    Fills in cost, recomputation and tensors of a node, after those of all nodes before it.

    Elementwise producers of the same size are computed along with the node, to any depth;
    everything else is read. Divisions by powers of two will be multiplications.
    """
    origins = [origin_of(value, indices, nodes, views) for value, indices in node.inputs]
    node.cost -= sum(
        DIVISION - CHEAP
        for op in node.op.body.block.ops
        if isinstance(op, arith.DivfOp)
        and isinstance(op.rhs, BlockArgument)
        and op.rhs.index < len(origins)
        and exact_reciprocal(origins[op.rhs.index].constant) is not None
    )
    node.recomputation = node.cost
    size = prod(node.sizes)
    tensors: set[SSAValue] = set()
    for origin in origins:
        if origin.constant is not None:
            continue
        owner = origin.value.owner
        producer = nodes.get(owner) if isinstance(owner, Operation) else None
        if producer is not None and producer.is_pointwise and prod(producer.sizes) == size:
            node.recomputation += producer.recomputation
            tensors |= producer.tensors
        elif FEW_ELEMENTS < size == prod(node.sizes[loop] for loop in loops_of(origin.indices)):
            tensors.add(origin.value)
    node.tensors = frozenset(tensors)
