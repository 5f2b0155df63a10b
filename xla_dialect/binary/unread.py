"""What files are that hold no program we read, by how they begin, and what to do with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.binary.protobuf import fields

_UNPACK = "unpack it first"
_AS_TEXT = (
    "XLA writes text with XLA_FLAGS=--xla_dump_hlo_as_text, and "
    "`jax.jit(f).lower(*args).as_text()` gives it"
)


@dataclass(frozen=True)
class UnreadFormat:
    """A format that no program is read from."""

    name: str
    begins: bytes | Callable[[bytes], bool]
    """How data of it begin, or whether they are of it."""
    advice: str
    """What can be done with them."""

    def has(self, data: bytes) -> bool:
        """Whether data are of this format."""
        if isinstance(self.begins, bytes):
            return data.startswith(self.begins)
        return self.begins(data)


def _is_flat_buffer(data: bytes) -> bool:
    return data[4:8] == b"TFL3"


_MOST_FIELDS = 64


def _is_protocol_buffer(data: bytes) -> bool:
    """Whether data are fields of a message up to their end, or many of them."""
    try:
        return bool(list(islice(fields(Cursor(data, "")), _MOST_FIELDS)))
    except BinaryError:
        return False


UNREAD = (
    UnreadFormat("a zip archive", b"PK\x03\x04", _UNPACK),
    UnreadFormat("compressed by gzip", b"\x1f\x8b", _UNPACK),
    UnreadFormat("compressed by zstd", b"\x28\xb5\x2f\xfd", _UNPACK),
    UnreadFormat("compressed by xz", b"\xfd7zXZ\0", _UNPACK),
    UnreadFormat("compressed by bzip2", b"BZh", _UNPACK),
    UnreadFormat(
        "an array of numpy", b"\x93NUMPY", "it is an input: xla-run PROGRAM --input @FILE"
    ),
    UnreadFormat("LLVM bitcode", b"BC\xc0\xde", "it has no HLO"),
    UnreadFormat("machine code (ELF)", b"\x7fELF", "it has no HLO"),
    UnreadFormat("an HDF5 file", b"\x89HDF", "it has weights, not a program"),
    UnreadFormat("a picture", b"\x89PNG", "it has no HLO"),
    UnreadFormat("a pickle of Python", b"\x80\x04", "it is not read, as it could run anything"),
    UnreadFormat("a pickle of Python", b"\x80\x05", "it is not read, as it could run anything"),
    UnreadFormat("UTF-16 text", b"\xff\xfe", "save it as UTF-8"),
    UnreadFormat("UTF-16 text", b"\xfe\xff", "save it as UTF-8"),
    UnreadFormat("a model of TensorFlow Lite", _is_flat_buffer, _AS_TEXT),
    UnreadFormat("a protocol buffer", _is_protocol_buffer, _AS_TEXT),
)
"""In the order in which they are tried."""


def unread_format(data: bytes) -> UnreadFormat | None:
    """What data are that are neither text nor read; None if that is not known."""
    return next((each for each in UNREAD if each.has(data)), None)
