"""A program as text or bytes, from a file or its author."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lowerings.driver import InputFormat
    from xla_dialect.mlir_text import Resources


ProgramText: TypeAlias = str | bytes
"""A program as text, or its bytes in a binary format."""


class UnreadableFile(XlaError):
    """A file that cannot be opened or is not text."""


def read_program(path: str | Path) -> ProgramText:
    """The text of a program, or its bytes in a binary format; raises XlaError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: error: {error.strerror}") from None
    return program_of(data, str(path))


def program_of(data: bytes, file_name: str) -> ProgramText:
    """The text that data are, or the data in a binary format that is read; raises XlaError."""
    if _CONTROL.search(data, 0, _BEGINNING):
        # It loads the reader of StableHLO (0.5 s), and texts do not need it.
        from xla_dialect.binary import binary_format  # noqa: PLC0415

        if binary_format(data) is not None:
            return data
    return text_of(data, file_name)


def text_of(data: bytes, file_name: str) -> str:
    """The text that data are, without a byte-order mark; raises XlaError."""
    if _CONTROL.search(data, 0, _BEGINNING):
        _require_text(data, file_name)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        _require_text(data, file_name)
        raise UnreadableFile(f"{file_name}: error: not UTF-8 text (byte {error.start})") from None


def _require_text(data: bytes, file_name: str) -> None:
    from xla_dialect.binary.formats import unread_format  # noqa: PLC0415

    found = unread_format(data)
    if found is not None:
        raise UnreadableFile(
            f"{file_name}: error: this is {found.name}, no program: {found.advice}"
        )


_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
"""What no text has, and any binary file near its beginning."""
_BEGINNING = 1 << 10


@dataclass(frozen=True)
class Source:
    """The text of a program, or its bytes, and where it is from."""

    text: ProgramText
    file_name: str = "<input>"
    input_format: InputFormat | None = None
    given: Resources | None = None
    """Of StableHLO, the elements of resources, whose names in the text have to tell them apart."""
    outlined: bool = False
    """Whether equal parts of StableHLO become functions, as `outline_equal_parts` finds them."""

    @staticmethod
    def of(
        text_or_path: str | bytes | Path | ModuleOp, input_format: InputFormat | None = None
    ) -> Source:
        """
        A program given as text, as the bytes of a file, as the path of a file, or as a module.

        A string with a line break, or one that names no file, is taken as text. Raises XlaError.
        """
        if isinstance(text_or_path, bytes):
            return Source(program_of(text_or_path, "<bytes>"), input_format=input_format)
        if not isinstance(text_or_path, str | Path):
            return _printed(text_or_path)
        text = str(text_or_path)
        if isinstance(text_or_path, Path) or _is_path(text):
            return Source(read_program(text_or_path), text, input_format)
        return Source(text, input_format=input_format)


def _printed(program: object) -> Source:
    """The text of a module; raises XlaError for what is no program."""
    # A text needs no dialects before it is parsed.
    from xdsl.dialects.builtin import ModuleOp  # noqa: PLC0415

    from xla_dialect.mlir_text import print_mlir  # noqa: PLC0415

    if isinstance(program, ModuleOp):
        return Source(print_mlir(program), "<program>", "mlir")
    kind = "a function" if callable(program) else type(program).__name__
    raise XlaError(
        f"a program is a text, bytes, the path of a file or a module, not {kind}"
        + ("; lowerings.jax.jit compiles functions of JAX" if callable(program) else "")
    )


def _is_path(text: str) -> bool:
    # Not `Path.is_file`: what is too long for a name is an error to it.
    return "\n" not in text and (text.endswith((".hlo", ".mlir", ".txt")) or isfile(text))
