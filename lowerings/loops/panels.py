"""
The copy of a factor of a contraction into panels, and the contraction that reads it from there.

A panel has as many columns as the next tile of the vector dimension and holds them term by term:
the vectors that one step of a register tile loads are neighbours, and those of the next step
follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.loops.body import Body
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.nest import Nest, make_access
from lowerings.loops.slicing import slice_body
from lowerings.schedules.schedule import Loop, LoopOrder


@dataclass(frozen=True)
class Panels:
    """The panels of the part of a contraction that the loops around leave."""

    nest: Nest
    factor: SSAValue
    """What is copied: a value of the body."""
    column: int
    """The dimension that counts the columns of a panel."""
    counter: int | None
    """The dimension that counts the panels, if there are several."""
    terms: tuple[int, ...]
    """The summed dimensions, inside the loops around."""

    @cached_property
    def _body(self) -> Body:
        return Body(self.nest)

    @cached_property
    def dimensions(self) -> Sequence[int]:
        """The dimensions of the memory that the panels are in: the columns last."""
        reached = self._body.mask[self.factor]
        counter = [] if self.counter is None else [self.counter]
        placed = {*counter, *self.terms, self.column}
        others = [d for d in self.nest.loop_dimensions if reached >> d & 1 and d not in placed]
        terms = [d for d in self.terms if d not in self.nest.enclosing]
        return [*others, *counter, *terms, self.column]

    @cached_property
    def memory(self) -> MemRefType[Attribute]:
        """The type of the memory that the panels are in."""
        shape = [self.nest.extents[d] for d in self.dimensions]
        return MemRefType(self.factor.type, shape)

    @property
    def bytes(self) -> int:
        """The size of that memory."""
        bits = element_bits(part_type(self.factor.type)) or 0
        return prod(self.memory.get_shape()) * bits // 8

    def copying_nest(self, memory: SSAValue) -> Nest:
        """The nest that writes the panels."""
        nest, factor = self.nest, self.factor
        part = slice_body(self._body, [factor], outputs=[factor.type])
        places = self.dimensions
        kept = nest.enclosing.union(places)
        extents = tuple(n if d in kept else 1 for d, n in enumerate(nest.extents))
        indices = [AffineExpr.dimension(d) for d in places]
        return replace(
            nest,
            extents=extents,
            is_reduction=(False,) * len(extents),
            inputs=part.inputs,
            outputs=(make_access(memory, indices, extents),),
            body=part.block,
            initial=(None,),
        )

    def reading_nest(self, memory: SSAValue) -> Nest:
        """The contraction with the panels in the place of the factor."""
        nest, body = self.nest, self._body
        part = slice_body(body, body.yields, [self.factor], body.accumulators)
        indices = [AffineExpr.dimension(d) for d in self.dimensions]
        return replace(
            nest,
            inputs=(*part.inputs, make_access(memory, indices, nest.extents)),
            body=part.block,
        )

    def loops_of(self, loops: Sequence[Loop], vector: int) -> list[Loop]:
        """
        Loops of a schedule over dimensions of the nest: the first of those over `vector` counts
        the panels, or, if it is the only one, comes apart into that and one over their columns.
        """
        result: list[Loop] = []
        own = [loop for loop in loops if loop.dimension == vector]
        for loop in loops:
            if loop.dimension != vector:
                result.append(loop)
                continue
            is_first, is_only = loop is own[0], len(own) == 1
            if is_first and self.counter is not None:
                result.append(Loop(self.counter, is_parallel=loop.is_parallel))
            if not is_first or is_only:
                result.append(replace(loop, dimension=self.column, is_parallel=False))
        return result


def order_in(nest: Nest, order: LoopOrder) -> LoopOrder:
    """The loops of an order that a nest needs; without vectors where they would have one lane."""
    needed = set(nest.loop_dimensions)
    vector = order.vector if order.vector in needed else None
    transposed = order.transposed if order.transposed in needed and vector is not None else None
    return LoopOrder(
        tuple(loop for loop in order.loops if loop.dimension in needed),
        vector,
        1 if vector is None else order.lanes,
        transposed,
    )
