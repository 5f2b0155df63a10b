"""Operations that move elements, and copies."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Operation

from xla_dialect.layout import LayoutAttr
from xla_dialect.ops.data_movement import (
    BitcastOp,
    CopyOp,
)
from xla_dialect.sharding.attributes import RESHARD, SHARDING, ShardingPerValueAttr
from xla_dialect.shardy import DataFlowEdgeOp, FuncDataFlowEdgeOp
from xla_dialect.stablehlo.attribute_text import dictionary_text, kept_texts
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.types import BY_TYPE, Array, ElementClass, array, spell
from xla_dialect.xdsl.operation_table import OperationTable

# Copies and bit casts


def write_copy(op: Operation, body: BodyWriter) -> None:
    """Nothing, where no sharding or other annotation is kept with it."""
    operand, type_ = body.operand(op.operands[0]), body.type_text(op.results[0].type)
    if any(name in op.attributes for name in (SHARDING, _EDGE, _FUNCTION_EDGE)):
        _write_annotation(op, operand, type_, body)
        return
    if "xla.sharding" in op.attributes or "mhlo.sharding" in op.attributes:
        text = f"stablehlo.custom_call @Sharding({operand}){body.attributes(op)}"
        body.define(op, f"{text} : ({type_}) -> {type_}", [type_])
        return
    body.trees[op.results[0]] = operand


def _write_annotation(op: Operation, operand: str, type_: str, body: BodyWriter) -> None:
    """The operation of Shardy that a copy stands for."""
    attributes = dict(op.attributes)
    sharding, kind = attributes.pop(SHARDING, None), attributes.pop(RESHARD, None)
    said = f"<{sharding.data[0]}>" if isinstance(sharding, ShardingPerValueAttr) else ""
    collective = kind.data if isinstance(kind, StringAttr) else ""
    axes = attributes.pop(f"sdy.{collective}", None)
    function_edge = attributes.pop(_FUNCTION_EDGE, None)
    match attributes.pop(_EDGE, function_edge), kind, axes:
        case StringAttr(), _, _ if function_edge is not None and not said:
            name, text = _FUNCTION_EDGE, operand
        case StringAttr(), _, _:
            name, text = _EDGE, f"{operand} sharding={said}" if said else operand
        case _, None, _:
            name, text = "sdy.sharding_constraint", f"{operand} {said}"
        case _, _, StringAttr():
            name, text = f"sdy.{collective}", f"{axes.data} {operand} out_sharding={said}"
        case _ if collective == "collective_permute":
            name, text = f"sdy.{collective}", f"{operand} out_sharding={said}"
        case _:  # a pass has chosen the collective, and chooses it again
            name, text = RESHARD, f"{operand} {said}"
    rest = f" {dictionary_text(kept_texts(attributes))}" if attributes else ""
    body.define(op, f"{name} {text}{rest} : {type_}", [type_])


_EDGE, _FUNCTION_EDGE = DataFlowEdgeOp.name, FuncDataFlowEdgeOp.name


def write_bitcast(op: Operation, body: BodyWriter) -> None:
    """A reshape or a bit cast, where both layouts are the default."""
    operand, result = (cast(Array, value.type) for value in (op.operands[0], op.results[0]))
    if not (_is_row_major(operand) and _is_row_major(result)):
        raise Inexpressible(
            f"layouts of {operand} and {result} are not the default; "
            "the pass xla-expand-bitcast takes it apart"
        )
    name = body.operand(op.operands[0])
    if operand.element_type != result.element_type:
        old, new = BY_TYPE[operand.element_type], BY_TYPE[result.element_type]
        complexities = {row.element_class & ElementClass.COMPLEX for row in (old, new)}
        if (
            old.bits != new.bits
            or len(complexities) > 1
            or ElementClass.PRED
            in (
                old.element_class,
                new.element_class,
            )
        ):
            raise Inexpressible(
                f"{spell(operand)} as {spell(result)}; the pass xla-expand-bitcast takes it apart"
            )
        same = array(result.element_type, sizes_of(operand))
        name = body.emit(
            f"stablehlo.bitcast_convert {name} : "
            f"({body.type_text(operand)}) -> {body.type_text(same)}"
        )
        operand = same
    if sizes_of(operand) == sizes_of(result):
        body.trees[op.results[0]] = name
        return
    types = [body.type_text(operand), body.type_text(result)]
    text = f"stablehlo.reshape {name}{body.attributes(op)} : ({types[0]}) -> {types[1]}"
    body.define(op, text, types[1:])


def _is_row_major(type_: Array) -> bool:
    encoding: Any = type_.encoding
    if isinstance(encoding, NoneAttr):
        return True
    rank = len(type_.shape)
    return (
        isinstance(encoding, LayoutAttr)
        and encoding.data.minor_to_major == tuple(reversed(range(rank)))
        and not encoding.data.tiles
    )


WRITERS = OperationTable[Write]().add(CopyOp, write_copy).add(BitcastOp, write_bitcast)
