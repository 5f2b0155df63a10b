"""What the compiler makes of a program, as bytes: for other processes."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lowerings.execution.signature import ArraySpec, Signature
from lowerings.targets.llvm.interface import ExternalConstant, Guard, ModuleGuards

if TYPE_CHECKING:
    from lowerings.layouts.memory_order import MemoryOrder
    from lowerings.targets.llvm.profiling import ModuleProfile

_LENGTH = struct.Struct("<Q")


class NotPortable(Exception):
    """Code that cannot be written as bytes, or bytes that are no code."""


@dataclass(frozen=True)
class OutsideFunction:
    """A function that code calls outside of it, as the program declares it."""

    name: str
    attributes: str
    """As MLIR spells them."""
    place: tuple[str, int, int] | None = None
    """File, line and column of the operation."""


@dataclass(frozen=True)
class CompiledCode:
    """Object code of a program, and what it takes to load and call it."""

    objects: tuple[bytes, ...]
    """Object code, in parts that are linked together."""
    entry: str
    signature: Signature
    """For callers."""
    arena_size: int | None
    constants: tuple[ExternalConstant, ...]
    guards: ModuleGuards | None
    has_tasks: bool
    """Whether loops may run on several threads."""
    profile: ModuleProfile | None = None
    """Where it keeps the time that its parts take."""
    outside: tuple[OutsideFunction, ...] = ()
    """What it calls."""
    process_counts: tuple[int, int] = (1, 1)
    """How many replicas, and partitions of each, it is for."""

    def to_bytes(self) -> bytes:
        """All of it; raises NotPortable where it would not be the same when read."""
        signature = self.signature
        head = {
            "entry": self.entry,
            "name": signature.name,
            "parameters": [_spell(spec) for spec in signature.parameters],
            "results": [_spell(spec) for spec in signature.results],
            "aliases": signature.aliases,
            "arena": self.arena_size,
            "tasks": self.has_tasks,
            "objects": list(map(len, self.objects)),
            "constants": [(each.symbol, len(each.data)) for each in self.constants],
            "guards": None
            if self.guards is None
            else [self.guards.symbol, [(g.message, g.place) for g in self.guards.guards]],
            "outside": [(each.name, each.attributes, each.place) for each in self.outside],
            "processes": self.process_counts,
        }
        text = json.dumps(head).encode()
        parts = [_LENGTH.pack(len(text)), text, *(each.data for each in self.constants)]
        data = b"".join([*parts, *self.objects])
        if CompiledCode.from_bytes(data) != self:
            raise NotPortable
        return data

    @staticmethod
    def from_bytes(data: bytes) -> CompiledCode:
        """What `to_bytes` wrote; raises NotPortable for anything else."""
        try:
            return _decoded(data)
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise NotPortable from error


def _decoded(data: bytes) -> CompiledCode:
    (length,) = _LENGTH.unpack_from(data)
    end = _LENGTH.size + length
    head: dict[str, Any] = json.loads(data[_LENGTH.size : end])
    constants: list[ExternalConstant] = []
    for symbol, size in head["constants"]:
        constants.append(ExternalConstant(symbol, data[end : end + size]))
        end += size
    objects: list[bytes] = []
    for size in head["objects"]:
        objects.append(data[end : end + size])
        end += size
    guards = head["guards"]
    return CompiledCode(
        tuple(objects),
        head["entry"],
        Signature(
            tuple(_read(spec) for spec in head["parameters"]),
            tuple(_read(spec) for spec in head["results"]),
            head["name"],
            tuple((result, parameter) for result, parameter in head["aliases"]),
        ),
        head["arena"],
        tuple(constants),
        None
        if guards is None
        else ModuleGuards(
            guards[0],
            tuple(
                Guard(message, None if place is None else _place(place))
                for message, place in guards[1]
            ),
        ),
        head["tasks"],
        outside=tuple(
            OutsideFunction(name, attributes, None if place is None else _place(place))
            for name, attributes, place in head["outside"]
        ),
        process_counts=(head["processes"][0], head["processes"][1]),
    )


def _place(spelled: Any) -> tuple[str, int, int]:
    file, line, column = spelled
    return file, line, column


def _spell(spec: ArraySpec) -> list[Any]:
    layout = None if spec.order is None else str(spec.order.layout)
    return [spec.element_type, list(spec.shape), spec.name, layout]


def _read(spelled: list[Any]) -> ArraySpec:
    element_type, shape, name, layout = spelled
    order = None if layout is None else _order_of_layout(layout)
    return ArraySpec.of(element_type, *shape, name=name, order=order)


def _order_of_layout(layout: str) -> MemoryOrder:
    # Few programs have one, and it knows operations.
    from lowerings.layouts.memory_order import order_of_layout  # noqa: PLC0415
    from xla_dialect.layout import Layout  # noqa: PLC0415

    return order_of_layout(Layout.parse(layout))
