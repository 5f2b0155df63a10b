"""
Processes that answer questions which may end them, or never end: about code that LLVM aborts at or
that leaves its arrays, about texts that somebody types, about programs that XLA is to run.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from xla_dialect.diagnostics import XlaError

from .command_line import one_line

LONGEST = 86_400.0
"""Seconds that a time limit may be: the system's have no infinite ones."""


class NoAnswer(XlaError):
    """Why a process has not answered a question, in one line."""


def check_main_guard() -> None:
    """
    Raises XlaError where a process that was started for an answer has come back to what starts
    it: Python imports the main program there, which has to do nothing then.
    """
    imported = sys.modules.get("__mp_main__")
    if imported is not None and imported is not sys.modules["__main__"]:
        raise XlaError(
            "programs are measured in processes that import the main program: "
            'put the call under `if __name__ == "__main__":`'
        )


class OtherProcess:
    """A process that answers questions, replaced by a new one where a question ends it."""

    def __init__(self, respond: Callable[[Any], Any], time_limit: float):
        """`respond` answers there, and is pickled; `time_limit`: seconds for one answer."""
        self._respond = respond
        self._time_limit = time_limit
        self._process: SpawnProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._starting = Lock()
        """A process that is left before it has taken what it starts with says so on stderr."""

    def ask(self, question: object) -> Any:
        """The answer; raises NoAnswer, in one line, where there is none."""
        try:
            connection = self._started()
            connection.send(question)
            if connection.poll(min(self._time_limit, LONGEST)):
                failure, answer = connection.recv()
                if failure:
                    raise NoAnswer(failure)
                return answer
            self.end()
            raise NoAnswer(f"it did not end within {self._time_limit:g} s")
        except (EOFError, ConnectionError):
            assert self._process is not None
            self._process.join()
            code = self._process.exitcode or 0
            self.end()
            if code >= 0:
                raise NoAnswer(f"its process ended with exit code {code}") from None
            raise NoAnswer(f"its process ended by {signal.Signals(-code).name}") from None

    def _started(self) -> Connection[Any, Any]:
        with self._starting:
            if self._connection is None:
                context = multiprocessing.get_context("spawn")
                self._connection, other = context.Pipe()
                self._process = context.Process(target=_serve, args=(other,), daemon=True)
                self._process.start()
                other.close()
                # Not as an argument: Python waits for ever for a process that ends before it takes
                # one that is larger than a pipe.
                self._connection.send(self._respond)
            return self._connection

    def kill(self) -> None:
        """Ends the process: who waits for its answer, in another thread, gets none."""
        with self._starting:
            if self._process is not None:
                self._process.kill()

    def end(self) -> None:
        """Ends the process; what is asked next is asked another one."""
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self.kill()
            self._process.join()
        self._process = self._connection = None


def _serve(connection: Connection[Any, Any]) -> None:
    """
    Takes the function that answers, then answers each question, with why there is no answer before
    it; ends when nobody asks.
    """
    # What LLVM says before it aborts, and what programs print, is nobody's here.
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(silent, stream.fileno())
    try:
        respond: Callable[[Any], Any] = connection.recv()
        while True:
            connection.send(_answer(respond, connection.recv()))
    except (EOFError, KeyboardInterrupt):
        return


def _answer(respond: Callable[[Any], Any], question: object) -> tuple[str, Any]:
    try:
        return "", respond(question)
    except Exception as error:  # a pass that meets what it is never given in the usual pipeline
        is_meant = isinstance(error, XlaError | DiagnosticException)
        return one_line(error if is_meant else Exception(f"{type(error).__name__}: {error}")), None
