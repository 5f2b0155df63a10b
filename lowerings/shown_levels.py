"""The text of a program at each level, down to assembly."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp

from lowerings.backends import Options
from lowerings.driver.context import make_context
from lowerings.executors import lowering_of
from lowerings.pipelines import LEVELS
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir

SOURCE_LEVEL = "stablehlo"
"""What JAX prints."""

TARGET_LEVELS = ("llvm", "x86-asm")
"""The targets that print what becomes of the lowest level of the pipeline."""

ALL_LEVELS = (SOURCE_LEVEL, *LEVELS, *TARGET_LEVELS)

LEVEL_OF_DIALECT = {"linalg": "tensors", "memref": "buffers", "scf": "loops", "vector": "loops"}
"""The level for those who ask for a dialect."""


def level_of_name(name: str) -> str:
    """The level of this name, or that of a dialect; raises XlaError where there is none."""
    level = LEVEL_OF_DIALECT.get(name, name)
    if level not in ALL_LEVELS:
        raise XlaError(f"there is no level '{name}' (there are: {', '.join(ALL_LEVELS)})")
    return level


def text_at(module: ModuleOp, level: str, options: Options) -> str:
    """
    A module of the xla level, which is used up, at another level, or for a target.

    Raises XlaError for a program that cannot be lowered so far.
    """
    lowering = lowering_of(module, options)
    lowering.to(LEVELS[-1] if level in TARGET_LEVELS else level, options.machine)
    if level not in TARGET_LEVELS:
        return print_mlir(module) + "\n"
    output = StringIO()
    toolkit_universe().all_targets[level]()().emit(make_context(), module, output)
    return output.getvalue()
