"""`xla`: operations that are not converted yet, evaluated by the reference."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from lowerings.execution.process_calls import LIBRARIES
from lowerings.interpreter.elements import from_reference, to_reference
from lowerings.interpreter.machine import (
    Dialect,
    Frame,
    FrameFunction,
    ModuleInterpreter,
    StructuredMaker,
    ids,
)
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE
from xla_dialect.reference import register_reference
from xla_dialect.reference.interpreter import ReferenceInterpreter
from xla_dialect.types import is_array
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import free_values


def evaluated(machine: ModuleInterpreter, op: Operation) -> FrameFunction:
    """One operation, evaluated with the values that its regions capture."""
    interpreter = _reference(machine.module)
    captured = free_values(*op.regions)
    around_it = ids(captured)

    def run(frame: Frame, *operands: Any) -> Any:
        values = [_to_reference(v, o.type) for v, o in zip(operands, op.operands, strict=True)]
        around = [_to_reference(frame[s], v.type) for s, v in zip(around_it, captured, strict=True)]
        interpreter.push_scope("around")
        try:
            interpreter.set_values(zip(captured, around, strict=True))
            found = interpreter.run_op(op, tuple(values))
        finally:
            interpreter.pop_scope()
        results = [_from_reference(v, r.type) for v, r in zip(found, op.results, strict=True)]
        return results[0] if len(results) == 1 else results

    return run


def _reference(module: ModuleOp) -> ReferenceInterpreter:
    interpreter = ReferenceInterpreter(module)
    register_reference(interpreter, libraries=LIBRARIES)
    return interpreter


def _to_reference(value: Any, type_: Attribute) -> Any:
    return to_reference(value, type_, numpy_dtype(type_.element_type)) if is_array(type_) else value


def _from_reference(value: Any, type_: Attribute) -> Any:
    return from_reference(value, type_) if is_array(type_) else value


STRUCTURED = OperationTable[StructuredMaker]().add(BY_OPCODE.values(), evaluated)

XLA = Dialect({}, STRUCTURED, others=lambda op: evaluated if isinstance(op, XlaOp) else None)
"""Handlers for partially converted modules; operations of other packages have references too."""
