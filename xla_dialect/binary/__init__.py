"""Programs in binary files: MLIR bytecode, files of `jax.export`, protos of HLO."""

from xla_dialect.binary.cursor import BinaryError
from xla_dialect.binary.formats import (
    BinaryFormat,
    artifact_of_stablehlo,
    binary_format,
    read_bytecode,
    stablehlo_of_vhlo,
    text_of_binary,
)
from xla_dialect.binary.hlo_module import Snapshot, is_module, read_snapshot
from xla_dialect.binary.jax_export import Exported, ExportedSignature, read_export

__all__ = [
    "BinaryError",
    "BinaryFormat",
    "Exported",
    "ExportedSignature",
    "Snapshot",
    "artifact_of_stablehlo",
    "binary_format",
    "is_module",
    "read_bytecode",
    "read_export",
    "read_snapshot",
    "stablehlo_of_vhlo",
    "text_of_binary",
]
