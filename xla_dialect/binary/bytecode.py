"""
MLIR bytecode to a module.

A file is a list of sections. Attributes and types stand in tables, and are read when something
refers to them; what they refer to may stand further down. How each is encoded is its dialect's
matter: the dialects here are tables in modules of their own. What has no encoding of its own
stands as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.utils.exceptions import ParseError, VerifyException

from xla_dialect.binary.cursor import Cursor
from xla_dialect.binary.encodings import BUILTIN_ATTRIBUTES, BUILTIN_TYPES, Encodings, EntryCursor
from xla_dialect.binary.stablehlo_encodings import (
    QUANTIZED_TYPES,
    SHARDY_ATTRIBUTES,
    STABLEHLO_ATTRIBUTES,
    STABLEHLO_TYPES,
    VHLO_ATTRIBUTES,
    VHLO_TYPES,
)
from xla_dialect.binary.vhlo import (
    NEWEST,
    OLDEST,
    Operations,
    properties_of,
    version_text,
)
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.xdsl.creation import location_at
from xla_dialect.xdsl.traversal import deep_recursion

_AttributeT = TypeVar("_AttributeT", bound=Attribute)

MAGIC = b"ML\xefR"
"""How a file begins."""

NEWEST_VERSION = 6
"""Of the form of files."""

MAX_EXPANSION = 1 << 16
"""What an attribute stands for, all that it refers to written out, has no more parts."""

MAX_DEPTH = 384
"""Regions nested deeper are an error, as in texts."""

_STRINGS, _DIALECTS, _ENTRIES, _ENTRY_OFFSETS, _CODE, _BLOBS, _BLOB_OFFSETS, _, _PROPERTIES = range(
    9
)
"""The numbers of sections."""

_PRODUCER = re.compile(rb"StableHLO_v([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")
"""Who wrote a portable artifact."""

_NO_LINE = IntAttr(0)
_NOTHING = DictionaryAttr({})

_CAST = "builtin.unrealized_conversion_cast"

_BLOB_KIND = 0
"""The other kinds of resources are flags and texts."""

ENCODINGS: Mapping[str, tuple[Encodings, Encodings]] = {
    "builtin": (BUILTIN_ATTRIBUTES, BUILTIN_TYPES),
    "stablehlo": (STABLEHLO_ATTRIBUTES, STABLEHLO_TYPES),
    "sdy": (SHARDY_ATTRIBUTES, {}),
    "quant": ({}, QUANTIZED_TYPES),
    "vhlo": (VHLO_ATTRIBUTES, VHLO_TYPES),
}
"""The dialects with encodings of their own: those of attributes and of types."""


@dataclass
class _Entry:
    """An attribute or a type of the tables."""

    dialect: str
    is_type: bool
    is_encoded: bool
    """Whether by its dialect, rather than as text."""
    content: Cursor
    value: Attribute | None = None
    """None until it is read."""
    is_open: bool = False
    """Whether its reading has begun."""
    parts: int = 1
    """How many attributes it stands for, with all that it refers to."""


@deep_recursion()
def read_bytecode(
    data: bytes,
    context: Context,
    file_name: str = "<input>",
    places: dict[Operation, LocationAttr] | None = None,
) -> ModuleOp:
    """
    The module of a file of MLIR bytecode, with the operations that the context has.

    Portable artifacts of StableHLO (the dialect `vhlo`) become operations of StableHLO. The module
    is not verified. `places` receives the offset of each operation that has a location. Raises
    BinaryError.
    """
    code: _Code | None = None
    try:
        code = _Code(_Tables(data, context, file_name), {} if places is None else places)
        return code.module()
    except RecursionError:
        place = 0 if code is None else code.current
        Cursor(data, file_name).fail("something is nested too deeply", place)


class _Tables:
    """Everything of a file but its code."""

    def __init__(self, data: bytes, context: Context, file_name: str):
        self.file = Cursor(data, file_name)
        self.operations = Operations(context)
        self.sections: dict[int, Cursor] = {}
        self.version = self.read_head()
        self.strings = self.read_strings(self.section(_STRINGS))
        self.dialects: list[str] = []
        self.names: list[tuple[str, bool]] = []
        """Names of operations, and whether their dialects have them."""
        self.read_dialects(self.section(_DIALECTS))
        self.attributes: list[_Entry] = []
        self.types: list[_Entry] = []
        self.read_entries(self.section(_ENTRY_OFFSETS), self.section(_ENTRIES))
        self.resources = self.read_resources()
        self.properties = self.read_properties()

    def read_head(self) -> int:
        """Finds the sections; returns the version."""
        file = self.file
        file.check(file.bytes(len(MAGIC)) == MAGIC, "this is no MLIR bytecode", at=0)
        version = file.varint()
        file.check(
            version <= NEWEST_VERSION,
            "this is MLIR bytecode of version {}, the newest that is read is {}",
            version,
            NEWEST_VERSION,
            at=len(MAGIC),
        )
        start = file.offset
        written = _PRODUCER.fullmatch(file.terminated())
        if written is not None:
            numbers = tuple(map(int, written.groups()))
            file.check(
                OLDEST <= numbers <= NEWEST,
                ("this is a portable artifact of StableHLO {}; those of {} to {} are read"),
                ".".join(map(str, numbers)),
                version_text(OLDEST),
                version_text(NEWEST),
                at=start,
            )
        while not file.is_done:
            number, section = read_section(file)
            self.sections.setdefault(number, section)
        return version

    def section(self, number: int) -> Cursor:
        """A section that has to be there."""
        self.file.check(number in self.sections, "section {} is missing", number)
        return self.sections[number]

    def read_strings(self, section: Cursor) -> Sequence[bytes]:
        sizes = section.list(section.varint)
        strings = [section.bytes(size) for size in reversed(sizes)]
        section.check(all(string.endswith(b"\x00") for string in strings), "a string has no end")
        return [string[:-1] for string in strings]

    def string(self, number: int, cursor: Cursor) -> bytes:
        """The string with a number that the cursor has read."""
        return cursor.among(self.strings, number, "string")

    def read_dialects(self, section: Cursor) -> None:
        """Reads the names of dialects and of operations."""
        for _ in range(section.count()):
            number, has_version = self.flagged(section, 1, otherwise=False)
            self.dialects.append(section.text_of(self.string(number, section), "a name"))
            if has_version:
                read_section(section)
        if self.version >= 4:
            section.varint()  # The number of all names.
        while not section.is_done:
            dialect = self.dialect(section)
            for _ in range(section.count()):
                number, is_registered = self.flagged(section, 5, otherwise=True)
                name = section.text_of(self.string(number, section), "a name")
                self.names.append((f"{dialect}.{name}", is_registered))

    def flagged(self, cursor: Cursor, since: int, *, otherwise: bool) -> tuple[int, bool]:
        """An integer, with a flag in its lowest bit from a version on."""
        return cursor.flagged() if self.version >= since else (cursor.varint(), otherwise)

    def dialect(self, cursor: Cursor) -> str:
        """The dialect whose number stands here."""
        return cursor.among(self.dialects, cursor.varint(), "dialect")

    def read_entries(self, sizes: Cursor, entries: Cursor) -> None:
        """Finds attributes and types."""
        counts = sizes.varint(), sizes.varint()
        for table, count in zip((self.attributes, self.types), counts, strict=True):
            while len(table) < count:
                dialect = self.dialect(sizes)
                group = sizes.count()
                sizes.check(
                    0 < group <= count - len(table),
                    "{} entries, where {} are left",
                    group,
                    count - len(table),
                )
                for _ in range(group):
                    size, is_encoded = sizes.flagged()
                    content = entries.part(size)
                    table.append(_Entry(dialect, table is self.types, is_encoded, content))

    def read_resources(self) -> Sequence[bytes | None]:
        """The blobs that dialects refer to; None for one that is not here, or something else."""
        found: list[bytes | None] = []
        if _BLOB_OFFSETS not in self.sections:
            return found
        offsets, blobs = self.sections[_BLOB_OFFSETS], self.section(_BLOBS)
        external = offsets.count()
        while not offsets.is_done:
            offsets.varint()  # The dialect, or a name.
            is_external = external > 0
            external -= 1
            for _ in range(offsets.count()):
                offsets.varint()  # The name.
                size, kind = offsets.varint(), offsets.byte()
                resource = blobs.part(size)
                if is_external:
                    continue
                blob = None
                if size and kind == _BLOB_KIND:
                    alignment, length = resource.varint(), resource.varint()
                    resource.align(alignment)
                    blob = resource.bytes(length)
                found.append(blob)
        return found

    def read_properties(self) -> Sequence[Cursor]:
        """The properties of operations, one part for each set of values."""
        section = self.sections.get(_PROPERTIES)
        if section is None:
            return ()
        return [section.part(section.varint()) for _ in range(section.count())]

    def read_entry(self, entry: _Entry) -> Attribute:
        cursor = _TableCursor(self, entry.content)
        if not entry.is_encoded:
            return cursor.spelled(cursor.text_of(cursor.terminated()))
        encodings = ENCODINGS.get(entry.dialect)
        if encodings is None:
            cursor.fail(f"the dialect {entry.dialect} has an encoding that is not known")
        code = cursor.varint()
        encoding = encodings[entry.is_type].get(code)
        kind = "type" if entry.is_type else "attribute"
        if encoding is None:
            cursor.fail(f"{entry.dialect} has no {kind} with the code {code}", entry.content.offset)
        try:
            value = encoding.read(cursor)
        except VerifyException as error:
            cursor.fail(str(error), entry.content.offset)
        if entry.is_type and not isinstance(value, TypeAttribute):
            cursor.fail(f"{value} is no type", entry.content.offset)
        cursor.check(
            cursor.is_done, "{} bytes more than the {} has", cursor.end - cursor.offset, kind
        )
        entry.parts = cursor.parts
        return value


class _TableCursor(EntryCursor):
    """The bytes of an attribute, type or operation of a file."""

    def __init__(self, tables: _Tables, part: Cursor):
        super().__init__(part.data, part.file, part.offset, part.end)
        self.tables = tables
        self.parts = 1
        """How many attributes this stands for."""

    def entry(self, table: list[_Entry], number: int, start: int) -> Attribute:
        """The value of an entry, which counts as parts of this one."""
        kind = "type" if table is self.tables.types else "attribute"
        entry = self.among(table, number, kind, start)
        if entry.value is None:
            self.check(not entry.is_open, "an attribute or type is a part of itself", at=start)
            entry.is_open = True
            entry.value = self.tables.read_entry(entry)
        self.parts += entry.parts
        if self.parts > MAX_EXPANSION:
            self.fail(f"an attribute stands for more than {MAX_EXPANSION} attributes", start)
        return entry.value

    def attribute(self) -> Attribute:
        start = self.offset
        return self.entry(self.tables.attributes, self.varint(), start)

    def attribute_of(self, classes: type[_AttributeT] | UnionType, what: str) -> _AttributeT:
        """The attribute of a class, or of several, whose number stands here."""
        start = self.offset
        found = self.attribute()
        if not isinstance(found, classes):
            self.fail(f"{found} is no {what}", start)
        return cast(_AttributeT, found)

    def numbered_attribute(self, number: int, start: int) -> Attribute:
        return self.entry(self.tables.attributes, number, start)

    def type(self) -> Attribute:
        start = self.offset
        return self.entry(self.tables.types, self.varint(), start)

    def raw_string(self) -> bytes:
        return self.tables.string(self.varint(), self)

    def resource(self) -> bytes:
        start = self.offset
        blob = self.among(self.tables.resources, self.varint(), "resource", start)
        if blob is None:
            self.fail("this resource has no bytes in this file", start)
        return blob

    def spelled(self, text: str) -> Attribute:
        try:
            return self.tables.operations.attribute(text)
        except ParseError as error:
            self.fail(f"{text}: {error.msg.strip()}")


def read_section(cursor: Cursor) -> tuple[int, Cursor]:
    """Steps over a section; returns its number and its content."""
    head = cursor.byte()
    size = cursor.varint()
    if head & 0x80:
        cursor.align(cursor.varint())
    return head & 0x7F, cursor.part(size)


class _Code:
    """The operations of a file."""

    def __init__(self, tables: _Tables, places: dict[Operation, LocationAttr]):
        self.tables = tables
        self.places = places
        self._file = StringAttr(tables.file.file)
        self.make = tables.operations
        self.values: dict[int, SSAValue] = {}
        """Those that are visible at this place, by number."""
        self.depth = 0
        self.current = 0
        """The offset of the operation that is being read."""

    def module(self) -> ModuleOp:
        """The one operation at the top."""
        section = self.tables.section(_CODE)
        cursor = _TableCursor(self.tables, section)
        block = Block()
        self.block(cursor, block, 0, 0)
        module = block.first_op
        if not isinstance(module, ModuleOp) or module.next_op is not None:
            cursor.fail("the file has something else than one builtin.module", section.offset)
        module.detach()
        return module

    def block(self, cursor: _TableCursor, block: Block, next_: int, free: int) -> int:
        """
        Fills a block, whose values have numbers from `next_` on, and those of regions inside from
        `free` on; returns the number behind its last value.
        """
        count, has_arguments = cursor.flagged()
        if has_arguments:
            for _ in range(cursor.count()):
                self.argument(cursor, block)
            if self.tables.version >= 3 and cursor.byte():
                skip_use_orders(cursor, len(block.args))
        next_ = self.define(block.args, next_)
        for _ in range(count):
            next_ = self.operation(cursor, block, next_, free)
        return next_

    def argument(self, cursor: _TableCursor, block: Block) -> None:
        """Adds an argument to a block."""
        start = cursor.offset
        number, has_location = self.tables.flagged(cursor, 4, otherwise=True)
        cursor.parts = 1
        argument = block.insert_arg(cursor.entry(self.tables.types, number, start), len(block.args))
        if has_location:
            cursor.parts = 1
            argument.location = cursor.attribute_of(LocationAttr, "location")

    def define(self, values: Sequence[SSAValue], next_: int) -> int:
        """Gives values their numbers; returns the next one."""
        self.values.update(enumerate(values, next_))
        return next_ + len(values)

    def operation(self, cursor: _TableCursor, block: Block, next_: int, free: int) -> int:
        """Adds an operation to a block; returns the number behind its results."""
        self.current = start = cursor.offset
        name, is_registered = cursor.among(
            self.tables.names, cursor.varint(), "name of an operation", start
        )
        mask = cursor.byte()
        cursor.parts = 1
        location: LocationAttr = cursor.attribute_of(LocationAttr, "location")
        cursor.parts = 1
        given = cursor.attribute_of(DictionaryAttr, "dictionary") if mask & 1 else _NOTHING
        properties = self.properties(cursor, name, is_registered) if mask & 64 else _NOTHING.data
        types = cursor.list(cursor.type) if mask & 2 else []
        operands = cursor.list(lambda: self.operand(cursor)) if mask & 4 else []
        cursor.check(
            not mask & 8 or not cursor.count(),
            "{} has successors, which are not read",
            name,
            at=start,
        )
        if mask & 32:
            skip_use_orders(cursor, len(types))
        if name == _CAST and [operand.type for operand in operands] == types:
            # Between the types of VHLO and those of other dialects, which are the same here.
            return self.define(operands, next_)
        regions = self.regions(cursor, free) if mask & 16 else []
        try:
            op = self.make(name, operands, types, properties, given.data, regions)
            if isinstance(op, StableHloOp):
                op.complete()
        except (VerifyException, ParseError) as error:
            cursor.fail(f"{name}: {error}", start)
        place = location_at(self._file, _NO_LINE, IntAttr(start))
        if isinstance(location, UnknownLoc):
            op.location = place
        else:
            op.location, self.places[op] = location, place
        block.add_op(op)
        return self.define(op.results, next_)

    def operand(self, cursor: _TableCursor) -> SSAValue:
        """The value whose number stands here."""
        start = cursor.offset
        number = cursor.varint()
        if number not in self.values:
            cursor.fail(f"value {number} is not defined before this use", start)
        return self.values[number]

    def properties(
        self, cursor: _TableCursor, name: str, is_registered: bool
    ) -> Mapping[str, Attribute]:
        """The properties whose number stands here."""
        start = cursor.offset
        part = cursor.among(self.tables.properties, cursor.varint(), "set of properties", start)
        values = _TableCursor(self.tables, part)
        if not is_registered:
            return values.attribute_of(DictionaryAttr, "dictionary").data
        count = 0
        while not values.is_done:
            values.varint()
            count += 1
        values.offset = part.offset
        operation = self.make.class_of(name)
        listed = [each for each in properties_of(name, operation) if len(each) == count]
        cursor.check(listed, "{} with {} properties is not known", name, count, at=start)
        found: dict[str, Attribute] = {}
        for each, is_optional in listed[0]:
            value = values.optional_attribute() if is_optional else values.attribute()
            if value is not None:
                found[each] = value
        return found

    def regions(self, cursor: _TableCursor, free: int) -> list[Region]:
        """The regions of an operation, whose values have numbers from `free` on."""
        count, is_isolated = cursor.flagged()
        cursor.check(count <= cursor.end - cursor.offset, "{} regions are announced", count)
        self.depth += 1
        cursor.check(self.depth <= MAX_DEPTH, "regions are nested more than {} deep", MAX_DEPTH)
        around = self.values
        if is_isolated:
            self.values, free = {}, 0
            if self.tables.version >= 2:
                _, section = read_section(cursor)
                cursor = _TableCursor(self.tables, section)
        regions = [self.region(cursor, free) for _ in range(count)]
        self.values = around
        self.depth -= 1
        return regions

    def region(self, cursor: _TableCursor, first: int) -> Region:
        """One region, whose values have numbers from `first` on."""
        blocks = [Block() for _ in range(cursor.count())]
        if not blocks:
            return Region()
        next_, end = first, first + cursor.varint()
        for block in blocks:
            next_ = self.block(cursor, block, next_, end)
        cursor.check(
            next_ <= end, "a region has {} values, {} are announced", next_ - first, end - first
        )
        for number in range(first, next_):
            del self.values[number]
        return Region(blocks)


def skip_use_orders(cursor: Cursor, values: int) -> None:
    """Steps over the order in which values are used, which is the order of reading here."""
    count = cursor.varint() if values > 1 else 1
    for _ in range(count):
        if values > 1:
            cursor.varint()
        length, _ = cursor.flagged()
        for _ in range(length):
            cursor.varint()
