"""The leaves of JAX's pytrees: what kind of array each is, as a program takes or returns it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lowerings.jax.interfaces import (
    Aval,
    JaxArray,
    is_tracer,
    jax,
    jax_array,
    keys_of_words,
    words_of_keys,
)


def abstract_leaf(leaf: Any) -> Hashable:
    """
    What tracing sees of a leaf: equal for leaves that one compiled program can take.

    Python numbers are weakly typed, so they differ from arrays of the same element type.
    """
    if isinstance(leaf, jax.Array):
        kind = leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)
        is_split = not is_tracer(leaf) and len(leaf.sharding.device_set) > 1
        return (*kind, leaf.sharding) if is_split else kind
    if isinstance(leaf, np.ndarray | np.generic):
        array = cast("NDArray[Any]", leaf)
        return array.shape, array.dtype
    return cast(Hashable, type(leaf))


def has_keys(aval: Aval) -> bool:
    """Whether the elements are random keys, which JAX shows as a type of their own."""
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def to_numpy(leaf: Any, aval: Aval) -> NDArray[Any]:
    """
    The array that a program takes for a leaf, in the type that JAX gave it in tracing.

    Without a copy if the leaf is an array of that type. Random keys are taken as words.
    """
    if isinstance(leaf, jax.Array):
        return np.asarray(jax.random.key_data(leaf) if has_keys(aval) else leaf)
    return np.asarray(leaf, aval.dtype)


def to_jax(value: NDArray[Any], aval: Aval) -> JaxArray:
    """A result as JAX has it: on the CPU, without a copy, with random keys and weak types."""
    if has_keys(aval):
        return keys_of_words(jax_array(value, words_of_keys(aval)), aval)
    return jax_array(value, aval)


def to_plain(value: NDArray[Any], aval: Aval) -> NDArray[Any] | JaxArray:
    """A result as numpy has it. Random keys exist in JAX only."""
    return to_jax(value, aval) if has_keys(aval) else value
