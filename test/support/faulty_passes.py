"""
Passes with one fault each, to be found, bisected and reduced: what people get wrong.

Each is a pattern of xDSL that is right in what it does elsewhere, or does nothing there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.utils.exceptions import PassFailedException

from xla_dialect.attributes import ComparisonDirection
from xla_dialect.ops import elementwise
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.data_movement import BroadcastOp, SliceOp, TransposeOp
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import sizes_of

Fault = Callable[[Operation, PatternRewriter], None]


def rank(op: Operation) -> int:
    """Of the first result."""
    return len(sizes_of(cast(Any, op.results[0].type)))


def replace(op: Operation, rewriter: PatternRewriter, new: Operation) -> None:
    rewriter.replace(op, new)


def maximum_is_minimum(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, elementwise.MaximumOp) and rank(op) > 1:
        replace(op, rewriter, elementwise.MinimumOp(op.lhs, op.rhs))


def subtracts_the_other_way(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, elementwise.SubtractOp) and "seen" not in op.attributes and rank(op) > 0:
        new = elementwise.SubtractOp(op.rhs, op.lhs)
        new.attributes["seen"] = IntegerAttr(1, i64)
        replace(op, rewriter, new)


def sum_becomes_product(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, elementwise.AddOp) and op.lhs is not op.rhs and rank(op) > 1:
        replace(op, rewriter, elementwise.MultiplyOp(op.lhs, op.rhs))


def selects_the_other(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, SelectOp) and "seen" not in op.attributes:
        new = SelectOp(op.pred, op.on_false, op.on_true)
        new.attributes["seen"] = IntegerAttr(1, i64)
        replace(op, rewriter, new)


def slices_one_on(op: Operation, rewriter: PatternRewriter) -> None:
    if not isinstance(op, SliceOp) or "seen" in op.attributes:
        return
    sizes = sizes_of(cast(Any, op.operand.type))
    starts = [*op.start_indices.get_values()]
    limits = [*op.limit_indices.get_values()]
    for d, size in enumerate(sizes):
        if limits[d] < size:
            op.properties["start_indices"] = _moved(starts, d)
            op.properties["limit_indices"] = _moved(limits, d)
            op.attributes["seen"] = IntegerAttr(1, i64)
            rewriter.notify_op_modified(op)
            return


def _moved(numbers: list[int], d: int) -> DenseArrayBase[Any]:
    return DenseArrayBase.from_list(i64, [n + (i == d) for i, n in enumerate(numbers)])


def reduces_from_the_left(op: Operation, rewriter: PatternRewriter) -> None:
    """The computation's parameters, swapped by way of its subtraction: only sums do not mind."""
    if not isinstance(op, ReduceOp) or "seen" in op.attributes:
        return
    for inner in op.to_apply.block.ops:
        if isinstance(inner, elementwise.AddOp):
            rewriter.replace(inner, elementwise.MaximumOp(inner.lhs, inner.rhs))
    op.attributes["seen"] = IntegerAttr(1, i64)
    rewriter.notify_op_modified(op)


def transposes_by_the_inverse(op: Operation, rewriter: PatternRewriter) -> None:
    """Exchanges two dimensions of equal size, as who confuses an order with its inverse."""
    if not isinstance(op, TransposeOp) or "seen" in op.attributes:
        return
    order = [*op.dimensions.get_values()]
    inverse = [order.index(d) for d in range(len(order))]
    sizes = sizes_of(cast(Any, op.operand.type))
    if [sizes[d] for d in inverse] == [sizes[d] for d in order] and inverse != order:
        op.properties["dimensions"] = DenseArrayBase.from_list(i64, inverse)
        op.attributes["seen"] = IntegerAttr(1, i64)
        rewriter.notify_op_modified(op)


def broadcasts_along_the_other(op: Operation, rewriter: PatternRewriter) -> None:
    if not isinstance(op, BroadcastOp) or "seen" in op.attributes or rank(op) < 2:
        return
    dimensions = [*op.dimensions.get_values()]
    sizes = sizes_of(cast(Any, op.results[0].type))
    for number, d in enumerate(dimensions):
        for other in range(len(sizes)):
            if other not in dimensions and sizes[other] == sizes[d] > 1:
                new = [*dimensions[:number], other, *dimensions[number + 1 :]]
                if new == sorted(new):
                    op.properties["dimensions"] = DenseArrayBase.from_list(i64, new)
                    op.attributes["seen"] = IntegerAttr(1, i64)
                    rewriter.notify_op_modified(op)
                    return


def counts_along_the_other(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, IotaOp) and "seen" not in op.attributes and rank(op) > 1:
        dimension = (op.iota_dimension.value.data + 1) % rank(op)
        op.properties["iota_dimension"] = IntegerAttr(dimension, i64)
        op.attributes["seen"] = IntegerAttr(1, i64)
        rewriter.notify_op_modified(op)


def divides_by_the_reciprocal(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, elementwise.DivideOp):
        replace(op, rewriter, elementwise.MultiplyOp(op.lhs, op.rhs))


def drops_the_second_exponential(op: Operation, rewriter: PatternRewriter) -> None:
    if op.name == "xla.exponential" and op.operands[0].owner.__class__ is elementwise.SubtractOp:
        rewriter.replace(op, (), [op.operands[0]])


def maximum_forgets_nans(op: Operation, rewriter: PatternRewriter) -> None:
    """As `a > b ? a : b` does."""
    if isinstance(op, elementwise.MaximumOp) and rank(op) > 1:
        greater = elementwise.CompareOp(op.lhs, op.rhs, direction=ComparisonDirection.GT)
        rewriter.replace(op, [greater, SelectOp(greater.result, op.lhs, op.rhs)])


def crashes_on_dots_of_rank_3(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, DotOp) and rank(op) == 3:
        raise KeyError(rank(op))


def fails_on_reductions(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, ReduceOp) and rank(op) > 1:
        raise PassFailedException(f"xla.reduce: rank {rank(op)} is not supported")


def leaves_what_is_not_valid(op: Operation, rewriter: PatternRewriter) -> None:
    if isinstance(op, elementwise.MultiplyOp) and rank(op) == 3 and op.lhs is not op.rhs:
        op.properties["bogus"] = IntegerAttr(1, i64)


WRONG_RESULTS: tuple[Fault, ...] = (
    maximum_is_minimum,
    subtracts_the_other_way,
    sum_becomes_product,
    selects_the_other,
    slices_one_on,
    reduces_from_the_left,
    transposes_by_the_inverse,
    broadcasts_along_the_other,
    counts_along_the_other,
    divides_by_the_reciprocal,
    drops_the_second_exponential,
    maximum_forgets_nans,
)
FAILURES: tuple[Fault, ...] = (fails_on_reductions, leaves_what_is_not_valid)
CRASHES: tuple[Fault, ...] = (crashes_on_dots_of_rank_3,)


@dataclass
class FaultyPattern(RewritePattern):
    fault: Fault

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        self.fault(op, rewriter)


class FaultyPass(ModulePass):
    """A pass with one of the faults."""

    def __init__(self, fault: Fault):
        self.fault = fault
        object.__setattr__(self, "name", fault.__name__.replace("_", "-"))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(FaultyPattern(self.fault)).rewrite_module(op)

    def spec(self, *, include_default: bool = False) -> Any:
        return self.name
