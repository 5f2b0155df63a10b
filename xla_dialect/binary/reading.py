"""Bytes to a module of StableHLO's operations, and back."""

from __future__ import annotations

from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from xla_dialect.binary import bytecode
from xla_dialect.binary.artifact import write_artifact
from xla_dialect.binary.operations import Version
from xla_dialect.binary.program_text import text_of_module
from xla_dialect.binary.vhlo_text import read_vhlo
from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.reader import make_reading_context


def read_bytecode(data: bytes, file_name: str = "<bytes>") -> ModuleOp:
    """
    The module of MLIR bytecode, as `write_bytecode` and `serialize_portable_artifact` make it.

    It has operations of StableHLO, those of a portable artifact upgraded, and is not verified:
    `read_stablehlo` verifies its text. Raises BinaryError.
    """
    return bytecode.read_bytecode(data, make_reading_context(OpAsmDialectInterface()), file_name)


def stablehlo_of_vhlo(text: str, file_name: str = "<input>") -> str:
    """The text in StableHLO of a program in VHLO; raises LocatedError."""
    module = read_vhlo(text, make_reading_context(OpAsmDialectInterface()), file_name)
    return text_of_module(module, file_name, len(text))


def artifact_of_stablehlo(text: str, version: Version) -> bytes:
    """
    The portable artifact of a program in StableHLO, for a version of it: `(1, 7, 0)`.

    The text is one that `read_stablehlo` reads, or `print_stablehlo` prints. Raises XlaError for
    what the version does not have.
    """
    context = make_reading_context(OpAsmDialectInterface())
    try:
        module = StableHloParser(context, text, "<stablehlo>").parse_module()
    except ParseError as error:
        message, start = error.msg.strip(), error.span.start
        raise LocatedError.at_offset(message, "<stablehlo>", text, start) from None
    return write_artifact(module, context, version)
