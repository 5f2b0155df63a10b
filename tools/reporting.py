"""What all tools do alike: turning errors into one message, and printing reports."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from xdsl.utils.exceptions import DiagnosticException

from lowerings.schedules.schedule import ScheduleWarning
from xla_dialect.diagnostics import LocatedError, XlaError

TRACEBACK_VARIABLE = "XLA_TRACEBACK"
"""Set in the environment, this shows the Python traceback of internal errors."""


def guarded(tool: str, body: Callable[[], int]) -> int:
    """
    Runs a tool; every error ends as one message on stderr and exit code 1.

    An exception that is no diagnostic is a bug of ours and says so.
    """
    try:
        with _printed_warnings(tool):
            return body()
    except LocatedError as error:
        print(error, *_notes(error), sep="\n", file=sys.stderr)
    except (XlaError, DiagnosticException) as error:
        message = str(error)
        message = message if ": error: " in message else f"{tool}: error: {message}"
        print(message, *_notes(error), sep="\n", file=sys.stderr)
    except BrokenPipeError:
        # The reader of the output has closed the pipe, e.g. `xla-opt ... | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except SystemExit as exit_request:  # argparse: 0 after --help, else its message is out
        return 1 if exit_request.code else 0
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
    except MemoryError:
        print(f"{tool}: error: out of memory", file=sys.stderr)
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        print(
            f"{tool}: internal error: {type(error).__name__}: {error}",
            *_notes(error),
            f"This is a bug of {tool}; {TRACEBACK_VARIABLE}=1 shows where.",
            sep="\n",
            file=sys.stderr,
        )
    return 1


@contextmanager
def _printed_warnings(tool: str) -> Generator[None]:
    """Prints warnings that are for the user as such; others go their way."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def print_warning(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, ScheduleWarning):
                print(f"{tool}: warning: {message}", file=sys.stderr)
            else:
                show(message, category, *rest)

        warnings.simplefilter("always", ScheduleWarning)
        warnings.showwarning = print_warning
        yield


def _notes(error: Exception) -> list[str]:
    """What was added to an error on its way, see `BaseException.add_note`."""
    return getattr(error, "__notes__", [])


def one_line(error: Exception) -> str:
    """The message of an error on one line, without the source that it is about."""
    if isinstance(error, LocatedError):
        error = LocatedError(error.message, error.file, error.line, error.column)
    return " ".join(str(error).split())
