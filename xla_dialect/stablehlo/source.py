"""Operations of StableHLO and CHLO as they are parsed: no meaning, only parts.

Every operation that the reader knows is one `SourceRow`: how its custom form is written, and how it
becomes operations of the `xla` dialect. Its class only parses; the conversion takes it apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn, Self, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, OpTraits, SSAValue
from xdsl.parser import Parser
from xdsl.traits import IsTerminator
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


ParseCustomForm: TypeAlias = "Callable[[Parser, type[SourceOp]], SourceOp]"
"""Parses what follows the name of an operation in its custom form."""

Conversion = TypeVar("Conversion", contravariant=True)


@dataclass(frozen=True)
class SourceRow(Generic[Conversion]):
    """One operation of StableHLO or CHLO, for a conversion that the rows know."""

    form: ParseCustomForm | None
    """How the custom form is written; None for an operation that has only the generic form."""
    convert: Callable[[SourceOp, Conversion], Sequence[SSAValue]]
    """Emits the operations that replace a parsed one and returns what its results become."""
    operands: int | None = None
    """The number of operands, where it is fixed."""
    results: int | None = 1
    regions: int | None = 0
    index_operands: int | None = None
    """The first of the operands that may have elements of type `index`, if there are any."""


MAX_LIST = 1 << 16
"""No list of dimensions, sizes or paddings is longer."""


class HloOperation(Operation):
    """An operation of StableHLO or CHLO, whether a row or a class of its own defines it."""

    INDEX_OPERANDS: ClassVar[int | None] = None
    """The first of the operands that may have elements of type `index`, if there are any."""

    GIVES_INDEX: ClassVar[bool] = False
    """Whether its result may have them."""

    def fail(self, message: str) -> NoReturn:
        """Raises an error at this operation."""
        raise SourceError(self, message)


class SourceOp(HloOperation):
    """A parsed operation; there is one subclass for each row of the table."""

    row: ClassVar[SourceRow[Any]]
    taken: ClassVar[set[str]]
    """The names that its row has asked for so far, of all operations of the class."""
    traits = OpTraits(tuple)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses the custom form."""
        if cls.row.form is None:
            parser.raise_error(f"{cls.name} has no custom form; expected the generic form")
        return cast(Self, cls.row.form(parser, cls))

    def take(self, name: str) -> Attribute | None:
        """Removes and returns a property (or an attribute: older texts have no properties)."""
        self.taken.add(name)
        value = self.properties.pop(name, None)
        if value is None:
            return self.attributes.pop(name, None)
        if name in self.attributes:
            self.fail(f"attribute {name!r} is given twice")
        return value

    def integers(
        self, name: str, default: Sequence[int] | None = None, type_: IntegerType = i64
    ) -> tuple[int, ...]:
        """
        Takes a list of integers of a type; an error if absent without default.

        It may be written as in older texts, `dense<[0, 1]> : tensor<2xi64>`.
        """
        value = self.take(name)
        if value is None:
            if default is None:
                self.fail(f"{name} is missing")
            return tuple(default)
        found = integers_of(value)
        if found is None or not has_elements(value, type_):
            self.fail(f"{name} is {value}, not a list of {type_}")
        return found

    def integer(self, name: str, default: int | None = None, type_: IntegerType = i64) -> int:
        """Takes an integer of a type; an error if absent without default."""
        value = self.take(name)
        if value is None:
            if default is None:
                self.fail(f"{name} is missing")
            return default
        number = cast("IntegerAttr[Any]", value)
        if not isinstance(value, IntegerAttr) or number.type != type_:
            self.fail(f"{name} is {value}, expected an {type_}")
        return number.value.data

    def flag(self, name: str, default: bool | None = False) -> bool:
        """Takes a boolean; an error if absent and `default` is None."""
        return bool(self.integer(name, None if default is None else int(default), i1))

    def text(self, name: str) -> str:
        """Takes a string; an error if absent."""
        value = self.take(name)
        if not isinstance(value, StringAttr):
            self.fail(f"{name} is {value}, not a string")
        return value.data


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


def classes_of(rows: Mapping[str, SourceRow[Any]], dialect: str) -> list[type[Operation]]:
    """The classes that parse the operations of one dialect."""
    return [
        type(
            f"{name.title().replace('_', '').replace('.', '')}Op",
            (SourceOp,),
            {"name": name, "row": row, "taken": set[str]()}
            | ({"traits": _TERMINATOR} if _ends_a_block(name) else {}),
        )
        for name, row in rows.items()
        if name.startswith(f"{dialect}.")
    ]


_TERMINATOR = OpTraits(lambda: (IsTerminator(),))


def _ends_a_block(name: str) -> bool:
    return name.endswith(".return")


def check_counts(op: SourceOp) -> None:
    """Raises SourceError for other numbers of operands, results or regions than the row has."""
    row = op.row
    found = len(op.operands), len(op.results), len(op.regions)
    wanted = row.operands, row.results, row.regions
    if found == wanted:
        return
    for what, expected, count in zip(
        ("operands", "results", "regions"), wanted, found, strict=True
    ):
        if expected is not None and expected != count:
            op.fail(f"has {count} {what}, expected {expected}")


def check_rest(op: SourceOp, place: LocationAttr) -> None:
    """
    Properties that no row has read are an error; attributes are discardable, and stay.

    A property that is among the attributes too is an error, a name that is nearly one a warning.
    """
    for name in op.properties:
        op.fail(f"unknown attribute {name!r}")
    warn_of_misspellings(op, op.taken, place)


def warn_of_misspellings(op: Operation, known: Iterable[str], place: LocationAttr) -> None:
    """Warns of attributes that are kept without a meaning, but whose names are nearly known."""
    for name in op.attributes:
        hint = suggestion(name, known) if "." not in name else ""
        if hint:
            where = str(place)[len("loc(") : -1].replace('"', "")
            message = f"{where}: {op.name}: attribute {name!r} is kept, but has no meaning{hint}"
            warnings.warn(message, UserWarning, stacklevel=2)
