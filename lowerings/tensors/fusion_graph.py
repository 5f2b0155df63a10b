"""The operations of a block as fusion sees them: nodes with loops, and views of their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp, IndexOp, YieldOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.dialects.arith_extension import RemFOp
from lowerings.tensors.indices import Indices, constant, identity, indices_of, loops_of
from xla_dialect.xdsl.traversal import ins_of, long_integers, operands_of, tensor_shape

FREE = 0
CHEAP = 1
DIVISION = 16
TRANSCENDENTAL = 24
SCATTERED_READ = 24
"""Costs of scalar operations, about the cycles of a vector of 16 floats on a wide machine."""

_COSTS: dict[type[Operation], int] = {
    arith.ConstantOp: FREE,
    IndexOp: FREE,
    YieldOp: FREE,
    **dict.fromkeys(
        (
            arith.DivfOp,
            arith.DivSIOp,
            arith.DivUIOp,
            arith.RemSIOp,
            arith.RemUIOp,
            math.SqrtOp,
            math.RsqrtOp,
        ),
        DIVISION,
    ),
    **dict.fromkeys(
        (
            math.AbsFOp,
            math.CeilOp,
            math.CopySignOp,
            math.FloorOp,
            math.RoundEvenOp,
            math.RoundOp,
            math.TruncOp,
            math.FmaOp,
            math.CtPopOp,
            math.CountLeadingZerosOp,
        ),
        CHEAP,
    ),
    RemFOp: TRANSCENDENTAL,
}

_DIALECTS_OF_BODIES = ("arith.", "math.", "complex.")


def cost_of(op: Operation) -> int | None:
    """The cost of a scalar operation; None for one that a fused body may not hold."""
    found = _COSTS.get(type(op))
    if found is not None:
        return found
    if type(op) is tensor.ExtractOp:
        last = op.indices[-1].owner if op.indices else None
        return CHEAP if last is None or isinstance(last, IndexOp) else SCATTERED_READ
    if op.regions or not op.name.startswith(_DIALECTS_OF_BODIES) or len(op.results) != 1:
        return None
    return TRANSCENDENTAL if op.name.startswith("math.") else CHEAP


@dataclass(eq=False)
class FusionGroup:
    """The nodes that one operation will compute together, in the loops of the last of them."""

    position: int
    sizes: tuple[int, ...]
    reduces: tuple[bool, ...]
    """For each loop whether it is a reduction."""
    is_contraction: bool = False
    scalar: tensor.ExtractOp | None = None
    """For a group without loops: the read of a single element that it replaces."""
    roots: list[tuple[Node, Indices]] = field(default_factory=list["tuple[Node, Indices]"])
    """The nodes whose results it yields, with where in its loops they stand."""
    members: set[tuple[Node, Indices]] = field(default_factory=set["tuple[Node, Indices]"])
    """All nodes that it computes, at the loops where it does."""
    size: int = 0
    """Scalar operations so far."""
    number: int | None = None
    """That of the decisions on its nodes, if there are any."""
    is_alone: bool = False
    """Whether it is decided that it computes one node only."""


@dataclass(eq=False)
class Node:
    """A `linalg.generic` whose body and maps fusion understands."""

    op: GenericOp
    position: int
    inputs: tuple[tuple[SSAValue, Indices], ...]
    outputs: tuple[Indices, ...]
    sizes: tuple[int, ...]
    reduces: tuple[bool, ...]
    cost: int
    length: int
    """Operations in the body."""
    is_pointwise: bool
    is_contraction: bool
    placements: list[tuple[FusionGroup, Indices]] = field(
        default_factory=list["tuple[FusionGroup, Indices]"]
    )
    """Where it will be computed."""
    recomputation: int = 0
    """The cost of an element from tensors that are in memory anyway."""
    tensors: frozenset[SSAValue] = frozenset()
    """Those of these tensors that are as large as the result."""

    @property
    def moves_only(self) -> bool:
        """Whether it computes nothing: its result is its input at other indices."""
        return self.is_pointwise and self.length == 1 and len(self.inputs) == 1


def node_of(op: GenericOp, position: int) -> Node | None:
    """The node of an operation; None if fusion has to leave that alone."""
    maps = [indices_of(m.data) for m in op.indexing_maps.data]
    if not op.results or any(indices is None for indices in maps):
        return None
    indices = cast("list[Indices]", maps)
    sizes = _loop_sizes(op, indices)
    costs = [cost_of(inner) for inner in op.body.block.ops]
    if sizes is None or any(cost is None for cost in costs):
        return None
    reduces = tuple(i.data == IteratorType.REDUCTION for i in op.iterator_types.data)
    inputs = ins_of(op)
    count = len(inputs)
    accumulators = op.body.block.args[count:]
    is_pointwise = (
        not any(reduces)
        and all(output == identity(len(sizes)) for output in indices[count:])
        and not any(argument.uses for argument in accumulators)
    )
    return Node(
        op,
        position,
        tuple(zip(inputs, indices[:count], strict=True)),
        tuple(indices[count:]),
        sizes,
        reduces,
        sum(cast("list[int]", costs)),
        len(costs),
        is_pointwise,
        any(reduces) and _is_contraction(op.body.block, indices, len(sizes)),
    )


def _loop_sizes(op: GenericOp, maps: list[Indices]) -> tuple[int, ...] | None:
    sizes: dict[int, int] = {}
    for operand, indices in zip(operands_of(op), maps, strict=True):
        if not isinstance(operand.type, TensorType):
            return None
        shape = tensor_shape(operand)
        if any(size < 0 for size in shape):
            return None
        for (loop, scale, offset), size in zip(indices, shape, strict=True):
            if loop is not None and (scale, offset) == (1, 0):
                sizes[loop] = size
    rank = len(op.iterator_types.data)
    return tuple(sizes[d] for d in range(rank)) if len(sizes) == rank else None


def _is_contraction(body: Block, maps: list[Indices], rank: int) -> bool:
    """Whether two inputs, not both of them over all loops, are multiplied and summed."""
    return (
        len(maps) == 3
        and any(len(loops_of(indices)) < rank for indices in maps[:2])
        and any(isinstance(op, arith.MulfOp | arith.MuliOp | arith.AndIOp) for op in body.ops)
    )


@dataclass(eq=False)
class ReindexedView:
    """A reshape that adds or drops sizes of 1, or a static slice: the same elements elsewhere."""

    op: Operation
    position: int
    source: SSAValue
    transform: Callable[[Indices], Indices]
    """From where the view is read to where its source is."""
    demands: list[tuple[FusionGroup, Indices]] = field(
        default_factory=list["tuple[FusionGroup, Indices]"]
    )
    escapes: bool = False
    """Whether it is used by something that needs it as a tensor."""


def view_of(op: Operation, position: int) -> ReindexedView | None:
    """The view that an operation is; None if it is none that fusion looks through."""
    # By class: `isinstance` of an operation costs as much as all else here.
    if type(op) is tensor.ExtractSliceOp:
        transform = _slice_transform(op)
    elif type(op) is tensor.ExpandShapeOp or type(op) is tensor.CollapseShapeOp:
        transform = _unit_transform(op.results[0], op.operands[0])
    else:
        return None
    return None if transform is None else ReindexedView(op, position, op.operands[0], transform)


def _slice_transform(op: tensor.ExtractSliceOp) -> Callable[[Indices], Indices] | None:
    offsets, strides = map(long_integers, (op.static_offsets, op.static_strides))
    if len(op.operands) != 1 or len(tensor_shape(op.result)) != len(offsets):
        return None

    def transform(indices: Indices) -> Indices:
        return tuple(
            (loop, scale * stride, position * stride + offset)
            for (loop, scale, position), offset, stride in zip(
                indices, offsets, strides, strict=True
            )
        )

    return transform


def _unit_transform(result: SSAValue, source: SSAValue) -> Callable[[Indices], Indices] | None:
    """Sizes other than 1 are the same on both sides, in order."""
    kept = [d for d, size in enumerate(tensor_shape(result)) if size != 1]
    if [tensor_shape(result)[d] for d in kept] != [
        size for size in tensor_shape(source) if size != 1
    ]:
        return None
    sizes = tensor_shape(source)

    def transform(indices: Indices) -> Indices:
        rest = iter(kept)
        return tuple(constant(0) if size == 1 else indices[next(rest)] for size in sizes)

    return transform
