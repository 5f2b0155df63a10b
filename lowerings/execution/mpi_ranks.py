"""Replicas and partitions of a program as ranks of MPI, one each, in the order of the processes.

What threads do in one memory (`process_grid.py`), ranks do by messages between two of them. The
tag of a message says to what it belongs, so that what is under way at once keeps apart, in whatever
order ranks come to it; no communicator is made for a group. Nothing waits in MPI itself: a rank
that waits looks by turns for its messages, and for those that are about the run. These say

- who can receive on a channel;
- that a rank has failed, and how: then all others fail alike;
- where a rank has been waiting for a while, again and again. Rank 0 knows from that when none can
  ever go on, and who waits for whom, for every rank tells how often it has been where others may
  wait for it. A rank that says nothing, and is waited for too long, has failed: it computes for
  longer than that, has ended without a word, or cannot be reached.
"""

from __future__ import annotations

import atexit
import pickle
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from mpi4py import MPI
from xdsl.ir import Operation

from xla_dialect.devices.process_grid import (
    Array,
    Arrays,
    ChannelKey,
    Exchange,
    Host,
    LogicalId,
    Pending,
    Process,
    ProcessGrid,
    Route,
    copy_into,
)
from xla_dialect.diagnostics import LocatedError, XlaError

PATIENCE = 0.5
"""Seconds that a rank waits before it tells others where."""
_REPORTS = 4
"""How often it tells within the time that it may say nothing."""
_HURRY = 1e-4
"""Seconds that a rank looks for its messages without giving its processor to others."""
_SPINNING = 2.0
"""Seconds that it goes on to look as often as it can; afterwards it sleeps between."""
_SLEEP = 0.001

_Result = TypeVar("_Result")
Count: TypeAlias = tuple[str, int]
"""What a rank counts: how often it has been in an exchange, or at the end of a channel."""


@dataclass(frozen=True)
class Wait:
    """What a rank waits for, as rank 0 is told."""

    awaited: tuple[int, ...]
    """The ranks that have to have been there."""
    place: Count
    times: int
    """How often."""
    before: str
    """The message, before the names of those that are missing."""
    after: str = ""
    """The message after them; nothing where one of them is enough, which are not named then."""

    def missing(self, counts: Sequence[dict[Count, int]]) -> list[int]:
        """Who has not been there, by what all ranks have counted."""
        found = [n for n in self.awaited if counts[n].get(self.place, 0) < self.times]
        is_enough = not self.after and len(found) < len(self.awaited)
        return [] if is_enough else found


@dataclass(frozen=True)
class State:
    """How far a rank has come: what it waits for, in each of its threads, and has counted."""

    waits: tuple[Wait, ...]
    counts: dict[Count, int]
    has_ended: bool = False


_RANKS = MPI.Comm.Create_keyval()
"""Where a communicator keeps its ranks, of which one may run one program after the other."""


