"""Shardings of arrays as those of the factors of an operation, and back.

Axes are *atoms* here, numbers of parts of axes that nothing cuts further
(`lowerings.partitioning.mesh_atoms`): lists of them have prefixes, and no two of them overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple, TypeAlias

from xla_dialect.sharding.sharding_rule import Dimensions, ShardingRule

Atoms: TypeAlias = tuple[int, ...]


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
    rule: Dimensions
    is_result: bool
    factors: dict[int, FactorSharding] = field(default_factory=dict[int, FactorSharding])
    is_changed: bool = False

    def used_elsewhere(self, factor: int) -> frozenset[int]:
        """The atoms that the array uses, but for those of this factor."""
        found = set(self.sharding.reserved)
        for other, sharding in self.factors.items():
            if other != factor:
                found.update(sharding.atoms)
            found.update(sharding.overflow)
        return frozenset(found)


@dataclass(eq=False, slots=True)
class Projection:
    """The operands and results of an operation by its factors."""

    rule: ShardingRule
    sizes: Sequence[int]
    """Of the atoms."""
    arrays: list[ProjectedArray]

    @staticmethod
    def of(
        rule: ShardingRule, shardings: Sequence[ArraySharding], sizes: Sequence[int]
    ) -> Projection:
        """`shardings`: those of the operands, then of the results."""
        dimensions = (*rule.operands, *rule.results)
        count = len(rule.operands)
        arrays = [
            ProjectedArray(sharding, each, number >= count)
            for number, (sharding, each) in enumerate(zip(shardings, dimensions, strict=True))
        ]
        found = Projection(rule, sizes, arrays)
        for array in arrays:
            found._project(array)
        return found

    def _project(self, array: ProjectedArray) -> None:
        """Gives the atoms of each dimension to its factors, the most major first."""
        for dimension, atoms, is_closed in zip(
            array.rule, array.sharding.dimensions, array.sharding.is_closed, strict=True
        ):
            rest = list(atoms)
            for factor in dimension[:-1]:
                taken: list[int] = []
                size = self.rule.sizes[factor]
                while rest and size > 1 and size % self.sizes[rest[0]] == 0:
                    size //= self.sizes[rest[0]]
                    taken.append(rest.pop(0))
                overflow: Atoms = ()
                if rest and size > 1:
                    overflow, rest = tuple(rest), []
                array.factors[factor] = FactorSharding(tuple(taken), is_closed, False, overflow)
            if dimension:
                array.factors[dimension[-1]] = FactorSharding(tuple(rest), is_closed, True)

    def sharding(self, array: ProjectedArray) -> ArraySharding:
        """The inverse: a factor adds to its dimension as long as those before it are split up."""
        found: list[Atoms] = []
        for dimension in array.rule:
            atoms: list[int] = []
            for factor in dimension:
                part = array.factors[factor]
                atoms += (*part.atoms, *part.overflow)
                if part.overflow or self.parts(part.atoms) != self.rule.sizes[factor]:
                    break
            found.append(tuple(atoms))
        return array.sharding._replace(dimensions=tuple(found))

    def parts(self, atoms: Atoms) -> int:
        """How many parts atoms make."""
        return prod(self.sizes[atom] for atom in atoms)

    def fitting(self, array: ProjectedArray, factor: int, atoms: Atoms) -> Atoms:
        """The longest prefix of atoms that an array can have along a factor."""
        part = array.factors[factor]
        used = array.used_elsewhere(factor)
        size = self.rule.sizes[factor]
        parts = 1
        for number, atom in enumerate(atoms):
            parts *= self.sizes[atom]
            if atom in used or (not part.is_minor_most and size % parts):
                return atoms[:number]
        return atoms


class Directions(NamedTuple):
    """Where shardings may be carried: to results, to operands."""

    forward: bool = True
    backward: bool = True

    def reaches(self, array: ProjectedArray) -> bool:
        """Whether an array may be split further."""
        return self.forward if array.is_result else self.backward

    def starts_from(self, array: ProjectedArray) -> bool:
        """Whether the sharding of an array may be carried to others."""
        return self.backward if array.is_result else self.forward


BOTH = Directions()
NONE = Directions(forward=False, backward=False)
FORWARD = Directions(backward=False)
BACKWARD = Directions(forward=False)
