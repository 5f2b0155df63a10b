"""
`client.py SOCKET TOOL ARGUMENTS...` in the place of `TOOL ARGUMENTS...`: the server runs the tool.

The tool gets the standard streams, the folder, the environment and the arguments of this process,
which ends as the tool does. It imports little, and can be started without site packages.
"""

import os
import socket
import sys

KILLED = 128
"""The exit code where the tool has none, because a signal has ended it."""


def run(path: str, command: list[str]) -> int:
    """The exit code of the tool."""
    environment = (f"{name}={value}" for name, value in os.environ.items())
    lines = [os.getcwd(), str(len(command)), *command, *environment]
    request = "\0".join(lines).encode(errors="surrogateescape")
    # The tool watches a pipe that ends with this process. A signal that the socket gave it instead
    # might as well stand for the last bytes of the request.
    alive, _ = os.pipe()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [len(request).to_bytes(8, "little")], [0, 1, 2, alive])
        server.sendall(request)
        if code := server.recv(1):
            return code[0]
    print(f"{command[0]}: ended by a signal", file=sys.stderr)
    return KILLED


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
