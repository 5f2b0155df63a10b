"""Reshapes of tensors as sequences of `tensor.expand_shape` and `tensor.collapse_shape`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import cast

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from xla_dialect.shapes.size_arithmetic import Sizes, finest_groups, reassociation
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import tensor_shape


def reshape(value: SSAValue, sizes: Sequence[int], before: Operation) -> SSAValue:
    """
    The elements of a tensor, at least one, in row-major order with other sizes.

    New operations are put in front of `before`. A reshape of a reshape starts from what that
    starts from. Dimensions are divided first and merged afterwards where that is possible: so
    producers and users can iterate over the finest dimensions
    (`linalg-fold-reshapes-by-expansion`).
    """
    target = tuple(sizes)
    while tensor_shape(value) != target and isinstance(
        value.owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp
    ):
        value = value.owner.src
    for step in reshape_steps(tensor_shape(value), target):
        value = _single(value, step, before)
    return value


def reshape_steps(before: Sizes, after: Sizes) -> list[Sizes]:
    """The sizes on the way, each an expansion or a collapse of those before."""
    if before == after:
        return []
    wide, narrow = (before, after) if len(before) > len(after) else (after, before)
    if reassociation(wide, narrow) is not None:
        return [after]
    finest = _refined(before, after)
    if finest is None:
        products = (math.prod(before[d] for d in mine) for mine, _ in finest_groups(before, after))
        return [tuple(size for size in products if size != 1), after]
    without_ones = tuple(size for size in after if size != 1)
    steps = [before]
    for step in (finest, without_ones, after):
        if step != steps[-1]:
            steps.append(step)
    return steps[1:]


def _single(value: SSAValue, sizes: Sizes, before: Operation) -> SSAValue:
    """One expansion or collapse."""
    old = tensor_shape(value)
    type_ = TensorType(cast("TensorType[Attribute]", value.type).element_type, sizes)
    if len(old) >= len(sizes):
        op: Operation = create(
            tensor.CollapseShapeOp,
            operands=(value,),
            result_types=(type_,),
            properties={"reassociation": groups_attribute(old, sizes)},
        )
    elif not old:
        return _expanded_scalar(value, type_, before)
    else:
        op = create(
            tensor.ExpandShapeOp,
            operands=(value,),
            result_types=(type_,),
            properties={
                "reassociation": groups_attribute(sizes, old),
                "static_output_shape": DenseArrayBase.from_list(i64, sizes),
            },
        )
    return insert_before(op, before).results[0]


def groups_attribute(wide: Sequence[int], narrow: Sequence[int]) -> ArrayAttr[ArrayAttr[Attribute]]:
    """The `reassociation` between two shapes, of which one is a collapse of the other."""
    groups = reassociation(wide, narrow)
    assert groups is not None, (wide, narrow)
    return ArrayAttr([ArrayAttr(map(_number, group)) for group in groups])


@cache
def _number(dimension: int) -> Attribute:
    """Remembered: making an attribute takes as long as making an operation."""
    return IntegerAttr(dimension, i64)


def _expanded_scalar(value: SSAValue, type_: TensorType[Attribute], before: Operation) -> SSAValue:
    """A tensor of sizes 1 from one of rank 0: xDSL 0.74.0 refuses `tensor.expand_shape` of it."""
    destination = create(tensor.EmptyOp, result_types=(type_,))
    insert_before(destination, before)
    body = Block(arg_types=(type_.element_type, type_.element_type))
    body.add_op(create(YieldOp, operands=(body.args[0],)))
    rank = len(type_.shape)
    maps = (AffineMap(rank, 0, ()), AffineMap.identity(rank))
    expanded = create(
        GenericOp,
        operands=(value, destination.results[0]),
        result_types=(type_,),
        properties={
            "indexing_maps": ArrayAttr([AffineMapAttr(m) for m in maps]),
            "iterator_types": ArrayAttr([IteratorTypeAttr.parallel()] * rank),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, (1, 1)),
        },
        regions=[Region(body)],
    )
    return insert_before(expanded, before).results[0]


def _refined(before: Sequence[int], after: Sequence[int]) -> Sizes | None:
    """
    The sizes of `before`, divided where a dimension of `after` begins inside of one of its own.

    None where a division leaves a remainder. Both have as many elements, more than 0.
    """
    starts = sorted({math.prod(after[:d]) for d in range(len(after))})
    sizes: list[int] = []
    position = 1
    for size in before:
        end = position * size
        for start in (*(s for s in starts if position < s < end), end):
            if start % position:
                return None
            sizes.append(start // position)
            position = start
    return tuple(sizes)
