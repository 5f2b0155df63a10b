# pyright: reportPrivateUsage=false
"""Named operands and results of operation classes of ours, read in less time.

What xDSL 0.74 puts into a class makes a view of all operands, and takes one of that by a method of
Python. Classes of others keep it.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, VarIRConstruct

# `SSAValues.__getitem__` is written in Python, that of `tuple` in C.
_item: Any = cast(Any, tuple).__getitem__


def quicken_accessors(operation: type[IRDLOperation]) -> None:
    """Lets operands and results of a class that stand before variadic ones be read at once."""
    for name, accessor in list(vars(operation).items()):
        if type(accessor) is not BeforeVariadicSingleAccessor:
            continue
        if accessor.construct is VarIRConstruct.OPERAND:
            setattr(operation, name, _Operand(accessor.construct, accessor.idx))
        elif accessor.construct is VarIRConstruct.RESULT:
            setattr(operation, name, _Result(accessor.construct, accessor.idx))


class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return _item(obj._operands, self.idx)


class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return _item(obj.results, self.idx)
