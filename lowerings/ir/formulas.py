"""Numbers of a program that is being written: `x * y + 1.0` appends operations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, Self, TypeVar

from xdsl.dialects import arith, math
from xdsl.ir import Operation

ChosenT = TypeVar("ChosenT")
ConditionT = TypeVar("ConditionT", covariant=True)


class Choice(Protocol[ChosenT]):
    """A truth value, which chooses one of two numbers."""

    def choose(self, if_true: ChosenT, if_false: float, /) -> ChosenT:
        """The first one where the condition holds."""
        ...


class Formula(ABC, Generic[ConditionT]):
    """A number; formulas name no type: constants take that of the other operand."""

    @abstractmethod
    def operation(self, op_class: type[Operation], *operands: Any) -> Any:
        """An operation of numbers of this one's type, and its result."""

    @abstractmethod
    def compare(self, predicate: str, other: Any) -> ConditionT:
        """A comparison; `predicate` as in MLIR for floats, e.g. `olt`."""

    def __add__(self, other: Self | float) -> Self:
        return self.operation(arith.AddfOp, self, other)

    def __radd__(self, other: float) -> Self:
        return self.operation(arith.AddfOp, other, self)

    def __sub__(self, other: Self | float) -> Self:
        return self.operation(arith.SubfOp, self, other)

    def __rsub__(self, other: float) -> Self:
        return self.operation(arith.SubfOp, other, self)

    def __mul__(self, other: Self | float) -> Self:
        return self.operation(arith.MulfOp, self, other)

    def __rmul__(self, other: float) -> Self:
        return self.operation(arith.MulfOp, other, self)

    def __truediv__(self, other: Self | float) -> Self:
        return self.operation(arith.DivfOp, self, other)

    def __rtruediv__(self, other: float) -> Self:
        return self.operation(arith.DivfOp, other, self)

    def __neg__(self) -> Self:
        return self.operation(arith.NegfOp, self)

    def __abs__(self) -> Self:
        return self.operation(math.AbsFOp, self)

    def times_plus(self, factor: Self | float, addend: Self | float) -> Self:
        """`self * factor + addend`, rounded once."""
        return self.operation(math.FmaOp, self, factor, addend)

    def sqrt(self) -> Self:
        """The square root, correctly rounded."""
        return self.operation(math.SqrtOp, self)

    def with_sign_of(self, other: Self | float) -> Self:
        """The magnitude of this number with the sign of another."""
        return self.operation(math.CopySignOp, self, other)

    def is_less(self, other: Self | float) -> ConditionT:
        """Integers as signed; false where a float is no number."""
        return self.compare("olt", other)

    def is_greater(self, other: Self | float) -> ConditionT:
        """Integers as signed; false where a float is no number."""
        return self.compare("ogt", other)

    def is_equal(self, other: Self | float) -> ConditionT:
        """False where a float is no number."""
        return self.compare("oeq", other)

    def is_nan(self) -> ConditionT:
        """Whether a float is no number."""
        return self.compare("uno", self)
