"""How JAX names the way in which the devices of a mesh share an array."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import chain, permutations
from typing import Any, cast

import numpy as np

from lowerings.jax.interfaces import jax
from xla_dialect.literals.arrays import Array
from xla_dialect.sharding.array_sharding import Shards


def sharding_on(mesh: Any, shards: Shards) -> Any:
    """
    The `jax.sharding.NamedSharding` on a mesh that cuts an array so.

    Where a dimension is cut along a part of an axis, which JAX has no name for, all devices have
    all of the array.
    """
    along = cast(Any, np).indices(mesh.devices.shape).reshape(mesh.devices.ndim, -1)
    names: tuple[str, ...] = mesh.axis_names
    coordinates: dict[str, Array] = dict(zip(names, along, strict=True))
    places = np.array([shards.places[position] for position in range(mesh.size)])
    spec: list[tuple[str, ...]] = []
    for dimension, count in enumerate(shards.counts):
        axes = _axes(count, places[:, dimension], coordinates, mesh.shape)
        if axes is None:
            spec = []
            break
        spec.append(axes)
    while spec and not spec[-1]:
        spec.pop()
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))


def _axes(
    count: int, places: Array, coordinates: Mapping[str, Array], sizes: Mapping[str, int]
) -> tuple[str, ...] | None:
    """The axes, the major first, that number the parts of a dimension so; None: there are none."""
    names = [name for name, size in sizes.items() if size > 1]
    for chosen in chain.from_iterable(permutations(names, n) for n in range(len(names) + 1)):
        if math.prod(sizes[name] for name in chosen) == count:
            numbers = np.zeros_like(places)
            for name in chosen:
                numbers = numbers * sizes[name] + coordinates[name]
            if np.array_equal(numbers, places):
                return chosen
    return None
