"""Loops whose iterations may run at the same time, so that each needs memory of its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation

from lowerings.ir.independent_loops import INDEPENDENT, iterations_of, promised_microseconds
from xla_dialect.xdsl.traversal import ancestors

__all__ = ["SharedLoop"]


@dataclass(frozen=True)
class SharedLoop:
    """A loop whose iterations may run at the same time, and how many there are."""

    op: scf.ForOp
    iterations: int

    @staticmethod
    def around(op: Operation) -> SharedLoop | None:
        """
        The outermost such loop around an operation that needs memory.

        Where the number of iterations is unknown, so is the memory that they take together: such
        a loop loses its attribute, and runs its iterations in order.
        """
        found = None
        for outer in ancestors(op):
            if isinstance(outer, scf.ForOp) and promised_microseconds(outer) is not None:
                iterations = iterations_of(outer)
                if iterations is None:
                    del outer.attributes[INDEPENDENT]
                else:
                    found = SharedLoop(outer, iterations)
        return found
