"""The operation that a group of fused nodes becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from lowerings.tensors.fused_body import FusedBody
from lowerings.tensors.fusion_emission import GroupEmission, Leaf, element_type_of
from lowerings.tensors.indices import Indices, affine_map, compose, identity
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before, replace_uses
from xla_dialect.xdsl.traversal import outs_of


@dataclass
class Output:
    """One result of the new operation."""

    old: OpResult
    """The result whose place it takes."""
    destination: SSAValue
    indices: Indices
    argument: BlockArgument
    value: SSAValue
    """What the body yields."""


def emit_generic(emission: GroupEmission) -> None:
    """
    Puts a `linalg.generic` in the place of the last node of a group and uses its results.

    Results that turn out to be constants, or copies of an input, are not computed.
    """
    group = emission.group
    anchor = group.roots[0][0].op
    emission.collect(group.roots)
    if _is_left_alone(emission):
        return
    leaves = list(emission.leaves)
    destinations = [d for node, _ in group.roots for d in outs_of(node.op)]
    block = Block(
        arg_types=[element_type_of(value) for value, _ in leaves]
        + [element_type_of(value) for value in destinations]
    )
    body = FusedBody(block, anchor.location)
    emission.evaluate(body, block.args[: len(leaves)], block.args[len(leaves) :])
    outputs = _outputs(emission, block.args[len(leaves) :])
    if not any(group.reduces):
        outputs = [o for o in outputs if not _is_known(emission, body, o, leaves, anchor)]
    if not outputs:
        return
    block.add_op(create(YieldOp, operands=[output.value for output in outputs]))
    inputs: list[Leaf] = []
    for argument, leaf in zip(block.args[: len(leaves)], leaves, strict=True):
        if argument.uses:
            inputs.append(_operand(emission, leaf, anchor))
        else:
            block.erase_arg(argument)
    kept = {output.argument for output in outputs}
    for argument in block.args[len(inputs) :]:
        if argument not in kept:
            block.erase_arg(argument)
    written = [(output.destination, output.indices) for output in outputs]
    for leaf in _extents(anchor, emission, [*inputs, *written]):
        block.insert_arg(element_type_of(leaf[0]), len(inputs))
        inputs.append(leaf)
    new = _generic(emission, inputs, outputs, block)
    _insert_before(new, anchor)
    for output, result in zip(outputs, new.results, strict=True):
        _replace(emission, output.old, result)


def _is_left_alone(emission: GroupEmission) -> bool:
    """Whether a group is one reduction whose inputs all come from memory, as a contraction's do."""
    if len(emission.order) != 1 or not any(emission.group.reduces):
        return False
    node, at = emission.order[0]
    return at == identity(len(node.sizes)) and emission.sources[node, at] == [*node.inputs]


def _outputs(emission: GroupEmission, arguments: Sequence[BlockArgument]) -> list[Output]:
    found: list[Output] = []
    for node, place in emission.group.roots:
        parts = zip(node.op.results, outs_of(node.op), node.outputs, strict=True)
        for i, (old, destination, indices) in enumerate(parts):
            value = emission.values[node, place, i]
            argument = arguments[len(found)]
            found.append(Output(old, destination, compose(indices, place), argument, value))
    return found


def _is_known(
    emission: GroupEmission,
    body: FusedBody,
    output: Output,
    leaves: Sequence[Leaf],
    anchor: GenericOp,
) -> bool:
    """Whether a result is a constant or an input as it is; then it is replaced by that."""
    constant = body.constants.get(output.value)
    if constant is not None and not isinstance(constant, ArrayAttr):
        filled = _filled(constant, output.destination, anchor)
        _replace(emission, output.old, filled)
        return True
    if isinstance(output.value, BlockArgument) and output.value.index < len(leaves):
        leaf, indices = leaves[output.value.index]
        value = emission.plan.stored.get(leaf, leaf)
        same = indices == output.indices == identity(len(emission.group.sizes))
        if same and value.type == output.old.type:
            _replace(emission, output.old, value)
            return True
    return False


