"""
The types in which sums and products of a reduction are accumulated.

A reduction whose computation is one addition or one multiplication of narrow floats is done in f32,
and rounded once. One that adds complex numbers becomes two, of their real and imaginary parts: what
is known of sums of floats holds for them then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ComplexType, f32, f64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lowerings.rewriting.conversion import ConversionBuilder
from xla_dialect.analysis.computations import (
    Reducing,
    accumulates_in_f32,
    reducer_of,
    scatters_long_sums,
)
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.ops.elementwise import AddOp, ComplexOp, ImagOp, RealOp, SubtractOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.reduction import SelectAndScatterOp, only_operation
from xla_dialect.types import Array, array, array_like, component_type

Taken: TypeAlias = Callable[[SSAValue], Operation]
"""Makes what is computed with of an operand."""


def expand_accumulation(op: Reducing, builder: ConversionBuilder) -> None:
    """A reduction of narrow floats is done in f32, one that adds complex numbers in parts."""
    if accumulates_in_f32(op):
        wide = _on(op, builder, f32, partial(_convert, to=f32))
        _finish(op, builder, ConvertOp, (wide,))
    elif _adds_up(op):
        element_type = _element_type(op)
        part = component_type(element_type)
        if part != element_type:
            parts = [_on(op, builder, part, taken) for taken in (_real, _imaginary)]
            _finish(op, builder, ComplexOp, parts)


def _adds_up(op: Reducing) -> bool:
    """Whether an operation adds up many elements."""
    if isinstance(op, ScatterOp):
        return scatters_long_sums(op)
    return not isinstance(op, SelectAndScatterOp) and only_operation(reducer_of(op)) is AddOp


def _element_type(op: Reducing) -> Attribute:
    """That of what is reduced, of which there is one array."""
    return cast(Array, op.results[0].type).element_type


def _on(op: Reducing, builder: ConversionBuilder, other: Attribute, taken: Taken) -> SSAValue:
    """The operation on operands of another element type, which `taken` makes of them."""
    element_type = _element_type(op)
    operands = [
        builder.insert(taken(operand)).results[0]
        if cast(Array, operand.type).element_type == element_type
        else operand
        for operand in op.operands
    ]
    regions = [_reducer(op, other)]
    if isinstance(op, SelectAndScatterOp):
        regions.insert(0, _selecting(op, other))
    return builder.insert(type(op).make(operands, op.properties, regions)).results[0]


def _reducer(op: Reducing, element_type: Attribute) -> Region:
    """The computation that reduces, on scalars of another element type."""
    old = reducer_of(op)
    first = cast(XlaOp, old.first_op)
    block = Block(arg_types=[array(element_type, ())] * 2)
    arguments = dict[SSAValue, SSAValue](zip(old.args, block.args, strict=True))
    operands = [arguments[operand] for operand in first.operands]
    combined = type(first).make(operands, first.properties)
    block.add_ops([combined, ReturnOp.make(combined.results, {})])
    return Region(block)


def _selecting(op: SelectAndScatterOp, element_type: Attribute) -> Region:
    """The computation that selects, on scalars of a wider type."""
    region = op.select.clone()
    block = region.block
    for old in tuple(block.args):
        wide = block.insert_arg(array(element_type, ()), len(block.args))
        narrow = ConvertOp.make([wide], {}, result_types=[old.type])
        first = block.first_op
        assert first is not None
        block.insert_op_before(narrow, first)
        old.replace_all_uses_with(narrow.result)
        block.erase_arg(old)
    return region


def _finish(
    op: Reducing, builder: ConversionBuilder, made_by: type[XlaOp], values: Sequence[SSAValue]
) -> None:
    result = made_by.make(values, {}, result_types=[op.results[0].type])
    builder.replace(builder.insert(result).results)


def _convert(value: SSAValue, to: Attribute) -> Operation:
    return ConvertOp.make([value], {}, result_types=[array_like(cast(Array, value.type), to)])


def _real(value: SSAValue) -> Operation:
    return RealOp.make([value], {})


def _imaginary(value: SSAValue) -> Operation:
    return ImagOp.make([value], {})


def expand_complex_products(op: DotOp | ConvolutionOp, builder: ConversionBuilder) -> None:
    """A dot or convolution of complex numbers is four of their parts."""
    result = cast(Array, op.result.type)
    types = [cast(Array, each).element_type for each in (*op.operand_types, result)]
    if not any(isinstance(type_, ComplexType) for type_ in types):
        return
    part = f64 if any(component_type(type_) == f64 for type_ in types) else f32
    parts = [
        [builder.insert(taken(wide)).results[0] for taken in (_real, _imaginary)]
        for wide in (
            builder.insert(_convert(operand, ComplexType(part))).results[0]
            for operand in op.operands
        )
    ]

    def of(left: int, right: int) -> SSAValue:
        operands = parts[0][left], parts[1][right]
        own = array_like(result, part)
        return builder.insert(type(op).make(operands, op.properties, result_types=[own])).results[0]

    real = builder.insert(SubtractOp.make((of(0, 0), of(1, 1)), {}))
    imaginary = builder.insert(AddOp.make((of(0, 1), of(1, 0)), {}))
    found = builder.insert(ComplexOp.make((real.result, imaginary.result), {}))
    rounded = ConvertOp.make(found.results, {}, result_types=[result])
    builder.replace(builder.insert(rounded).results)
