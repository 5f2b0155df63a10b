"""Programs in binary files: MLIR bytecode and portable artifacts of StableHLO."""

from xla_dialect.binary.cursor import BinaryError
from xla_dialect.binary.formats import BinaryFormat, binary_format, text_of_binary
from xla_dialect.binary.reading import read_bytecode, stablehlo_of_vhlo

__all__ = [
    "BinaryError",
    "BinaryFormat",
    "binary_format",
    "read_bytecode",
    "stablehlo_of_vhlo",
    "text_of_binary",
]
