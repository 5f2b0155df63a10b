"""Replicas and partitions of a program as threads, which meet in collectives and over channels.

A process is one partition of one replica. It runs in a thread of its own, and so does every
asynchronous computation that it starts. A thread that has to wait says for what. When all of them
wait and nothing that they wait for has come, none ever goes on: then each ends with an error that
names who waits for what.

Collectives consist of exchanges of arrays between the members of a group. A member has arrays for
each other member, and memory for what each sends to it. Nothing else passes between processes, so
that they need no common memory.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from xla_dialect.diagnostics import LocatedError, XlaError

LogicalId: TypeAlias = tuple[int, int]
"""The replica and the partition of a process: what XLA calls its logical id."""

Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Arrays: TypeAlias = Sequence[Array]
NOTHING: Arrays = ()
"""What a member has for one to which it sends nothing."""
Condition: TypeAlias = Callable[[], bool]

PIECES_FROM = 1 << 16
"""Bytes from which on each member folds a piece of an array, and not all of it: a second exchange
takes longer than to fold less."""
_PIECE_MULTIPLE = 64
"""Pieces are a multiple of so many elements long: vectors, and lines of a cache, are not shared."""


def piece_length(elements: int, bytes_per_element: int, members: int) -> int | None:
    """
    How many elements of an array each of the members folds; None where each folds all of them.

    The last members have fewer, or none.
    """
    if members < 2 or elements * bytes_per_element < PIECES_FROM:
        return None
    return -(-elements // (members * _PIECE_MULTIPLE)) * _PIECE_MULTIPLE


def pieces(array: Array, length: int, members: int) -> list[Array]:
    """The pieces of an array for members, in order; views of it where its elements lie dense."""
    flat = array.reshape(-1)
    return [flat[number * length : (number + 1) * length] for number in range(members)]


def copy_into(targets: Arrays, sources: Arrays, sender: str) -> None:
    """Copies arrays one by one; raises XlaError where types differ, in which `sender` is named."""
    if [(s.dtype, s.shape) for s in sources] != [(t.dtype, t.shape) for t in targets]:
        sent, expected = (
            " ".join(f"{array.dtype}{list(array.shape)}" for array in each)
            for each in (sources, targets)
        )
        raise XlaError(
            f"{sender} sends {sent or 'nothing'}, and {expected or 'nothing'} is expected"
        )
    for target, source in zip(targets, sources, strict=True):
        np.copyto(_as_builtin(target), _as_builtin(source))


def _as_builtin(array: Array) -> Array:
    """The array with elements of a type that numpy copies without holding the interpreter."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


class Exchange(ABC):
    """An exchange that has begun."""

    number: int
    """How often, with this one, the members have met with its key."""

    @abstractmethod
    def take(self, into: Sequence[Arrays]) -> None:
        """
        Waits for what each member, in their order, has for this one, and copies it into arrays.

        Raises XlaError where they are of other types.
        """


@dataclass(eq=False)
class Rendezvous:
    """One execution of an exchange in one memory; all of it under the lock of the grid."""

    members: tuple[LogicalId, ...]
    outgoing: dict[LogicalId, Sequence[Arrays]] = field(
        default_factory=dict[LogicalId, "Sequence[Arrays]"]
    )
    """What those who have come have for each member, in order."""

    @property
    def missing(self) -> list[LogicalId]:
        """The members that have not come."""
        return [member for member in self.members if member not in self.outgoing]


MAX_PROCESSES = 256
"""Where processes are threads, a grid has no more."""

_Result = TypeVar("_Result")


class Pending(Generic[_Result]):
    """A pending result; it takes the place of the result in the context of a start."""

    def __init__(self, result: Callable[[], _Result]):
        self.result = result
        """Waits for the result; raises XlaError if it never comes."""


@dataclass
class Host:
    """
    The host's side of one process.

    The program reads `infeed` and `sent` and writes `outfeed` and `received`.
    """

    infeed: deque[object] = field(default_factory=deque[object])
    """Items that an infeed reads, the next one first: arrays, or tuples of them."""
    sent: dict[int | None, deque[object]] = field(default_factory=dict[int | None, deque[object]])
    """By channel: what a `recv` from the host gets, items as of an infeed; `()` is one."""
    outfeed: list[Any] = field(default_factory=list[Any])
    """Items that outfeeds have written, in order."""
    received: dict[int | None, list[Any]] = field(default_factory=dict[int | None, list[Any]])
    """By channel: what a `send` to the host has sent."""

    @staticmethod
    def of(
        infeed: Sequence[object] = (), sent: Mapping[int | None, Sequence[object]] | None = None
    ) -> Host:
        """The host that has these items ready."""
        return Host(deque(infeed), {c: deque(items) for c, items in (sent or {}).items()})


