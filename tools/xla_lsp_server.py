"""`xla-lsp-server`: answers editors about `.hlo` and `.mlir` files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .command_line import CommandLine, guarded
from .commands import load


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the server on stdin and stdout, or a port; returns the exit code."""

    def body() -> int:
        parser = CommandLine(
            prog="xla-lsp-server",
            description="Answers editors about .hlo and .mlir files (Language Server Protocol).",
        )
        add = parser.add_argument
        add("--stdio", action="store_true", help="use stdin and stdout: the default")
        add("--port", type=int, help="listen to this port of 127.0.0.1 instead")
        args = parser.parse_args(argv)
        load("language_server.server").serve(args.port)
        return 0

    return guarded("xla-lsp-server", body)


if __name__ == "__main__":
    sys.exit(main())
