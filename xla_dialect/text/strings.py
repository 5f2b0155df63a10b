"""Strings and dictionaries of HLO text, as attributes keep them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute

from xla_dialect.text.grammars import any_string, braces, by_first, dictionary, parsed


def plain_text(value: Attribute) -> str:
    """A string, or the text of any other attribute."""
    return value.data if isinstance(value, StringAttr) else str(value)


def quoted_text(text: str) -> str:
    """A string in quotes, as HLO text has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def dictionary_text(entries: Mapping[str, str]) -> str:
    """`{name="text",...}`"""
    return "{" + ",".join(f"{name}={quoted_text(text)}" for name, text in entries.items()) + "}"


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}


def unescaped(text: str) -> str:
    """What a string of HLO text stands for, given without its quotes."""
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        octal, hexadecimal, letter = match.groups()
        if letter is not None:
            return _LETTERS.get(letter, letter)
        return chr(int(octal, 8) if octal is not None else int(hexadecimal, 16))

    return _ESCAPE.sub(character, text)


_FRONTEND_ATTRIBUTES = dictionary(by_first({"{": braces}, any_string))


def frontend_attributes(value: Attribute) -> dict[str, str]:
    """The frontend attributes that an operation carries: a dictionary, or its text."""
    if isinstance(value, DictionaryAttr):
        return {name: unescaped(plain_text(entry)) for name, entry in value.data.items()}
    return {
        name[:-1]: text if text.startswith("{") else unescaped(text[1:-1])
        for name, text in parsed(_FRONTEND_ATTRIBUTES, plain_text(value))
    }
