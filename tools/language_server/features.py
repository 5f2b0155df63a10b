"""The answers to what the protocol asks, from the text and the last check of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from lsprotocol import types

from xla_dialect.diagnostics import XlaError as XlaError
from xla_dialect.hlo_text.syntax import Span
from xla_dialect.spelling import meant

from . import run_lines
from .checking import Findings, TextError
from .completion import hlo_completions, mlir_completions
from .document import Document, DocumentPart
from .documentation import operation_text, pass_text
from .entities import SIGILS, Entity, Kind
from .formatting import formatted
from .hover import hover_text, type_of

_WORD = re.compile(r'[%@^#!]?[\w.$-]+|"[^"\n]*"?|\S')


def not_checked(reason: str) -> Findings:
    """What is shown of a text that could not be checked."""
    return Findings([TextError(0, 0, reason)])


def diagnostics(document: Document) -> list[types.Diagnostic]:
    """What was found wrong with a text."""
    return [
        types.Diagnostic(
            range=document.range(*_extent(document, problem)),
            message=problem.message,
            severity=types.DiagnosticSeverity[problem.severity],
            source="xla",
            code=problem.rule,
        )
        for problem in document.findings.problems
    ]


def _extent(document: Document, problem: TextError) -> Span:
    """What to underline: the name of the operation that a message begins with, or one word."""
    number = min(max(0, problem.line - 1), len(document.line_starts) - 1)
    line = document.line_at(document.line_starts[number])
    if not problem.column:
        return line
    start = min(line.start + problem.column - 1, line.end)
    operation = problem.message.partition(":")[0]
    if "." in operation and " " not in operation:
        named = document.text.find(operation, start, line.end)
        if named >= 0:
            return Span(named, named + len(operation))
    word = _WORD.match(document.text, start, line.end)
    return Span(start, start + 1 if word is None else word.end())


_NAME = r"[0-9]+|[A-Za-z_$.-][\w$.-]*"
_HLO_NAME = r"(?!(?:HloModule|ENTRY|ROOT)\Z)[A-Za-z_][\w.]*(?:-(?!>)[\w.]*)*"
_MLIR_NAMES: dict[Kind, str] = {
    "value": _NAME,
    "block": _NAME,
    "symbol": r"[A-Za-z_][\w$.]*",
    "alias": r"[A-Za-z_][\w$]*",
}


def _checked_name(entity: Entity, name: str, is_hlo: bool) -> str:
    """A new name without what is written in front of it; raises XlaError for one that cannot be."""
    sigil = entity.name[0] if entity.kind == "alias" else SIGILS.get(entity.kind, "%")
    bare = name.removeprefix(sigil)
    allowed = _HLO_NAME if is_hlo else _MLIR_NAMES[entity.kind]
    if re.fullmatch(allowed, bare, re.ASCII) is None:
        where = "in HLO text" if is_hlo else f"of a {entity.kind} in MLIR"
        raise XlaError(f"'{name}' is no name {where}")
    return sigil + bare if entity.kind == "alias" else bare


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


def _at(document: Document, place: _Positioned) -> tuple[Entity, Span, DocumentPart] | None:
    """The entity that is named at a place, that name, and its program."""
    offset = document.offset(place.position)
    part = document.part_at(offset)
    found = part.index.entity_at(offset - part.start)
    return None if found is None else (*found, part)


def _range(document: Document, part: DocumentPart, span: Span) -> types.Range:
    return document.range(part.start + span.start, part.start + span.end)


def _occurrences(document: Document, place: _Positioned) -> list[tuple[types.Range, bool]]:
    """Where the name at a place stands, and whether it is defined there."""
    if (found := _at(document, place)) is None:
        return []
    entity, _, part = found
    return [(_range(document, part, s), s == entity.definition) for s in entity.occurrences]


def hover(document: Document, params: types.HoverParams) -> types.Hover | None:
    """What is known of a place."""
    text = hover_text(document, document.offset(params.position))
    if text is None:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def definition(document: Document, params: types.DefinitionParams) -> types.Location | None:
    """Where the name at a place is defined."""
    places = (place for place, defines in _occurrences(document, params) if defines)
    return next((types.Location(params.text_document.uri, place) for place in places), None)


def references(document: Document, params: types.ReferenceParams) -> list[types.Location]:
    """Where else the name at a place stands."""
    with_definition = params.context.include_declaration
    return [
        types.Location(params.text_document.uri, place)
        for place, defines in _occurrences(document, params)
        if with_definition or not defines
    ]


def highlight(
    document: Document, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    """Where the name at a place stands: written where it is defined, else read."""
    write, read = types.DocumentHighlightKind.Write, types.DocumentHighlightKind.Read
    return [
        types.DocumentHighlight(place, write if defines else read)
        for place, defines in _occurrences(document, params)
    ]


def _to_rename(document: Document, place: _Positioned) -> tuple[Entity, Span, DocumentPart]:
    """What would be renamed at a place; raises XlaError."""
    found = _at(document, place)
    if found is None:
        raise XlaError("there is no name here")
    if found[0].definition is None:
        raise XlaError(f"'{found[0].name}' is not defined in this program")
    return found


def prepare_rename(document: Document, params: types.PrepareRenameParams) -> types.Range:
    """The name that would be changed; raises XlaError."""
    _, span, part = _to_rename(document, params)
    return _range(document, part, span)


def rename(document: Document, params: types.RenameParams) -> types.WorkspaceEdit:
    """
    The edits that give something another name.

    Raises XlaError for a name that the format does not allow, and for one that something else has
    that is visible from where this is visible.
    """
    entity, _, part = _to_rename(document, params)
    name = _checked_name(entity, params.new_name, document.is_hlo)
    for scope in part.index.scopes:
        other = scope.entities.get((entity.kind, name), entity)
        is_seen = scope in entity.scope.around() or entity.scope in scope.around()
        if other is not entity and is_seen:
            raise XlaError(f"there is another {entity.kind} '{name}'")
    edits = [types.TextEdit(place, name) for place, _ in _occurrences(document, params)]
    return types.WorkspaceEdit(changes={params.text_document.uri: edits})


def outline(document: Document, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """Functions and computations, with what they are made of."""
    return [symbol for part in document.parts for symbol in _symbols(document, part, None)]


def _symbols(
    document: Document, part: DocumentPart, owner: Entity | None
) -> list[types.DocumentSymbol]:
    """What is defined in a function or computation, or outside of any, in the order of the text."""
    defined = [e for e in part.index.entities if e.owner is owner and e.definition is not None]
    found: list[types.DocumentSymbol] = []
    for entity in sorted(defined, key=lambda entity: entity.place):
        place = part.start + entity.place.start
        line_end = document.line_at(place).end
        end = line_end if entity.body is None else max(line_end, part.start + entity.body.end)
        sigil = "" if document.is_hlo else SIGILS.get(entity.kind, "")
        symbol = types.DocumentSymbol(
            name=sigil + entity.name,
            detail=type_of(document, part, entity) or entity.operation,
            kind=_SYMBOL_KINDS[entity.kind],
            range=document.range(place, end),
            selection_range=_range(document, part, entity.place),
            children=[] if entity.body is None else _symbols(document, part, entity),
        )
        found.append(symbol)
    return found


def formatting(document: Document, _: types.DocumentFormattingParams) -> list[types.TextEdit]:
    """The text as it is printed; raises XlaError."""
    text = formatted(document.text, document.file_name, document.format)
    if text == document.text:
        return []
    return [types.TextEdit(document.range(0, len(document.text)), text)]


_LAST_WORD = re.compile(r"[%@^#!]?[\w.$-]*\Z")


def completion(document: Document, params: types.CompletionParams) -> types.CompletionList:
    """What may stand at a place."""
    offset = document.offset(params.position)
    line, found = _completions(document, offset)
    typed = _LAST_WORD.search(line)
    word = document.range(offset - len(line) + typed.start() if typed else offset, offset)
    snippet, plain = types.InsertTextFormat.Snippet, types.InsertTextFormat.PlainText
    items = {item.label: item for item in found}
    for item in items.values():
        if item.insert_text_format is snippet and not document.takes_snippets:
            item.insert_text_format, item.insert_text = plain, item.label.removesuffix("...}")
        item.text_edit = types.TextEdit(word, item.insert_text or item.label)
        item.filter_text, item.insert_text = item.label, None
    return types.CompletionList(False, [*items.values()])


def _completions(document: Document, offset: int) -> tuple[str, Iterable[types.CompletionItem]]:
    """The line up to an offset, and what may stand there."""
    part = document.part_at(offset)
    line = document.text[document.line_at(offset).start : offset]
    found = run_lines.completions(line)
    if found is None and not line.lstrip().startswith("//"):
        complete = hlo_completions if document.is_hlo else mlir_completions
        found = complete(part.index, offset - part.start)
    return line, found or ()


_MISSPELLED = re.compile(r"[%@^#!]?[\w.$-]*[\w$]")


def code_actions(document: Document, params: types.CodeActionParams) -> list[types.CodeAction]:
    """For words where something is wrong, what could be completed there and is spelled alike."""
    actions: list[types.CodeAction] = []
    for problem in params.context.diagnostics:
        word = _MISSPELLED.match(document.text, document.offset(problem.range.start))
        if word is None:
            continue
        # Names of operations are known from the dialect on, opcodes before they are there.
        places = word.span() if document.is_hlo else word.span()[::-1]
        known = [each.label for place in places for each in _completions(document, place)[1]]
        found = meant(word[0], known)
        if found is None or found == word[0]:
            continue
        edits = [types.TextEdit(document.range(*word.span()), found)]
        edit = types.WorkspaceEdit({params.text_document.uri: edits})
        title, kind = f"Change to '{found}'", types.CodeActionKind.QuickFix
        actions.append(types.CodeAction(title, kind, [problem], edit=edit, is_preferred=True))
    return actions


def resolved(item: types.CompletionItem) -> types.CompletionItem:
    """A suggestion with what it is."""
    match item.data:
        case {"operation": name, "is_hlo": is_hlo}:
            text = operation_text(name, is_hlo=is_hlo)
        case {"pass": name}:
            text = pass_text(name)
        case _:
            text = None
    if text is not None:
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
    return item
