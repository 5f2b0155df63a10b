"""Which level a module is at, and whether a pass can be given it."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.layouts.memory_order import BUFFER_LAYOUT
from lowerings.pipelines import LEVELS, NATIVE, pass_specs
from lowerings.rewriting.levels import Level, levels_taken
from xla_dialect.diagnostics import LocatedError
from xla_dialect.op import XlaOp
from xla_dialect.types import TokenType
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import inventory, operations_in

_BESIDE_XLA = frozenset({"check", "chlo", "interpreter", "stablehlo"})
"""Dialects whose operations are those of the xla level too, or become such."""


class WrongLevel(LocatedError):
    """A module that a pass, or an executor, cannot be given, and an operation that shows it."""


def level_of(module: ModuleOp) -> Level:
    """
    The level of a module: of its operations and types, the highest that one is of.

    `xla` too for a module that only forwards tensors, and so has no operations of any level; a
    module of `schedules` counts as one of `buffers`.
    """
    found = inventory(module)
    dialects = {each.name.partition(".")[0] for each in found.operations}
    if dialects & _BESIDE_XLA or any(map(_is_unlowered, found.operations)):
        return "xla"
    kinds = set(map(type, found.types))
    if TensorType in kinds or not kinds & {MemRefType, VectorType}:
        hands_on = dialects <= {"builtin", "func"} and not any(map(_is_laid_out, module.ops))
        return "xla" if hands_on else "tensors"
    return "buffers" if "linalg" in dialects else "loops"


def _is_unlowered(operation: type[Operation]) -> bool:
    # Operations of `xla` may be from other packages, in dialects of their own.
    return issubclass(operation, XlaOp)


def _is_laid_out(op: Operation) -> bool:
    """Whether parameters or results of a function have strides, as below the xla level."""
    if not isinstance(op, FuncOp):
        return False
    attributes = (*(op.arg_attrs or ()), *(op.res_attrs or ()))
    return any(BUFFER_LAYOUT in each.data for each in attributes)


def _has_arrays(module: ModuleOp) -> bool:
    return any(
        isinstance(type_, TensorType | MemRefType | VectorType | TokenType)
        for type_ in inventory(module).types
    )


def require_taken(module_pass: ModulePass, module: ModuleOp, level: Level) -> None:
    """
    Raises WrongLevel where a pass says that it does not take modules of a level, which the module
    is at. A module of scalars is of any level.
    """
    taken = levels_taken(module_pass)
    if taken is None or level in taken or not _has_arrays(module):
        return
    levels = " or ".join(f"'{name}'" for name in taken)
    is_on_the_way = level != LEVELS[-1] and any(
        spec.partition("{")[0] == module_pass.name for spec in pass_specs(NATIVE)
    )
    hint = f" (native{{from={level}}} goes on from there)" if is_on_the_way else ""
    raise wrong_level(
        module, level, f"{module_pass.name} takes modules of the level {levels}", hint
    )


def wrong_level(module: ModuleOp, level: Level, wanted: str, hint: str = "") -> WrongLevel:
    """The error about a module at a level, at the first operation that shows it."""
    is_shown = _SHOWN_BY[level]
    shown = next(filter(is_shown, operations_in(module)), module)
    message = f"{wanted}; this one is at '{level}', as {shown.name} shows{hint}"
    place = place_of(shown.location)
    return WrongLevel(message) if place is None else WrongLevel(message, *place)


def _on_arrays(kind: type, *dialects: str) -> Callable[[Operation], bool]:
    """Whether an operation is of a dialect, or its operands or results are of a kind."""

    def is_shown(op: Operation) -> bool:
        if op.name.partition(".")[0] in dialects:
            return True
        values = (*op.operands, *op.results)
        return any(isinstance(value.type, kind) for value in values)

    return is_shown


_SHOWN_BY: dict[str, Callable[[Operation], bool]] = {
    "xla": lambda op: isinstance(op, XlaOp) or op.name.partition(".")[0] in _BESIDE_XLA,
    "tensors": _on_arrays(TensorType, "tensor"),
    "buffers": _on_arrays(MemRefType, "memref"),
    "schedules": _on_arrays(MemRefType, "memref"),
    "loops": _on_arrays(MemRefType, "memref"),
}
"""What shows that a module is at a level."""
