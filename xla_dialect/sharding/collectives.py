"""Shardy's collectives: the sharding of a result, by that of the operand and the axes it names.

A collective changes where the parts of an array are, not the array. Each is a function from the
sharding of the operand to that of the result; it raises VerifyException where there is none. The
rules are those of docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NoReturn

from xdsl.utils.exceptions import VerifyException

from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.mesh import (
    AxisList,
    AxisLists,
    AxisReference,
    Mesh,
    Sizes,
    axes_fault,
    in_mesh_order,
    merged_axes,
    order_fault,
    size_of,
    spell_axes,
)
from xla_dialect.spelling import Tokens


@dataclass(frozen=True)
class AxisMove:
    """Axes that go from one dimension to another: `{"x"}: 0->1`."""

    axes: AxisList
    source: int
    target: int

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisMove:
        """Reads what `str` writes; raises SpellingError."""
        axes = AxisList.parse(tokens)
        if not axes:
            tokens.fail_with("(SH14) no axes are moved")
        tokens.expect(":")
        source = tokens.number()
        tokens.expect("->")
        return AxisMove(axes, source, tokens.number())

    def __str__(self) -> str:
        return f"{self.axes}: {self.source}->{self.target}"


class AxisMoves(tuple[AxisMove, ...]):
    """`[{"x"}: 0->1, {"y"}: 2->3]`"""

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisMoves:
        """Reads what `str` writes; raises SpellingError."""
        return AxisMoves(tokens.contents("sdy.all_to_all_param", AxisMove.parse))

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


@dataclass(frozen=True)
class CollectiveRule:
    """One of them: which axes it names, and what follows from them."""

    infer: Callable[[Sharding, Any, Mesh], Sharding]
    """The sharding of the result; for a permutation, which may change it, that of the operand."""
    takes_unsaid: bool = False
    """Whether an operand of which nothing is said is one that every device has."""
    says_unreduced: bool = False
    """Whether the result says what is unreduced; elsewhere Shardy's own passes leave it out."""
    permutes: bool = False
    """Whether only the number of parts of each dimension stays."""
    sums: bool = False
    """Whether it adds up what devices have along its axes."""

    def check(
        self,
        operand: Sharding | None,
        axes: Any,
        result: Sharding,
        meshes: Mapping[str, Mesh],
    ) -> None:
        """Raises VerifyException unless the result is what follows from operand and axes."""
        if operand is None:
            if not self.takes_unsaid:
                _break("SH11", "the operand has no sharding")
            operand = Sharding.replicated_over(result.mesh, result.rank)
        before, after = operand.mesh_in(meshes), result.mesh_in(meshes)
        assert before is not None and after is not None
        if before != after and not (self.permutes and before.axes == after.axes):
            _break("SH12", f"the operand is split over mesh <{before}>, the result over <{after}>")
        expected = self.infer(operand, axes, before)
        for d, (wanted, found) in enumerate(zip(expected.axes, result.axes, strict=True)):
            if self.permutes:
                counts = size_of(wanted, before.sizes), size_of(found, after.sizes)
                if counts[0] != counts[1]:
                    message = (
                        f"dimension {d} has {counts[1]} parts, that of the operand {counts[0]}"
                    )
                    _break("SH15", message)
            elif wanted != found:
                message = f"dimension {d} of the result is split over {spell_axes(found)}"
                _break("SH13", f"{message}, expected {spell_axes(wanted)}")
        if self.sums:
            what = "the result is unreduced"
            _check_apart("SH16", axes_in(axes), what, result.unreduced, before)
        if self.says_unreduced and expected.unreduced != result.unreduced:
            message = f"the result is unreduced over {spell_axes(result.unreduced)}"
            _break("SH17", f"{message}, expected {spell_axes(expected.unreduced)}")


def _break(label: str, message: str) -> NoReturn:
    raise VerifyException(f"({label}) {message}")


