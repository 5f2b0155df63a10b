"""The options of `xla-run` for what a run may use, and for ending one that uses more."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_GRACE = 2.0
"""Seconds that a run has to end by itself after its time, before its process ends with it."""
_SIZE = re.compile(r"(\d+)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = "KMGT"


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    add(
        "--timeout",
        type=positive_seconds,
        metavar="SECONDS",
        help="how long a call of the program may take",
    )
    add(
        "--memory-limit",
        type=_bytes,
        metavar="SIZE",
        help="bytes that its arrays may take, e.g. 512M or 2G; default: all that this machine has",
    )


def positive_seconds(text: str) -> float:
    """What an option says, as seconds, which may be infinite."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is no positive number of seconds")
    return seconds


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 4096, 512M or 2G")
    number, unit = found.groups()
    return int(number) << 10 * (_UNITS.index(unit.upper()) + 1 if unit else 0)


def time_limit(args: argparse.Namespace) -> float:
    """Seconds that a call may take; infinite ones are watched too, so that Ctrl-C ends it."""
    return math.inf if args.timeout is None else args.timeout


@contextmanager
def ending_the_process(args: argparse.Namespace) -> Iterator[None]:
    """
    Ends this process, if it is that of the command, if a run exceeds its time limit by `_GRACE`.

    That is for code that cannot be interrupted: one long step of numpy, a custom call.
    """
    if args.timeout is None or not args.is_own_process or args.timeout == math.inf:
        yield
        return

    def end() -> None:
        message = f"xla-run: error: the program did not end within {args.timeout:g} s"
        print(message, file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)

    timer = threading.Timer(min(args.timeout + _GRACE, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
