"""
Counting the rewrites of a pass, and stopping it after some: LLVM's and MLIR's debug counters.

A rewrite is what a pass decides on at one place: the conversion of an operation, a pattern of xDSL
that matched, a rule of `xla-simplify`. A pass of ours asks `running_counter` for what counts them,
and lets it `attempt` each. Of other passes the walkers of xDSL are met as they begin to walk, by
Python's profiling hook, and given a pattern that counts: xDSL itself stays as it is. Nothing
plainer reaches them: 93 modules of xDSL 0.74 make walkers themselves, in `apply`, and a listener of
xDSL hears of a rewrite when it is made, and cannot refuse it. While rewrites are counted, passes
take 2.3 times as long (`native,canonicalize` of a dot with tanh); others do not notice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import TypeVar

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

T = TypeVar("T")

_WALK = PatternRewriteWalker.rewrite_region.__code__


@dataclass
class RewriteCounter:
    """How many rewrites have been made, and after how many there are to be no more."""

    limit: int | None = None
    """None: all are made, and counted."""
    done: int = 0
    before: Callable[[int], None] = lambda number: None
    """Called before a rewrite may be made, with its number from 1 on, maybe several times."""
    after: Callable[[int], None] = lambda number: None
    """Called after it has been made."""
    attempts: int = 0
    """How many were tried, made or not."""
    last_made: int = 0
    """The attempt that made the last one."""
    debugged: int | None = None
    """The attempt that is made in a debugger."""
    is_inside: bool = False
    """Whether one is being made: those that it makes in turn are a part of it."""

    @property
    def has_stopped(self) -> bool:
        """Whether no more may be made: what a pass leaves is no fault of it then."""
        return self.limit is not None and self.done >= self.limit

    def attempt(self, rewrite: Callable[[], T], *, is_made: Callable[[T], bool]) -> T | None:
        """Does it, if the limit allows; counts it if `is_made` says so of what it returned."""
        if self.is_inside:
            return rewrite()
        if self.has_stopped:
            return None
        number = self.done + 1
        self.before(number)
        self.attempts += 1
        self.is_inside = True
        try:
            found = self._in_debugger(rewrite) if self.attempts == self.debugged else rewrite()
        finally:
            self.is_inside = False
        if is_made(found):
            self.done, self.last_made = number, self.attempts
            self.after(number)
        return found

    @staticmethod
    def _in_debugger(rewrite: Callable[[], T]) -> T:
        # Python's debugger takes 2 ms of each start to load.
        from lowerings.rewriting.pattern_debugger import in_debugger  # noqa: PLC0415

        return in_debugger(rewrite)


_RUNNING: ContextVar[RewriteCounter | None] = ContextVar("rewrites", default=None)


def running_counter() -> RewriteCounter | None:
    """What counts the rewrites of the pass that runs; None where nobody does."""
    return _RUNNING.get()


def attempt(rewrite: Callable[[], T], *, is_made: Callable[[T], bool] = lambda _: True) -> T | None:
    """Does a rewrite, unless one counts those of the pass and lets it make no more: None then."""
    counter = _RUNNING.get()
    return rewrite() if counter is None else counter.attempt(rewrite, is_made=is_made)


@contextmanager
def counted_by(counter: RewriteCounter) -> Generator[None]:
    """Counts the rewrites of the pass that runs inside."""
    token = _RUNNING.set(counter)
    profile = sys.getprofile()

    def meet(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is _WALK:
            walker: PatternRewriteWalker = frame.f_locals["self"]
            if not isinstance(walker.pattern, _CountedPattern):
                walker.pattern = _CountedPattern(walker.pattern, counter)

    sys.setprofile(meet)
    try:
        yield
    finally:
        sys.setprofile(profile)
        _RUNNING.reset(token)


@dataclass
class _CountedPattern(RewritePattern):
    """A pattern whose matches are counted."""

    pattern: RewritePattern
    counter: RewriteCounter

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Does what the pattern does as long as the limit allows."""
        self.counter.attempt(
            lambda: self.pattern.match_and_rewrite(op, rewriter),
            is_made=lambda _: rewriter.has_done_action,
        )
