"""
Grammars of values in HLO text: functions that step over a value, made of others.

A grammar returns what it has read: numbers, truth values, words and strings as Python has them,
lists, dictionaries of fields, and tuples of what stands one after the other. It raises
SpellingError at the place that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xla_dialect.spelling import (
    FIELD,
    Excerpt,
    Scanner,
    SpellingError,
    quoted,
)
from xla_dialect.text.lexer import STRING
from xla_dialect.text.shapes import MAX_NESTING

Grammar: TypeAlias = Callable[[Scanner], Any]
"""Steps over a value and returns it; raises SpellingError."""


def parsed(grammar: Grammar, text: str) -> Any:
    """What a text says as a whole."""
    scanner = Scanner(text)
    found = grammar(scanner)
    scanner.finish("the end of the value")
    return found


# Values of one token


def token(pattern: str, expected: str) -> Grammar:
    """The text of what a pattern matches."""
    compiled = re.compile(pattern, re.DOTALL | re.ASCII)
    return lambda scanner: scanner.match(compiled, expected).group()


def numbers(pattern: str, expected: str, bits: int = 64) -> Grammar:
    """The integers that the groups of a pattern match; None for one that is left out"""
    compiled, limit = re.compile(pattern), 1 << bits - 1

    def read(scanner: Scanner) -> list[int | None]:
        match = scanner.match(compiled, expected)
        found: list[int | None] = []
        for i, digits in enumerate(match.groups(), 1):
            if digits is not None and (
                len(digits) > _MOST_DIGITS or not -limit <= int(digits) < limit
            ):
                raise SpellingError(f"{quoted(digits)} does not fit {bits} bits", match.start(i))
            found.append(None if digits is None else int(digits))
        return found

    return read


_MOST_DIGITS = 20
"""Numbers of more are too large in any case; Python takes long for thousands."""


def _single(grammar: Grammar) -> Grammar:
    return lambda scanner: grammar(scanner)[0]


integer = _single(numbers(r"(-?[0-9]++)", "an integer"))
int32 = _single(numbers(r"(-?[0-9]++)", "an integer", 32))
number = token(r"-?(?:[0-9]++(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?|inf)|nan", "a number")
any_string = token(STRING, "a string in quotes")
_UNKNOWN_ESCAPE = re.compile(
    r"\\(?![abfnrtv\\?'\"0-7]|x[0-9a-fA-F]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def string(scanner: Scanner) -> str:
    """`"text"`, with the escapes of C; as it is written, with its quotes"""
    start, text = scanner.position, any_string(scanner)
    for escape in _ESCAPE.finditer(text) if "\\" in text else ():
        if _UNKNOWN_ESCAPE.match(text, escape.start()):
            message = f"unknown escape {escape.group()} in a string"
            raise SpellingError(message, start + escape.start())
    return text


def word(*words: str, in_any_case: bool = False) -> Grammar:
    """One of some words"""
    return lambda scanner: scanner.one_of(words, in_any_case=in_any_case)


_BOOLEAN = word("true", "false")


def boolean(scanner: Scanner) -> bool:
    """`true` or `false`"""
    return _BOOLEAN(scanner) == "true"


def braces(scanner: Scanner) -> str:
    """`{...}`, where only braces and strings count: JSON, or what looks like it"""
    if not scanner.at("{"):
        scanner.fail("'{'")
    return scanner.group()


def nothing(scanner: Scanner) -> None:
    """No characters"""


def rest(read: Callable[[str], Any], opening: str = "", closing: str = "") -> Grammar:
    """All that is left, between two characters, as somebody else reads it"""

    def grammar(scanner: Scanner) -> Any:
        start = scanner.position
        text = scanner.text[start:]
        if not (text.startswith(opening) and text.endswith(closing)):
            scanner.fail(f"'{opening}' and '{closing}'")
        with Excerpt(start + len(opening)):
            found = read(text[len(opening) : len(text) - len(closing)])
        scanner.position = len(scanner.text)
        return found

    return grammar


# Values made of values


def separated(item: Grammar, by: str) -> Grammar:
    """`item x item`, at least one"""

    def read(scanner: Scanner) -> list[Any]:
        found = [item(scanner)]
        while scanner.accept(by):
            found.append(item(scanner))
        return found

    return read


def listed(
    item: Grammar,
    opening: str = "{",
    closing: str = "}",
    *,
    may_be_empty: bool = True,
    may_end_in_comma: bool = False,
) -> Grammar:
    """`{item, item}`"""

    def read(scanner: Scanner) -> list[Any]:
        scanner.expect(opening)
        found: list[Any] = []
        if may_be_empty and scanner.accept(closing):
            return found
        found.append(item(scanner))
        while scanner.accept(",") and not (may_end_in_comma and scanner.at(closing)):
            found.append(item(scanner))
        scanner.expect(closing)
        return found

    return read


def sequence(*parts: Grammar | str) -> Grammar:
    """One after the other; strings stand for themselves, and are no part of the value"""

    def read(scanner: Scanner) -> tuple[Any, ...]:
        found: list[Any] = []
        for part in parts:
            if isinstance(part, str):
                scanner.expect(part)
            else:
                found.append(part(scanner))
        return tuple(found)

    return read


def optional(opening: str, rest: Grammar) -> Grammar:
    """Nothing, or these characters and what follows them"""
    return lambda scanner: rest(scanner) if scanner.accept(opening) else None


def by_first(cases: Mapping[str, Grammar], otherwise: Grammar) -> Grammar:
    """The grammar of the first character of the value"""
    return lambda scanner: cases.get(scanner.text[scanner.position :][:1], otherwise)(scanner)


def record(
    fields: Mapping[str, Grammar], *, needs_all: bool = False, commas: bool = True
) -> Grammar:
    """`{name=value name=value}`, with or without commas between if there may be some"""

    def read(scanner: Scanner) -> Mapping[str, Any]:
        start = scanner.position
        scanner.expect("{")
        found: dict[str, object] = {}
        while not scanner.accept("}"):
            if commas:
                scanner.accept(",")
            scanner.field(fields, found)
        missing = [name for name in fields if name not in found]
        if needs_all and missing:
            raise SpellingError(f"field '{missing[0]}' is missing", start)
        return found

    return read


def field(fields: Mapping[str, Grammar]) -> Grammar:
    """`name=value`, one of several"""

    def read(scanner: Scanner) -> tuple[str, Any]:
        found: dict[str, object] = {}
        scanner.field(fields, found)
        return next(iter(found.items()))

    return read


def dictionary(value: Grammar) -> Grammar:
    """`{name=value,name=value}`, with any names"""
    return listed(sequence(lambda scanner: scanner.match(FIELD, "a name with '='").group(), value))


def tree(leaf: Grammar) -> Grammar:
    """A leaf, or a tuple of trees, `(leaf, (leaf, leaf))`"""

    def read(scanner: Scanner, depth: int = 0) -> Any:
        if not scanner.at("("):
            return leaf(scanner)
        if depth == MAX_NESTING:
            message = f"tuples are nested deeper than {MAX_NESTING}"
            raise SpellingError(message, scanner.position)
        return listed(lambda inner: read(inner, depth + 1), "(", ")")(scanner)

    return read
