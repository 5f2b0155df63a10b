"""Sorting: all arrays are of one shape, whatever is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import cast

from xdsl.ir import SSAValue

from xla_dialect.ops import sorting as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.shapes.size_arithmetic import compatible_sizes
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.ops import elementwise
from xla_dialect.stablehlo.ops import sorting as stablehlo
from xla_dialect.types import (
    BY_NAME,
    PRED,
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    spell_all,
)
from xla_dialect.xdsl.operation_table import OperationTable


def convert_sort(op: stablehlo.SortOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.sort`."""
    operands, declared = conversion.operands(op), conversion.result_types(op)
    types = [*(operand.type for operand in operands), *declared]
    if conversion.KEEPS_UNKNOWN_SIZES and not all(
        compatible_sizes(sizes_of(a), sizes_of(b)) for a, b in combinations(types, 2)
    ):
        op.fail(f"{spell_all(types)} differ in shape")
    properties = op.properties_of_rank(len(sizes_of(types[0])) if types else 0)
    return conversion.emit(xla.SortOp, operands, declared, properties, conversion.regions(op))


def convert_top_k(op: stablehlo.TopKOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.top_k`; truth values count as 1 and 0."""
    operands, declared = conversion.operands(op), conversion.result_types(op)
    source, values = as_array(operands[0].type), as_array(declared[0])
    properties = op.xla_properties()
    if source is None or values is None or {source.element_type, values.element_type} != {PRED}:
        return conversion.emit(xla.TopkOp, operands, declared, properties)
    numbers = conversion.emit(ConvertOp, operands, [array(_U8, sizes_of(source))])
    types = [array(_U8, sizes_of(values)), declared[1]]
    found, places = conversion.emit(xla.TopkOp, numbers, types, properties)
    return [conversion.emit(ConvertOp, [found], [values])[0], places]


_U8 = BY_NAME["u8"].type


def top_k_of_xla(op: xla.TopkOp, legalization: FromXla) -> Sequence[SSAValue]:
    """
    `chlo.top_k`, which takes the largest.

    For the smallest the order is reversed, exactly: floats are negated, of integers all bits.
    """
    if op.largest.value.data:
        return legalization.same(op, stablehlo.TopKOp)
    (operand,), types = legalization.operands(op), legalization.result_types(op)
    is_float = element_class(cast(Array, operand.type).element_type) & ElementClass.FLOAT
    reverse = elementwise.NegateOp if is_float else elementwise.NotOp
    reversed_ = legalization.emit(reverse, [operand], [operand.type]).results
    properties = stablehlo.TopKOp.properties_of(op)
    made = legalization.emit(stablehlo.TopKOp, reversed_, types, properties)
    values, indices = made.results
    back = legalization.emit_unnamed(reverse, [values], [values.type])
    return [back.results[0], indices]


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.SortOp, convert_sort)
    .add(stablehlo.TopKOp, convert_top_k)
)

FROM_XLA = OperationTable[LegalizeFromXla]().add(xla.TopkOp, top_k_of_xla)
