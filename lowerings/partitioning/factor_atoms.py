"""
How the iteration space of an operation is divided: atoms of the mesh for each of its factors.

A spread of an operand says it of the factors of its dimensions, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from lowerings.partitioning.mesh_atoms import MeshAtoms
from lowerings.partitioning.reshard_steps import Atoms, Spread
from xla_dialect.dimensions import Dimension, DimensionRelations, FactorType, Traversal

FactorAtoms: TypeAlias = Mapping[int, Atoms]
"""The atoms that a factor is divided over, the most major first; none for those left out."""
TERMS = -1
"""The factor of no dimension: along its atoms devices have terms, whose sums arrays are."""
Admission: TypeAlias = "Callable[[Division, int, Atoms], bool]"
"""Whether the partitioner can divide an operation over atoms along a factor."""


def is_regular(relations: DimensionRelations, factor: int) -> bool:
    """Whether parts along a factor are computed by the operation itself on parts of operands."""
    found = relations.factors[factor]
    passes = found.type in (FactorType.PASS_THROUGH, FactorType.REDUCTION)
    return passes and found.along is None


_NONE = frozenset[int]()


@dataclass(frozen=True)
class Division:
    """The relations of an operation over a mesh."""

    mesh: MeshAtoms
    relations: DimensionRelations
    operand_sizes: Sequence[Sequence[int]]
    result_sizes: Sequence[Sequence[int]]
    admits: Admission
    linear: frozenset[int] = frozenset()
    """The operands that the results are linear in, all together."""

    def shown(self, dimension: Dimension) -> Dimension:
        """The factors of a dimension that may be divided over devices: without the window's."""
        factors = self.relations.factors
        kept = [f for f in dimension if factors[f].along is not Traversal.WINDOW]
        return tuple(kept) or dimension

    def leading(self, dimension: Dimension, divided: FactorAtoms) -> Dimension:
        """
        The factors that spread a dimension: of `(p, k)`, placements p of a window of size k, p.

        Where the window is divided instead, each device has the elements around its part of it.
        """
        shown = self.shown(dimension)
        windows = tuple(f for f in dimension if f not in shown and divided.get(f))
        return windows if windows and not any(map(divided.get, shown)) else shown

    def said_by(self, dimension: Dimension, size: int, atoms: Atoms) -> Iterator[tuple[int, Atoms]]:
        """The atoms of the factors of a dimension that is spread over atoms."""
        shown = [f for f in self.shown(dimension) if self.relations.factors[f].size != 1]
        if not shown:
            shown = list(self.shown(dimension))
        if len(shown) == 1:
            yield shown[0], atoms
            return
        rest = list(atoms)
        for factor in shown:
            left, mine = self.relations.factors[factor].size, list[int]()
            while rest and left % self.mesh.sizes[rest[0]] == 0:
                left //= self.mesh.sizes[rest[0]]
                mine.append(rest.pop(0))
            if mine:
                yield factor, tuple(mine)
            if left != 1:
                return

    def spread(self, dimensions: Sequence[Dimension], divided: FactorAtoms) -> Spread:
        """How an array with these factors is spread."""
        found: list[Atoms] = []
        for dimension in dimensions:
            atoms: list[int] = []
            for factor in self.leading(dimension, divided):
                mine = divided.get(factor, ())
                atoms.extend(mine)
                if self.mesh.parts(mine) != self.relations.factors[factor].size:
                    break
            found.append(tuple(atoms))
        return Spread(tuple(found))

    def operand_spreads(self, divided: FactorAtoms) -> list[Spread]:
        """The spreads of the operands that the operation is computed from."""
        terms = frozenset(divided.get(TERMS, ()))
        return [
            replace(
                self.spread(dimensions, divided), unreduced=terms if i in self.linear else _NONE
            )
            for i, dimensions in enumerate(self.relations.operands)
        ]

    def result_spreads(self, divided: FactorAtoms) -> list[Spread]:
        """The spreads of what is computed, with the atoms that it is still to be folded over."""
        unreduced = frozenset(
            atom
            for factor in (*self.relations.of_type(FactorType.REDUCTION), TERMS)
            for atom in divided.get(factor, ())
        )
        return [
            replace(self.spread(dimensions, divided), unreduced=unreduced)
            for dimensions in self.relations.results
        ]

    def divided_by(
        self, operands: Sequence[Spread], results: Sequence[Spread]
    ) -> FactorAtoms | None:
        """The division that spreads of operands and results stand for; None for no one."""
        for divided in self.candidates(operands, results):
            mine = self.operand_spreads(divided), self.result_spreads(divided)
            if mine == (list(operands), list(results)):
                return divided
        return None

    def candidates(
        self, operands: Sequence[Spread], results: Sequence[Spread]
    ) -> Iterator[FactorAtoms]:
        """
        Divisions that suit one array after the other, each once, the last one of nothing.

        Terms that results are to be left in are made of terms, before others are tried.
        """
        asked = frozenset[int]().union(*(each.unreduced for each in results))
        for found in self._of_dimensions(operands, results):
            terms = asked.difference(*found.values()) if self.linear else None
            if terms:
                yield {**found, TERMS: tuple(sorted(terms))}
            yield found

    def _of_dimensions(
        self, operands: Sequence[Spread], results: Sequence[Spread]
    ) -> Iterator[FactorAtoms]:
        arrays = self._said(operands, results)
        seen: list[FactorAtoms] = []
        reductions = set(self.relations.of_type(FactorType.REDUCTION))
        orders = [arrays, arrays[::-1]]
        orders.extend([array, *arrays[::-1]] for array in arrays)
        for order in orders:
            for left_out in (set[int](), reductions):
                found = self.merged(order, left_out)
                if found not in seen:
                    seen.append(found)
                    yield found
        if {} not in seen:
            yield {}

    def _said(
        self, operands: Sequence[Spread], results: Sequence[Spread]
    ) -> list[list[tuple[int, Atoms]]]:
        sides = (
            (operands, self.relations.operands, self.operand_sizes),
            (results, self.relations.results, self.result_sizes),
        )
        return [
            [
                said
                for dimension, size, atoms in zip(factors, array, spread.dimensions, strict=True)
                if atoms
                for said in self.said_by(dimension, size, atoms)
            ]
            for spreads, arrays, sizes in sides
            for spread, factors, array in zip(spreads, arrays, sizes, strict=True)
        ]

    def merged(
        self,
        arrays: Sequence[Sequence[tuple[int, Atoms]]],
        left_out: set[int] | frozenset[int] = frozenset(),
    ) -> FactorAtoms:
        """What arrays say of factors; where they contradict each other, the first is right."""
        found: dict[int, Atoms] = {}
        taken: set[int] = set()
        for said in arrays:
            for factor, atoms in said:
                mine = found.get(factor, ())
                if factor in left_out or atoms[: len(mine)] != mine:
                    continue
                free = takewhile(lambda atom: atom not in taken, atoms[len(mine) :])
                grown = (*mine, *free)
                if grown != mine and self.admits(self, factor, grown):
                    taken.update(grown)
                    found[factor] = grown
        return self._consistent(found)

    def _consistent(self, found: dict[int, Atoms]) -> FactorAtoms:
        """Without factors that would be spread inside of others that are whole."""
        changed = True
        while changed:
            changed = False
            for arrays in (self.relations.operands, self.relations.results):
                for dimension in (d for dimensions in arrays for d in dimensions):
                    shown = self.shown(dimension)
                    if any(map(found.get, shown)):
                        # Either the placements of a window are divided, or its elements.
                        for window in (f for f in dimension if f not in shown):
                            changed |= found.pop(window, None) is not None
                    for outer, factor in enumerate(shown):
                        full = self.mesh.parts(found.get(factor, ()))
                        size = self.relations.factors[factor].size
                        uneven = len(shown) > 1 and size > 1 and size % full
                        later: Dimension = () if full == size else shown[outer + 1 :]
                        for dropped in (*later, *((factor,) if uneven else ())):
                            if self._matters(dropped) and found.pop(dropped, None):
                                changed = True
        return {factor: atoms for factor, atoms in found.items() if atoms}

    def _matters(self, factor: int) -> bool:
        return self.relations.factors[factor].size != 1
