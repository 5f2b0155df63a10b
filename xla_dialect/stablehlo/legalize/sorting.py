"""
Sorting: all arrays are of one shape, whatever is known of it.

JAX's `approx_max_k` and `approx_min_k` are the custom call `@ApproxTopK`. Where there is no
hardware for approximation the answer is exact: all is sorted by the called comparator, and as many
as there are results are taken. So does XLA on the CPU, whatever recall is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import sorting as xla
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.data_movement import SliceOp
from xla_dialect.ops.sorting import SortOp
from xla_dialect.shapes.size_arithmetic import bounded, compatible_sizes
from xla_dialect.stablehlo.conversion import Conversion, Legalize, sizes_of
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.ops import elementwise
from xla_dialect.stablehlo.ops import sorting as stablehlo
from xla_dialect.stablehlo.ops.custom_calls import CustomCallOp
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    element_class,
    is_array,
)
from xla_dialect.violations import check
from xla_dialect.xdsl.operation_table import OperationTable


def convert_approximate_top_k(op: CustomCallOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`@ApproxTopK(inputs..., inits...)`; the configuration says how many, and where."""
    operands, declared = conversion.operands(op), conversion.result_types(op)
    count = len(operands) // 2
    inputs = operands[:count]
    check(
        count and len(operands) == 2 * count and len(declared) == count,
        "takes arrays and as many initial values, and has as many results",
    )
    check(
        all(map(is_array, (*(value.type for value in operands), *declared))),
        "takes and returns arrays",
    )
    dimension, top_k, is_aggregated = _configuration(op)
    sizes = sizes_of(inputs[0].type)
    check(
        0 <= dimension < len(sizes),
        "reduction_dim is {}, the arrays have {} dimensions",
        dimension,
        len(sizes),
    )
    # Without aggregation, the producer of the program chose how many candidates are kept.
    kept = top_k if is_aggregated else (*sizes_of(declared[0]), 0, *sizes)[dimension]
    check(
        bounded(0, kept, sizes[dimension]),
        "keeps {} of the {} elements of dimension {}",
        kept,
        sizes[dimension],
        dimension,
    )
    limits = [kept if d == dimension else size for d, size in enumerate(sizes)]
    for value, type_ in zip(inputs, declared, strict=True):
        element_type = cast(Array, value.type).element_type
        is_like_first = compatible_sizes(sizes_of(value.type), sizes)
        check(
            is_like_first and type_ == array(element_type, limits),
            "the result for {} is {}, expected sizes {}",
            value.type,
            type_,
            limits,
        )
    ordered = conversion.emit(
        SortOp,
        inputs,
        [value.type for value in inputs],
        {"dimension": IntegerAttr(dimension, i64), "is_stable": BoolAttr.from_bool(True)},
        [conversion.computation(_comparator(op), op)],
    )
    return [_first(v, type_, conversion) for v, type_ in zip(ordered, declared, strict=True)]


def _configuration(op: CustomCallOp) -> tuple[int, int, bool]:
    """The dimension that is searched, how many are wanted, whether only these are returned."""
    found = [op.attributes.pop("mhlo.backend_config", None), op.backend_config]
    given = next((each for each in found if isinstance(each, DictionaryAttr)), None)
    if given is None:
        raise VerifyException("its configuration is missing")
    values: list[int] = []
    for name in ("reduction_dim", "top_k", "aggregate_to_topk"):
        number = given.data.get(name)
        if not isinstance(number, IntegerAttr):
            raise VerifyException(f"{name} of its configuration is {number}, not a number")
        values.append(cast("IntegerAttr[Any]", number).value.data)
    return values[0], values[1], bool(values[2])


def _comparator(op: CustomCallOp) -> str:
    names = op.callees
    check(len(names) == 1, "names one comparator as its called computation")
    return names[0]


def _first(value: SSAValue, type_: Attribute, conversion: Conversion) -> SSAValue:
    """The elements of an array from its start, as many as a type has."""
    sizes = sizes_of(type_)
    if compatible_sizes(sizes_of(value.type), sizes):
        return value
    nowhere, once = [0] * len(sizes), [1] * len(sizes)
    part = SliceOp(value, start_indices=nowhere, limit_indices=sizes, strides=once)
    return conversion.made(part)


def convert_top_k(op: stablehlo.TopKOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`chlo.top_k`; truth values count as 1 and 0."""
    declared = conversion.result_types(op)
    types = list(map(stablehlo.with_numbers, declared))
    operands = conversion.operands_of_xla(op, ())
    values, indices = conversion.emit(xla.TopkOp, operands, types, op.xla_properties())
    if types[0] is not declared[0]:
        (values,) = conversion.emit(ConvertOp, [values], declared[:1])
    return [values, indices]


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


TO_XLA = OperationTable[Legalize]().add(stablehlo.TopKOp, convert_top_k)

FROM_XLA = OperationTable[LegalizeFromXla]().add(xla.TopkOp, top_k_of_xla)
