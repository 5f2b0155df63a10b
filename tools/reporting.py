"""What all tools do alike: turning errors into one message, and printing reports."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xla_dialect.diagnostics import LocatedError

TRACEBACK_VARIABLE = "XLA_TRACEBACK"
"""Set in the environment, this shows the Python traceback of internal errors."""

_OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF, errno.EFBIG}
"""How writing to stdout fails; errors about a file have its name."""


def guarded(tool: str, body: Callable[[], int]) -> int:
    """
    Runs a tool; every error ends as one message on stderr and exit code 1.

    An exception that is no diagnostic is a bug of ours and says so.
    """
    if sys.stdout is None:
        print(f"{tool}: error: stdout is closed", file=sys.stderr)
        return 1
    try:
        with _printed_warnings(tool):
            code = body()
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        # The reader of the output has closed the pipe, e.g. `xla-opt ... | head`.
        _drop_output()
    except SystemExit as exit_request:  # argparse: 0 after --help, else its message is out
        return 1 if exit_request.code else 0
    except KeyboardInterrupt:
        print(f"{tool}: interrupted", file=sys.stderr)
    except Exception as error:
        _print_error(tool, error)
    return 1


def _print_error(tool: str, error: Exception) -> None:
    """One message about an error, with the notes that it got on its way."""
    notes: list[str] = getattr(error, "__notes__", [])
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and error.filename is None:
        _drop_output()
        print(f"{tool}: error: cannot write to stdout: {error.strerror}", file=sys.stderr)
    elif isinstance(error, _diagnostics()):
        message = str(error)
        has_place = isinstance(error, _located_error()) or ": error: " in message
        message = message if has_place else f"{tool}: error: {message}"
        print(message, *notes, sep="\n", file=sys.stderr)
    elif isinstance(error, MemoryError):
        print(f"{tool}: error: out of memory", file=sys.stderr)
    else:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exception(error)
        print(
            f"{tool}: internal error: {type(error).__name__}: {error}",
            *notes,
            f"This is a bug of {tool}{' or of a pass of yours' if notes else ''}; "
            f"{TRACEBACK_VARIABLE}=1 shows all calls.",
            sep="\n",
            file=sys.stderr,
        )


def _drop_output() -> None:
    """Lets what is still to be written go nowhere: the interpreter would try again at its end."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _diagnostics() -> tuple[type[Exception], ...]:
    """What is raised for what users gave us; loaded late, for `--help` has no use for it."""
    return (
        import_module("xla_dialect.diagnostics").XlaError,
        import_module("xdsl.utils.exceptions").DiagnosticException,
    )


def _located_error() -> type[LocatedError]:
    return import_module("xla_dialect.diagnostics").LocatedError


@contextmanager
def _printed_warnings(tool: str) -> Generator[None]:
    """Prints warnings that are for the user as such; others go their way."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def print_warning(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, UserWarning):
                print(f"{tool}: warning: {message}", file=sys.stderr)
            else:
                show(message, category, *rest)

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = print_warning
        yield


def one_line(error: Exception) -> str:
    """The message of an error on one line, without the source that it is about."""
    located = _located_error()
    if isinstance(error, located):
        error = located(error.message, error.file, error.line, error.column)
    return " ".join(str(error).split())
