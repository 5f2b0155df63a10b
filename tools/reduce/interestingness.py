"""
What a program is reduced for: the tests that `--reduce` and `--bisect` take.

A test says what it finds in a module after some passes. While a program is reduced, it has to find
the same again; that the message or the place of a fault is another one is no reason to stay large.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from traceback import walk_tb

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpecConvertible
from xdsl.utils.exceptions import DiagnosticException

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, target_of_text
from lowerings.execution.limited import Death, TimeIsOver, in_child, time_limit
from xla_dialect.diagnostics import XlaError

LONGEST = 60.0
"""Seconds that the first test of a program may take, unless the test says otherwise."""

DIAGNOSTICS = (XlaError, DiagnosticException)


class Uninteresting(XlaError):
    """A program that does not show what it is to be reduced for."""


@dataclass(frozen=True)
class Finding:
    """What a test finds."""

    message: str
    """For people."""
    key: object = None
    """What is equal where another program shows the same."""
    shown_by: object = None
    """What need be looked at only, to see it again."""


@dataclass(frozen=True)
class Test(ArgSpecConvertible):
    """One kind of test, with its options."""

    seconds: float | int = LONGEST
    """What a test may take; one that takes longer finds nothing."""

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            number = getattr(self, name, None)
            if number is not None and not number >= 0:
                raise XlaError(f"test {self.name}: {name} is a number from 0 on, not {number}")
        try:
            re.compile(getattr(self, "message", ""))
        except re.error as error:
            raise XlaError(f"test {self.name}: message: {error}") from None

    @abstractmethod
    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        """What is found in a module, which may be changed, after some passes."""

    def is_same(self, first: Finding, found: Finding) -> bool:
        """Whether a smaller program shows the same as the first one."""
        return first.key == found.key

    def obstacle(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """Why nothing can be said of what there is after some passes; empty where it can."""
        return ""

    def scope(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """Where it is looked for, if nothing is found; empty where that is known."""
        return ""

    def nothing(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """The words on why nothing is found."""
        why = self.obstacle(module.clone(), passes) or self.scope(module.clone(), passes)
        return why and f": {why}"

    def narrowed(self, finding: Finding) -> Test:
        """The test for smaller programs, which looks for nothing else than what was found."""
        return self

    def within_time(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        """The same; what takes too long finds nothing."""
        try:
            with time_limit(self.seconds):
                return self.find(module, passes)
        except TimeIsOver:
            return None


_NUMBERS = ("seconds", "tolerance", "seed", "seeds", "exit")
"""The options of tests that are numbers."""


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> PassManager:
    """Runs passes as xla-opt does; raises what they raise."""
    manager = PassManager(make_context())
    manager.run(module, passes)
    return manager


_PLACE = re.compile(r"[\w./<>-]+:\d+(?::\d+)?|@[\w.$-]+|%[\w.$-]+|(?<!\w)\d+")
_WORDS = re.compile(r"\([A-Z]\w*\)|[a-z_]+\.[a-z_]+\b|[A-Za-z]{4,}")


def gist(message: str) -> frozenset[str]:
    """The rules, operations and longer words of a message, without numbers, names and places."""
    return frozenset(_WORDS.findall(_PLACE.sub(" ", message)))


@dataclass(frozen=True)
class Fails(Test):
    """A pass fails with a diagnostic."""

    name = "fails"
    message: str = ""
    """A regular expression that is found in it; empty: it speaks of what the first one does."""

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        manager = PassManager(make_context())
        try:
            manager.run(module, passes)
        except DIAGNOSTICS as error:
            text = str(error)
            if self.message:
                return Finding(text) if re.search(self.message, text) else None
            return Finding(text, (passes[manager.done].name, gist(text)))
        return None

    def is_same(self, first: Finding, found: Finding) -> bool:
        """The same pass fails, and speaks of nothing else: of less, where less is left."""
        if not isinstance(first.key, tuple) or not isinstance(found.key, tuple):
            return first.key == found.key
        return first.key[0] == found.key[0] and found.key[1] <= first.key[1]


@dataclass(frozen=True)
class Crashes(Test):
    """The passes, or printing for a target after them, end the process or raise no diagnostic."""

    name = "crashes"
    message: str = ""
    target: str = "mlir"
    """What is printed at the end, as --target takes it."""

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        found = in_child(lambda: self._crash(module, passes), self.seconds)
        if isinstance(found, Death):
            found = None if found.is_late else Finding(str(found), found.signal)
        if found is None or not self.message:
            return found
        return Finding(found.message) if re.search(self.message, found.message) else None

    def _crash(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        try:
            manager = run_passes(module, passes)
            if self.target != "mlir":
                emitted(module, manager, self.target)
        except DIAGNOSTICS:
            return None
        except Exception as error:
            *_, (frame, _) = walk_tb(error.__traceback__)
            code = frame.f_code
            where = f"{Path(code.co_filename).name}:{code.co_qualname}"
            return Finding(
                f"{type(error).__name__}: {error} (in {where})", (type(error).__name__, where)
            )
        return None


def emitted(module: ModuleOp, manager: PassManager, target: str) -> str:
    """The text for a target; raises XlaError for one that there is not."""
    output = StringIO()
    target_of_text(target).emit(manager.ctx, module, output)
    return output.getvalue()


@dataclass(frozen=True)
class Command(Test):
    """A command of the user's, which gets the file as its last argument, succeeds."""

    name = "command"
    run: str = ""
    exit: int = 0
    """What it ends with on an interesting program: 0, as for llvm-reduce and C-Reduce."""
    suffix: str = ".mlir"
    text: Callable[[ModuleOp], str] = str
    """The program as the command gets it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.command:
            raise XlaError('test command: run="..." says what is run')

    @property
    def command(self) -> list[str]:
        """The words of the command."""
        return shlex.split(self.run)

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        try:
            run_passes(module, passes)
            text = self.text(module)
        except DIAGNOSTICS:
            return None
        with tempfile.TemporaryDirectory(prefix="xla-reduce-") as folder:
            path = Path(folder) / f"program{self.suffix}"
            path.write_text(text, encoding="utf-8")
            try:
                done = subprocess.run(
                    [*self.command, str(path)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=None if self.seconds == float("inf") else self.seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return None
            except OSError as error:
                raise XlaError(
                    f"{self.command[0]}: {error.strerror} "
                    "(a test is one of fails, crashes, differs, command, or a command)"
                ) from None
        if done.returncode != self.exit:
            return None
        return Finding(f"`{shlex.join(self.command)}` ends with {self.exit}")