def all_gather(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
    """Each dimension without the axes at its end."""
    _check_lists(axes, operand.rank, mesh)
    return _with_dimensions(operand, map(_without, operand.axes, axes, [mesh.sizes] * len(axes)))


def all_slice(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
    """Each dimension with the axes behind its own: what is unreduced along them is no longer."""
    _check_lists(axes, operand.rank, mesh)
    added = axes_in(axes)
    _check_apart("SH13", added, "the operand is split", tuple(operand.split_axes), mesh)
    both = map(_followed_by, operand.axes, axes, [mesh.sizes] * len(axes))
    return _reduced(_with_dimensions(operand, both), axes_in(axes), mesh)


def all_to_all(operand: Sharding, moves: AxisMoves, mesh: Mesh) -> Sharding:
    """The axes at the end of one dimension go to the end of another."""
    if not moves:
        _break("SH14", "no axes are moved")
    _check_axes([move.axes for move in moves], mesh)
    touched = [d for move in moves for d in (move.source, move.target)]
    for d in touched:
        if d >= operand.rank:
            _break("SH14", f"there is no dimension {d} in an array of rank {operand.rank}")
        if touched.count(d) > 1:
            _break("SH14", f"dimension {d} is in it twice")
    if touched[::2] != sorted(touched[::2]):
        _break("SH14", f"the dimensions that axes are moved from do not ascend: {touched[::2]}")
    dimensions = list(operand.axes)
    for move in moves:
        dimensions[move.source] = _without(dimensions[move.source], move.axes, mesh.sizes)
        dimensions[move.target] = _followed_by(dimensions[move.target], move.axes, mesh.sizes)
    return _with_dimensions(operand, dimensions)


def collective_permute(operand: Sharding, axes: None, mesh: Mesh) -> Sharding:
    """Any other axes that make as many parts of each dimension."""
    return operand


def all_reduce(operand: Sharding, axes: AxisList, mesh: Mesh) -> Sharding:
    """The sum of what devices have along the axes: they all have it then."""
    _check_set(axes, mesh)
    others = (*operand.split_axes, *operand.replicated)
    _check_apart("SH16", axes, "the operand is split or replicated", others, mesh)
    return _reduced(operand, axes, mesh)


def sharded_to_unreduced(operand: Sharding, axes: AxisLists, mesh: Mesh) -> Sharding:
    """Each dimension without the axes at its end, along which zeros fill up the parts to a sum."""
    return _unreduced(all_gather(operand, axes, mesh), axes_in(axes), mesh)


def replicated_to_unreduced(operand: Sharding, axes: AxisList, mesh: Mesh) -> Sharding:
    """Along the axes the first device keeps the array, the others have zeros."""
    if not axes:
        _break("SH17", "no axes become unreduced")
    _check_set(axes, mesh)
    others = (*operand.split_axes, *operand.unreduced)
    _check_apart("SH17", axes, "the operand is split or unreduced", others, mesh)
    return _unreduced(operand, axes, mesh)


COLLECTIVES: Mapping[str, CollectiveRule] = {
    "sdy.all_gather": CollectiveRule(all_gather),
    "sdy.all_slice": CollectiveRule(all_slice, takes_unsaid=True),
    "sdy.all_to_all": CollectiveRule(all_to_all),
    "sdy.collective_permute": CollectiveRule(collective_permute, permutes=True),
    "sdy.all_reduce": CollectiveRule(all_reduce, takes_unsaid=True, sums=True),
    "sdy.reduce_scatter": CollectiveRule(all_slice, takes_unsaid=True, sums=True),
    "sdy.sharded_to_unreduced": CollectiveRule(sharded_to_unreduced, says_unreduced=True),
    "sdy.replicated_to_unreduced": CollectiveRule(replicated_to_unreduced, says_unreduced=True),
}
"""All collectives of Shardy by name."""


def _with_dimensions(sharding: Sharding, dimensions: Iterable[Sequence[AxisReference]]) -> Sharding:
    found = Sharding.of_axes(sharding.mesh, list(dimensions))
    return replace(found, unreduced=sharding.unreduced)


def _reduced(sharding: Sharding, axes: Iterable[AxisReference], mesh: Mesh) -> Sharding:
    axes = tuple(axes)
    left = (part for one in sharding.unreduced for part in one.without(axes, mesh.sizes))
    return replace(sharding, unreduced=tuple(left))


def _unreduced(sharding: Sharding, axes: Iterable[AxisReference], mesh: Mesh) -> Sharding:
    return replace(sharding, unreduced=in_mesh_order((*sharding.unreduced, *axes), mesh.sizes))


def _without(
    axes: Sequence[AxisReference], removed: Sequence[AxisReference], sizes: Sizes
) -> tuple[AxisReference, ...]:
    """The axes of a dimension without those at its end, of which the first may be a minor part."""
    left = list(axes)
    for axis in reversed(removed):
        last = left.pop() if left else None
        if last == axis:
            continue
        is_minor = (
            last is not None
            and last.contains(axis, sizes)
            and last.end_in(sizes) == axis.end_in(sizes)
            and axis.pre_size % last.pre_size == 0
        )
        rest = last.between(last.pre_size, axis.pre_size, sizes) if last and is_minor else None
        if rest is None:
            _break("SH13", f"{spell_axes(axes)} does not end with {spell_axes(removed)}")
        left.append(rest)
    return tuple(left)


def _followed_by(
    axes: Sequence[AxisReference], added: Sequence[AxisReference], sizes: Sizes
) -> tuple[AxisReference, ...]:
    return merged_axes((*axes, *added), sizes)


def _check_axes(lists: Iterable[Sequence[AxisReference]], mesh: Mesh) -> None:
    fault = axes_fault(lists, mesh.sizes)
    if fault is not None:
        raise VerifyException(fault)


def _check_lists(lists: AxisLists, rank: int, mesh: Mesh) -> None:
    if len(lists) != rank:
        _break("SH13", f"has axes of {len(lists)} dimensions for an array of rank {rank}")
    _check_axes(lists, mesh)


def _check_set(axes: AxisList, mesh: Mesh) -> None:
    _check_axes([axes], mesh)
    fault = order_fault("its", axes, mesh.sizes)
    if fault is not None:
        raise VerifyException(fault)


def _check_apart(
    label: str,
    axes: Iterable[AxisReference],
    what: str,
    others: Sequence[AxisReference],
    mesh: Mesh,
) -> None:
    for axis in axes:
        for other in others:
            if axis.overlaps(other, mesh.sizes):
                _break(label, f"axis {axis}: {what} along {other}")


def counted_along(
    axes: Iterable[AxisReference], others: Iterable[AxisReference], mesh: Mesh
) -> int:
    """How many devices differ along the axes, but along none of the others."""
    others = tuple(others)
    return mesh.size(part for axis in axes for part in axis.without(others, mesh.sizes))


def axes_in(named: AxisList | AxisLists | AxisMoves) -> tuple[AxisReference, ...]:
    """All axes that a collective names."""
    match named:
        case AxisLists():
            return tuple(chain.from_iterable(named))
        case AxisMoves():
            return tuple(chain.from_iterable(move.axes for move in named))
        case _:
            return named
