"""The operations of a program's source that a location stands for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute

from lowerings.ir.locations import parts_of
from xla_dialect.violations import place_of


@dataclass(frozen=True)
class SourceOperation:
    """An operation of the program as its author wrote it."""

    name: str
    """What JAX or XLA call it, e.g. `jit(f)/tanh`, else its opcode; empty if that is not known."""
    file: str
    """Empty if it is not known."""
    line: int
    """0 if it is not known."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else ""
        return " ".join(filter(None, (self.name, place))) or "?"


def source_operations(location: Attribute) -> tuple[SourceOperation, ...]:
    """The operations that a location stands for, each once; none where nothing is known."""
    return tuple(dict.fromkeys(_operations(location)))


def _operations(location: Attribute) -> Iterator[SourceOperation]:
    while isinstance(location, CallSiteLoc):
        location = location.callee
    if isinstance(location, FusedLoc):
        for part in parts_of(location):
            yield from _operations(part)
        return
    name = location.desc.data if isinstance(location, NameLoc) else ""
    file, line, _ = place_of(location) or ("", 0, 0)
    if name or file:
        yield SourceOperation(name, file, line)
