"""
Loops without dependences between iterations, marked as such by the pass that creates them.

A pass that creates an `scf.for` on tensors may mark it with an attribute. An iteration then writes
only parts of the iteration arguments that no other iteration reads or writes. Memory that is
allocated inside is private to each iteration: `xla-plan-buffers` sees to it. At the loops level the
loop becomes a parallel one, if it is enough work.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from lowerings.ir.scalar_attributes import constant_integer

INDEPENDENT = "xla.independent_microseconds"
"""The attribute of such a loop from 0 in steps of 1: the time that one thread takes, estimated."""

LEAST_MICROSECONDS = 100
"""Work that pays for starting threads: that takes some microseconds, tens if they sleep."""


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
