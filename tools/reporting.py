"""What all tools do alike: turning errors into one message, and printing reports."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import IO

from xdsl.utils.exceptions import DiagnosticException

from lowerings.pass_manager import PassTiming
from xla_dialect.diagnostics import LocatedError, XlaError

TRACEBACK_VARIABLE = "XLA_TRACEBACK"
"""Set in the environment, this shows the Python traceback of internal errors."""


def guarded(tool: str, body: Callable[[], int]) -> int:
    """
    Runs a tool; every error ends as one message on stderr and exit code 1.

    An exception that is no diagnostic is a bug of ours and says so.
    """
    try:
        return body()
    except LocatedError as error:
        print(error, file=sys.stderr)
    except (XlaError, DiagnosticException) as error:
        message = str(error)
        print(message if ": error: " in message else f"{tool}: error: {message}", file=sys.stderr)
    except BrokenPipeError:
        # The reader of our output went away, e.g. `xla-opt ... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SystemExit as exit_request:  # argparse: 0 after --help, else its message is out
        return 1 if exit_request.code else 0
    except MemoryError:
        print(f"{tool}: error: out of memory", file=sys.stderr)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        print(
            f"{tool}: internal error: {type(error).__name__}: {error}\n"
            f"This is a bug of {tool}; {TRACEBACK_VARIABLE}=1 shows where.",
            file=sys.stderr,
        )
    return 1


def one_line(error: Exception) -> str:
    """The message of an error on one line, without the source that it is about."""
    if isinstance(error, LocatedError):
        error = LocatedError(error.message, error.file, error.line, error.column)
    return " ".join(str(error).split())


def print_timings(timings: Sequence[PassTiming], output: IO[str]) -> None:
    """Prints seconds per pass, of it verification, and the total."""
    total = sum(t.seconds + t.verification_seconds for t in timings)
    print("  seconds  verify   pass", file=output)
    for timing in timings:
        print(
            f"{timing.seconds:9.4f} {timing.verification_seconds:7.4f}   {timing.name}", file=output
        )
    print(f"{total:9.4f}           total", file=output)
