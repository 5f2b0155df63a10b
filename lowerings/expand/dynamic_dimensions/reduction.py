"""Folds, in which what is not there takes no part, and sorts, in which it comes last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from lowerings.expand.dynamic_dimensions.regular import with_sizes
from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.analysis.computations import accumulates_in_f32, neutral_element
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.dimensions import FactorType
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import decode
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, only_operation
from xla_dialect.ops.sorting import SortOp
from xla_dialect.xdsl.operation_table import OperationTable

Fold = ReduceOp | ReduceWindowOp


def _neutral(rules: Rules, op: Fold) -> XlaValue | None:
    """What may stand for missing elements; None for computations not known to have it."""
    type_ = rules.scalars(op.to_apply)[0].element_type
    number = neutral_element(op.to_apply.block, type_)
    if number is None:
        return None
    return rules.b.constant(np.array(number).astype(numpy_dtype(type_)))


def fold(rules: Rules, op: Fold, operands: Sequence[Sized]) -> Sequence[Sized]:
    """The folds of what is there."""
    return with_sizes(rules, _folded(rules, op, operands))


def _folded(rules: Rules, op: Fold, operands: Sequence[Sized]) -> Sequence[XlaValue]:
    b, count = rules.b, len(op.inputs)
    inputs, inits = operands[:count], [x.data for x in operands[count:]]
    reduced = {
        d
        for factor in rules.relations.of_type(FactorType.REDUCTION)
        for _, d in rules.relations.operand_places(factor)
    }
    counts = {d: n for d, n in rules.counted(0).items() if d in reduced}
    data = [x.data for x in inputs]
    if not counts:
        return rules.again(*data, *inits)
    neutral = _neutral(rules, op) if count == 1 else None
    if neutral is not None:
        return rules.again(rules.filled(data[0], counts, neutral), *inits)
    if accumulates_in_f32(op):
        x, init = (b.convert_element_type(value, "f32") for value in (data[0], inits[0]))
        is_sum = only_operation(op.to_apply.block) is AddOp
        nothing = b.constant(-0.0 if is_sum else 1.0, "f32")
        combine = b.add if is_sum else b.mul
        total = _over(b, op, [rules.filled(x, counts, nothing)], [init], combine)
        return [b.convert_element_type(each, data[0].element_type) for each in total]

    def merge(*values: XlaValue) -> Sequence[XlaValue]:
        """A part of the fold that has met nothing has no influence, whatever its values are."""
        (any_before, *before), (any_now, *now) = values[: count + 1], values[count + 1 :]
        both = rules.applied(op.to_apply, *before, *now)
        found = [
            b.select(any_now, b.select(any_before, new, second), first)
            for new, second, first in zip(both, now, before, strict=True)
        ]
        return [any_before | any_now, *found]

    mask = rules.inside(data[0].shape, counts)
    values, starts = [mask, *data], [b.constant(True), *inits]
    return _over(b, op, values, starts, merge)[1:]


def _over(
    b: XlaBuilder,
    op: Fold,
    values: Sequence[XlaValue],
    inits: Sequence[XlaValue],
    computation: Callable[..., Any],
) -> Sequence[XlaValue]:
    """The folds of arrays over what an operation folds."""
    if isinstance(op, ReduceOp):
        dimensions = cast(Sequence[int], decode(op.dimensions))
        return b.reduce(values, inits, computation, dimensions)
    window = op.window.data.dimensions
    return b.reduce_window(
        values,
        inits,
        computation,
        [d.size for d in window],
        [d.stride for d in window],
        [d.base_dilation for d in window],
        [d.window_dilation for d in window],
        [(d.padding_low, d.padding_high) for d in window],
    )


def sort(rules: Rules, op: SortOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Along the dimension that is sorted, what is not there comes after everything else."""
    b, dimension = rules.b, cast(int, decode(op.dimension))
    data = [x.data for x in operands]
    count = rules.counts.get((0, dimension))
    if count is None:
        return with_sizes(rules, rules.again(*data))

    def precedes(*places: XlaValue) -> XlaValue:
        first, second, *values = places
        (comes_before,) = rules.applied(op.to_apply, *values)
        return first & (~second | comes_before)

    mask = rules.inside(data[0].shape, {dimension: count})
    found = b.sort([mask, *data], precedes, dimension, bool(decode(op.is_stable)))
    return with_sizes(rules, found[1:])


RULES = OperationTable[Rule]().add(ReduceOp, fold).add(ReduceWindowOp, fold).add(SortOp, sort)
