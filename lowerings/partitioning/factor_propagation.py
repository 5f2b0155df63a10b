"""The strategies of propagation: what the sharding of a factor becomes in all arrays of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from lowerings.partitioning.factor_shardings import Atoms, Directions, ProjectedArray, Projection

Strategy: TypeAlias = Callable[[Projection, Sequence[Directions]], None]
"""Extends the shardings of the factors, given where each may be carried."""


def propagate_basic(projection: Projection, directions: Sequence[Directions]) -> None:
    """
    Extends the arrays of each factor to what is compatible with all of them.

    A conflict is not decided: where two arrays go on differently, or one of them cannot go on,
    nothing is carried beyond.
    """
    agreed = [
        _compatible_with_all(projection, factor, direction)
        for factor, direction in enumerate(directions)
    ]
    for factor, atoms in enumerate(agreed):
        for array in projection.arrays:
            _extend(projection, array, factor, atoms, directions[factor])


def propagate_aggressive(projection: Projection, directions: Sequence[Directions]) -> None:
    """
    Extends the arrays of each factor as far as each can, in the order of preference.

    Two factors that want the same axis of one array are in conflict: the one goes first whose
    sharding comes from the array with the most elements.
    """
    wanted = [
        _longest(projection, factor, direction) for factor, direction in enumerate(directions)
    ]
    elements = [_element_count(projection, array) for array in projection.arrays]

    def preference(factor: int) -> tuple[int, int]:
        """The most elements first; among equals the first array."""
        return min(
            (-elements[number], number)
            for number, array in enumerate(projection.arrays)
            if factor in array.factors
            and array.factors[factor].atoms[: len(wanted[factor])] == wanted[factor]
        )

    order = sorted((f for f, atoms in enumerate(wanted) if atoms), key=preference)
    for factor in order:
        for array in projection.arrays:
            _extend(projection, array, factor, wanted[factor], directions[factor])


STRATEGIES: dict[str, Sequence[Strategy]] = {
    "basic": (propagate_basic,),
    "aggressive": (propagate_aggressive,),
    "basic-then-aggressive": (propagate_basic, propagate_aggressive),
}
"""By the names of the option of the pass, one after the other."""


def _element_count(projection: Projection, array: ProjectedArray) -> int:
    count = 1
    for dimension in array.rule:
        for factor in dimension:
            count *= projection.rule.sizes[factor]
    return count


def _longest(projection: Projection, factor: int, direction: Directions) -> Atoms:
    """What the arrays of a factor begin with alike, and the longest goes on with."""
    found: Atoms = ()
    is_limited = False
    for array in projection.arrays:
        part = array.factors.get(factor)
        if part is None or not direction.starts_from(array):
            continue
        common = _common_prefix(found, part.atoms)
        if len(common) < min(len(found), len(part.atoms)):
            found, is_limited = common, True
        elif not is_limited and len(part.atoms) > len(found):
            found = part.atoms
    return found


def _compatible_with_all(projection: Projection, factor: int, direction: Directions) -> Atoms:
    """The longest that every array of a factor can have, and no array uses for another one."""
    found = _longest(projection, factor, direction)
    used = {
        atom
        for array in projection.arrays
        for other, part in array.factors.items()
        for atom in ((*part.atoms, *part.overflow) if other != factor else part.overflow)
    }
    found = next((found[:n] for n, atom in enumerate(found) if atom in used), found)
    for array in projection.arrays:
        part = array.factors.get(factor)
        if part is None:
            continue
        if part.is_closed or part.overflow:
            if found[: len(part.atoms)] == part.atoms:
                found = part.atoms
            else:
                found = _common_prefix(found, part.atoms)
        found = projection.fitting(array, factor, found)
    return found


def _common_prefix(first: Atoms, second: Atoms) -> Atoms:
    count = 0
    for mine, theirs in zip(first, second, strict=False):
        if mine != theirs:
            break
        count += 1
    return first[:count]


def _extend(
    projection: Projection,
    array: ProjectedArray,
    factor: int,
    atoms: Atoms,
    direction: Directions,
) -> None:
    """Gives an array what it can take of the atoms, if that is more than it has."""
    part = array.factors.get(factor)
    if part is None or part.is_closed or part.overflow or not direction.reaches(array):
        return
    if len(atoms) <= len(part.atoms) or atoms[: len(part.atoms)] != part.atoms:
        return
    fitting = projection.fitting(array, factor, atoms)
    if len(fitting) > len(part.atoms):
        part.atoms = fitting
        array.is_changed = True
