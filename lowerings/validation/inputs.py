"""Random inputs mixed with edge cases: zeros, infinities, NaN and limits of types."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, cast

import ml_dtypes
import numpy as np

from lowerings.execution.signature import ArraySpec, Signature
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array
from xla_dialect.types import ElementClass


class InputKind(Enum):
    """What the numbers of an input are like."""

    PLAIN = "plain"
    """Of moderate size, all different; integers small."""
    SPECIAL = "special"
    """Half of them zeros of both signs, ones, infinities and NaN."""
    LIMITS = "limits"
    """Half of them the largest and the smallest of the type, denormals too."""


EVERY_INPUT = tuple(InputKind)

_SPECIAL_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan)
_SPECIAL_INTEGERS = (0, 1, -1, 2, 3, 7)


def make_input(
    signature: Signature, kind: InputKind, generator: np.random.Generator
) -> list[Array]:
    """One array for each parameter."""
    return [_array(spec, kind, generator) for spec in signature.parameters]


def _array(spec: ArraySpec, kind: InputKind, generator: np.random.Generator) -> Array:
    dtype = spec.dtype
    sizes = tuple(
        int(generator.integers(0, size + 1)) if d in spec.dynamic_dimensions else size
        for d, size in enumerate(spec.shape)
    )
    row = ELEMENT_OF_DTYPE[dtype]
    if row.element_class == ElementClass.PRED:
        return generator.integers(0, 2, sizes).astype(dtype)
    if row.element_class == ElementClass.COMPLEX:
        part = ArraySpec.of("f32" if row.bits == 64 else "f64", *sizes, 2)
        return np.ascontiguousarray(_array(part, kind, generator)).view(dtype)[..., 0]
    is_float = row.element_class == ElementClass.FLOAT
    values = _plain(row.element_class, row.bits, sizes, generator)
    chosen = np.array(_edges(dtype, kind, is_float), values.dtype)
    if kind is not InputKind.PLAIN and chosen.size:
        edges = generator.choice(chosen, sizes)
        values = np.where(generator.integers(0, 2, sizes) == 1, edges, values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype)


def _plain(
    element_class: ElementClass, bits: int, sizes: Sequence[int], generator: np.random.Generator
) -> Array:
    if element_class == ElementClass.FLOAT:
        return generator.standard_normal(tuple(sizes))
    low = 0 if element_class == ElementClass.UNSIGNED else -min(9, 1 << (bits - 1))
    high = min(10, 1 << (bits - (element_class == ElementClass.SIGNED)))
    return generator.integers(low, high, tuple(sizes))


def _edges(dtype: Any, kind: InputKind, is_float: bool) -> list[Any]:
    """The values that are mixed into an input; a type without NaN or infinity has fewer."""
    if is_float:
        info = cast(Any, ml_dtypes).finfo(dtype)
        limits = (info.max, info.min, info.tiny, info.smallest_subnormal, -info.tiny)
        wanted = _SPECIAL_FLOATS if kind is InputKind.SPECIAL else [float(x) for x in limits]
        return list(wanted)
    limits = cast(Any, ml_dtypes).iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    if kind is InputKind.SPECIAL:
        return [value for value in _SPECIAL_INTEGERS if low <= value <= high]
    # numpy's default integers have 64 bits with sign.
    return [max(low, -(1 << 63)), min(high, (1 << 63) - 1), min(high - 1, (1 << 63) - 2)]


def spelled(array: Array, limit: int = 8) -> str:
    """An input in a few words: the elements that are not 0, or how many they are."""
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        places = np.flatnonzero(_is_set(flat))
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


def _is_set(flat: Array) -> Array:
    """Where elements have a bit set: -0.0 counts."""
    codes = np.ascontiguousarray(flat).view(np.uint8).reshape(flat.size, flat.dtype.itemsize)
    return np.asarray(codes.any(axis=1))
