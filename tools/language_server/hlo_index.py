"""The names in HLO text: computations, instructions, and where they are used."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from xla_dialect.hlo_text.syntax import COMPUTATION_LISTS, ONE_COMPUTATION, Span
from xla_dialect.text.lexer import Token, tokens

from .entities import Entity, Kind, Scope, TextIndex

_Content: TypeAlias = Literal["instructions", "head", "operands", "computations", "other"]
_OPENING = {")": "(", "]": "[", "}": "{"}
_NO_OPERANDS = ("constant", "parameter")


@dataclass
class _Frame:
    """What is between two brackets, or the whole text, and what its names are."""

    bracket: str
    content: _Content
    scope: Scope


def index_hlo(text: str) -> TextIndex:
    """The index of a module of HLO text, or of what somebody has typed of it so far."""
    return _Reader(text).index()


class _Reader:
    """Goes over the tokens once; whatever is no instruction or computation is stepped over."""

    def __init__(self, text: str):
        self.result = TextIndex(text)
        self.module = self.result.open_scope(0, None, isolated=True)
        self.frames = [_Frame("", "instructions", self.module)]
        self.defined: Entity | None = None
        """The instruction whose opcode is still to come."""
        self.before = Token("", "", 0, 0)

    def index(self) -> TextIndex:
        head_end = 0
        for token, after in pairwise(tokens(self.result.text)):
            if self.before.text == "HloModule" and token.kind == "name":
                self.name("module", token, self.module, defines=True)
                head_end = self.result.text.find("\n", token.start)
            elif 0 <= head_end <= token.start:
                self.read(token, after)
            self.before = token
        return self.result.finish()

    def read(self, token: Token, after: Token) -> None:
        frame = self.frames[-1]
        if token.text == "ENTRY":
            del self.frames[1:]
        elif token.text in ("(", "[", "{"):
            self.open(token, frame)
        elif token.text in _OPENING:
            self.close(token)
        elif token.kind == "name" and token.text != "ROOT":
            self.read_name(token, after, frame)

    def read_name(self, token: Token, after: Token, frame: _Frame) -> None:
        if after.text == "=":
            # What was not closed ends where an instruction begins.
            while self.frames[-1].content != "instructions":
                self.frames.pop()
            scope = self.frames[-1].scope
            self.defined = self.name("value", token, scope, defines=True)
        elif self.before.text == "ENTRY" or self.begins_computation(token, after, frame):
            computation = self.name("computation", token, self.module, defines=True)
            scope = self.result.open_scope(token.start, self.module, computation, isolated=True)
            computation.body = scope
            self.frames.append(_Frame("", "head", scope))
            self.defined = None
        elif frame.content == "computations" or self.attribute in ONE_COMPUTATION:
            self.name("computation", token, self.module)
        elif frame.content == "head" and after.text == ":":
            self.name("value", token, frame.scope)
        elif frame.content == "instructions" and self.defined is not None:
            self.defined.operation = token.text
            self.result.operation(token.text, token.start, token.end)
            self.defined = None
        elif frame.content == "operands" and after.text == "(":
            self.result.operation(token.text, token.start, token.end)
        elif frame.content == "operands" and self.before.text != "#":
            self.name("value", token, frame.scope)

    def name(self, kind: Kind, token: Token, scope: Scope, *, defines: bool = False) -> Entity:
        """Notes that a token names an entity."""
        bare = token.text.removeprefix("%")
        span = Span(token.end - len(bare), token.end)
        return self.result.name(kind, bare, scope, span, defines=defines)

    @property
    def attribute(self) -> str:
        """The attribute whose value comes next; empty if none does."""
        return self.before.text[:-1] if self.before.kind == "attribute" else ""

    def begins_computation(self, token: Token, after: Token, frame: _Frame) -> bool:
        """Whether a computation begins here: a name and, on the same line, `(` or `{`."""
        is_outside = len(self.frames) == 1 and self.defined is None and not self.attribute
        # The lines of tables begin with their numbers.
        return is_outside and after.text in ("(", "{") and not token.text.isdecimal()

    def open(self, token: Token, frame: _Frame) -> None:
        content: _Content = "other"
        scope, bracket = frame.scope, token.text
        operations = self.result.operations
        if bracket == "{" and frame.content == "head" and not frame.bracket:
            self.frames.pop()
            content = "instructions"
        elif bracket == "{" and (
            frame.content == "computations" or self.attribute in ONE_COMPUTATION
        ):
            content = "instructions"
            scope = self.result.open_scope(token.start, self.module, isolated=True)
        elif self.attribute in COMPUTATION_LISTS:
            content = "computations"
        elif self.attribute == "control-predecessors":
            content = "operands"
        elif operations and operations[-1].span.end == self.before.end:
            content = "other" if operations[-1].name in _NO_OPERANDS else "operands"
        elif frame.content in ("head", "operands"):
            content = frame.content
        self.frames.append(_Frame(bracket, content, scope))

    def close(self, token: Token) -> None:
        """What was not closed ends with what is around it, but no computation ends with `)`."""
        opening = _OPENING[token.text]
        for number in range(len(self.frames) - 1, 0, -1):
            frame = self.frames[number]
            if frame.bracket == opening:
                del self.frames[number:]
                if frame.content == "instructions":
                    frame.scope.end = token.start
                return
            if frame.content == "instructions":
                return
