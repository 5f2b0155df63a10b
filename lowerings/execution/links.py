"""
Links to the other processes that run programs together with this one: by MPI, or by sockets.

Each pair of processes has two connections. Machine code sends and receives on the first
(`links.c`), or by MPI where that has started the processes. The second says which programs the
other process is about to run, and how it has ended: in order, with an error, or without a word. Of
the last two this process ends as well, some seconds later: others may wait for it.
"""

from __future__ import annotations

import atexit
import ctypes
import hmac
import json
import os
import secrets
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from lowerings.execution.mpi_links import MpiRanks
from lowerings.runtime import library
from lowerings.runtime.declarations import constants, structure
from xla_dialect.diagnostics import XlaError

_NUMBERS = constants("runtime.h")
_ENDED, _DIFFERS = _NUMBERS["XLA_LINK_ENDED"], _NUMBERS["XLA_LINK_DIFFERS"]
_TOKEN_BYTES = _NUMBERS["XLA_TOKEN_BYTES"]

_GREETING = struct.Struct("<32siii")
"""
What a connection begins with: a token, the number of the process, what it is for, and whether the
process can copy out of the memory of the other one.
"""
_PURPOSES = _DATA, _CONTROL = (0, 1)
_PATIENCE = 5.0
"""Seconds that a stranger has to say who it is, and that a process has to end by itself."""
_END_OF_NAME = b"\0"
_WORDS = 1.0
"""Seconds within which the other connection says why the first has been closed."""

_pointer = ctypes.c_void_p
_COPIED_FROM = ctypes.c_int32, _pointer, ctypes.c_char_p
"""The id of a process, where it has its token, and the token."""


def _function(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)((name, library()))


@dataclass(frozen=True)
class Address:
    """Where a process can be reached, and who may."""

    host: str
    port: int
    token: bytes
    token_at: int
    """Where the process has its token in its memory."""
    pid: int
    has_ranks: bool
    """Whether it is a rank of MPI, too, with the number of the process."""

    @staticmethod
    def parse(text: bytes) -> tuple[Address, int]:
        """An address, and the number that was published with it."""
        found: dict[str, Any] = json.loads(text)
        number, token = found.pop("number"), bytes.fromhex(found.pop("token"))
        return Address(token=token, **found), number

    def spelled(self, number: int) -> bytes:
        """As it is published, with a number."""
        fields = {**vars(self), "token": self.token.hex(), "number": number}
        return json.dumps(fields).encode()

    def can_be_copied_from(self, host: str) -> bool:
        """Whether this process, on a host, can copy out of the memory of the other one."""
        can_copy = _function("xla_can_copy_from", ctypes.c_int32, *_COPIED_FROM)
        return self.host == host and bool(can_copy(self.pid, self.token_at, self.token))


