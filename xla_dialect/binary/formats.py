"""Which binary formats there are, how files of them begin, and the text that each is read as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xla_dialect.binary.bytecode import MAGIC
from xla_dialect.binary.hlo_module import is_module, read_snapshot
from xla_dialect.binary.jax_export import is_export, read_export
from xla_dialect.binary.program_text import text_of_module
from xla_dialect.binary.reading import read_bytecode


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
