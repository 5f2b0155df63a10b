"""The entries that are largest."""

from __future__ import annotations

from typing import cast

from xla_dialect.ops.sorting import TopkOp
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.types import Array, ElementClass, element_class
from xla_dialect.xdsl.operation_table import OperationTable


def write_topk(op: TopkOp, body: BodyWriter) -> None:
    """
    `chlo.top_k`, which takes the largest.

    For the smallest the order is reversed, exactly: floats are negated, of integers all bits.
    """
    k = op.k.value.data
    operand, type_ = body.operand(op.operand), body.type_text(op.operand.type)
    results = body.types(op.result_types)
    is_largest = bool(op.largest.value.data)
    element = element_class(cast(Array, op.operand.type).element_type)
    reverse = "negate" if element & ElementClass.FLOAT else "not"
    if not is_largest:
        operand = body.emit(f"stablehlo.{reverse} {operand} : {type_}")
    text = (
        f"chlo.top_k({operand}, k = {k}){body.attributes(op)} : {type_} -> ({', '.join(results)})"
    )
    names = body.named(text, 2, [value.name_hint for value in op.results])
    if not is_largest:
        names[0] = body.emit(f"stablehlo.{reverse} {names[0]} : {results[0]}")
    body.bind(op.results, names)


WRITERS = OperationTable[Write]().add(TopkOp, write_topk)
