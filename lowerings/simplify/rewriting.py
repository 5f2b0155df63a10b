"""What a simplification rule is: from an operation to values that are the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from xdsl.ir import Operation, SSAValue

from lowerings.simplify.constant_folding import splat_literal
from xla_dialect.literals.arrays import Array
from xla_dialect.op import XlaOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.types import Array as ArrayType

Replacement: TypeAlias = SSAValue | Sequence[SSAValue] | None
"""What takes the place of an operation's results; None where a rule has nothing to say."""


class Inserter(Protocol):
    """Puts new operations in front of the one that is being simplified."""

    def insert(self, op: XlaOp) -> Sequence[SSAValue]:
        """Inserts an operation; returns its results, or what these were simplified to."""
        ...


Rule: TypeAlias = Callable[[Operation, Inserter], Replacement]
"""From an operation to what its results may be replaced by."""


def constant(inserter: Inserter, number: Array, type_: ArrayType) -> SSAValue:
    """An array of a type all of whose elements are one number."""
    op = ConstantOp.make([], {"value": splat_literal(number, type_)}, result_types=[type_])
    return inserter.insert(op)[0]
