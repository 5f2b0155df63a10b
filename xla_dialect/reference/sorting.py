"""What sorting computes; always stable.

A comparator that compares one function of both places by `<` or `>`, or several functions in
lexicographic order, becomes keys for numpy. Any other is asked for many pairs at once by a merge
sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from xla_dialect.attributes import ComparisonDirection, ComparisonType
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.ops import sorting as ops
from xla_dialect.reference.computations import (
    ArrayFunction,
    is_elementwise,
    on_arrays,
    returned_values,
)
from xla_dialect.reference.elementwise_binary import total_order_key
from xla_dialect.reference.literal import Array
from xla_dialect.reference.rounding import widened
from xla_dialect.reference.tuples import as_results


@dataclass(frozen=True)
class SortKey:
    """What a comparator compares first, second, ..."""

    value: SSAValue
    """A function of one of the two places."""
    order: ComparisonType
    is_descending: bool


def sort_keys(comparator: Region) -> list[SortKey] | None:
    """The keys by which a comparator orders lexicographically, None if it is not known to."""
    if not is_elementwise(comparator):
        return None
    (returned,) = returned_values(comparator)
    keys: list[SortKey] = []
    rest: SSAValue | None = returned
    while rest is not None:
        before, rest = _first_and_rest(rest, comparator.block)
        key = _key_of(before, comparator.block)
        if key is None:
            return None
        keys.append(key)
    return keys


def _first_and_rest(value: SSAValue, block: Block) -> tuple[SSAValue, SSAValue | None]:
    """`before` and `rest` of `before or (equal and rest)`, where equal compares as before does."""
    for before, other in _factors(value, binary.OrOp):
        for equal, rest in _factors(other, binary.AndOp):
            if _compares_the_same(before, equal, block):
                return before, rest
    return value, None


def _factors(value: SSAValue, op_type: type[Operation]) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Both orders of the operands of an operation of this type; nothing for any other."""
    if isinstance(value.owner, op_type):
        left, right = value.owner.operands
        yield left, right
        yield right, left


def _compares_the_same(before: SSAValue, equal: SSAValue, block: Block) -> bool:
    mine, theirs = before.owner, equal.owner
    return (
        isinstance(mine, binary.CompareOp)
        and isinstance(theirs, binary.CompareOp)
        and theirs.direction.data == ComparisonDirection.EQ
        and mine.order == theirs.order
        and any(
            all(_corresponds(a, b, block, 0) for a, b in zip(mine.operands, pair, strict=True))
            for pair in (theirs.operands, reversed(theirs.operands))
        )
    )


def _key_of(value: SSAValue, block: Block) -> SortKey | None:
    """The key of `f(place) < f(other place)` or `>`."""
    compare = value.owner
    if not isinstance(compare, binary.CompareOp) or compare.direction.data not in _ASCENDING:
        return None
    sides = {argument.index % 2 for argument in _arguments(compare.lhs, block)}
    if len(sides) > 1 or not _corresponds(compare.lhs, compare.rhs, block, 1):
        return None
    reads_second = sides == {1}
    return SortKey(compare.lhs, compare.order, _ASCENDING[compare.direction.data] == reads_second)


_ASCENDING = {ComparisonDirection.LT: True, ComparisonDirection.GT: False}


def _arguments(value: SSAValue, block: Block) -> list[BlockArgument]:
    """The arguments of the block that a value is computed from."""
    needed = _needed(value, block)
    used = [value, *(operand for op in needed for operand in op.operands)]
    return [v for v in used if isinstance(v, BlockArgument) and v.owner is block]


def _needed(value: SSAValue, block: Block) -> set[Operation]:
    """The operations of the block that a value is computed by."""
    found: set[Operation] = set()
    stack = [value]
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Operation) and owner.parent is block and owner not in found:
            found.add(owner)
            stack.extend(owner.operands)
    return found


def _corresponds(a: SSAValue, b: SSAValue, block: Block, swap: int) -> bool:
    """Whether two values are computed alike, from the same places or (swap = 1) opposite ones."""
    seen: set[tuple[SSAValue, SSAValue]] = set()
    stack = [(a, b)]
    while stack:
        pair = stack.pop()
        if pair in seen:
            continue
        seen.add(pair)
        mine, theirs = pair
        if isinstance(mine, BlockArgument) and mine.owner is block:
            if not isinstance(theirs, BlockArgument) or theirs.owner is not block:
                return False
            if theirs.index != mine.index ^ swap:
                return False
        elif isinstance(mine.owner, Operation) and mine.owner.parent is block:
            left, right = mine.owner, theirs.owner
            if not isinstance(right, Operation) or type(left) is not type(right):
                return False
            if left.properties != right.properties or mine.type != theirs.type:
                return False
            stack.extend(zip(left.operands, right.operands, strict=True))
        elif mine is not theirs:
            return False
    return True


