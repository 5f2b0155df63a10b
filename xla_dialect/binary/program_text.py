"""The text of a program that was read from bytes: what all tools go on with."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    ModuleOp,
    NameLoc,
)
from xdsl.ir import Attribute

from xla_dialect.binary.cursor import BinaryError
from xla_dialect.xdsl.text import MlirPrinter
from xla_dialect.xdsl.traversal import deep_recursion

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
