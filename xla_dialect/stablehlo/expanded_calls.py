"""
Custom calls that stand for operations: `@mhlo.erf`, as StableHLO writes those that only MHLO has,
and `@TopK`, whose comparator is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xla_dialect.analysis.computations import TOP_K, top_k_properties
from xla_dialect.ops.custom_calls import CustomCallOp as XlaCustomCallOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS, FunctionCall
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp

ReplacedCall: TypeAlias = Callable[[CustomCallOp, Conversion], Sequence[SSAValue]]
"""Emits what replaces a custom call."""


def take_attributes(op: CustomCallOp) -> Mapping[str, Attribute]:
    """The attributes of the operation that a call stands for, which the call has no longer."""
    op.attributes.pop("mhlo.version", None)
    found = op.attributes.pop("mhlo.attributes", None)
    if found is not None and not isinstance(found, DictionaryAttr):
        op.fail(f"mhlo.attributes is {found}, not a dictionary")
    return {} if found is None else found.data


def function_call(convert: FunctionCall) -> ReplacedCall:
    """The conversion of a call that stands for a function of one array."""

    def convert_call(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
        take_attributes(op)
        if len(op.operands) != 1 or len(op.results) != 1:
            op.fail("takes and returns one array")
        return convert(op, conversion)

    return convert_call


def convert_top_k_operation(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@mhlo.topk(operand) {mhlo.attributes = {k = 2, largest = true}}`."""
    attributes = take_attributes(op)
    k, largest = attributes.get("k"), attributes.get("largest", BoolAttr.from_bool(True))
    if not isinstance(k, IntegerAttr) or not isinstance(largest, IntegerAttr):
        op.fail(f"its attributes have k = {k} and largest = {largest}, not a number and a flag")
    if len(op.operands) != 1 or len(op.results) != 2:
        op.fail("takes one array and has two results")
    properties = cast("Mapping[str, Attribute]", {"k": k, "largest": largest})
    types = conversion.result_types(op)
    return conversion.emit(TopkOp, conversion.operands(op), types, properties)


def convert_top_k_call(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@TopK(operand)`, with its comparator as a computation."""
    if len(op.operands) != 1 or len(op.results) != 2:
        op.fail("takes one array and has two results")
    regions = [conversion.computation(name, op) for name in op.callees]
    operands, types = conversion.operands(op), conversion.result_types(op)
    properties = {"custom_call_target": StringAttr(TOP_K)}
    results = conversion.emit(XlaCustomCallOp, operands, types, properties, regions)
    if top_k_properties(cast(XlaCustomCallOp, cast(Operation, results[0].owner))) is None:
        op.fail("its comparator does not compare the two elements by `<` or `>`")
    return results


EXPANDED_CALLS: Mapping[str, ReplacedCall] = {
    **{
        f"mhlo.{name.partition('.')[2]}": function_call(convert)
        for name, convert in FUNCTIONS.items()
    },
    "mhlo.topk": convert_top_k_operation,
    TOP_K: convert_top_k_call,
}
"""By the name of the target."""
