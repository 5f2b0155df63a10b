"""What may be typed at a place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest

from lsprotocol import types
from lsprotocol.types import CompletionItemKind as Shown
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef

from lowerings.universe import toolkit_universe
from xla_dialect.hlo_text.attributes import (
    COMMON_ATTRIBUTES,
    COMPUTATION_ATTRIBUTES,
    MODULE_ATTRIBUTES,
)
from xla_dialect.hlo_text.opcodes import OPCODES, Opcode
from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS, ONE_COMPUTATION
from xla_dialect.op import XlaOp
from xla_dialect.text.lexer import Token, tokens
from xla_dialect.types import BY_NAME

from .documentation import context, opcode_of, operation_class
from .entities import SIGILS, Kind, TextIndex

Completions = Iterable[types.CompletionItem]


def item(
    label: str,
    kind: Shown,
    detail: str = "",
    *,
    insert: str | None = None,
    snippet: str = "",
    data: Mapping[str, object] | None = None,
) -> types.CompletionItem:
    """
    A word that may stand at a place.

    `insert`: what is inserted, where that is not the label; `snippet`: the same with placeholders,
    `${1:name}`; `data`: what `features.resolved` documents.
    """
    form = types.InsertTextFormat.Snippet if snippet else types.InsertTextFormat.PlainText
    return types.CompletionItem(
        label,
        kind=kind,
        detail=detail or None,
        insert_text=snippet or insert,
        insert_text_format=form,
        data=data,
    )


def words(names: Iterable[str], kind: Shown, detail: str = "", after: str = "") -> Completions:
    """Words of one kind, and what is inserted after each."""
    return [item(name, kind, detail, insert=name + after) for name in names]


def _placeholders(names: Iterable[str]) -> list[str]:
    return [f"${{{number}:{name}}}" for number, name in enumerate(names, 1)]


def _of_opcode(name: str, row: Opcode) -> types.CompletionItem:
    """An instruction of HLO, with the attributes that it needs, as a snippet."""
    operands = [f"%{each}" for each, _ in row.operation.get_irdl_definition().operands]
    computations = row.computations[0] if row.computations else ()
    attributes = [*(each for each in row.order if each in row.required), *computations]
    holes = _placeholders([*operands, *attributes])
    call = f"{name}({', '.join(holes[: len(operands)])})"
    snippet = ", ".join([call, *map("{}={}".format, attributes, holes[len(operands) :])])
    data = {"operation": name, "is_hlo": True}
    return item(name, Shown.Function, row.operation.name, snippet=snippet, data=data)


def _of_operation(operation: type[Operation]) -> types.CompletionItem:
    """An operation; one of the `xla` dialect without bodies is a snippet."""
    snippet, name = "", operation.name
    definition = operation.get_irdl_definition() if issubclass(operation, XlaOp) else None
    if definition is not None and not definition.regions:
        operands = [f"%{each}" for each, _ in definition.operands]
        properties = definition.properties.items()
        attributes = [n for n, each in properties if not isinstance(each, OptPropertyDef)]
        holes = _placeholders([*operands, *attributes, "type"])
        given = ", ".join(map("{} = {}".format, attributes, holes[len(operands) :]))
        parts = [", ".join(holes[: len(operands)]), f"{{{given}}}" if given else "", ":", holes[-1]]
        snippet = " ".join([name, *filter(None, parts)])
    data = {"operation": name, "is_hlo": False}
    return item(name, Shown.Function, snippet=snippet, data=data)


_START = re.compile(
    r"^[ \t]*(?:ROOT[ \t]+)?%?[\w.\-]+[ \t]*=(?!=)|^HloModule\b|^[^\n]*\}", re.MULTILINE
)
"""Where what is being typed began: an instruction, a module's head, a computation's end."""
_ATTRIBUTE = re.compile(r"([\w-]+)=(\{?[^={}()]*)$")
_LONGEST_STATEMENT = 1 << 14
"""Characters before an offset that are looked at."""


def hlo_completions(index: TextIndex, offset: int) -> Completions:
    """What may stand at an offset of HLO text, whatever part of it is typed already."""
    text = index.text[max(0, offset - _LONGEST_STATEMENT) : offset]
    starts = list(_START.finditer(text))
    statement = text[starts[-1].start() :] if starts else text
    attribute = _ATTRIBUTE.search(statement)
    line = text[text.rfind("\n") + 1 :]
    if statement.startswith("HloModule"):
        return words(MODULE_ATTRIBUTES, Shown.Property, after="=")
    if attribute is not None and attribute[1] in ONE_COMPUTATION | COMPUTATION_LISTS:
        return _names(index, "computation", offset)
    if starts and starts[-1].group().rstrip().endswith("="):
        typed = statement[starts[-1].end() - starts[-1].start() :]
        return _in_instruction(index, offset, typed)
    if line.strip().startswith("}"):
        return words(COMPUTATION_ATTRIBUTES, Shown.Property, after="=")
    return words(("HloModule", "ENTRY", "ROOT"), Shown.Keyword)


def _names(index: TextIndex, kind: Kind, offset: int, sigil: str = "") -> Completions:
    shown = Shown.Function if kind in ("computation", "symbol") else Shown.Variable
    return [item(sigil + e.name, shown, e.operation) for e in index.visible(kind, offset)]


def _in_instruction(index: TextIndex, offset: int, typed: str) -> Completions:
    """Of what follows the `=` of an instruction."""
    found = [token for token in tokens(typed) if token.kind != "end"]
    opcode, depth, is_value = _opcode(found)
    if depth > 0:
        return [] if is_value else _names(index, "value", offset)
    if opcode is None:
        has_shape = any(token.kind == "shape" for token in found)
        data = {"operation": "parameter", "is_hlo": True}
        return [
            *words(() if has_shape else BY_NAME, Shown.Class, after="["),
            *(_of_opcode(name, row) for name, row in OPCODES.items()),
            item("parameter", Shown.Function, "an argument", data=data),
        ]
    if (word := re.search(r"([\w-]+)=[\w-]*$", typed)) is not None:
        return words(_words_of(opcode, word[1]), Shown.Value)
    given = {token.text[:-1] for token in found if token.kind == "attribute"}
    computations = (name for names in opcode.computations for name in names)
    return [
        item(name, Shown.Property, "required" if name in opcode.required else "", insert=f"{name}=")
        for name in (*opcode.order, *computations, *COMMON_ATTRIBUTES)
        if name not in given
    ]


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


def _words_of(opcode: Opcode, attribute: str) -> list[str]:
    """The words that an attribute can have as value."""
    spelling = opcode.spellings.get(attribute)
    enums = opcode.operation.contract().enums
    names = () if spelling is None else spelling.properties
    return [case.value for name in names if name in enums for case in enums[name].enum_type]


_KINDS: dict[str, Kind] = {"%": "value", "@": "symbol", "^": "block", "#": "alias", "!": "alias"}
_NAME = re.compile(r"([%@^#!])[\w$.-]*$")
_OPERATION = re.compile(r"(?:^|[={}:])[ \t]*\"?([A-Za-z_][\w$]*(?:\.[\w$.]*)?)?$", re.MULTILINE)
_NAMES_OF_OPERATIONS = re.compile(r"[A-Za-z_]\w*\.[\w.]+")
_IN_BRACES = re.compile(r"\{(?P<given>[^{}]*)$")
_WORD_VALUE = re.compile(r"(\w+) = \"?[\w-]*$")


def mlir_completions(index: TextIndex, offset: int) -> Completions:
    """What may stand at an offset of MLIR text, whatever part of it is typed already."""
    text = index.text[max(0, offset - _LONGEST_STATEMENT) : offset]
    line = text[text.rfind("\n") + 1 :]
    name = _NAME.search(line)
    if name is not None:
        kind = _KINDS[name[1]]
        found = _names(index, kind, offset, SIGILS[kind])
        return [each for each in found if each.label.startswith(name[1])]
    operation = _NAMES_OF_OPERATIONS.search(line)
    braces = _IN_BRACES.search(line)
    if operation is not None and braces is not None:
        return _attributes(operation.group(), braces["given"])
    typed = _OPERATION.search(line)
    return _operations(typed[1] or "") if typed is not None else []


def _operations(typed: str) -> Completions:
    """The operations of a dialect, or where none is named, the dialects."""
    dialects = toolkit_universe().all_dialects
    dialect, dot, _ = typed.partition(".")
    if not dot:
        return words(sorted(dialects), Shown.Module, "dialect")
    operations = context().get_dialect(dialect).operations if dialect in dialects else ()
    return [_of_operation(operation) for operation in operations]


def _attributes(name: str, given: str) -> Completions:
    """The attributes of an operation that are not given yet, or the words that one may have."""
    operation = operation_class(name, is_hlo=False)
    if operation is None or not issubclass(operation, IRDLOperation):
        return []
    word = _WORD_VALUE.search(given)
    if word is not None:
        enums = operation.contract().enums if issubclass(operation, XlaOp) else {}
        cases = enums[word[1]].enum_type if word[1] in enums else ()
        return words((case.value for case in cases), Shown.Value)
    properties = operation.get_irdl_definition().properties
    left = (each for each in properties if not re.search(rf"\b{each}\s*=", given))
    return words(left, Shown.Property, after=" = ")
