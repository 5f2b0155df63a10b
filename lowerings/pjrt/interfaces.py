"""jaxlib as this package sees it: its annotations do not pass strict checking."""

from __future__ import annotations

import importlib
from typing import Any, cast

XLA_CLIENT: Any = cast(Any, importlib.import_module("jaxlib.xla_client"))
IR: Any = cast(Any, importlib.import_module("jaxlib.mlir.ir"))
SDY: Any = cast(Any, importlib.import_module("jaxlib.mlir.dialects.sdy"))
STABLEHLO: Any = cast(Any, importlib.import_module("jaxlib.mlir.dialects.stablehlo"))
PASS_MANAGER: Any = cast(Any, importlib.import_module("jaxlib.mlir.passmanager")).PassManager

_lowering: Any = cast(Any, importlib.import_module("jax._src.interpreters.mlir"))


def make_context() -> Any:
    """A context with all dialects of programs that JAX lowers."""
    return _lowering.make_ir_context()
