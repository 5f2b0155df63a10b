"""The names in MLIR text: values, functions and other symbols, blocks, aliases, and their uses.

Which name is a definition follows from where it stands: before the `=` of an operation, in the head
of a block or of an operation with regions. The syntax of single operations is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xla_dialect.hlo_text.syntax import Span

from .entities import Entity, Kind, Scope, TextIndex

_TOKEN = re.compile(
    r"""
      (?P<comment>//[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*"?)
    | %(?P<value>[\w$.-]*)
    | @(?P<symbol>[\w$.-]+|"(?:[^"\\\n]|\\.)*")
    | \^(?P<block>[\w$.-]+)
    | (?P<alias>[#!][A-Za-z_][\w$]*)(?![\w$.])
    | (?P<foreign>[#!][A-Za-z_][\w$.-]*)
    | (?P<word>[A-Za-z_][\w$.]*)
    | (?P<number>[0-9][\w.+-]*)
    | (?P<arrow>->)
    | (?P<open>[({\[])
    | (?P<close>[)}\]])
    | (?P<other>[^\s])
    """,
    re.VERBOSE,
)
_RESULTS = re.compile(r"%[\w$.-]+(?::\d+)?\s*(?:,\s*%[\w$.-]+(?::\d+)?\s*)*=(?!=)")
_BLANK = re.compile(r"[ \t]*")
_DEFINES_SYMBOL = frozenset(
    {
        "func",
        "global",
        "mesh",
        "module",
        "named_sequence",
        "sequence",
        "private",
        "public",
        "nested",
    }
)
"""The words that a symbol follows where it is defined: last words of names of operations, and
visibilities."""
_IN_DICTIONARY = re.compile(r"\s*(?:=|,|\}[ \t]*\S)")
"""What follows the name of an attribute, and not that of an operation."""
_SYMBOL_NAME = re.compile(r"\bsym_name\s*=\s*$")


@dataclass(eq=False)
class _Block:
    """What is between two brackets, or the whole text; of braces the scope."""

    bracket: str
    scope: Scope
    head: Scope | None = None
    """What the head of the current operation defines: visible in its regions."""
    owner: Entity | None = None
    statement: list[Entity] | None = None
    """The results of the current operation."""


def index_mlir(text: str) -> TextIndex:
    """The index of MLIR text, or of what somebody has typed of it so far."""
    return _Reader(text).index()


class _Reader:
    def __init__(self, text: str):
        self.text = text
        self.result = TextIndex(text)
        self.module = self.result.open_scope(0, None, isolated=False)
        self.stack = [_Block("{", self.module)]
        self.previous: re.Match[str] | None = None
        self.results_end = 0
        """Up to where names are the results of an operation."""
        self.pending_symbol: Entity | None = None

    def index(self) -> TextIndex:
        for token in _TOKEN.finditer(self.text):
            if token.lastgroup == "comment":
                continue
            read = getattr(self, f"read_{token.lastgroup}", None)
            if read is not None:
                read(token)
            self.previous = token
        self.module.end = len(self.text)
        self.end_statement(len(self.text))
        return self.result.finish()

    @property
    def block(self) -> _Block:
        return self.stack[-1]

    def define(self, kind: Kind, name: str, scope: Scope, span: Span) -> Entity:
        return self.result.name(kind, name, scope, span, defines=scope)

    # Statements

    def is_line_start(self, token: re.Match[str]) -> bool:
        before = self.text.rfind("\n", 0, token.start()) + 1
        blank = _BLANK.match(self.text, before)
        if blank is not None and blank.end() == token.start():
            return True
        return self.previous is not None and self.previous.group() in ("{", "}", ":")

    def begin_statement(self, start: int) -> None:
        self.end_statement(start)
        self.block.statement = []
        self.block.head = None

    def end_statement(self, end: int) -> None:
        for entity in self.block.statement or ():
            if entity.statement is not None:
                text = self.text[entity.statement.start : end].rstrip()
                entity.statement = Span(entity.statement.start, entity.statement.start + len(text))
        self.block.statement = None

    def head(self) -> Scope:
        """The scope of what the current operation defines for its regions."""
        holder = next(each for each in reversed(self.stack) if each.bracket == "{")
        if holder.head is None:
            start = 0 if self.previous is None else self.previous.start()
            holder.head = self.result.open_scope(start, holder.scope, isolated=False)
        return holder.head

    # Tokens

    def read_word(self, token: re.Match[str]) -> None:
        name = token.group()
        is_result = self.is_behind_results()
        if not (is_result or self.starts_statement(token)):
            return
        is_name = "." in name or name in ("module", "call", "return", "func") or is_result
        if not is_name or _IN_DICTIONARY.match(self.text, token.end()):
            return
        if not is_result:
            self.begin_statement(token.start())
        self.name_operation(name, token.start(), token.end())

    def read_string(self, token: re.Match[str]) -> None:
        name = token.group().strip('"')
        before = self.text[max(0, token.start() - 40) : token.start()]
        if _SYMBOL_NAME.search(before):
            span = Span(token.start() + 1, token.start() + 1 + len(name))
            self.define_symbol(name, span)
            return
        is_result = self.is_behind_results()
        starts = self.starts_statement(token)
        if self.text[token.end() : token.end() + 1] == "(" and (starts or is_result):
            if not is_result:
                self.begin_statement(token.start())
            self.name_operation(name, token.start() + 1, token.end() - 1)

    def starts_statement(self, token: re.Match[str]) -> bool:
        return self.block.bracket == "{" and self.is_line_start(token)

    def is_behind_results(self) -> bool:
        """Whether the name of the operation comes next that defines results."""
        before = self.previous
        return before is not None and before.group() == "=" and self.results_end >= before.start()

    def name_operation(self, name: str, start: int, end: int) -> None:
        self.result.operation(name, start, end)
        for entity in self.block.statement or ():
            entity.operation = entity.operation or name
        if name.endswith(".func") or name == "func":
            self.block.head = self.result.open_scope(start, self.block.scope, isolated=True)

    def read_value(self, token: re.Match[str]) -> None:
        name, span = token.group("value"), Span(*token.span("value"))
        if not name:
            return
        if token.start() < self.results_end:
            self.define_result(name, span)
            return
        results = None
        if self.starts_statement(token):
            results = _RESULTS.match(self.text, token.start())
        if results is not None:
            self.begin_statement(token.start())
            self.results_end = results.end()
            self.define_result(name, span)
            return
        scope = (
            (self.block.head or self.block.scope) if self.block.bracket == "{" else self.around()
        )
        after = self.text[token.end() : token.end() + 40].lstrip()
        if self.in_block_head(token):
            entity = self.define("value", name, self.region().scope, span)
            entity.owner = self.region().owner
        elif self.introduces(token, after, scope, name):
            entity = self.define("value", name, self.head(), span)
            entity.owner = self.pending_symbol or self.region().owner
        else:
            self.result.name("value", name, scope, span)
            return
        line_end = self.text.find("\n", span.end)
        entity.statement = entity.statement or Span(
            self.text.rfind("\n", 0, span.start) + 1, len(self.text) if line_end < 0 else line_end
        )

    def define_result(self, name: str, span: Span) -> None:
        entity = self.define("value", name, self.block.scope, span)
        entity.owner = self.block.owner
        entity.statement = entity.statement or Span(span.start - 1, span.end)
        if self.block.statement is not None:
            self.block.statement.append(entity)

    def introduces(self, token: re.Match[str], after: str, scope: Scope, name: str) -> bool:
        """Whether the head of an operation defines the value: `%i = `, `%x: type` in a function."""
        if after.startswith("=") and not after.startswith("=="):
            return True
        before = "" if self.previous is None else self.previous.group()
        if before not in ("(", ",") and not before.endswith(".for"):
            return False
        return after.startswith(":") and scope.find("value", name) is None

    def in_block_head(self, token: re.Match[str]) -> bool:
        """Whether a value stands in `^block(%value: type)`."""
        line = self.text[self.text.rfind("\n", 0, token.start()) + 1 : token.start()]
        stripped = line.lstrip()
        is_label = stripped.startswith("^") or "{ ^" in line or "{^" in line
        return is_label and self.block.bracket == "(" and "):" not in stripped

    def region(self) -> _Block:
        return next(each for each in reversed(self.stack) if each.bracket == "{")

    def around(self) -> Scope:
        region = self.region()
        return region.head or region.scope

    def read_symbol(self, token: re.Match[str]) -> None:
        name, span = token.group("symbol"), Span(*token.span("symbol"))
        if name.startswith('"'):
            name, span = name[1:-1], Span(span.start + 1, span.end - 1)
        before = "" if self.previous is None else self.previous.group()
        if before.rpartition(".")[2] in _DEFINES_SYMBOL:
            self.define_symbol(name, span)
        else:
            self.result.name("symbol", name, self.module, span)

    def define_symbol(self, name: str, span: Span) -> None:
        entity = self.define("symbol", name, self.module, span)
        operations = self.result.operations
        if operations:
            entity.operation = operations[-1].name
            entity.statement = Span(operations[-1].span.start, span.end)
        entity.owner = self.region().owner
        region = self.region()
        if region.statement is not None:
            region.statement.append(entity)
        self.pending_symbol = entity

    def read_block(self, token: re.Match[str]) -> None:
        span = Span(*token.span("block"))
        defines = self.starts_statement(token)
        if defines:
            self.begin_statement(token.start())
            # Values of a region with several blocks are visible in all of them.
            self.block.head = None
        scope = self.region().scope
        name = token.group("block")
        entity = self.result.name("block", name, scope, span, defines=scope if defines else None)
        if defines:
            entity.owner = self.block.owner

    def read_alias(self, token: re.Match[str]) -> None:
        span = Span(*token.span("alias"))
        after = self.text[token.end() : token.end() + 10].lstrip()
        defines = len(self.stack) == 1 and self.is_line_start(token) and after.startswith("=")
        scope = self.module if defines else None
        self.result.name("alias", token.group("alias"), self.module, span, defines=scope)

    def read_open(self, token: re.Match[str]) -> None:
        bracket = token.group()
        region = self.region()
        if bracket == "{":
            scope = self.result.open_scope(token.start(), self.around(), isolated=False)
            owner = self.pending_symbol if self.opens_symbol() else region.owner
            self.stack.append(_Block("{", scope, owner=owner or region.owner))
        else:
            self.stack.append(_Block(bracket, region.scope, region.head, region.owner))

    def opens_symbol(self) -> bool:
        """Whether the current operation is one with a symbol."""
        symbol = self.pending_symbol
        region = self.region()
        return symbol is not None and symbol in (region.statement or ())

    def read_close(self, token: re.Match[str]) -> None:
        opening = {")": "(", "]": "[", "}": "{"}[token.group()]
        brackets = [each.bracket for each in self.stack[1:]]
        if opening not in brackets:
            return
        # A bracket that was not closed ends with the one around it, but no region ends with `)`.
        if opening != "{" and "{" in brackets[len(brackets) - brackets[::-1].index(opening) :]:
            return
        while len(self.stack) > 1:
            if self.block.bracket == "{":
                self.end_statement(token.start())
                self.block.scope.end = token.start()
            closed = self.stack.pop()
            if closed.bracket == opening:
                return
