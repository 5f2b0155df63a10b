"""Locations of operations and errors: the innermost line outside of this package."""

from __future__ import annotations

import linecache
import os
import sys
from itertools import islice
from pathlib import Path
from types import FrameType

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from xla_dialect.diagnostics import LocatedError

_OWN_FOLDER = str(Path(__file__).parents[1]) + os.sep


class BuildError(LocatedError):
    """A call of the builder that breaks a rule; it points at the line that makes the call."""


def build_error(message: str) -> BuildError:
    """The error at the innermost line outside `xla_dialect` that is being executed."""
    frame = _caller()
    if frame is None:
        return BuildError(message)
    file, line = frame.f_code.co_filename, frame.f_lineno
    source_line = linecache.getline(file, line, frame.f_globals)
    return BuildError(message, file, line, _column(frame, source_line), source_line)


def caller_location() -> FileLineColLoc:
    """The innermost line outside `xla_dialect` that is being executed, column 0."""
    frame = _caller()
    file, line = ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(0))


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
        frame = frame.f_back
    return frame


def _column(frame: FrameType, source_line: str) -> int:
    """The column of the call that a frame is in, from 1; 0 if not known."""
    positions = frame.f_code.co_positions()
    _, _, offset, _ = next(islice(positions, frame.f_lasti // 2, None), (None,) * 4)
    if offset is None:
        return 0
    # Python counts the bytes of UTF-8.
    return len(source_line.encode()[:offset].decode(errors="ignore")) + 1
