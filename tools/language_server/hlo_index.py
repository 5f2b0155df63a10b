"""The names in HLO text: computations, instructions, and where they are used."""

from __future__ import annotations

from dataclasses import dataclass

from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS, ONE_COMPUTATION, Span
from xla_dialect.text.lexer import Token, tokens

from .entities import Entity, Kind, Scope, TextIndex

_OPENING = frozenset("({[")
_CLOSING = frozenset(")}]")


def index_hlo(text: str) -> TextIndex:
    """The index of a module of HLO text, or of what somebody has typed of it so far."""
    return _Reader(text).index()


@dataclass
class _Reader:
    """Goes over the tokens once; whatever is no instruction or computation is stepped over."""

    text: str

    def __post_init__(self) -> None:
        self.tokens: list[Token] = list(tokens(self.text))
        self.place = 0
        self.result = TextIndex(self.text)
        self.module = self.result.open_scope(0, None, isolated=True)

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    @property
    def after(self) -> Token:
        return self.tokens[min(self.place + 1, len(self.tokens) - 1)]

    def index(self) -> TextIndex:
        if self.token.text == "HloModule":
            self.place += 1
            if self.token.kind == "name":
                self.define("module", self.module, None)
            self.skip_line()
        while self.token.kind != "end":
            if self.at_instruction():
                self.instructions(self.module, None)
            elif self.token.kind == "name" and self.computation_follows():
                self.computation()
            else:
                self.place += 1
        self.module.end = len(self.text)
        return self.result.finish()

    # Names

    def define(self, kind: Kind, scope: Scope, owner: Entity | None) -> Entity:
        """The entity that the token defines; a second definition of a name is that of the first."""
        entity = self.use(kind, scope, defines=scope)
        if entity.definition == entity.occurrences[-1]:
            entity.owner = owner
        return entity

    def use(self, kind: Kind, scope: Scope, *, defines: Scope | None = None) -> Entity:
        """Notes that the token names an entity."""
        bare = self.token.text.removeprefix("%")
        span = Span(self.token.end - len(bare), self.token.end)
        return self.result.name(kind, bare, scope, span, defines=defines)

    # Structure

    def skip_line(self) -> None:
        """Steps over the rest of the line."""
        end = self.text.find("\n", self.token.start)
        while self.token.kind != "end" and (end < 0 or self.token.start < end):
            self.place += 1

    def at_instruction(self) -> bool:
        """Whether `ROOT name =` or `name =` is here."""
        start = self.place + (self.token.text == "ROOT")
        name = self.tokens[min(start, len(self.tokens) - 1)]
        after = self.tokens[min(start + 1, len(self.tokens) - 1)]
        return name.kind == "name" and after.text == "="

    def computation_follows(self) -> bool:
        """Whether a computation begins here: a name and, on the same line, `(` or `{`."""
        if self.token.text == "ENTRY":
            return self.after.kind == "name"
        # The lines of tables begin with their numbers.
        return self.after.text in ("(", "{") and not self.token.text.isdecimal()

    def computation(self) -> None:
        start = self.token.start
        self.place += self.token.text == "ENTRY"
        computation = self.define("computation", self.module, None)
        self.place += 1
        scope = self.result.open_scope(self.token.start, self.module, isolated=True)
        depth = 0
        while self.token.kind != "end" and not (depth == 0 and self.token.text == "{"):
            if self.token.kind == "name" and self.after.text == ":" and depth == 1:
                self.use("value", scope)
            elif depth == 0 and self.at_instruction():
                break
            depth += (self.token.text in _OPENING) - (self.token.text in _CLOSING)
            self.place += 1
        self.place += self.token.text == "{"
        self.instructions(scope, computation)
        scope.end = self.token.start
        computation.statement = Span(start, self.token.end)
        self.place += self.token.text == "}"

    def instructions(self, scope: Scope, owner: Entity | None) -> None:
        """Steps over instructions, up to the brace that closes the computation."""
        while self.token.kind != "end" and self.token.text != "}":
            if self.at_instruction():
                self.instruction(scope, owner)
            elif self.token.text == "ENTRY":
                return
            else:
                self.place += 1

    def instruction(self, scope: Scope, owner: Entity | None) -> None:
        start = self.token.start
        self.place += self.token.text == "ROOT"
        value = self.define("value", scope, owner)
        self.place += 2
        self.step_over_shape()
        if self.token.kind == "name" and not self.at_instruction():
            value.operation = self.token.text
            self.result.operation(self.token.text, self.token.start, self.token.end)
            self.place += 1
            if self.token.text == "(":
                self.operands(scope, value.operation)
            self.attributes(scope)
        if value.definition is not None and start <= value.definition.start:
            value.statement = value.statement or Span(start, self.tokens[self.place - 1].end)

    def step_over_shape(self) -> None:
        """Steps over a shape, which may be a tuple of shapes."""
        depth = 0
        while self.token.kind != "end" and not self.at_instruction():
            if self.token.text == "(":
                depth += 1
            elif self.token.text == ")":
                depth -= 1
            elif self.token.kind != "shape" and self.token.text != ",":
                return
            self.place += 1
            if depth == 0 and self.token.kind == "name":
                return

    def operands(self, scope: Scope, opcode: str) -> None:
        """Steps over `(operands)`; those of some opcodes are no names."""
        depth = 0
        while self.token.kind != "end" and not self.at_instruction():
            token = self.token
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if token.kind == "name" and opcode not in ("constant", "parameter"):
                if self.after.text == "(":
                    self.result.operation(token.text, token.start, token.end)
                elif not token.text[0].isdecimal() or self.tokens[self.place - 1].text != "#":
                    self.use("value", scope)
            self.place += 1
            if depth <= 0:
                return

    def attributes(self, scope: Scope) -> None:
        """Steps over `, name=value` as often as it stands here."""
        while self.token.text == "," and self.after.kind == "attribute":
            name = self.after.text[:-1]
            self.place += 2
            if name in ONE_COMPUTATION or name in COMPUTATION_LISTS:
                self.callees(name in COMPUTATION_LISTS)
            elif name == "control-predecessors":
                self.operands(scope, "")
            else:
                self.value()

    def callees(self, is_list: bool) -> None:
        """Steps over the computations that an attribute names, or has in braces."""
        if not is_list:
            self.callee()
        elif self.token.text == "{":
            self.place += 1
            while self.token.kind == "name" or self.token.text in ("{", ","):
                if self.token.text == ",":
                    self.place += 1
                else:
                    self.callee()
            self.place += self.token.text == "}"

    def callee(self) -> None:
        if self.token.text == "{":
            scope = self.result.open_scope(self.token.start, self.module, isolated=True)
            self.place += 1
            self.instructions(scope, None)
            scope.end = self.token.start
            self.place += self.token.text == "}"
        elif self.token.kind == "name" and not self.at_instruction():
            self.use("computation", self.module)
            self.place += 1

    def value(self) -> None:
        """Steps over the value of an attribute: up to a comma or the next line outside brackets."""
        depth = 0
        while self.token.kind != "end" and not self.at_instruction():
            text = self.token.text
            if depth == 0 and (text in _CLOSING or text == "," or self.is_first_of_line()):
                return
            depth += (text in _OPENING) - (text in _CLOSING)
            self.place += 1

    def is_first_of_line(self) -> bool:
        before = self.tokens[self.place - 1].end
        return "\n" in self.text[before : self.token.start] and self.token.kind != "attribute"
