"""Processes that run a program together over links, and how they end."""

import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from lowerings.execution.links import Links, Listener
from xla_dialect.diagnostics import XlaError

SCRIPT = Path(__file__).parents[1] / "support" / "linked_processes.py"


def check(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=3000
    )
    assert (done.returncode, done.stdout) == (0, "well\n"), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("processes", "devices", "size", "turns"),
    [
        (2, 2, 50, 500),
        (3, 6, 70000, 50),
        # Such arrays are copied out of the memory of the other process.
        (2, 2, 600_000, 10),
        pytest.param(2, 2, 50, 10_000, marks=pytest.mark.full),
        pytest.param(2, 4, 4_000_000, 20, marks=pytest.mark.full),
        pytest.param(5, 11, 3000, 1000, marks=pytest.mark.full),
    ],
)
def test_results_are_those_of_one_process(processes: int, devices: int, size: int, turns: int):
    check(str(processes), str(devices), "--size", str(size), "--turns", str(turns))


def test_a_process_is_killed():
    check("2", "2", "--kills", "2")


@pytest.mark.full
def test_processes_are_killed_at_random():
    check("2", "2", "--kills", "25")
    check("3", "6", "--size", "100000", "--kills", "15")
    check("2", "2", "--size", "2000000", "--kills", "10")


def test_strangers_are_not_let_in():
    """Whoever does not know the token is sent away, and a process that is somebody else, too."""
    listeners = [Listener("127.0.0.1") for _ in range(2)]
    addresses = [listener.address for listener in listeners]
    stranger = socket.create_connection((addresses[0].host, addresses[0].port))
    stranger.sendall(bytes(40))
    found: dict[int, Links] = {}

    def meet(number: int) -> None:
        found[number] = listeners[number].links(number, addresses, 20)

    threads = [threading.Thread(target=meet, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stranger.recv(1) == b""
    stranger.close()
    assert [[*found[number].by_process] for number in range(2)] == [[1], [0]]
    for links in found.values():
        links.close()


def test_only_who_has_the_token_there_is_copied_from():
    listener = Listener("127.0.0.1")
    address = listener.address
    listener.links(0, [address], 1).close()
    assert address.can_be_copied_from("127.0.0.1") == sys.platform.startswith("linux")
    for other in ({"token": bytes(32)}, {"token_at": 64}, {"host": "127.0.0.2"}):
        assert not replace(address, **other).can_be_copied_from("127.0.0.1")


def test_who_does_not_come_is_named():
    listener = Listener("127.0.0.1")
    with pytest.raises(XlaError, match=r"not connected within .* s: process 1, 2"):
        listener.links(0, [listener.address] * 3, 0.1)
