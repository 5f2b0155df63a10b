"""
Contenders tried in a process of their own, before they are run in this one.

A pipeline that no test knows may lead to code that LLVM aborts at, that leaves its arrays, or never
ends: that ends the other process only.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array

from ..reporting import one_line
from .compiling import compiled, effects_of
from .contender import ProgramVariant


class Trials:
    """A process that compiles contenders and runs each once, replaced where one ends it."""

    def __init__(self, inputs: list[Array], time_limit: float):
        """`time_limit`: seconds for one contender, its compilation included."""
        self._inputs = inputs
        self._time_limit = time_limit
        self._process: SpawnProcess | None = None
        self._connection: Connection[Any, Any] | None = None

    def __enter__(self) -> Trials:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def failure(self, contender: ProgramVariant) -> str:
        """Why a contender cannot be compiled and run, in one line; nothing if it can."""
        process, connection = self._started()
        try:
            connection.send(contender)
            if connection.poll(self._time_limit):
                return connection.recv()
            self._end()
            return f"it did not end within {self._time_limit:g} s"
        except (EOFError, ConnectionError):
            process.join()
            code = process.exitcode or 0
            self._end()
            if code >= 0:
                return f"its process ended with exit code {code}"
            names = {each.value: each.name for each in signal.Signals}
            return f"its process ended by {names.get(-code, f'signal {-code}')}"

    def _started(self) -> tuple[SpawnProcess, Connection[Any, Any]]:
        if self._process is None or self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            arguments = (other, self._inputs, self._time_limit)
            self._process = context.Process(target=_serve, args=arguments, daemon=True)
            self._process.start()
            other.close()
        return self._process, self._connection

    def _end(self) -> None:
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
        self._process = self._connection = None


def _serve(connection: Connection[Any, Any], inputs: list[Array], time_limit: float) -> None:
    """Answers each contender with why it failed; ends when nobody asks any more."""
    # What LLVM says before it aborts, and what programs print, is nobody's here.
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(silent, stream.fileno())
    while True:
        try:
            contender = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        connection.send(_failure(contender, inputs, time_limit))


def _failure(contender: ProgramVariant, inputs: list[Array], time_limit: float) -> str:
    try:
        effects_of(contender)
        for check_bounds in (True, False):
            compiled(contender, time_limit, check_bounds=check_bounds).program(*inputs)
    except (XlaError, DiagnosticException) as error:
        return one_line(error)
    except Exception as error:  # a pass that meets what it is never given in the usual pipeline
        return one_line(Exception(f"{type(error).__name__}: {error}"))
    return ""