class Ranks:
    """The ranks of a communicator, of which this is one; `of` gives them."""

    def __init__(self, communicator: MPI.Intracomm, silence: float):
        self.rank = communicator.Get_rank()
        self.size = communicator.Get_size()
        self.silence = silence
        """Seconds that this rank waits for one that says nothing."""
        self.tags = cast(int, MPI.COMM_WORLD.Get_attr(MPI.TAG_UB))
        self.lock = threading.RLock()
        """Held for each call of MPI, of which none waits."""
        self.communicator = communicator
        """That of the caller, until all ranks have met: then one of their own."""
        self._have_met = False
        self.all = tuple(range(self.size))
        self._runs = 0
        self._last: RankProcess | None = None
        """The last run, of which others may have told since."""

    @staticmethod
    def of(communicator: object, silence: float) -> Ranks:
        """
        The ranks of a communicator, made once for each; to make them is collective.

        From now on a rank may say nothing for so many seconds of `silence` while others wait for
        it. Raises XlaError for what is no communicator of mpi4py.
        """
        if not isinstance(communicator, MPI.Intracomm):
            raise XlaError(f"communicator: {communicator!r} is no communicator of mpi4py")
        found = cast("Ranks | None", communicator.Get_attr(_RANKS))
        if found is None:
            found = Ranks(communicator, silence)
            communicator.Set_attr(_RANKS, found)
        found.silence = silence
        return found

    def _meet(self) -> None:
        """
        Waits until all ranks have come; raises XlaError naming those that do not. To make a
        communicator of their own would wait for them in MPI itself.
        """
        missing = {*self.all} - {self.rank}
        sent = [self.communicator.isend(None, rank, self.tags) for rank in missing]
        end = time.monotonic() + self.silence
        while missing:
            for rank in [*missing]:
                message = self.communicator.improbe(rank, self.tags)
                if message is not None:
                    message.recv()
                    missing.remove(rank)
            if missing and time.monotonic() > end:
                raise self.silent(missing, f"not met by rank {self.rank}")
            time.sleep(_SLEEP)
        MPI.Request.Waitall(sent)
        self.communicator = self.communicator.Dup()
        self._have_met = True

    def silent(self, ranks: Collection[int], what: str) -> XlaError:
        """
        The error about ranks that others wait for. This process ends all of them at its own end,
        where MPI would wait for them as well.
        """
        atexit.register(self.abort)
        names = " and ".join(f"rank {rank}" for rank in sorted(ranks))
        return XlaError(f"{names}: {what} within {self.silence:g} s")

    def tag_of(self, tag: int, number: int = 0) -> int:
        """The tag of the n-th use of a place as MPI has it."""
        return (tag + number) % self.tags

    def grid(self, replicas: int, partitions: int) -> ProcessGrid:
        """The processes of a program; raises XlaError unless there are as many ranks."""
        if replicas < 1 or replicas * partitions != self.size:
            raise XlaError(
                f"the program runs on {replicas} replicas and {partitions} partitions, the "
                f"communicator has {self.size} ranks"
            )
        return ProcessGrid(replicas, partitions, most=self.size)

    def process(self, replicas: int, partitions: int, host: Host | None = None) -> RankProcess:
        """
        The process that this rank is in the next run of a program by all of them.

        Raises XlaError where there are not as many ranks, and for ranks that do not come.
        """
        grid = self.grid(replicas, partitions)
        if not self._have_met:
            self._meet()
        self._runs += 1
        if self._last is not None:
            self._last.listen()
        place = grid.places[self.rank]
        self._last = RankProcess(grid, place, host or Host(), ranks=self, run=self._runs)
        return self._last

    def gather(self, value: Any) -> list[Any]:
        """What each rank has, in order, on every rank."""
        return self.process(self.size, 1).gather(value)

    def broadcast(self, value: Any) -> Any:
        """What rank 0 has, on every rank; raises it where that is an XlaError of another rank."""
        found = self.gather(_as_sent(value) if isinstance(value, XlaError) else value)[0]
        if isinstance(found, XlaError) and self.rank != 0:
            raise found
        return found

    def abort(self) -> None:
        """Ends all ranks."""
        self.communicator.Abort(1)


