"""
Slices, pads and concatenations of each other, along dimensions that are divided, as shifts.

What one of them makes of another has sizes of its own, whose parts begin elsewhere than those of
the array in the end. So each element of a chain of them is taken from where it comes first: the
chain becomes pads, with negative padding too, of the arrays at its beginning, all as large as its
result, and selections by position where it has several.

    %0 = xla.slice %x [6:8]                        %0 = xla.pad %x, %zero, low = -6, high = 6
    %1 = xla.slice %x [0:6]           becomes      %1 = xla.pad %x, %zero, low = 2, high = -2
    %2 = xla.concatenate %0, %1                    %2 = xla.select (position < 2), %0, %1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from lowerings.partitioning.local_operation import LocalBuilder
from lowerings.partitioning.mesh_atoms import MeshAtoms, ValueShardings
from xla_dialect.builder import XlaValue
from xla_dialect.op import decode
from xla_dialect.ops.data_movement import ConcatenateOp, PadOp, SliceOp
from xla_dialect.sharding.attributes import set_result_shardings
from xla_dialect.types import S32, Array, array, sizes_of
from xla_dialect.xdsl.linking import erase, replace_uses
from xla_dialect.xdsl.traversal import operands_of, operations_in


def shift_divided(function: FuncOp, mesh: MeshAtoms) -> None:
    """Replaces the ends of chains by shifts, and removes what only they needed."""
    shardings = ValueShardings.of(function, mesh)
    chained = [op for op in operations_in(function) if _is_shift(op, shardings)]
    shifts = _Shifts(mesh, frozenset(chained))
    for op in reversed(chained):
        is_inner = all(use.operation in shifts.chained for use in op.results[0].uses)
        begins = not any(value.owner in shifts.chained for value in operands_of(op))
        if not is_inner and (isinstance(op, ConcatenateOp) or not begins):
            shifts.replace(op, shardings)
        if not any(op.results[0].uses):
            erase(op)


def _is_shift(op: Operation, shardings: ValueShardings) -> bool:
    """Whether an operation moves elements, in their order, along a divided dimension."""
    return any(
        shardings.spread(value).dimensions[d]
        for d in _moved(op)
        for value in (op.operands[0], op.results[0])
    )


def _moved(op: Operation) -> Iterator[int]:
    match op:
        case ConcatenateOp():
            yield decode(op.dimension)
        case SliceOp() | PadOp() if not _spaced(op):
            source, made = _sizes(op.operand), _sizes(op.results[0])
            for d, place in enumerate(_places(op)):
                if place or source[d] != made[d]:
                    yield d
        case _:
            return


def _spaced(op: SliceOp | PadOp) -> bool:
    """Whether elements are left out or put in between others."""
    if isinstance(op, SliceOp):
        return any(stride != 1 for stride in decode(op.strides))
    return any(decode(op.interior_padding))


def _places(op: SliceOp | PadOp) -> Sequence[int]:
    """Where in the operand the first element of the result is."""
    if isinstance(op, SliceOp):
        return decode(op.start_indices)
    return [-low for low in decode(op.edge_padding_low)]


def _is_narrow(op: SliceOp, origin: Sequence[int], sizes: Sequence[int]) -> bool:
    """
    Whether a window has more of the operand of a slice than the slice, and blocks of another size.

    A shift would send all of that: most blocks of the window begin elsewhere.
    """
    lines = zip(origin, _places(op), sizes, _sizes(op.operand), _sizes(op.result), strict=True)
    return any(
        whole != size and (max(at, -start) < 0 or min(at + size, whole - start) > taken)
        for at, start, size, whole, taken in lines
    )


@dataclass(eq=False)
class _Shifts:
    mesh: MeshAtoms
    chained: frozenset[Operation]

    def replace(self, op: Operation, shardings: ValueShardings) -> None:
        """Puts shifts before the end of a chain, in its sharding, and gives them to its users."""
        result, before = op.results[0], op.prev_op
        b = LocalBuilder(self.mesh)
        b.stand_before(op)
        found = self.window(b, XlaValue(b, result), [0] * len(_sizes(result)), _sizes(result)).ssa
        sharding = self.mesh.sharding(shardings.spread(result))
        made = op.prev_op
        while made is not before and made is not None:
            if _sizes(made.results[0]):
                set_result_shardings(made, [sharding])
            made = made.prev_op
        found.name_hint = found.name_hint or result.name_hint
        replace_uses(result, found)

    def window(
        self, b: LocalBuilder, value: XlaValue, origin: Sequence[int], sizes: Sequence[int]
    ) -> XlaValue:
        """The elements of a value from an origin on; outside of it, anything."""
        op = value.ssa.owner
        if op not in self.chained or (isinstance(op, SliceOp) and _is_narrow(op, origin, sizes)):
            return _placed(b, value, b.scalar(0, value.element_type), origin, sizes)
        if isinstance(op, ConcatenateOp):
            return self.joined(b, op, origin, sizes)
        assert isinstance(op, SliceOp | PadOp)
        there, operand = [o + at for o, at in zip(origin, _places(op), strict=True)], op.operand
        if isinstance(op, PadOp) and operand.owner not in self.chained:
            return _placed(b, XlaValue(b, operand), XlaValue(b, op.padding_value), there, sizes)
        found = self.window(b, XlaValue(b, operand), there, sizes)
        if isinstance(op, PadOp):
            for d, (at, size) in enumerate(zip(there, _sizes(operand), strict=True)):
                if at < 0 or at + sizes[d] > size:
                    fill = XlaValue(b, op.padding_value)
                    found = b.masked(found, d, b.constant(at), size, fill)
        return found

    def joined(
        self, b: LocalBuilder, op: ConcatenateOp, origin: Sequence[int], sizes: Sequence[int]
    ) -> XlaValue:
        """Of each operand what falls into the window."""
        d: int = decode(op.dimension)
        ends = accumulate((_sizes(value)[d] for value in op.inputs), initial=-origin[d])
        found: XlaValue | None = None
        spans = list(zip(op.inputs, pairwise(ends), strict=True))
        for value, (begin, end) in reversed(spans):
            if begin == end or end <= 0 or begin >= sizes[d]:
                continue
            there = [-begin if e == d else at for e, at in enumerate(origin)]
            part = self.window(b, XlaValue(b, value), there, sizes)
            if found is not None:
                part = b.select(b.iota(array(S32, sizes), d) < end, part, found)
            found = part
        if found is None:
            zero = b.scalar(0, cast(Array, op.result.type).element_type)
            found = b.broadcast(zero, sizes)
        return found


def _placed(
    b: LocalBuilder,
    value: XlaValue,
    fill: XlaValue,
    origin: Sequence[int],
    sizes: Sequence[int],
) -> XlaValue:
    """The elements from an origin on, and what is outside."""
    edges = [(-at, at + n - m) for at, n, m in zip(origin, sizes, value.shape, strict=True)]
    return b.pad(value, fill, edges) if any(map(any, edges)) else value


def _sizes(value: SSAValue) -> tuple[int, ...]:
    return sizes_of(cast(Array, value.type))
