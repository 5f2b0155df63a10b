"""Loops on tensors, for what no structured operation can express."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.ir import Block, Region, SSAValue

from lowerings.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalars import INDEX
from lowerings.xla_to_linalg.structured import constant

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
