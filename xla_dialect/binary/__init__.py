"""Programs in binary files: MLIR bytecode, files of `jax.export`, protos of HLO."""

from xla_dialect.binary.artifact import write_artifact
from xla_dialect.binary.cursor import BinaryError
from xla_dialect.binary.formats import BinaryFormat, binary_format, read_binary
from xla_dialect.binary.hlo_module import (
    Snapshot,
    is_module,
    read_snapshot,
    write_hlo_module,
)
from xla_dialect.binary.jax_export import Exported, ExportedSignature, read_export
from xla_dialect.binary.vhlo import VhloParser

__all__ = [
    "BinaryError",
    "BinaryFormat",
    "Exported",
    "ExportedSignature",
    "Snapshot",
    "VhloParser",
    "binary_format",
    "is_module",
    "read_binary",
    "read_export",
    "read_snapshot",
    "write_artifact",
    "write_hlo_module",
]
