"""Programs in binary files: MLIR bytecode, portable artifacts, files of `jax.export`."""

from xla_dialect.binary.cursor import BinaryError
from xla_dialect.binary.formats import BinaryFormat, binary_format, text_of_binary
from xla_dialect.binary.jax_export import Exported, Signature, read_export
from xla_dialect.binary.reading import read_bytecode, stablehlo_of_vhlo

__all__ = [
    "BinaryError",
    "BinaryFormat",
    "Exported",
    "Signature",
    "binary_format",
    "read_bytecode",
    "read_export",
    "stablehlo_of_vhlo",
    "text_of_binary",
]
