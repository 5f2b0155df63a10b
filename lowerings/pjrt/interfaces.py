"""jaxlib as this package sees it: its annotations do not pass strict checking."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from lowerings.execution.compile_cache import CACHE_VARIABLE, CacheOption, CompileCache

XLA_CLIENT: Any = cast(Any, importlib.import_module("jaxlib.xla_client"))
IR: Any = cast(Any, importlib.import_module("jaxlib.mlir.ir"))
STABLEHLO: Any = cast(Any, importlib.import_module("jaxlib.mlir.dialects.stablehlo"))

_config: Any = cast(Any, importlib.import_module("jax._src.config"))
_lowering: Any = cast(Any, importlib.import_module("jax._src.interpreters.mlir"))


def make_context() -> Any:
    """A context with all dialects of programs that JAX lowers."""
    return _lowering.make_ir_context()


def compile_cache() -> CacheOption:
    """
    Where our machine code is kept: beside JAX's compiled programs, if they are in a folder of this
    machine, else in the user's cache. Nowhere if JAX is told to keep nothing, or the environment
    says so.
    """
    if not _config.enable_compilation_cache.value or os.environ.get(CACHE_VARIABLE) == "0":
        return False
    found = _config.compilation_cache_dir.value
    if not found or "://" in found:
        return CompileCache.of_everything() or False
    return Path(found) / "xla-dialect"


TOKEN_TYPE = "!stablehlo.token"
INSPECTION, PARTITIONED = "InspectSharding", "CustomSPMDPartitioning"
"""
The custom calls that ask how devices share arrays: to tell a function, and for the program that the
author of an operation has for the parts.
"""
PARAMETERS, RESULTS = "arg_attrs", "res_attrs"
"""The attributes of a function about its parameters and results."""


def main_function(module: Any) -> Any:
    """The function of a module of jaxlib that clients call."""
    return next(op for op in module.body.operations if _symbol(op) == "main")


def operations(op: Any) -> Iterator[Any]:
    """The operations in the regions of another."""
    # Not `walk` of jaxlib: Ctrl-C in a function that it calls is an error of another kind.
    for region in op.regions:
        for block in region:
            for each in block:
                yield each
                yield from operations(each)


def attributes_of(function: Any, side: str) -> Any:
    """What a function of jaxlib says of its `PARAMETERS` or `RESULTS`; None where it is silent."""
    return function.attributes[side] if side in function.attributes else None


def _symbol(operation: Any) -> str | None:
    attributes = operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else None
