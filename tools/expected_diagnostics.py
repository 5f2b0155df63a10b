"""`--verify-diagnostics`: comparing diagnostics with the comments of the input that expect them.

As in MLIR: `// expected-error {{text}}` on the line of the error, or with `@+N`, `@-N`, `@above`,
`@below`, `@unknown`; also `expected-warning`, `expected-note`, `expected-remark`. The text, up to
the last `}}` of the line, is a part of the message; with `-re` what stands in `{{...}}` inside of
it is a regular expression. Whatever comes unexpected fails; what is expected comes once each.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.utils.exceptions import DiagnosticException

from xla_dialect.diagnostics import LocatedError, XlaError

from .input_text import Chunk

_EXPECTATION = re.compile(
    r"expected-(?P<kind>error|warning|note|remark)(?P<regex>-re)?\s*"
    r"(?:@(?P<place>above|below|unknown|[+-]\d+))?\s*\{\{(?P<text>.*)\}\}\s*$",
    re.M,
)
_PATTERN = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Diagnostic:
    """What a tool says of an input; line 0 where no line is known."""

    kind: str
    line: int
    message: str


@dataclass(frozen=True)
class Expectation:
    """A diagnostic that the input says will come; line 0 is one without a line."""

    line: int
    kind: str
    target: int
    text: str
    pattern: re.Pattern[str]

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether this is the diagnostic that was meant."""
        return (
            self.kind == diagnostic.kind
            and self.target == diagnostic.line
            and self.pattern.search(diagnostic.message) is not None
        )


def expectations(text: str, file_name: str = "<input>") -> list[Expectation]:
    """All that an input expects; raises LocatedError for a regular expression that is none."""
    lines = text.split("\n")
    found = [_EXPECTATION.search(line) for line in lines]
    expected: list[Expectation] = []
    for number, match in enumerate(found, 1):
        if match is None:
            continue
        try:
            pattern = re.compile(_pattern(match["text"], bool(match["regex"])))
        except re.error as error:
            message = f"'{match['text']}' is no pattern: {error.msg}"
            raise LocatedError(message, file_name, number, match.start("text") + 1) from None
        target = _target(number, match["place"], found)
        expected.append(Expectation(number, match["kind"], target, match["text"], pattern))
    return expected


def _pattern(text: str, has_patterns: bool) -> str:
    """A regular expression for an expected text."""
    if not has_patterns:
        return re.escape(text)
    parts = _PATTERN.split(text)  # every second one is what stood in {{...}}
    return "".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in enumerate(parts))


def _target(line: int, place: str | None, found: Sequence[re.Match[str] | None]) -> int:
    """The line that is meant: `above` and `below` look past other lines with expectations."""
    match place:
        case None:
            return line
        case "unknown":
            return 0
        case "above" | "below":
            step = -1 if place == "above" else 1
            line += step
            while 0 < line <= len(found) and found[line - 1] is not None:
                line += step
            return line
        case _:
            return line + int(place)


def check_diagnostics(
    chunk: Chunk, file_name: str, process: Callable[[], bytes], *, only_expected: bool = False
) -> tuple[bool, list[bytes]]:
    """
    Processes a chunk: whether all that it says is expected, and what it prints if it has no error.

    What is not as expected is reported on stderr; `only_expected`: but for what comes besides.
    """
    missing = expectations(chunk.shown, file_name)
    unexpected: list[Diagnostic] = []
    diagnostics, output = _run(process, file_name)
    for diagnostic in diagnostics:
        match = next((each for each in missing if each.matches(diagnostic)), None)
        if match is None and not only_expected:
            unexpected.append(diagnostic)
        elif match is not None:
            missing.remove(match)
    for each in unexpected:
        place = f"{file_name}:{each.line}" if each.line else file_name
        print(f"{place}: error: unexpected {each.kind}: {each.message}", file=sys.stderr)
    for each in missing:
        place = f"{file_name}:{each.line}"
        print(
            f"{place}: error: expected {each.kind} '{each.text}' was not produced", file=sys.stderr
        )
    return not (unexpected or missing), output


def _run(process: Callable[[], bytes], file_name: str) -> tuple[list[Diagnostic], list[bytes]]:
    """What is said while a chunk is processed, warnings and the one error that ends it."""
    output: list[bytes] = []
    errors: list[Diagnostic] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            output.append(process())
        except (XlaError, DiagnosticException) as error:
            notes: list[str] = getattr(error, "__notes__", [])
            errors.append(Diagnostic("error", _line_of(error, file_name), str(error)))
            errors.extend(Diagnostic("note", 0, note) for note in notes)
    said = [each for each in caught if issubclass(each.category, UserWarning)]
    return [*(Diagnostic("warning", 0, str(each.message)) for each in said), *errors], output


def _line_of(error: Exception, file_name: str) -> int:
    """The line of an error; a pass that gives up names it in its message."""
    if isinstance(error, LocatedError) and error.line:
        return error.line
    found = re.search(rf"{re.escape(file_name)}:(\d+)", str(error))
    return 0 if found is None else int(found[1])
