"""
Where values had best be computed, found by walking backwards from where they have to be.

What a block yields has to be in the memory that its parent chose, so the operation that starts
the chain of in-place updates and reshapes leading to it had best start there. Nothing depends on
a destination for correctness: a value that ends up elsewhere is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import TypeAlias, cast

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from lowerings.bufferize.bufferization import Analysis, is_to_be_copied
from lowerings.bufferize.liveness import NEVER
from lowerings.bufferize.storage import (
    Destination,
    InsertSliceChain,
    Permutation,
    Reshape,
    ReshapedDestination,
    SliceDestination,
    Subview,
    WholeDestination,
)
from lowerings.bufferize.strided import Slice, is_descending, slice_of
from lowerings.bufferize.tensor_operands import (
    captured_tensors,
    destination_of_result,
    overwrites_destination,
    transposed_dimensions,
)
from xla_dialect.xdsl.traversal import operands_of, tensor_shape

Link: TypeAlias = tuple[SSAValue, Slice, Operation, int]
"""A tensor, where in a chain it goes, the operation that puts it there, and as which operand."""


def plan_destinations(
    state: Analysis, block: Block, wanted: Iterable[tuple[SSAValue, Destination]]
) -> None:
    """
    Finds destinations for the values of a block that is about to be bufferized.

    `wanted` says where operands of its terminator have to be.
    """
    for value, destination in wanted:
        _prefer(state, block, value, destination)
    seen: set[Operation] = set()
    for op in reversed(block.ops):
        if type(op) is tensor.InsertSliceOp and op not in seen:
            chain = _insertions(op)
            seen.update(chain)
            if isinstance(chain[-1].dest.owner, tensor.EmptyOp):
                parts = [(operands_of(link)[0], slice_of(link), link, 0) for link in chain]
                _plan_insert_slice_chain(state, block, op.result, parts)
        elif type(op) is tensor.ConcatOp:
            _plan_insert_slice_chain(state, block, op.result, concatenated_parts(op))


def _prefer(state: Analysis, block: Block, value: SSAValue, destination: Destination) -> None:
    """Asks for `value`, and what it is made from in place, to be computed in `destination`."""
    while value not in state.destinations and value not in state.buffers:
        if not isinstance(value, OpResult) or value.op.parent is not block:
            return
        state.destinations[value] = destination
        op = value.op
        source = _replaced_input(state, op, value.index)
        if source is None:
            source, destination = _made_from(op, value.index, destination)
        if source is None or is_to_be_copied(op, op.operands.index(source)):
            return
        # A source that is live after `op` must not be computed in the destination of `value`.
        if state.liveness.last_use.get(source, NEVER) > state.liveness.position[op]:
            return
        value = source


def _made_from(
    op: Operation, index: int, destination: Destination
) -> tuple[SSAValue | None, Destination]:
    """The operand that becomes result `index` in place, and where it had best be."""
    if isinstance(op, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
        undone = Reshape(
            cast("ArrayAttr[Attribute]", op.reassociation),
            tensor_shape(op.src),
            expands=isinstance(op, tensor.CollapseShapeOp),
        )
        return op.src, ReshapedDestination(destination, undone)
    if type(op) is tensor.CastOp:
        return op.source, destination
    if isinstance(op, scf.ForOp | scf.WhileOp):
        return carried_from(op, index), destination
    dimensions = transposed_dimensions(op)
    if dimensions is not None and _is_permuted(destination):
        undone = Permutation(tuple(dimensions.index(d) for d in range(len(dimensions))))
        return op.operands[0], ReshapedDestination(destination, undone)
    return destination_of_result(op, index), destination


def _replaced_input(state: Analysis, op: Operation, index: int) -> SSAValue | None:
    """
    An input that a large result can be written over, each element over the one that it is computed
    from: where the result has to be, there is room for the input before.
    """
    if type(op) is not linalg.GenericOp or not overwrites_destination(op, index):
        return None
    result, maps = op.results[index], op.indexing_maps.data
    written = maps[len(op.inputs) + index]
    if not state.is_large(result):
        return None
    read_anywhere = {extract.tensor for extract in captured_tensors(op.body)}
    for source in op.inputs:
        is_made_here = isinstance(source, OpResult) and source.op.parent is op.parent
        is_same = source.type == result.type and source not in read_anywhere and is_made_here
        reads = [map_ for other, map_ in zip(op.inputs, maps, strict=False) if other is source]
        if is_same and all(map_ == written for map_ in reads):
            if state.liveness.last_use.get(source, NEVER) <= state.liveness.position[op]:
                return source
    return None


def _is_permuted(destination: Destination) -> bool:
    """Whether a value has to be where its dimensions are not in row-major order."""
    return isinstance(destination, WholeDestination) and not is_descending(destination.buffer.type)


def carried_from(op: scf.ForOp | scf.WhileOp, index: int) -> SSAValue | None:
    """
    The initial value of what result `index` of a loop carries; None for a result of `scf.while`
    that its `before` region computes.
    """
    if isinstance(op, scf.ForOp):
        return op.iter_args[index]
    before = op.before_region.block
    condition = before.last_op
    assert isinstance(condition, scf.ConditionOp)
    passed = condition.args[index]
    if isinstance(passed, BlockArgument) and passed.block is before:
        return op.arguments[passed.index]
    return None


def _plan_insert_slice_chain(
    state: Analysis, block: Block, result: SSAValue, parts: Sequence[Link]
) -> None:
    """If the parts of `result` do not overlap, plans for them to be computed in place."""
    if not _are_disjoint([slice for _, slice, _, _ in parts if 0 not in slice.sizes]):
        return
    chain = InsertSliceChain(result)
    last_use, position = state.liveness.last_use, state.liveness.position
    for source, slice, insertion, operand in parts:
        state.insert_slice_chains[insertion.results[0]] = chain
        is_used_later = last_use[source] > position[insertion]
        if is_used_later or 0 in slice.sizes or is_to_be_copied(insertion, operand):
            continue
        destination = SliceDestination(chain, Subview(slice, tensor_shape(source)))
        _prefer(state, block, source, destination)


def _insertions(op: tensor.InsertSliceOp) -> list[tensor.InsertSliceOp]:
    """The chain of insertions that ends at `op`, none of them used otherwise; last first."""
    chain = [op]
    while True:
        dest = operands_of(op)[1]
        before = dest.owner
        if (
            type(before) is not tensor.InsertSliceOp
            or before.parent is not op.parent
            or not dest.has_one_use()
        ):
            return chain
        op = before
        chain.append(op)


def concatenated_parts(op: tensor.ConcatOp) -> list[Link]:
    """The operands, and where in the result they go."""
    dimension = op.dim.value.data
    start = 0
    parts: list[Link] = []
    for operand, source in enumerate(op.inputs):
        sizes = tensor_shape(source)
        offsets = tuple(start if d == dimension else 0 for d in range(len(sizes)))
        parts.append((source, Slice(offsets, sizes, (1,) * len(sizes)), op, operand))
        start += sizes[dimension]
    return parts


COMPARED_PAIRWISE = 16
"""Up to so many slices are compared each with each."""


def _are_disjoint(slices: list[Slice]) -> bool:
    """
    Whether slices at static offsets are disjoint and none is empty.

    Of more than `COMPARED_PAIRWISE` slices that is only seen where they follow each other along one
    dimension, as those of a concatenation do.
    """
    if not slices or any(
        None in each.offsets or min(each.strides, default=1) < 1 for each in slices
    ):
        return False
    if len(slices) <= COMPARED_PAIRWISE:
        return all(a.is_disjoint_from(b) for a, b in combinations(slices, 2))
    spans = (
        [
            (first or 0, (first or 0) + (size - 1) * stride)
            for first, size, stride in zip(each.offsets, each.sizes, each.strides, strict=True)
        ]
        for each in slices
    )
    dimensions = map(sorted, zip(*spans, strict=True))
    return any(all(a[1] < b[0] for a, b in pairwise(along)) for along in dimensions)
