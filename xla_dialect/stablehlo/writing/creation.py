"""Constants."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.ops.random import RngOp
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.stablehlo.legalize.made_by_reading import only_broadcast
from xla_dialect.stablehlo.writing.body import BodyWriter, Tree, Write
from xla_dialect.types import Array, ElementClass, element_class
from xla_dialect.xdsl.operation_table import OperationTable


def write_constant(op: ConstantOp, body: BodyWriter) -> None:
    """`stablehlo.constant`; a constant tuple is one for every element."""
    value = op.value
    if isinstance(value, ArrayAttr):
        body.trees[op.results[0]] = _tree(cast(Attribute, value), body)
        return
    written: Operation = op
    broadcast = only_broadcast(op)
    if broadcast is not None and not op.attributes:
        body.absorbed.add(broadcast)
        written = broadcast
    result = written.results[0]
    if _is_of_rng(written, value):
        return
    text = _constant(value, result.type, body, body.attributes(written))
    body.trees[result] = body.emit(text, result.name_hint or _name(result.type))


def _is_of_rng(op: Operation, value: Attribute) -> bool:
    """Whether a constant has the sizes of an `rng` that follows, which writes them itself."""
    if op.results[0].first_use is not None:
        return False
    user = op.next_op
    while isinstance(user, ConstantOp | BroadcastOp):
        user = user.next_op
    if not isinstance(user, RngOp):
        return False
    sizes = sizes_of(user.result.type)
    literal = cast("DenseIntOrFPElementsAttr[Any]", value)
    numbers = tuple(literal.get_values())
    return sizes_of(op.results[0].type) == (len(sizes),) and (
        numbers == sizes or numbers * len(sizes) == sizes
    )


def _tree(value: Attribute, body: BodyWriter) -> Tree:
    if isinstance(value, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", value).data
        return tuple([_tree(element, body) for element in elements])
    type_ = cast("DenseIntOrFPElementsAttr[Any]", value).type
    return body.emit(_constant(value, cast(Attribute, type_), body, ""), _name(cast(Array, type_)))


def _constant(value: Attribute, type_: Attribute, body: BodyWriter, attributes: str) -> str:
    text = body.program.literal_text(value)
    return f"stablehlo.constant{attributes} dense<{text}> : {body.type_text(type_)}"


def _name(type_: Attribute) -> str:
    """What StableHLO calls a constant of this type that has no name."""
    inexact = ElementClass.FLOAT | ElementClass.COMPLEX
    return "cst" if element_class(cast(Array, type_).element_type) & inexact else "c"


WRITERS = OperationTable[Write]().add(ConstantOp, write_constant)
