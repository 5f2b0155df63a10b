"""
Traces of JAX's profiler: what they have of our devices, the runs of programs and of their kernels,
and the extension of the API with which they are taken.

C, which calls programs, knows nothing of it: while a trace is taken Python makes all calls, and
runs programs that were compiled once more, with a profile. A session calls `create`, `start`,
`stop`, `collect_data` and `destroy`, once each, on the thread that traces; whatever `create`
returns, the others follow. None of them fails, and there is one session at a time. The sizes of
their arguments are not set, so they are not checked.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import logging
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lowerings.runtime import library
from xla_dialect.devices.process_grid import Process

if TYPE_CHECKING:
    from lowerings.execution.profile import ModuleProfile, RunEvents
    from lowerings.profiling.source_operations import SourceOperation


EXTENSION_NUMBER = 1
_FUNCTIONS = (
    *("error_destroy", "error_message", "error_get_code"),
    *("create", "destroy", "start", "stop", "collect_data"),
)
"""In the order of their table."""

_profile_data: Any = cast(Any, importlib.import_module("jaxlib._profile_data"))

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
        _take(Trace())

    def _stop(self, _address: int) -> None:
        self._ended = current()
        _take(None)

    def _collect_data(self, address: int) -> None:
        args = _CollectArguments.from_address(address)
        args.buffer, args.buffer_size = None, 0
        if self._ended is None:
            return
        data = self._ended.as_xspace()
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


class _Event(NamedTuple):
    started: int
    ended: int
    kind: _Kind


PROGRAMS, KERNELS = "programs", "kernels"
"""The lines of a device. What overlaps, because threads ran it, is on further ones."""
_FIRST_LINES = {PROGRAMS: 1, KERNELS: 1000}
"""Their numbers; further ones follow."""
_PICOSECONDS = 1000
"""Of a nanosecond."""


class Trace:
    """What was recorded, in nanoseconds of `time.monotonic_ns`."""

    def __init__(self) -> None:
        self._started, self._started_at = time.monotonic_ns(), time.time_ns()
        """The same moment, the second in nanoseconds since 1970."""
        self._events: defaultdict[tuple[int, str], list[_Event]] = defaultdict(list)
        """By device and line."""
        self._kinds: dict[tuple[int, str], list[_Kind]] = {}
        """Of the sites of profiles."""
        self._lost: dict[tuple[int, str], tuple[int, int]] = {}
        """By device and program, for how many events there was no room, and since when."""
        self._count = 0
        self._adding = threading.Lock()

    def remark(self, program: str, text: str, started: int, devices: Sequence[int]) -> None:
        """Adds what was done for a program, from a moment until now."""
        device = (_called_on.get() or devices)[0]
        event = _Event(started, time.monotonic_ns(), _Kind(text, program))
        self._events[device, PROGRAMS].append(event)

    def add(self, program: str, run: RunEvents, devices: Sequence[int]) -> None:
        """Adds a run of this thread, which is that of one of the devices of a program."""
        process = Process.current()
        number = 0 if process is None else process.grid.number(process.place)
        device = (_called_on.get() or devices)[number]
        with self._adding:
            kinds = self._kinds_of(program, run.profile)
            has_room = self._count + len(run.events) <= MOST_EVENTS
            for site, started, ended in run.events.tolist() if has_room else ():
                line = KERNELS if site else PROGRAMS
                self._events[device, line].append(_Event(started, ended, kinds[site]))
                self._count += 1
            lost = run.lost + (0 if has_room else len(run.events))
            if lost:
                before, since = self._lost.get((device, program), (0, time.monotonic_ns()))
                self._lost[device, program] = before + lost, since

    def _kinds_of(self, program: str, profile: ModuleProfile) -> list[_Kind]:
        key = id(profile), program
        if key not in self._kinds:
            self._kinds[key] = [
                _Kind(profile.rows[site.row].name if n else program, program, site.operations)
                for n, site in enumerate(profile.sites)
            ]
        return self._kinds[key]

    def as_xspace(self) -> bytes:
        """The trace as the profiler takes it, a message of protocol buffers."""
        for (device, program), (count, since) in self._lost.items():
            text = f"{count} events of {program} are left out: there is no room"
            self.remark(program, text, since, (device,))
        devices = sorted({device for device, _ in self._events})
        return _profile_data.ProfileData.text_proto_to_serialized_xspace(
            "".join(map(self._plane, devices))
        )

    def _plane(self, device: int) -> str:
        kinds: dict[_Kind, str] = {}
        """What each event of a kind begins with."""
        texts: dict[str, int] = {}
        """Names and values of statistics, which events refer to."""

        def head(kind: _Kind) -> str:
            if kind not in kinds:
                numbers = [
                    (texts.setdefault(name, len(texts) + 1), texts.setdefault(text, len(texts) + 1))
                    for name, text in kind.statistics.items()
                    if text
                ]
                statistics = (f"stats{{metadata_id:{n} ref_value:{text}}}" for n, text in numbers)
                kinds[kind] = f"events{{metadata_id:{len(kinds) + 1}{''.join(statistics)}"
            return kinds[kind]

        parts = [f"id:{device} name:{_quoted(PLANE.format(device))}"]
        for line, first in _FIRST_LINES.items():
            for number, own in enumerate(_apart(self._events[device, line])):
                title = line if number == 0 else f"{line} ({number + 1})"
                parts.append(
                    f"lines{{id:{first + number} name:{_quoted(title)} "
                    f"timestamp_ns:{self._started_at} "
                )
                for started, ended, kind in own:
                    start = max(0, started - self._started) * _PICOSECONDS
                    duration = (ended - started) * _PICOSECONDS
                    parts.append(f"{head(kind)} offset_ps:{start} duration_ps:{duration}}}")
                parts.append("}")
        for name, given in (("event", (kind.name for kind in kinds)), ("stat", texts)):
            for n, each in enumerate(given, 1):
                parts.append(f"{name}_metadata{{key:{n} value{{id:{n} name:{_quoted(each)}}}}}")
        return f"planes{{{''.join(parts)}}}"


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


def _quoted(text: str) -> str:
    # Text of protocol buffers has the escapes of JSON.
    return json.dumps(text, ensure_ascii=False)


PLANE = "/device:CUSTOM:xdsl:{}"
"""The name of the plane of a device: viewers show devices of other kinds only if they know them."""

_trace: Trace | None = None
_is_traced = ctypes.c_int64.in_dll(library(), "xla_is_traced")
"""Whether C leaves all calls to Python."""


def current() -> Trace | None:
    """The trace that is taken now."""
    return _trace


def _take(trace: Trace | None) -> None:
    global _trace
    _trace = trace
    _is_traced.value = trace is not None
