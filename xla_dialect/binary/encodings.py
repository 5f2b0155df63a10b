"""How attributes and types are encoded in MLIR bytecode: one statement for reading and writing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E8M0FNUType,
    FloatAttr,
    FloatTF32Type,
    FunctionType,
    FusedLoc,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NameLoc,
    NoneAttr,
    NoneType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedTensorType,
    VectorType,
    bf16,
    f8E3M4,
    f8E4M3,
    f8E4M3B11FNUZ,
    f8E4M3FN,
    f8E4M3FNUZ,
    f8E5M2,
    f8E5M2FNUZ,
    f16,
    f32,
    f64,
    f80,
    f128,
)
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.binary.cursor import Cursor, Writer
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.dense_literals import DenseError, elements_of_bytes, is_splat, packed_flags

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
            self.check(not number, "an attribute is neither there nor not", at=start)
            return None
        return self.numbered_attribute(number, start)

    @abstractmethod
    def numbered_attribute(self, number: int, start: int) -> Attribute:
        """The attribute with a number that was read at an offset."""

    def string(self) -> str:
        """The string with the number that stands here, which has to be text."""
        start = self.offset
        return self.text_of(self.raw_string(), "a name", start)

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
    """One part of an attribute or type, or all of it."""

    read: Callable[[EntryCursor], _Value]
    write: Callable[[EntryWriter, _Value], None]


def list_of(item: Field[_Value]) -> Field[Sequence[_Value]]:
    """A count and as many items."""

    def write(writer: EntryWriter, values: Sequence[_Value]) -> None:
        writer.varint(len(values))
        for value in values:
            item.write(writer, value)

    return Field(lambda cursor: tuple(cursor.list(lambda: item.read(cursor))), write)


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


Encoding: TypeAlias = Field[Any]
"""How what follows the code of an attribute or type is read and written."""


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


# Attributes and types of MLIR's builtin dialect, by their codes


def text_attribute(value: bytes) -> Attribute:
    """A string; of bytes that are no text, as the parser has it."""
    try:
        return StringAttr(value.decode())
    except UnicodeDecodeError:
        return BytesAttr(value)


def bytes_of_text(value: Attribute) -> bytes:
    """What `text_attribute` makes an attribute of."""
    return value.data if isinstance(value, BytesAttr) else cast(StringAttr, value).data.encode()


TEXT = encoding(text_attribute, lambda value: [bytes_of_text(value)], RAW_STRING)


def read_integer(cursor: EntryCursor) -> Attribute:
    """Reads a type and an integer."""
    start = cursor.offset
    type_ = cursor.type()
    width = width_of(type_)
    if width is None:
        cursor.fail(f"an integer has the type {type_}", start)
    return IntegerAttr(_in_range(cursor.integer(width), width, type_), cast(Any, type_))


def _in_range(value: int, width: int, type_: Attribute) -> int:
    """The integer as its type has it; an i1 is 0 or 1."""
    is_unsigned = type_ == IntegerType(width, Signedness.UNSIGNED) or type_ == IntegerType(1)
    return value % (1 << width) if is_unsigned else value


def write_integer(writer: EntryWriter, value: IntegerAttr[Any]) -> None:
    """Writes a type and an integer."""
    writer.type(value.type)
    writer.integer(value.value.data, width_of(value.type) or 1)


def read_float(cursor: EntryCursor) -> Attribute:
    """Reads a type and a number."""
    start = cursor.offset
    type_ = cursor.type()
    if not isinstance(type_, AnyFloat):
        cursor.fail(f"a number has the type {type_}", start)
    return FloatAttr(float_of_bits(cursor.integer(type_.bitwidth), type_), type_)


def write_float(writer: EntryWriter, value: FloatAttr[Any]) -> None:
    """Writes a type and a number."""
    writer.type(value.type)
    writer.integer(bits_of_float(value.value.data, value.type), value.type.bitwidth)


def dense_elements(cursor: EntryCursor, type_: Attribute, data: bytes, start: int) -> Attribute:
    """A literal; a splat stays one element."""
    if (
        not isinstance(type_, TensorType | VectorType)
        or DYNAMIC_INDEX in type_.get_shape()
        or not isinstance(
            cast(Any, type_).element_type, IntegerType | IndexType | AnyFloat | ComplexType
        )
    ):
        cursor.fail(f"a literal has the type {type_}", start)
    try:
        return elements_of_bytes(data, cast(Any, type_)).compact()
    except (DenseError, NotImplementedError) as error:
        cursor.fail(str(error) or f"literals of {type_} are not supported", start)


def read_dense(cursor: EntryCursor) -> Attribute:
    """Reads a type and the bytes of all elements, or of one for all."""
    start = cursor.offset
    type_ = cursor.type()
    return dense_elements(cursor, type_, cursor.blob(), start)


def write_dense(writer: EntryWriter, value: DenseIntOrFPElementsAttr[Any]) -> None:
    """Writes a type and the bytes of all elements, or of one for all."""
    writer.type(value.type)
    element_type: Attribute = value.type.element_type
    data, width = value.data.data, width_of(element_type) or 8
    if is_splat(value):
        data = data[: value.type.element_type.compile_time_size]
        if width == 1:
            data = b"\xff" if data[0] else b"\0"
    elif width == 1:
        data = packed_flags(data)
    if 1 < width < 8:
        data = data.translate(bytes(byte & ((1 << width) - 1) for byte in range(256)))
    writer.blob(data)


def _read_resource(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    type_ = cursor.type()
    return dense_elements(cursor, type_, cursor.resource(), start)


def _read_dense_array(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    type_ = cursor.type()
    size = cursor.varint()
    data = cursor.blob()
    if not isinstance(type_, IntegerType | AnyFloat):
        cursor.fail(f"a list has elements of the type {type_}", start)
    cursor.check(
        len(data) == size * cast(Any, type_).compile_time_size,
        "a list of {} elements of {} has {} bytes",
        size,
        cast(Attribute, type_),
        len(data),
        at=start,
    )
    return DenseArrayBase(cast(Any, type_), BytesAttr(data))


def _write_dense_array(writer: EntryWriter, value: DenseArrayBase[Any]) -> None:
    writer.type(value.elt_type)
    writer.varint(len(value))
    writer.blob(value.data.data)


def only_read(make: Callable[..., Attribute], *fields: Field[Any]) -> Encoding:
    """The encoding of what is written in another way."""
    found = encoding(make, tuple, *fields)
    return Encoding(found.read, no_way_to_write)


def _symbol(root: StringAttr, nested: Sequence[SymbolRefAttr] = ()) -> Attribute:
    return SymbolRefAttr(root, [each.root_reference for each in nested])


def _symbol_parts(value: SymbolRefAttr) -> Sequence[Any]:
    nested = [SymbolRefAttr(name) for name in value.nested_references.data]
    return value.root_reference, nested


def _dictionary(entries: Sequence[tuple[str, Attribute]]) -> Attribute:
    return DictionaryAttr(dict(entries))


def _read_entry(cursor: EntryCursor) -> tuple[str, Attribute]:
    return TEXT_ATTRIBUTE.read(cursor).data, cursor.attribute()


def _write_entry(writer: EntryWriter, entry: tuple[str, Attribute]) -> None:
    writer.attribute(StringAttr(entry[0]))
    writer.attribute(entry[1])


ENTRIES = list_of(Field(_read_entry, _write_entry))


def _place(file: StringAttr, line: int = 0, column: int = 0, *_: int) -> Attribute:
    return FileLineColLoc(file, IntAttr(line), IntAttr(column))


def _place_parts(value: FileLineColLoc) -> Sequence[Any]:
    return value.filename, value.line.data, value.column.data


def _range(file: StringAttr, numbers: Sequence[int]) -> Attribute:
    return _place(file, *numbers)


def _fused(parts: Sequence[Attribute], metadata: Attribute | None = None) -> Attribute:
    return FusedLoc(ArrayAttr(parts), metadata or NoneAttr())


def _typed_text(value: bytes, _: Attribute) -> Attribute:
    return text_attribute(value)


def _named(name: StringAttr, child: Attribute) -> Attribute:
    return NameLoc(name, NoneAttr() if isinstance(child, UnknownLoc) else child)


def _named_parts(value: NameLoc) -> Sequence[Attribute]:
    child = value.location
    return value.desc, UnknownLoc() if isinstance(child, NoneAttr) else child


BUILTIN_ATTRIBUTES: Mapping[int, Encoding] = {
    0: encoding(ArrayAttr, lambda value: [value.data], ATTRIBUTES),
    1: encoding(_dictionary, lambda value: [list(value.data.items())], ENTRIES),
    2: TEXT,
    3: only_read(_typed_text, RAW_STRING, TYPE),
    4: encoding(_symbol, lambda value: [value.root_reference], TEXT_ATTRIBUTE),
    5: encoding(_symbol, _symbol_parts, TEXT_ATTRIBUTE, list_of(attribute_of(SymbolRefAttr))),
    6: TYPE,
    7: constant(UnitAttr()),
    8: Encoding(read_integer, write_integer),
    9: Encoding(read_float, write_float),
    10: encoding(CallSiteLoc, lambda value: [value.callee, value.caller], ATTRIBUTE, ATTRIBUTE),
    11: encoding(_place, _place_parts, TEXT_ATTRIBUTE, VARINT, VARINT),
    12: encoding(_fused, lambda value: [value.locations.data], ATTRIBUTES),
    13: encoding(
        _fused, lambda value: [value.locations.data, value.metadata], ATTRIBUTES, ATTRIBUTE
    ),
    14: encoding(_named, _named_parts, TEXT_ATTRIBUTE, ATTRIBUTE),
    15: constant(UnknownLoc()),
    16: Encoding(_read_resource, no_way_to_write),
    17: Encoding(_read_dense_array, _write_dense_array),
    18: Encoding(read_dense, write_dense),
    22: only_read(_range, TEXT_ATTRIBUTE, list_of(VARINT)),
}
"""Those of programs; not among them are sparse and string literals, and distinct attributes."""

CODE_OF_CLASS: Mapping[type[Attribute], int] = {
    ArrayAttr: 0,
    DictionaryAttr: 1,
    StringAttr: 2,
    BytesAttr: 2,
    SymbolRefAttr: 5,
    UnitAttr: 7,
    IntegerAttr: 8,
    FloatAttr: 9,
    CallSiteLoc: 10,
    FileLineColLoc: 11,
    FusedLoc: 13,
    NameLoc: 14,
    UnknownLoc: 15,
    DenseArrayBase: 17,
    DenseIntOrFPElementsAttr: 18,
}
"""How attributes are written, by their class."""


def builtin_code(value: Attribute) -> int | None:
    """The code that an attribute is written with; None where it is none of the builtin dialect."""
    if isinstance(value, TypeAttribute):
        return 6
    if isinstance(value, SymbolRefAttr) and not value.nested_references.data:
        return 4
    if isinstance(value, FusedLoc) and isinstance(value.metadata, NoneAttr):
        return 12
    return CODE_OF_CLASS.get(type(value))


_SIGNS = (Signedness.SIGNLESS, Signedness.SIGNED, Signedness.UNSIGNED)


def _read_integer_type(cursor: EntryCursor) -> Attribute:
    start = cursor.offset
    value = cursor.varint()
    width, sign = value >> 2, value & 3
    cursor.check(
        sign < len(_SIGNS) and 0 < width < 1 << 24,
        "an integer type has {} bits and the sign {}",
        width,
        sign,
        at=start,
    )
    return IntegerType(width, _SIGNS[sign])


def sizes_read(sizes: Sequence[int]) -> list[int]:
    """Sizes of an array as xDSL has them."""
    return [DYNAMIC_INDEX if size == DYNAMIC_SIZE else size for size in sizes]


def sizes_written(type_: TensorType[Attribute]) -> list[int]:
    """Sizes of an array as bytecode has them."""
    return [DYNAMIC_SIZE if size == DYNAMIC_INDEX else size for size in type_.get_shape()]


MAX_RANK = 256
"""Arrays of more dimensions are an error, as in texts."""


def _read_sizes(cursor: EntryCursor) -> list[int]:
    start = cursor.offset
    sizes = sizes_read(cursor.list(cursor.signed))
    cursor.check(
        len(sizes) <= MAX_RANK and all(size >= 0 or size == DYNAMIC_INDEX for size in sizes),
        "an array has too many dimensions, or a negative size",
        at=start,
    )
    return sizes


SIZES: Field[list[int]] = Field(_read_sizes, SIGNEDS.write)


def _vector(sizes: Sequence[int], type_: Attribute) -> Attribute:
    return VectorType(cast(Any, type_), list(sizes))


def array_parts(value: TensorType[Attribute]) -> Sequence[Any]:
    """The sizes and the element type of an array, as bytecode has them."""
    return sizes_written(value), value.element_type


def _array(sizes: Sequence[int], type_: Attribute) -> Attribute:
    return TensorType(type_, sizes)


def _bounded(bounds: Attribute, sizes: Sequence[int], type_: Attribute) -> Attribute:
    return TensorType(type_, sizes, bounds)


BUILTIN_TYPES: Mapping[int, Encoding] = {
    0: Encoding(
        _read_integer_type,
        lambda writer, value: writer.varint(
            value.width.data << 2 | _SIGNS.index(value.signedness.data)
        ),
    ),
    1: constant(IndexType()),
    2: encoding(
        FunctionType.from_lists,
        lambda value: [value.inputs.data, value.outputs.data],
        TYPES,
        TYPES,
    ),
    3: constant(bf16),
    4: constant(f16),
    5: constant(f32),
    6: constant(f64),
    7: constant(f80),
    8: constant(f128),
    9: encoding(ComplexType, lambda value: [value.element_type], TYPE),
    12: constant(NoneType()),
    13: encoding(_array, array_parts, SIZES, TYPE),
    14: encoding(
        _bounded, lambda value: [value.encoding, *array_parts(value)], ATTRIBUTE, SIZES, TYPE
    ),
    15: encoding(TupleType, lambda value: [value.types.data], TYPES),
    18: encoding(UnrankedTensorType, lambda value: [value.element_type], TYPE),
    19: only_read(_vector, SIZES, TYPE),
    21: constant(FloatTF32Type()),
    22: constant(f8E5M2),
    23: constant(f8E4M3),
    24: constant(f8E4M3FN),
    25: constant(f8E5M2FNUZ),
    26: constant(f8E4M3FNUZ),
    27: constant(f8E4M3B11FNUZ),
    28: constant(f8E3M4),
    29: constant(Float4E2M1FNType()),
    30: constant(Float6E2M3FNType()),
    31: constant(Float6E3M2FNType()),
    32: constant(Float8E8M0FNUType()),
}
"""Those of programs; not among them are memrefs and scalable vectors."""
