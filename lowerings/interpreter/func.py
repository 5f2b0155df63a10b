"""
`func`: calls, of functions outside of the program too.

A kernel's arguments must not overlap where it writes one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Attribute

from lowerings.execution.declared_functions import DeclaredFunction
from lowerings.interpreter.elements import (
    UndefinedBehavior,
    as_stored,
    from_reference,
    to_reference,
)
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    ModuleInterpreter,
    StructuredMaker,
)
from lowerings.interpreter.memory import Memref
from lowerings.ir.functions import KERNEL
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, numpy_dtype
from xla_dialect.types import Array as ArrayType
from xla_dialect.xdsl.operation_table import OperationTable


def call(machine: ModuleInterpreter, op: func.CallOp) -> FrameFunction:
    """Calls a function of the module."""
    name = op.callee.string_value()
    callee = machine.functions.get(name)
    if callee is None:
        raise XlaError(f"there is no function @{name}")
    if name in machine.declared:
        return _call_outside(op, machine.declared[name])
    is_kernel = KERNEL in callee.attributes
    written = sorted(machine.written.of(name)) if is_kernel else []

    def run(_frame: Frame, *values: Any) -> Any:
        for number in written:
            _require_disjoint(values, number, name)
        results = machine.run(name, values)
        return results[0] if len(results) == 1 else results

    return run


def _call_outside(op: func.CallOp, function: DeclaredFunction) -> FrameFunction:
    """Calls a declared function; on buffers, its results are out-parameters at the end."""
    count = len(function.operand_types)

    def run(_frame: Frame, *values: Any) -> Any:
        arrays = [
            _of_the_reference(value, operand.type, type_)
            for value, operand, type_ in zip(
                values, op.operands, function.operand_types, strict=False
            )
        ]
        found = [np.array(value) for value in function.run(arrays)]
        for target, value in zip(values[count:], found, strict=False):
            target.array[...] = as_stored(value, target.element)
        results = [from_reference(v, r.type) for v, r in zip(found, op.results, strict=False)]
        return results[0] if len(results) == 1 else results

    return run


def _of_the_reference(value: Any, type_: Attribute, wanted: ArrayType) -> Array:
    """A copy of a tensor or of memory as an array of the dtype that the reference has."""
    read = value.read() if isinstance(value, Memref) else value
    return to_reference(read, type_, numpy_dtype(wanted.element_type))


def _require_disjoint(values: Sequence[Any], written: int, name: str) -> None:
    target = values[written]
    for number, other in enumerate(values):
        if number != written and isinstance(other, Memref) and target.overlaps(other):
            raise UndefinedBehavior(
                f"@{name} writes argument {written}, which overlaps argument {number}"
            )


STRUCTURED = OperationTable[StructuredMaker]().add(func.CallOp, call)

FUNC = Dialect({}, STRUCTURED, frozenset({"func.return"}))
