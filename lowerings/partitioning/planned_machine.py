"""
What a machine is to a partitioned program: a mesh of devices, and how long collectives take on it.

A collective of `n` members along an axis sends, for an array of `s` bytes, messages that take the
latency of the axis and their bytes by its bandwidth: around a ring `n - 1` of `s / n` bytes, for an
all-reduce twice as many; along trees `log2(n)` with all of it, up and down. Along several axes the
fastest one is reduced first and gathered last, so that the others see a part; or all of them are
one ring or tree, with the worst of their latencies and bandwidths. The quickest of these is taken.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from lowerings.partitioning.resharding import Collective
from xla_dialect.diagnostics import XlaError


@dataclass(frozen=True)
class PlannedAxis:
    """An axis of the mesh of devices, with what a device has to send along it."""

    name: str
    size: int
    bandwidth: float
    """Bytes a second."""
    latency: float
    """Seconds until the first byte of a message is there."""


class CollectiveTime(NamedTuple):
    """How long a collective takes, and by which algorithm."""

    seconds: float
    algorithms: tuple[str, ...]
    """One for each axis that is gone along on its own."""
    along: str = ""
    """The axes along which its members differ, and in how many places."""


@dataclass(frozen=True)
class PlannedMachine:
    """A mesh of equal devices, numbered in row-major order of its axes."""

    flops: float
    """Floating-point operations a second of a device."""
    memory_bandwidth: float
    """Bytes a second of a device."""
    memory: float
    """Bytes of a device."""
    axes: tuple[PlannedAxis, ...]

    @staticmethod
    def read(path: Path) -> PlannedMachine:
        """The machine of a TOML file; raises XlaError for a file that has none."""
        try:
            entries = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise XlaError(f"{path}: {error}") from None
        axes = entries.pop("axes", None)
        if not isinstance(axes, list) or not axes:
            raise XlaError(f"{path}: expected [[axes]], one for each axis of the mesh of devices")
        try:
            return PlannedMachine(
                **_numbers(entries, [f.name for f in fields(PlannedMachine)][:-1]),
                axes=tuple(map(_axis, axes)),  # pyright: ignore
            )
        except ValueError as error:
            raise XlaError(f"{path}: {error}") from None

    @property
    def device_count(self) -> int:
        """The number of devices."""
        return prod(axis.size for axis in self.axes)

    def crossed(self, members: Sequence[int]) -> list[PlannedAxis]:
        """The axes along which devices differ, with the number of their places, fast ones first."""
        found: list[PlannedAxis] = []
        inner = 1
        for axis in reversed(self.axes):
            places = {device // inner % axis.size for device in members}
            if len(places) > 1:
                found.append(PlannedAxis(axis.name, len(places), axis.bandwidth, axis.latency))
            inner *= axis.size
        return sorted(found, key=lambda axis: -axis.bandwidth)

    def time(self, kind: Collective, bytes_: float, members: Sequence[int]) -> CollectiveTime:
        """
        How long a collective of these devices takes.

        `bytes_`: of a device's operand, of an all-gather those of its result.
        """
        axes = self.crossed(members)
        if not axes:
            return CollectiveTime(0.0, ())
        slowest, latency = axes[-1], max(axis.latency for axis in axes)
        flat = PlannedAxis("", len(members), slowest.bandwidth, latency)
        ways = [_along(kind, bytes_, flat)]
        if len(axes) > 1 and prod(axis.size for axis in axes) == len(members):
            ways.append(_by_axis(kind, bytes_, axes))
        along = ", ".join(f"{axis.name}={axis.size}" for axis in axes)
        return min(ways)._replace(along=along)


def _numbers(entries: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    if set(entries) != set(names):
        raise ValueError(f"expected {', '.join(names)}, found {', '.join(entries) or 'nothing'}")
    for name, value in entries.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{name} is {value!r}, expected a number above 0")
    return dict(entries)


def _axis(entries: object) -> PlannedAxis:
    if not isinstance(entries, dict):
        raise ValueError("expected [[axes]], one for each axis of the mesh of devices")
    numbers: dict[str, Any] = {**entries}
    name = numbers.pop("name", None)
    size = numbers.get("size")
    if not isinstance(name, str) or not isinstance(size, int):
        raise ValueError("an axis has a name, and a whole number as its size")
    return PlannedAxis(name, **_numbers(numbers, ["size", "bandwidth", "latency"]))  # pyright: ignore


def _along(kind: Collective, bytes_: float, axis: PlannedAxis) -> CollectiveTime:
    """The quicker of a ring and of trees, as if each member had one link."""
    n, all_, latency = axis.size, bytes_ / axis.bandwidth, axis.latency
    if kind is Collective.COLLECTIVE_PERMUTE:
        return CollectiveTime(latency + all_, ("direct",))
    round_ = (n - 1) * latency + (n - 1) / n * all_
    depth = (n - 1).bit_length()
    up, down = depth * (latency + all_), depth * latency + (n - 1) / n * all_
    tree = {
        Collective.ALL_REDUCE: 2 * up,
        Collective.ALL_TO_ALL: depth * (latency + all_ / 2),
    }
    ring = 2 * round_ if kind is Collective.ALL_REDUCE else round_
    return min(
        CollectiveTime(ring, ("ring",)), CollectiveTime(tree.get(kind, up + down), ("tree",))
    )


def _by_axis(kind: Collective, bytes_: float, axes: Sequence[PlannedAxis]) -> CollectiveTime:
    """One axis after the other, each by its quickest way."""
    first, *others = axes
    inside = bytes_ if kind is Collective.ALL_TO_ALL else bytes_ / first.size
    rest = [_by_axis(kind, inside, others)] if others else []
    kinds = [kind]
    if kind is Collective.ALL_REDUCE and others:
        kinds = [Collective.REDUCE_SCATTER, Collective.ALL_GATHER]
    times = [*(_along(each, bytes_, first) for each in kinds), *rest]
    ways = (*times[0].algorithms, *(way for each in rest for way in each.algorithms))
    return CollectiveTime(sum(each.seconds for each in times), ways)
