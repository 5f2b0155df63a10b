"""Sorting: all arrays are of one shape, whatever is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from xdsl.ir import SSAValue

from xla_dialect.ops import sorting as xla
from xla_dialect.shapes.size_arithmetic import compatible_sizes
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.ops import sorting as stablehlo
from xla_dialect.types import spell_all
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


TO_XLA = OperationTable[Legalize]().add(stablehlo.SortOp, convert_sort)
