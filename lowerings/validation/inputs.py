"""Random inputs mixed with edge cases: zeros, infinities, NaN and limits of types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from lowerings.execution.signature import ArraySpec, Signature
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array
from xla_dialect.quantized_types import Quantization
from xla_dialect.runtime.comparison import is_inexact
from xla_dialect.types import ElementClass


class InputKind(Enum):
    """What the numbers of an input are like."""

    PLAIN = "plain"
    """Of moderate size, all different; integers small."""
    SPECIAL = "special"
    """Some of them zeros of both signs, ones, round and large numbers, infinities and NaN."""
    LIMITS = "limits"
    """Some of them the largest and smallest of the type, denormals too; integers of any bits."""


EVERY_INPUT = tuple(InputKind)

SPARSE_PLACES = 4
"""The largest number of infinities, NaNs and largest numbers in an array that has few of them."""
ROWS_OF_A_PLACE = 4
"""In how many rows of such an array one of them is."""

MOST_INDICES = 4
"""The number that integers are less than in such an array: they choose branches and elements."""

NUMBERS = 256
"""How many numbers of each kind a program is run on."""
MOST_INPUTS = 4
"""How many inputs of each kind are made for that."""

NUMBERS_OF_TIES = 8
"""How many different numbers an array has of those that are often equal."""
SIZE_OF_TIES = 0.125
"""What the first are multiplied with, floats only: of large sums every probability is 0 or 1."""


@dataclass(frozen=True)
class InputChoice:
    """Which inputs a function is run on."""

    seed: int = 20261120
    """Inputs are the same in every run."""
    count: int = 2
    """How many inputs each parameter has of each kind, at least; small arrays have more."""
    kinds: tuple[InputKind, ...] = EVERY_INPUT


@dataclass(frozen=True)
class Input:
    """One array for each parameter of a function."""

    kinds: frozenset[InputKind]
    """What its arrays are like."""
    arrays: list[Array]


Quantizations: TypeAlias = "Sequence[Quantization | None]"
"""How the integers of each parameter stand for numbers, where they do; none said: nowhere."""


def made_inputs(
    signature: Signature, choice: InputChoice, quantized: Quantizations = ()
) -> list[Input]:
    """
    First an input of each kind; in these half of the numbers are edge cases, so that they meet.

    Then plain numbers that are often equal, smaller ones first, and, for each kind that is not
    plain, pairs of inputs: one has it in a part of the parameters, the other in the rest, all else
    is plain. There edge cases are sparse: a NaN in a few rows, so that contractions have results
    that are numbers. The fewer numbers the parameters have, the more such inputs there are: NaNs
    and infinities take turns, so that every parameter has each of them.
    """
    generator = np.random.default_rng(choice.seed)
    found = [
        Input(frozenset((kind,)), make_input(signature, kind, generator, quantized))
        for kind in choice.kinds
    ]
    count = len(signature.parameters)
    numbers = max(sum(math.prod(spec.shape) for spec in signature.parameters), 1)
    for turn in range(max(choice.count, min(-(-NUMBERS // numbers), MOST_INPUTS)) - 1):
        for kind in choice.kinds:
            if kind is InputKind.PLAIN:
                arrays = make_input(signature, kind, generator, quantized)
                tied = [
                    _tied(array, generator, is_index=stored is None, is_small=not turn)
                    for array, stored in zip(arrays, _of_each(signature, quantized), strict=True)
                ]
                found.append(Input(frozenset((kind,)), tied))
                continue
            part = generator.permutation(count) % 2 == 0
            for chosen in (part, ~part) if count > 1 else (part,):
                kinds = [kind if each else InputKind.PLAIN for each in chosen]
                arrays = [
                    _array(spec, each, generator, stored, sparse_turn=turn + number)
                    for number, (spec, each, stored) in enumerate(
                        zip(
                            signature.parameters, kinds, _of_each(signature, quantized), strict=True
                        )
                    )
                ]
                found.append(Input(frozenset(kinds), arrays))
    return found


def make_input(
    signature: Signature,
    kind: InputKind,
    generator: np.random.Generator,
    quantized: Quantizations = (),
) -> list[Array]:
    """One array for each parameter, half of whose numbers are edge cases if it is not plain."""
    return [
        _array(spec, kind, generator, stored)
        for spec, stored in zip(signature.parameters, _of_each(signature, quantized), strict=True)
    ]


def _of_each(signature: Signature, quantized: Quantizations) -> Quantizations:
    return quantized or [None] * len(signature.parameters)


def _array(
    spec: ArraySpec,
    kind: InputKind,
    generator: np.random.Generator,
    stored: Quantization | None = None,
    *,
    sparse_turn: int | None = None,
) -> Array:
    """`sparse_turn`: there are few NaNs, infinities and largest numbers, and which comes first."""
    dtype = spec.dtype
    sizes = tuple(
        int(generator.integers(0, size + 1)) if d in spec.dynamic_dimensions else size
        for d, size in enumerate(spec.shape)
    )
    if stored is not None:
        return _stored(stored, kind, generator, sizes).astype(dtype)
    row = ELEMENT_OF_DTYPE[dtype]
    if row.element_class == ElementClass.PRED:
        return generator.integers(0, 2, sizes).astype(dtype)
    if row.element_class == ElementClass.COMPLEX:
        part = ArraySpec.of("f32" if row.bits == 64 else "f64", *sizes, 2)
        parts = _array(part, kind, generator, sparse_turn=sparse_turn)
        return np.ascontiguousarray(parts).view(dtype)[..., 0]
    values = _plain(row.element_class, row.bits, sizes, generator)
    if kind is not InputKind.PLAIN and values.size:
        is_float = row.element_class == ElementClass.FLOAT
        edges = (_float_edges if is_float else _integer_edges)(dtype, kind, generator)
        is_sparse = sparse_turn is not None
        is_edge = generator.integers(0, 4, sizes) < (1 if is_sparse else 2)
        numbers = _numbers(edges.quiet if is_sparse else (*edges.quiet, *edges.loud))
        chosen = generator.choice(numbers, sizes)
        values = np.where(is_edge | (values.size == 1), chosen, values)
        if sparse_turn is not None:
            _place(values, edges.loud, sparse_turn, generator)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def _stored(
    quantization: Quantization,
    kind: InputKind,
    generator: np.random.Generator,
    sizes: Sequence[int],
) -> Array:
    """Integers of the storage, many of them its ends, or near zero points if not plain."""
    low, high = quantization.minimum, quantization.maximum
    values = generator.integers(low, high, tuple(sizes), endpoint=True)
    if kind is InputKind.PLAIN:
        return values
    edges = (
        [low, high, low + 1, high - 1]
        if kind is InputKind.LIMITS
        else [zero + step for zero in quantization.zero_points for step in (-1, 0, 1)]
    )
    chosen = generator.choice(np.clip(edges, low, high), tuple(sizes))
    return np.where(generator.integers(0, 2, tuple(sizes)) == 0, chosen, values)


def are_stored(arrays: Sequence[Array], quantized: Quantizations) -> bool:
    """Whether integers that stand for numbers are in the range of their storage."""
    return all(
        stored is None or bool(np.all((array >= stored.minimum) & (array <= stored.maximum)))
        for array, stored in zip(arrays, quantized or [None] * len(arrays), strict=True)
    )


def _tied(
    values: Array, generator: np.random.Generator, *, is_index: bool, is_small: bool
) -> Array:
    """An array of few of its numbers: sorts, extrema and searches say what comes first."""
    few = values.reshape(-1)[:NUMBERS_OF_TIES]
    if is_inexact(few.dtype):
        factor = SIZE_OF_TIES if is_small else 1.0
        few = (few * np.asarray(factor, few.dtype)).astype(few.dtype)
    elif is_index and few.dtype != np.bool_:
        few = (few.astype(np.int64) % MOST_INDICES).astype(few.dtype)
    return generator.choice(few, values.shape) if few.size else values


def _place(values: Array, loud: Sequence[float], turn: int, generator: np.random.Generator) -> None:
    """Puts few numbers into an array: one into one of a few rows, or instead of the only one."""
    rows = values.size // max((1, *values.shape[-1:]))
    count = min(max(rows // ROWS_OF_A_PLACE, 1), SPARSE_PLACES)
    places: Array = np.argsort(generator.random(values.size))[:count]
    # There are not more turns than that.
    numbers = loud if values.size > 1 else (*loud, values.item())[: MOST_INPUTS - 1]
    if numbers:
        values.reshape(-1)[places] = np.resize(np.roll(numbers, -turn), count)


def _plain(
    element_class: ElementClass, bits: int, sizes: Sequence[int], generator: np.random.Generator
) -> Array:
    if element_class == ElementClass.FLOAT:
        return generator.standard_normal(tuple(sizes))
    low = 0 if element_class == ElementClass.UNSIGNED else -min(9, 1 << (bits - 1))
    high = min(10, 1 << (bits - (element_class == ElementClass.SIGNED)))
    return generator.integers(low, high, tuple(sizes))


@dataclass(frozen=True)
class _Edges:
    """The values that are mixed into an input."""

    quiet: Sequence[Any]
    loud: Sequence[float] = ()
    """Those that spread over the results of contractions."""


_SPECIAL_FLOATS = _Edges(
    (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 2.5, 10.75, -100.0, 1e-3), (np.nan, np.inf, -np.inf)
)
_SPECIAL_INTEGERS = (0, 1, -1, 2, 3, 7)
RANDOM_NUMBERS = 4
"""How many integers of any bits, or denormal numbers, are mixed into an input."""


def _float_edges(dtype: Any, kind: InputKind, generator: np.random.Generator) -> _Edges:
    if kind is InputKind.SPECIAL:
        return _SPECIAL_FLOATS
    info = cast(Any, ml_dtypes).finfo(dtype)
    # Below the least normal number every bit is a place; some are rounded there.
    tiny, least = float(info.tiny), float(info.smallest_subnormal)
    steps = generator.integers(1, 2 * int(tiny / least) + 1, RANDOM_NUMBERS)
    # The largest number and half a unit in its last place are as near to it as to what overflows;
    # products with 1 keep them.
    half = math.ldexp(float(info.eps), info.maxexp - 2)
    return _Edges(
        [tiny, least, -tiny, 1.0, half, -half, *(least * steps), *(-least * steps[:1])],
        [float(x) for x in (info.max, info.min)],
    )


def _integer_edges(dtype: Any, kind: InputKind, generator: np.random.Generator) -> _Edges:
    limits = cast(Any, ml_dtypes).iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    if kind is InputKind.SPECIAL:
        return _Edges([value for value in _SPECIAL_INTEGERS if low <= value <= high])
    bits = (int(n) for n in generator.integers(0, 1 << 64, RANDOM_NUMBERS, np.uint64))
    return _Edges([low, high, high - 1, *(low + n % (high - low + 1) for n in bits)])


def _numbers(edges: Sequence[Any]) -> Array:
    """Integers as numpy's default ones, which have 64 bits with sign, and wrap."""
    if isinstance(edges[0], float):
        return np.array(edges)
    return np.array([(n + (1 << 63)) % (1 << 64) - (1 << 63) for n in edges], np.int64)


def spelled(array: Array, limit: int = 8) -> str:
    """An input in a few words: the elements that are not 0, or how many they are."""
    flat = array.reshape(-1)
    places = set_places(array)
    if array.ndim == 0:
        return str(array[()])
    if not places.size:
        return "all 0"
    if places.size > limit:
        return f"{places.size} of {flat.size} elements not 0"
    indices = [np.unravel_index(int(place), array.shape) for place in places]
    parts = [
        f"{list(map(int, index))} = {flat[place]}"
        for index, place in zip(indices, places, strict=True)
    ]
    return "0 but " + ", ".join(parts)


def set_places(array: Array) -> Array:
    """Which elements have a bit set: -0.0 counts."""
    flat = np.ascontiguousarray(array).reshape(-1)
    codes = flat.view(np.uint8).reshape(flat.size, flat.dtype.itemsize)
    return np.flatnonzero(codes.any(axis=1))
