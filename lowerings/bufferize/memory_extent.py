"""Which bytes memrefs are made of, as far as it is known, and whether two may share some."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.ir import Block, OpResult, SSAValue

from lowerings.bufferize.element_size import element_bytes
from lowerings.bufferize.memory_liveness import VIEW_OPERATIONS
from lowerings.bufferize.storage import MemRef, memref_type
from lowerings.bufferize.strided import Slice, slice_of, strides_and_offset
from lowerings.ir.scalar_attributes import constant_integer

__all__ = ["Extent", "MemoryExtents"]


@dataclass(frozen=True)
class Extent:
    """A range of bytes of one allocation."""

    base: object
    """What was allocated: a memref value, or the name of a global."""
    start: int
    end: int | None
    """None for: all from `start` on."""

    def meets(self, other: Extent) -> bool:
        """Whether the two may have a byte in common."""
        if self.base != other.base:
            return False
        ends_before = self.end is not None and self.end <= other.start
        return not ends_before and not (other.end is not None and other.end <= self.start)


@dataclass(eq=False)
class MemoryExtents:
    """
    The extents of the memrefs of a function.

    Its arguments are assumed not to alias, as the buffers level promises where one of
    them is written.
    """

    _extents: dict[SSAValue, Extent] = field(default_factory=dict[SSAValue, Extent])

    def may_overlap(self, a: SSAValue, b: SSAValue) -> bool:
        """Whether two different memrefs may have a byte in common."""
        if not self.extent(a).meets(self.extent(b)):
            return False
        slice_a, slice_b = _subview(a), _subview(b)
        if slice_a is None or slice_b is None or slice_a[0] is not slice_b[0]:
            return True
        return not slice_a[1].is_disjoint_from(slice_b[1])

    def extent(self, value: SSAValue) -> Extent:
        """The bytes that a memref is made of."""
        known = self._extents.get(value)
        if known is None:
            known = self._extents[value] = self._compute(value)
        return known

    def _compute(self, value: SSAValue) -> Extent:
        owner = value.owner
        if isinstance(owner, Block):
            return Extent(value, 0, None)
        if isinstance(owner, memref.GetGlobalOp):
            return Extent(owner.name_.string_value(), 0, None)
        if isinstance(owner, memref.ViewOp):
            arena = self.extent(owner.source)
            shift = constant_integer(owner.byte_shift)
            if shift is None:
                return arena
            start = arena.start + shift
            return Extent(arena.base, start, start + _span(memref_type(value), 0)[1])
        if isinstance(owner, VIEW_OPERATIONS):
            return self._view_extent(value, owner.operands[0])
        return Extent(value, 0, None)

    def _view_extent(self, value: SSAValue, source: SSAValue) -> Extent:
        whole = self.extent(_allocated(source))
        try:
            _, offset = strides_and_offset(memref_type(value))
        except ValueError:
            return whole
        if offset is None:
            return (
                whole if isinstance(value.owner, memref.ReinterpretCastOp) else self.extent(source)
            )
        start, end = _span(memref_type(value), offset)
        return Extent(whole.base, whole.start + start, whole.start + end)


def _allocated(value: SSAValue) -> SSAValue:
    """The memref that the offsets in the types of `value` and of its views count from."""
    while isinstance(value, OpResult):
        op = value.op
        if isinstance(op, memref.ViewOp) or not isinstance(op, VIEW_OPERATIONS):
            break
        value = op.operands[0]
    return value


def _span(type: MemRef, offset: int) -> tuple[int, int]:
    """The bytes from the first to behind the last element of a memref at this offset."""
    size = element_bytes(type.element_type) or 0
    shape = type.get_shape()
    if 0 in shape:
        return offset * size, offset * size
    strides, _ = strides_and_offset(type)
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return offset * size, (last + 1) * size


def _subview(value: SSAValue) -> tuple[SSAValue, Slice] | None:
    """The source and slice of a subview, also seen through casts of its type."""
    op = value.owner
    while isinstance(op, memref.CastOp):
        op = op.source.owner
    if not isinstance(op, memref.SubviewOp) or op.sizes or op.strides:
        return None
    return op.source, slice_of(op)
