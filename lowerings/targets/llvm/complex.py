"""`complex`: numbers taken apart and put together. Their arithmetic is expanded before."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import complex
from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.complex import ComplexNumberAttr
from xdsl.ir import Attribute, Operation

from lowerings.targets.llvm.constants import float_constant, scalar_literal
from lowerings.targets.llvm.emitter import FunctionEmitter, Handler
from lowerings.targets.llvm.types import F32, F64, value_type
from xla_dialect.xdsl.operation_table import OperationTable


def emit_create(e: FunctionEmitter, op: complex.CreateOp) -> None:
    real, imaginary = op.operands
    text = e.type_of(op.results[0]).text
    half = e.temporary(f"insertvalue {text} poison, {e.typed(real)}, 0")
    e.define(op.results[0], f"insertvalue {text} {half}, {e.typed(imaginary)}, 1")


def _part(number: int) -> Handler:
    def emit(e: FunctionEmitter, op: Operation) -> None:
        e.define(op.results[0], f"extractvalue {e.typed(op.operands[0])}, {number}")

    return emit


def emit_constant(e: FunctionEmitter, op: complex.ConstantOp) -> None:
    result, value = op.results[0], op.properties["value"]
    part = value_type(F32 if e.type_of(result).element.size == 2 * F32.size else F64)
    if isinstance(value, ComplexNumberAttr):
        number = cast("ComplexNumberAttr[Any]", value)
        literals = [float_constant(part, x) for x in (number.real.data, number.imag.data)]
    else:
        literals = [scalar_literal(x) for x in cast("ArrayAttr[Attribute]", value)]
    parts = ", ".join(f"{part.text} {literal}" for literal in literals)
    e.values[result] = f"{{ {parts} }}"


HANDLERS = (
    OperationTable[Handler]()
    .add(complex.CreateOp, emit_create)
    .add(complex.ReOp, _part(0))
    .add(complex.ImOp, _part(1))
    .add(complex.ConstantOp, emit_constant)
)