class Link:
    """The connections with one other process."""

    def __init__(
        self,
        number: int,
        address: Address,
        connections: Mapping[int, socket.socket],
        ranks: MpiRanks | None,
        *,
        copies: bool,
    ):
        """
        `ranks`: those of MPI, if runs use it; `copies`: whether both processes can copy out of the
        memory of the other one.
        """
        self.name = f"process {number} ({address.host}, pid {address.pid})"
        """What messages call the other process."""
        self._data, self.control = connections[_DATA], connections[_CONTROL]
        self._data.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        new = _function("xla_link_new", _pointer, ctypes.c_int32, _pointer, ctypes.c_int32)
        rank_functions = None if ranks is None else ranks.address
        self.address: int = new(self._data.fileno(), rank_functions, number)
        """Where the library in C has it."""
        self._ranks = ranks
        if not self.address:
            raise MemoryError
        self._state = structure("runtime.h", "xla_link_state").from_address(self.address)
        if copies:
            have_copied = _function("xla_link_copies", None, _pointer, *_COPIED_FROM)
            have_copied(self.address, address.pid, address.token_at, address.token)
        self._words = b""
        self.ending = ""
        """How the other process has ended, once that is known."""
        self.has_ended_in_order = False
        self.has_ended = threading.Event()
        self._names = SimpleQueue[str | None]()
        """What the other process is about to run; None when it has ended."""

    @property
    def is_over_mpi(self) -> bool:
        """Whether runs send by MPI, and not by a socket."""
        return self._ranks is not None

    def bytes_moved(self, *, sent: bool) -> int:
        """How many bytes of runs were sent to the other process so far, or received."""
        return self._state.bytes_sent if sent else self._state.bytes_received

    @property
    def is_broken(self) -> bool:
        """Whether no run can use it any more."""
        return bool(self._state.broken)

    def say(self, program: str) -> None:
        """Tells the other process what this one is about to run."""
        with suppress(OSError):
            self.control.sendall(program.encode() + _END_OF_NAME)

    def heard(self) -> str | None:
        """Waits until the other process is about to run something; None if it has ended."""
        return self._names.get()

    def listen(self) -> bool:
        """Takes notice of what has come; whether more may."""
        data = b""
        with suppress(OSError):
            data = self.control.recv(4096)
        *names, self._words = (self._words + data).split(_END_OF_NAME)
        for name in names:
            self._names.put(name.decode(errors="replace"))
        if not data:
            self._end()
        return bool(data)

    def _end(self) -> None:
        kind, said = self._words[:1], self._words[1:].decode(errors="replace")
        how = {b"E": "has ended", b"F": f"has failed: {said}"}.get(kind, "has died")
        self.ending, self.has_ended_in_order = how, kind == b"E"
        self.has_ended.set()
        self._names.put(None)
        # In order, what it has sent may still be read.
        if not self.has_ended_in_order:
            _function("xla_link_break", None, _pointer, ctypes.c_int32)(self.address, _ENDED)

    def close(self) -> None:
        """Nothing is received any more."""
        _function("xla_link_close", None, _pointer)(self.address)

    def forget(self) -> None:
        """Closes what this process has of it; the other end notices nothing if another has it."""
        self._data.close()
        self.control.close()

    def fault(self, names: Mapping[int, str]) -> tuple[int, str] | None:
        """
        What is wrong with it, and how far that is from the cause: other links break with one.
        `names` are those of programs that this process has loaded.
        """
        broken = self._state.broken
        if broken == _ENDED:
            if self.has_ended.wait(_WORDS):
                return 0, f"{self.name} {self.ending}"
            return 2, f"{self.name} has left a run before its end"
        if broken == _DIFFERS:
            other = names.get(self._state.other_program, "another program")
            return 1, f"{self.name} runs {other}"
        return (3, "an earlier run has ended before its time") if broken else None


class Links:
    """Those of this process to all others."""

    def __init__(self, number: int, links: Mapping[int, Link]):
        self.number = number
        """That of this process."""
        self.by_process: Mapping[int, Link] = links
        self.names: dict[int, str] = {}
        """What programs are called, by what all processes know them by."""
        self._is_over = False
        self._agreeing = threading.Lock()
        atexit.register(self.close)
        # Others would not see that this process has ended as long as a child of it lives.
        os.register_at_fork(after_in_child=self._leave_to_parent)
        threading.Thread(target=self._watch, name="other processes", daemon=True).start()

    def agree(self, program: str, processes: Sequence[int]) -> None:
        """
        Compares what this process is about to run with what others are; raises XlaError where
        it is something else.
        """
        links = [self.by_process[number] for number in processes]
        if any(link.is_broken for link in links):
            raise self.error(program)
        with self._agreeing:
            for link in links:
                link.say(program)
            heard = [(link, link.heard()) for link in links]
        for link, other in heard:
            if other is None:
                raise XlaError(f"{program}: {link.name} {link.ending}")
            if other != program:
                raise XlaError(f"{link.name} runs {other}, and this one {program}")

    def error(self, program: str) -> XlaError:
        """Why a run of a program has failed."""
        faults = [each.fault(self.names) for each in self.by_process.values()]
        _, cause = min(filter(None, faults), default=(0, "the run has failed"))
        return XlaError(f"{program}: {cause}")

    def _watch(self) -> None:
        """Notes, as long as the process lives, how others end."""
        watched = {link.control: link for link in self.by_process.values()}
        while watched:
            for control in select.select([*watched], [], [])[0]:
                link = watched[control]
                if link.listen():
                    continue
                del watched[control]
                if not link.has_ended_in_order and not self._is_over:
                    self._follow(link)

    def _leave_to_parent(self) -> None:
        """In a child of this process: it has no links."""
        for link in self.by_process.values():
            link.forget()
        self.by_process = {}

    def _follow(self, link: Link) -> None:
        """Ends this process, if it does not do so by itself, as another one has failed."""
        print(f"{link.name} {link.ending}: this process ends, too", file=sys.stderr, flush=True)
        time.sleep(_PATIENCE)
        os._exit(1)

    def close(self) -> None:
        """Tells others how this process ends; one that has failed waits for nobody."""
        self._is_over = True
        error = getattr(sys, "last_value", None)
        words = b"E" if error is None else f"F{type(error).__name__}: {error}".encode()
        words = words.replace(_END_OF_NAME, b"")
        for link in self.by_process.values():
            link.close()
            with suppress(OSError):
                link.control.sendall(words[:4096])
                link.control.shutdown(socket.SHUT_RDWR)
        if error is not None:
            # JAX would wait for the others, which may never come.
            end = threading.Timer(_PATIENCE, os._exit, (1,))
            end.daemon = True
            end.start()


