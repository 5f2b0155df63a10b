"""
Traces of JAX's profiler: what they have of our devices, the runs of programs and of their kernels,
the extension of the API with which they are taken, and the message of protocol buffers, `XSpace`,
that the profiler gets.

C, which calls programs, knows nothing of it: while a trace is taken Python makes all calls, and
runs programs that were compiled once more, with a profile. A session calls `create`, `start`,
`stop`, `collect_data` and `destroy`, once each, on the thread that traces; whatever `create`
returns, the others follow. None of them fails, and there is one session at a time. The sizes of
their arguments are not set, so they are not checked.
"""

from __future__ import annotations

import ctypes
import logging
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xla_dialect.devices.process_grid import Process

if TYPE_CHECKING:
    from lowerings.execution.profile import RunEvents
    from lowerings.profiling.source_operations import SourceOperation


EXTENSION_NUMBER = 1
_FUNCTIONS = (
    *("error_destroy", "error_message", "error_get_code"),
    *("create", "destroy", "start", "stop", "collect_data"),
)
"""In the order of their table."""

_LOG = logging.getLogger(__name__)
_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class ProfilerTable(ctypes.Structure):
    """The functions of the profiler."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("priv", ctypes.c_void_p),
        *((name, _Function) for name in _FUNCTIONS),
    ]


class ProfilerExtension(ctypes.Structure):
    """The extension, which has the table and, beyond it, what we do without."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int32),
        ("next", ctypes.c_void_p),
        ("table", ctypes.POINTER(ProfilerTable)),
    ]


class _CreateArguments(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("options", ctypes.c_void_p),
        ("options_size", ctypes.c_size_t),
        ("profiler", ctypes.c_void_p),
    ]


class _CollectArguments(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("profiler", ctypes.c_void_p),
        ("buffer", ctypes.c_void_p),
        ("buffer_size", ctypes.c_size_t),
    ]


class Profiler:
    """The extension, and the session of it that there may be."""

    def __init__(self) -> None:
        self._table = ProfilerTable(ctypes.sizeof(ProfilerTable), None)
        own: dict[str, Callable[[int], None]] = {
            "create": self._create,
            "start": self._start,
            "stop": self._stop,
            "collect_data": self._collect_data,
            "destroy": self._destroy,
        }
        for name in _FUNCTIONS:
            setattr(self._table, name, _Function(_safe(own.get(name, _nothing))))
        self._ended: Trace | None = None
        self._data: Any = None

    def extension(self, following: int | None) -> ProfilerExtension:
        """The extension for the table of the API, before another one."""
        size = ctypes.sizeof(ProfilerExtension)
        return ProfilerExtension(size, EXTENSION_NUMBER, following, ctypes.pointer(self._table))

    def _create(self, address: int) -> None:
        # The options that come with it are always the same, whatever the user has chosen.
        _CreateArguments.from_address(address).profiler = ctypes.addressof(self._table)

    def _start(self, _address: int) -> None:
        begin()

    def _stop(self, _address: int) -> None:
        self._ended = end()

    def _collect_data(self, address: int) -> None:
        args = _CollectArguments.from_address(address)
        args.buffer, args.buffer_size = None, 0
        if self._ended is None:
            return
        data = as_xspace(self._ended)
        self._data = ctypes.create_string_buffer(data, len(data) or 1)
        args.buffer, args.buffer_size = ctypes.addressof(self._data), len(data)

    def _destroy(self, _address: int) -> None:
        self._ended = self._data = None


def _nothing(_address: int) -> None:
    """There are no errors."""


def _safe(function: Callable[[int], None]) -> Callable[[int], None]:
    """
    A function that says in the log what went wrong in it: whoever traces goes on. A process that
    ends within a trace calls it when modules are gone; nobody reads that trace.
    """
    is_finalizing = sys.is_finalizing

    def call(address: int) -> None:
        if is_finalizing():
            return
        try:
            function(address)
        except Exception:
            _LOG.exception("the trace has nothing of the devices of xdsl")

    return call


MOST_EVENTS = 1 << 20
"""Of one trace: 24 MiB, and some seconds of work when it is written."""

_called_on: ContextVar[Sequence[int]] = ContextVar("devices of a call", default=())


@contextmanager
def called_on(devices: Sequence[int]) -> Generator[None]:
    """Runs of this thread are on these devices, by their ids."""
    token = _called_on.set(devices)
    try:
        yield
    finally:
        _called_on.reset(token)


@dataclass(frozen=True)
class TracedRun:
    """A run of a program on a device."""

    device: int
    program: str
    events: RunEvents


@dataclass(frozen=True)
class Remark:
    """What happened to a program beside its runs, for the device that it was to run on."""

    device: int
    program: str
    text: str
    started: int
    ended: int


@dataclass
class Loss:
    """The events of a program on a device for which there was no room."""

    device: int
    program: str
    started: int
    ended: int = 0
    count: int = 0


@dataclass
class Trace:
    """What was recorded, in nanoseconds of `time.monotonic_ns`."""

    started: int = field(default_factory=time.monotonic_ns)
    started_at: int = field(default_factory=time.time_ns)
    """The same moment, in nanoseconds since 1970."""
    runs: list[TracedRun] = field(default_factory=list[TracedRun])
    remarks: list[Remark] = field(default_factory=list[Remark])
    losses: dict[tuple[int, str], Loss] = field(default_factory=dict[tuple[int, str], Loss])
    """By device and program."""
    _count: int = 0
    _adding: threading.Lock = field(default_factory=threading.Lock)

    def remark(self, program: str, text: str, started: int, devices: Sequence[int]) -> None:
        """Adds what was done for a program, from a moment until now."""
        device = (_called_on.get() or devices)[0]
        self.remarks.append(Remark(device, program, text, started, time.monotonic_ns()))

    def add(self, program: str, events: RunEvents, devices: Sequence[int]) -> None:
        """Adds a run of this thread, which is that of one of the devices of a program."""
        process = Process.current()
        number = 0 if process is None else process.grid.number(process.place)
        device = (_called_on.get() or devices)[number]
        found, lost = len(events.events), events.lost
        with self._adding:
            if self._count + found <= MOST_EVENTS:
                self._count += found
                self.runs.append(TracedRun(device, program, events))
            else:
                lost += found
            if lost:
                now = time.monotonic_ns()
                loss = self.losses.setdefault((device, program), Loss(device, program, now))
                loss.count, loss.ended = loss.count + lost, now


_traces: list[Trace] = []
"""The one that is taken now, if any."""
_listeners: list[Callable[[], None]] = []


def on_change(listener: Callable[[], None]) -> None:
    """Calls a function whenever a trace has begun or ended."""
    _listeners.append(listener)


def current() -> Trace | None:
    """The trace that is taken now."""
    return _traces[-1] if _traces else None


def begin() -> None:
    """Takes a trace from now on."""
    _traces[:] = [Trace()]
    _tell()


def end() -> Trace | None:
    """The trace that was taken until now."""
    found = _traces.pop() if _traces else None
    _tell()
    return found


def _tell() -> None:
    for listener in _listeners:
        listener()


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
