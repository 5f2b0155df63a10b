"""Custom calls that stand for operations of the dialect, as XLA expands them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64
from xdsl.ir import Attribute, BlockArgument, Region

from xla_dialect.analysis.comparators import sort_keys
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import as_array, flatten, sizes_of

TOP_K = "TopK"
"""
The target of calls that return the first elements of lines and their places, as many as the result
has, in the order of a comparator; in descending order without one. (XLA's CPU looks at none.)
"""


def top_k_properties(op: CustomCallOp) -> Mapping[str, Attribute] | None:
    """Those of the `topk` of the operand that a call stands for; None for other calls."""
    results = flatten(op.result_types)
    if op.custom_call_target.data != TOP_K or len(op.inputs) != 1 or len(results) != 2:
        return None
    values = as_array(results[0])
    descends = is_descending(op.called_computations[0]) if op.called_computations else True
    if descends is None or values is None or not sizes_of(values):
        return None
    return {"k": IntegerAttr(sizes_of(values)[-1], i64), "largest": BoolAttr.from_bool(descends)}


def is_descending(comparator: Region) -> bool | None:
    """
    Whether a comparator puts greater elements of the first array first, or lesser ones; None for
    one that compares something else.
    """
    keys = sort_keys(comparator)
    if keys is None or len(keys) != 1:
        return None
    value = keys[0].value
    is_first = isinstance(value, BlockArgument) and value.index < 2
    return keys[0].is_descending if is_first else None
