"""
A perfect loop nest over statically known extents, as a linalg operation on memrefs describes it,
before it is decided in which order and in which steps it runs. Tensors count as the dense memrefs
that they will be, each output as one of its own.

Dimensions keep their number for good: one that was merged into another, or that has one
iteration, stays with extent 1 and needs no loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, TypeGuard

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    TensorType,
)
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import CopyOp, FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)
from xdsl.utils.exceptions import PassFailedException

from lowerings.rewriting.failure import FailedAt
from xla_dialect.xdsl.creation import create

Strides: TypeAlias = tuple[int, ...]

StridedLayout: TypeAlias = "tuple[tuple[int | None, ...], int | None]"
"""Strides and offset of a memref in elements, None where dynamic."""


@dataclass(frozen=True)
class Linear:
    """`sum(coefficients[d] * d) + constant` over the dimensions of a nest."""

    coefficients: Mapping[int, int]
    """By dimension, without zeros."""
    constant: int

    def bounds(self, extents: Sequence[int]) -> tuple[int, int]:
        """The least and the greatest value where no extent is zero."""
        spans = [c * (extents[d] - 1) for d, c in self.coefficients.items()]
        low = self.constant + sum(span for span in spans if span < 0)
        return low, self.constant + sum(span for span in spans if span > 0)


def linear_form(expression: AffineExpr) -> Linear | None:
    """`expression` as a linear function of dimensions; None where it is not one."""
    match expression:
        case AffineConstantExpr(value):
            return Linear({}, value)
        case AffineDimExpr(position):
            return Linear({position: 1}, 0)
        case AffineBinaryOpExpr(kind, lhs, rhs):
            left, right = linear_form(lhs), linear_form(rhs)
            if left is None or right is None:
                return None
            if kind is AffineBinaryOpKind.Add:
                terms = Counter(left.coefficients)
                terms.update(right.coefficients)
                added = {d: c for d, c in terms.items() if c}
                return Linear(added, left.constant + right.constant)
            if kind is AffineBinaryOpKind.Mul:
                if not left.coefficients:
                    left, right = right, left
                factor = right.constant
                scaled = {d: c * factor for d, c in left.coefficients.items() if factor}
                return None if right.coefficients else Linear(scaled, left.constant * factor)
            return None
        case _:
            return None


def static_memref(value_type: Attribute) -> MemRefType[Attribute] | None:
    """The type of a memref or tensor of static shape, in memory; None for other types."""
    if not is_array(value_type) or DYNAMIC_INDEX in value_type.get_shape():
        return None
    if isinstance(value_type, MemRefType):
        return value_type
    return MemRefType(value_type.element_type, value_type.get_shape())


def is_array(value_type: Attribute) -> TypeGuard[MemRefType[Attribute] | TensorType[Attribute]]:
    """Whether a type is one of memrefs or tensors."""
    return isinstance(value_type, MemRefType | TensorType)


def memref_layout(
    memref_type: MemRefType[Attribute],
) -> tuple[tuple[int | None, ...], int | None] | None:
    """Strides and offset in elements, None where dynamic; None as a whole for other layouts."""
    layout = memref_type.layout
    if isinstance(layout, NoneAttr):
        return MemRefType.strides_for_shape(memref_type.get_shape()), 0
    if isinstance(layout, StridedLayoutAttr):
        strides = [s.data if isinstance(s, IntAttr) else None for s in layout.strides]
        offset = layout.offset
        return tuple(strides), offset.data if isinstance(offset, IntAttr) else None
    return None


@dataclass(frozen=True)
class Access:
    """How a nest reads or writes one memref: the element at each point of the iteration space."""

    memref: SSAValue
    type: MemRefType[Attribute]
    indices: tuple[AffineExpr, ...]
    """One for each group."""
    groups: tuple[tuple[int, ...], ...]
    """The dimensions of the memref, consecutive ones seen as one where they form a group."""
    strides: Strides | None
    """Elements that one step in each dimension of the nest moves; None where not constant."""
    offset: int | None
    """The element at the nest's origin, in elements from the buffer's start; None if dynamic."""
    recast: bool = False
    """Whether `indices` no longer hold and only a view made from the strides gives access."""

    def __hash__(self) -> int:
        # What tells accesses apart: types and expressions take long to hash.
        return hash((self.memref, self.strides, self.offset))

    def reaches(self, dimension: int) -> bool:
        """Whether the element depends on `dimension`."""
        if self.strides is not None:
            return self.strides[dimension] != 0
        return any(dimension in index.used_dims() for index in self.indices)

    @cached_property
    def layout(self) -> StridedLayout | None:
        """Strides and offset of the memref; None if its layout has none."""
        return memref_layout(self.type)

    @property
    def is_collapsed(self) -> bool:
        """Whether some group has several dimensions, so that a view is needed."""
        return any(len(group) > 1 for group in self.groups)


def make_access(value: SSAValue, indices: Sequence[AffineExpr], extents: Sequence[int]) -> Access:
    """
    The access to `value` at `indices`.

    Raises PassFailedException if `value` is no memref of static shape, or if an index leaves it.
    """
    memref_type = static_memref(value.type)
    if memref_type is None:
        raise PassFailedException(f"expected a memref of static shape, found {value.type}")
    forms = [linear_form(index) for index in indices]
    if 0 not in extents:
        for position, (form, size) in enumerate(zip(forms, memref_type.get_shape(), strict=True)):
            low, high = (0, 0) if form is None else form.bounds(extents)
            if low < 0 or high >= max(size, 1 if form is None else size):
                raise PassFailedException(
                    f"index {indices[position]} runs from {low} to {high} in dimension "
                    f"{position} of {memref_type}"
                )
    strides, offset = _address(memref_type, forms, extents)
    groups = tuple((position,) for position in range(len(indices)))
    return Access(value, memref_type, tuple(indices), groups, strides, offset)


def _address(
    memref_type: MemRefType[Attribute], forms: Sequence[Linear | None], extents: Sequence[int]
) -> tuple[Strides | None, int | None]:
    """The strides of each dimension of a nest and the offset of its origin."""
    layout = memref_layout(memref_type)
    if layout is None:
        return None, None
    memref_strides, offset = layout
    strides = [0] * len(extents)
    for form, stride in zip(forms, memref_strides, strict=True):
        if form is None or stride is None:
            return None, None
        for dimension, coefficient in form.coefficients.items():
            if extents[dimension] > 1:
                strides[dimension] += coefficient * stride
        if offset is not None:
            offset += form.constant * stride
    return tuple(strides), offset


@dataclass(frozen=True)
class Nest:
    """A nest that evaluates `body` at every point, for each input and output the element there."""

    op: Operation
    """The operation that the nest comes from."""
    extents: tuple[int, ...]
    is_reduction: tuple[bool, ...]
    inputs: tuple[Access | SSAValue, ...]
    """For each of the first arguments of the body: an access, or the scalar itself."""
    outputs: tuple[Access, ...]
    body: Block
    initial: tuple[SSAValue | None, ...]
    """For each output the scalar that its elements are to start from instead of what they hold."""
    excess: int | None = None
    """The input whose elements are taken off from what the elements of the output start from."""
    enclosing: frozenset[int] = frozenset()
    """Dimensions that loops around the nest run over."""
    rounding: Access | None = None
    """By how much the output is too large, a sum to which loops around add."""

    @property
    def loop_dimensions(self) -> list[int]:
        """The dimensions that the nest needs a loop for."""
        return [d for d, n in enumerate(self.extents) if n != 1 and d not in self.enclosing]

    @property
    def accesses(self) -> tuple[Access, ...]:
        """Inputs in memory, then outputs."""
        return (*(a for a in self.inputs if isinstance(a, Access)), *self.outputs)

    @property
    def is_empty(self) -> bool:
        """Whether the nest has no points, so that all outputs stay as they are."""
        return 0 in self.extents

    def map_accesses(self, function: Callable[[Access], Access]) -> Nest:
        """The nest with `function` applied to every access."""
        return replace(
            self,
            inputs=tuple(function(a) if isinstance(a, Access) else a for a in self.inputs),
            outputs=tuple(function(a) for a in self.outputs),
            rounding=None if self.rounding is None else function(self.rounding),
        )


def restrict(nest: Nest, dimension: int, start: int, count: int) -> Nest:
    """The part of a nest where `dimension` runs from `start` to `start + count`."""
    rank = len(nest.extents)
    shifted: list[AffineExpr] = [AffineExpr.dimension(d) for d in range(rank)]
    shifted[dimension] = shifted[dimension] + start

    def shift(access: Access) -> Access:
        indices = tuple(i.replace_dims_and_symbols(shifted, ()) for i in access.indices)
        offset, strides = access.offset, access.strides
        if offset is not None and strides is not None:
            offset += start * strides[dimension]
        return replace(access, indices=indices, offset=offset)

    extents = tuple(count if d == dimension else n for d, n in enumerate(nest.extents))
    return replace(nest.map_accesses(shift), extents=extents)


def split(nest: Nest, dimension: int, size: int) -> Nest:
    """
    The nest with `dimension` counting blocks of `size`, and a new last dimension inside them.

    `size` divides the extent.
    """
    rank = len(nest.extents)
    assert nest.extents[dimension] % size == 0
    outer = AffineExpr.dimension(dimension) * size
    parts: list[AffineExpr] = [AffineExpr.dimension(d) for d in range(rank)]
    parts[dimension] = outer + AffineExpr.dimension(rank)

    def divide(access: Access) -> Access:
        indices = tuple(i.replace_dims_and_symbols(parts, ()) for i in access.indices)
        strides = access.strides
        if strides is not None:
            scaled = (s * size if d == dimension else s for d, s in enumerate(strides))
            strides = (*scaled, strides[dimension])
        return replace(access, indices=indices, strides=strides)

    blocks = tuple(n // size if d == dimension else n for d, n in enumerate(nest.extents))
    return replace(
        nest.map_accesses(divide),
        extents=(*blocks, size),
        is_reduction=(*nest.is_reduction, nest.is_reduction[dimension]),
    )


def divided(nest: Nest, dimension: int, size: int) -> Iterable[tuple[Nest, int, int | None]]:
    """
    The parts of a nest with a dimension in pieces of one size, each with the dimension inside of a
    piece and the one that counts the pieces: None for a part of one piece.
    """
    extent = nest.extents[dimension]
    whole = extent - extent % size
    if whole > size:
        part = restrict(nest, dimension, 0, whole)
        yield split(part, dimension, size), len(nest.extents), dimension
    elif whole:
        yield restrict(nest, dimension, 0, whole), dimension, None
    if whole != extent:
        yield restrict(nest, dimension, whole, extent - whole), dimension, None


def nest_of_generic(op: GenericOp) -> Nest:
    """The nest of a linalg.generic. Raises PassFailedException where there is none."""
    maps = [attribute.data for attribute in op.indexing_maps]
    rank = maps[0].num_dims if maps else 0
    operands: list[SSAValue] = [*op.inputs, *op.outputs]
    extents = [-1] * rank
    for operand, affine_map in zip(operands, maps, strict=True):
        memref_type = static_memref(operand.type)
        if memref_type is not None:
            for index, size in zip(affine_map.results, memref_type.get_shape(), strict=True):
                if isinstance(index, AffineDimExpr) and extents[index.position] < 0:
                    extents[index.position] = size
    if -1 in extents:
        raise PassFailedException(
            f"linalg.generic: no operand gives the extent of d{extents.index(-1)}"
        )
    accesses: list[Access | SSAValue] = [
        make_access(operand, affine_map.results, extents) if is_array(operand.type) else operand
        for operand, affine_map in zip(operands, maps, strict=True)
    ]
    kinds = tuple(kind.data is IteratorType.REDUCTION for kind in op.iterator_types)
    outputs = [access for access in accesses[len(op.inputs) :] if isinstance(access, Access)]
    if len(outputs) != len(op.outputs):
        raise PassFailedException("linalg.generic: an output is no memref")
    return Nest(
        op=op,
        extents=tuple(extents),
        is_reduction=kinds,
        inputs=tuple(accesses[: len(op.inputs)]),
        outputs=tuple(outputs),
        body=op.body.block,
        initial=(None,) * len(outputs),
    )


def elementwise_nest(op: Operation, source: SSAValue, target: SSAValue) -> Nest:
    """The nest that writes `source`, a scalar or a memref of the same shape, to `target`."""
    target_type = static_memref(target.type)
    if target_type is None:
        raise PassFailedException(f"{op.name}: expected a static memref, found {target.type}")
    extents = target_type.get_shape()
    indices = [AffineExpr.dimension(d) for d in range(len(extents))]
    element = target_type.element_type
    body = Block(arg_types=[element, element])
    body.add_op(create(YieldOp, operands=[body.args[0]]))
    return Nest(
        op=op,
        extents=extents,
        is_reduction=(False,) * len(extents),
        inputs=(make_access(source, indices, extents) if is_array(source.type) else source,),
        outputs=(make_access(target, indices, extents),),
        body=body,
        initial=(None,),
    )


def _nest_of_assignment(op: FillOp | CopyOp) -> Nest:
    return elementwise_nest(op, op.inputs[0], op.outputs[0])


def _nest_of_copy(op: memref.CopyOp) -> Nest:
    return elementwise_nest(op, op.source, op.destination)


NESTS: dict[type[Operation], Callable[..., Nest]] = {
    GenericOp: nest_of_generic,
    FillOp: _nest_of_assignment,
    CopyOp: _nest_of_assignment,
    memref.CopyOp: _nest_of_copy,
}
"""The operations that are nests. The functions raise PassFailedException."""


def nest_of(op: Operation) -> Nest:
    """
    The nest of an operation of a class in `NESTS`.

    Raises FailedAt for an operation that is none.
    """
    try:
        return NESTS[type(op)](op)
    except PassFailedException as error:
        raise FailedAt(op.location, str(error)) from error
