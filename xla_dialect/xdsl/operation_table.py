"""Tables of functions by the class of operation that they are for, without a loss of types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from xdsl.ir import Operation

OperationT = TypeVar("OperationT", bound=Operation)
FunctionT = TypeVar("FunctionT", bound=Callable[..., object])
ContextT = TypeVar("ContextT")
ResultT = TypeVar("ResultT")
P = ParamSpec("P")


class OperationTable(dict[type[Operation], FunctionT]):
    """
    The function for each class of operation (the exact class, not subclasses).

    `FunctionT` is what a lookup by `type(op)` returns: a function whose first or second parameter
    is any `Operation`. What is added for a class may ask for an operation of that class: type
    checkers compare the two.
    """

    @overload
    def add(
        self: OperationTable[Callable[Concatenate[Operation, P], ResultT]],
        op_class: type[OperationT] | Iterable[type[OperationT]],
        function: Callable[Concatenate[OperationT, P], ResultT],
    ) -> OperationTable[FunctionT]: ...

    @overload
    def add(
        self: OperationTable[Callable[Concatenate[ContextT, Operation, P], ResultT]],
        op_class: type[OperationT] | Iterable[type[OperationT]],
        function: Callable[Concatenate[ContextT, OperationT, P], ResultT],
    ) -> OperationTable[FunctionT]: ...

    def add(
        self, op_class: type[Operation] | Iterable[type[Operation]], function: Any
    ) -> OperationTable[FunctionT]:
        """Adds a function for the operations of a class, or of several; returns the table."""
        for each in (op_class,) if isinstance(op_class, type) else op_class:
            self[each] = function
        return self
