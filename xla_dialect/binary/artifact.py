"""
A module of StableHLO to a portable artifact: bytecode of VHLO, for a version of StableHLO.

Attributes and types get their numbers as they are met; those of other dialects stand as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects.builtin import (
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.binary.bytecode import ENCODINGS, MAGIC
from xla_dialect.binary.cursor import Writer
from xla_dialect.binary.encodings import (
    EntryWriter,
    UnwritableAttribute,
    code_of,
    codes_of,
)
from xla_dialect.binary.vhlo import (
    NEWEST,
    OF_FUNC,
    Version,
    VhloOp,
    integers_in,
    properties_of,
    row_of,
    version_text,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.sharding.attributes import MESHES
from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.xdsl.traversal import deep_recursion

FIRST_WRITTEN: Version = (1, 0, 0)
"""The oldest version that is written: older ones have other forms of files."""

_FORM = 6
"""The version of bytecode that these have."""


class UnwritableProgram(XlaError):
    """A program that a version of StableHLO does not have."""


@deep_recursion()
def write_artifact(module: ModuleOp, version: Version) -> bytes:
    """
    The portable artifact of a module of StableHLO, as `stablehlo_module` makes it, for a version of
    it: `(1, 7, 0)`.

    Raises XlaError for what the version does not have.
    """
    if not FIRST_WRITTEN <= version <= NEWEST:
        raise UnwritableProgram(
            f"StableHLO {version_text(version)} is not written, only {version_text(FIRST_WRITTEN)} "
            f"to {version_text(NEWEST)}"
        )
    return _File(version).write(module)


_Key = TypeVar("_Key")


class _Numbers(dict[_Key, int]):
    """The numbers of things, given in the order in which they are asked for."""

    def __missing__(self, key: _Key) -> int:
        self[key] = number = len(self)
        return number


_Encoded: TypeAlias = tuple[int, bool, bytes]
"""The number of a dialect, whether it encodes an attribute or type, and bytes."""


class _File:
    """The tables of a file."""

    def __init__(self, version: Version):
        self.version = version
        self.strings = _Numbers[bytes]()
        self.dialects = _Numbers[str]()
        self.names = _Numbers[str]()
        self.numbers = dict[object, int](), dict[object, int]()
        """Those of attributes, and of types."""
        self.entries = list[_Encoded](), list[_Encoded]()
        """Attributes, and types."""
        self.properties = _Numbers[bytes]()

    def write(self, module: ModuleOp) -> bytes:
        """The bytes of a module."""
        code = _Code(self)
        code.varint(1 << 1)  # A block with one operation, and no arguments.
        code.operation(module, 0)
        file = Writer()
        file.data += MAGIC
        file.varint(_FORM)
        file.data += f"StableHLO_v{version_text(self.version)}\0".encode()
        sections = {1: self.dialect_section(), 3: self.offset_section()}
        entries = b"".join(data for kind in self.entries for _, _, data in kind)
        for number, payload in (*sections.items(), (2, entries), (4, bytes(code.data))):
            file.section(number, payload)
        file.section(0, self.string_section())
        file.section(8, self.property_section())
        return bytes(file.data)

    def number(
        self,
        key: object,
        is_type: bool,
        dialect: str,
        write: Callable[[_Entry], None],
        is_encoded: bool = True,
    ) -> int:
        """The number of an attribute or type, which is written when it is met first."""
        numbers, entries = self.numbers[is_type], self.entries[is_type]
        if key not in numbers:
            numbers[key] = number = len(entries)
            prefix = self.dialects[dialect], is_encoded
            entries.append((*prefix, b""))
            entry = _Entry(self, dialect)
            write(entry)
            entries[number] = (*prefix, bytes(entry.data))
        return numbers[key]

    def text(self, value: Attribute) -> int:
        """The number of an attribute that stands as text."""

        def write(entry: _Entry) -> None:
            entry.data += str(value).encode() + b"\0"

        dialect = value.name.split(".")[0]
        return self.number((value, "text"), False, dialect, write, is_encoded=False)

    def dialect_section(self) -> bytes:
        by_dialect = [(self.dialects[name.split(".")[0]], name) for name in self.names]
        writer = Writer()

        def write_name(entry: tuple[int, str]) -> None:
            writer.varint(self.strings[entry[1].split(".", 1)[1].encode()] << 1 | 1)

        writer.list(self.dialects, lambda name: writer.varint(self.strings[name.encode()] << 1))
        writer.varint(len(by_dialect))
        _write_groups(writer, by_dialect, write_name)
        return bytes(writer.data)

    def offset_section(self) -> bytes:
        writer = Writer()
        for entries in self.entries:
            writer.varint(len(entries))
        for entries in self.entries:
            _write_groups(writer, entries, lambda each: writer.varint(len(each[2]) << 1 | each[1]))
        return bytes(writer.data)

    def string_section(self) -> bytes:
        writer = Writer()
        writer.list([*reversed(self.strings)], lambda text: writer.varint(len(text) + 1))
        writer.data += b"".join(text + b"\0" for text in self.strings)
        return bytes(writer.data)

    def property_section(self) -> bytes:
        writer = Writer()
        writer.list(self.properties, writer.blob)
        return bytes(writer.data)


_Grouped = TypeVar("_Grouped", bound=tuple[Any, ...])


def _write_groups(
    writer: Writer, entries: Iterable[_Grouped], write: Callable[[_Grouped], None]
) -> None:
    """Writes entries that begin with the numbers of their dialects, those of one together."""
    for dialect, group in groupby(entries, lambda each: each[0]):
        writer.varint(dialect)
        writer.list(list(group), write)


class _Entry(EntryWriter):
    """Writes an attribute, a type or an operation; what it refers to is VHLO's, or builtin."""

    def __init__(self, file: _File, mode: str):
        super().__init__()
        self.file = file
        self.mode = mode

    def attribute(self, value: Attribute) -> None:
        self.varint(self.number(value))

    def number(self, value: Attribute) -> int:
        """The number of an attribute."""
        if isinstance(value, HloShardingAttr):
            value = StringAttr(value.data.text)
        code = code_of(value, _CODES[self.mode][0])
        if code is None and "." in value.name:
            return self.file.text(value)
        return self.encoded(value, False, code)

    def type(self, value: Attribute) -> None:
        self.varint(self.type_number(value))

    def type_number(self, value: Attribute) -> int:
        """The number of a type."""
        return self.encoded(value, True, code_of(value, _CODES[self.mode][1]))

    def encoded(self, value: Attribute, is_type: bool, code: int | None) -> int:
        """The number of what is written by its dialect."""
        if code is None:
            raise UnwritableAttribute(f"{value} cannot be written as bytecode")

        def write(entry: _Entry) -> None:
            entry.varint(code)
            ENCODINGS[self.mode][is_type][code].write(entry, value)

        return self.file.number((self.mode, value), is_type, self.mode, write)

    def raw_string(self, value: bytes) -> None:
        self.varint(self.file.strings[value])


