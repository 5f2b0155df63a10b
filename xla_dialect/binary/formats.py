"""Which binary formats there are, how files of them begin, and how each is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from xla_dialect.binary.bytecode import MAGIC, read_bytecode
from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.binary.hlo_module import is_module, read_snapshot
from xla_dialect.binary.jax_export import ExportedSignature, is_export, read_export
from xla_dialect.binary.proto import fields
from xla_dialect.hlo_text import read_hlo
from xla_dialect.stablehlo.reader import legalized, make_reading_context
from xla_dialect.xdsl.traversal import deep_recursion

Places: TypeAlias = dict[Operation, LocationAttr]
"""Where operations stand whose own location says something else."""


@dataclass(frozen=True)
class BinaryFormat:
    """A format that programs are read from."""

    name: str
    begins: Callable[[bytes], bool]
    """Whether data may be a file of it."""
    read: Callable[[bytes, str, Places], ModuleOp]
    """The program, for data and the name of their file; raises XlaError."""


def _read_bytecode(
    data: bytes, file_name: str, places: Places, signature: ExportedSignature | None = None
) -> ModuleOp:
    offsets: Places = {}
    module = read_bytecode(data, make_reading_context(), file_name, offsets)
    if signature is not None:
        module.attributes[SIGNATURE] = signature.attribute()
    return legalized(module, offsets, {}, places=places)


def _read_export(data: bytes, file_name: str, places: Places) -> ModuleOp:
    exported = read_export(data, file_name)
    return _read_bytecode(exported.artifact, file_name, places, exported.signature)


def _read_module(data: bytes, file_name: str, _: Places) -> ModuleOp:
    return read_hlo(read_snapshot(data, file_name).text, file_name)


SIGNATURE = "jax.export"
"""The attribute of a module with what a file of `jax.export` says beside the program."""

FORMATS = (
    BinaryFormat("MLIR bytecode", lambda data: data.startswith(MAGIC), _read_bytecode),
    BinaryFormat("jax.export", is_export, _read_export),
    BinaryFormat("HloModuleProto", is_module, _read_module),
)
"""In the order in which they are tried."""


def binary_format(data: bytes) -> BinaryFormat | None:
    """The format of data; None for texts, and for what is in none of the formats."""
    return next((each for each in FORMATS if each.begins(data)), None)


@deep_recursion()
def read_binary(data: bytes, file_name: str = "<bytes>", places: Places | None = None) -> ModuleOp:
    """
    The module of a program in a binary format, as `read_stablehlo` or `read_hlo` return it.

    Raises XlaError: BinaryError for damaged data and other formats, LocatedError with an offset for
    an operation that breaks a rule. `places` is filled as by `read_stablehlo`.
    """
    found = binary_format(data)
    if found is None:
        Cursor(data, file_name).fail("this is no program in a binary format")
    return found.read(data, file_name, {} if places is None else places)


# What files are that hold no program we read, by how they begin, and what to do with them.

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
