"""Python's debugger for one rewrite: it stops in the pattern that makes it."""

from __future__ import annotations

from collections.abc import Callable
from pdb import Pdb
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

_AROUND_PATTERNS = (
    *(__name__, f"{__package__}.counting", f"{__package__}.passes_of_files"),
    *("xdsl.pattern_rewriter", "xdsl.transforms.dead_code_elimination", "abc"),
)
"""The modules whose lines are around those of all patterns."""


class _PatternDebugger(Pdb):
    """Python's debugger, which stops in a pattern, not in what calls it."""

    def __init__(self) -> None:
        super().__init__(skip=_AROUND_PATTERNS)

    def user_call(self, frame: FrameType, argument_list: None) -> None:
        """Goes on to the first line of a function."""

    def stop_here(self, frame: FrameType) -> bool:
        """Whether to stop at a line; not at a lambda, that only hands on arguments."""
        return frame.f_code.co_name != "<lambda>" and super().stop_here(frame)


def in_debugger(rewrite: Callable[[], T]) -> T:
    """A rewrite, made in a debugger; quitting it ends the program."""
    found: list[T] = []
    _PatternDebugger().runcall(lambda: found.append(rewrite()))
    if not found:
        raise KeyboardInterrupt
    return found[0]
