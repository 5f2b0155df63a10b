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
    entities: dict[tuple[Kind, str], Entity] = field(
        default_factory=dict[tuple[Kind, str], "Entity"]
    )
    isolated: bool = False
    """Whether values from around it are not visible in it."""

    def around(self) -> Iterator[Scope]:
        """This scope and those around it, from the inside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, kind: Kind, name: str) -> Entity | None:
        """What a name means here."""
        for scope in self.around():
            found = scope.entities.get((kind, name))
            if found is not None:
                return found
            if scope.isolated and kind == "value":
                return None
        return None


@dataclass(eq=False)
class Entity:
    """Something with a name, with all the places that name it."""

    kind: Kind
    name: str
    scope: Scope
    occurrences: list[Span] = field(default_factory=list[Span])
    """Where its name stands, without `%` or `@`, in the order of the text."""
    definition: Span | None = None
    statement: Span | None = None
    """The line or lines that define it."""
    operation: str = ""
    """The opcode, or the name of the operation, that defines it."""
    owner: Entity | None = None
    """The computation or function that it is a part of."""

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
    _places: list[tuple[int, int, Entity]] = field(default_factory=list[tuple[int, int, Entity]])

    def open_scope(self, start: int, parent: Scope | None, *, isolated: bool) -> Scope:
        """A scope that ends with the text, unless its reader finds an end before."""
        scope = Scope(start, len(self.text), parent, isolated=isolated)
        self.scopes.append(scope)
        return scope

    def name(
        self, kind: Kind, name: str, scope: Scope, span: Span, *, defines: Scope | None = None
    ) -> Entity:
        """
        Notes that a name stands for an entity, of those visible in a scope.

        Where it is defined, it is one of the scope `defines`; the first definition counts.
        """
        key = (kind, name)
        found = scope.find(kind, name) if defines is None else defines.entities.get(key)
        if found is None:
            scope = defines or scope
            found = scope.entities[key] = Entity(kind, name, scope)
            self.entities.append(found)
        found.occurrences.append(span)
        if defines is not None and found.definition is None:
            found.definition = span
        return found

    def operation(self, name: str, start: int, end: int) -> None:
        """Notes the name of an operation."""
        self.operations.append(Operation(name, Span(start, end)))

    def finish(self) -> TextIndex:
        """Sorts what was found, so that it can be looked up."""
        self._places = sorted(
            (
                (span.start, span.end, entity)
                for entity in self.entities
                for span in entity.occurrences
            ),
            key=lambda place: place[:2],
        )
        return self

    def entity_at(self, offset: int) -> tuple[Entity, Span] | None:
        """The entity whose name is at an offset, or ends there; `%` and `@` belong to the name."""
        number = bisect_right(self._places, offset + 1, key=lambda place: place[0])
        for start, end, entity in reversed(self._places[max(0, number - 2) : number]):
            sigil = start > 0 and self.text[start - 1] in "%@^"
            if start - sigil <= offset <= end:
                return entity, Span(start, end)
        return None

    def operation_at(self, offset: int) -> Operation | None:
        """The operation whose name is at an offset."""
        number = bisect_right(self.operations, offset, key=lambda each: each.span.start)
        found = self.operations[number - 1] if number else None
        return found if found is not None and offset <= found.span.end else None

    def scope_at(self, offset: int) -> Scope | None:
        """The innermost scope around an offset."""
        number = bisect_right(self.scopes, offset, key=lambda scope: scope.start)
        if not number:
            return None
        return next((s for s in self.scopes[number - 1].around() if offset <= s.end), None)

    def visible(self, kind: Kind, offset: int) -> list[Entity]:
        """What can be named at an offset: of each name the nearest, values once defined."""
        found: dict[str, Entity] = {}
        scope = self.scope_at(offset)
        for each in () if scope is None else scope.around():
            for (its_kind, name), entity in each.entities.items():
                is_seen = its_kind == kind and entity.definition is not None
                if is_seen and (kind in ("symbol", "block") or entity.place.start < offset):
                    found.setdefault(name, entity)
            if each.isolated and kind == "value":
                break
        return list(found.values())


def members(index: TextIndex) -> dict[Entity | None, list[Entity]]:
    """The defined entities by what they belong to, in the order of the text."""
    found: dict[Entity | None, list[Entity]] = {}
    for entity in index.entities:
        if entity.definition is not None:
            found.setdefault(entity.owner, []).append(entity)
    for entities in found.values():
        entities.sort(key=lambda entity: entity.place.start)
    return found
