"""
Sums of products of numbers of at most 16 bits, two terms at a time.

Processors multiply vectors of 16-bit numbers and add neighbouring products to sums of 32 bits in
one instruction (`vpmaddwd`, `vpdpwssd`), where products of 32 bits take several. So two terms of
each factor go into the halves of a 32-bit number, and the products of halves are added:

```mlir
%x = arith.extsi %a                        %p = the halves arith.extsi %a0, arith.extsi %a1
%y = arith.extsi %b                        %q = the halves arith.extsi %b0, arith.extsi %b1
%z = arith.muli %x, %y              ->     %z = "arith.pair_product"(%p, %q)
linalg.yield arith.addi %sum, %z           linalg.yield arith.addi %sum, %z
```

The nest counts pairs. Which half is which is of no consequence, as long as both factors agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, i32
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Block, Operation, SSAValue

from lowerings.loops.body import Body
from lowerings.loops.contraction import Contraction
from lowerings.loops.nest import Access, Nest, restrict, split
from lowerings.loops.pair_product import HALF_BITS, PairProductOp

SHORT_SUM = 8
"""An odd number of terms below this is not worth a nest of its own for the last one."""


@dataclass(frozen=True)
class PairedNest:
    """A contraction that adds pairs of terms, and what is left of it."""

    pairs: Nest
    rest: Nest | None
    """The last term, of an odd number of them; to be added afterwards."""


def paired_dimension(nest: Nest, contraction: Contraction) -> int:
    """The summed dimension whose terms are best paired: a long one of even extent."""
    return max(contraction.summed, key=lambda d: (nest.extents[d] % 2 == 0, nest.extents[d]))


def paired_terms(
    nest: Nest, body: Body, contraction: Contraction, dimension: int
) -> PairedNest | None:
    """A contraction in pairs; None where factors or sums are of other widths, or there are few."""
    accumulator = body.accumulators[0]
    if accumulator.type != i32 or not all(
        fits_half(factor) for factor in (contraction.left, contraction.right)
    ):
        return None
    extent = nest.extents[dimension]
    if extent % 2 == 0:
        return PairedNest(_in_pairs(nest, body, contraction, dimension), None)
    if extent < SHORT_SUM:
        return None
    most = restrict(nest, dimension, 0, extent - 1)
    return PairedNest(
        _in_pairs(most, body, contraction, dimension), restrict(nest, dimension, extent - 1, 1)
    )


def fits_half(value: SSAValue) -> bool:
    """Whether a 32-bit number is one of at most 16 bits, extended."""
    owner = value.owner
    if value.type != i32 or not isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        return False
    source = owner.input.type
    most = HALF_BITS if isinstance(owner, arith.ExtSIOp) else HALF_BITS - 1
    return isinstance(source, FixedBitwidthType) and source.bitwidth <= most


def _in_pairs(nest: Nest, body: Body, contraction: Contraction, dimension: int) -> Nest:
    """The nest with `dimension`, of even extent, counting pairs."""
    inner = len(nest.extents)
    both = split(nest, dimension, 2)
    first, second = (restrict(both, inner, number, 1) for number in range(2))
    moved = [
        number
        for number, entry in enumerate(both.inputs)
        if isinstance(entry, Access) and entry.reaches(inner)
    ]
    old = nest.body.args[: len(nest.inputs)]
    block = Block(
        arg_types=[
            *(argument.type for argument in old),
            *(old[number].type for number in moved),
            i32,
        ]
    )
    arguments = block.args[: len(old)]
    firsts: dict[SSAValue, SSAValue] = dict(zip(old, arguments, strict=True))
    extra = block.args[len(old) : -1]
    seconds = firsts | {old[number]: new for number, new in zip(moved, extra, strict=True)}
    factors = (contraction.left, contraction.right)
    pairs = [_pair(body, factor, firsts, seconds, block) for factor in factors]
    product = PairProductOp(*pairs)
    total = arith.AddiOp(block.args[-1], product.result)
    block.add_ops([product, total, YieldOp(total.result)])
    inputs = (*first.inputs, *(second.inputs[number] for number in moved))
    return replace(first, inputs=inputs, body=block)


def _pair(
    body: Body,
    factor: SSAValue,
    firsts: dict[SSAValue, SSAValue],
    seconds: dict[SSAValue, SSAValue],
    block: Block,
) -> SSAValue:
    """Adds to a body what makes two terms of a factor the halves of a number."""
    low, high = (_computed(body, factor, known, block) for known in (firsts, seconds))
    mask = arith.ConstantOp(IntegerAttr((1 << HALF_BITS) - 1, i32))
    shift = arith.ConstantOp(IntegerAttr(HALF_BITS, i32))
    lower = arith.AndIOp(low, mask.result)
    upper = arith.ShLIOp(high, shift.result)
    pair = arith.OrIOp(lower.result, upper.result)
    block.add_ops([mask, shift, lower, upper, pair])
    return pair.result


def _computed(
    body: Body, value: SSAValue, known: dict[SSAValue, SSAValue], block: Block
) -> SSAValue:
    """Adds to another body the operations that compute a value of `body`."""
    needed = {value}
    ops: list[Operation] = []
    for op in reversed(body.ops):
        if needed.intersection(op.results):
            ops.append(op)
            needed.update(op.operands)
    mapping = dict(known)
    for op in reversed(ops):
        block.add_op(op.clone(mapping))
    return mapping.get(value, value)
