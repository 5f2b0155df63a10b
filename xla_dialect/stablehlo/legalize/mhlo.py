"""Bit casts of MHLO, by the layouts that it names."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.layout import Layout
from xla_dialect.ops import data_movement as xla
from xla_dialect.stablehlo.attributes import integers
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.op import integers_of
from xla_dialect.stablehlo.ops import mhlo
from xla_dialect.types import Array, array, as_array
from xla_dialect.xdsl.operation_table import OperationTable


def convert_bitcast(op: mhlo.BitcastOp, conversion: Conversion) -> Sequence[SSAValue]:
    """
    `mhlo.bitcast`: elements in the order of one layout, read in the order of the other.

    Between element types, or without layouts, it is the bitcast of `xla`.
    """
    (value,), (declared,) = conversion.operands(op), conversion.result_types(op)
    before, after = as_array(value.type), as_array(declared)
    if before is None or after is None:
        raise VerifyException("takes and returns an array")
    if not _has_layouts(op) or before.element_type != after.element_type:
        return conversion.emit(xla.BitcastOp, [value], [declared])
    first, last = _order(op, "source_layout", before), _order(op, "result_layout", after)
    in_memory = [sizes_of(before)[d] for d in first], [sizes_of(after)[d] for d in last]
    for sizes, op_class, order in (
        (in_memory[0], xla.TransposeOp, first),
        (in_memory[1], xla.ReshapeOp, None),
        (sizes_of(after), xla.TransposeOp, [last.index(d) for d in range(len(last))]),
    ):
        properties = {} if order is None else {"dimensions": integers(order)}
        result = array(before.element_type, sizes)
        (value,) = conversion.emit(op_class, [value], [result], properties)
    return [value]


def _has_layouts(op: mhlo.BitcastOp) -> bool:
    return "source_layout" in op.attributes or "result_layout" in op.attributes


def _order(op: mhlo.BitcastOp, name: str, type_: Array) -> Sequence[int]:
    """The dimensions of an array from the most major on, in the layout that an attribute says."""
    layout, rank = op.attributes.pop(name, None), len(sizes_of(type_))
    order = Layout.default(rank).minor_to_major if layout is None else integers_of(layout)
    if order is None or sorted(order) != list(range(rank)):
        raise VerifyException(f"{name} is {layout}, not an order of {rank} dimensions")
    return order[::-1]


TO_XLA = OperationTable[Legalize]().add(mhlo.BitcastOp, convert_bitcast)
