"""What an editor shows of the place under the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import MemRefType, TensorType

from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import read_mlir_type
from xla_dialect.text.lexer import tokens

from .checking import spell_type
from .document import Document
from .documentation import (
    context,
    docstring,
    operation_class,
    operation_text,
    pass_text,
    rule_text,
    shape_text,
)
from .entities import Entity
from .run_lines import pass_at

_SHOWN_CHARACTERS = 400
_TYPE = re.compile(r"(?:tensor|memref)<")
_PROPERTY = re.compile(r"\w+(?=\s*=(?!=))")


def hover_text(document: Document, offset: int) -> str | None:
    """Markdown on what is at an offset; None where there is nothing to say."""
    line_number = document.text.count("\n", 0, offset)
    line = document.line(line_number)
    column = offset - document.line_starts[line_number]
    name = pass_at(line, column)
    if name is not None:
        return pass_text(name)
    parts = [
        *_broken_rules(document, line_number, column),
        *_described(document, offset, line, column),
    ]
    return "\n\n---\n\n".join(parts) or None


def _described(document: Document, offset: int, line: str, column: int) -> Iterator[str]:
    """What is known of the name, the operation, the shape or the attribute at an offset."""
    part = document.part_at(offset)
    found = part.index.entity_at(offset - part.start)
    operation = part.index.operation_at(offset - part.start)
    if found is not None:
        yield from _entity(document, part.start, found[0])
    elif operation is not None:
        text = operation_text(operation.name, is_hlo=document.is_hlo)
        if text is not None:
            yield text
    elif (shape := _shape_at(document, line, column)) is not None:
        yield shape
    elif (attribute := _attribute_at(document, offset, line, column)) is not None:
        yield attribute


def _broken_rules(document: Document, line: int, column: int) -> Iterator[str]:
    """The text of the rules that diagnostics of a line quote."""
    for problem in document.findings["problems"]:
        is_here = problem["line"] == line + 1 and problem["column"] <= column + 1
        if is_here and problem["rule"]:
            name = problem["message"].partition(":")[0]
            text = rule_text(name, problem["rule"], is_hlo=False)
            if text is not None:
                yield f"**{name}** {text}"


def _entity(document: Document, start: int, entity: Entity) -> Iterator[str]:
    """The line that defines something, its type, and the type in words."""
    language = "hlo" if document.is_hlo else "mlir"
    if entity.statement is not None:
        a, b = entity.statement
        text = document.text[start + a : start + b]
        text = text if entity.kind == "value" else text.partition("\n")[0]
        shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + " ..."
        yield f"```{language}\n{shown.strip()}\n```"
    else:
        yield f"{entity.kind} `{entity.name}`"
    if entity.kind == "value" and (types := type_of(document.findings, document, start, entity)):
        words = shape_text(types) or _memref(types)
        yield f"`{types}`" + (f"\n\n{words}" if words else "")


def type_of(findings: dict[str, Any], document: Document, start: int, entity: Entity) -> str | None:
    """The type of a value, as the last check found it."""
    place = start + entity.place.start
    line = document.text.count("\n", 0, place)
    column = place - document.line_starts[line] + 1
    types = findings["types"]
    # In HLO text the place of an instruction is that of its `%`, if it has one.
    return types.get(f"{line + 1}:{column}") or types.get(f"{line + 1}:{column - 1}")


def _shape_at(document: Document, line: str, column: int) -> str | None:
    """The type that a line has at a column, in words."""
    if document.is_hlo:
        for token in tokens(line):
            if token.kind == "shape" and token.start <= column < token.end:
                words = shape_text(token.text)
                return f"`{token.text}`\n\n{words}" if words else None
        return None
    for match in _TYPE.finditer(line):
        end = _closing(line, match.end())
        if match.start() <= column < end:
            return _type_in_words(line[match.start() : end])
    return None


def _closing(line: str, place: int) -> int:
    """After the `>` that closes what was opened before a place."""
    depth = 1
    while place < len(line) and depth:
        if line.startswith("->", place):
            place += 1
        else:
            depth += (line[place] == "<") - (line[place] == ">")
        place += 1
    return place


def _type_in_words(text: str) -> str | None:
    try:
        type_ = read_mlir_type(text, context())
    except XlaError:
        return None
    if isinstance(type_, TensorType):
        words = shape_text(spell_type(type_))
        return f"`{spell_type(type_)}`\n\n{words}" if words else None
    words = _memref(text)
    return f"`{text}`\n\n{words}" if words else None


def _memref(text: str) -> str | None:
    """A memref in words: its sizes and strides."""
    if not text.startswith("memref<"):
        return None
    try:
        type_ = read_mlir_type(text, context())
    except XlaError:
        return None
    if not isinstance(type_, MemRefType):
        return None
    sizes = type_.get_shape()
    strides, offset = type_.get_strides(), type_.get_offset()

    def number(value: int | None) -> str:
        return "known only at run time" if value is None or value < 0 else str(value)

    lines = [f"- element type `{type_.element_type}`"]
    for dimension, size in enumerate(sizes):
        step = (
            "" if strides is None else f", a step along it is {number(strides[dimension])} elements"
        )
        lines.append(f"- dimension {dimension} has size {number(size)}{step}")
    if offset != 0:
        lines.append(f"- its first element lies at {number(offset)} of its buffer")
    return "\n".join(lines)


def _attribute_at(document: Document, offset: int, line: str, column: int) -> str | None:
    """What the contract of an operation says of the attribute at a column."""
    word = next((w for w in _PROPERTY.finditer(line) if w.start() <= column <= w.end()), None)
    if word is None:
        return None
    part = document.part_at(offset)
    before = [o for o in part.index.operations if o.span.start + part.start <= offset]
    if not before:
        return None
    operation = operation_class(before[-1].name, is_hlo=document.is_hlo)
    text = "" if operation is None else docstring(operation)
    said = [
        " ".join(p.split()) for p in re.split(r"\n\s*\n|\n(?=\()", text) if f"`{word.group()}" in p
    ]
    return f"**{word.group()}** of `{before[-1].name}`\n\n" + "\n\n".join(said) if said else None
