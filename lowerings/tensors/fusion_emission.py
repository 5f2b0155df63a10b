"""Makes the operation of a group of fused nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.tensors.fused_body import FusedBody
from lowerings.tensors.fusion_graph import Group, Node
from lowerings.tensors.fusion_plan import FusionPlan
from lowerings.tensors.indices import Indices, affine_map, compose

Place = tuple[Node, Indices]
Leaf = tuple[SSAValue, Indices]
"""A tensor and where it is read."""

Source = Leaf | Attribute | tuple[Node, Indices, int]
"""Where an input of a body comes from: memory, a constant, or a result of a node of the group."""


def constant_of(value: SSAValue) -> Attribute | None:
    """The scalar that all elements of a tensor are, if that is known."""
    owner = value.owner
    if isinstance(owner, FillOp):
        scalar = owner.inputs[0].owner
        if isinstance(scalar, arith.ConstantOp):
            return cast(Attribute, scalar.value)
        if isinstance(scalar, tensor.ExtractOp) and len(scalar.operands) == 1:
            return constant_of(scalar.tensor)
        return None
    if not isinstance(owner, arith.ConstantOp):
        return None
    dense = cast(Attribute, owner.value)
    if not isinstance(dense, DenseIntOrFPElementsAttr):
        return None
    dense = cast("DenseIntOrFPElementsAttr[Any]", dense)
    return _splat(dense) if len(dense) and dense.is_splat() else None


def _splat(dense: DenseIntOrFPElementsAttr[Any]) -> Attribute | None:
    element_type = cast(Attribute, dense.get_element_type())
    if isinstance(element_type, ComplexType):
        part = cast("ComplexType[Any]", element_type).element_type
        real, imaginary = cast("tuple[float, float]", next(iter(dense.iter_values())))
        parts = [FloatAttr(real, part), FloatAttr(imaginary, part)]
        return ArrayAttr(parts) if all(map(_survives, parts)) else None
    value = cast("IntegerAttr[Any] | FloatAttr[Any]", next(iter(dense.iter_attrs())))
    return value if isinstance(value, IntegerAttr) or _survives(value) else None


def _survives(value: FloatAttr[Any]) -> bool:
    """Whether an attribute tells the float: xDSL's FloatAttr has no sign and payload of NaN."""
    return value.value.data == value.value.data


@dataclass(eq=False)
class GroupEmission:
    """The parts of the new operation while they come together."""

    plan: FusionPlan
    group: Group
    sources: dict[Place, list[Source | None]] = field(
        default_factory=dict[Place, "list[Source | None]"]
    )
    order: list[Place] = field(default_factory=list[Place])
    """The places of the group, users before what they use."""
    leaves: dict[Leaf, int] = field(default_factory=dict[Leaf, int])
    """What is read from memory, with its number."""
    values: dict[tuple[Node, Indices, int], SSAValue] = field(
        default_factory=dict[tuple[Node, Indices, int], SSAValue]
    )

    def collect(self, starts: Sequence[Place]) -> None:
        """Finds all places that the given ones need, and where their inputs come from."""
        pending: list[tuple[int, int, Place]] = []
        seen: set[Place] = set()

        def push(place: Place) -> None:
            if place not in seen:
                seen.add(place)
                heappush(pending, (-place[0].position, len(seen), place))

        for start in starts:
            push(start)
        while pending:
            place = heappop(pending)[2]
            node, at = place
            self.order.append(place)
            arguments = node.op.body.block.args
            sources: list[Source | None] = []
            for argument, (value, indices) in zip(arguments, node.inputs, strict=False):
                if not argument.uses:
                    sources.append(None)
                    continue
                source = self.source(value, compose(indices, at))
                sources.append(source)
                if isinstance(source, tuple) and isinstance(source[0], Node):
                    push((source[0], source[1]))
            self.sources[place] = sources

    def source(self, value: SSAValue, at: Indices) -> Source:
        """Where an element of a tensor comes from, seen from the group."""
        while True:
            constant = constant_of(value)
            if constant is not None:
                return constant
            owner = value.owner
            view = self.plan.views.get(cast(Operation, owner))
            if view is not None:
                value, at = view.source, view.transform(at)
                continue
            node = self.plan.nodes.get(cast(Operation, owner))
            if node is not None and (node, at) in self.group.members:
                return node, at, list(node.op.results).index(cast(Any, value))
            filled = _filled_from(owner)
            if filled is not None:
                value, at = filled, ()
                continue
            leaf = value, at
            self.leaves.setdefault(leaf, len(self.leaves))
            return leaf

    def evaluate(
        self, body: FusedBody, elements: Sequence[SSAValue], outputs: Sequence[SSAValue]
    ) -> None:
        """Makes the scalar code; `elements` are the leaves, `outputs` the roots' accumulators."""
        accumulators = iter(outputs)
        by_root = {
            root: [next(accumulators) for _ in root[0].op.results] for root in self.group.roots
        }
        for place in reversed(self.order):
            node, at = place
            block = node.op.body.block
            local: dict[SSAValue, SSAValue] = {}
            for argument, source in zip(block.args, self.sources[place], strict=False):
                if source is not None:
                    local[argument] = self.element(body, source, elements)
            own = block.args[len(node.inputs) :]
            local.update(zip(own, by_root.get(place, ()), strict=False))
            for op in block.ops:
                if isinstance(op, YieldOp):
                    for i, operand in enumerate(op.operands):
                        self.values[node, at, i] = local.get(operand, operand)
                elif isinstance(op, IndexOp):
                    local[op.result] = body.position(at[op.dim.value.data])
                else:
                    local[op.results[0]] = body.copy(op, local)

    def element(self, body: FusedBody, source: Source, elements: Sequence[SSAValue]) -> SSAValue:
        """The value of a source; `elements` are the leaves."""
        if isinstance(source, Attribute):
            return body.constant(source)
        if len(source) == 3:
            return self.values[source]
        return elements[self.leaves[source]]


