"""Definitions of operations whose assembly format is parsed on use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser
from xdsl.printer import Printer

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

OperationT = TypeVar("OperationT", bound=IRDLOperation)


def op_definition(cls: type[OperationT]) -> type[OperationT]:
    """
    Defines an operation as `irdl_op_definition` does, but for its assembly format.

    xDSL parses all formats of a dialect when the dialect is loaded, which takes a third of that
    time. A program has operations of few classes: so a format is parsed when the first operation of
    its class is read or printed. As in MLIR, it finds custom directives by their names.
    """
    text = cls.assembly_format
    if text is None:
        return irdl_op_definition(cls)
    cls.assembly_format = None
    irdl_op_definition(cls)
    cls.assembly_format = text
    for name, method in {"parse": classmethod(_parse), "print": _print}.items():
        setattr(cls, name, method)
    return cls


@cache
def format_of(cls: type[IRDLOperation]) -> FormatProgram:
    """The assembly format of a class, which has one; raises ParseError for a malformed one."""
    # Programs that are neither read nor printed as StableHLO need no parser of formats.
    from xdsl.irdl.declarative_assembly_format import FormatProgram  # noqa: PLC0415

    from xla_dialect.xdsl.directives import directives_by_name  # noqa: PLC0415

    definition = cls.get_irdl_definition()
    definition.custom_directives = directives_by_name()
    return FormatProgram.from_str(cls.assembly_format or "", definition)


def _parse(cls: type[OperationT], parser: Parser) -> OperationT:
    return format_of(cls).parse(parser, cls)


def _print(self: IRDLOperation, printer: Printer) -> None:
    format_of(type(self)).print(printer, self)
