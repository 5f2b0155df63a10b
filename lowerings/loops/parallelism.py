"""
Loops on several threads: those without loop-carried dependences.

What a loop computes does not depend on the number of threads: sums are never divided among them
but in parts that are the same for any number.
"""

from __future__ import annotations

from xdsl.dialects import memref, scf
from xdsl.rewriter import Rewriter

from lowerings.loops.body import Body
from lowerings.loops.nest import Access, Nest


def is_independent(nest: Nest, body: Body, dimension: int) -> bool:
    """Whether no step of a dimension reads or writes what another one writes."""
    if nest.is_reduction[dimension]:
        return False
    if not all(access.reaches(dimension) for access in nest.outputs):
        return False
    places = {access.memref: (access.strides, access.offset) for access in nest.outputs}
    read = [access for access in nest.inputs if isinstance(access, Access)]
    loaded = {op.memref for op in body.ops if isinstance(op, memref.LoadOp)}
    return loaded.isdisjoint(places) and all(
        places.get(each.memref, (each.strides, each.offset)) == (each.strides, each.offset)
        for each in read
    )


def run_in_parallel(loop: scf.ForOp) -> None:
    """
    Puts a parallel loop in the place of one whose iterations are independent.

    Nests inside must not pack: what they pack into would be one place for all iterations.
    """
    body = loop.detach_region(loop.body)
    end = body.block.last_op
    assert isinstance(end, scf.YieldOp)
    Rewriter.replace_op(end, scf.ReduceOp())
    shared = scf.ParallelOp([loop.lb], [loop.ub], [loop.step], body)
    shared.location = loop.location
    Rewriter.replace_op(loop, shared)
