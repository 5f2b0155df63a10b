"""
Processes that run a program together over links, without JAX: `python linked_processes.py` starts
some, as often as asked, kills one at a random time, and looks how the others end.
"""

import argparse
import os
import random
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial

import numpy as np
from hlo_programs import hlo, module_of

from lowerings.compilation import Options, compile_module
from lowerings.execution.executable import Executable
from lowerings.execution.joint_runs import JointRuns, Others
from lowerings.execution.links import Address, Links, Listener

ENDED, WRONG = 3, 4
"""How processes exit: because another one did, and with a wrong result."""
SECONDS = 10
"""Within which the others have to end."""
PROGRAM = (
    "  x = f32[{size}] parameter(0)\n"
    "  y = f32[{size}] all-reduce(x), channel_id=1, replica_groups={{{all}}},\n"
    "    use_global_device_ids=true, to_apply=add\n"
    "  ROOT r = f32[{size}] collective-permute(y), channel_id=2, source_target_pairs={pairs}"
)


def program_of(devices: int, size: int) -> Executable:
    numbers = ",".join(map(str, range(devices)))
    pairs = ",".join(f"{{{n},{(n + 1) % devices}}}" for n in range(devices))
    lines = PROGRAM.format(size=size, all=f"{{{numbers}}}", pairs=f"{{{pairs}}}")
    module = module_of(hlo(lines, "", f", num_partitions={devices}"))
    program = compile_module(module, Options(partitions=devices, check_bounds=False))
    assert isinstance(program, Executable)
    assert program.can_run_jointly
    return program


def argument(turn: int, device: int, size: int) -> np.ndarray:
    return np.full(size, 1 + turn % 100 + device / 7, np.float32)


def expected(turn: int, devices: int, size: int) -> np.ndarray:
    total = argument(turn, 0, size)
    for device in range(1, devices):
        total = total + argument(turn, device, size)
    return total


def run(links: Links, program: Executable, counts: tuple[int, int], size: int, turns: int) -> int:
    """What one process does; returns how it exits."""
    processes, devices = counts
    owners = [device * processes // devices for device in range(devices)]
    own = [device for device, owner in enumerate(owners) if owner == links.number]
    others = Others([links.by_process.get(owner) for owner in owners], 1)
    runs = JointRuns(partial(program.new_joint_run, others))
    grown = 0
    for turn in range(turns):
        found = program.run_together([[argument(turn, n, size)] for n in own], runs.run)
        if found is None:
            print(links.error("sums"), file=sys.stderr, flush=True)
            return ENDED
        if any((each != expected(turn, devices, size)).any() for (each,) in found):
            return WRONG
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        grown = memory if turn == turns // 2 else grown
        if turn == turns - 1 and memory > grown + 4096:
            print(f"grows from {grown} to {memory} KB", file=sys.stderr, flush=True)
            return WRONG
    return 0


def child(
    channel: socket.socket, number: int, program: Executable, given: argparse.Namespace
) -> int:
    listener = Listener("127.0.0.1")
    with channel.makefile("rwb") as file:
        file.write(listener.address.spelled(0) + b"\n")
        file.flush()
        addresses = [Address.parse(file.readline())[0] for _ in range(given.processes)]
        links = listener.links(number, addresses, 60)
        file.write(b"ready\n")
        file.flush()
    code = run(links, program, (given.processes, given.devices), given.size, given.turns)
    links.close()
    return code


def start(program: Executable, given: argparse.Namespace) -> list[tuple[int, str]]:
    """Starts the processes: their ids, and the files that have their messages."""
    channels: list[socket.socket] = []
    found: list[tuple[int, str]] = []
    for number in range(given.processes):
        here, there = socket.socketpair()
        handle, path = tempfile.mkstemp()
        pid = os.fork()
        if not pid:
            os.dup2(handle, 2)
            here.close()
            os._exit(child(there, number, program, given))
        there.close()
        os.close(handle)
        channels.append(here)
        found.append((pid, path))
    files = [channel.makefile("rwb") for channel in channels]
    addresses = b"".join(file.readline() for file in files)
    for file in files:
        file.write(addresses)
        file.flush()
    for file in files:
        assert file.readline() == b"ready\n"
        file.close()
    return found


def ended(pid: int, seconds: float) -> int | None:
    """How a process has exited; None if it has not, in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def messages(paths: Sequence[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        with open(path) as file:
            found.append(file.read())
        os.unlink(path)
    return found


def killed_once(program: Executable, given: argparse.Namespace, chance: random.Random) -> list[str]:
    """What is wrong with how the others have ended after one process was killed."""
    processes = start(program, given)
    time.sleep(chance.uniform(0, given.latest))
    victim = chance.randrange(given.processes)
    os.kill(processes[victim][0], signal.SIGKILL)
    codes = [ended(pid, SECONDS) for pid, _ in processes]
    faults: list[str] = []
    for number, said in enumerate(messages([path for _, path in processes])):
        name = f"process {victim} (127.0.0.1, pid {processes[victim][0]})"
        is_well = codes[number] in (1, ENDED) and name in said
        if number != victim and not is_well:
            faults.append(f"process {number} exits with {codes[number]}: {said}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("processes", type=int)
    parser.add_argument("devices", type=int)
    parser.add_argument("--size", type=int, default=50)
    parser.add_argument("--turns", type=int, default=1 << 40)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--latest", type=float, default=0.3)
    given = parser.parse_args()
    program = program_of(given.devices, given.size)
    chance = random.Random(31)
    for _ in range(given.kills):
        if faults := killed_once(program, given, chance):
            print(*faults, sep="\n")
            return 1
    if not given.kills:
        processes = start(program, given)
        codes = [ended(pid, 600) for pid, _ in processes]
        said = messages([path for _, path in processes])
        if any(codes):
            print(codes, *said, sep="\n")
            return 1
    print("well")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
