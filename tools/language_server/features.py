"""The answers to what the protocol asks, from the text and the last check of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from lsprotocol import types

from xla_dialect.diagnostics import XlaError as XlaError
from xla_dialect.hlo_text.syntax import Span
from xla_dialect.spelling import meant

from . import run_lines
from .completion import Suggestion, hlo_suggestions, mlir_suggestions
from .document import Document, DocumentPart
from .documentation import operation_text, pass_text
from .entities import SIGILS, Entity, Kind, Scope, TextIndex, members
from .formatting import formatted
from .hover import hover_text, type_of

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
}
_WORD = re.compile(r'[%@^#!]?[\w.$-]+|"[^"\n]*"?|\S')


def diagnostic(document: Document, problem: Mapping[str, Any]) -> types.Diagnostic:
    """A problem as the protocol has it."""
    start, end = _extent(document, problem)
    return types.Diagnostic(
        range=types.Range(position(document, start), position(document, end)),
        message=problem["message"],
        severity=_SEVERITIES[problem["severity"]],
        source="xla",
        code=problem["rule"] or None,
    )


def position(document: Document, offset: int) -> types.Position:
    """An offset as the protocol has it."""
    return types.Position(*document.place(offset))


def _extent(document: Document, problem: Mapping[str, Any]) -> tuple[int, int]:
    """What to underline: the name of the operation that a message begins with, or one word."""
    number = min(max(0, problem["line"] - 1), len(document.line_starts) - 1)
    start, line = document.line_starts[number], document.line(number)
    if not problem["column"]:
        return start, start + len(line)
    column = min(problem["column"] - 1, len(line))
    operation = problem["message"].partition(":")[0]
    named = line.find(operation, column) if "." in operation and " " not in operation else -1
    if named >= 0:
        return start + named, start + named + len(operation)
    word = _WORD.match(line, column)
    return start + column, start + (column + 1 if word is None else word.end())


_HLO_NAME = re.compile(r"[A-Za-z_][\w.]*(?:-(?!>)[\w.]*)*", re.ASCII)
_HLO_KEYWORDS = frozenset({"HloModule", "ENTRY", "ROOT"})
_MLIR_NAMES: dict[Kind, re.Pattern[str]] = {
    "value": re.compile(r"[0-9]+|[A-Za-z_$.-][\w$.-]*", re.ASCII),
    "block": re.compile(r"[0-9]+|[A-Za-z_$.-][\w$.-]*", re.ASCII),
    "symbol": re.compile(r"[A-Za-z_][\w$.]*", re.ASCII),
    "alias": re.compile(r"[A-Za-z_][\w$]*", re.ASCII),
}


class CannotRename(XlaError):
    """A name that cannot be changed, or not to this one."""


def entity_to_rename(index: TextIndex, offset: int) -> tuple[Entity, Span]:
    """What would be renamed at an offset; raises CannotRename."""
    found = index.entity_at(offset)
    if found is None:
        raise CannotRename("there is no name here")
    entity, span = found
    if entity.definition is None:
        raise CannotRename(f"'{entity.name}' is not defined in this program")
    return entity, span


def renamed(index: TextIndex, offset: int, name: str, *, is_hlo: bool) -> tuple[str, list[Span]]:
    """
    The new name as it is to be written, and every place to write it at.

    Raises CannotRename for a name that the format does not allow, and for one that something else
    has that is visible from where this is visible.
    """
    entity, _ = entity_to_rename(index, offset)
    bare = _checked(entity, name, is_hlo)
    for scope in index.scopes:
        other = scope.entities.get((entity.kind, bare))
        if other is None or other is entity:
            continue
        if _is_around(scope, entity.scope) or _is_around(entity.scope, scope):
            raise CannotRename(f"there is another {entity.kind} '{bare}'")
    return bare, entity.occurrences


def _checked(entity: Entity, name: str, is_hlo: bool) -> str:
    """The name without what is written in front of it; raises CannotRename for no name."""
    if is_hlo:
        bare = name.removeprefix("%")
        if _HLO_NAME.fullmatch(bare) is None or bare in _HLO_KEYWORDS:
            raise CannotRename(f"'{name}' is no name in HLO text")
        return bare
    if entity.kind == "alias":
        sigil, bare = entity.name[0], name.removeprefix(entity.name[0])
    else:
        sigil, bare = (
            "",
            name.removeprefix({"value": "%", "symbol": "@", "block": "^"}[entity.kind]),
        )
    if _MLIR_NAMES[entity.kind].fullmatch(bare) is None:
        raise CannotRename(f"'{name}' is no name of a {entity.kind} in MLIR")
    return sigil + bare


def _is_around(outer: Scope, inner: Scope) -> bool:
    return any(scope is outer for scope in inner.around())


_SYMBOL_KINDS: dict[Kind, types.SymbolKind] = {
    "module": types.SymbolKind.Module,
    "computation": types.SymbolKind.Function,
    "symbol": types.SymbolKind.Function,
    "block": types.SymbolKind.Key,
    "alias": types.SymbolKind.Constant,
    "value": types.SymbolKind.Variable,
}


class _Positioned(Protocol):
    """What all requests about a place of a text have."""

    @property
    def position(self) -> types.Position: ...


def _at(document: Document, place: _Positioned) -> tuple[int, DocumentPart]:
    offset = document.offset(place.position.line, place.position.character)
    return offset, document.part_at(offset)


def _entity_at(document: Document, place: _Positioned) -> tuple[Entity, DocumentPart] | None:
    offset, part = _at(document, place)
    found = part.index.entity_at(offset - part.start)
    return None if found is None else (found[0], part)


def _range(document: Document, part: DocumentPart, span: Span) -> types.Range:
    start, end = part.start + span.start, part.start + span.end
    return types.Range(position(document, start), position(document, end))


def hover(document: Document, params: types.HoverParams) -> types.Hover | None:
    """What is known of a place."""
    text = hover_text(document, _at(document, params)[0])
    if text is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def definition(document: Document, params: types.DefinitionParams) -> types.Location | None:
    """Where the name at a place is defined."""
    found = _entity_at(document, params)
    if found is None or found[0].definition is None:
        return None
    entity, part = found
    return types.Location(params.text_document.uri, _range(document, part, entity.place))


def references(document: Document, params: types.ReferenceParams) -> list[types.Location]:
    """Where else the name at a place stands."""
    found = _entity_at(document, params)
    if found is None:
        return []
    entity, part = found
    with_definition = params.context.include_declaration
    spans = [s for s in entity.occurrences if with_definition or s != entity.definition]
    uri = params.text_document.uri
    return [types.Location(uri, _range(document, part, span)) for span in spans]


def highlight(
    document: Document, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """Where the name at a place stands: written where it is defined, else read."""
    found = _entity_at(document, params)
    if found is None:
        return []
    entity, part = found
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    return [
        types.DocumentHighlight(
            _range(document, part, span), write if span == entity.definition else read
        )
        for span in entity.occurrences
    ]


def prepare_rename(document: Document, params: types.PrepareRenameParams) -> types.Range:
    """The name that would be changed; raises XlaError."""
    offset, part = _at(document, params)
    return _range(document, part, entity_to_rename(part.index, offset - part.start)[1])


def rename(document: Document, params: types.RenameParams) -> types.WorkspaceEdit:
    """The edits that give something another name; raises XlaError."""
    offset, part = _at(document, params)
    place = offset - part.start
    name, spans = renamed(part.index, place, params.new_name, is_hlo=document.is_hlo)
    edits = [types.TextEdit(_range(document, part, span), name) for span in spans]
    return types.WorkspaceEdit(changes={params.text_document.uri: edits})


def outline(document: Document, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """Functions and computations, with what they are made of."""
    return [
        symbol
        for part in document.parts
        for symbol in _symbols(document, part, members(part.index))
    ]


def _symbols(
    document: Document, part: DocumentPart, of_owner: dict[Entity | None, list[Entity]]
) -> list[types.DocumentSymbol]:
    def symbol(entity: Entity) -> types.DocumentSymbol:
        name = _range(document, part, entity.place)
        children = [symbol(each) for each in of_owner.get(entity, ())]
        whole = name if entity.statement is None else _range(document, part, entity.statement)
        ends = [(r.end.line, r.end.character) for r in (whole, name, *(c.range for c in children))]
        starts = [(r.start.line, r.start.character) for r in (whole, name)]
        sigil = "" if document.is_hlo else SIGILS.get(entity.kind, "")
        return types.DocumentSymbol(
            name=sigil + entity.name,
            detail=type_of(document.findings, document, part.start, entity) or entity.operation,
            kind=_SYMBOL_KINDS[entity.kind],
            range=types.Range(types.Position(*min(starts)), types.Position(*max(ends))),
            selection_range=name,
            children=children,
        )

    return [symbol(entity) for entity in of_owner.get(None, ())]


def formatting(document: Document, _: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """The text as it is printed; raises XlaError."""
    text = formatted(document.text, document.file_name, document.format)
    if text == document.text:
        return []
    end = position(document, len(document.text))
    return [types.TextEdit(types.Range(types.Position(0, 0), end), text)]


def completion(document: Document, params: types.CompletionParams) -> types.CompletionList:
    """What may stand at a place."""
    offset, _ = _at(document, params)
    line, found = _suggestions(document, offset)
    start = offset - len(line) + _word_start(line)
    word = types.Range(position(document, start), position(document, offset))
    return types.CompletionList(False, [_item(s, word, document) for s in _distinct(found)])


def _suggestions(document: Document, offset: int) -> tuple[str, Iterable[Suggestion]]:
    """The line up to an offset, and what may stand there."""
    part = document.part_at(offset)
    line = document.text[document.text.rfind("\n", 0, offset) + 1 : offset]
    found = run_lines.suggestions(line)
    if found is None and not line.lstrip().startswith("//"):
        complete = hlo_suggestions if document.is_hlo else mlir_suggestions
        found = complete(part.index, offset - part.start)
    return line, found or ()


_MISSPELLED = re.compile(r"[%@^#!]?[\w.$-]*[\w$]")


def code_actions(document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """For words where something is wrong, what could be completed there and is spelled alike."""
    actions: list[types.CodeAction] = []
    for problem in params.context.diagnostics:
        start = document.offset(problem.range.start.line, problem.range.start.character)
        word = _MISSPELLED.match(document.text, start)
        if word is None:
            continue
        # Names of operations are known from the dialect on, opcodes before they are there.
        places = (start, word.end()) if document.is_hlo else (word.end(), start)
        known = [each.label for place in places for each in _suggestions(document, place)[1]]
        found = meant(word[0], known)
        if found is None or found == word[0]:
            continue
        extent = types.Range(position(document, start), position(document, word.end()))
        edit = types.WorkspaceEdit({params.text_document.uri: [types.TextEdit(extent, found)]})
        title, kind = f"Change to '{found}'", types.CodeActionKind.QuickFix
        actions.append(types.CodeAction(title, kind, [problem], edit=edit, is_preferred=True))
    return actions


def _distinct(found: Iterable[Suggestion]) -> Iterable[Suggestion]:
    return {each.label: each for each in found}.values()


def _word_start(line: str) -> int:
    """Where the word that ends a line begins; `%` and its like belong to it."""
    start = len(line)
    while start and (line[start - 1].isalnum() or line[start - 1] in "_.-$"):
        start -= 1
    return start - (start > 0 and line[start - 1] in "%@^#!")


def _item(suggestion: Suggestion, word: types.Range, document: Document) -> types.CompletionItem:
    is_hlo = document.is_hlo
    snippet = suggestion.snippet if document.takes_snippets else ""
    formats = types.InsertTextFormat
    return types.CompletionItem(
        label=suggestion.label,
        kind=types.CompletionItemKind[suggestion.kind],
        detail=suggestion.detail or None,
        filter_text=suggestion.label,
        text_edit=types.TextEdit(word, snippet or suggestion.insert or suggestion.label),
        insert_text_format=formats.Snippet if snippet else formats.PlainText,
        data={"name": suggestion.documented, "is_hlo": is_hlo, "kind": suggestion.detail},
    )


def resolved(item: types.CompletionItem) -> types.CompletionItem:
    """A suggestion with what it is."""
    data: dict[str, Any] = item.data or {}
    text = None
    if data.get("name"):
        text = operation_text(data["name"], is_hlo=data["is_hlo"])
    elif data.get("kind") in ("pass", "pipeline"):
        text = pass_text(item.label)
    if text is not None:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
    return item
