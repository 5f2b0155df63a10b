"""Specialization of programs with unbounded dimensions to the sizes of given arrays."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xla_dialect.diagnostics import XlaError
from xla_dialect.stablehlo import convert_stablehlo, takes_dynamic_arguments
from xla_dialect.types import array, as_array, spell_all

from .array_spec import AnyArray


def for_arguments(module: ModuleOp, arrays: Sequence[AnyArray]) -> ModuleOp:
    """
    The module itself if its shapes are static, else the one for arrays of these sizes.

    Element types are the declared ones. Raises XlaError where the arrays do not fit.
    """
    if not takes_dynamic_arguments(module):
        return module
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    entry = next((f for f in functions if f.sym_name.data == "main"), functions[0])
    declared = entry.function_type.inputs.data
    types = [as_array(type_) for type_ in declared]
    if len(types) != len(arrays):
        signature = f"@{entry.sym_name.data}{spell_all(declared)}"
        raise XlaError(f"{signature} takes {len(types)} arguments, --input gives {len(arrays)}")
    sized = [
        declared[i] if type_ is None else array(type_.element_type, arrays[i].shape)
        for i, type_ in enumerate(types)
    ]
    return convert_stablehlo(module, sized)
