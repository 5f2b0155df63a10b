"""Folds, in which what is not there takes no part, and sorts, in which it comes last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute

from lowerings.expand.dynamic_dimensions.sized import Rule, Rules, Sized
from xla_dialect.analysis.computations import only_operation
from xla_dialect.builder import XlaValue
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.op import XlaOp, decode
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.ops.sorting import SortOp, TopkOp
from xla_dialect.shapes.size_arithmetic import dilated
from xla_dialect.shapes.window import WindowDimension
from xla_dialect.types import ElementClass, element_class

Fold = ReduceOp | ReduceWindowOp


def _limit(side: str) -> Callable[[Attribute], Any]:
    """The largest or smallest value of an element type: infinite, if it is a float."""

    def find(type_: Attribute) -> Any:
        if element_class(type_) == ElementClass.PRED:
            return side == "max"
        if element_class(type_) == ElementClass.FLOAT:
            return np.inf if side == "max" else -np.inf
        return int(getattr(cast(Any, ml_dtypes).iinfo(numpy_dtype(type_)), side))

    return find


def _all_bits(type_: Attribute) -> Any:
    match element_class(type_):
        case ElementClass.PRED:
            return True
        case ElementClass.UNSIGNED:
            return _limit("max")(type_)
        case _:
            return -1


_NEUTRAL: Mapping[type[XlaOp], Callable[[Attribute], Any]] = {
    # 0 + -0 is 0, so that only -0 changes nothing.
    binary.AddOp: lambda type_: -0.0 if element_class(type_) == ElementClass.FLOAT else 0,
    binary.AndOp: _all_bits,
    binary.MaximumOp: _limit("min"),
    binary.MinimumOp: _limit("max"),
    binary.MultiplyOp: lambda _: 1,
    binary.OrOp: lambda _: 0,
    binary.XorOp: lambda _: 0,
}
"""By operation: the number that changes nothing."""

_FLOATS = (BFloat16Type, Float16Type, Float32Type, Float64Type)
"""Those that have -0 and infinities."""


def _neutral(rules: Rules, op: Fold) -> XlaValue | None:
    """What may stand for missing elements; None for computations not known to have it."""
    operation = only_operation(op.to_apply.block)
    type_ = rules.scalars(op.to_apply)[0].element_type
    kind = element_class(type_)
    if operation is None or operation not in _NEUTRAL or kind == ElementClass.COMPLEX:
        return None
    if kind == ElementClass.FLOAT and not isinstance(type_, _FLOATS):
        return None
    number = _NEUTRAL[operation](type_)
    return rules.b.constant(np.array(number).astype(numpy_dtype(type_)))


def _folded(
    rules: Rules, op: Fold, operands: Sequence[Sized], met: Sequence[int]
) -> Sequence[XlaValue]:
    """The folds of what is there; `met`: the dimensions along which elements meet."""
    b, count = rules.b, len(op.inputs)
    inputs, inits = operands[:count], [x.data for x in operands[count:]]
    counts = {d: n for d, n in rules.common(*inputs).items() if d in met}
    data = [x.data for x in inputs]
    if not counts:
        return rules.again(*data, *inits)
    neutral = _neutral(rules, op) if count == 1 else None
    if neutral is not None:
        return rules.again(rules.filled(data[0], counts, neutral), *inits)

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
    if isinstance(op, ReduceOp):
        return b.reduce(values, starts, merge, cast(Sequence[int], decode(op.dimensions)))[1:]
    window = op.window.data.dimensions
    return b.reduce_window(
        values,
        starts,
        merge,
        [d.size for d in window],
        [d.stride for d in window],
        [d.base_dilation for d in window],
        [d.window_dilation for d in window],
        [(d.padding_low, d.padding_high) for d in window],
    )[1:]


def reduce(rules: Rules, op: ReduceOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Along the dimensions that remain, sizes remain."""
    reduced = cast(Sequence[int], decode(op.dimensions))
    found = _folded(rules, op, operands, reduced)
    common = rules.common(*operands[: len(op.inputs)])
    counts = {d - sum(r < d for r in reduced): n for d, n in common.items() if d not in reduced}
    return [Sized(value, counts) for value in found]


def placements(rules: Rules, dimension: WindowDimension, count: XlaValue) -> XlaValue:
    """How often a window fits into a base of a size: `WindowDimension.placements` of it."""
    if not dimension.moves:
        return count
    b = rules.b
    wide = rules.wide(count)
    base = b.select(wide > 0, (wide - 1) * dimension.base_dilation + 1, b.constant(0, "s64"))
    padded = base + (dimension.padding_low + dimension.padding_high)
    window = dilated(dimension.size, dimension.window_dilation)
    fits = (padded > 0) & (padded >= window)
    found = b.div(b.max(padded - window, b.constant(0, "s64")), dimension.stride) + 1
    return rules.narrow(b.select(fits, found, b.constant(0, "s64")))


def reduce_window(rules: Rules, op: ReduceWindowOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """A window fits as often as it does into what is there."""
    window = op.window.data.dimensions
    found = _folded(rules, op, operands, [d for d, each in enumerate(window) if each.moves])
    common = rules.common(*operands[: len(op.inputs)])
    counts = {d: placements(rules, window[d], count) for d, count in common.items()}
    return [Sized(value, counts) for value in found]


def select_and_scatter(
    rules: Rules, op: SelectAndScatterOp, operands: Sequence[Sized]
) -> Sequence[Sized]:
    """The window does nothing along dynamic dimensions."""
    (result,) = rules.again(*(x.data for x in operands))
    return [Sized(result, rules.common(*operands[:2]))]


def sort(rules: Rules, op: SortOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Along the dimension that is sorted, what is not there comes after everything else."""
    b, dimension = rules.b, cast(int, decode(op.dimension))
    common = rules.common(*operands)
    data = [x.data for x in operands]
    if dimension not in common:
        return [Sized(value, common) for value in rules.again(*data)]

    def precedes(*places: XlaValue) -> XlaValue:
        first, second, *values = places
        (comes_before,) = rules.applied(op.to_apply, *values)
        return first & (~second | comes_before)

    mask = rules.inside(data[0].shape, {dimension: common[dimension]})
    found = b.sort([mask, *data], precedes, dimension, bool(decode(op.is_stable)))
    return [Sized(value, common) for value in found[1:]]


def topk(rules: Rules, op: TopkOp, operands: Sequence[Sized]) -> Sequence[Sized]:
    """Line by line."""
    found = rules.again(operands[0].data)
    return [Sized(value, operands[0].sizes) for value in found]


RULES: Mapping[type[XlaOp], Rule] = {
    ReduceOp: reduce,
    ReduceWindowOp: reduce_window,
    SelectAndScatterOp: select_and_scatter,
    SortOp: sort,
    TopkOp: topk,
}
