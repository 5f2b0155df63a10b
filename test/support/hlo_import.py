"""What HLO text became: its functions, their operations, and their names."""

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation


def function(module: ModuleOp, name: str = "main") -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


def operations(module: ModuleOp, name: str = "main") -> list[Operation]:
    """The operations of a function without its terminator."""
    return list(function(module, name).body.block.ops)[:-1]


def name_of(op: Operation) -> str | None:
    """The HLO name of an operation."""
    kept = op.attributes.get("xla.name")
    return kept.data if isinstance(kept, StringAttr) else op.results[0].name_hint
