"""Copies and bit casts of HLO: StableHLO has no layouts; some copies are operations of Shardy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Attribute, SSAValue

from xla_dialect import shardy
from xla_dialect.layout import LayoutAttr
from xla_dialect.op import properties_of_class
from xla_dialect.ops.data_movement import BitcastOp, CopyOp
from xla_dialect.sharding.attributes import (
    RESHARD,
    SHARDING,
    ShardingAttr,
    ShardingPerValueAttr,
    TokensAttribute,
)
from xla_dialect.stablehlo.attribute_text import discardable
from xla_dialect.stablehlo.conversion import sizes_of
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, Tree, flat
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp
from xla_dialect.stablehlo.ops.data_movement import ReshapeOp
from xla_dialect.stablehlo.ops.elementwise import BitcastConvertOp
from xla_dialect.types import BY_TYPE, Array, ElementClass, array, spell
from xla_dialect.xdsl.operation_table import OperationTable


def copy_of_xla(op: CopyOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing, where no sharding or other annotation is kept with it."""
    attributes = op.attributes
    if any(name in attributes for name in (SHARDING, *_EDGES)):
        return _annotation(op, legalization)
    if "xla.sharding" in attributes or "mhlo.sharding" in attributes:
        operands, types = legalization.operands(op), legalization.result_types(op)
        properties = {"call_target_name": StringAttr("Sharding")}
        return legalization.emit(CustomCallOp, operands, types, properties).results
    return flat(legalization.tree(op.operand))


def _annotation(op: CopyOp, legalization: FromXla) -> Sequence[SSAValue]:
    """The operation of Shardy that a copy stands for."""
    rest = dict(op.attributes)
    said, kind = rest.pop(SHARDING, None), rest.pop(RESHARD, None)
    sharding = ShardingAttr(said.data[0]) if isinstance(said, ShardingPerValueAttr) else None
    collective = f"sdy.{kind.data}" if isinstance(kind, StringAttr) else ""
    axes = rest.pop(collective, None)
    edges = [edge for edge in _EDGES if rest.pop(edge, None) is not None]
    properties: dict[str, Attribute] = {} if sharding is None else {"sharding": sharding}
    op_class = _COLLECTIVES.get(collective)
    if edges:
        is_function = sharding is None and shardy.FuncDataFlowEdgeOp.name in edges
        op_class = shardy.FuncDataFlowEdgeOp if is_function else shardy.DataFlowEdgeOp
    elif sharding is None:
        raise Inexpressible(f"{SHARDING} is {said}, not the sharding of its result")
    elif kind is None:
        op_class = shardy.ShardingConstraintOp
    elif op_class is None or (axes is None and op_class is not shardy.CollectivePermuteOp):
        # A pass has chosen the collective, and chooses it again.
        op_class = shardy.ReshardOp
    else:
        properties = {"out_sharding": sharding}
        if isinstance(axes, StringAttr):
            definition = op_class.get_irdl_definition()
            for name, found in properties_of_class(definition, TokensAttribute).items():
                if name != "out_sharding":
                    attribute_class = cast("type[TokensAttribute[Any]]", found)
                    properties[name] = attribute_class(attribute_class.read(axes.data))
    operands, types = legalization.operands(op), legalization.result_types(op)
    return legalization.emit(
        op_class, operands, types, properties, attributes=discardable(rest)
    ).results


_EDGES = (shardy.DataFlowEdgeOp.name, shardy.FuncDataFlowEdgeOp.name)
_COLLECTIVES = {op.name: op for op in shardy.COLLECTIVE_OPERATIONS}


def bitcast_of_xla(op: BitcastOp, legalization: FromXla) -> Sequence[Tree]:
    """A reshape or a bit cast, where both layouts are the default."""
    operand, result = (cast(Array, value.type) for value in (op.operands[0], op.results[0]))
    if not (_is_row_major(operand) and _is_row_major(result)):
        raise Inexpressible(
            f"layouts of {operand} and {result} are not the default; "
            "the pass xla-expand-bitcast takes it apart"
        )
    (value,) = legalization.operands(op)
    sizes = sizes_of(operand)
    if operand.element_type != result.element_type:
        old, new = BY_TYPE[operand.element_type], BY_TYPE[result.element_type]
        complexities = {each.element_class & ElementClass.COMPLEX for each in (old, new)}
        has_pred = ElementClass.PRED in (old.element_class, new.element_class)
        if old.bits != new.bits or len(complexities) > 1 or has_pred:
            raise Inexpressible(
                f"{spell(operand)} as {spell(result)}; the pass xla-expand-bitcast takes it apart"
            )
        same = array(result.element_type, sizes)
        (value,) = legalization.emit(BitcastConvertOp, [value], [same]).results
    if sizes == sizes_of(result):
        return [value]
    return legalization.emit(ReshapeOp, [value], legalization.result_types(op)).results


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


FROM_XLA = OperationTable[LegalizeFromXla]().add(CopyOp, copy_of_xla).add(BitcastOp, bitcast_of_xla)
