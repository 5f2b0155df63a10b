"""
The structs and constants that Python shares with the library in C, read from its headers.

They are declared there, once. What is read is the C of these headers: structs of scalars, pointers,
arrays and other structs, a field in each line; constants with a number each; PJRT's functions.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_QUALIFIER = re.compile(r"\b(?:const|_Atomic|struct(?= \w+ \*))\b")
_STRUCT = re.compile(r"typedef struct (?:\w+ )?\{([^}]*)\} (\w+);")
_FIELD = re.compile(
    r"(?P<type>\w+)\b(?P<stars>[\s*]*)"
    r"(?:(?P<name>\w+)(?:\[(?P<count>\d+)\])?|\(\*(?P<function>\w+)\)\(.*\))"
)
_CONSTANT = re.compile(r"^ *((?:PJRT|XLA)_\w+) = (-?\d+),", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:NATIVE|PYTHON)\((\w+),?([^)]*)\)", re.MULTILINE)

_TYPES: dict[str, Any] = {
    "size_t": ctypes.c_size_t,
    "bool": ctypes.c_bool,
    "uint8_t": ctypes.c_uint8,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}


@cache
def _text(file: str) -> str:
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    return _QUALIFIER.sub("", _COMMENT.sub("", text))


@cache
def structs(header: str) -> Mapping[str, str]:
    """The declarations of the fields of each struct of a header."""
    return {name: fields for fields, name in _STRUCT.findall(_text(header))}


@cache
def constants(header: str) -> Mapping[str, int]:
    """The constants of a header with a number each."""
    return {name: int(number) for name, number in _CONSTANT.findall(_text(header))}


@cache
def pjrt_functions() -> Mapping[str, str]:
    """The functions of PJRT's API in their order: the declarations of their arguments' fields."""
    return dict(_FUNCTION.findall(_text("pjrt_functions.def")))


def fields_of(header: str, struct: str) -> Sequence[tuple[str, Any]]:
    """The fields of a struct of a header, as ctypes takes them."""
    return declared_fields(structs(header)[struct], header)


def declared_fields(text: str, header: str) -> Sequence[tuple[str, Any]]:
    """The fields that declarations say, as ctypes takes them; their structs are in a header."""
    found: list[tuple[str, Any]] = []
    for declaration in filter(None, map(str.strip, text.split(";"))):
        field = _FIELD.fullmatch(declaration)
        assert field is not None, declaration
        if field["function"]:
            found.append((field["function"], ctypes.c_void_p))
            continue
        type_ = _type(field["type"], "*" in field["stars"], header)
        found.append((field["name"], type_ * int(field["count"]) if field["count"] else type_))
    return found


def _type(name: str, is_pointer: bool, header: str) -> Any:
    if is_pointer:
        return ctypes.py_object if name == "PyObject" else ctypes.c_void_p
    return _TYPES.get(name) or structure(header, name)


@cache
def structure(header: str, struct: str) -> Any:
    """A struct of a header, as a ctypes structure of its name."""
    return type(struct, (ctypes.Structure,), {"_fields_": fields_of(header, struct)})
