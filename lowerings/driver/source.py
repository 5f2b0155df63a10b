"""The text of a program, from a file or its author."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.driver.input_format import InputFormat
    from xla_dialect.stablehlo.resources import Resources


class UnreadableFile(XlaError):
    """A file that cannot be opened or is not text."""


def read_file(path: str | Path) -> str:
    """The text of a file; raises UnreadableFile."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableFile(f"{path}: error: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path}: error: not UTF-8 text (byte {error.start})") from None


@dataclass(frozen=True)
class Source:
    """The text of a program, and where it is from."""

    text: str
    file_name: str = "<input>"
    input_format: InputFormat | None = None
    given: Resources | None = None
    """Of StableHLO, the elements of resources, whose names in the text have to tell them apart."""
    outlined: bool = False
    """Whether equal parts of StableHLO become functions, as `outline_equal_parts` finds them."""

    @staticmethod
    def of(text_or_path: str | Path, input_format: InputFormat | None = None) -> Source:
        """
        A program given as text or as the path of a file.

        A string with a line break, or one that names no file, is taken as text. Raises XlaError.
        """
        text = str(text_or_path)
        if isinstance(text_or_path, Path) or _is_path(text):
            return Source(read_file(text_or_path), text, input_format)
        return Source(text, input_format=input_format)


def _is_path(text: str) -> bool:
    # Not `Path.is_file`: what is too long for a name is an error to it.
    return "\n" not in text and (text.endswith((".hlo", ".mlir", ".txt")) or isfile(text))
