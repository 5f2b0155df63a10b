"""`scf.for` loops on tensors, for computations that no structured operation expresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue

from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.ir.independent_loops import LEAST_MICROSECONDS, promise_independence
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder
from lowerings.xla_to_linalg.structured import constant, empty, outside_of_bodies
from xla_dialect.types import Array
from xla_dialect.xdsl.creation import create

PARTS = 16
"""In how many parts loops are divided at most: enough for a few threads to end together, few enough
for each part to have memory of its own."""

LoopBody: TypeAlias = Callable[
    [ConversionBuilder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]
]
"""From a builder in the loop, the induction variable and iteration arguments to yielded values."""


def counted_loop(
    builder: ConversionBuilder, count: int, step: int, carried: Sequence[SSAValue], body: LoopBody
) -> Sequence[SSAValue]:
    """An `scf.for` from 0 to `count` with at least one iteration; a single one is inlined."""
    if count <= step:
        return body(builder, constant(builder, 0, INDEX), carried)
    bounds = [constant(builder, bound, INDEX) for bound in (0, count, step)]
    return loop(builder, bounds, carried, body)


def shared_loop(
    builder: ConversionBuilder,
    count: int,
    step: int,
    nanoseconds: float,
    results: Sequence[SSAValue],
    scratch: Sequence[Array],
    body: LoopBody,
) -> Sequence[SSAValue]:
    """
    A loop from 0 to `count`, a multiple of `step`, with independent iterations.

    An iteration writes a part of `results` that no other one reads or writes, and scratch tensors
    of the types `scratch`, which are iteration arguments of unspecified content. It takes
    `nanoseconds` times `step`. Large loops are divided into parts for threads, each with its own
    scratch memory; the division does not depend on the number of threads.
    """
    size = ceil(count / PARTS / step) * step
    parts = ceil(count / size)
    microseconds = count * nanoseconds / 1000

    def carried(builder: ConversionBuilder, results: Sequence[SSAValue]) -> list[SSAValue]:
        return [*results, *(empty(builder, type_) for type_ in scratch)]

    if parts < 2 or microseconds < LEAST_MICROSECONDS:
        return counted_loop(builder, count, step, carried(builder, results), body)[: len(results)]

    def part(
        inner: ConversionBuilder, number: SSAValue, results: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        def ends(s: ScalarBuilder) -> tuple[SSAValue, SSAValue]:
            first = s.emit(arith.MuliOp, (number, s.constant(size, INDEX)))
            last = s.emit(arith.AddiOp, (first, s.constant(size, INDEX)))
            return first, s.emit(arith.MinSIOp, (last, s.constant(count, INDEX)))

        bounds = *outside_of_bodies(inner, ends), constant(inner, step, INDEX)
        return loop(inner, bounds, carried(inner, results), body)[: len(results)]

    bounds = [constant(builder, bound, INDEX) for bound in (0, parts, 1)]
    found = loop(builder, bounds, results, part)
    whole = found[0].owner
    assert isinstance(whole, scf.ForOp)
    promise_independence(whole, microseconds)
    return found


def optional_loop(
    builder: ConversionBuilder,
    condition: SSAValue,
    carried: Sequence[SSAValue],
    body: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    The iteration arguments if the condition, an i1, is false; else the results of `body` on them.

    It is a loop of one iteration or none, so that tensors are updated in place.
    """
    turns = outside_of_bodies(builder, lambda s: s.emit(IndexCastUIOp, (condition,), INDEX))
    bounds = (constant(builder, 0, INDEX), turns, constant(builder, 1, INDEX))
    return loop(builder, bounds, carried, lambda inner, _turn, values: body(inner, values))


def loop(
    builder: ConversionBuilder,
    bounds: Sequence[SSAValue],
    carried: Sequence[SSAValue],
    body: LoopBody,
) -> Sequence[SSAValue]:
    """An `scf.for`; `bounds` are the first position, the end and the step."""
    block = Block(arg_types=[INDEX, *(value.type for value in carried)])
    end = scf.YieldOp()
    end.location = builder.op.location
    block.add_op(end)
    inner = ConversionBuilder(builder.ctx, builder.module, end)
    end.operands = body(inner, block.args[0], block.args[1:])
    return builder.insert(
        create(
            scf.ForOp,
            operands=(*bounds, *carried),
            result_types=[value.type for value in carried],
            regions=[Region(block)],
        )
    ).results
