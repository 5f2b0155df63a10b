"""`--verify-diagnostics`: comparing an error with the `expected-error` comments of the input.

As in MLIR: `// expected-error {{text}}` on the line of the error, or with `@+N`, `@-N`, `@above`,
`@below`, `@unknown`; the text, up to the last `}}` of the line, is a part of the message.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.utils.exceptions import DiagnosticException

from xla_dialect.diagnostics import LocatedError, XlaError

from .input_text import Chunk

_EXPECTATION = re.compile(
    r"expected-error(?:-re)?\s*(?:@(?P<place>above|below|unknown|[+-]\d+))?\s*\{\{(?P<text>.*)\}\}\s*$",
    re.M,
)


@dataclass(frozen=True)
class Expectation:
    """An error that the input says will come; line 0 where the place does not matter."""

    line: int
    text: str


def has_expectations(text: str) -> bool:
    """Whether an input has `expected-error` comments."""
    return _EXPECTATION.search(text) is not None


def expectations(text: str) -> list[Expectation]:
    """All `expected-error` comments of an input."""
    found: list[Expectation] = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := _EXPECTATION.search(line):
            found.append(Expectation(_target_line(number, match["place"]), match["text"]))
    return found


def _target_line(line: int, place: str | None) -> int:
    match place:
        case None:
            return line
        case "above":
            return line - 1
        case "below":
            return line + 1
        case "unknown":
            return 0
        case _:
            return line + int(place)


def check_diagnostics(chunk: Chunk, file_name: str, process: Callable[[], object]) -> int:
    """
    Runs a chunk that should fail; returns 1, with a report on stderr, unless it fails as expected.

    We stop at the first error, so one of several expectations has to match.
    """
    expected = expectations(chunk.text)
    try:
        process()
    except (XlaError, DiagnosticException) as error:
        line = error.line if isinstance(error, LocatedError) else 0
        message = str(error)
        if any(e.text in message and (not e.line or not line or e.line == line) for e in expected):
            return 0
        print(f"{file_name}: error: unexpected diagnostic:\n{message}", file=sys.stderr)
        return 1
    first = expected[0]
    print(
        f"{file_name}:{first.line}: error: expected error '{first.text}' was not produced",
        file=sys.stderr,
    )
    return 1