def _filled_from(owner: Operation | Block) -> SSAValue | None:
    """The tensor of rank 0 whose element fills a tensor."""
    if isinstance(owner, FillOp):
        scalar = owner.inputs[0].owner
        if isinstance(scalar, tensor.ExtractOp) and len(scalar.operands) == 1:
            return scalar.tensor
    return None


def emit_group(plan: FusionPlan, group: Group) -> None:
    """Puts the operation of a group in its place; the old ones are dead afterwards."""
    emission = GroupEmission(plan, group)
    if group.scalar is not None:
        _emit_scalar(emission, group.scalar)
        return
    emission.collect(group.roots)
    _emit_generic(emission)


def _emit_scalar(emission: GroupEmission, extract: tensor.ExtractOp) -> None:
    """The computation of an element that was read from a tensor of rank 0, as scalar code."""
    source = emission.source(extract.tensor, ())
    block = extract.parent
    assert block is not None
    if isinstance(source, tuple) and isinstance(source[0], Node):
        emission.collect([(source[0], source[1])])
    body = FusedBody(block, extract.location, extract)
    elements = [_scalar_element(emission, body, leaf) for leaf in emission.leaves]
    emission.evaluate(body, elements, ())
    extract.result.replace_all_uses_with(emission.element(body, source, elements))


def _scalar_element(emission: GroupEmission, body: FusedBody, leaf: Leaf) -> SSAValue:
    """Reads one element of a tensor at constant indices."""
    value, indices = emission.plan.stored.get(leaf[0], leaf[0]), leaf[1]
    where = [body.position(index) for index in indices]
    return body.emit(tensor.ExtractOp, (value, *where), _element_type(value), {})


def _element_type(value: SSAValue) -> Attribute:
    return cast("TensorType[Attribute]", value.type).element_type


def _emit_generic(emission: GroupEmission) -> None:
    group = emission.group
    rank = len(group.sizes)
    anchor = group.roots[0][0].op
    outputs = [
        (destination, compose(indices, place))
        for node, place in group.roots
        for destination, indices in zip(node.op.outputs, node.outputs, strict=True)
    ]
    inputs = [_operand(emission, leaf, anchor) for leaf in emission.leaves]
    inputs.extend(_extents(anchor, group, [indices for _, indices in (*inputs, *outputs)]))
    operands = [value for value, _ in (*inputs, *outputs)]
    block = Block(arg_types=[_element_type(value) for value in operands])
    body = FusedBody(block, anchor.location)
    emission.evaluate(body, block.args[: len(inputs)], block.args[len(inputs) :])
    old = [result for node, _ in group.roots for result in node.op.results]
    results = [
        emission.values[node, place, i]
        for node, place in group.roots
        for i in range(len(node.op.results))
    ]
    block.add_op(YieldOp.create(operands=results))
    new = GenericOp.create(
        operands=operands,
        result_types=[value.type for value, _ in outputs],
        properties={
            "indexing_maps": ArrayAttr(
                [affine_map(indices, rank) for _, indices in (*inputs, *outputs)]
            ),
            "iterator_types": ArrayAttr(
                [
                    IteratorTypeAttr.reduction() if reduces else IteratorTypeAttr.parallel()
                    for reduces in group.reduces
                ]
            ),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, (len(inputs), len(outputs))),
        },
        regions=[Region(block)],
    )
    _insert_before(new, anchor)
    for result, value in zip(old, new.results, strict=True):
        result.replace_all_uses_with(value)
        emission.plan.stored[result] = value


def _operand(emission: GroupEmission, leaf: Leaf, anchor: GenericOp) -> Leaf:
    """
    The tensor and the indices of an input: of a slice, where the loops do not reach all elements.

    An index that is a loop alone has to run over the whole size in linalg.
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
    parent = anchor.parent
    assert parent is not None and isinstance(op, Operation)
    op.location = anchor.location
    parent.insert_op_before(op, anchor)


def _extents(anchor: GenericOp, group: Group, accesses: Sequence[Indices]) -> list[Leaf]:
    """
    Operands that only say how often loops run which no other operand shows.

    That is needed where all inputs of a reduction are computed.
    """
    shown = {
        loop for indices in accesses for loop, scale, offset in indices if (scale, offset) == (1, 0)
    }
    hidden = [d for d in range(len(group.sizes)) if d not in shown]
    if not hidden:
        return []
    element_type = _element_type(anchor.outputs[0])
    type_ = TensorType(element_type, [group.sizes[d] for d in hidden])
    shape = tensor.EmptyOp.create(result_types=(type_,))
    _insert_before(shape, anchor)
    return [(shape.results[0], tuple((d, 1, 0) for d in hidden))]
