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

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, i32
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.ir.affine import AffineExpr

from lowerings.dialects.schedule import Factor, Loop, Schedule
from lowerings.dialects.words import SIGN_BITS, DotProductOp
from lowerings.loops.access import Access, make_access
from lowerings.loops.constants import element_bits, part_type
from lowerings.loops.nest import Nest


def slice_body(
    nest: Nest,
    results: Sequence[SSAValue],
    given: Sequence[SSAValue] = (),
    outputs: Sequence[SSAValue | Attribute] = (),
) -> tuple[Block, tuple[Access | SSAValue, ...]]:
    """
    The body that yields `results`, and the inputs of the nest that it needs. Its arguments are one
    for each of these, then the given ones, then one for each output.

    `given` are values that it is given instead of computing them; `outputs` are the accumulators
    of the new body, or just a type where it does not read what the output holds.
    """
    _, needed = nest.slice(results, given)
    inputs = {
        argument: entry
        for argument, entry in zip(nest.body.args, nest.inputs, strict=False)
        if argument in needed and argument not in given
    }
    old = [*inputs, *given, *outputs]
    block = Block(arg_types=[each.type if isinstance(each, SSAValue) else each for each in old])
    pairs = zip(old, block.args, strict=True)
    known: dict[SSAValue, SSAValue] = {o: n for o, n in pairs if isinstance(o, SSAValue)}
    block.add_op(YieldOp(*nest.copy_slice(results, known, block)))
    return block, tuple(inputs.values())


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
    def dimensions(self) -> Sequence[int]:
        """The dimensions of the memory that the panels are in: the columns last."""
        reached = self.nest.mask[self.factor]
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
        body, inputs = slice_body(nest, [factor], outputs=[factor.type])
        places = self.dimensions
        kept = nest.enclosing.union(places)
        extents = tuple(n if d in kept else 1 for d, n in enumerate(nest.extents))
        return replace(
            nest,
            extents=extents,
            is_reduction=(False,) * len(extents),
            inputs=inputs,
            outputs=(self._access(memory, places),),
            body=body,
            initial=(None,),
            rounding=None,
        )

    def reading_nest(self, memory: SSAValue, excess: SSAValue | None = None) -> Nest:
        """The contraction with the panels in the place of the factor, and less the excess."""
        nest = self.nest
        block, read = slice_body(nest, nest.yields, [self.factor], nest.accumulators)
        inputs = [*read, self._access(memory, self.dimensions)]
        if excess is None:
            return replace(nest, inputs=tuple(inputs), body=block)
        inputs.append(self._access(excess, self._columns))
        number = len(read) + 1
        block.insert_arg(self.factor.type, number)
        return replace(nest, inputs=tuple(inputs), body=block, excess=number)

    def _access(self, memory: SSAValue, dimensions: Sequence[int]) -> Access:
        indices = [AffineExpr.dimension(d) for d in dimensions]
        return make_access(memory, indices, self.nest.extents)

    @cached_property
    def flipped(self) -> DotProductOp | None:
        """The product of words of which the factor that is not copied has its sign bits flipped."""
        found = (op for op in self.nest.ops if isinstance(op, DotProductOp))
        return next((op for op in found if op.flipped is not None), None)

    @property
    def _columns(self) -> Sequence[int]:
        """The dimensions of the memory that the excess is in."""
        return [d for d in self.dimensions if d not in self.terms]

    @property
    def excess_memory(self) -> MemRefType[Attribute]:
        """The type of the memory that holds, for each column, what flipped sign bits add to it."""
        return MemRefType(self.factor.type, [self.nest.extents[d] for d in self._columns])

    def excess_nest(self, memory: SSAValue, excess: SSAValue) -> Nest:
        """The nest that computes the excess from the panels."""
        nest, places, product = self.nest, self.dimensions, self.flipped
        assert product is not None
        kept = nest.enclosing.union(places)
        block = Block(arg_types=[self.factor.type, self.factor.type])
        word, total = block.args
        bits = arith.ConstantOp(IntegerAttr(SIGN_BITS, i32))
        factors = (
            (bits.result, word)
            if product.flipped is not None and product.flipped.data == Factor.LHS
            else (word, bits.result)
        )
        is_unsigned = product.rhs_is_unsigned is not None
        own = DotProductOp(*factors, product.result.type, rhs_is_unsigned=is_unsigned)
        added = arith.AddiOp(total, own.result)
        block.add_ops([bits, own, added, YieldOp(added.result)])
        return replace(
            nest,
            extents=tuple(n if d in kept else 1 for d, n in enumerate(nest.extents)),
            is_reduction=tuple(d in self.terms for d in range(len(nest.extents))),
            inputs=(self._access(memory, places),),
            outputs=(self._access(excess, self._columns),),
            body=block,
            initial=(arith.ConstantOp(IntegerAttr(0, i32)).result,),
            rounding=None,
        )

    def order_of(self, order: Schedule, vector: int) -> Schedule:
        """
        An order over dimensions of the nest: the first of its loops over `vector` counts the
        panels, or, if it is the only one, comes apart into that and one over their columns.
        """
        result: list[Loop] = []
        own = [loop for loop in order.loops if loop.dimension == vector]
        for loop in order.loops:
            if loop.dimension != vector:
                result.append(loop)
                continue
            is_first, is_only = loop is own[0], len(own) == 1
            if is_first and self.counter is not None:
                result.append(Loop(self.counter, is_parallel=loop.is_parallel))
            if not is_first or is_only:
                result.append(replace(loop, dimension=self.column, is_parallel=False))
        return replace(order.renamed({vector: self.column}), steps=tuple(result))


def order_in(nest: Nest, order: Schedule) -> Schedule:
    """The loops of an order that a nest needs; without vectors where they would have one lane."""
    needed = set(nest.loop_dimensions)
    vector = order.vector if order.vector in needed else None
    transposed = order.transposed if order.transposed in needed and vector is not None else None
    return Schedule(
        tuple(loop for loop in order.loops if loop.dimension in needed),
        vector,
        1 if vector is None else order.lanes,
        transposed,
    )
