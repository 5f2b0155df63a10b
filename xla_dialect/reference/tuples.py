"""What the operations on tuples compute; a tuple is a Python tuple."""

from __future__ import annotations

from xla_dialect.literals.arrays import Value
from xla_dialect.ops import tuples as ops
from xla_dialect.reference.registration import registration, unchanged


def get_tuple_element(operand: tuple[Value, ...], *, index: int) -> Value:
    """Element `index`."""
    return operand[index]


TupleFunctions = registration(
    "TupleFunctions",
    {ops.TupleOp: unchanged, ops.GetTupleElementOp: get_tuple_element},
)
