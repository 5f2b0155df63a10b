"""The formats that programs are read in. A module of its own: command lines load nothing else."""

from typing import Literal, TypeAlias, get_args

InputFormat: TypeAlias = Literal["hlo", "stablehlo", "mlir"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)