def own_host(coordinator: str) -> str:
    """The address of this machine towards another one, or itself."""
    host, _, port = coordinator.rpartition(":")
    found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(found[0], socket.SOCK_DGRAM) as probe:
        probe.connect(found[4])
        return probe.getsockname()[0]


_tokens: list[ctypes.Array[ctypes.c_char]] = []
"""Those of this process, as long as it lives: others look at them."""


class Listener:
    """Waits on one address of this machine for other processes to connect."""

    def __init__(self, host: str, ranks: MpiRanks | None = None):
        """`ranks`: those of MPI, of which this process is one."""
        self._ranks = ranks
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, 0), family=family, backlog=1024)
        port: int = self._socket.getsockname()[1]
        token = ctypes.create_string_buffer(secrets.token_bytes(_TOKEN_BYTES), _TOKEN_BYTES)
        _tokens.append(token)
        at, pid = ctypes.addressof(token), os.getpid()
        self.address = Address(host, port, token.raw, at, pid, ranks is not None)
        self._readers: set[int] = set()
        """The processes that can copy out of the memory of this one."""

    def links(self, number: int, addresses: Sequence[Address], seconds: float) -> Links:
        """
        The links of this process with all that have these addresses, its own included: it connects
        to those before it. Raises XlaError for those that cannot be reached in time.
        """
        end = time.monotonic() + seconds
        found: dict[int, dict[int, socket.socket]] = {}
        with self._socket:
            for other, address in enumerate(addresses[:number]):
                found[other] = {
                    purpose: self._connected(number, other, address, purpose, seconds)
                    for purpose in _PURPOSES
                }
            missing = {(n, p) for n in range(number + 1, len(addresses)) for p in _PURPOSES}
            while missing:
                left = end - time.monotonic()
                if left <= 0:
                    names = ", ".join(str(n) for n in sorted({n for n, _ in missing}))
                    raise XlaError(f"not connected within {seconds:g} s: process {names}")
                self._socket.settimeout(left)
                with suppress(OSError):
                    connection = self._socket.accept()[0]
                    place = self._greeted(connection)
                    if place not in missing:
                        connection.close()
                        continue
                    other, purpose = place
                    connection.sendall(self._introduction(addresses[other], number, purpose))
                    found.setdefault(other, {})[purpose] = connection
                    missing.remove(place)
        for connections in found.values():
            for connection in connections.values():
                connection.settimeout(None)
        ranks = self._ranks if all(address.has_ranks for address in addresses) else None
        host = self.address.host
        copied = {n for n in self._readers if addresses[n].can_be_copied_from(host)}
        links = {
            n: Link(n, addresses[n], found[n], ranks, copies=n in copied) for n in sorted(found)
        }
        return Links(number, links)

    def _introduction(self, address: Address, number: int, purpose: int) -> bytes:
        """What this process says of itself to one that has an address."""
        can_copy = address.can_be_copied_from(self.address.host)
        return _GREETING.pack(address.token, number, purpose, can_copy)

    def _greeted(self, connection: socket.socket) -> tuple[int, int] | None:
        """The process that has connected, and for what; None if it does not know the token."""
        try:
            connection.settimeout(_PATIENCE)
            token, other, purpose, reads = _greeting(connection)
        except OSError:
            return None
        if not hmac.compare_digest(token, self.address.token):
            return None
        if reads:
            self._readers.add(other)
        return other, purpose

    def _connected(
        self, number: int, other: int, address: Address, purpose: int, seconds: float
    ) -> socket.socket:
        where = f"process {other} at {address.host}, port {address.port}"
        try:
            connection = socket.create_connection((address.host, address.port), seconds)
            connection.sendall(self._introduction(address, number, purpose))
            token, found, _, reads = _greeting(connection)
        except OSError as error:
            raise XlaError(f"{where} cannot be reached: {error}") from error
        if not hmac.compare_digest(token, self.address.token) or found != other:
            raise XlaError(f"{where} is somebody else")
        if reads:
            self._readers.add(other)
        return connection


def _greeting(connection: socket.socket) -> tuple[bytes, int, int, bool]:
    """What a connection begins with; raises OSError where nothing comes."""
    data = b""
    while len(data) < _GREETING.size:
        more = connection.recv(_GREETING.size - len(data))
        if not more:
            raise OSError("closed")
        data += more
    token, number, purpose, reads = _GREETING.unpack(data)
    return token, number, purpose, bool(reads)