@dataclass(eq=False)
class RankProcess(Process):
    """This rank, in one run of a program."""

    ranks: Ranks = field(kw_only=True)
    run: int = field(kw_only=True)
    """How many runs there have been, with this one, on all ranks."""
    counts: dict[Count, int] = field(default_factory=dict[Count, int])
    waits: list[Wait] = field(default_factory=list[Wait])
    others: dict[int, State | None] = field(default_factory=dict[int, State | None])
    """What others have said last."""
    heard: dict[int, float] = field(default_factory=dict[int, float])
    """When they did."""
    reported: float = field(default_factory=time.monotonic)
    """When this rank has last told all others something."""
    announced: dict[ChannelKey, deque[int]] = field(default_factory=dict[ChannelKey, deque[int]])
    """The ranks that can receive on channels which do not say so themselves."""
    has_ended: bool = False
    """Whether its program has, and it only waits for what others return."""
    _has_heard_failure: bool = False
    """Whether another rank has failed first."""
    _tags: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    _positions: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _notices: list[MPI.Request] = field(default_factory=list[MPI.Request])

    def rank_of(self, place: LogicalId) -> int:
        """The rank that is a process."""
        return place[0] * self.grid.partitions + place[1]

    def tag(self, *key: Hashable) -> int:
        """The tag of messages of this run that belong to a key."""
        found = self._tags.get(key)
        if found is None:
            spelled = repr((self.run, *map(self._spelled, key)))
            found = self._tags[key] = zlib.crc32(spelled.encode()) % self.ranks.tags
        return found

    def _spelled(self, key: Hashable) -> str:
        """A key as all ranks spell it: operations by their positions in the program."""
        if isinstance(key, tuple):
            return repr([self._spelled(each) for each in cast("tuple[Hashable, ...]", key)])
        if not isinstance(key, Operation):
            return str(key)
        if key not in self._positions:
            whole = key.get_toplevel_object()
            self._positions |= {op: n for n, op in enumerate(cast(Operation, whole).walk())}
        return str(self._positions[key])

    def count(self, kind: str, tag: int) -> int:
        """Notes that this rank is somewhere; how often it has been there, with this time."""
        number = self.counts[kind, tag] = self.counts.get((kind, tag), 0) + 1
        return number

    def exchange(
        self,
        key: Hashable,
        members: tuple[LogicalId, ...],
        outgoing: Sequence[Arrays],
        what: str,
    ) -> RankExchange:
        """As of threads; sends what is for others at once."""
        place = self.tag(key, members)
        number = self.count("exchange", place)
        begun = RankExchange(self, members, outgoing, number, what, place)
        begun.send()
        return begun

    def gather(self, value: Any) -> list[Any]:
        """What each process has, in order, on every rank."""
        self.has_ended = True
        members = tuple(self.grid.places)
        data = np.frombuffer(pickle.dumps(value, 5), np.uint8)
        sizes = [np.zeros(1, np.int64) for _ in members]
        own = [[np.array([data.size])]] * len(members)
        self.exchange("sizes", members, own, "the end").take([[size] for size in sizes])
        found = [np.empty(int(size[0]), np.uint8) for size in sizes]
        outgoing = [[data]] * len(members)
        self.exchange("results", members, outgoing, "the end").take([[each] for each in found])
        return [pickle.loads(each.tobytes()) for each in found]

    def run_alone(self, program: Callable[[], _Result]) -> _Result:
        """
        What a program returns that this rank runs. Tells others how it has ended; raises XlaError,
        with the name of the process, where it fails, and the error of any other rank that does.
        """

        def run() -> _Result:
            try:
                return program()
            except XlaError as error:
                raise self.grid.of_process(error, self.place) from error

        try:
            result = self.grid.run_alone(run)
        except BaseException as error:
            if not self._has_heard_failure:
                self._tell_all("failed", _as_sent(error))
            raise
        self.has_ended = True
        if self.ranks.rank != 0:
            self.tell(0, "state", self.state())
        return result

    def send(self, key: ChannelKey, value: Any, what: str) -> None:
        """As of threads: waits until a rank has said that it receives."""
        tag = self.tag("channel", key)
        awaited = (self.rank_of(key.target),) if isinstance(key, Route) else self.ranks.all
        ready = self.announced.setdefault(key, deque())
        description = (
            f"{self.grid.name(self.place)} waits for a recv on {self.grid.name_of_channel(key)} "
            f"in {what}"
        )
        times = self.counts.get(("send", tag), 0) + 1
        self.wait(lambda: bool(ready), Wait(awaited, ("receive", tag), times, description))
        self.count("send", tag)
        with self.ranks.lock:
            sending = self.ranks.communicator.isend(value, ready.popleft(), self.ranks.tag_of(tag))
            self._notices.append(sending)

    def receive(self, key: ChannelKey, what: str) -> Pending[Any]:
        """As of threads; who sends is told."""
        tag = self.tag("channel", key)
        number = self.count("receive", tag)
        awaited = (self.rank_of(key.source),) if isinstance(key, Route) else self.ranks.all
        for rank in awaited:
            self.tell(rank, "announced", key)
        description = (
            f"{self.grid.name(self.place)} waits for a send on {self.grid.name_of_channel(key)} "
            f"in {what}"
        )
        wait = Wait(awaited, ("send", tag), number, description)
        found: list[Any] = []

        def has_come() -> bool:
            with self.ranks.lock:
                source = awaited[0] if isinstance(key, Route) else MPI.ANY_SOURCE
                message = self.ranks.communicator.improbe(source, self.ranks.tag_of(tag))
                if message is not None:
                    found.append(message.recv())
            return bool(found)

        def result() -> Any:
            if not found:
                self.wait(has_come, wait)
            return found[0]

        return Pending(result)

    def wait(self, is_over: Callable[[], bool], wait: Wait) -> None:
        """
        Waits until a condition holds. Raises XlaError where it never will, where a rank that has to
        do something says nothing, and the error of a rank that has failed.
        """
        began = time.monotonic()
        period = self.ranks.silence / _REPORTS
        next_report = min(began + PATIENCE, self.reported + period)
        self.waits.append(wait)
        try:
            while not is_over():
                self.grid.check()
                self.listen()
                now = time.monotonic()
                passed = now - began
                if now > next_report:
                    self._tell_all("state", self.state())
                    self.reported, next_report = now, now + period
                if passed > PATIENCE and self.ranks.rank == 0:
                    self._fail_if_stuck()
                if passed > self.ranks.silence:
                    self._require_signs(wait, began)
                if passed > _SPINNING:
                    time.sleep(_SLEEP)
                elif passed > _HURRY:
                    time.sleep(0)
        finally:
            self.waits.remove(wait)

    def _require_signs(self, wait: Wait, began: float) -> None:
        """Raises XlaError that names the ranks that have said nothing for too long."""
        last = time.monotonic() - self.ranks.silence
        silent = [
            rank
            for rank in wait.awaited
            if rank != self.ranks.rank and max(began, self.heard.get(rank, began)) < last
        ]
        if silent:
            names = self.grid.names([self.grid.places[rank] for rank in silent])
            where = f"{wait.before}{names if wait.after else ''}{wait.after}"
            raise self.ranks.silent(silent, f"no answer, while {where},")

    def state(self) -> State | None:
        """How far this rank has come; None while one of its threads goes on."""
        if self.grid.running > len(self.waits):
            return None
        waits = () if self.has_ended else tuple(self.waits)
        return State(waits, dict(self.counts), self.has_ended)

    def tell(self, rank: int, kind: str, content: Any) -> None:
        """Sends a message about this run."""
        with self.ranks.lock:
            self._notices = [each for each in self._notices if not each.Test()]
            about = self.ranks.rank, kind, content
            self._notices.append(self.ranks.communicator.isend(about, rank, self.tag("about")))

    def listen(self) -> None:
        """Takes notice of messages about this run; raises the error of a rank that has failed."""
        while True:
            with self.ranks.lock:
                message = self.ranks.communicator.improbe(MPI.ANY_SOURCE, self.tag("about"))
                if message is None:
                    return
                rank, kind, content = message.recv()
            self.heard[rank] = time.monotonic()
            if kind == "announced":
                self.announced.setdefault(content, deque()).append(rank)
            elif kind == "state":
                self.others[rank] = content
            else:
                self._has_heard_failure = True
                self.grid.end(content)
                self.grid.check()

    def _fail_if_stuck(self) -> None:
        """On rank 0: fails if all wait, and nobody for what others have done or do."""
        said = [self.state(), *(self.others.get(rank) for rank in range(1, self.ranks.size))]
        states = [state for state in said if state is not None]
        if len(states) < len(said):
            return
        counts = [state.counts for state in states]
        waits = [(wait, wait.missing(counts)) for state in states for wait in state.waits]
        if not waits or not all(missing for _, missing in waits):
            return
        places = self.grid.places
        self.grid.ended |= {places[n] for n, state in enumerate(states) if state.has_ended}
        reasons = sorted(
            wait.before
            if not wait.after
            else f"{wait.before}{self.grid.names([places[n] for n in missing])}{wait.after}"
            for wait, missing in waits
        )
        self.grid.end(XlaError(f"the program waits forever: {'; '.join(reasons)}"))

    def _tell_all(self, kind: str, content: Any) -> None:
        for rank in self.ranks.all:
            if rank != self.ranks.rank:
                self.tell(rank, kind, content)


