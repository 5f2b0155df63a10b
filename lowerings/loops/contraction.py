"""
Contractions: nests whose output elements are sums of products of two factors, one of which does
not depend on the row of the output, the other not on its column; and those whose terms, of at most
16 bits, are multiplied two or four at a time.

Processors multiply vectors of narrow numbers and add neighbouring products to sums of 32 bits in
one instruction, where products of 32 bits take several. So the terms of each factor that go
together become one 32-bit number, and the products of its parts are added:

```mlir
%x = arith.extsi %a                 %p = words.join of arith.extsi %a0, arith.extsi %a1
%y = arith.extsi %b                 %q = words.join of arith.extsi %b0, arith.extsi %b1
%z = arith.muli %x, %y          ->  %z = words.pair_product %p, %q
linalg.yield arith.addi %sum, %z    linalg.yield arith.addi %sum, %z
```

The nest counts pairs. Which half is which is of no consequence, as long as both factors agree.

Bytes are multiplied four at a time, the unsigned ones of one factor and the signed ones of the
other. Where both factors are alike, those that are not packed have their sign bits flipped, which
adds 128 to the signed, or takes it from the unsigned. What that adds to a sum depends on the packed
factor alone, and is taken off where the sum starts:

    sum(x * y) = sum((x + 128) * y) - sum(128 * y)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    f32,
    i32,
)
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, SSAValue

from lowerings.dialects.schedule import Factor
from lowerings.dialects.words import (
    HALF_BITS,
    SIGN_BITS,
    WORD_BITS,
    DotProductOp,
    JoinOp,
    PairProductOp,
)
from lowerings.loops.access import Access
from lowerings.loops.nest import LOADS, Nest, restrict, split


@dataclass(frozen=True)
class Contraction:
    """A sum of products of a left and a right factor, with its dimensions by their role."""

    left: SSAValue
    right: SSAValue
    batch: tuple[int, ...]
    """Dimensions that index both factors and the output."""
    rows: tuple[int, ...]
    """Dimensions that index the left factor and the output (m of a matrix product)."""
    columns: tuple[int, ...]
    """Dimensions that index the right factor and the output (n of a matrix product)."""
    summed: tuple[int, ...]
    """Reduction dimensions: they index both factors (k of a matrix product)."""

    def transposed(self) -> Contraction:
        """With the roles of the factors exchanged."""
        return Contraction(self.right, self.left, self.batch, self.columns, self.rows, self.summed)


def contraction_of(nest: Nest) -> Contraction | None:
    """How a nest is a contraction; None if it is none."""
    combiner = nest.combiners[0] if len(nest.outputs) == 1 else None
    if combiner is None or any(type(op) in LOADS for op in nest.ops):
        # Packing needs operands with indexing maps; loads in the body have none.
        return None
    product, owner = nest.products.get(0), combiner[1].owner
    if isinstance(combiner[0], arith.AddiOp) and isinstance(owner, arith.MuliOp | PairProductOp):
        product = owner
    if product is None:
        return None
    factors = product.lhs, product.rhs
    left, right = (nest.mask.get(factor, 0) for factor in factors)
    out = nest.mask[nest.accumulators[0]]
    groups: dict[tuple[bool, bool, bool], list[int]] = {}
    for d in nest.loop_dimensions:
        where = bool(left >> d & 1), bool(right >> d & 1), bool(out >> d & 1)
        groups.setdefault(where, []).append(d)
    batch = tuple(groups.pop((True, True, True), ()))
    rows = tuple(groups.pop((True, False, True), ()))
    columns = tuple(groups.pop((False, True, True), ()))
    summed = tuple(groups.pop((True, True, False), ()))
    if groups or not summed:
        return None
    return Contraction(*factors, batch, rows, columns, summed)


def roles_of(nest: Nest, factor: Factor) -> Contraction | None:
    """How a nest is a contraction whose right factor is `factor`; None if it is none."""
    roles = contraction_of(nest)
    return roles if roles is None or factor is Factor.RHS else roles.transposed()


SHORT_SUM = 8
"""Terms below this that leave some over are not worth a nest of its own for those."""


def paired_dimension(nest: Nest, contraction: Contraction, terms: int) -> int:
    """The summed dimension whose terms are best taken so many at a time: long, and none over."""
    return max(contraction.summed, key=lambda d: (nest.extents[d] % terms == 0, nest.extents[d]))


def paired_terms(
    nest: Nest, contraction: Contraction, dimension: int, terms: int, packed: Factor
) -> Sequence[Nest]:
    """
    A contraction that takes `terms` at a time, where `packed` is to be copied; then that of terms
    that are left over, if some are. Nothing where factors or sums are of other widths, or few.
    """
    words = _words_of(nest, contraction, terms, packed)
    if words is None:
        return ()
    extent = nest.extents[dimension]
    over = extent % terms
    if not over:
        return [_in_words(nest, words, dimension)]
    if extent < SHORT_SUM:
        return ()
    most = restrict(nest, dimension, 0, extent - over)
    return _in_words(most, words, dimension), restrict(nest, dimension, extent - over, over)


@dataclass(frozen=True)
class _Words:
    """How the factors of several terms become numbers of 32 bits."""

    terms: int
    factors: tuple[SSAValue, SSAValue]
    """What is in the words: values of the body."""
    total: Attribute
    flipped: Factor | None = None
    rhs_is_unsigned: bool = False

    def product(self, lhs: SSAValue, rhs: SSAValue) -> DotProductOp | PairProductOp:
        if self.total == i32 and self.terms == WORD_BITS // HALF_BITS:
            return PairProductOp(lhs, rhs)
        return DotProductOp(
            lhs, rhs, self.total, rhs_is_unsigned=self.rhs_is_unsigned, flipped=self.flipped
        )


def _words_of(nest: Nest, contraction: Contraction, terms: int, packed: Factor) -> _Words | None:
    factors = contraction.left, contraction.right
    total = nest.accumulators[0].type
    if total == f32:
        lhs, rhs = (_extended_bfloat(factor) for factor in factors)
        if terms != WORD_BITS // HALF_BITS or lhs is None or rhs is None:
            return None
        return _Words(terms, (lhs, rhs), total)
    bits = WORD_BITS // terms
    if total != i32 or not all(_fits(factor, bits) for factor in factors):
        return None
    if bits == HALF_BITS:
        return _Words(terms, factors, total)
    lhs_is_unsigned, rhs_is_unsigned = (isinstance(f.owner, arith.ExtUIOp) for f in factors)
    if lhs_is_unsigned != rhs_is_unsigned:
        return _Words(terms, factors, total, None, rhs_is_unsigned)
    flipped = Factor.LHS if packed is Factor.RHS else Factor.RHS
    return _Words(terms, factors, total, flipped, rhs_is_unsigned != (flipped is Factor.RHS))


def _extended_bfloat(value: SSAValue) -> SSAValue | None:
    """The number of bf16 that a value is, extended; None if it is none."""
    owner = value.owner
    if not isinstance(owner, arith.ExtFOp):
        return None
    source: SSAValue = owner.operands[0]
    return source if isinstance(source.type, BFloat16Type) else None


def _fits(value: SSAValue, bits: int) -> bool:
    """Whether a 32-bit number is one of at most so many bits, extended; halves are signed."""
    owner = value.owner
    if value.type != i32 or not isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        return False
    source = owner.input.type
    most = bits - (bits == HALF_BITS and isinstance(owner, arith.ExtUIOp))
    return isinstance(source, FixedBitwidthType) and source.bitwidth <= most


def _in_words(nest: Nest, words: _Words, dimension: int) -> Nest:
    """The nest with `dimension`, of an extent that is a multiple of the terms, counting words."""
    inner = len(nest.extents)
    both = split(nest, dimension, words.terms)
    first, *others = (restrict(both, inner, number, 1) for number in range(words.terms))
    moved = [
        number
        for number, entry in enumerate(both.inputs)
        if isinstance(entry, Access) and entry.reaches(inner)
    ]
    old = nest.body.args[: len(nest.inputs)]
    extra = [old[number].type for _ in others for number in moved]
    block = Block(arg_types=[*(argument.type for argument in old), *extra, words.total])
    firsts: dict[SSAValue, SSAValue] = dict(zip(old, block.args[: len(old)], strict=True))
    known = [firsts]
    for place in range(len(old), len(block.args) - 1, max(1, len(moved))):
        own = block.args[place : place + len(moved)]
        known.append(firsts | {old[m]: new for m, new in zip(moved, own, strict=True)})
    known += [firsts] * (words.terms - len(known))
    part = None if words.total == f32 else IntegerType(WORD_BITS // words.terms)
    lhs, rhs = (_word(nest, factor, part, known, block) for factor in words.factors)
    if words.flipped is not None:
        flip = arith.ConstantOp(IntegerAttr(SIGN_BITS, i32))
        flipped = arith.XOrIOp(lhs if words.flipped is Factor.LHS else rhs, flip.result)
        block.add_ops([flip, flipped])
        if words.flipped is Factor.LHS:
            lhs = flipped.result
        else:
            rhs = flipped.result
    product = words.product(lhs, rhs)
    combiner = nest.combiners[0]
    assert combiner is not None
    total = combiner[0].create(
        operands=[block.args[-1], product.result],
        result_types=[words.total],
        properties=combiner[0].properties,
    )
    block.add_ops([product, total, YieldOp(*total.results)])
    inputs = (*first.inputs, *(other.inputs[number] for other in others for number in moved))
    return replace(first, inputs=inputs, body=block)


def _word(
    nest: Nest,
    factor: SSAValue,
    part: IntegerType | None,
    known: Sequence[dict[SSAValue, SSAValue]],
    block: Block,
) -> SSAValue:
    """
    Adds to a body what puts several terms of a factor into one number.

    Integers were extended to 32 bits; they are extended to `part` instead.
    """
    owner, source = factor.owner, factor
    if part is not None and isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        source = owner.operands[0]
    terms = [nest.copy_slice([source], inputs, block)[0] for inputs in known]
    if part is not None and source.type != part:
        extend = arith.ExtSIOp if isinstance(owner, arith.ExtSIOp) else arith.ExtUIOp
        extended = [extend(term, part) for term in terms]
        block.add_ops(extended)
        terms = [op.result for op in extended]
    word = JoinOp(terms)
    block.add_op(word)
    return word.result
