"""Where an exception in a pass comes from: in whose code it was raised, and at which operation."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from itertools import dropwhile
from traceback import walk_tb
from types import CodeType, FrameType
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker, RewritePattern
from xdsl.utils.diagnostic import Diagnostic
from xdsl.utils.exceptions import PassFailedException

from xla_dialect.diagnostics import XlaError
from xla_dialect.violations import described


class FailedAt(PassFailedException):
    """A pass cannot do its work on an operation; the message begins with the place of that."""

    def __init__(self, location: Attribute, reason: str):
        self.place = describe_location(location)
        self.reason = reason
        super().__init__(reason if self.place is None else f"{self.place}: {reason}")


def describe_location(location: Attribute) -> str | None:
    """
    A location as people write it, `file:line:column`; None where it is unknown.

    A named location without a position is its name, in quotes; a fused one is its
    first known part, a call site that of the callee.
    """
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}:{location.column.data}"
    if isinstance(location, NameLoc):
        return describe_location(location.location) or f'"{location.desc.data}"'
    if isinstance(location, CallSiteLoc):
        return describe_location(location.callee)
    if isinstance(location, FusedLoc):
        for part in cast(ArrayAttr[Attribute], location.locations):
            described = describe_location(part)
            if described is not None:
                return described
    return None


FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_DRIVERS: set[CodeType] = {
    PatternRewriteWalker._process_worklist.__code__,  # pyright: ignore[reportPrivateUsage]
}
"""Functions whose local `op` is the operation that is rewritten by what they call."""

_BETWEEN = (PatternRewriteWalker.__module__, __name__.rpartition(".")[0])
"""What lies between a driver and the function that rewrites: xDSL's module, and our package."""

_PRINTING = Diagnostic.raise_exception.__code__
"""How xDSL notes an error in a pattern: with the whole module, and the error somewhere in it."""

_LONGEST_OPERATION = 160


def rewrites_op(driver: FunctionT) -> FunctionT:
    """Marks a function that has an operation, its parameter `op`, rewritten by what it calls."""
    _DRIVERS.add(driver.__code__)
    return driver


def with_origin(error: Exception, module_pass: ModulePass) -> Exception:
    """
    The exception that a pass ended with, with notes that say where.

    They have the pass, the pattern, the place in the code of their author, and the operation. The
    traceback begins at the caller. xDSL's own note, the module, is dropped; where printing that
    raised an exception in turn, the one that it was about is returned. What passes raise to refuse
    a program says itself what it is about.
    """
    runner = error.__traceback__.tb_frame.f_code if error.__traceback__ else None
    error = _without_modules(error)
    if isinstance(error, XlaError | PassFailedException | MemoryError):
        return error
    frames = list(walk_tb(error.__traceback__))
    if frames[0][0].f_code is runner:
        frames = frames[1:]
    if any(frame.f_code is runner for frame, _ in frames):
        return error  # A pass that runs others: what there is to say is said of the inner one.
    driver = max(
        (n for n, (frame, _) in enumerate(frames) if frame.f_code in _DRIVERS), default=None
    )
    own = frames[1:] if driver is None else frames[driver + 1 :]
    error.add_note(f"note: pass {module_pass.name} failed in {_origin(own or frames)}")
    if driver is not None:
        error.add_note(f"note: it was rewriting {_spelled(frames[driver][0].f_locals.get('op'))}")
    return error


def _without_modules(error: Exception) -> Exception:
    """An exception without the notes in which xDSL prints a module."""
    notes: set[str] = set()
    original = error
    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code is _PRINTING:
            original = frame.f_locals["underlying_error"]
            notes.add(frame.f_locals["f"].getvalue())
    if hasattr(original, "__notes__"):
        original.__notes__ = [note for note in original.__notes__ if note not in notes]
    return original


def _origin(frames: Sequence[tuple[FrameType, int]]) -> str:
    """Pattern, file, line and source of the innermost code of the author, and where it led."""
    rewriter = list(dropwhile(lambda each: _module(each[0]).startswith(_BETWEEN), frames)) or frames
    package = _package(rewriter[0][0])
    frame, line = [each for each in rewriter if _package(each[0]) == package][-1]
    pattern = rewriter[0][0].f_locals.get("self")
    name = f"pattern {type(pattern).__name__}, " if isinstance(pattern, RewritePattern) else ""
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    found = f"{name}{_place(frame, line)}\n    {text}"
    last, last_line = rewriter[-1]
    return found if last is frame else f"{found}\n  which led to {_place(last, last_line)}"


def _place(frame: FrameType, line: int) -> str:
    return f"{frame.f_code.co_name}, {frame.f_code.co_filename}:{line}"


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")


def _package(frame: FrameType) -> str:
    return _module(frame).partition(".")[0]


def _spelled(op: object) -> str:
    """An operation, where it comes from and its first line, in whatever state it was left."""
    if not isinstance(op, Operation):
        return "an operation"
    try:
        text = str(op).partition("\n")[0]
    except Exception:
        return described(op)
    cut = text if len(text) <= _LONGEST_OPERATION else f"{text[:_LONGEST_OPERATION]}…"
    return f"{described(op)}\n    {cut}"
