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
    its class is read or printed.
    """
    text = cls.assembly_format
    if text is None:
        return irdl_op_definition(cls)
    cls.assembly_format = None
    irdl_op_definition(cls)
    cls.assembly_format = text

    @cache
    def program() -> FormatProgram:
        # Programs that are neither read nor printed as StableHLO need no parser of formats.
        from xdsl.irdl.declarative_assembly_format import FormatProgram  # noqa: PLC0415

        return FormatProgram.from_str(text, cls.get_irdl_definition())

    def parse(cls: type[OperationT], parser: Parser) -> OperationT:
        return program().parse(parser, cls)

    def print_(self: OperationT, printer: Printer) -> None:
        program().print(printer, self)

    for name, method in {"parse": classmethod(parse), "print": print_}.items():
        setattr(cls, name, method)
    return cls
