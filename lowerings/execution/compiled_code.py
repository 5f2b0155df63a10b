"""What the compiler makes of a program, as bytes: for other processes."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

from lowerings.execution.signature import ArraySpec, Signature
from lowerings.layouts.memory_order import order_of_layout
from lowerings.targets.llvm.guards import Guard, ModuleGuards
from lowerings.targets.llvm.module import ExternalConstant
from lowerings.targets.llvm.profiling import ModuleProfile
from xla_dialect.layout import Layout

_LENGTH = struct.Struct("<Q")


class NotPortable(Exception):
    """Code that cannot be written as bytes, or bytes that are no code."""


@dataclass(frozen=True)
class CompiledCode:
    """Object code of a program, and what it takes to load and call it."""

    object_code: bytes
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
            "constants": [(each.symbol, len(each.data)) for each in self.constants],
            "guards": None
            if self.guards is None
            else [self.guards.symbol, [(g.message, g.place) for g in self.guards.guards]],
        }
        text = json.dumps(head).encode()
        parts = [_LENGTH.pack(len(text)), text, *(each.data for each in self.constants)]
        data = b"".join([*parts, self.object_code])
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
    guards = head["guards"]
    return CompiledCode(
        data[end:],
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
                Guard(message, None if place is None else (place[0], place[1], place[2]))
                for message, place in guards[1]
            ),
        ),
        head["tasks"],
    )


def _spell(spec: ArraySpec) -> list[Any]:
    layout = None if spec.order is None else str(spec.order.layout)
    return [spec.element_type, list(spec.shape), spec.name, layout]


def _read(spelled: list[Any]) -> ArraySpec:
    element_type, shape, name, layout = spelled
    plain = ArraySpec.of(element_type, *shape, name=name)
    if layout is None:
        return plain
    return ArraySpec(plain.type, name, order_of_layout(Layout.parse(layout)))
