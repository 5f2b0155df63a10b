"""How attributes and types are encoded in MLIR bytecode: one statement for reading and writing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException

from xla_dialect.binary.cursor import Cursor, Writer
from xla_dialect.diagnostics import XlaError
from xla_dialect.spelling import SpellingError
from xla_dialect.xdsl.dense_literals import elements_of_bytes, is_splat, packed_flags

_Value = TypeVar("_Value")
_Other = TypeVar("_Other")
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


def no_way_to_write(writer: EntryWriter, value: object) -> NoReturn:
    """Of what is only read."""
    raise UnwritableAttribute(f"{value} cannot be written as bytecode")


@dataclass(frozen=True)
class Field(Generic[_Value]):
    """One part of an attribute or type, or all of it."""

    read: Callable[[EntryCursor], _Value]
    """Raises BinaryError, or VerifyException for what is no such part."""
    write: Callable[[EntryWriter, _Value], None] = no_way_to_write
    parse: Callable[[AttrParser], Any] = AttrParser.parse_attribute
    """In the text of VHLO, behind the name of the part."""

    def mapped(
        self, to: Callable[[_Value], _Other], back: Callable[[_Other], _Value] | None = None
    ) -> Field[_Other]:
        """The field of what these values stand for; it is only read without the way back."""

        def write(writer: EntryWriter, value: _Other) -> None:
            self.write(writer, (back or partial(no_way_to_write, writer))(value))

        return Field(
            lambda cursor: to(self.read(cursor)), write, lambda parser: to(self.parse(parser))
        )


def list_of(item: Field[_Value]) -> Field[Sequence[_Value]]:
    """A count and as many items."""

    def write(writer: EntryWriter, values: Sequence[_Value]) -> None:
        writer.list(values, lambda value: item.write(writer, value))

    def parse(parser: AttrParser) -> Sequence[_Value]:
        items = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: item.parse(parser)
        )
        return tuple(items)

    return Field(lambda cursor: tuple(cursor.list(lambda: item.read(cursor))), write, parse)


def of_class(class_: type[_AttributeT]) -> Callable[[Attribute], _AttributeT]:
    """Checks the class of an attribute or type; raises VerifyException."""

    def checked(value: Attribute) -> _AttributeT:
        if not isinstance(value, class_):
            raise VerifyException(f"{value} stands where a {class_.name} is expected")
        return value

    return checked


ATTRIBUTE: Field[Attribute] = Field(
    lambda cursor: cursor.attribute(), lambda writer, value: writer.attribute(value)
)
TYPE: Field[Attribute] = Field(
    lambda cursor: cursor.type(), lambda writer, value: writer.type(value)
)


def attribute_of(class_: type[_AttributeT]) -> Field[_AttributeT]:
    """An attribute of a class."""
    return ATTRIBUTE.mapped(of_class(class_), lambda value: value)


STRING = Field(EntryCursor.string, EntryWriter.string)
VARINT = Field(EntryCursor.varint, EntryWriter.varint)
SIGNED = Field(EntryCursor.signed, EntryWriter.signed, AttrParser.parse_integer)
RAW_STRING: Field[bytes] = Field(
    lambda cursor: cursor.raw_string(), lambda writer, value: writer.raw_string(value)
)
TEXT_ATTRIBUTE = attribute_of(StringAttr)
DOUBLE = Field(EntryCursor.double, EntryWriter.double, AttrParser.parse_number)
ATTRIBUTES, TYPES, SIGNEDS = list_of(ATTRIBUTE), list_of(TYPE), list_of(SIGNED)
ELEMENTS: Field[ArrayAttr[Attribute]] = ATTRIBUTES.mapped(ArrayAttr, lambda value: value.data)
TYPE_LIST: Field[ArrayAttr[Attribute]] = TYPES.mapped(ArrayAttr, lambda value: value.data)
NUMBER: Field[IntAttr] = VARINT.mapped(IntAttr, lambda value: value.data)
ABSENT: Field[Attribute] = Field(lambda cursor: NoneAttr(), lambda writer, value: None)
"""Nothing, where a parameter may be absent."""


@dataclass(frozen=True)
class Encoding(Field[Any]):
    """How what follows the code of an attribute or type is read and written."""

    writes: Sequence[object] = ()
    """What is written so, as `code_of` looks for it: values, classes, or these with a parameter."""
    fields: Sequence[Field[Any]] = ()
    make: Callable[..., Attribute] = NoneAttr
    """Makes it of the values of its fields."""


def encoding(
    make: Callable[..., Attribute],
    parts: Callable[[Any], Sequence[Any]] | None,
    *fields: Field[Any],
    writes: Sequence[object] = (),
) -> Encoding:
    """
    The encoding of what is made of fields, one after the other, and comes apart into them; it is
    only read where `parts` is None.
    """

    def read(cursor: EntryCursor) -> Attribute:
        return make(*[field.read(cursor) for field in fields])

    def write(writer: EntryWriter, value: Any) -> None:
        listed = no_way_to_write(writer, value) if parts is None else parts(value)
        for field, part in zip(fields, listed, strict=True):
            field.write(writer, part)

    return Encoding(read, write, writes=writes, fields=fields, make=make)


def parameters(class_: type[ParametrizedAttribute], *fields: Field[Any]) -> Encoding:
    """The encoding of an attribute by its parameters, in their order."""
    writes = (class_, NoneAttr()) if fields[-1] is ABSENT else class_
    return encoding(
        lambda *values: class_.new(values), lambda value: value.parameters, *fields, writes=[writes]
    )


def constant(value: Attribute) -> Encoding:
    """The encoding of what has no fields."""
    return encoding(lambda: value, lambda _: (), writes=[value])


def only_read(make: Callable[..., Attribute], *fields: Field[Any]) -> Encoding:
    """The encoding of what is written in another way, or not at all."""
    return encoding(make, None, *fields)


Encodings: TypeAlias = Mapping[int, Encoding]
"""By code."""


def codes_of(encodings: Encodings) -> Mapping[object, int]:
    """The codes with which attributes or types are written, by what `Encoding.writes` has."""
    return {kind: code for code, each in encodings.items() for kind in each.writes}


def code_of(value: Attribute, codes: Mapping[object, int]) -> int | None:
    """The code that a value is written with; None where there is none."""
    last = value.parameters[-1:] if isinstance(value, ParametrizedAttribute) else ()
    kinds = value, (type(value), *last), type(value), isinstance(value, TypeAttribute)
    return next((codes[kind] for kind in kinds if kind in codes), None)


class UnwritableAttribute(XlaError):
    """An attribute that is read, and cannot be written."""


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


TEXT = encoding(
    text_attribute,
    lambda value: [bytes_of_text(value)],
    RAW_STRING,
    writes=[StringAttr, BytesAttr],
)
IS_TYPE = True
"""What `Encoding.writes` has for attributes that are types."""
TYPE_ATTRIBUTE = Encoding(TYPE.read, TYPE.write, writes=[IS_TYPE])


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
    except (SpellingError, NotImplementedError) as error:
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


def _read_entry(cursor: EntryCursor) -> tuple[str, Attribute]:
    return TEXT_ATTRIBUTE.read(cursor).data, cursor.attribute()


def _write_entry(writer: EntryWriter, entry: tuple[str, Attribute]) -> None:
    writer.attribute(StringAttr(entry[0]))
    writer.attribute(entry[1])


ENTRIES = list_of(Field(_read_entry, _write_entry))


def _dictionary(entries: Sequence[tuple[str, Attribute]]) -> Attribute:
    return DictionaryAttr(dict(entries))


def _typed_text(value: bytes, _: Attribute) -> Attribute:
    return text_attribute(value)


def _range(file: StringAttr, numbers: Sequence[int]) -> Attribute:
    """A place whose line and column may be left out; where it ends has no place in xDSL."""
    line, column, *_ = (*numbers, 0, 0)
    return FileLineColLoc(file, IntAttr(line), IntAttr(column))


_CHILD: Field[Attribute] = ATTRIBUTE.mapped(
    lambda child: NoneAttr() if isinstance(child, UnknownLoc) else child,
    lambda child: UnknownLoc() if isinstance(child, NoneAttr) else child,
)
_SYMBOL: Field[StringAttr] = attribute_of(SymbolRefAttr).mapped(
    lambda symbol: symbol.root_reference, SymbolRefAttr
)

BUILTIN_ATTRIBUTES: Encodings = {
    0: encoding(ArrayAttr, lambda value: [value.data], ATTRIBUTES, writes=[ArrayAttr]),
    1: encoding(
        _dictionary,
        lambda value: [value.data.items()],
        ENTRIES,
        writes=[DictionaryAttr],
    ),
    2: TEXT,
    3: only_read(_typed_text, RAW_STRING, TYPE),
    4: only_read(SymbolRefAttr, TEXT_ATTRIBUTE),
    5: encoding(
        SymbolRefAttr,
        lambda value: [value.root_reference, value.nested_references.data],
        TEXT_ATTRIBUTE,
        list_of(_SYMBOL),
        writes=[SymbolRefAttr],
    ),
    6: TYPE_ATTRIBUTE,
    7: constant(UnitAttr()),
    8: Encoding(read_integer, write_integer, writes=[IntegerAttr]),
    9: Encoding(read_float, write_float, writes=[FloatAttr]),
    10: parameters(CallSiteLoc, ATTRIBUTE, ATTRIBUTE),
    11: parameters(FileLineColLoc, TEXT_ATTRIBUTE, NUMBER, NUMBER),
    12: parameters(FusedLoc, ELEMENTS, ABSENT),
    13: parameters(FusedLoc, ELEMENTS, ATTRIBUTE),
    14: parameters(NameLoc, TEXT_ATTRIBUTE, _CHILD),
    15: constant(UnknownLoc()),
    16: Encoding(_read_resource),
    17: Encoding(_read_dense_array, _write_dense_array, writes=[DenseArrayBase]),
    18: Encoding(read_dense, write_dense, writes=[DenseIntOrFPElementsAttr]),
    22: only_read(_range, TEXT_ATTRIBUTE, list_of(VARINT)),
}
"""Those of programs; not among them are sparse and string literals, and distinct attributes."""

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


MAX_RANK = 256
"""Arrays of more dimensions are an error, as in texts."""


def _shape(sizes: Sequence[int]) -> ArrayAttr[IntAttr]:
    known = [DYNAMIC_INDEX if size == DYNAMIC_SIZE else size for size in sizes]
    if len(known) > MAX_RANK or any(size < 0 and size != DYNAMIC_INDEX for size in known):
        raise VerifyException("an array has too many dimensions, or a negative size")
    return ArrayAttr(map(IntAttr, known))


def _sizes(shape: ArrayAttr[IntAttr]) -> Sequence[int]:
    sizes = (each.data for each in shape)
    return [DYNAMIC_SIZE if size == DYNAMIC_INDEX else size for size in sizes]


SHAPE: Field[ArrayAttr[IntAttr]] = SIGNEDS.mapped(_shape, _sizes)


def _encoded_array(encoding: Attribute, shape: Attribute, type_: Attribute) -> Attribute:
    return TensorType[Attribute].new([shape, type_, encoding])


def _vector(shape: ArrayAttr[IntAttr], type_: Attribute) -> Attribute:
    return VectorType(cast(Any, type_), shape)


BUILTIN_TYPES: Encodings = {
    0: Encoding(
        _read_integer_type,
        lambda writer, value: writer.varint(
            value.width.data << 2 | _SIGNS.index(value.signedness.data)
        ),
        writes=[IntegerType],
    ),
    1: constant(IndexType()),
    2: parameters(FunctionType, TYPE_LIST, TYPE_LIST),
    3: constant(bf16),
    4: constant(f16),
    5: constant(f32),
    6: constant(f64),
    7: constant(f80),
    8: constant(f128),
    9: parameters(ComplexType, TYPE),
    12: constant(NoneType()),
    13: parameters(TensorType, SHAPE, TYPE, ABSENT),
    14: encoding(
        _encoded_array,
        lambda value: [value.encoding, value.shape, value.element_type],
        *(ATTRIBUTE, SHAPE, TYPE),
        writes=[TensorType],
    ),
    15: parameters(TupleType, TYPE_LIST),
    18: parameters(UnrankedTensorType, TYPE),
    19: only_read(_vector, SHAPE, TYPE),
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
