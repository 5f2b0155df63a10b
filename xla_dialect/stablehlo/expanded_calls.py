"""
Custom calls that stand for operations: `@mhlo.erf`, as StableHLO writes those that only MHLO has,
and `@TopK`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from xla_dialect.analysis.computations import TOP_K, is_descending
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.stablehlo.conversion import Conversion, sizes_of
from xla_dialect.stablehlo.legalize.chlo import FUNCTIONS, FunctionCall
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.types import is_array

ReplacedCall: TypeAlias = Callable[[SourceOp, Conversion], Sequence[SSAValue]]
"""Emits what replaces a custom call."""


def take_attributes(op: SourceOp) -> Mapping[str, Attribute]:
    """The attributes of the operation that a call stands for."""
    op.take("mhlo.version")
    found = op.take("mhlo.attributes")
    if found is not None and not isinstance(found, DictionaryAttr):
        op.fail(f"mhlo.attributes is {found}, not a dictionary")
    return {} if found is None else found.data


def function_call(convert: FunctionCall) -> ReplacedCall:
    """The conversion of a call that stands for a function of one array."""

    def convert_call(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
        take_attributes(op)
        if len(op.operands) != 1 or len(op.results) != 1:
            op.fail("takes and returns one array")
        return convert(op, conversion)

    return convert_call


def convert_top_k_operation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@mhlo.topk(operand) {mhlo.attributes = {k = 2, largest = true}}`."""
    attributes = take_attributes(op)
    k, largest = attributes.get("k"), attributes.get("largest", BoolAttr.from_bool(True))
    if not isinstance(k, IntegerAttr) or not isinstance(largest, IntegerAttr):
        op.fail(f"its attributes have k = {k} and largest = {largest}, not a number and a flag")
    numbers = cast("Mapping[str, Attribute]", {"k": k, "largest": largest})
    return _top_k(op, conversion, numbers)


def convert_top_k_call(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@TopK(operand)`, of which the result says how many and a comparator in which order."""
    called = op.take("called_computations")
    names = cast("ArrayAttr[Attribute]", called).data if isinstance(called, ArrayAttr) else ()
    descends: bool | None = True
    if names:
        name = names[0]
        if len(names) != 1 or not isinstance(name, SymbolRefAttr):
            op.fail("names one comparator as its called computation")
        descends = is_descending(conversion.computation(name.root_reference.data, op))
    types = conversion.result_types(op)
    if descends is None:
        op.fail("its comparator does not compare the two elements by `<` or `>`")
    if not types or not is_array(types[0]) or not sizes_of(types[0]):
        op.fail("returns an array of values and one of places")
    k = IntegerAttr(sizes_of(types[0])[-1], i64)
    return _top_k(op, conversion, {"k": k, "largest": BoolAttr.from_bool(descends)})


def _top_k(
    op: SourceOp, conversion: Conversion, properties: Mapping[str, Attribute]
) -> Sequence[SSAValue]:
    if len(op.operands) != 1 or len(op.results) != 2:
        op.fail("takes one array and has two results")
    types = conversion.result_types(op)
    return conversion.emit(TopkOp, conversion.operands(op), types, properties)


EXPANDED_CALLS: Mapping[str, ReplacedCall] = {
    **{
        f"mhlo.{name.partition('.')[2]}": function_call(convert)
        for name, convert in FUNCTIONS.items()
    },
    "mhlo.topk": convert_top_k_operation,
    TOP_K: convert_top_k_call,
}
"""By the name of the target."""