def _filled(constant: Attribute, destination: SSAValue, anchor: GenericOp) -> SSAValue:
    """A tensor of one number: a constant if it has rank 0, else filled."""
    number = cast("IntegerAttr[Any] | FloatAttr[Any]", constant)
    type_ = cast("TensorType[Any]", destination.type)
    if not type_.shape.data:
        dense = DenseIntOrFPElementsAttr.from_list(type_, [number.value.data])
        whole = create(arith.ConstantOp, result_types=(type_,), properties={"value": dense})
        _insert_before(whole, anchor)
        return whole.results[0]
    scalar = arith.ConstantOp(number)
    _insert_before(scalar, anchor)
    body = Block(arg_types=(number.type, number.type))
    body.add_op(create(YieldOp, operands=(body.args[0],)))
    fill = create(
        FillOp,
        operands=(scalar.result, destination),
        result_types=(type_,),
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, (1, 1))},
        regions=[Region(body)],
    )
    _insert_before(fill, anchor)
    return fill.results[0]


def _replace(emission: GroupEmission, old: SSAValue, new: SSAValue) -> None:
    replace_uses(old, new)
    emission.plan.stored[old] = new


def _generic(
    emission: GroupEmission, inputs: Sequence[Leaf], outputs: Sequence[Output], block: Block
) -> GenericOp:
    rank = len(emission.group.sizes)
    places = [*(indices for _, indices in inputs), *(output.indices for output in outputs)]
    kinds = [
        IteratorTypeAttr.reduction() if reduces else IteratorTypeAttr.parallel()
        for reduces in emission.group.reduces
    ]
    return create(
        GenericOp,
        operands=[*(value for value, _ in inputs), *(output.destination for output in outputs)],
        result_types=[output.destination.type for output in outputs],
        properties={
            "indexing_maps": ArrayAttr([affine_map(indices, rank) for indices in places]),
            "iterator_types": ArrayAttr(kinds),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, (len(inputs), len(outputs))),
        },
        regions=[Region(block)],
    )


def _operand(emission: GroupEmission, leaf: Leaf, anchor: GenericOp) -> Leaf:
    """
    The tensor and the indices of an input; a slice of it where the loops do not cover its extent.

    linalg requires that a dimension indexed by a loop alone has the extent of that loop.
    """
    value, indices = emission.plan.stored.get(leaf[0], leaf[0]), leaf[1]
    shape = cast("TensorType[Attribute]", value.type).get_shape()
    sizes = emission.group.sizes
    part = [
        (offset, sizes[loop], scale) if loop is not None and scale > 0 else (0, size, 1)
        for (loop, scale, offset), size in zip(indices, shape, strict=True)
    ]
    if all(whole == (0, size, 1) for whole, size in zip(part, shape, strict=True)):
        return value, indices
    key = value, tuple(part)
    found = emission.plan.slices.get(key)
    if found is None:
        offsets, counts, strides = zip(*part, strict=True)
        found = tensor.ExtractSliceOp.from_static_parameters(value, offsets, counts, strides).result
        _insert_before(found.owner, anchor)
        emission.plan.slices[key] = found
    return found, tuple(
        (loop, 1, 0) if loop is not None and scale > 0 else (loop, scale, offset)
        for loop, scale, offset in indices
    )


def _insert_before(op: Operation | Block, anchor: Operation) -> None:
    assert isinstance(op, Operation)
    op.location = anchor.location
    insert_before(op, anchor)


def _extents(anchor: GenericOp, emission: GroupEmission, accesses: Sequence[Leaf]) -> list[Leaf]:
    """
    Shape-only operands for loops that appear in no other indexing map.

    linalg infers loop bounds from operands; this is needed where all inputs of a reduction are
    computed in the body.
    """
    shown = {
        loop
        for _, indices in accesses
        for loop, scale, offset in indices
        if (scale, offset) == (1, 0)
    }
    sizes = emission.group.sizes
    hidden = [d for d in range(len(sizes)) if d not in shown]
    if not hidden:
        return []
    type_ = TensorType(element_type_of(anchor.outputs[0]), [sizes[d] for d in hidden])
    shape = create(tensor.EmptyOp, result_types=(type_,))
    _insert_before(shape, anchor)
    return [(shape.results[0], tuple((d, 1, 0) for d in hidden))]
