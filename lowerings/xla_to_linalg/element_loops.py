"""
Loops over the elements of a computation that no `linalg.generic` can hold.

The body of a `linalg.generic` is made of scalar operations. A computation with control flow or
small arrays in it runs once an element instead, in `scf.for` loops that update results in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import AffineMapAttr, TensorType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from lowerings.xla_to_linalg.scalar_functions.scalars import INDEX, ScalarBuilder, Values
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append

Operand: TypeAlias = tuple[SSAValue, AffineMapAttr]
"""A tensor, and the map from the iteration space to its indices."""


def element_loops(
    s: ScalarBuilder, inputs: Sequence[Operand], outputs: Sequence[Operand], body: Block
) -> Values:
    """
    The results of a `linalg.generic` with these operands and this body, which is used up.

    The last loop is the innermost: elements are combined in the order of the iteration space.
    """
    sizes = _sizes((*inputs, *outputs))

    def innermost(s: ScalarBuilder, position: Values, carried: Values) -> Values:
        outs = [(value, map_) for value, (_, map_) in zip(carried, outputs, strict=True)]
        places = [_place(s, map_, position) for _, map_ in (*inputs, *outs)]
        for (value, _), place, argument in zip((*inputs, *outs), places, body.args, strict=True):
            read = s.emit(tensor.ExtractOp, (value, *place), argument.type)
            argument.replace_all_uses_with(read)
        for op in list(body.walk()):
            if isinstance(op, IndexOp):
                op.result.replace_all_uses_with(position[op.dim.value.data])
                op.detach()
                op.erase()
        end = body.last_op
        assert end is not None
        end.detach()
        for op in list(body.ops):
            op.detach()
            append(s.block, op)
        written = [
            s.emit(tensor.InsertOp, (result, into, *place), into.type)
            for result, into, place in zip(
                end.operands, carried, places[len(inputs) :], strict=True
            )
        ]
        end.erase()
        return written

    def nest(s: ScalarBuilder, position: Values, carried: Values) -> Values:
        if len(position) == len(sizes):
            return innermost(s, position, carried)
        block = Block(arg_types=(INDEX, *(value.type for value in carried)))
        inner = ScalarBuilder(block, s.location)
        turned = nest(inner, (*position, block.args[0]), block.args[1:])
        inner.add(create(scf.YieldOp, operands=turned))
        bounds = [s.constant(bound, INDEX) for bound in (0, sizes[len(position)], 1)]
        loop = create(
            scf.ForOp,
            operands=(*bounds, *carried),
            result_types=[value.type for value in carried],
            regions=[Region(block)],
        )
        return s.add(loop).results

    return nest(s, (), [value for value, _ in outputs])


def _sizes(operands: Sequence[Operand]) -> tuple[int, ...]:
    """How many iterations each loop has, by the dimensions of tensors that it goes along."""
    found: dict[int, int] = {}
    for value, map_ in operands:
        shape = cast("TensorType[Attribute]", value.type).get_shape()
        for expression, size in zip(map_.data.results, shape, strict=True):
            if isinstance(expression, AffineDimExpr):
                found[expression.position] = size
    return tuple(found[loop] for loop in range(operands[0][1].data.num_dims))


def _place(s: ScalarBuilder, map_: AffineMapAttr, position: Values) -> list[SSAValue]:
    return [_index(s, expression, position) for expression in map_.data.results]


def _index(s: ScalarBuilder, expression: AffineExpr, position: Values) -> SSAValue:
    if isinstance(expression, AffineDimExpr):
        return position[expression.position]
    if isinstance(expression, AffineConstantExpr):
        return s.constant(expression.value, INDEX)
    assert isinstance(expression, AffineBinaryOpExpr)
    assert expression.kind in _ARITHMETIC
    both = [_index(s, side, position) for side in (expression.lhs, expression.rhs)]
    return s.emit(_ARITHMETIC[expression.kind], both)


_ARITHMETIC = {AffineBinaryOpKind.Add: arith.AddiOp, AffineBinaryOpKind.Mul: arith.MuliOp}
