"""
Loops without dependences between iterations, marked as such by the pass that creates them.

A pass that creates an `scf.for` on tensors may mark it with an attribute. An iteration then writes
only parts of the iteration arguments that no other iteration reads or writes. Memory that is
allocated inside is private to each iteration: `xla-plan-buffers` sees to it. At the loops level the
loop becomes a parallel one, if it is enough work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from lowerings.ir.scalar_attributes import constant_integer
from xla_dialect.xdsl.traversal import ancestors, operands_of

INDEPENDENT = "xla.independent_microseconds"
"""The attribute of such a loop from 0 in steps of 1: the time that one thread takes, estimated."""

LEAST_MICROSECONDS = 30
"""Work of a program that pays for waking threads, which takes tens of microseconds."""

LEAST_MICROSECONDS_AWAKE = 5
"""
Work of a loop that pays for its start on threads that are awake: a microsecond, and that what one
thread has written goes to another, some 5 bytes a nanosecond.
"""


def promise_independence(loop: scf.ForOp, microseconds: float) -> None:
    """Says of a loop that its iterations do not depend on each other."""
    loop.attributes[INDEPENDENT] = IntegerAttr(int(microseconds), i64)


def promised_microseconds(op: Operation) -> int | None:
    """The time that a loop with independent iterations takes; None for any other operation."""
    found = op.attributes.get(INDEPENDENT) if isinstance(op, scf.ForOp) else None
    return cast("IntegerAttr[Any]", found).value.data if isinstance(found, IntegerAttr) else None


def iterations_of(loop: scf.ForOp) -> int | None:
    """How many iterations a loop from 0 in steps of 1 has; None for others, or if not known."""
    lower, upper, step = map(constant_integer, (loop.lb, loop.ub, loop.step))
    return max(upper, 0) if upper is not None and (lower, step) == (0, 1) else None


def parallel_bounds(op: scf.ParallelOp) -> tuple[Sequence[SSAValue], ...]:
    """The lower bounds, the upper bounds and the steps of a loop, one for each dimension."""
    rank, operands = len(op.body.block.args), operands_of(op)
    return operands[:rank], operands[rank : 2 * rank], operands[2 * rank : 3 * rank]


@dataclass(frozen=True)
class SharedLoop:
    """A loop whose iterations may run at the same time, and how many there are."""

    op: scf.ForOp
    iterations: int

    @staticmethod
    def around(op: Operation) -> SharedLoop | None:
        """The outermost such loop around an operation that needs memory."""
        found = None
        for outer in ancestors(op):
            if isinstance(outer, scf.ForOp) and promised_microseconds(outer) is not None:
                iterations = iterations_of(outer)
                if iterations is not None:
                    found = SharedLoop(outer, iterations)
        return found


def order_uncounted_loops(op: Operation) -> None:
    """
    Has the loops around an operation that needs memory run their iterations in order where these
    cannot be counted: what they would take together is not known.
    """
    for outer in ancestors(op):
        if isinstance(outer, scf.ForOp) and promised_microseconds(outer) is not None:
            if iterations_of(outer) is None:
                del outer.attributes[INDEPENDENT]
