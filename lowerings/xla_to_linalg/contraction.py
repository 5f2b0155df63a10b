"""Contractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    ComplexType,
    Float64Type,
    TensorType,
    bf16,
    f32,
    f64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Attribute, SSAValue

from lowerings.ir.dot_products import APPROXIMATE
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg import elementwise
from lowerings.xla_to_linalg.conversion import convert_scalar
from lowerings.xla_to_linalg.scalar_functions.element_functions import ScalarFunction, elements_of
from lowerings.xla_to_linalg.scalar_functions.formulas import Complex, of_complex
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    fill,
    generic,
    identity,
    indexing_maps,
    outside_of_bodies,
    pointwise,
)
from xla_dialect.ops.contraction import ConvolutionOp, DotOp, has_default_precision
from xla_dialect.types import ElementClass, component_type, element_class
from xla_dialect.xdsl.traversal import tensor_shape

_MULTIPLY_ADD: dict[ElementClass, tuple[ScalarFunction, ScalarFunction]] = {
    ElementClass.FLOAT: (ScalarBuilder.mulf, ScalarBuilder.addf),
    ElementClass.SIGNED: (elementwise.MULTIPLY, elementwise.ADD),
    ElementClass.UNSIGNED: (elementwise.MULTIPLY, elementwise.ADD),
    ElementClass.PRED: (elementwise.AND, elementwise.OR),
    ElementClass.COMPLEX: (of_complex(Complex.__mul__), of_complex(Complex.__add__)),
}


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
    """One generic of products and sums; see `sum_products`."""
    maps = indexing_maps(op)
    factors = Factors.of(op)
    operands = tuple(zip(op.operands, maps.operands, strict=True))

    def products(s: ScalarBuilder, elements: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
        return elements[0], elements[1]

    sums = sum_products(
        builder,
        factors,
        operands,
        (tensor_shape(op.result), maps.results[0]),
        maps.iterator_types,
        products,
    )
    builder.replace([converted(builder, sums, factors.accumulator, factors.result)])


@dataclass(frozen=True)
class Factors:
    """The element types of the factors, of their sums and of the result."""

    left: Attribute
    right: Attribute
    accumulator: Attribute
    result: Attribute
    flushes_subnormals: bool
    """Whether subnormal numbers may count as zero: those of bf16 in default precision."""

    @staticmethod
    def of(op: DotOp | ConvolutionOp) -> Factors:
        """The types for an operation of the xla dialect."""
        left, right, result = map(elements_of, (op.lhs, op.rhs, op.result))
        accumulator = accumulator_type(left, right, result)
        flushes = left == right == bf16 and accumulator == f32 and has_default_precision(op)
        return Factors(left, right, accumulator, result, flushes)


def sum_products(
    builder: ConversionBuilder,
    factors: Factors,
    operands: Sequence[tuple[SSAValue, AffineMapAttr]],
    result: tuple[Sequence[int], AffineMapAttr],
    iterator_types: ArrayAttr[IteratorTypeAttr],
    elements_of_operands: Callable[[ScalarBuilder, Sequence[SSAValue]], tuple[SSAValue, SSAValue]],
) -> SSAValue:
    """
    One generic of products and sums over a tensor of zeros, in the accumulator's type.

    Operands are extended to it in the body, where `elements_of_operands` gives both factors.
    """
    accumulator = factors.accumulator
    multiply, add = _MULTIPLY_ADD[element_class(accumulator)]

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        left, right = elements_of_operands(s, elements)
        x = convert_scalar(s, left, factors.left, accumulator)
        y = convert_scalar(s, right, factors.right, accumulator)
        if factors.flushes_subnormals:
            term = s.emit(arith.MulfOp, (x, y), properties={"fastmath": APPROXIMATE})
        else:
            term = multiply(s, x, y)
        return (add(s, elements[-1], term),)

    sizes, result_map = result
    zeros = filled_with_zeros(builder, TensorType(accumulator, sizes))
    return generic(builder, operands, ((zeros, result_map),), iterator_types, body)[0]


def converted(
    builder: ConversionBuilder, value: SSAValue, source: Attribute, target: Attribute
) -> SSAValue:
    """A tensor with its elements converted, or itself."""
    if source == target:
        return value

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return (convert_scalar(s, elements[0], source, target),)

    sizes = tensor_shape(value)
    inputs = ((value, identity(len(sizes))),)
    return pointwise(builder, inputs, TensorType(target, sizes), body)


def zero(s: ScalarBuilder, element_type: Attribute) -> SSAValue:
    """The number 0 of any element type."""
    if element_class(element_type) != ElementClass.COMPLEX:
        return s.constant(0, element_type)
    part = s.constant(0.0, component_type(element_type))
    return s.create_complex(part, part)


def filled_with_zeros(builder: ConversionBuilder, type_: TensorType[Attribute]) -> SSAValue:
    """A new tensor of zeros."""
    scalar = outside_of_bodies(builder, lambda s: zero(s, type_.element_type))
    return fill(builder, scalar, type_)
