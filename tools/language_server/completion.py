"""What may be typed at a place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

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


@dataclass(frozen=True)
class Suggestion:
    """A word that may stand at a place."""

    label: str
    kind: str
    """The name of a kind of the protocol: `Variable`, `Function`, `Keyword`, ..."""
    detail: str = ""
    insert: str = ""
    """What is inserted, where that is not the label."""
    documented: str = ""
    """The operation whose contract is shown beside it."""
    snippet: str = ""
    """What is inserted where the editor takes placeholders, `${1:name}`, and goes through them."""


def _placeholders(words: Iterable[str]) -> list[str]:
    return [f"${{{number}:{word}}}" for number, word in enumerate(words, 1)]


def _of_opcode(name: str, row: Opcode) -> str:
    """An instruction of HLO, with the attributes that it needs, as a snippet."""
    operands = [f"%{each}" for each, _ in row.operation.get_irdl_definition().operands]
    computations = row.computations[0] if row.computations else ()
    attributes = [*(each for each in row.order if each in row.required), *computations]
    holes = _placeholders([*operands, *attributes])
    call = f"{name}({', '.join(holes[: len(operands)])})"
    return ", ".join([call, *map("{}={}".format, attributes, holes[len(operands) :])])


def _of_operation(operation: type[Operation]) -> str:
    """An operation of the `xla` dialect as a snippet; nothing for those with bodies, and others."""
    if not issubclass(operation, XlaOp) or (definition := operation.get_irdl_definition()).regions:
        return ""
    operands = [f"%{each}" for each, _ in definition.operands]
    attributes = [
        name for name, each in definition.properties.items() if not isinstance(each, OptPropertyDef)
    ]
    holes = _placeholders([*operands, *attributes, "type"])
    given = ", ".join(map("{} = {}".format, attributes, holes[len(operands) :]))
    words = [", ".join(holes[: len(operands)]), f"{{{given}}}" if given else "", ":", holes[-1]]
    return " ".join([operation.name, *filter(None, words)])


_START = re.compile(
    r"^[ \t]*(?:ROOT[ \t]+)?%?[\w.\-]+[ \t]*=(?!=)|^HloModule\b|^[^\n]*\}", re.MULTILINE
)
"""Where what is being typed began: an instruction, a module's head, a computation's end."""
_ATTRIBUTE = re.compile(r"([\w-]+)=(\{?[^={}()]*)$")
_LONGEST_STATEMENT = 1 << 14
"""Characters before an offset that are looked at."""


def hlo_suggestions(index: TextIndex, offset: int) -> list[Suggestion]:
    """What may stand at an offset of HLO text, whatever part of it is typed already."""
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
            Suggestion(
                name,
                "Function",
                row.operation.name,
                documented=name,
                snippet=_of_opcode(name, row),
            )
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


_KINDS: dict[str, Kind] = {"%": "value", "@": "symbol", "^": "block", "#": "alias", "!": "alias"}
_NAME = re.compile(r"([%@^#!])[\w$.-]*$")
_OPERATION = re.compile(r"(?:^|[={}:])[ \t]*\"?([A-Za-z_][\w$]*(?:\.[\w$.]*)?)?$", re.MULTILINE)
_NAMES_OF_OPERATIONS = re.compile(r"[A-Za-z_]\w*\.[\w.]+")
_IN_BRACES = re.compile(r"\{(?P<given>[^{}]*)$")
_WORD_VALUE = re.compile(r"(\w+) = \"?[\w-]*$")


def mlir_suggestions(index: TextIndex, offset: int) -> list[Suggestion]:
    """What may stand at an offset of MLIR text, whatever part of it is typed already."""
    text = index.text[max(0, offset - _LONGEST_STATEMENT) : offset]
    line = text[text.rfind("\n") + 1 :]
    name = _NAME.search(line)
    if name is not None:
        kind = _KINDS[name[1]]
        return [
            Suggestion(
                SIGILS[kind] + entity.name,
                "Function" if kind == "symbol" else "Variable",
                entity.operation,
            )
            for entity in index.visible(kind, offset)
            if kind != "alias" or entity.name.startswith(name[1])
        ]
    operation = _NAMES_OF_OPERATIONS.search(line)
    braces = _IN_BRACES.search(line)
    if operation is not None and braces is not None:
        return list(_attributes(operation.group(), braces["given"]))
    found = _OPERATION.search(line)
    return list(_operations(found[1] or "")) if found is not None else []


def _operations(typed: str) -> Iterable[Suggestion]:
    """The operations of a dialect, or where none is named, the dialects."""
    dialects = toolkit_universe().all_dialects
    dialect, dot, _ = typed.partition(".")
    if not dot:
        yield from (Suggestion(name, "Module", "dialect") for name in sorted(dialects))
    elif dialect in dialects:
        for operation in context().get_dialect(dialect).operations:
            name, snippet = operation.name, _of_operation(operation)
            yield Suggestion(name, "Function", documented=name, snippet=snippet)


def _attributes(name: str, given: str) -> Iterable[Suggestion]:
    """The attributes of an operation that are not given yet, or the words that one may have."""
    operation = operation_class(name, is_hlo=False)
    if operation is None or not issubclass(operation, IRDLOperation):
        return
    word = _WORD_VALUE.search(given)
    if word is not None:
        enums = operation.contract().enums if issubclass(operation, XlaOp) else {}
        if word[1] in enums:
            yield from (Suggestion(case.value, "Value") for case in enums[word[1]].enum_type)
        return
    for attribute in operation.get_irdl_definition().properties:
        if not re.search(rf"\b{attribute}\s*=", given):
            yield Suggestion(attribute, "Property", insert=f"{attribute} = ")
