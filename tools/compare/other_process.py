"""
Processes that answer questions about contenders.

A pipeline that no test knows may lead to code that LLVM aborts at, that leaves its arrays, or never
ends: that ends the other process only.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Self

from xdsl.utils.exceptions import DiagnosticException

from xla_dialect.diagnostics import XlaError

from ..command_line import one_line
from .contender import ContenderError


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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def ask(self, question: object) -> Any:
        """The answer; raises ContenderError, in one line, where there is none."""
        try:
            connection = self._started()
            connection.send(question)
            if connection.poll(self._time_limit):
                failure, answer = connection.recv()
                if failure:
                    raise ContenderError(failure)
                return answer
            self.end()
            raise ContenderError(f"it did not end within {self._time_limit:g} s")
        except (EOFError, ConnectionError):
            assert self._process is not None
            self._process.join()
            code = self._process.exitcode or 0
            self.end()
            if code >= 0:
                raise ContenderError(f"its process ended with exit code {code}") from None
            names = {each.value: each.name for each in signal.Signals}
            ending = names.get(-code, f"signal {-code}")
            raise ContenderError(f"its process ended by {ending}") from None

    def _started(self) -> Connection[Any, Any]:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other,), daemon=True)
            self._process.start()
            other.close()
            # Not as an argument: Python waits for ever for a process that ends before it takes one
            # that is larger than a pipe.
            self._connection.send(self._respond)
        return self._connection

    def end(self) -> None:
        """Ends the process; what is asked next is asked another one."""
        if self._process is not None and self._connection is not None:
            self._connection.close()
            self._process.kill()
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
    except (XlaError, DiagnosticException) as error:
        return one_line(error), None
    except Exception as error:  # a pass that meets what it is never given in the usual pipeline
        return one_line(Exception(f"{type(error).__name__}: {error}")), None
