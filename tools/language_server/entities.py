"""What a text names, and where: values, computations, functions, blocks, aliases.

Found by reading tokens, not by parsing: half of a program has names too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from xla_dialect.hlo_text.syntax import Span

Kind: TypeAlias = Literal["module", "computation", "symbol", "block", "alias", "value"]

SIGILS = {"symbol": "@", "block": "^", "alias": "", "value": "%"}
"""What is in front of a name where MLIR uses it; an alias is named with its `#` or `!`."""


@dataclass(eq=False)
class Scope:
    """A part of the text in which names are visible."""

    start: int
    end: int
    parent: Scope | None
    isolated: bool = False
    """Whether values from around it are not visible in it."""
    owner: Entity | None = None
    """The computation or function whose body it is in."""
    entities: dict[tuple[Kind, str], Entity] = field(
        default_factory=dict[tuple[Kind, str], "Entity"]
    )

    def around(self) -> Iterator[Scope]:
        """This scope and those around it, from the inside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def seen(self, kind: Kind) -> Iterator[Scope]:
        """The scopes whose names of a kind are visible in this one, from the inside."""
        for scope in self.around():
            yield scope
            if scope.isolated and kind == "value":
                return

    def find(self, kind: Kind, name: str) -> Entity | None:
        """What a name means here."""
        key = (kind, name)
        return next((s.entities[key] for s in self.seen(kind) if key in s.entities), None)


@dataclass(eq=False)
class Entity:
    """Something with a name, with all the places that name it."""

    kind: Kind
    name: str
    scope: Scope
    owner: Entity | None
    """The computation or function that it is a part of."""
    occurrences: list[Span] = field(default_factory=list[Span])
    """Where its name stands, without `%` or `@`, in the order of the text."""
    definition: Span | None = None
    operation: str = ""
    """The opcode, or the name of the operation, that defines it."""
    body: Scope | None = None
    """What a function or computation is."""

    @property
    def place(self) -> Span:
        """Where it is defined, or else first named."""
        return self.definition or self.occurrences[0]


@dataclass
class Operation:
    """The name of an operation in the text, and where it stands."""

    name: str
    span: Span


@dataclass
class TextIndex:
    """All entities of a text, found by offset."""

    text: str
    entities: list[Entity] = field(default_factory=list[Entity])
    operations: list[Operation] = field(default_factory=list[Operation])
    """In the order of the text."""
    scopes: list[Scope] = field(default_factory=list[Scope])
    """In the order in which they begin."""
    _places: list[tuple[Span, Entity]] = field(default_factory=list[tuple[Span, Entity]])

    def open_scope(
        self, start: int, parent: Scope | None, owner: Entity | None = None, *, isolated: bool
    ) -> Scope:
        """
        A scope that ends with the text, unless its reader finds an end before; that of an owner, or
        of whom the one around it is.
        """
        owner = owner or (parent and parent.owner)
        self.scopes.append(Scope(start, len(self.text), parent, isolated, owner))
        return self.scopes[-1]

    def name(
        self, kind: Kind, name: str, scope: Scope, span: Span, *, defines: bool = False
    ) -> Entity:
        """
        Notes that a name stands for an entity, of those visible in a scope.

        Where it is defined, it is one of the scope itself; the first definition counts.
        """
        key = (kind, name)
        found = scope.entities.get(key) if defines else scope.find(kind, name)
        if found is None:
            found = scope.entities[key] = Entity(kind, name, scope, scope.owner)
            self.entities.append(found)
        found.occurrences.append(span)
        if defines and found.definition is None:
            found.definition = span
        return found

    def operation(self, name: str, start: int, end: int) -> None:
        """Notes the name of an operation."""
        self.operations.append(Operation(name, Span(start, end)))

    def finish(self) -> TextIndex:
        """Sorts what was found, so that it can be looked up."""
        places = [(span, entity) for entity in self.entities for span in entity.occurrences]
        self._places = sorted(places, key=lambda place: place[0])
        return self

    def entity_at(self, offset: int) -> tuple[Entity, Span] | None:
        """The entity whose name is at an offset, or ends there; `%` and `@` belong to the name."""
        number = bisect_right(self._places, offset + 1, key=lambda place: place[0].start)
        for span, entity in reversed(self._places[max(0, number - 2) : number]):
            sigil = self.text[max(0, span.start - 1) : span.start] in ("%", "@", "^")
            if span.start - sigil <= offset <= span.end:
                return entity, span
        return None

    def operation_at(self, offset: int) -> Operation | None:
        """The operation whose name is at an offset."""
        found = self.operation_before(offset)
        return found if found is not None and offset <= found.span.end else None

    def operation_before(self, offset: int) -> Operation | None:
        """The last operation whose name begins up to an offset."""
        number = bisect_right(self.operations, offset, key=lambda each: each.span.start)
        return self.operations[number - 1] if number else None

    def visible(self, kind: Kind, offset: int) -> list[Entity]:
        """What can be named at an offset: of each name the nearest, values once defined."""
        number = bisect_right(self.scopes, offset, key=lambda scope: scope.start)
        inside = (s for s in self.scopes[number - 1].around() if offset <= s.end)
        found: dict[str, Entity] = {}
        for scope in next(inside, self.scopes[0]).seen(kind):
            for (its_kind, name), entity in scope.entities.items():
                is_seen = its_kind == kind and entity.definition is not None
                if is_seen and (kind in ("symbol", "block") or entity.place.start < offset):
                    found.setdefault(name, entity)
        return list(found.values())
