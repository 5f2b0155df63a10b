"""Attributes that are kept with operations, functions and modules, in the form of StableHLO.

What readers of HLO text keep under `xla.*` becomes `mhlo.sharding` and `mhlo.frontend_attributes`,
as XLA itself translates it. The rest of it has no place in StableHLO and is left out: names,
control dependencies, statistics, original values, schedules, stack frames; metadata becomes the
location. All other attributes are those of a StableHLO program and stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FileLineColLoc,
    IntAttr,
    IntegerAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
    i32,
    i64,
)
from xdsl.ir import Attribute

from xla_dialect.sharding.hlo_sharding import HloShardingAttr
from xla_dialect.stablehlo.array_types import is_index
from xla_dialect.stablehlo.inexpressible import Inexpressible

KEPT_PREFIX = "xla."

_BARE = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)
_UNPRINTABLE = re.compile(rb'[^ -~]|["\\]')


def string_text(text: str) -> str:
    """A string in quotes, with the escapes of MLIR."""
    data = text.encode("utf-8", "surrogateescape")
    escaped = _UNPRINTABLE.sub(lambda match: b"\\%02X" % match.group()[0], data)
    return f'"{escaped.decode("ascii")}"'


def name_text(name: str) -> str:
    """The name of an entry of a dictionary, or of a symbol: in quotes where it has to be."""
    return name if _BARE.fullmatch(name) is not None else string_text(name)


def symbol_text(name: str) -> str:
    """`@main`, `@"a b"`"""
    return f"@{name_text(name)}"


def attribute_text(value: Attribute) -> str:
    """An attribute of a StableHLO program."""
    match value:
        case StringAttr():
            return string_text(value.data)
        case DictionaryAttr():
            entries = {n: attribute_text(entry) for n, entry in value.data.items()}
            return dictionary_text(entries)
        case ArrayAttr():
            elements = value.data
            return f"[{', '.join(map(_element_text, elements))}]"
        case HloShardingAttr():
            return string_text(value.data.text)
        case DenseIntOrFPElementsAttr() if not is_index(value.get_type()):
            # Whoever only reads has no use for numpy.
            from xla_dialect.stablehlo.literal_text import literal_text  # noqa: PLC0415

            dense = cast("DenseIntOrFPElementsAttr[Any]", value)
            return f"dense<{literal_text(dense)}> : {dense.type}"
        case _:
            return str(value)


def _element_text(value: Attribute) -> str:
    """An element of a list: i64 is understood there."""
    number = cast("IntegerAttr[Any]", value)
    if isinstance(value, IntegerAttr) and number.type == i64:
        return str(number.value.data)
    return attribute_text(cast(Attribute, value))


def dictionary_text(entries: Mapping[str, str]) -> str:
    """`{a = 1 : i32, b}`: entries in the order of their names, as MLIR has them."""
    texts = (
        name_text(name) if text == "unit" else f"{name_text(name)} = {text}"
        for name, text in sorted(entries.items())
    )
    return f"{{{', '.join(texts)}}}"


def plain_text(value: Attribute) -> str:
    """A string, or the text of any other attribute."""
    return value.data if isinstance(value, StringAttr) else str(value)


# Strings and dictionaries of HLO text


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


_ENTRY = re.compile(r'\s*([\w.\-]+)=(?:"((?:[^"\\]|\\.)*)"|(?=\{))', re.DOTALL)


def frontend_attributes(value: Attribute) -> dict[str, str]:
    """The frontend attributes that an operation carries: a dictionary, or its text."""
    if isinstance(value, DictionaryAttr):
        return {name: unescaped(plain_text(entry)) for name, entry in value.data.items()}
    found: dict[str, str] = {}
    text = plain_text(value)
    position = 1
    while (match := _ENTRY.match(text, position)) is not None:
        position = match.end()
        name, string = match.groups()
        if string is None:
            end = closing_brace(text, position)
            string, position = text[position:end], end
        else:
            string = unescaped(string)
        found[name] = string
        position += text[position : position + 1] == ","
    return found


_BRACE_OR_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)


def closing_brace(text: str, position: int) -> int:
    """Where the group in braces ends that opens at a position."""
    depth = 0
    for match in _BRACE_OR_STRING.finditer(text, position):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    return len(text)


def _frontend(value: Attribute) -> Attribute:
    entries = frontend_attributes(value)
    return DictionaryAttr({name: StringAttr(text) for name, text in entries.items()})


def _count(value: Attribute) -> Attribute:
    if not isinstance(value, IntegerAttr):
        raise Inexpressible(f"a number of processes is an integer, not {value}")
    return IntegerAttr(cast("IntegerAttr[Any]", value).value.data, i32)


def _same(value: Attribute) -> Attribute:
    return value


_TRANSLATED: Mapping[str, tuple[str, Callable[[Attribute], Attribute]]] = {
    "xla.sharding": ("mhlo.sharding", _same),
    "xla.frontend_attributes": ("mhlo.frontend_attributes", _frontend),
    "xla.replica_count": ("mhlo.num_replicas", _count),
    "xla.num_partitions": ("mhlo.num_partitions", _count),
}
"""The kept attributes that StableHLO programs have too, with their names there."""


def discardable(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes that StableHLO has too, by their names there."""
    found: dict[str, Attribute] = {}
    for name, value in attributes.items():
        if not name.startswith(KEPT_PREFIX):
            found[name] = value
        elif (entry := _TRANSLATED.get(name)) is not None:
            found[entry[0]] = entry[1](value)
    return found


# Locations


METADATA = "xla.metadata"
"""What HLO text says of the place that an operation comes from."""


def location_of(location: LocationAttr, metadata: Attribute | None) -> LocationAttr:
    """Where an operation comes from: what its metadata say, or else its location."""
    if not isinstance(metadata, DictionaryAttr):
        return location
    fields = metadata.data
    file, line = fields.get("source_file"), fields.get("source_line")
    place: LocationAttr = UnknownLoc()
    if isinstance(file, StringAttr):
        number = cast("IntegerAttr[Any]", line).value.data if isinstance(line, IntegerAttr) else 0
        place = FileLineColLoc(StringAttr(unescaped(file.data)), IntAttr(number), IntAttr(0))
    name = fields.get("op_name")
    return (
        NameLoc(StringAttr(unescaped(name.data)), place) if isinstance(name, StringAttr) else place
    )
