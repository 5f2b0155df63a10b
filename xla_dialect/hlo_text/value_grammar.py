"""
Grammars of values in HLO text: functions that step over a value, made of one another.

A grammar reads; nothing is made of the value. It raises SpellingError at the place that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.ir import Attribute

from xla_dialect.scanner import Scanner
from xla_dialect.spelling import Excerpt, SpellingError, quoted, suggestion
from xla_dialect.text.lexer import STRING, Lexer
from xla_dialect.text.shapes import TypeParser

Grammar: TypeAlias = Callable[[Scanner], object]
"""Steps over a value; raises SpellingError."""


def check(grammar: Grammar, text: str) -> None:
    reader = Scanner(text)
    grammar(reader)
    reader.finish("the end of the value")


# ---- Values of one token


def token(pattern: str, expected: str) -> Grammar:
    compiled = re.compile(pattern, re.DOTALL | re.ASCII)
    return lambda reader: reader.match(compiled, expected).group()


WORD = re.compile(r"[A-Za-z_][\w.\-]*+", re.ASCII)
FIELD = re.compile(r"[A-Za-z_][\w.\-]*+=", re.ASCII)
_JSON_TEXT = re.compile(rf'[^{{}}"]++|{STRING}', re.DOTALL)

integer = token(r"-?[0-9]{1,19}(?![0-9.])", "an integer")
number = token(r"-?(?:[0-9]++(?:\.[0-9]*+)?(?:[eE][-+]?[0-9]++)?|inf)|nan", "a number")
_ANY_STRING = token(STRING, "a string in quotes")
_UNKNOWN_ESCAPE = re.compile(
    r"\\(?![abfnrtv\\?'\"0-7]|x[0-9a-fA-F]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
)
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def string(reader: Scanner) -> None:
    """`"text"`, with the escapes of C"""
    start = reader.position
    text = str(_ANY_STRING(reader))
    if "\\" in text:
        for escape in _ESCAPE.finditer(text):
            if _UNKNOWN_ESCAPE.match(text, escape.start()):
                message = f"unknown escape {escape.group()} in a string"
                raise SpellingError(message, start + escape.start())


def int32(reader: Scanner) -> None:
    """A number of 32 bits"""
    start = reader.position
    number = int(str(integer(reader)))
    if not -(2**31) <= number < 2**31:
        raise SpellingError(f"'{number}' does not fit 32 bits", start)


def word(*words: str, in_any_case: bool = False) -> Grammar:
    """One of some words"""
    cases = {variant for w in words for variant in (w.lower(), w)}

    def read(reader: Scanner) -> None:
        start = reader.position
        found = reader.match(WORD, f"one of {', '.join(words)}").group()
        if (found.lower() not in cases) if in_any_case else (found not in words):
            hint = suggestion(found, words)
            message = f"expected one of {', '.join(words)}; found {quoted(found)}{hint}"
            raise SpellingError(message, start)

    return read


boolean = word("true", "false")


def braces(reader: Scanner) -> None:
    """`{...}`, where only braces and strings count: JSON, or what looks like it"""
    start = reader.position
    reader.expect("{")
    depth = 1
    text, position = reader.text, reader.position
    while depth:
        match = _JSON_TEXT.match(text, position)
        if match is not None:
            position = match.end()
        elif position == len(text):
            raise SpellingError("'{' is never closed", start)
        else:
            depth += 1 if text[position] == "{" else -1
            position += 1
    reader.position = position
    reader.skip_blanks()


def shape(reader: Scanner) -> Attribute:
    """`f32[2]{0}` or `(f32[2], s32[])`; the type"""
    lexer = Lexer(reader.text, reader.position)
    parser = TypeParser(lexer)
    if lexer.kind == "shape":
        # What follows need not be a token.
        end = lexer.end
        type_ = parser.array(lexer.token, lexer.start)
    else:
        type_ = parser.type()
        end = lexer.start
    reader.position = end
    reader.skip_blanks()
    return type_


def rest(read: Callable[[str], object], opening: str = "", closing: str = "") -> Grammar:
    """All that is left, between two characters, as somebody else reads it."""

    def grammar(reader: Scanner) -> None:
        start = reader.position
        text = reader.text[start:]
        if not (text.startswith(opening) and text.endswith(closing)):
            reader.fail(f"'{opening}' and '{closing}'")
        with Excerpt(start + len(opening)):
            read(text[len(opening) : len(text) - len(closing)])
        reader.position = len(reader.text)

    return grammar


# ---- Values made of values


def listed(
    item: Grammar,
    opening: str = "{",
    closing: str = "}",
    *,
    may_be_empty: bool = True,
    may_end_in_comma: bool = False,
) -> Grammar:
    """`{item, item}`"""

    def read(reader: Scanner) -> None:
        reader.expect(opening)
        if may_be_empty and reader.accept(closing):
            return
        item(reader)
        while reader.accept(",") and not (may_end_in_comma and reader.at(closing)):
            item(reader)
        reader.expect(closing)

    return read


def sequence(*parts: Grammar | str) -> Grammar:
    """One after the other; strings stand for themselves."""

    def read(reader: Scanner) -> None:
        for part in parts:
            if isinstance(part, str):
                reader.expect(part)
            else:
                part(reader)

    return read


def optional(opening: str, rest: Grammar) -> Grammar:
    """Nothing, or these characters and what follows them."""

    def read(reader: Scanner) -> None:
        if reader.accept(opening):
            rest(reader)

    return read


def by_first(cases: Mapping[str, Grammar], otherwise: Grammar) -> Grammar:
    """The grammar of the first character of the value."""

    def read(reader: Scanner) -> None:
        cases.get(reader.text[reader.position : reader.position + 1], otherwise)(reader)

    return read


def field(reader: Scanner, fields: Mapping[str, Grammar], seen: set[str]) -> None:
    """Steps over `name=value`, with a name that is known and not yet seen."""
    start = reader.position
    name = reader.match(FIELD, f"one of {', '.join(fields)} with '='").group()[:-1]
    grammar = fields.get(name)
    if grammar is None:
        hint = suggestion(name, fields)
        raise SpellingError(
            f"unknown field {quoted(name)} (there are {', '.join(fields)}){hint}", start
        )
    if name in seen:
        raise SpellingError(f"field '{name}' is given twice", start)
    seen.add(name)
    grammar(reader)


def record(
    fields: Mapping[str, Grammar], *, needs_all: bool = False, commas: bool = True
) -> Grammar:
    """`{name=value name=value}`, with or without commas between if there may be some"""

    def read(reader: Scanner) -> None:
        start = reader.position
        reader.expect("{")
        seen = set[str]()
        while not reader.accept("}"):
            if commas:
                reader.accept(",")
            field(reader, fields, seen)
        missing = [name for name in fields if name not in seen]
        if needs_all and missing:
            raise SpellingError(f"field '{missing[0]}' is missing", start)

    return read


def choice(fields: Mapping[str, Grammar]) -> Grammar:
    """`{name=value}`, one of several"""
    return lambda reader: sequence("{", lambda r: field(r, fields, set()), "}")(reader)


def dictionary(value: Grammar) -> Grammar:
    """`{name=value,name=value}`, with any names"""
    item = sequence(lambda reader: reader.match(FIELD, "a name with '='"), value)
    return listed(item)
