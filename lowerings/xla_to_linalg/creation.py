"""Constants and iota."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from lowerings.ir.scalar_attributes import scalar_of
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.conversion import convert_scalar
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder, storage
from lowerings.xla_to_linalg.structured import array_type, fill, pointwise, stored
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.types import ElementClass, element_class
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.dense_literals import LEFT_OUT, is_elided, is_splat


def convert_constant(op: ConstantOp, builder: ConversionBuilder) -> str | None:
    """A splat of rank 1 and more is filled in, everything else is an `arith.constant`."""
    if isinstance(op.value, ArrayAttr):
        return "it is a tuple; xla-flatten-tuples takes tuples apart"
    if is_elided(op.value):
        return LEFT_OUT
    literal = cast("DenseIntOrFPElementsAttr[Any]", op.value)
    type_ = array_type(op.result)
    scalar = scalar_of(literal) if type_.shape.data and is_splat(literal) else None
    if scalar is not None and not isinstance(scalar, ArrayAttr):
        value = builder.insert(arith.ConstantOp(cast("Any", scalar))).result
        builder.replace([fill(builder, value, type_)])
        return None
    constant = create(
        arith.ConstantOp, result_types=op.result_types, properties={"value": stored(literal)}
    )
    builder.replace(builder.insert(constant).results)
    return None


def convert_iota(op: IotaOp, builder: ConversionBuilder) -> None:
    """The position along the dimension, converted to the element type; narrow integers wrap."""
    type_ = array_type(op.result)
    dimension = op.iota_dimension.value.data

    size = type_.get_shape()[dimension]
    integer_type: Attribute = i32 if size <= 1 << 31 else i64
    element_type: Attribute = type_.element_type
    if element_class(element_type) & ElementClass.INTEGER:
        integer_type = element_type

    def body(s: ScalarBuilder, _elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        position = s.emit(arith.IndexCastOp, (s.index(dimension),), storage(integer_type))
        return (convert_scalar(s, position, integer_type, element_type),)

    builder.replace([pointwise(builder, (), type_, body)])
