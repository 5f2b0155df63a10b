"""The command lines of all tools: `--version`, options by their whole names, completion."""

from __future__ import annotations

import argparse
import errno
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from lowerings.driver import INPUT_FORMATS

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
    # Loaded late, for `--help` has no use for them.
    ours = import_module("xla_dialect.diagnostics")
    xdsl: type[Exception] = import_module("xdsl.utils.exceptions").DiagnosticException
    if isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS and error.filename is None:
        _drop_output()
        print(f"{tool}: error: cannot write to stdout: {error.strerror}", file=sys.stderr)
    elif isinstance(error, (ours.XlaError, xdsl)):
        message = str(error)
        has_place = isinstance(error, ours.LocatedError) or ": error: " in message
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
    located: type[LocatedError] = import_module("xla_dialect.diagnostics").LocatedError
    if isinstance(error, located):
        error = located(error.message, error.file, error.line, error.column)
    return " ".join(str(error).split())


def write_output(path: str, content: str | bytes) -> None:
    """Writes a file, or text to stdout for `-`; raises XlaError if the file cannot be written."""
    if path == "-":
        sys.stdout.write(content if isinstance(content, str) else content.decode())
        return
    try:
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        message = f"{path}: error: {error.strerror}"
        raise import_module("xla_dialect.diagnostics").XlaError(message) from None


SAMPLES = os.path.join(os.path.dirname(__file__), "samples")
"""The folder of the programs that come with the tools."""


def sample_names() -> list[str]:
    """The names of these programs."""
    return sorted(each.removesuffix(".mlir") for each in os.listdir(SAMPLES))


def sample_file(name: str) -> str:
    """The file of a sample program, for argparse."""
    if name not in sample_names():
        hint = _suggestion(name, sample_names())
        raise argparse.ArgumentTypeError(f"there is no example '{name}'{hint} ('list' names all)")
    return os.path.join(SAMPLES, f"{name}.mlir")


def _suggestion(word: str, known: Iterable[str]) -> str:
    """What a misspelled word stands for, in a message; loaded late, as diagnostics are."""
    found: str = import_module("xla_dialect.spelling").suggestion(word, known)
    return found


PACKAGES = ("xdsl", "numpy", "llvmlite")
"""What a program's text, results and machine code depend on, beside this package."""


class CommandLine(argparse.ArgumentParser):
    """
    The options of a tool.

    An option is taken by its whole name only: argparse would read an unknown one as the beginning
    of another, and drop what was meant without a word.
    """

    def __init__(self, prog: str, description: str | None, epilog: str | None = None):
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False)
        self.add_argument("--version", action=_Version, help="print versions and exit")

    def add_program(self) -> None:
        """Adds the file that is read, and the examples that can be read instead of one."""
        self.add_argument(
            "input_file", nargs="?", default="-", help="the program; - or nothing reads stdin"
        )
        self.add_argument(
            "--example",
            action=_Example,
            metavar="NAME",
            help="read a program that comes with the tools, such as softmax, attention or "
            "transformer; `list` names all",
        )
        self.add_argument(
            *("-f", "--frontend"),
            choices=INPUT_FORMATS,
            help="format, if not by extension or content",
        )

    def error(self, message: str) -> NoReturn:
        """Ends the tool, with one line about an argument that is wrong."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def print_help(self, file: Any = None) -> None:
        """As argparse does, which takes no notice of a stdout that is full."""
        (file or sys.stdout).write(self.format_help())

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does; answers a shell that completes a command line."""
        if "_ARGCOMPLETE" in os.environ:
            import_module("argcomplete").autocomplete(self)
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            name = unknown[0].partition("=")[0]
            options = [option for action in self._actions for option in action.option_strings]
            hint = _suggestion(name, options) if name.startswith("--") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        if getattr(parsed, "example", None) is not None:
            if parsed.input_file != "-":
                self.error(f"--example and {parsed.input_file} both say what is read")
            parsed.input_file = parsed.example
        return parsed


class _Example(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, namespace: Any, name: Any, *_: Any) -> None:
        if name == "list":
            print(*sample_names(), sep="\n")
            parser.exit()
        try:
            setattr(namespace, self.dest, sample_file(name))
        except argparse.ArgumentTypeError as error:
            parser.error(str(error))


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, help: str):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version
        others = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
        print(f"{parser.prog} {version('xla-dialect')} ({others})")
        parser.exit()


def complete_passes(prefix: str, **_: object) -> Iterable[str]:
    """The pipelines that begin with a prefix, its last pass completed, for argcomplete."""
    universe = import_module("lowerings.universe").toolkit_universe()
    pipelines = import_module("lowerings.pipelines").PIPELINES
    done = prefix[: prefix.rfind(",") + 1]
    return (done + name for name in (*pipelines, *universe.all_passes))


def complete_targets(**_: object) -> Iterable[str]:
    """The names of all targets, for argcomplete: of a mapping it takes values for descriptions."""
    return tuple(import_module("lowerings.universe").toolkit_universe().all_targets)


def positive_seconds(text: str) -> float:
    """What an option says, as seconds, which may be infinite."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text} is no positive number of seconds")
    return seconds


def whole_number(least: int) -> Callable[[str], int]:
    """Reads what an option says, as a whole number from `least` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is no whole number from {least} on")
        return int(text)

    return read
