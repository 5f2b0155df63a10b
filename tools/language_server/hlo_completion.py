"""What may be typed at a place of HLO text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import zip_longest

from xla_dialect.hlo_text.attributes import (
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    MODULE_ATTRIBUTES,
)
from xla_dialect.hlo_text.opcodes import OPCODES, Opcode
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS, ONE_COMPUTATION
from xla_dialect.text.lexer import Token, tokens
from xla_dialect.types import BY_NAME

from .documentation import opcode_of
from .entities import Kind, TextIndex
from .suggestions import Suggestion

_START = re.compile(
    r"^[ \t]*(?:ROOT[ \t]+)?%?[\w.\-]+[ \t]*=(?!=)|^HloModule\b|^[^\n]*\}", re.MULTILINE
)
"""Where what is being typed began: an instruction, a module's head, a computation's end."""
_ATTRIBUTE = re.compile(r"([\w-]+)=(\{?[^={}()]*)$")
_LONGEST_STATEMENT = 1 << 14


def suggestions(index: TextIndex, offset: int) -> list[Suggestion]:
    """What may stand at an offset, whatever part of it is typed already."""
    text = index.text[max(0, offset - _LONGEST_STATEMENT) : offset]
    starts = list(_START.finditer(text))
    statement = text[starts[-1].start() :] if starts else text
    attribute = _ATTRIBUTE.search(statement)
    line = text[text.rfind("\n") + 1 :]
    if statement.startswith("HloModule"):
        return [Suggestion(n, "Property", insert=f"{n}=") for n in MODULE_ATTRIBUTES]
    if attribute is not None and attribute[1] in ONE_COMPUTATION | COMPUTATION_LISTS:
        return _names(index, "computation", offset)
    if not starts or not starts[-1].group().rstrip().endswith("="):
        return list(_outside(line))
    return list(_in_instruction(index, offset, statement[starts[-1].end() - starts[-1].start() :]))


def _names(index: TextIndex, kind: Kind, offset: int) -> list[Suggestion]:
    shown = "Function" if kind == "computation" else "Variable"
    return [Suggestion(e.name, shown, e.operation) for e in index.visible(kind, offset)]


def _outside(line: str) -> Iterable[Suggestion]:
    if line.strip().startswith("}"):
        yield from (Suggestion(n, "Property", insert=f"{n}=") for n in COMPUTATION_ATTRIBUTES)
    else:
        yield from (Suggestion(word, "Keyword") for word in ("HloModule", "ENTRY", "ROOT"))


def _in_instruction(index: TextIndex, offset: int, typed: str) -> Iterable[Suggestion]:
    """Of what follows the `=` of an instruction."""
    found = [token for token in tokens(typed) if token.kind != "end"]
    opcode, depth, is_value = _opcode(found)
    if depth > 0:
        if not is_value:
            yield from _names(index, "value", offset)
    elif opcode is None:
        if not any(token.kind == "shape" for token in found):
            yield from (Suggestion(name, "Class", insert=f"{name}[") for name in BY_NAME)
        yield from (
            Suggestion(name, "Function", row.operation.name, documented=name)
            for name, row in OPCODES.items()
        )
        yield Suggestion("parameter", "Function", "an argument", documented="parameter")
    elif (word := re.search(r"([\w-]+)=[\w-]*$", typed)) is not None:
        yield from (Suggestion(value, "Value") for value in words_of(opcode, word[1]))
    else:
        given = {token.text[:-1] for token in found if token.kind == "attribute"}
        for name in (
            *opcode.order,
            *(n for c in opcode.computations for n in c),
            *COMMON_ATTRIBUTES,
        ):
            if name not in given:
                needed = "required" if name in opcode.required else ""
                yield Suggestion(name, "Property", needed, insert=f"{name}=")


def _opcode(found: list[Token]) -> tuple[Opcode | None, int, bool]:
    """The opcode, how many brackets are open, and whether they are those of an attribute."""
    name, depth, is_value = None, 0, False
    for token, after in zip_longest(found, found[1:]):
        if depth == 0 and token.kind == "attribute":
            is_value = True
        elif depth == 0 and name is None and token.kind == "name" and after is not None:
            name = token.text if after.text == "(" else None
        depth += (token.text in "([{") - (token.text in ")]}")
        if depth == 0 and token.text == ",":
            is_value = False
    return (None if name is None else opcode_of(name)), depth, is_value


def words_of(opcode: Opcode, attribute: str) -> Iterable[str]:
    """The words that an attribute can have as value."""
    spelling = opcode.spellings.get(attribute)
    for name in () if spelling is None else spelling.properties:
        enum = opcode.operation.contract().enums.get(name)
        if enum is not None:
            yield from (case.value for case in enum.enum_type)
