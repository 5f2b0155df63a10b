"""Building what an operation expands to, with `XlaBuilder`; the builder is loaded on use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue


def build_before(
    op: Operation,
    operands: Sequence[SSAValue],
    build: Callable[..., Sequence[Any]],
    *given: object,
) -> list[SSAValue]:
    """
    Inserts what a function builds before an operation, with its location; the results.

    The function takes an `XlaBuilder`, what is `given`, and the operands.
    """
    # It takes time to load.
    from xla_dialect.builder import XlaBuilder, XlaValue  # noqa: PLC0415

    b = XlaBuilder(op.name, before=op)
    return [found.ssa for found in build(b, *given, *(XlaValue(b, each) for each in operands))]
