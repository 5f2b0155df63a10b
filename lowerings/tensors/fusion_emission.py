"""The scalar code of a group of fused nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    TensorType,
)
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Attribute, Operation, SSAValue

from lowerings.tensors.constants import constant_of, filled_from
from lowerings.tensors.fused_body import FusedBody
from lowerings.tensors.fusion_graph import FusionGroup, Node
from lowerings.tensors.fusion_plan import FusionPlan
from lowerings.tensors.indices import Indices, compose
from xla_dialect.xdsl.traversal import operands_of

NodeInstance = tuple[Node, Indices]
Leaf = tuple[SSAValue, Indices]
"""A tensor and where it is read."""

Source = Leaf | Attribute | tuple[Node, Indices, int]
"""Where an input of a body comes from: memory, a constant, or a result of a node of the group."""


@dataclass(eq=False)
class GroupEmission:
    """The state of emitting one group as one operation."""

    plan: FusionPlan
    group: FusionGroup
    sources: dict[NodeInstance, list[Source | None]] = field(
        default_factory=dict[NodeInstance, "list[Source | None]"]
    )
    order: list[NodeInstance] = field(default_factory=list[NodeInstance])
    """The nodes of the group with their indices, users before producers."""
    leaves: dict[Leaf, int] = field(default_factory=dict[Leaf, int])
    """What is read from memory, with its number."""
    values: dict[tuple[Node, Indices, int], SSAValue] = field(
        default_factory=dict[tuple[Node, Indices, int], SSAValue]
    )

    def collect(self, starts: Sequence[NodeInstance]) -> None:
        """Collects the transitive producers of the given nodes, and the sources of their inputs."""
        pending: list[tuple[int, int, NodeInstance]] = []
        seen: set[NodeInstance] = set()

        def push(place: NodeInstance) -> None:
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
            filled = filled_from(owner)
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
                if type(op) is YieldOp:
                    for i, operand in enumerate(operands_of(op)):
                        self.values[node, at, i] = local.get(operand, operand)
                elif type(op) is IndexOp:
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


def emit_scalar(emission: GroupEmission, extract: tensor.ExtractOp) -> None:
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
    return body.emit(tensor.ExtractOp, (value, *where), element_type_of(value), {})


def element_type_of(value: SSAValue) -> Attribute:
    """The type of the elements of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type
