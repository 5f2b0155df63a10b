"""What every operation of StableHLO and CHLO shares, before it is legalized: its errors, lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NoReturn, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xla_dialect.diagnostics import XlaError
from xla_dialect.spelling import suggestion


class SourceError(XlaError):
    """An operation that cannot be read as what it claims to be."""

    def __init__(self, op: Operation, message: str):
        self.op = op
        super().__init__(f"{op.name}: {message}")


class UnknownShape(SourceError):
    """A shape that depends on the arguments of the program."""

    def __init__(self, op: Operation, position: int = 0, message: str = ""):
        default = f"operand {position} says a shape, but depends on the arguments"
        super().__init__(op, message or default)


MAX_LIST = 1 << 16
"""No list of dimensions, sizes or paddings is longer."""


class HloOperation(Operation):
    """An operation of StableHLO or CHLO."""

    INDEX_OPERANDS: ClassVar[int | None] = None
    """The first of the operands that may have elements of type `index`, if there are any."""

    GIVES_INDEX: ClassVar[bool] = False
    """Whether its result may have them."""

    def fail(self, message: str) -> NoReturn:
        """Raises an error at this operation."""
        raise SourceError(self, message)


def rows_of(name: str, value: Attribute) -> Sequence[Sequence[int]]:
    """
    The rows of a matrix, `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`.

    Raises VerifyException for anything else; `name` is that of the property.
    """
    dense = cast("DenseIntOrFPElementsAttr[Any]", value)
    if (
        not isinstance(value, DenseIntOrFPElementsAttr)
        or len(dense.get_shape()) != 2
        or dense.get_element_type() != i64
    ):
        raise VerifyException(f"{name} is {value}, not a matrix of i64")
    count, width = dense.get_shape()
    numbers = integers_of(cast(Attribute, value))
    if numbers is None:
        raise VerifyException(f"{name} has more than {MAX_LIST} numbers")
    return [numbers[i * width : (i + 1) * width] for i in range(count)]


def has_elements(value: Attribute, type_: IntegerType) -> bool:
    """Whether the elements of a list of integers are of a type."""
    if isinstance(value, DenseArrayBase):
        return cast("DenseArrayBase[Any]", value).elt_type == type_
    if isinstance(value, DenseIntOrFPElementsAttr):
        return cast("DenseIntOrFPElementsAttr[Any]", value).get_element_type() == type_
    elements = cast("ArrayAttr[IntegerAttr[Any]]", value).data
    return all(element.type == type_ for element in elements)


def integers_of(value: Attribute) -> tuple[int, ...] | None:
    """A list of integers, however it is written; None for anything else."""
    if isinstance(value, DenseArrayBase):
        numbers = cast("DenseArrayBase[Any]", value).get_values()
        return tuple(int(number) for number in numbers)
    if isinstance(value, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", value).data
        if all(isinstance(element, IntegerAttr) for element in elements):
            return tuple(cast("IntegerAttr[Any]", element).value.data for element in elements)
        return None
    if isinstance(value, DenseIntOrFPElementsAttr):
        dense = cast("DenseIntOrFPElementsAttr[Any]", value)
        count = 1
        for size in dense.get_shape():
            count *= size
        if isinstance(dense.get_element_type(), IntegerType | IndexType) and count <= MAX_LIST:
            numbers: tuple[int, ...] = dense.get_values()
            return numbers * count if len(numbers) == 1 else numbers
    return None


def warn_of_misspellings(op: Operation, known: Iterable[str], place: LocationAttr) -> None:
    """Warns of attributes that are kept without a meaning, but whose names are nearly known."""
    for name in op.attributes:
        hint = suggestion(name, known) if "." not in name else ""
        if hint:
            where = str(place)[len("loc(") : -1].replace('"', "")
            message = f"{where}: {op.name}: attribute {name!r} is kept, but has no meaning{hint}"
            warnings.warn(message, UserWarning, stacklevel=2)
