"""Which binary formats there are, how files of them begin, and the text that each is read as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from itertools import islice

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import ParseError

from xla_dialect.binary import bytecode
from xla_dialect.binary.artifact import write_artifact
from xla_dialect.binary.bytecode import MAGIC
from xla_dialect.binary.cursor import BinaryError, Cursor
from xla_dialect.binary.hlo_module import fields, is_module, read_snapshot
from xla_dialect.binary.jax_export import is_export, read_export
from xla_dialect.binary.vhlo import Version, read_vhlo
from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.reader import make_reading_context
from xla_dialect.xdsl.text import MlirPrinter
from xla_dialect.xdsl.traversal import deep_recursion

# The text of a program that was read from bytes: what all tools go on with.

_LOCATIONS = (CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc)

_MOST_CHARACTERS = 256
"""A text has no more characters for each byte of its file."""

_LEAST = 1 << 20
"""Characters that any text may have."""


class _BoundedText(StringIO):
    """A text that does not grow out of proportion to the file that it is made from."""

    def __init__(self, file: str, size: int):
        super().__init__()
        self.file = file
        self.left = _LEAST + _MOST_CHARACTERS * size

    def write(self, text: str, /) -> int:
        """Adds a text; raises BinaryError where it becomes too long."""
        self.left -= len(text)
        if self.left < 0:
            message = f"the text of the program has over {_MOST_CHARACTERS} characters for a byte"
            raise BinaryError(f"{self.file}: error: {message}")
        return super().write(text)


class _AliasPrinter(MlirPrinter):
    """Prints generic forms, and each location once, as an alias."""

    def __init__(self, output: StringIO):
        super().__init__(output, print_generic_format=True, print_debuginfo=True)
        self.aliases: dict[Attribute, str] = {}

    def print_attribute(self, attribute: Attribute) -> None:
        """Prints an attribute, a type, or the alias of a location."""
        if not isinstance(attribute, _LOCATIONS):
            super().print_attribute(attribute)
            return
        alias = self.aliases.setdefault(attribute, f"#loc{len(self.aliases)}")
        self.print_string(alias if self.printing_location else f"loc({alias})")

    def print_aliases(self) -> None:
        """Prints what the aliases stand for; those may have more aliases in them."""
        pending = list(self.aliases.items())
        while pending:
            known = len(self.aliases)
            for location, alias in pending:
                self.print_string(f"\n{alias} = ")
                super().print_attribute(location)
            pending = list(self.aliases.items())[known:]


@deep_recursion()
def text_of_module(module: ModuleOp, file_name: str, size: int) -> str:
    """The text of a module that was read from a file of `size` bytes; raises BinaryError."""
    output = _BoundedText(file_name, size)
    printer = _AliasPrinter(output)
    printer.print_op(module)
    printer.print_aliases()
    return output.getvalue()


# Bytes to a module of StableHLO's operations, and back.


def read_bytecode(data: bytes, file_name: str = "<bytes>") -> ModuleOp:
    """
    The module of MLIR bytecode, as `write_bytecode` and `serialize_portable_artifact` make it.

    It has operations of StableHLO, those of a portable artifact upgraded, and is not verified:
    `read_stablehlo` verifies its text. Raises BinaryError.
    """
    return bytecode.read_bytecode(data, make_reading_context(), file_name)


def stablehlo_of_vhlo(text: str, file_name: str = "<input>") -> str:
    """The text in StableHLO of a program in VHLO; raises LocatedError."""
    module = read_vhlo(text, make_reading_context(), file_name)
    return text_of_module(module, file_name, len(text))


def artifact_of_stablehlo(text: str, version: Version) -> bytes:
    """
    The portable artifact of a program in StableHLO, for a version of it: `(1, 7, 0)`.

    The text is one that `read_stablehlo` reads, or `print_stablehlo` prints. Raises XlaError for
    what the version does not have.
    """
    context = make_reading_context()
    try:
        module = StableHloParser(context, text, "<stablehlo>").parse_module()
    except ParseError as error:
        message, start = error.msg.strip(), error.span.start
        raise LocatedError.at_offset(message, "<stablehlo>", text, start) from None
    return write_artifact(module, context, version)


@dataclass(frozen=True)
class BinaryFormat:
    """A format that programs are read from."""

    name: str
    begins: Callable[[bytes], bool]
    """Whether data may be a file of it."""
    text: Callable[[bytes, str], str]
    """The text of the program, for data and the name of their file; raises BinaryError."""


def _text_of_bytecode(data: bytes, file_name: str) -> str:
    return text_of_module(read_bytecode(data, file_name), file_name, len(data))


def _text_of_export(data: bytes, file_name: str) -> str:
    exported = read_export(data, file_name)
    module = read_bytecode(exported.artifact, file_name)
    module.attributes[SIGNATURE] = exported.signature.attribute()
    return text_of_module(module, file_name, len(data))


def _text_of_module(data: bytes, file_name: str) -> str:
    return read_snapshot(data, file_name).text


SIGNATURE = "jax.export"
"""The attribute of a module with what a file of `jax.export` says beside the program."""

FORMATS = (
    BinaryFormat("MLIR bytecode", lambda data: data.startswith(MAGIC), _text_of_bytecode),
    BinaryFormat("jax.export", is_export, _text_of_export),
    BinaryFormat("HloModuleProto", is_module, _text_of_module),
)
"""In the order in which they are tried."""


def binary_format(data: bytes) -> BinaryFormat | None:
    """The format of data; None for texts, and for what is in none of the formats."""
    return next((each for each in FORMATS if each.begins(data)), None)


def text_of_binary(data: bytes, file_name: str = "<bytes>") -> str | None:
    """The text of a program in a binary format; None for other data. Raises BinaryError."""
    found = binary_format(data)
    return None if found is None else found.text(data, file_name)


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
