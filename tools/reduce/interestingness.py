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
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, target_of_text
from lowerings.execution.limited import Death, TimeIsOver, in_child, time_limit
from xla_dialect.diagnostics import XlaError

from .differences import DefaultNumber, Differences

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


@dataclass
class Test(ABC):
    """One kind of test."""

    seconds: float = LONGEST
    """What a test may take; one that takes longer finds nothing."""

    @abstractmethod
    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        """What is found in a module, which may be changed, after some passes."""

    def is_same(self, first: Finding, found: Finding) -> bool:
        """Whether a smaller program shows the same as the first one."""
        return first.key == found.key

    def is_decided(self, module: ModuleOp, passes: Sequence[ModulePass]) -> bool:
        """Whether the test can say anything of what there is after some passes."""
        return True

    def nothing(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """Why nothing is found, or where it was looked for; empty where that is known."""
        return ""

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


@dataclass
class Fails(Test):
    """A pass fails with a diagnostic."""

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


@dataclass
class Crashes(Test):
    """The passes, or printing for a target after them, end the process or raise no diagnostic."""

    message: str = ""
    target: str = "mlir"
    """What is printed at the end, as --target takes it."""
    isolated: bool = True
    """Whether each program is tried in a child of its own."""

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        def run() -> Finding | None:
            return self._crash(module, passes)

        found = in_child(run, self.seconds) if self.isolated else run()
        if isinstance(found, Death):
            return None if found.is_late else self._wanted(Finding(str(found), found.signal))
        return found and self._wanted(found)

    def _wanted(self, found: Finding) -> Finding | None:
        if not self.message:
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
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            code = None if place is None else place.tb_frame.f_code
            where = "" if code is None else f"{Path(code.co_filename).name}:{code.co_qualname}"
            return Finding(
                f"{type(error).__name__}: {error} (in {where})", (type(error).__name__, where)
            )
        return None


def emitted(module: ModuleOp, manager: PassManager, target: str) -> str:
    """The text for a target; raises XlaError for one that there is not."""
    output = StringIO()
    target_of_text(target).emit(manager.ctx, module, output)
    return output.getvalue()


@dataclass
class Differs(Test):
    """What is computed after the passes, on an executor, is not what it was."""

    compare: Differences = field(default_factory=Differences)

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        found = self.compare.first(module, passes)
        return None if found is None else Finding(found.message, "values", found.kinds)

    def narrowed(self, finding: Finding) -> Test:
        """On inputs like the one that showed the difference only."""
        assert isinstance(finding.shown_by, frozenset)
        return replace(self, compare=replace(self.compare, like=finding.shown_by))

    def is_decided(self, module: ModuleOp, passes: Sequence[ModulePass]) -> bool:
        """What cannot be run says nothing."""
        return not self.compare.reason(module, passes)

    def nothing(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """What cannot be run, or which inputs were tried."""
        reason = self.compare.reason(module.clone(), passes)
        return reason or self.compare.scope(module, passes)


@dataclass
class Command(Test):
    """A command of the user's, which gets the file as its last argument, succeeds."""

    command: Sequence[str] = ()
    exit_code: int = 0
    """What it ends with on an interesting program: 0, as for llvm-reduce and C-Reduce."""
    suffix: str = ".mlir"
    text: Callable[[ModuleOp], str] = str
    """The program as the command gets it."""

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
                known = ", ".join(KINDS)
                raise XlaError(
                    f"{self.command[0]}: {error.strerror} (a test is one of {known}, or a command)"
                ) from None
        if done.returncode != self.exit_code:
            return None
        return Finding(f"`{shlex.join(self.command)}` ends with {self.exit_code}")


KINDS = ("fails", "crashes", "differs", "command")
"""The names that a TEST begins with; all else is a command."""


def parse_test(text: str, suffix: str, print_program: Callable[[ModuleOp], str]) -> Test:
    """
    The test that a word of the command line is, e.g. `fails{message="not supported"}`.

    Raises XlaError for options that it does not have.
    """
    if re.match(rf"(?:{'|'.join(KINDS)})\s*(?:\{{|$)", text.strip()) is None:
        return Command(command=shlex.split(text), suffix=suffix, text=print_program)
    try:
        spec = parse_spec(text.strip())
    except ArgSpecParseError as error:
        raise XlaError(f"test '{text}': {error}") from None
    options = _Options(spec)
    seconds = options.number("seconds", LONGEST)
    match spec.name:
        case "fails":
            test: Test = Fails(seconds, options.pattern("message"))
        case "crashes":
            message, target = options.pattern("message"), options.text("target", "mlir")
            test = Crashes(seconds, message, target)
        case "command":
            words = shlex.split(options.text("run", ""))
            if not words:
                raise XlaError('test command: run="..." says what is run')
            code = int(options.number("exit", 0))
            test = Command(seconds, words, code, suffix, print_program)
        case _:
            test = Differs(seconds, Differences.of(options, seconds))
    options.finish()
    return test


@dataclass
class _Options:
    """The options of a test, each taken once."""

    spec: ArgSpec

    def __post_init__(self) -> None:
        self._left = dict(self.spec.parameters)

    def text(self, name: str, default: str) -> str:
        """An option with one value."""
        values = self._left.pop(name, (default,))
        if len(values) != 1:
            raise XlaError(f"test {self.spec.name}: {name} has one value, not {len(values)}")
        return str(values[0])

    def texts(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """An option with several values."""
        return tuple(map(str, self._left.pop(name, default)))

    def number(self, name: str, default: DefaultNumber) -> float | DefaultNumber:
        """An option that is a number, not a negative one."""
        if name not in self._left:
            return default
        text = self.text(name, "")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not value >= 0:
            raise XlaError(f"test {self.spec.name}: {name} is a number from 0 on, not '{text}'")
        return value

    def pattern(self, name: str) -> str:
        """An option that is a regular expression."""
        text = self.text(name, "")
        try:
            re.compile(text)
        except re.error as error:
            raise XlaError(f"test {self.spec.name}: {name}: {error}") from None
        return text

    def finish(self) -> None:
        """Raises XlaError for an option that was not asked for."""
        if self._left:
            unknown = ", ".join(self._left)
            raise XlaError(f"test {self.spec.name} has no option {unknown}")
