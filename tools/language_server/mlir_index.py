"""The names in MLIR text: values, functions and other symbols, blocks, aliases, and their uses.

Which name is a definition follows from where it stands: before the `=` of an operation, in the head
of a block or of an operation with regions. The syntax of single operations is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xla_dialect.hlo_text.syntax import Span

from .entities import Entity, Scope, TextIndex

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
_AFTER = re.compile(r"\s*(=(?!=)|:)")
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
class _Frame:
    """What is between two brackets, or the whole text."""

    bracket: str
    scope: Scope
    head: Scope | None = None
    """What the head of the current operation defines: visible in its regions."""
    symbol: Entity | None = None
    """The symbol that the current operation defines."""


def index_mlir(text: str) -> TextIndex:
    """The index of MLIR text, or of what somebody has typed of it so far."""
    return _Reader(text).index()


class _Reader:
    def __init__(self, text: str):
        self.text = text
        self.result = TextIndex(text)
        self.module = self.result.open_scope(0, None, isolated=False)
        self.frames = [_Frame("{", self.module)]
        self.before = ""
        """The token before."""
        self.results: list[Entity] = []
        """What the operation that is named next defines."""
        self.results_end = 0
        """Up to where names are such results."""

    def index(self) -> TextIndex:
        for token in _TOKEN.finditer(self.text):
            read = getattr(self, f"read_{token.lastgroup}", None)
            if read is not None:
                read(token)
            if token.lastgroup != "comment":
                self.before = token.group()
        return self.result.finish()

    @property
    def region(self) -> _Frame:
        """The innermost braces."""
        return next(each for each in reversed(self.frames) if each.bracket == "{")

    def starts_statement(self, token: re.Match[str]) -> bool:
        line = self.text[self.text.rfind("\n", 0, token.start()) + 1 : token.start()]
        is_first = not line.strip() or self.before in ("{", "}", ":")
        return is_first and self.frames[-1].bracket == "{"

    def begin_statement(self) -> None:
        self.region.head = self.region.symbol = None
        self.results = []

    def read_word(self, token: re.Match[str]) -> None:
        name = token.group()
        is_name = "." in name or name in ("module", "call", "return", "func")
        if not _IN_DICTIONARY.match(self.text, token.end()):
            self.read_operation(name, Span(*token.span()), token, is_name)

    def read_string(self, token: re.Match[str]) -> None:
        name = token.group().strip('"')
        span = Span(token.start() + 1, token.start() + 1 + len(name))
        if _SYMBOL_NAME.search(self.text[max(0, token.start() - 40) : token.start()]):
            self.define_symbol(name, span)
        elif self.text[token.end() : token.end() + 1] == "(":
            self.read_operation(name, span, token, True)

    def read_operation(self, name: str, span: Span, token: re.Match[str], is_name: bool) -> None:
        """Takes a word for an operation behind results; at the start of a line if it is a name."""
        is_behind_results = self.before == "=" and bool(self.results)
        if not is_behind_results:
            if not (is_name and self.starts_statement(token)):
                return
            self.begin_statement()
        self.result.operation(name, *span)
        for entity in self.results:
            entity.operation = name
        self.results = []
        if name.rpartition(".")[2] == "func":
            region = self.region
            region.head = self.open_scope(span.start, isolated=True)

    def read_value(self, token: re.Match[str]) -> None:
        name, span = token.group("value"), Span(*token.span("value"))
        if not name:
            return
        region = self.region
        if token.start() >= self.results_end and self.starts_statement(token):
            results = _RESULTS.match(self.text, token.start())
            if results is not None:
                self.begin_statement()
                self.results_end = results.end()
        if token.start() < self.results_end:
            self.results.append(self.result.name("value", name, region.scope, span, defines=True))
            return
        scope = region.head or region.scope
        is_defined = self.introduces(_AFTER.match(self.text, span.end), scope, name)
        if is_defined and region.head is None:
            scope = region.head = self.open_scope(span.start)
        self.result.name("value", name, scope, span, defines=is_defined)

    def introduces(self, after: re.Match[str] | None, scope: Scope, name: str) -> bool:
        """Whether the head of an operation defines the value: `%i = `, `%x: type` in a function."""
        if after is None:
            return False
        is_in_list = self.before in ("(", ",") or self.before.endswith(".for")
        is_new = self.region.head is self.region.scope or scope.find("value", name) is None
        return after[1] == "=" or (is_in_list and is_new)

    def read_symbol(self, token: re.Match[str]) -> None:
        name, span = token.group("symbol"), Span(*token.span("symbol"))
        if name.startswith('"'):
            name, span = name[1:-1], Span(span.start + 1, span.end - 1)
        if self.before.rpartition(".")[2] in _DEFINES_SYMBOL:
            self.define_symbol(name, span)
        else:
            self.result.name("symbol", name, self.module, span)

    def define_symbol(self, name: str, span: Span) -> None:
        entity = self.result.name("symbol", name, self.module, span, defines=True)
        entity.operation = self.result.operations[-1].name if self.result.operations else ""
        region = self.region
        region.symbol, entity.owner = entity, region.scope.owner
        if region.head is not None:
            region.head.owner, entity.body = entity, region.head

    def read_block(self, token: re.Match[str]) -> None:
        region = self.region
        is_defined = self.starts_statement(token)
        if is_defined:
            self.begin_statement()
            # Values of a region with several blocks are visible in all of them.
            region.head = region.scope
        span = Span(*token.span("block"))
        self.result.name("block", token.group("block"), region.scope, span, defines=is_defined)

    def read_alias(self, token: re.Match[str]) -> None:
        is_outside = len(self.frames) == 1 and self.starts_statement(token)
        after = _AFTER.match(self.text, token.end())
        is_defined = is_outside and after is not None and after[1] == "="
        span = Span(*token.span("alias"))
        self.result.name("alias", token.group("alias"), self.module, span, defines=is_defined)

    def open_scope(self, start: int, *, isolated: bool = False) -> Scope:
        """A scope for the head of the current operation, or in it."""
        region = self.region
        symbol = region.symbol
        around = region.head or region.scope
        scope = self.result.open_scope(start, around, symbol, isolated=isolated)
        if symbol is not None:
            symbol.body = symbol.body or scope
        return scope

    def read_open(self, token: re.Match[str]) -> None:
        region, bracket = self.region, token.group()
        scope = self.open_scope(token.start()) if bracket == "{" else region.scope
        self.frames.append(_Frame(bracket, scope))

    def read_close(self, token: re.Match[str]) -> None:
        opening = {")": "(", "]": "[", "}": "{"}[token.group()]
        # A bracket that was not closed ends with the one around it, but no region ends with `)`.
        for number in range(len(self.frames) - 1, 0, -1):
            frame = self.frames[number]
            if frame.bracket == opening:
                for closed in self.frames[number:]:
                    if closed.bracket == "{":
                        closed.scope.end = token.start()
                del self.frames[number:]
                if opening == "{" and self.region.head is not None:
                    self.region.head.end = token.end()
                return
            if frame.bracket == "{":
                return