@dataclass(frozen=True)
class Route:
    """The key of the queue of one channel between one pair of processes."""

    number: int | None
    source: LogicalId
    target: LogicalId


ChannelKey: TypeAlias = int | Route | None


@dataclass
class ChannelQueue:
    """What goes from one process to another: a `send` hands over to a `recv` that is ready."""

    sender: LogicalId | None = None
    receiver: LogicalId | None = None
    ready: int = 0
    """How many `recv` have been executed."""
    values: list[Any] = field(default_factory=list[Any])
    """What has been sent, in order; the n-th is for the n-th `recv`."""


@dataclass(eq=False)
class _Waiting:
    """A thread that waits."""

    is_over: Condition
    describe: Callable[[], str]


class ProcessGrid:
    """`replicas` times `partitions` processes."""

    def __init__(self, replicas: int = 1, partitions: int = 1, most: int = MAX_PROCESSES):
        """Raises XlaError for a grid without processes, or with more than `most`."""
        if not 1 <= replicas * partitions <= most or replicas < 1:
            raise XlaError(
                f"a grid of {replicas} replicas and {partitions} partitions has not 1 to "
                f"{most} processes"
            )
        self.replicas = replicas
        self.partitions = partitions
        self.rendezvous: dict[Hashable, Rendezvous] = {}
        self.channels: dict[ChannelKey, ChannelQueue] = {}
        self.ended: set[LogicalId] = set()
        self.lock = threading.Condition()
        self._running = 0
        """Threads that have not ended."""
        self._waiting: list[_Waiting] = []
        self._failure: BaseException | None = None
        self._stops: list[Callable[[], None]] = []
        """Callbacks that interrupt threads in code that does not poll the grid."""

    @property
    def places(self) -> list[LogicalId]:
        """All processes, replica by replica."""
        return [(r, p) for r in range(self.replicas) for p in range(self.partitions)]

    @property
    def running(self) -> int:
        """How many threads of this memory have not ended and do not wait in `wait`."""
        return self._running - len(self._waiting)

    def number(self, place: LogicalId) -> int:
        """The position of a process among all, replica by replica."""
        replica, partition = place
        return replica * self.partitions + partition

    def name(self, place: LogicalId) -> str:
        """A process as messages name it."""
        replica, partition = place
        if self.partitions == 1:
            return f"replica {replica}"
        if self.replicas == 1:
            return f"partition {partition}"
        return f"replica {replica}, partition {partition}"

    def names(self, places: Sequence[LogicalId]) -> str:
        """Several processes, and which of them have ended."""
        return " and ".join(
            f"{self.name(place)}{' (which has ended)' if place in self.ended else ''}"
            for place in places
        )

    def name_of_channel(self, key: ChannelKey) -> str:
        """A channel as messages name it."""
        if isinstance(key, Route):
            places = f"from {self.name(key.source)} to {self.name(key.target)}"
            return f"{self.name_of_channel(key.number)} {places}"
        return "the channel without number" if key is None else f"channel {key}"

    def check(self) -> None:
        """Raises the error that has ended another thread, if there is one."""
        if self._failure is not None:
            raise self._failure

    def end(self, error: BaseException) -> None:
        """Ends all threads with an error, unless one has failed already."""
        with self.lock:
            self._fail(error)

    @contextmanager
    def stopped_by(self, stop: Callable[[], None]) -> Generator[None]:
        """In this context, `stop` interrupts the thread when another one fails."""
        with self.lock:
            self.check()
            self._stops.append(stop)
        try:
            yield
        finally:
            with self.lock:
                self._stops.remove(stop)

    def wait(self, is_over: Condition, describe: Callable[[], str]) -> None:
        """
        Waits, holding the lock, until a condition holds.

        `describe` says who waits for what. Raises XlaError if the condition can never hold, and the
        error of any other thread that fails.
        """
        waiting = _Waiting(is_over, describe)
        self._waiting.append(waiting)
        try:
            while not is_over():
                self.check()
                self._fail_if_stuck()
                self.check()
                self.lock.wait()
        finally:
            self._waiting.remove(waiting)

    def _fail_if_stuck(self) -> None:
        """All threads wait, and none has got what it waits for: none ever will."""
        if (
            self._running
            and len(self._waiting) == self._running
            and not any(waiting.is_over() for waiting in self._waiting)
        ):
            reasons = "; ".join(sorted(waiting.describe() for waiting in self._waiting))
            self._fail(XlaError(f"the program waits forever: {reasons}"))

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
            for stop in self._stops:
                stop()
        self.lock.notify_all()

    def run(self, programs: Mapping[LogicalId, Callable[[], _Result]]) -> list[_Result]:
        """
        The results of the programs of all processes, replica by replica.

        Raises what the first of them to fail raises; an XlaError names the process.
        """
        results: dict[LogicalId, _Result] = {}

        def run_process(place: LogicalId) -> None:
            try:
                results[place] = programs[place]()
            except XlaError as error:
                raise self.of_process(error, place) from error
            finally:
                with self.lock:
                    self.ended.add(place)

        # Counted before any thread starts: the first to wait would otherwise seem to be the last
        # that runs, which is a deadlock.
        self._running += len(programs)
        for place in programs:
            self._start_thread(lambda place=place: run_process(place))
        self._join()
        return [results[place] for place in self.places]

    def run_alone(self, program: Callable[[], _Result]) -> _Result:
        """The result of the program of the only process, run in the thread of the caller."""
        results: list[_Result] = []
        self._running += 1
        self._end_thread(_failure_of(lambda: results.append(program())))
        self._join()
        return results[0]

    def start(self, function: Callable[[], None]) -> None:
        """Runs a function in a thread of its own."""
        with self.lock:
            self._running += 1
        self._start_thread(function)

    def _start_thread(self, function: Callable[[], None]) -> None:
        try:
            run_beside(partial(_failure_of, function), self._end_thread)
        except RuntimeError as error:
            with self.lock:
                self._running -= 1
                self._fail(XlaError(f"a process cannot be started: {error}"))

    def _join(self) -> None:
        """Waits until all threads have ended; raises the first failure."""
        with self.lock:
            while self._running:
                self.lock.wait()
        self.check()

    def _end_thread(self, failure: BaseException | None) -> None:
        with self.lock:
            self._running -= 1
            if failure is not None:
                self._fail(failure)
            self._fail_if_stuck()
            self.lock.notify_all()

    def of_process(self, error: XlaError, place: LogicalId) -> XlaError:
        """The error with the name of the process, unless it is one that all share."""
        if error is self._failure or len(self.places) == 1:
            return error
        prefix = f"{self.name(place)}: "
        if isinstance(error, LocatedError):
            return LocatedError(
                prefix + error.message, error.file, error.line, error.column, error.source_line
            )
        return XlaError(f"{prefix}{error}")


