"""`complex`: numbers taken apart and put together. Their arithmetic is expanded before."""

from __future__ import annotations

from collections.abc import Sequence
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
        owner = op.operands[0].owner
        if isinstance(owner, complex.ConstantOp):
            # LLVM's code generator may end the process over what it makes of `extractvalue` here.
            _, e.values[op.results[0]] = _parts(e, owner)[number]
        else:
            e.define(op.results[0], f"extractvalue {e.typed(op.operands[0])}, {number}")

    return emit


def _parts(e: FunctionEmitter, op: complex.ConstantOp) -> Sequence[tuple[str, str]]:
    """The types and the literals of both parts."""
    result, value = op.results[0], op.properties["value"]
    part = value_type(F32 if e.type_of(result).element.size == 2 * F32.size else F64)
    if isinstance(value, ComplexNumberAttr):
        number = cast("ComplexNumberAttr[Any]", value)
        literals = [float_constant(part, x) for x in (number.real.data, number.imag.data)]
    else:
        literals = [scalar_literal(x) for x in cast("ArrayAttr[Attribute]", value)]
    return [(part.text, literal) for literal in literals]


def emit_constant(e: FunctionEmitter, op: complex.ConstantOp) -> None:
    parts = ", ".join(map(" ".join, _parts(e, op)))
    e.values[op.results[0]] = f"{{ {parts} }}"


HANDLERS = (
    OperationTable[Handler]()
    .add(complex.CreateOp, emit_create)
    .add(complex.ReOp, _part(0))
    .add(complex.ImOp, _part(1))
    .add(complex.ConstantOp, emit_constant)
)
