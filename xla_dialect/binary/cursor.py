"""Bytes of a file, read from left to right; what is wrong is an error at its offset."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NoReturn, TypeAlias, TypeVar

from xla_dialect.diagnostics import XlaError

_Item = TypeVar("_Item")


Definition: TypeAlias = Mapping[str, tuple[str, str, int]]
"""Fields by name: kind, name and number of each."""


def definitions(text: str) -> Mapping[str, Definition]:
    """
    Tables and messages by name, of lines `Name: kind field = number, kind* list = number`, which
    may go on in indented ones.
    """
    return {
        name: {field: (kind, field, int(n)) for kind, field, n in _FIELD.findall(body)}
        for name, body in _DEFINITION.findall(text)
    }


_DEFINITION = re.compile(r"^(\w+):((?:.|\n +)*)", re.MULTILINE)
_FIELD = re.compile(r"([\w*]+) (\w+) = (\d+)")


class BinaryError(XlaError):
    """A file that is damaged, or that has what cannot be read."""


class Cursor:
    """
    A place in a part of a file.

    Nothing is allocated for a size that the file states but does not have.
    """

    def __init__(self, data: bytes, file: str, start: int = 0, end: int | None = None):
        self.data = data
        self.file = file
        self.offset = start
        self.end = len(data) if end is None else end

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raises BinaryError at an offset of the file, by default at this place."""
        place = self.offset if offset is None else offset
        raise BinaryError(f"{self.file}: error: offset {place}: {message}")

    def check(self, holds: object, found: str, *values: object, at: int | None = None) -> None:
        """Raises BinaryError at an offset unless `holds`; `found` is a format for `values`."""
        if not holds:
            self.fail(found.format(*values), at)

    @property
    def is_done(self) -> bool:
        """Whether nothing of the part is left."""
        return self.offset >= self.end

    def bytes(self, size: int) -> bytes:
        """The next bytes."""
        start = self.offset
        if not 0 <= size <= self.end - start:
            self.fail(f"{size} bytes are expected, {self.end - start} are left")
        self.offset = start + size
        return self.data[start : start + size]

    def part(self, size: int) -> Cursor:
        """The next bytes as a part of their own; this one goes on behind it."""
        start = self.offset
        self.skip(size)
        return Cursor(self.data, self.file, start, start + size)

    def again(self) -> Cursor:
        """Another cursor at this place."""
        return Cursor(self.data, self.file, self.offset, self.end)

    def skip(self, size: int) -> None:
        """Leaves bytes out."""
        if not 0 <= size <= self.end - self.offset:
            self.fail(f"{size} bytes are expected, {self.end - self.offset} are left")
        self.offset += size

    def byte(self) -> int:
        """The next byte."""
        if self.offset >= self.end:
            self.fail("the file ends too early")
        self.offset += 1
        return self.data[self.offset - 1]

    def varint(self) -> int:
        """An integer of MLIR bytecode: the zeros below the lowest one count its further bytes."""
        first = self.byte()
        if first & 1:
            return first >> 1
        if first == 0:
            return int.from_bytes(self.bytes(8), "little")
        more = (first & -first).bit_length() - 1
        rest = int.from_bytes(self.bytes(more), "little")
        return (rest << 8 | first) >> (more + 1)

    def signed(self) -> int:
        """A signed integer of MLIR bytecode."""
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def flagged(self) -> tuple[int, bool]:
        """An integer with a flag in its lowest bit."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def count(self) -> int:
        """The number of things that follow; each has a byte or more."""
        start = self.offset
        count = self.varint()
        if count > self.end - self.offset:
            self.fail(f"{count} things are announced, {self.end - self.offset} bytes left", start)
        return count

    def list(self, item: Callable[[], _Item]) -> list[_Item]:
        """A count and as many items."""
        return [item() for _ in range(self.count())]

    def among(
        self, items: Sequence[_Item], number: int, what: str, start: int | None = None
    ) -> _Item:
        """The item with a number that was read, by default just now; raises BinaryError."""
        if number >= len(items):
            self.fail(f"there is no {what} {number}, but {len(items)} in all", start)
        return items[number]

    def blob(self) -> bytes:
        """A size and as many bytes."""
        return self.bytes(self.varint())

    def terminated(self) -> bytes:
        """Bytes up to a zero, which is left out."""
        end = self.data.find(b"\0", self.offset, self.end)
        if end < 0:
            self.fail("a text has no end")
        found = self.bytes(end - self.offset)
        self.skip(1)
        return found

    def text_of(self, data: bytes, what: str = "a text", offset: int | None = None) -> str:
        """Bytes of the file as text; raises BinaryError."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.fail(f"{what} is not UTF-8 text", offset)

    def align(self, alignment: int) -> None:
        """Leaves padding out, up to an offset that is a multiple."""
        if alignment < 1 or alignment & (alignment - 1):
            self.fail(f"an alignment of {alignment} bytes")
        self.skip(-self.offset % alignment)

    def fixed(self, form: str) -> int:
        """A little-endian integer, by its letter in `struct`."""
        return struct.unpack(f"<{form}", self.bytes(struct.calcsize(form)))[0]


class Writer:
    """Bytes of MLIR bytecode, written from left to right."""

    def __init__(self) -> None:
        self.data = bytearray()

    def varint(self, value: int) -> None:
        """Writes an integer in as few bytes as it takes."""
        size = max(1, (value.bit_length() + 6) // 7)
        if size > 8:
            self.data.append(0)
            self.data += value.to_bytes(8, "little")
        else:
            self.data += ((value << 1 | 1) << (size - 1)).to_bytes(size, "little")

    def signed(self, value: int) -> None:
        """Writes a signed integer."""
        self.varint(value << 1 if value >= 0 else (-value << 1) - 1)

    def blob(self, data: bytes) -> None:
        """Writes a size and bytes."""
        self.varint(len(data))
        self.data += data

    def list(self, items: Collection[_Item], write: Callable[[_Item], None]) -> None:
        """Writes a count and as many items."""
        self.varint(len(items))
        for item in items:
            write(item)

    def section(self, number: int, payload: bytes, alignment: int = 0) -> None:
        """Writes a section."""
        self.data.append(number)
        self.blob(payload)
