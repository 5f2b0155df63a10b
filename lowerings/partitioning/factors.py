"""
Divisions of the factors of an operation over a mesh: of its arrays to its factors, and back.

The factors are those of a sharding rule, or of the relations of dimensions that a class declares;
axes are atoms of a mesh (`lowerings.partitioning.mesh_atoms`). Propagation projects what is known
of shardings on factors; the partitioner divides the iteration space of an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple, TypeAlias

from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms, Spread
from xla_dialect.dimensions import Dimension, DimensionRelations, FactorType, Traversal
from xla_dialect.op import XlaOp
from xla_dialect.sharding.sharding_rule import Dimensions, ShardingRule


def atoms_of_factors(
    sizes: Sequence[int], atoms: Atoms, mesh: MeshAtoms
) -> list[tuple[Atoms, Atoms]]:
    """
    The atoms of a dimension for its factors of these sizes, the most major first.

    A factor takes atoms as long as they divide it, and the next one gets what follows if nothing of
    it is left. Beside its atoms stands what goes on there, but does not divide it.
    """
    found: list[tuple[Atoms, Atoms]] = []
    for number, size in enumerate(sizes, 1):
        left, count = size, 0
        while count < len(atoms) and left > 1 and left % mesh.sizes[atoms[count]] == 0:
            left //= mesh.sizes[atoms[count]]
            count += 1
        taken, atoms = atoms[:count], atoms[count:]
        overflow = atoms if left > 1 or number == len(sizes) else ()
        found.append((taken, overflow))
        atoms = atoms if not overflow else ()
    return found


def atoms_of_dimension(factors: Iterable[tuple[int, Atoms]], mesh: MeshAtoms) -> Atoms:
    """
    The inverse, of sizes of factors and their atoms.

    A factor adds to its dimension as long as those before it are split up.
    """
    found: list[int] = []
    for size, atoms in factors:
        found.extend(atoms)
        if mesh.parts(atoms) != size:
            break
    return tuple(found)


class ArraySharding(NamedTuple):
    """How an array is split, as far as it is known."""

    dimensions: tuple[Atoms, ...]
    is_closed: tuple[bool, ...]
    """For each dimension whether it may not be split further."""
    reserved: frozenset[int] = frozenset()
    """Atoms over which the array is not to be split: replicated and unreduced ones."""

    @staticmethod
    def unknown(rank: int) -> ArraySharding:
        """Nothing is known of it."""
        return ArraySharding(((),) * rank, (False,) * rank)


@dataclass(eq=False, slots=True)
class FactorSharding:
    """How one array is split along a factor."""

    atoms: Atoms
    is_closed: bool
    is_minor_most: bool
    """Whether it is the last factor of its dimension: there may be more axes than it has size."""
    overflow: Atoms = ()
    """What follows in the dimension, but does not divide the size of the factor."""


@dataclass(eq=False, slots=True)
class ProjectedArray:
    """One operand or result of an operation by its factors."""

    sharding: ArraySharding
    dimensions: Dimensions
    is_result: bool
    sizes: Sequence[int]
    """Of the factors of the operation."""
    mesh: MeshAtoms
    factors: dict[int, FactorSharding] = field(default_factory=dict[int, FactorSharding])

    def __post_init__(self) -> None:
        """Gives the atoms of each dimension to its factors; the last takes all that reach it."""
        for dimension, atoms, is_closed in zip(
            self.dimensions, self.sharding.dimensions, self.sharding.is_closed, strict=True
        ):
            parts = atoms_of_factors([self.sizes[f] for f in dimension], atoms, self.mesh)
            for factor, (taken, overflow) in zip(dimension, parts, strict=True):
                is_last = factor == dimension[-1]
                self.factors[factor] = (
                    FactorSharding((*taken, *overflow), is_closed, True)
                    if is_last
                    else FactorSharding(taken, is_closed, False, overflow)
                )

    @property
    def projected_back(self) -> ArraySharding:
        """What the factors say of the array."""
        parts = self.factors
        dimensions = [
            atoms_of_dimension(
                [(self.sizes[f], (*parts[f].atoms, *parts[f].overflow)) for f in dimension],
                self.mesh,
            )
            for dimension in self.dimensions
        ]
        return self.sharding._replace(dimensions=tuple(dimensions))

    def fitting(self, factor: int, atoms: Atoms) -> Atoms:
        """The longest prefix of atoms that the array can have along a factor."""
        part = self.factors[factor]
        used = set(self.sharding.reserved)
        for other, sharding in self.factors.items():
            used.update(sharding.overflow, sharding.atoms if other != factor else ())
        parts = 1
        for number, atom in enumerate(atoms):
            parts *= self.mesh.sizes[atom]
            if atom in used or (not part.is_minor_most and self.sizes[factor] % parts):
                return atoms[:number]
        return atoms

    def extend(self, factor: int, atoms: Atoms) -> None:
        """Takes what it can of the atoms along a factor, if that is more than it has."""
        part = self.factors.get(factor)
        if part is None or part.is_closed or part.overflow:
            return
        if atoms[: len(part.atoms)] == part.atoms:
            part.atoms = max(part.atoms, self.fitting(factor, atoms), key=len)


def projected(
    rule: ShardingRule, shardings: Sequence[ArraySharding], mesh: MeshAtoms
) -> list[ProjectedArray]:
    """The operands and results of an operation by its factors, given their shardings."""
    count = len(rule.operands)
    return [
        ProjectedArray(sharding, dimensions, number >= count, rule.sizes, mesh)
        for number, (sharding, dimensions) in enumerate(
            zip(shardings, (*rule.operands, *rule.results), strict=True)
        )
    ]


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


@lru_cache(4096)
def _shown(relations: DimensionRelations, dimension: Dimension) -> Dimension:
    kept = [f for f in dimension if relations.factors[f].along is not Traversal.WINDOW]
    return tuple(kept) or dimension


@dataclass(eq=False)
class Division:
    """The relations of an operation over a mesh; the same object for operations that are equal."""

    op: XlaOp
    """One of these operations."""
    mesh: MeshAtoms
    relations: DimensionRelations
    operand_sizes: Sequence[Sequence[int]]
    result_sizes: Sequence[Sequence[int]]
    admits: Admission
    linear: frozenset[int] = frozenset()
    """The operands that the results are linear in, all together."""

    def shown(self, dimension: Dimension) -> Dimension:
        """The factors of a dimension that may be divided over devices: without the window's."""
        return _shown(self.relations, dimension)

    def leading(self, dimension: Dimension, divided: FactorAtoms) -> Dimension:
        """
        The factors that spread a dimension: of `(p, k)`, placements p of a window of size k, p.

        Where the window is divided instead, each device has the elements around its part of it.
        """
        shown = self.shown(dimension)
        windows = tuple(f for f in dimension if f not in shown and divided.get(f))
        return windows if windows and not any(map(divided.get, shown)) else shown

    def said_by(self, dimension: Dimension, atoms: Atoms) -> Iterator[tuple[int, Atoms]]:
        """The atoms of the factors of a dimension that is spread over atoms."""
        shown = [f for f in self.shown(dimension) if self._matters(f)] or self.shown(dimension)
        if len(shown) == 1:
            yield shown[0], atoms
            return
        sizes = [self.relations.factors[f].size for f in shown]
        for factor, (taken, _) in zip(
            shown, atoms_of_factors(sizes, atoms, self.mesh), strict=True
        ):
            if taken:
                yield factor, taken

    def spread(self, dimensions: Sequence[Dimension], divided: FactorAtoms) -> Spread:
        """How an array with these factors is spread."""
        factors = self.relations.factors
        return Spread(
            tuple(
                atoms_of_dimension(
                    [(factors[f].size, divided.get(f, ())) for f in self.leading(each, divided)],
                    self.mesh,
                )
                for each in dimensions
            )
        )

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
        arrays = (*self.relations.operands, *self.relations.results)
        return [
            self.said_by_array(factors, spread)
            for factors, spread in zip(arrays, (*operands, *results), strict=True)
        ]

    def said_by_array(
        self, dimensions: Sequence[Dimension], spread: Spread
    ) -> list[tuple[int, Atoms]]:
        """The atoms of the factors of an array that is spread so."""
        return [
            said
            for dimension, atoms in zip(dimensions, spread.dimensions, strict=True)
            if atoms
            for said in self.said_by(dimension, atoms)
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
