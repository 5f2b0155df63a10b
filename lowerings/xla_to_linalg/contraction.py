"""Contractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, ComplexType, Float64Type, TensorType, f32, f64
from xdsl.ir import Attribute, SSAValue

from lowerings.conversion import ConversionBuilder
from lowerings.xla_to_linalg import complex_numbers, elementwise_binary
from lowerings.xla_to_linalg.conversion import convert_scalar
from lowerings.xla_to_linalg.element_functions import ScalarFunction, elements_of
from lowerings.xla_to_linalg.formulas import of_complex
from lowerings.xla_to_linalg.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    array_type,
    constant,
    fill,
    generic,
    identity,
    iterators,
    pointwise,
    projection,
    sizes_of,
)
from xla_dialect.op import decode
from xla_dialect.ops.contraction import DotOp
from xla_dialect.shapes import without
from xla_dialect.types import ElementClass, component_type, element_class

Ints = tuple[int, ...]

_MULTIPLY_ADD: dict[ElementClass, tuple[ScalarFunction, ScalarFunction]] = {
    ElementClass.FLOAT: (ScalarBuilder.mulf, ScalarBuilder.addf),
    ElementClass.SIGNED: (elementwise_binary.MULTIPLY, elementwise_binary.ADD),
    ElementClass.UNSIGNED: (elementwise_binary.MULTIPLY, elementwise_binary.ADD),
    ElementClass.PRED: (elementwise_binary.AND, elementwise_binary.OR),
    ElementClass.COMPLEX: (of_complex(complex_numbers.multiply), of_complex(complex_numbers.add)),
}


@dataclass(frozen=True)
class ContractionMaps:
    """
    The iteration space of a contraction and the maps of its operands.

    Loops: batch, free lhs and free rhs dimensions, as in the result; then the contracting ones.
    """

    lhs: AffineMapAttr
    rhs: AffineMapAttr
    result: AffineMapAttr
    parallel: int
    contracting: int

    @staticmethod
    def of(op: DotOp) -> ContractionMaps:
        """The maps of a `dot`."""
        batch = cast("tuple[Ints, Ints]", (decode(op.lhs_batch_dims), decode(op.rhs_batch_dims)))
        contracting = cast(
            "tuple[Ints, Ints]",
            (decode(op.lhs_contracting_dims), decode(op.rhs_contracting_dims)),
        )
        ranks = len(sizes_of(op.lhs)), len(sizes_of(op.rhs))
        free = [
            without(range(rank), (*b, *c))
            for rank, b, c in zip(ranks, batch, contracting, strict=True)
        ]
        parallel = len(batch[0]) + len(free[0]) + len(free[1])
        loops = parallel + len(contracting[0])
        first_free = (len(batch[0]), len(batch[0]) + len(free[0]))
        maps: list[AffineMapAttr] = []
        for side in range(2):
            loop_of = dict(zip(batch[side], range(len(batch[side])), strict=True))
            loop_of |= {d: first_free[side] + i for i, d in enumerate(free[side])}
            loop_of |= {d: parallel + i for i, d in enumerate(contracting[side])}
            maps.append(projection(loops, tuple(loop_of[d] for d in range(ranks[side]))))
        result = projection(loops, tuple(range(parallel)))
        return ContractionMaps(maps[0], maps[1], result, parallel, len(contracting[0]))


def accumulator_type(lhs: Attribute, rhs: Attribute, result: Attribute) -> Attribute:
    """
    The element type in which products are summed.

    f64 (c128) if operands or result have it, f32 (c64) for other floats, else the result type.
    """
    types = [t for t in (lhs, rhs, result) if element_class(t) & _INEXACT]
    if not types:
        return result
    is_double = any(isinstance(component_type(t), Float64Type) for t in types)
    part = f64 if is_double else f32
    is_complex = any(element_class(t) == ElementClass.COMPLEX for t in types)
    return ComplexType(part) if is_complex else part


_INEXACT = ElementClass.FLOAT | ElementClass.COMPLEX


def convert_dot(op: DotOp, builder: ConversionBuilder) -> None:
    """
    One generic of products and sums over a tensor of zeros; rounded to the result type afterwards.

    Operands are extended to the accumulator's type in the body.
    """
    result = array_type(op.result)
    left, right = elements_of(op.lhs), elements_of(op.rhs)
    accumulator = accumulator_type(left, right, result.element_type)
    multiply, add = _MULTIPLY_ADD[element_class(accumulator)]
    maps = ContractionMaps.of(op)

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x = convert_scalar(s, elements[0], left, accumulator)
        y = convert_scalar(s, elements[1], right, accumulator)
        return (add(s, elements[2], multiply(s, x, y)),)

    type_ = TensorType(accumulator, result.shape)
    zeros = _zeros(builder, type_)
    sums = generic(
        builder,
        ((op.lhs, maps.lhs), (op.rhs, maps.rhs)),
        ((zeros, maps.result),),
        iterators(maps.parallel, maps.contracting),
        body,
    )[0]
    if accumulator == result.element_type:
        builder.replace([sums])
        return

    def round_once(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return (convert_scalar(s, elements[0], accumulator, result.element_type),)

    inputs = ((sums, identity(maps.parallel)),)
    builder.replace([pointwise(builder, inputs, result, round_once)])


def _zeros(builder: ConversionBuilder, type_: TensorType[Attribute]) -> SSAValue:
    element_type = type_.element_type
    if element_class(element_type) != ElementClass.COMPLEX:
        return fill(builder, constant(builder, 0, element_type), type_)

    def body(s: ScalarBuilder, _elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        zero = s.constant(0.0, component_type(element_type))
        return (s.create_complex(zero, zero),)

    return pointwise(builder, (), type_, body)
