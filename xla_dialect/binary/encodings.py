"""How attributes and types are encoded in MLIR bytecode: one statement for reading and writing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar, cast

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, StringAttr, f64
from xdsl.ir import Attribute

from xla_dialect.binary.cursor import Cursor, Writer
from xla_dialect.diagnostics import XlaError

_Value = TypeVar("_Value")
_AttributeT = TypeVar("_AttributeT", bound=Attribute)

DYNAMIC_SIZE = -(1 << 63)
"""A size of an array that is not known, in bytecode."""


class EntryCursor(Cursor):
    """The bytes of an attribute, type or operation, which refers to others by their numbers."""

    @abstractmethod
    def attribute(self) -> Attribute:
        """The attribute with the number that stands here."""

    @abstractmethod
    def type(self) -> Attribute:
        """The type with the number that stands here."""

    @abstractmethod
    def raw_string(self) -> bytes:
        """The string with the number that stands here."""

    @abstractmethod
    def resource(self) -> bytes:
        """The bytes of the resource with the number that stands here."""

    @abstractmethod
    def spelled(self, text: str) -> Attribute:
        """The attribute or type with this text in MLIR."""

    def optional_attribute(self) -> Attribute | None:
        """The attribute with the number that stands here, if there is one."""
        start = self.offset
        number, is_given = self.flagged()
        if not is_given:
            if number:
                self.fail("an attribute is neither there nor not", start)
            return None
        return self.numbered_attribute(number, start)

    @abstractmethod
    def numbered_attribute(self, number: int, start: int) -> Attribute:
        """The attribute with a number that was read at an offset."""

    def string(self) -> str:
        """The string with the number that stands here, which has to be text."""
        start = self.offset
        try:
            return self.raw_string().decode()
        except UnicodeDecodeError:
            self.fail("a name is not UTF-8 text", start)

    def integer(self, width: int) -> int:
        """A signed integer of a width in bits that is known."""
        if width <= 8:
            value = self.byte()
        elif width <= 64:
            value = self.signed()
        else:
            words = self.list(self.signed)
            value = sum((word % (1 << 64)) << 64 * i for i, word in enumerate(words))
        value %= 1 << width
        return value - (1 << width) if value >> (width - 1) else value

    def double(self) -> float:
        """A number of 64 bits."""
        return float_of_bits(self.integer(64), f64)


class EntryWriter(Writer):
    """Writes an attribute, type or operation, which refers to others by their numbers."""

    @abstractmethod
    def attribute(self, value: Attribute) -> None:
        """Writes the number of an attribute."""

    @abstractmethod
    def type(self, value: Attribute) -> None:
        """Writes the number of a type."""

    @abstractmethod
    def raw_string(self, value: bytes) -> None:
        """Writes the number of a string."""

    @abstractmethod
    def spelled(self, text: str) -> Attribute:
        """The attribute or type with this text in MLIR."""

    def string(self, value: str) -> None:
        """Writes the number of a text."""
        self.raw_string(value.encode())

    def integer(self, value: int, width: int) -> None:
        """Writes an integer of a width in bits that is known."""
        value %= 1 << width
        if width <= 8:
            self.data.append(value)
        elif width <= 64:
            self.signed(_as_signed_word(value))
        else:
            count = (width + 63) // 64
            self.varint(count)
            for i in range(count):
                self.signed(_as_signed_word(value >> 64 * i & ((1 << 64) - 1)))

    def double(self, value: float) -> None:
        """Writes a number of 64 bits."""
        self.integer(bits_of_float(value, f64), 64)


def _as_signed_word(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def float_of_bits(bits: int, type_: AnyFloat) -> float:
    """The number with a bit pattern."""
    size = type_.compile_time_size
    return type_.unpack((bits % (1 << 8 * size)).to_bytes(size, "little"), 1)[0]


def bits_of_float(value: float, type_: AnyFloat) -> int:
    """The bit pattern of a number."""
    return int.from_bytes(type_.pack([value]), "little")


def width_of(type_: Attribute) -> int | None:
    """The width in bits of the integers of a type; None for any other type."""
    if isinstance(type_, IndexType):
        return 64
    return cast("IntegerType[Any]", type_).width.data if isinstance(type_, IntegerType) else None


@dataclass(frozen=True)
class Field(Generic[_Value]):
    """One part of an attribute or type."""

    read: Callable[[EntryCursor], _Value]
    write: Callable[[EntryWriter, _Value], None]


def list_of(item: Field[_Value]) -> Field[list[_Value]]:
    """A count and as many items."""

    def write(writer: EntryWriter, values: Sequence[_Value]) -> None:
        writer.varint(len(values))
        for value in values:
            item.write(writer, value)

    return Field(lambda cursor: cursor.list(lambda: item.read(cursor)), write)


def attribute_of(class_: type[_AttributeT]) -> Field[_AttributeT]:
    """An attribute of a class."""

    def read(cursor: EntryCursor) -> _AttributeT:
        start = cursor.offset
        value = cursor.attribute()
        if not isinstance(value, class_):
            cursor.fail(f"{value} stands where a {class_.name} is expected", start)
        return value

    return Field(read, lambda writer, value: writer.attribute(value))


ATTRIBUTE: Field[Attribute] = Field(
    lambda cursor: cursor.attribute(), lambda writer, value: writer.attribute(value)
)
TYPE: Field[Attribute] = Field(
    lambda cursor: cursor.type(), lambda writer, value: writer.type(value)
)
STRING = Field(EntryCursor.string, EntryWriter.string)
VARINT = Field(EntryCursor.varint, EntryWriter.varint)
SIGNED = Field(EntryCursor.signed, EntryWriter.signed)
RAW_STRING: Field[bytes] = Field(
    lambda cursor: cursor.raw_string(), lambda writer, value: writer.raw_string(value)
)
TEXT_ATTRIBUTE = attribute_of(StringAttr)
BLOB = Field(EntryCursor.blob, EntryWriter.blob)
DOUBLE = Field(EntryCursor.double, EntryWriter.double)
ATTRIBUTES, TYPES, SIGNEDS = list_of(ATTRIBUTE), list_of(TYPE), list_of(SIGNED)


@dataclass(frozen=True)
class Encoding:
    """How what follows the code of an attribute or type is read and written."""

    read: Callable[[EntryCursor], Attribute]
    write: Callable[[EntryWriter, Any], None]


def encoding(
    make: Callable[..., Attribute], parts: Callable[[Any], Sequence[Any]], *fields: Field[Any]
) -> Encoding:
    """The encoding of what is made of fields, one after the other, and comes apart into them."""

    def read(cursor: EntryCursor) -> Attribute:
        return make(*[field.read(cursor) for field in fields])

    def write(writer: EntryWriter, value: Any) -> None:
        for field, part in zip(fields, parts(value), strict=True):
            field.write(writer, part)

    return Encoding(read, write)


def constant(value: Attribute) -> Encoding:
    """The encoding of what has no fields."""
    return encoding(lambda: value, lambda _: ())


class UnwritableAttribute(XlaError):
    """An attribute that is read, and cannot be written."""


def no_way_to_write(writer: EntryWriter, value: object) -> NoReturn:
    """Of what is only read."""
    raise UnwritableAttribute(f"{value} cannot be written as bytecode")
