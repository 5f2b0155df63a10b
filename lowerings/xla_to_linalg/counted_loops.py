"""Loops on tensors, for what no structured operation can express."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from lowerings.arith_extension import IndexCastUIOp
from lowerings.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalars import INDEX
from lowerings.xla_to_linalg.structured import constant, outside_of_bodies

LoopBody: TypeAlias = Callable[
    [ConversionBuilder, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]
]
"""From a builder inside of the loop, the position and what is carried to what is carried on."""


def counted_loop(
    builder: ConversionBuilder, count: int, step: int, carried: Sequence[SSAValue], body: LoopBody
) -> Sequence[SSAValue]:
    """An `scf.for` from 0 to `count`, at least one turn; without a loop if that is the only one."""
    if count <= step:
        return body(builder, constant(builder, 0, INDEX), carried)
    bounds = [constant(builder, bound, INDEX) for bound in (0, count, step)]
    return loop(builder, bounds, carried, body)


def optional_loop(
    builder: ConversionBuilder,
    condition: SSAValue,
    carried: Sequence[SSAValue],
    body: Callable[[ConversionBuilder, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """
    What is carried if the condition, an i1, is false; else what `body` makes of it.

    A loop of one turn or none: tensors that a loop carries are changed in place.
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
        scf.ForOp.create(
            operands=(*bounds, *carried),
            result_types=[value.type for value in carried],
            regions=[Region(block)],
        )
    ).results