_CODES = {mode: list(map(codes_of, ENCODINGS[mode])) for mode in ("builtin", "vhlo")}
"""Those that attributes, and types, are written with."""


class _Code(_Entry):
    """The operations of a block or region that is isolated, or of the whole file."""

    def __init__(self, file: _File):
        super().__init__(file, "vhlo")
        self.values: dict[SSAValue, int] = {}

    def block(self, block: Block, free: int) -> None:
        """Writes a block; values of regions inside have numbers from `free` on."""
        ops = list(block.ops)
        self.varint(len(ops) << 1 | bool(block.args))
        if block.args:
            self.list(block.args, self.argument)
            self.data.append(0)
        for op in ops:
            self.operation(op, free)

    def argument(self, argument: BlockArgument) -> None:
        """Writes the type of an argument and its location."""
        self.varint(self.type_number(argument.type) << 1 | 1)
        self.location(argument.location)

    def location(self, location: Attribute) -> None:
        """Writes the number of a location."""
        _Entry.varint(self, _Entry(self.file, "builtin").number(location))

    def operation(self, op: Operation, free: int) -> None:
        """Writes an operation."""
        name, values, rest = self.lowered(op)
        mode = "vhlo" if name.startswith("vhlo.") else "builtin"
        is_isolated = name in _ISOLATED
        mask = (
            bool(rest)
            | 64 * bool(values is not None)
            | 2 * bool(op.results)
            | 4 * bool(op.operands)
            | 16 * bool(op.regions)
        )
        self.varint(self.file.names[name])
        self.data.append(mask)
        self.location(op.location)
        if rest:
            self.varint(self.dictionary(rest, mode))
        if values is not None:
            self.varint(self.file.properties[values])
        if op.results:
            self.list(op.results, lambda result: self.type(result.type))
        if op.operands:
            self.list(op.operands, lambda operand: self.varint(self.values[operand]))
        if op.regions:
            self.varint(len(op.regions) << 1 | is_isolated)
            inner = _Code(self.file) if is_isolated else self
            for region in op.regions:
                inner.region(region, 0 if is_isolated else free)
            if is_isolated:
                self.section(4, bytes(inner.data))

    def region(self, region: Region, first: int) -> None:
        """Writes a region, whose values have numbers from `first` on."""
        self.varint(len(region.blocks))
        if not region.blocks:
            return
        values = [
            value
            for block in region.blocks
            for value in (*block.args, *(result for op in block.ops for result in op.results))
        ]
        self.values |= {value: first + i for i, value in enumerate(values)}
        self.varint(len(values))
        for block in region.blocks:
            self.block(block, first + len(values))

    def dictionary(self, entries: Mapping[str, Attribute], mode: str) -> int:
        """The number of a dictionary: names are builtin, values of a mode."""

        def write(entry: _Entry) -> None:
            entry.varint(1)
            entry.list(sorted(entries.items()), lambda item: write_item(entry, *item))

        def write_item(entry: _Entry, name: str, value: Attribute) -> None:
            entry.attribute(StringAttr(name))
            entry.varint(_Entry(self.file, mode).number(value))

        key = (mode, "dictionary", DictionaryAttr(dict(entries)))
        return self.file.number(key, False, "builtin", write)

    def lowered(self, op: Operation) -> tuple[str, bytes | None, Mapping[str, Attribute]]:
        """The name of an operation in VHLO, its properties in bytes, and its other attributes."""
        given = {**op.attributes, **op.properties}
        given.pop(MESHES, None)
        name = _NAMES.get(op.name, op.name.removeprefix("stablehlo."))
        is_shardy = name.startswith("sdy.")
        if is_shardy and (op.operands or op.results or op.regions):
            raise UnwritableProgram(
                f"{op.name} is not written; of Shardy, portable artifacts have only meshes and "
                "the shardings of StableHLO's operations"
            )
        if is_shardy or name == ModuleOp.name:
            return name, self.blob_of(name, type(op), given, "builtin"), given
        if name == op.name:
            raise UnwritableProgram(f"{op.name} is no operation of StableHLO, and is not written")
        row = row_of(name)
        revision = row.revision if self.file.version >= row.revised else row.revision - 1
        if self.file.version < row.first or not revision:
            raise UnwritableProgram(
                f"{op.name} is not in StableHLO {version_text(self.file.version)}, but from "
                f"{version_text(row.first)} on"
            )
        found = self.attributes_of(op, row, revision, given)
        name = f"vhlo.{name}_v{revision}"
        return name, self.blob_of(name, None, found, "vhlo") if found else None, given

    def attributes_of(
        self, op: Operation, row: VhloOp, revision: int, given: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """What VHLO has for the properties of an operation, taken from what it is given."""
        window = given.get("window_dimensions")
        rank = len(integers_in(window)) if window is not None else _rank(op) - 2
        found: dict[str, Attribute] = {}
        for part in row.parts:
            try:
                values = part.write(given.pop(part.native, None), max(rank, 0))
            except VerifyException as error:
                raise UnwritableProgram(f"{op.name}: {error}") from None
            for name, value in zip(part.names, values, strict=True):
                if name not in part.newer or revision == row.revision:
                    found[name] = value
                elif value != part.newer[name]:
                    raise UnwritableProgram(
                        f"{op.name}: {name} is {value}, which is in StableHLO from "
                        f"{version_text(row.revised)} on, not in {version_text(self.file.version)}"
                    )
        return found

    def blob_of(
        self,
        name: str,
        operation: type[Operation] | None,
        given: dict[str, Attribute],
        mode: str,
    ) -> bytes:
        """The properties of an operation as bytes, taken from what it is given."""
        entry = _Entry(self.file, mode)
        for each, is_optional in properties_of(name, operation)[0]:
            value = given.pop(each, None)
            if is_optional:
                entry.varint(0 if value is None else entry.number(value) << 1 | 1)
            elif value is not None:
                entry.attribute(value)
        return bytes(entry.data)


def _rank(op: Operation) -> int:
    type_ = op.operands[-1].type if op.operands else None
    return len(type_.get_shape()) if isinstance(type_, TensorType) else 0


_ISOLATED = ("builtin.module", "vhlo.func_v1")
_NAMES = {"func.return": "return", **{name: base for base, name in OF_FUNC.items()}}
