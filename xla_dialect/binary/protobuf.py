"""
The wire format of protocol buffers, read: numbers of fields, and varints or bytes for each.

The library `protobuf` (0.02 s to load) would need the definitions of all messages, generated or by
hand; what is read here are some hundred fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from xla_dialect.binary.cursor import Cursor

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Message:
    """The fields of a message by their numbers; messages inside are read when asked for."""

    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.start = cursor.offset
        self._fields: dict[int, list[int | Cursor]] = {}
        for number, value in fields(cursor):
            self._fields.setdefault(number, []).append(value)

    def has(self, number: int) -> bool:
        """Whether a field is there."""
        return number in self._fields

    def integer(self, number: int) -> int:
        """A number of up to 64 bits, signed; 0 where it is left out."""
        value = self._fields.get(number, (0,))[-1]
        if not isinstance(value, int):
            value.fail(f"field {number} is no number")
        return value

    def integers(self, number: int) -> list[int]:
        """A list of numbers, packed or not."""
        found: list[int] = []
        for value in self._fields.get(number, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            packed = Cursor(value.data, value.file, value.offset, value.end)
            while not packed.is_done:
                found.append(varint(packed))
        return found

    def bytes(self, number: int) -> bytes:
        """A text or bytes; empty where it is left out."""
        found = self.all_bytes(number)
        return found[-1] if found else b""

    def all_bytes(self, number: int) -> list[bytes]:
        """A list of texts or bytes."""
        return [part.data[part.offset : part.end] for part in self._parts(number)]

    def text(self, number: int) -> str:
        """A text; empty where it is left out."""
        try:
            return self.bytes(number).decode()
        except UnicodeDecodeError:
            self.cursor.fail(f"field {number} is not UTF-8 text", self.start)

    def float(self, number: int) -> float:
        """A number of 32 bits; 0 where it is left out."""
        data = self.bytes(number) or b"\0\0\0\0"
        if len(data) != 4:
            self.cursor.fail(f"field {number} has {len(data)} bytes, not 4", self.start)
        return struct.unpack("<f", data)[0]

    def double(self, number: int) -> float:
        """A number of 64 bits; 0 where it is left out."""
        data = self.bytes(number) or b"\0" * 8
        if len(data) != 8:
            self.cursor.fail(f"field {number} has {len(data)} bytes, not 8", self.start)
        return struct.unpack("<d", data)[0]

    def message(self, number: int) -> Message:
        """A message; one without fields where it is left out."""
        found = self.messages(number)
        return found[-1] if found else Message(Cursor(b"", self.cursor.file))

    def messages(self, number: int) -> list[Message]:
        """A list of messages."""
        return [
            Message(Cursor(part.data, part.file, part.offset, part.end))
            for part in self._parts(number)
        ]

    def _parts(self, number: int) -> Sequence[Cursor]:
        parts: list[Cursor] = []
        for value in self._fields.get(number, ()):
            if isinstance(value, int):
                self.cursor.fail(f"field {number} is a number", self.start)
            parts.append(value)
        return parts


def fields(cursor: Cursor) -> Iterator[tuple[int, int | Cursor]]:
    """The numbers and values of the fields of a message, one by one; raises BinaryError."""
    while not cursor.is_done:
        key = varint(cursor)
        number, wire = key >> 3, key & 7
        if not number:
            cursor.fail("a field has the number 0")
        if wire == _VARINT:
            yield number, varint(cursor)
        elif wire == _BYTES:
            yield number, cursor.part(varint(cursor))
        elif wire in (_FIXED32, _FIXED64):
            yield number, cursor.part(4 if wire == _FIXED32 else 8)
        else:
            cursor.fail(f"field {number} has the unknown wire type {wire}")


def varint(cursor: Cursor) -> int:
    """An integer of seven bits a byte, in two's complement of 64 bits."""
    value = shift = 0
    while True:
        byte = cursor.byte()
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 63:
            cursor.fail("a number has more than 64 bits")
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
