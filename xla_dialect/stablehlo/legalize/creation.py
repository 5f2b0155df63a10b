"""Constants and random numbers.

One value everywhere is a scalar that is broadcast in `xla`, and constant tuples are there. An
operand of StableHLO's `rng` has the sizes of the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import creation as xla
from xla_dialect.ops import random
from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.stablehlo.attributes import Inexpressible
from xla_dialect.stablehlo.conversion import (
    Conversion,
    Legalize,
    sized_result,
    sizes_of,
)
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla
from xla_dialect.stablehlo.op import integers_of
from xla_dialect.stablehlo.ops import creation as stablehlo
from xla_dialect.types import Array, array
from xla_dialect.violations import check
from xla_dialect.xdsl.dense_literals import is_splat
from xla_dialect.xdsl.operation_table import OperationTable


def convert_constant(op: stablehlo.LiteralOp, conversion: Conversion) -> Sequence[SSAValue]:
    """A constant, see `emit_constant`."""
    return emit_constant(op, op.value, conversion)


def emit_constant(
    op: Operation,
    value: Attribute | None,
    conversion: Conversion,
    wanted: Attribute | None = None,
    one_value: Attribute | None = None,
) -> Sequence[SSAValue]:
    """
    The constant that an operation is; one value everywhere becomes a scalar that is broadcast.

    `wanted`: the type, if not the declared one; `one_value`: the scalar type of a value that stands
    for an array of it.
    """
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise VerifyException(f"value is {value}, not a dense literal")
    value = cast("DenseIntOrFPElementsAttr[Any]", value)
    declared = conversion.result_types(op) if wanted is None else [wanted]
    found = conversion.type(cast(Attribute, value.type), op)
    check(found in (declared[0], one_value), "value has type {}, the result {}", found, declared[0])
    type_ = cast(Array, declared[0])
    if found == type_ and (math.prod(type_.get_shape()) == 1 or not is_splat(value)):
        return conversion.emit(xla.ConstantOp, (), declared, {"value": value})
    scalar = TensorType(type_.element_type, ())
    element = value.data.data[: value.get_element_type().compile_time_size]
    literal = DenseIntOrFPElementsAttr(cast(Any, scalar), BytesAttr(element))
    constant = conversion.emit(xla.ConstantOp, (), [scalar], {"value": literal})
    return [conversion.broadcast(constant[0], type_)]


def constant_of_xla(op: xla.ConstantOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.constant`; a constant tuple is one for every element."""
    return [emit_literal(leaf, leaf.type, legalization) for leaf in _leaves(op.value)]


def _leaves(value: Attribute) -> Iterable[DenseIntOrFPElementsAttr[Any]]:
    if isinstance(value, DenseIntOrFPElementsAttr):
        return (cast("DenseIntOrFPElementsAttr[Any]", value),)
    if isinstance(value, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", value).data
        return [leaf for element in elements for leaf in _leaves(element)]
    raise Inexpressible(f"StableHLO has no literal {value}")


def emit_literal(
    literal: DenseIntOrFPElementsAttr[Any], type_: Attribute, legalization: FromXla
) -> SSAValue:
    """`stablehlo.constant` with the elements of a literal, or its only one everywhere."""
    (plain,) = legalization.types([type_])
    is_same = literal.type is plain
    value = literal if is_same else DenseIntOrFPElementsAttr(cast(Any, plain), literal.data)
    return legalization.emit(stablehlo.ConstantOp, (), [plain], {"value": value}).results[0]


def convert_rng(op: stablehlo.RngOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.rng`; the operand with the sizes says what the result type does."""
    declared, operands = conversion.result_types(op), conversion.operands(op)
    sizes = conversion.constant_integers(operands[2])
    if sizes is not None:
        declared = [sized_result(op, conversion, sizes)]
    return conversion.emit(random.RngOp, operands[:2], declared, op.xla_properties())


def rng_of_xla(op: random.RngOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.rng`, whose last operand is the sizes of the result."""
    sizes = sizes_of(op.result.type)
    shape = _constant_before(op, sizes, legalization)
    if shape is None:
        type_: Any = array(i64, (len(sizes),))
        literal = {"value": DenseIntOrFPElementsAttr.from_list(type_, list(sizes))}
        (shape,) = legalization.emit(stablehlo.ConstantOp, (), [type_], literal).results
        shape.name_hint = "c"
    operands, types = [*legalization.operands(op), shape], legalization.result_types(op)
    properties = stablehlo.RngOp.properties_of(op)
    return legalization.emit(stablehlo.RngOp, operands, types, properties).results


def _constant_before(
    op: random.RngOp, sizes: Sequence[int], legalization: FromXla
) -> SSAValue | None:
    """The constant of these sizes before an `rng` that was read, which nothing uses."""
    before = op.prev_op
    while isinstance(before, xla.ConstantOp | BroadcastOp):
        if before.results[0].first_use is None:
            value = legalization.value(before.results[0])
            made = value.owner
            if isinstance(made, stablehlo.ConstantOp) and integers_of(made.value) == tuple(sizes):
                return value
        before = before.prev_op
    return None


TO_XLA = (
    OperationTable[Legalize]()
    .add(stablehlo.ConstantOp, convert_constant)
    .add(stablehlo.RngOp, convert_rng)
)


FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.ConstantOp, constant_of_xla)
    .add(random.RngOp, rng_of_xla)
)
