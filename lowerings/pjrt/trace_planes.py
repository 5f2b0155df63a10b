"""Traces as JAX's profiler takes them: `XSpace`, a message of protocol buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lowerings.pjrt.tracing import Trace

if TYPE_CHECKING:
    from lowerings.profiling.source_operations import SourceOperation

PLANE = "/device:CUSTOM:xdsl:{}"
"""The name of the plane of a device: viewers show devices of other kinds only if they know them."""

PROGRAMS, KERNELS = "programs", "kernels"
"""The lines of a plane. What overlaps, because threads ran it, is on further ones."""

_FIRST_KERNELS = 1000
"""The number of the first line of kernels; those of programs begin with 1."""
_PICOSECONDS = 1000
"""Of a nanosecond."""


@dataclass(frozen=True)
class _Kind:
    """What events have in common."""

    name: str
    program: str
    operations: tuple[SourceOperation, ...] = ()

    @property
    def statistics(self) -> Mapping[str, str]:
        """What viewers show of them beside the name."""
        names = dict.fromkeys(each.name for each in self.operations if each.name)
        places = dict.fromkeys(f"{each.file}:{each.line}" for each in self.operations if each.file)
        return {
            "program": self.program,
            "op_name": "; ".join(names),
            "source": "; ".join(places),
        }


@dataclass(frozen=True)
class _Event:
    started: int
    ended: int
    kind: _Kind


@dataclass
class _Plane:
    """What happened on a device."""

    programs: list[_Event] = field(default_factory=list[_Event])
    kernels: list[_Event] = field(default_factory=list[_Event])


def as_xspace(trace: Trace) -> bytes:
    """A trace as the profiler takes it."""
    planes = sorted(_planes(trace).items())
    return b"".join(_bytes(1, _plane(trace, number, plane)) for number, plane in planes)


def _planes(trace: Trace) -> Mapping[int, _Plane]:
    planes: dict[int, _Plane] = {}
    for each in trace.remarks:
        event = _Event(each.started, each.ended, _Kind(each.text, each.program))
        planes.setdefault(each.device, _Plane()).programs.append(event)
    for each in trace.losses.values():
        text = f"{each.count} events of {each.program} are left out: there is no room"
        event = _Event(each.started, each.ended, _Kind(text, each.program))
        planes.setdefault(each.device, _Plane()).programs.append(event)
    kinds: dict[tuple[int, str], list[_Kind]] = {}
    for run in trace.runs:
        profile, plane = run.events.profile, planes.setdefault(run.device, _Plane())
        key = id(profile), run.program
        if key not in kinds:
            kinds[key] = [
                _Kind(
                    profile.rows[site.row].name if n else run.program, run.program, site.operations
                )
                for n, site in enumerate(profile.sites)
            ]
        found: list[tuple[int, int, int]] = run.events.events.tolist()
        for number, started, ended in found:
            line = plane.kernels if number else plane.programs
            line.append(_Event(started, ended, kinds[key][number]))
    return planes


def _plane(trace: Trace, device: int, plane: _Plane) -> bytes:
    kinds = dict.fromkeys(event.kind for event in (*plane.programs, *plane.kernels))
    numbers = {kind: number for number, kind in enumerate(kinds, 1)}
    texts: dict[str, int] = {}
    """Names and values of statistics, which events refer to."""

    def number_of(text: str) -> int:
        return texts.setdefault(text, len(texts) + 1)

    heads: dict[_Kind, bytes] = {}
    for kind, number in numbers.items():
        statistics = (
            _bytes(4, _number(1, number_of(name)) + _number(7, number_of(value)))
            for name, value in kind.statistics.items()
            if value
        )
        heads[kind] = b"".join((_number(1, number), *statistics))
    return b"".join(
        (
            _number(1, device),
            _text(2, PLANE.format(device)),
            *_lines(trace, 1, PROGRAMS, plane.programs, heads),
            *_lines(trace, _FIRST_KERNELS, KERNELS, plane.kernels, heads),
            *(_named(4, number, kind.name) for kind, number in numbers.items()),
            *(_named(5, number, text) for text, number in texts.items()),
        )
    )


def _lines(
    trace: Trace, first: int, name: str, events: Sequence[_Event], heads: Mapping[_Kind, bytes]
) -> Iterator[bytes]:
    for number, own in enumerate(_apart(events)):
        title = name if number == 0 else f"{name} ({number + 1})"
        parts = [_number(1, first + number), _text(2, title), _number(3, trace.started_at)]
        for event in own:
            start = _number(2, max(0, event.started - trace.started) * _PICOSECONDS)
            duration = _number(3, (event.ended - event.started) * _PICOSECONDS)
            parts.append(_bytes(4, heads[event.kind] + start + duration))
        yield _bytes(3, b"".join(parts))


def _apart(events: Iterable[_Event]) -> list[list[_Event]]:
    """The events in order of their starts, on as few lines as it takes that none overlap."""
    lines: list[list[_Event]] = []
    for event in sorted(events, key=lambda each: each.started):
        free = (line for line in lines if line[-1].ended <= event.started)
        line = next(free, None)
        if line is None:
            lines.append([event])
        else:
            line.append(event)
    return lines


def _named(field_number: int, number: int, name: str) -> bytes:
    """An entry of a map from numbers to what has that number and a name."""
    named = _number(1, number) + _text(2, name)
    return _bytes(field_number, _number(1, number) + _bytes(2, named))


def _text(field_number: int, text: str) -> bytes:
    return _bytes(field_number, text.encode())


def _bytes(field_number: int, data: bytes) -> bytes:
    return _varint(field_number << 3 | 2) + _varint(len(data)) + data


def _number(field_number: int, value: int) -> bytes:
    return _varint(field_number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; all but the last have the highest bit set."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)