def _failure_of(function: Callable[[], None]) -> BaseException | None:
    """What a function raises, which `run` raises again in the thread of the caller."""
    try:
        with np.errstate(all="ignore"):
            function()
    except BaseException as error:
        return error
    return None


@dataclass(eq=False)
class Process:
    """One process of a grid, as the operations that it executes see it."""

    grid: ProcessGrid = field(default_factory=ProcessGrid)
    place: LogicalId = (0, 0)
    host: Host = field(default_factory=Host)
    same_program: bool = True
    """Whether all processes run one program, so that operations can be identified across them."""
    _executions: dict[Hashable, int] = field(default_factory=dict[Hashable, int])

    @staticmethod
    def current() -> Process | None:
        """The process that this thread runs; None if it runs none."""
        return _CURRENT.get()

    @contextmanager
    def running(self) -> Generator[None]:
        """In this context, this process runs the compiled programs that the thread calls."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    @property
    def number(self) -> int:
        """The position among all processes, replica by replica."""
        return self.grid.number(self.place)

    def exchange(
        self,
        key: Hashable,
        members: tuple[LogicalId, ...],
        outgoing: Sequence[Arrays],
        what: str,
    ) -> Exchange:
        """
        Takes part in an exchange with arrays for each member, this one included, in their order.

        The n-th time that a process comes with this key it meets the others on their n-th. `what`:
        the operation, in messages. The arrays are copied. Never waits; to take does.
        """
        grid = self.grid
        copies = {id(array): array.copy() for arrays in outgoing for array in arrays}
        copied = [[copies[id(array)] for array in arrays] for arrays in outgoing]
        with grid.lock:
            number = self._executions[key, members] = self._executions.get((key, members), 0) + 1
            rendezvous = grid.rendezvous.setdefault((key, members, number), Rendezvous(members))
            rendezvous.outgoing[self.place] = copied
            if not rendezvous.missing:
                grid.lock.notify_all()
                del grid.rendezvous[key, members, number]
        return ThreadExchange(self, rendezvous, number, what)

    def send(self, key: ChannelKey, value: Any, what: str) -> None:
        """Sends over a channel, once its `recv` is ready. Raises XlaError for a second sender."""
        grid = self.grid
        with grid.lock:
            channel = grid.channels.setdefault(key, ChannelQueue())
            if channel.sender not in (None, self.place):
                raise XlaError(
                    f"(C1) {grid.name_of_channel(key)} has two senders, "
                    f"{grid.name(channel.sender)} and {grid.name(self.place)}"
                )
            channel.sender = self.place
            sent = len(channel.values)
            grid.wait(
                lambda: channel.ready > sent,
                lambda: (
                    f"{grid.name(self.place)} waits for a recv on {grid.name_of_channel(key)} "
                    f"in {what}"
                ),
            )
            channel.values.append(value)
            grid.lock.notify_all()

    def receive(self, key: ChannelKey, what: str) -> Pending[Any]:
        """Gets ready to receive over a channel. Raises XlaError for a second receiver."""
        grid = self.grid
        with grid.lock:
            channel = grid.channels.setdefault(key, ChannelQueue())
            if channel.receiver not in (None, self.place):
                raise XlaError(
                    f"(C1) {grid.name_of_channel(key)} has two receivers, "
                    f"{grid.name(channel.receiver)} and {grid.name(self.place)}"
                )
            channel.receiver = self.place
            place = channel.ready
            channel.ready += 1
            grid.lock.notify_all()

        def result() -> Any:
            with grid.lock:
                grid.wait(
                    lambda: len(channel.values) > place,
                    lambda: (
                        f"{grid.name(self.place)} waits for a send on {grid.name_of_channel(key)} "
                        f"in {what}"
                    ),
                )
                return channel.values[place]

        return Pending(result)

    def start(self, function: Callable[[], _Result], what: str) -> Pending[_Result]:
        """Runs a function beside this thread."""
        grid = self.grid
        results: list[_Result] = []

        def run() -> None:
            results.append(function())
            with grid.lock:
                grid.lock.notify_all()

        grid.start(run)

        def result() -> _Result:
            with grid.lock:
                grid.wait(
                    lambda: bool(results),
                    lambda: f"{grid.name(self.place)} waits for the computation of {what}",
                )
            return results[0]

        return Pending(result)


@dataclass(frozen=True)
class ThreadExchange(Exchange):
    """An exchange between threads."""

    process: Process
    rendezvous: Rendezvous
    number: int
    what: str

    def take(self, into: Sequence[Arrays]) -> None:
        """Copies what all members have for this one."""
        grid, rendezvous, place = self.process.grid, self.rendezvous, self.process.place
        with grid.lock:
            grid.wait(
                lambda: not rendezvous.missing,
                lambda: (
                    f"{grid.name(place)} waits for {grid.names(rendezvous.missing)} "
                    f"in execution {self.number} of {self.what}"
                ),
            )
            grid.check()
        me = rendezvous.members.index(place)
        for number, (targets, member) in enumerate(zip(into, rendezvous.members, strict=True)):
            copy_into(targets, rendezvous.outgoing[member][me], f"member {number}")


_CURRENT: ContextVar[Process | None] = ContextVar("process", default=None)


# Threads that are kept for later jobs: to start one takes longer than most jobs do.


class _KeptThread:
    """A thread that runs one job after the other."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        # A daemon: it waits for a job when the process ends.
        threading.Thread(target=self._work, name="process", daemon=True).start()

    def give(self, job: Callable[[], _Result], then: Callable[[_Result], None]) -> None:
        """Runs a job, is free for another one, and tells its result."""

        def run() -> None:
            # Of what the job before has set, nothing is left.
            result = Context().run(job)
            _idle.append(self)
            then(result)

        self._jobs.put(run)

    def _work(self) -> None:
        while True:
            self._jobs.get()()


_idle: list[_KeptThread] = []
# A child of this process has none of its threads.
os.register_at_fork(after_in_child=_idle.clear)


def run_beside(job: Callable[[], _Result], then: Callable[[_Result], None]) -> None:
    """
    Runs a job in a thread that has no other, and tells its result there. Neither may raise.

    Who has been told can have the same thread for the next job. Raises RuntimeError where no thread
    can be started.
    """
    try:
        thread = _idle.pop()
    except IndexError:  # asked for and not looked up: other threads may take the last one
        thread = _KeptThread()
    thread.give(job, then)
