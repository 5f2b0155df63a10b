"""Tuples: StableHLO, as frameworks write it, has none but for those of custom calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i64
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from xla_dialect.op import decode
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, Tree, flat
from xla_dialect.stablehlo.ops import tuples as stablehlo
from xla_dialect.xdsl.operation_table import OperationTable


def tuple_of(values: Sequence[SSAValue], conversion: Conversion) -> SSAValue:
    """Emits the tuple of some values."""
    types = tuple(cast(TypeAttribute, value.type) for value in values)
    return conversion.emit(TupleOp, values, [TupleType(types)])[0]


def elements_of(
    value: SSAValue, types: Sequence[Attribute], conversion: Conversion
) -> list[SSAValue]:
    """Emits the elements of a tuple, which have the given types."""
    return [
        conversion.emit(GetTupleElementOp, [value], [type_], {"index": IntegerAttr(i, i64)})[0]
        for i, type_ in enumerate(types)
    ]


def convert_tuple(op: stablehlo.TupleOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.tuple`; in HLO one of one element may have the type of the element."""
    if not isinstance(op.result.type, TupleType):
        op.fail(f"the result is {op.result.type}, not a tuple")
    return conversion.emit(TupleOp, conversion.operands(op), conversion.result_types(op))


def tuple_of_xla(op: Operation, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the elements stand for themselves."""
    return [leaf for value in op.operands for leaf in flat(legalization.tree(value))]


def element_of_xla(op: GetTupleElementOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the element stands for itself."""
    tree = legalization.tree(op.operand)
    assert isinstance(tree, tuple)
    return flat(tree[cast(int, decode(op.index))])


TO_XLA = OperationTable[Legalize]().add(stablehlo.TupleOp, convert_tuple)

FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(TupleOp, tuple_of_xla)
    .add(GetTupleElementOp, element_of_xla)
)
