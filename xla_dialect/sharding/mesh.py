"""
The devices of a program as an array with named axes: `#sdy.mesh<["x"=4, "y"=2]>`.

Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.tokens import Tokens
from xla_dialect.spelling import SpellingError, shortened

MAX_DEVICES = 1 << 20
"""No mesh or sharding has more."""


@dataclass(frozen=True)
class Mesh:
    """The axes with their sizes, in order, and the ids of the devices in row-major order."""

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] = ()
    """None are listed where they are 0, 1, 2 and so on. One id and no axes: a maximal mesh."""

    @classmethod
    def parse(cls, tokens: Tokens) -> Mesh:
        """Reads `<["x"=2, "y"=4], device_ids=[...]>`; raises SpellingError."""
        tokens.expect("<")
        start = tokens.position
        axes = Mesh.parse_axes(tokens)
        ids: tuple[int, ...] = ()
        if tokens.accept(","):
            tokens.expect("device_ids", "=")
            ids = tokens.numbers("[", "]")
        tokens.expect(">")
        mesh = Mesh(axes, ids)
        fault = mesh.fault()
        if fault is not None:
            raise SpellingError(fault, start)
        if axes and ids == tuple(range(len(ids))):
            return Mesh(axes)
        return mesh

    @staticmethod
    def parse_axes(tokens: Tokens) -> tuple[tuple[str, int], ...]:
        """Reads `["x"=2, "y"=4]`, with quotes of either kind; raises SpellingError."""

        def sized() -> tuple[str, int]:
            name = tokens.quoted()
            tokens.expect("=")
            return name, tokens.number()

        tokens.expect("[")
        return tuple(tokens.items("]", sized))

    def fault(self) -> str | None:
        """What is wrong: an axis named twice, sizes and ids that do not fit; None if nothing."""
        what = f"(SH1) mesh {shortened(str(self))}"
        names = [name for name, _ in self.axes]
        for number, name in enumerate(names):
            if name in names[:number]:
                return f"{what}: axis {name!r} is named twice"
        for name, size in self.axes:
            if size < 1:
                return f"{what}: axis {name!r} has size {size}, it has to be at least 1"
        if self.device_count > MAX_DEVICES:
            return f"{what} has {self.device_count} devices, not 1 to {MAX_DEVICES}"
        if self.is_maximal or not self.device_ids:
            return None
        if len(self.device_ids) != self.device_count:
            return f"{what} has {len(self.device_ids)} device ids for {self.device_count} devices"
        if sorted(self.device_ids) != list(range(self.device_count)):
            return f"{what}: its device ids are not 0 to {self.device_count - 1}"
        return None

    def __str__(self) -> str:
        axes = ", ".join(f'"{name}"={size}' for name, size in self.axes)
        ids = f", device_ids=[{', '.join(map(str, self.device_ids))}]" if self.device_ids else ""
        return f"[{axes}]{ids}"

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The sizes of the axes by their names, in order."""
        return dict(self.axes)

    @cached_property
    def device_count(self) -> int:
        """How many devices it has."""
        return math.prod(size for _, size in self.axes)

    @property
    def is_maximal(self) -> bool:
        """Whether it is one device among all of a program: nothing is split."""
        return not self.axes and len(self.device_ids) == 1

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """The ids of the devices in row-major order of the axes."""
        return self.device_ids or tuple(range(self.device_count))

    @cached_property
    def whole_axes(self) -> tuple[AxisReference, ...]:
        """A reference to each axis, in order."""
        return tuple(AxisReference(name) for name, _ in self.axes)

    def size(self, axes: Iterable[AxisReference | str]) -> int:
        """How many parts these axes make together."""
        return math.prod(_reference(axis).size_in(self.sizes) for axis in axes)

    def stride(self, axis: AxisReference | str) -> int:
        """How far positions that are neighbours along an axis, or a part of one, are apart."""
        axis = _reference(axis)
        position = list(self.sizes).index(axis.name)
        minor = math.prod(size for _, size in self.axes[position + 1 :])
        return minor * (self.sizes[axis.name] // axis.end_in(self.sizes))

    def offsets(self, axes: Sequence[AxisReference | str]) -> NDArray[np.int64]:
        """Positions from the first, in order of their parts: the first axis is the slowest."""
        found = np.zeros(1, np.int64)
        for axis in axes:
            steps = np.arange(self.size((axis,))) * self.stride(axis)
            found = (found[:, None] + steps).reshape(-1)
        return found

    def groups(self, axes: Sequence[AxisReference | str]) -> tuple[tuple[int, ...], ...]:
        """The devices that differ along these axes only, the first axis the slowest."""
        wanted = [_reference(axis) for axis in axes]
        others = [part for axis in self.whole_axes for part in axis.without(wanted, self.sizes)]
        starts, offsets = self.offsets(others), self.offsets(wanted)
        ids = np.array(self.devices)[starts[:, None] + offsets]
        return tuple(map(tuple, ids.tolist()))

    @cached_property
    def positions(self) -> dict[int, int]:
        """The row-major position of each device by its id."""
        return {device: position for position, device in enumerate(self.devices)}

    def coordinate(self, device: int, axes: Sequence[AxisReference | str]) -> int:
        """Which of the parts that these axes make belongs to a device."""
        position, number = self.positions[device], 0
        for axis in axes:
            size = self.size((axis,))
            number = number * size + position // self.stride(axis) % size
        return number


def _reference(axis: AxisReference | str) -> AxisReference:
    return AxisReference(axis) if isinstance(axis, str) else axis