@dataclass(eq=False)
class RankExchange(Exchange):
    """An exchange between ranks: a message for every array from one member to another."""

    process: RankProcess
    members: tuple[LogicalId, ...]
    outgoing: Sequence[Arrays]
    number: int
    what: str
    place: int
    """Where ranks count that they have been in it."""
    requests: list[MPI.Request] = field(default_factory=list[MPI.Request])
    sizes: list[int] = field(default_factory=list[int])
    """The bytes of each request."""
    kept: list[Array] = field(default_factory=list[Array])
    """What is sent, while it is."""
    awaited: set[int] = field(default_factory=set[int])
    """The ranks to which something is sent, or from which something comes."""

    @property
    def me(self) -> int:
        """Which of the members this rank is."""
        return self.members.index(self.process.place)

    def _begin(self, member: int, data: Array, start: Callable[..., MPI.Request]) -> None:
        if data.nbytes:
            rank = self.process.rank_of(self.members[member])
            self.awaited.add(rank)
            self.sizes.append(data.nbytes)
            ranks = self.process.ranks
            with ranks.lock:
                tag = ranks.tag_of(self.place, self.number)
                self.requests.append(start(data.reshape(-1).view(np.uint8), rank, tag))

    def send(self) -> None:
        """Begins to send what is for others, each rank to another one first."""
        me, count = self.me, len(self.members)
        for other in ((me + turn) % count for turn in range(1, count)):
            for array in self.outgoing[other]:
                data = np.ascontiguousarray(array)
                self.kept.append(data)
                self._begin(other, data, self.process.ranks.communicator.Isend)

    def take(self, into: Sequence[Arrays]) -> None:
        """Receives what others have for this rank, and copies what it has for itself."""
        process, me, count = self.process, self.me, len(self.members)
        first = len(self.requests)
        unpacked: list[tuple[Array, Array]] = []
        for other in ((me - turn) % count for turn in range(1, count)):
            for array in into[other]:
                data = array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
                if data is not array:
                    unpacked.append((array, data))
                self._begin(other, data, process.ranks.communicator.Irecv)
        copy_into(into[me], self.outgoing[me], f"member {me}")
        wait = Wait(
            tuple(sorted(self.awaited)),
            ("exchange", self.place),
            self.number,
            f"{process.grid.name(process.place)} waits for ",
            f" in execution {self.number} of {self.what}",
        )
        statuses = [MPI.Status() for _ in self.requests]
        process.wait(lambda: self._are_done(statuses), wait)
        for size, status in list(zip(self.sizes, statuses, strict=True))[first:]:
            if status.Get_count(MPI.BYTE) != size:
                raise XlaError(
                    f"rank {status.Get_source()} sends {status.Get_count(MPI.BYTE)} bytes, and "
                    f"{size} are expected"
                )
        for array, data in unpacked:
            copy_into([array], [data], "this rank")

    def _are_done(self, statuses: list[MPI.Status]) -> bool:
        with self.process.ranks.lock:
            try:
                return bool(MPI.Request.Testall(self.requests, statuses))
            except MPI.Exception as error:
                raise XlaError(f"{self.what}: {error.Get_error_string()}") from error


def _as_sent(error: BaseException) -> XlaError:
    """An error of a class that is pickled with all that it says."""
    if isinstance(error, LocatedError):
        return LocatedError(error.message, error.file, error.line, error.column, error.source_line)
    return XlaError(str(error) if isinstance(error, XlaError) else repr(error))
