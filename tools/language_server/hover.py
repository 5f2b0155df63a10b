"""What an editor shows of the place under the pointer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import TensorType

from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import parser_of
from xla_dialect.text.lexer import tokens

from .checking import spell_type
from .document import Document, DocumentPart
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
_TENSOR = re.compile(r"\btensor<")
_PROPERTY = re.compile(r"\w+(?=\s*=(?!=))")


def hover_text(document: Document, offset: int) -> str | None:
    """Markdown on what is at an offset; None where there is nothing to say."""
    start, end = document.line_at(offset)
    line, column = document.text[start:end], offset - start
    name = pass_at(line, column)
    if name is not None:
        return pass_text(name)
    described = _described(document, offset, line, column)
    parts = [*_broken_rules(document, offset), *filter(None, described)]
    return "\n\n---\n\n".join(parts) or None


def _described(document: Document, offset: int, line: str, column: int) -> Iterator[str | None]:
    """What is known of the name, the operation, the shape or the attribute at an offset."""
    part = document.part_at(offset)
    found = part.index.entity_at(offset - part.start)
    operation = part.index.operation_at(offset - part.start)
    if found is not None:
        yield from _entity(document, part, found[0])
    elif operation is not None:
        yield operation_text(operation.name, is_hlo=document.is_hlo)
    elif (shape := _shape_at(document, line, column)) is not None:
        words = shape_text(shape)
        yield words and f"`{shape}`\n\n{words}"
    else:
        yield _attribute_at(document, offset, line, column)


def _broken_rules(document: Document, offset: int) -> Iterator[str]:
    """The text of the rules that diagnostics of a line quote."""
    line, column = document.place(offset)
    for problem in document.findings.problems:
        if problem.rule and problem.line == line and problem.column <= column:
            name = problem.message.partition(":")[0]
            text = rule_text(name, problem.rule)
            if text is not None:
                yield f"**{name}** {text}"


def _entity(document: Document, part: DocumentPart, entity: Entity) -> Iterator[str]:
    """The line that defines something, its type, and the type in words."""
    if entity.definition is not None:
        start, end = document.line_at(part.start + entity.definition.start)
        shown = document.text[start:end].strip()
        if len(shown) > _SHOWN_CHARACTERS:
            shown = f"{shown[:_SHOWN_CHARACTERS]} ..."
        yield f"```{'hlo' if document.is_hlo else 'mlir'}\n{shown}\n```"
    else:
        yield f"{entity.kind} `{entity.name}`"
    if entity.kind == "value" and (types := type_of(document, part, entity)):
        words = shape_text(types)
        yield f"`{types}`" + (f"\n\n{words}" if words else "")


def type_of(document: Document, part: DocumentPart, entity: Entity) -> str | None:
    """The type of a value, as the last check found it."""
    line, column = document.place(part.start + entity.place.start)
    types = document.findings.types
    # In HLO text the place of an instruction is that of its `%`, if it has one.
    return types.get((line, column)) or types.get((line, column - 1))


def _shape_at(document: Document, line: str, column: int) -> str | None:
    """The shape that a line has at a column, as HLO text spells it."""
    if document.is_hlo:
        shapes = (token for token in tokens(line) if token.kind == "shape")
        return next((each.text for each in shapes if each.start <= column < each.end), None)
    for match in _TENSOR.finditer(line, 0, column + len("tensor<")):
        try:
            with parser_of(line[match.start() :], context(), document.file_name) as parser:
                type_ = parser.parse_type()
                is_here = match.start() <= column < match.start() + parser.pos
        except XlaError:
            continue
        if is_here and isinstance(type_, TensorType):
            return spell_type(type_)
    return None


def _attribute_at(document: Document, offset: int, line: str, column: int) -> str | None:
    """What the contract of an operation says of the attribute at a column."""
    word = next((w for w in _PROPERTY.finditer(line) if w.start() <= column <= w.end()), None)
    part = document.part_at(offset)
    before = part.index.operation_before(offset - part.start)
    if word is None or before is None:
        return None
    operation = operation_class(before.name, is_hlo=document.is_hlo)
    text = "" if operation is None else docstring(operation)
    said = [
        " ".join(p.split()) for p in re.split(r"\n\s*\n|\n(?=\()", text) if f"`{word.group()}" in p
    ]
    return f"**{word.group()}** of `{before.name}`\n\n" + "\n\n".join(said) if said else None
