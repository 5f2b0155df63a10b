"""
Tools that are loaded once: every command is a process of its own, forked from here.

`python -m ... SOCKET TOOL...` says in a line when it is ready, and serves until its standard input
ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import io
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory

Tools = Mapping[str, Callable[[], object]]

PROGRAM = """\
// CHECK: func
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""
BEFOREHAND = (
    ("filecheck", "FILE", "--input-file", "FILE"),
    ("xla-opt", "FILE", "-p", "native", "-t", "llvm"),
    ("xla-opt", "FILE", "-t", "stablehlo"),
    ("xla-run", "FILE", "--backend", "reference"),
)
"""
Commands that make the tools import their lazily loaded modules; their output is dropped. FILE is
one with the program.
"""


def serve(path: str, names: Sequence[str]) -> None:
    """
    Forks a process for each command that comes to the socket, until the standard input ends;
    `names` are console scripts.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the commands, and who waits
    scripts = entry_points(group="console_scripts")
    tools = {name: scripts[name].load() for name in names}
    with TemporaryDirectory() as folder:
        program = Path(folder) / "program.mlir"
        program.write_text(PROGRAM, encoding="utf-8")
        for command in BEFOREHAND:
            silence = io.StringIO()
            with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
                if command[0] in tools:
                    call(tools, [str(program) if word == "FILE" else word for word in command])
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Nobody waits for the processes
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(path)
        listener.listen(128)
        print("ready", flush=True)
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        while all(key.fileobj is listener for key, _ in selector.select()):
            client, _ = listener.accept()
            with client:
                if os.fork() == 0:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    os._exit(answer(client, tools))


def answer(client: socket.socket, tools: Tools) -> int:
    """Runs a command in this process, whose streams, folder and environment become the client's."""
    size, (*streams, alive), _, _ = socket.recv_fds(client, 8, 4)
    with client.makefile("rb") as request:
        text = request.read(int.from_bytes(size, "little")).decode(errors="surrogateescape")
    end_with(alive)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # As Python makes them when it starts: how they are buffered depends on what they are.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    folder, count, *lines = text.split("\0")
    os.chdir(folder)
    os.environ.clear()
    for line in lines[int(count) :]:
        name, _, value = line.partition("=")
        os.environ[name] = value
    code = call(tools, lines[: int(count)])
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.stderr.flush()
    client.sendall(bytes([code]))
    return code


def end_with(pipe: int) -> None:
    """
    Lets this process be killed when its client ends, as lit kills one that takes too long: the
    client has the other end of the pipe, into which nothing is written.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)  # SIGIO, which ends a process


def call(tools: Tools, command: Sequence[str]) -> int:
    """The exit code of a tool, as its console script has it."""
    sys.argv = list(command)
    try:
        code = tools[command[0]]()
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    return int(code or 0)  # pyright: ignore


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
