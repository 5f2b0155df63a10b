"""
What operations declare about their dimensions, held against what the reference computes.

Every operation that the examples and the programs of test/run execute is executed again: with its
operands permuted along a factor, and with single slices of them replaced.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import prod

import ml_dtypes
import numpy as np
import pytest
from executed_operations import Arrays, Executed, executed

from xla_dialect.dimensions import (
    Along,
    Concatenation,
    Dimension,
    DimensionRelations,
    FactorType,
    Padding,
    Slicing,
    Traversal,
)
from xla_dialect.runtime.comparison import is_inexact
from xla_dialect.shapes.window import WindowDimension


def parts_of(
    array: np.ndarray, dimension: Dimension, d: int, sizes: Sequence[int]
) -> tuple[int, ...] | None:
    """The sizes of an array with a dimension divided into its factors; None where it is none."""
    parts = tuple(sizes[n] for n in dimension)
    return (
        (*array.shape[:d], *parts, *array.shape[d + 1 :]) if prod(parts) == array.shape[d] else None
    )


def permuted(
    arrays: Arrays,
    dimensions: Sequence[Sequence[Dimension]],
    factor: int,
    order: np.ndarray,
    sizes: Sequence[int],
) -> Arrays | None:
    """The arrays with their elements in another order along a factor; None where it is no part."""
    found: list[np.ndarray] = []
    for array, mine in zip(arrays, dimensions, strict=True):
        for d, dimension in enumerate(mine):
            if factor in dimension:
                apart = parts_of(array, dimension, d, sizes)
                if apart is None:
                    return None
                axis = d + dimension.index(factor)
                array = array.reshape(apart).take(order, axis).reshape(array.shape)
        found.append(array)
    return tuple(found)


def same(found: Arrays, expected: Arrays, terms: int = 1) -> bool:
    """Whether arrays are equal, up to rounding: sums of so many terms may be of another order."""
    return all(
        np.array_equal(x, y)
        if not is_inexact(x.dtype)
        else np.allclose(
            x.astype(complex),
            y.astype(complex),
            max(1e-2, terms * float(ml_dtypes.finfo(x.dtype).eps) / 2),
            1e-2,
            equal_nan=True,
        )
        for x, y in zip(found, expected, strict=True)
    )


def is_symmetric(each: Executed, factor: int, order: np.ndarray) -> bool | None:
    """
    Whether operands in another order along a factor give results in that order.

    None where the dimensions with the factor are no products of factors.
    """
    relations = each.relations
    sizes = [f.size for f in relations.factors]
    operands = permuted(each.operands, relations.operands, factor, order, sizes)
    expected = permuted(each.results(each.operands), relations.results, factor, order, sizes)
    if operands is None or expected is None:
        return None
    terms = 1 if relations.factors[factor].is_parallel else sizes[factor]
    with np.errstate(all="ignore"):
        return same(each.results(operands), expected, terms)


NOT_REPEATED = {"xla.rng", "xla.rng_get_and_update_state"}
"""Operations that give other results each time."""


def factors() -> Iterator[tuple[Executed, int]]:
    """The factors of executed operations that have more than one index."""
    for each in executed():
        if each.op.name not in NOT_REPEATED:
            for number, factor in enumerate(each.relations.factors):
                if factor.size > 1:
                    yield each, number


def has_no_order(relations: DimensionRelations, number: int) -> bool:
    factor = relations.factors[number]
    reduced = factor.type is FactorType.REDUCTION and factor.along is None
    return factor.is_parallel or (reduced and number not in relations.ordered)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_passes_through_has_no_order() -> None:
    rng = np.random.default_rng(0)
    checked = set[str]()
    for each, number in factors():
        if has_no_order(each.relations, number):
            order = rng.permutation(each.relations.factors[number].size)
            assert is_symmetric(each, number, order), (
                f"{each.op}: factor {number} of {each.relations}"
            )
            checked.add(each.op.name)
    assert len(checked) > 85


WITHOUT_ORDER = {
    ("xla.batch_norm_grad", "whole"): "means have no order, but take in all",
    ("xla.batch_norm_training", "whole"): "means have no order, but take in all",
    ("xla.concatenate", "Concatenation"): "no product of factors, but for a single operand",
    ("xla.reduce_window", "WindowDimension"): "a product of factors where windows are side by side",
    ("xla.reduce_window", "window"): "no product of factors, but where windows are side by side",
    ("xla.scatter", "whole"): "the programs have windows outside, and at (1, 1)",
}
"""What no program shows to have an order, by the operation and the way along the factor."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_does_not_pass_through_has_an_order() -> None:
    """Of each operation and each way to go along a factor there is a program that shows it."""
    declared, shown = set[tuple[str, str]](), set[tuple[str, str]]()
    for each, number in factors():
        factor = each.relations.factors[number]
        if has_no_order(each.relations, number):
            continue
        key = each.op.name, getattr(factor.along, "value", type(factor.along).__name__)
        order = np.roll(np.arange(factor.size), 1)
        found = is_symmetric(each, number, order)
        if found is not None:
            declared.add(key)
            if not found:
                shown.add(key)
    assert declared - shown == WITHOUT_ORDER.keys()