def evaluated(
    interpreter: Interpreter, value: SSAValue, block: Block, values: Sequence[Array]
) -> Array:
    """A key for all elements at once: both places of operand k are `values[k]`."""
    known: dict[SSAValue, Array] = {
        argument: values[argument.index // 2] for argument in block.args
    }
    needed = _needed(value, block)
    for op in block.ops:
        if op in needed:
            inputs = tuple(_looked_up(interpreter, known, operand) for operand in op.operands)
            known.update(zip(op.results, interpreter.run_op(op, inputs), strict=True))
    return _looked_up(interpreter, known, value)


def _looked_up(interpreter: Interpreter, known: dict[SSAValue, Array], value: SSAValue) -> Array:
    return known[value] if value in known else interpreter.get_values((value,))[0]


def ordered_integers(x: Array, order: ComparisonType, is_descending: bool) -> Array:
    """Integers that order ascending as the elements should; numpy sorts those stably and fast."""
    if order == ComparisonType.TOTALORDER:
        keys = total_order_key(x)
    elif order == ComparisonType.FLOAT:
        keys = total_order_key(widened(x) + 0)  # -0 equals +0
    else:
        wide = widened(x)
        keys = wide.astype(np.uint8) if wide.dtype == np.bool_ else wide
    return np.invert(keys) if is_descending else keys


def merge_sorted_order(function: ArrayFunction, values: Sequence[Array]) -> Array:
    """
    Per line the stable order by a comparator: `[lines, n]` arrays to the `[lines, n]` order.

    Whatever the comparator says, the result is a permutation.
    """
    lines, length = values[0].shape
    order: Array = np.tile(np.arange(int(length)), (int(lines), 1))
    width = 1
    while width < length:
        source = _merged_runs(function, values, width)
        order = np.take_along_axis(order, source, axis=1)
        values = [np.take_along_axis(value, source, axis=1) for value in values]
        width *= 2
    return order


def _merged_runs(function: ArrayFunction, values: Sequence[Array], width: int) -> Array:
    """Where the elements come from when every two neighbouring sorted runs are merged."""
    lines, length = map(int, values[0].shape)
    index = np.arange(length)
    start = index - index % (2 * width)
    # Runs on the left that have one on the right; only the last of those can be short.
    is_left = (index - start < width) & (start + width < length)
    is_right = index - start >= width
    left, right_start = index[is_left], start[is_left] + width
    low = np.zeros((lines, left.size), np.int64)
    high = np.broadcast_to(np.minimum(width, length - right_start), low.shape)
    elements = [value[:, left] for value in values]
    while np.any(low < high):
        middle = (low + high) // 2
        place = np.minimum(right_start + middle, length - 1)
        others = [np.take_along_axis(value, place, axis=1) for value in values]
        pairs = (side for pair in zip(others, elements, strict=True) for side in pair)
        comes_before = function(*pairs)[0] & (low < high)
        low, high = np.where(comes_before, middle + 1, low), np.where(comes_before, high, middle)
    # An inconsistent comparator may count fewer for a later element; places have to differ.
    runs = low.reshape((lines, -1, width))
    passed = np.maximum.accumulate(runs, axis=2).reshape(low.shape)
    source = np.full((lines, length), -1)
    source[:, ~is_left & ~is_right] = index[~is_left & ~is_right]
    np.put_along_axis(source, left + passed, np.broadcast_to(left, low.shape), axis=1)
    source[source < 0] = np.broadcast_to(
        index[is_right], (lines, int(np.count_nonzero(is_right)))
    ).reshape(-1)
    return source


@register_impls
class SortingFunctions(InterpreterFunctions):
    """Orders along one dimension."""

    @impl(ops.SortOp)
    def run_sort(
        self, interpreter: Interpreter, op: ops.SortOp, args: PythonValues
    ) -> PythonValues:
        """Every line in the order of the comparator."""
        axis = op.dimension.value.data
        keys = sort_keys(op.to_apply)
        if args[0].size == 0:
            return as_results(op, args)
        if keys is None:
            function = on_arrays(interpreter, op.to_apply, "to_apply")
            moved = [np.moveaxis(x, axis, -1) for x in args]
            flat = [x.reshape((-1, x.shape[-1])) for x in moved]
            order = merge_sorted_order(function, flat).reshape(moved[0].shape)
            order = np.moveaxis(order, -1, axis)
        else:
            order = key_order(_key_arrays(interpreter, op.to_apply.block, keys, args), axis)
        return as_results(op, tuple(np.take_along_axis(x, order, axis) for x in args))

    @impl(ops.TopkOp)
    def run_topk(
        self, interpreter: Interpreter, op: ops.TopkOp, args: PythonValues
    ) -> PythonValues:
        """The first k entries in ascending or descending order."""
        operand: Array = args[0]
        is_float = widened(operand[..., :0]).dtype.kind == "f"
        kind = ComparisonType.TOTALORDER if is_float else ComparisonType.SIGNED
        keys = ordered_integers(operand, kind, bool(op.largest.value.data))
        order = np.argsort(keys, axis=-1, kind="stable")[..., : op.k.value.data]
        values = np.take_along_axis(operand, order, axis=-1)
        return as_results(op, (values, order.astype(np.int32)))


def _key_arrays(
    interpreter: Interpreter, block: Block, keys: Iterable[SortKey], values: Sequence[Array]
) -> list[Array]:
    return [
        np.broadcast_to(
            ordered_integers(
                evaluated(interpreter, key.value, block, values), key.order, key.is_descending
            ),
            values[0].shape,
        )
        for key in keys
    ]


def key_order(keys: Sequence[Array], axis: int) -> Array:
    """The stable order along an axis, lexicographic by integer keys."""
    if len(keys) == 1:
        return np.argsort(keys[0], axis=axis, kind="stable")
    return cast("Array", np.lexsort(tuple(reversed(keys)), axis=axis))
