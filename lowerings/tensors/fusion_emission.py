"""The operation that a group of fused nodes becomes: equal scalars once, constants folded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf, nan
from operator import pos
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith, complex, tensor
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    TensorType,
    i1,
    i32,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, IndexOp, YieldOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from lowerings.ir.scalar_attributes import scalar_attribute
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.tensors.constants import constant_of, exact_reciprocal, filled_from
from lowerings.tensors.fusion_graph import FusionGroup, Node
from lowerings.tensors.fusion_plan import FusionPlan
from lowerings.tensors.indices import Index, Indices, affine_map, compose, identity
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder
from lowerings.xla_to_linalg.structured import fill_into
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before, replace_uses
from xla_dialect.xdsl.traversal import operands_of, outs_of

Number = Any
"""A numpy float of the precision of the type, or a Python integer."""

_FLOATS: dict[type[Attribute], Callable[[float], Number]] = {
    Float32Type: np.float32,
    Float64Type: np.float64,
}


def number_of(attribute: Attribute) -> Number | None:
    """The value of a scalar attribute; None for types that are not folded."""
    if isinstance(attribute, IntegerAttr):
        return int(cast("IntegerAttr[Any]", attribute).value.data)
    if isinstance(attribute, FloatAttr):
        value = cast("FloatAttr[Any]", attribute)
        make = _FLOATS.get(type(cast(Attribute, value.type)))
        return None if make is None else make(value.value.data)
    return None


_FUNCTIONS: dict[type[Operation], Callable[..., Number]] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.AddiOp: int.__add__,
    arith.SubiOp: int.__sub__,
    arith.MuliOp: int.__mul__,
    arith.AndIOp: int.__and__,
    arith.OrIOp: int.__or__,
    arith.XOrIOp: int.__xor__,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
    # The number stays; what it becomes in the type of the result is what `scalar_attribute` makes.
    **dict.fromkeys((arith.ExtSIOp, arith.TruncIOp, arith.IndexCastOp, arith.ExtFOp), pos),
}
_RELATIONS: dict[str, Callable[..., Any]] = {
    "oeq": np.equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "une": np.not_equal,
    "eq": int.__eq__,
    "ne": int.__ne__,
    "slt": int.__lt__,
    "sle": int.__le__,
    "sgt": int.__gt__,
    "sge": int.__ge__,
}
_OF_MORE_BITS = (arith.CmpiOp, arith.SIToFPOp, arith.ExtSIOp, arith.TruncIOp, arith.IndexCastOp)
"""What is not folded for an i1."""
_NEUTRAL: dict[type[Operation], float] = {
    arith.MaximumfOp: -inf,
    arith.MinimumfOp: inf,
    **dict.fromkeys((arith.MulfOp, arith.DivfOp, arith.MuliOp), 1),
    **dict.fromkeys((arith.AddiOp, arith.SubiOp, arith.OrIOp, arith.XOrIOp), 0),
    arith.AndIOp: -1,
}
"""The second operands with which operations give their first, bit for bit or NaN."""


def fold(
    op: Operation, operands: Sequence[SSAValue], constants: Sequence[Attribute | None]
) -> Attribute | SSAValue | None:
    """
    The result of an operation on these operands: a constant, one of the operands, or unknown.

    `constants` has an attribute for each operand that is constant. Results are exactly those of
    running the operation.
    """
    if op.name == arith.SelectOp.name:
        return _fold_select(operands, constants)
    if operands and constants.count(None) == len(constants):
        return None
    if len(operands) == 2 and constants[1] is not None and constants[0] is None:
        return operands[0] if number_of(constants[1]) == _NEUTRAL.get(type(op), nan) else None
    numbers = [None if c is None else number_of(c) for c in constants]
    function = _function_of(op)
    if function is None or any(number is None for number in numbers):
        return None
    with np.errstate(all="ignore"):
        number = function(*numbers)
    return None if number != number else scalar_attribute(number, op.results[0].type)


_TRUE, _FALSE = IntegerAttr(-1, i1), IntegerAttr(0, i1)


def _fold_select(
    operands: Sequence[SSAValue], constants: Sequence[Attribute | None]
) -> SSAValue | None:
    condition = constants[0]
    if operands[1] is operands[2]:
        return operands[1]
    if condition is None:
        on_true, on_false = constants[1:]
        is_condition = on_true == _TRUE and on_false == _FALSE
        return operands[0] if is_condition else None
    return operands[1] if number_of(condition) else operands[2]


def _function_of(op: Operation) -> Callable[..., Number] | None:
    if isinstance(op, _OF_MORE_BITS) and op.operands[0].type == i1:
        return None
    match op:
        case arith.CmpfOp():
            return _RELATIONS.get(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data])
        case arith.CmpiOp():
            return _RELATIONS.get(arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data])
        case arith.SIToFPOp():
            return _FLOATS.get(type(cast(Attribute, op.result.type)))
        case _:
            return _FUNCTIONS.get(type(op))


_CONSTANTS = frozenset({arith.ConstantOp, complex.ConstantOp})


@dataclass(eq=False)
class FusedBody(ScalarBuilder):
    """Appends scalar operations to a block, equal ones once."""

    numbers: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """What the constants are."""
    _known: dict[Hashable, SSAValue] = field(default_factory=dict[Hashable, SSAValue])

    def constant_of(self, value: Attribute) -> SSAValue:
        """The constant of a number attribute, or of a pair of floats (complex)."""
        made = super().constant_of(value)
        self.numbers[made] = value
        return made

    def copy(self, op: Operation, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """The result of an operation on the values that stand for its operands."""
        if type(op) in _CONSTANTS:
            return self.constant_of(op.properties["value"])
        op_class, operands = type(op), [values.get(operand, operand) for operand in operands_of(op)]
        folded = fold(op, operands, [self.numbers.get(operand) for operand in operands])
        if isinstance(folded, SSAValue):
            return folded
        if folded is not None:
            return self.constant_of(folded)
        if op_class is arith.DivfOp:
            factor = exact_reciprocal(self.numbers.get(operands[1]))
            if factor is not None:
                op_class, operands[1] = arith.MulfOp, self.constant_of(factor)
        return self.emit(op_class, operands, op.results[0].type, op.properties, op.location)

    def emit(
        self,
        op_class: type[Operation],
        operands: Sequence[SSAValue],
        result_type: Attribute | None = None,
        properties: dict[str, Attribute] | None = None,
        location: LocationAttr = UNKNOWN_LOC,
    ) -> SSAValue:
        """A new operation, or an equal one that is already there."""
        key = op_class, tuple(operands), frozenset((properties or {}).items()), result_type
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = super().emit(op_class, operands, result_type, properties)
            if location is not UNKNOWN_LOC:
                cast(OpResult, found).op.location = location
        return found

    def position(self, index: Index) -> SSAValue:
        """The value of an index in the loops around the body."""
        loop, scale, offset = index
        if loop is None:
            return self.constant(offset, INDEX)
        value = self.index(loop)
        if scale != 1:
            value = self.emit(arith.MuliOp, (value, self.constant(scale, INDEX)), INDEX)
        if offset:
            value = self.emit(arith.AddiOp, (value, self.constant(offset, INDEX)), INDEX)
        return value


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
            return body.constant_of(source)
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
    body = FusedBody(Block(), extract.location)
    elements = [_scalar_element(emission, body, leaf) for leaf in emission.leaves]
    emission.evaluate(body, elements, ())
    extract.result.replace_all_uses_with(emission.element(body, source, elements))
    for op in list(body.block.ops):
        op.detach()
        block.insert_op_before(op, extract)


def _scalar_element(emission: GroupEmission, body: FusedBody, leaf: Leaf) -> SSAValue:
    """Reads one element of a tensor at constant indices."""
    value, indices = emission.plan.stored.get(leaf[0], leaf[0]), leaf[1]
    where = [body.position(index) for index in indices]
    return body.emit(tensor.ExtractOp, (value, *where), element_type_of(value), {})


def element_type_of(value: SSAValue) -> Attribute:
    """The type of the elements of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type


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
    insert_before(new, anchor)
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
    constant = body.numbers.get(output.value)
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
        return insert_before(whole, anchor).results[0]
    builder = ConversionBuilder(cast(ModuleOp, anchor.get_toplevel_object()), anchor)
    return fill_into(builder, builder.insert(arith.ConstantOp(number)).result, destination)


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
        assert isinstance(found.owner, Operation)
        insert_before(found.owner, anchor)
        emission.plan.slices[key] = found
    return found, tuple(
        (loop, 1, 0) if loop is not None and scale > 0 else (loop, scale, offset)
        for loop, scale, offset in indices
    )


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
    insert_before(shape, anchor)
    return [(shape.results[0], tuple((d, 1, 0) for d in hidden))]