def reached(along: Along | None, place: int, count: int, operand: int) -> Callable[[int], bool]:
    """Which indices of a result an element of an operand may reach, by what the factor says."""
    match along:
        case None:
            return lambda i: i == place
        case Traversal.REVERSED:
            return lambda i: i == count - 1 - place
        case Slicing(start, limit, stride):
            return lambda i: start + i * stride == place < limit
        case Padding(low, _, interior):
            return lambda i: i == low + place * (interior + 1)
        case Concatenation(offsets):
            return lambda i: i == offsets[operand] + place
        case WindowDimension():
            at = place * along.base_dilation + along.padding_low
            steps = [k * along.window_dilation for k in range(along.size)]
            return lambda i: at - i * along.stride in steps
        case _:
            return lambda i: True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_elements_reach_what_the_factor_says() -> None:
    """Replacing a slice of an operand changes the results where it may, and somewhere it does."""
    rng = np.random.default_rng(0)
    seen: dict[str, set[str]] = defaultdict(set)
    for each, number in factors():
        factor = each.relations.factors[number]
        kind = getattr(factor.along, "value", type(factor.along).__name__)
        for operand, d in each.relations.operand_places(number):
            array = each.operands[operand]
            dimension = each.relations.operands[operand][d]
            if (
                not array.size
                or dimension[0] != number
                or (len(dimension) > 1 and not isinstance(factor.along, WindowDimension))
            ):
                continue
            place = int(rng.integers(array.shape[d]))
            changed = array.copy()
            index = (slice(None),) * d + (place,)
            changed[index] = (
                np.flip(array, d)[index]
                if rng.integers(2)
                else array.take((place + 1) % array.shape[d], d)
            )
            operands = [changed if i == operand else x for i, x in enumerate(each.operands)]
            before, after = each.results(each.operands), each.results(operands)
            for result, e in each.relations.result_places(number):
                if each.relations.results[result][e] != (number,):
                    continue
                may = reached(factor.along, place, array.shape[d], operand)
                for i in range(before[result].shape[e]):
                    pair = ((before[result].take(i, e),), (after[result].take(i, e),))
                    if not same(*pair):
                        assert may(i), f"{each.op}: {i} from {place} along {factor}"
                        seen[kind].add(each.op.name)
    assert {
        "NoneType",
        "reversed",
        "Slicing",
        "Padding",
        "Concatenation",
        "WindowDimension",
    } <= seen.keys()
    assert len(seen["NoneType"]) > 80
    assert {"xla.convolution", "xla.reduce_window"} == seen["WindowDimension"]


def test_sizes_that_are_said_to_be_equal_are() -> None:
    for each in executed():
        for factor in each.relations.factors:
            if factor.same_size is not None:
                assert factor.size == each.relations.factors[factor.same_size].size
