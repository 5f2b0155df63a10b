"""Layouts that are not lowered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute

from lowerings.layouts.expansion import is_laid_out
from lowerings.layouts.memory_order import LayoutNotLowered, memory_order
from lowerings.rewriting.conversion import ConversionFailed, IllegalOp, illegal_op
from xla_dialect.types import Array
from xla_dialect.xdsl.traversal import operations_in


def require_lowered_layouts(pass_name: str, module: ModuleOp) -> None:
    """Raises ConversionFailed naming the operations whose layouts are not lowered, and why."""
    functions = (op for op in module.ops if isinstance(op, func.FuncOp))
    found = [problem for function in functions for problem in _objections(function)]
    if found:
        raise ConversionFailed(pass_name, found)


def require_default_boundaries(pass_name: str, module: ModuleOp) -> None:
    """
    Raises ConversionFailed naming the public functions whose parameters or results lie in memory
    otherwise than in the default layout: without it they would be other arrays.
    """
    found = [
        illegal_op(op, "xla-expand-layouts lowers the layouts of its parameters and results")
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and op.sym_visibility != StringAttr("private")
        and not all(map(_is_default, (*op.function_type.inputs, *op.function_type.outputs)))
    ]
    if found:
        raise ConversionFailed(pass_name, found)


def _is_default(type_: Attribute) -> bool:
    try:
        return not is_laid_out(type_) or memory_order(cast(Array, type_)).is_default
    except LayoutNotLowered:
        return False


def _objections(function: func.FuncOp) -> Iterator[IllegalOp]:
    types = function.function_type
    for op in operations_in(function):
        values: list[Attribute] = [result.type for result in op.results]
        if op is function:
            values = [*types.inputs, *types.outputs]
            if not function.body.blocks and any(map(is_laid_out, values)):
                yield illegal_op(op, "functions without a body take default layouts")
                continue
        for type_ in filter(is_laid_out, values):
            try:
                memory_order(cast(Array, type_))
            except LayoutNotLowered as reason:
                yield illegal_op(op, str(reason))
                break
