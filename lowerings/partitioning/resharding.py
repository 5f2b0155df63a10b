"""
Reshards: copies whose result has another sharding than their operand, and the collectives of them.

The collectives from one sharding to another are those with the fewest bytes that a device sends
around a ring, as in docs/partitioning.md#bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from heapq import heappop, heappush
from itertools import count, pairwise, permutations
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from lowerings.partitioning.mesh_atoms import Atoms, MeshAtoms, Spread
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.sharding.attributes import RESHARD, set_result_shardings
from xla_dialect.types import BY_TYPE, Array, sizes_of


class Collective(Enum):
    """What a step of a reshard is; the words are Shardy's."""

    ALL_SLICE = "all_slice"
    ALL_GATHER = "all_gather"
    ALL_TO_ALL = "all_to_all"
    COLLECTIVE_PERMUTE = "collective_permute"
    ALL_REDUCE = "all_reduce"
    REDUCE_SCATTER = "reduce_scatter"
    SHARDED_TO_UNREDUCED = "sharded_to_unreduced"
    REPLICATED_TO_UNREDUCED = "replicated_to_unreduced"


@dataclass(frozen=True)
class ReshardStep:
    """One collective; what it does follows from the spreads before and after it."""

    collective: Collective
    after: Spread
    atoms: Atoms
    """Those over which devices exchange, in the order of the blocks."""
    source: int | None = None
    """The dimension whose blocks are joined."""
    target: int | None = None
    """The dimension that is cut."""


def ring_bytes(collective: Collective, before: int, after: int, members: int) -> float:
    """
    Bytes that a device sends for a collective of a group, given bytes a device before and after.

    A ring sends each block past all members but one: docs/partitioning.md#bytes.
    """
    others = (members - 1) / members
    return {
        Collective.ALL_SLICE: 0.0,
        Collective.ALL_GATHER: after * others,
        Collective.ALL_TO_ALL: before * others,
        Collective.COLLECTIVE_PERMUTE: float(before),
        Collective.ALL_REDUCE: 2 * before * others,
        Collective.REDUCE_SCATTER: before * others,
        Collective.SHARDED_TO_UNREDUCED: 0.0,
        Collective.REPLICATED_TO_UNREDUCED: 0.0,
    }[collective]


@dataclass(frozen=True)
class ReshardProblem:
    """An array between two spreads."""

    atom_sizes: tuple[int, ...]
    sizes: tuple[int, ...]
    element_bytes: float
    target: Spread

    def parts(self, atoms: Sequence[int]) -> int:
        """The number of blocks that atoms make."""
        return prod(self.atom_sizes[a] for a in atoms)

    def block(self, spread: Spread, d: int) -> int:
        """The size of a device's block along a dimension, padding included."""
        return ceil_div(self.sizes[d], self.parts(spread.dimensions[d]))

    def device_bytes(self, spread: Spread) -> int:
        """Bytes of a device's block, padding included."""
        elements = prod(self.block(spread, d) for d in range(len(self.sizes)))
        return int(elements * self.element_bytes)

    def nests(self, d: int, outer: Atoms, added: Atoms) -> bool:
        """
        Whether a block cut by further atoms is made of the blocks that all atoms cut.

        Blocks of uneven sizes often are not: 10 elements are 2 x 5, but 4 x 3.
        """
        before, after = self.parts(outer), self.parts((*outer, *added))
        size = self.sizes[d]
        return before == 1 or ceil_div(size, after) * (after // before) == ceil_div(size, before)

    def steps_from(self, s: Spread) -> Iterator[ReshardStep]:
        """The collectives that may lead on to the target."""
        yield from self._reductions(s)
        for d, atoms in enumerate(s.dimensions):
            if atoms == self.target.dimensions[d]:
                continue
            for cut in range(len(atoms)):
                kept, moved = atoms[:cut], atoms[cut:]
                if not self.nests(d, kept, moved):
                    continue
                without = s.with_dimension(d, kept)
                yield ReshardStep(Collective.ALL_GATHER, without, moved, source=d)
                yield from self._exchanges(without, d, moved)
        yield from self._slices(s)
        for spread in self._permuted(s):
            yield ReshardStep(Collective.COLLECTIVE_PERMUTE, spread, ())

    def _extensions(self, s: Spread, d: int) -> Iterator[Atoms]:
        """Atoms after which a dimension is nearer to the target."""
        mine, wanted = s.dimensions[d], self.target.dimensions[d]
        if wanted[: len(mine)] != mine:
            return
        for end in range(len(mine) + 1, len(wanted) + 1):
            added = wanted[len(mine) : end]
            if self.nests(d, mine, added):
                yield added

    def _slices(self, s: Spread) -> Iterator[ReshardStep]:
        for d, mine in enumerate(s.dimensions):
            for added in self._extensions(s, d):
                if s.used.isdisjoint(added):
                    after = s.with_dimension(d, (*mine, *added))
                    yield ReshardStep(Collective.ALL_SLICE, after, added, target=d)

    def _reductions(self, s: Spread) -> Iterator[ReshardStep]:
        folded = tuple(sorted(s.unreduced - self.target.unreduced))
        if not folded:
            return
        after = replace(s, unreduced=s.unreduced - frozenset(folded))
        yield ReshardStep(Collective.ALL_REDUCE, after, folded)
        for d, mine in enumerate(s.dimensions):
            for added in self._extensions(s, d):
                if s.unreduced.issuperset(added) and len(set(added)) == len(added):
                    scattered = replace(
                        s.with_dimension(d, (*mine, *added)), unreduced=s.unreduced - {*added}
                    )
                    yield ReshardStep(Collective.REDUCE_SCATTER, scattered, added, target=d)

    def _exchanges(self, without: Spread, source: int, moved: Atoms) -> Iterator[ReshardStep]:
        """All-to-alls: what one dimension has lost another gains, as many blocks as it lacks."""
        for d, mine in enumerate(without.dimensions):
            wanted = self.target.dimensions[d]
            lengths = {self.parts(wanted[:end]) for end in range(len(wanted) + 1)}
            grown = (*mine, *moved)
            if d != source and self.parts(grown) in lengths and self.nests(d, mine, moved):
                after = without.with_dimension(d, grown)
                yield ReshardStep(Collective.ALL_TO_ALL, after, moved, source=source, target=d)

    def _permuted(self, s: Spread) -> Iterator[Spread]:
        """Spreads with equal blocks that are nearer to the target."""
        wanted: list[Atoms | None] = []
        for mine, theirs in zip(s.dimensions, self.target.dimensions, strict=True):
            prefixes = (theirs[:end] for end in range(len(theirs) + 1))
            blocks = self.parts(mine)
            wanted.append(next((p for p in prefixes if self.parts(p) == blocks), None))
        taken = [atom for p in wanted if p is not None for atom in p]
        kept = [p if p is not None else s.dimensions[d] for d, p in enumerate(wanted)]
        flat = [atom for atoms in kept for atom in atoms]
        if s.unreduced.isdisjoint(taken) and len(set(flat)) == len(flat):
            yield replace(s, dimensions=tuple(kept))
        for d, mine in enumerate(s.dimensions):
            if mine != self.target.dimensions[d] and len(mine) <= _MAX_REORDERED:
                yield from (s.with_dimension(d, order) for order in permutations(mine))


_MAX_REORDERED = 4
_MAX_SPREADS = 4000
"""So many are looked at; then everything is gathered and cut anew."""


Steps: TypeAlias = tuple[tuple[ReshardStep, ...], float]
"""Steps, and the bytes that a device sends in them."""


@dataclass(eq=False)
class _Way:
    """Steps from a spread on."""

    problem: ReshardProblem
    here: Spread
    steps: list[ReshardStep] = field(default_factory=list[ReshardStep])
    bytes: float = 0.0

    def add(self, step: ReshardStep) -> None:
        """Goes on by a step."""
        self.bytes += step_bytes(self.problem, self.here, step)
        self.steps.append(step)
        self.here = step.after


def plan_reshard(problem: ReshardProblem, start: Spread) -> Steps:
    """
    The steps with the fewest bytes, among those the fewest, and their bytes a device.

    Along atoms that only the target is unreduced along, arrays are made terms first.
    """
    way = _Way(problem, start)
    _make_terms(way)
    others, bytes_ = _cheapest(problem, way.here)
    return (*way.steps, *others), way.bytes + bytes_


def _make_terms(way: _Way) -> None:
    """
    The steps to terms, a block of each device with zeros around it: their sum is the array. Of what
    devices have alike, the first has the term, and the others zeros.
    """
    added = way.problem.target.unreduced - way.here.unreduced
    for d, atoms in enumerate(way.here.dimensions):
        cut = next((n for n, atom in enumerate(atoms) if atom in added), None)
        if cut is None:
            continue
        kept, moved = atoms[:cut], atoms[cut:]
        if not way.problem.nests(d, kept, moved):
            kept, moved = (), atoms
        without, collective = way.here.with_dimension(d, kept), Collective.ALL_GATHER
        if added.issuperset(moved):
            without = replace(without, unreduced=without.unreduced.union(moved))
            collective = Collective.SHARDED_TO_UNREDUCED
        way.add(ReshardStep(collective, without, moved, source=d))
    others = tuple(sorted(added - way.here.unreduced))
    if others:
        after = replace(way.here, unreduced=way.here.unreduced.union(others))
        way.add(ReshardStep(Collective.REPLICATED_TO_UNREDUCED, after, others))


@lru_cache(1 << 14)
def _cheapest(problem: ReshardProblem, start: Spread) -> Steps:
    number = count()
    open_: list[tuple[float, int, int, Spread]] = [(0.0, 0, next(number), start)]
    best: dict[Spread, tuple[float, int]] = {start: (0.0, 0)}
    came_by: dict[Spread, tuple[Spread, ReshardStep]] = {}
    closed: set[Spread] = set()
    while open_ and len(closed) < _MAX_SPREADS:
        bytes_, length, _, here = heappop(open_)
        if here == problem.target:
            return _way(came_by, here), bytes_
        if here in closed:
            continue
        closed.add(here)
        for step in problem.steps_from(here):
            cost = bytes_ + step_bytes(problem, here, step), length + 1
            if step.after not in best or cost < best[step.after]:
                best[step.after] = cost
                came_by[step.after] = here, step
                heappush(open_, (*cost, next(number), step.after))
    return _by_gathering(problem, start)


def step_bytes(problem: ReshardProblem, before: Spread, step: ReshardStep) -> float:
    """The bytes that a device sends in a step, padding for blocks of equal size included."""
    sent, members = problem.device_bytes(before), problem.parts(step.atoms)
    if step.target is not None:
        cut = problem.block(before, step.target)
        sent = sent // max(cut, 1) * members * problem.block(step.after, step.target)
    is_gather = step.collective is Collective.ALL_GATHER
    after = members * sent if is_gather else problem.device_bytes(step.after)
    return ring_bytes(step.collective, sent, after, members)


def _way(
    came_by: dict[Spread, tuple[Spread, ReshardStep]], here: Spread
) -> tuple[ReshardStep, ...]:
    steps: list[ReshardStep] = []
    while here in came_by:
        here, step = came_by[here]
        steps.append(step)
    return tuple(reversed(steps))


def _by_gathering(problem: ReshardProblem, start: Spread) -> Steps:
    """All-reduce, gather each dimension that differs, cut it: always possible."""
    way, target = _Way(problem, start), problem.target
    folded = tuple(sorted(start.unreduced - target.unreduced))
    if folded:
        way.add(
            ReshardStep(Collective.ALL_REDUCE, replace(start, unreduced=target.unreduced), folded)
        )
    differing = [d for d, atoms in enumerate(start.dimensions) if atoms != target.dimensions[d]]
    for d in differing:
        if moved := start.dimensions[d]:
            after = way.here.with_dimension(d, ())
            way.add(ReshardStep(Collective.ALL_GATHER, after, moved, source=d))
    for d in differing:
        if wanted := target.dimensions[d]:
            after = way.here.with_dimension(d, wanted)
            way.add(ReshardStep(Collective.ALL_SLICE, after, wanted, target=d))
    return tuple(way.steps), way.bytes


REDUCTION = "sdy.reduction"
"""How a reshard folds what is unreduced, unless by sums."""


def reshard(
    value: SSAValue, mesh: MeshAtoms, spread: Spread, fold: str = "add", collective: str = ""
) -> CopyOp:
    """The operation that brings a value to another sharding."""
    attributes = {RESHARD: StringAttr(collective)}
    if fold != "add":
        attributes[REDUCTION] = StringAttr(fold)
    op = CopyOp.make([value], {}, result_types=[value.type], attributes=attributes)
    set_result_shardings(op, [mesh.sharding(spread)])
    return op


def is_reshard(op: Operation) -> bool:
    """Whether an operation is a reshard."""
    return isinstance(op, CopyOp) and RESHARD in op.attributes


def fold_name(op: Operation) -> str:
    """How a reshard folds what is unreduced."""
    found = op.attributes.get(REDUCTION)
    return found.data if isinstance(found, StringAttr) else "add"


@dataclass(frozen=True)
class ReshardPlan:
    """The steps from one spread to another, and the bytes that a device sends."""

    steps: Sequence[ReshardStep]
    bytes: float


def plan(mesh: MeshAtoms, type_: Array, before: Spread, after: Spread) -> ReshardPlan:
    """The plan for an array of this type, by atoms as coarse as both spreads allow."""
    if before == after:
        return ReshardPlan((), 0.0)
    element_bytes = BY_TYPE[type_.element_type].bits / 8
    return _plan(mesh, sizes_of(type_), element_bytes, before, after)


def sent_bytes(mesh: MeshAtoms, value: SSAValue, before: Spread, after: Spread) -> float:
    """The bytes that a device sends to reshard an array."""
    return plan(mesh, cast(Array, value.type), before, after).bytes


@lru_cache(1 << 14)
def _plan(
    mesh: MeshAtoms, sizes: tuple[int, ...], element_bytes: float, before: Spread, after: Spread
) -> ReshardPlan:
    runs = _runs(before, after)
    numbers = {run[0]: number for number, run in enumerate(runs)}
    problem = ReshardProblem(
        tuple(mesh.parts(run) for run in runs), sizes, element_bytes, _coarse(after, numbers)
    )
    steps, bytes_ = plan_reshard(problem, _coarse(before, numbers))

    def fine(atoms: Sequence[int]) -> Atoms:
        return tuple(atom for number in atoms for atom in runs[number])

    found = [
        replace(
            step,
            atoms=fine(step.atoms),
            after=Spread(
                tuple(map(fine, step.after.dimensions)),
                frozenset(fine(tuple(step.after.unreduced))),
            ),
        )
        for step in steps
    ]
    return ReshardPlan(tuple(found), bytes_)


def _coarse(spread: Spread, numbers: dict[int, int]) -> Spread:
    """By the numbers of runs of atoms; atoms inside of a run are left out."""
    dimensions = tuple(
        tuple(numbers[atom] for atom in atoms if atom in numbers) for atoms in spread.dimensions
    )
    return Spread(dimensions, frozenset(numbers[a] for a in spread.unreduced if a in numbers))


def _runs(before: Spread, after: Spread) -> list[Atoms]:
    """
    The atoms that either uses, those in one run that go the same way: both sides have them behind
    each other; or one side does, and the other has nothing else than what stays in place.
    """
    sides = [(_followers(side), side.used) for side in (before, after)]
    common = before.used & after.used
    stays = _only(before, common) == _only(after, common) in (before, after)
    atoms = sorted(before.used | after.used)
    joined: dict[int, int] = {}
    for atom in atoms:
        found = {following.get(atom) for following, used in sides if atom in used or not stays}
        other = found.pop()
        if not found and other is not None and (atom in common) == (other in common):
            joined[atom] = other
    inner = set(joined.values())
    runs: list[Atoms] = []
    for atom in atoms:
        if atom in inner:
            continue
        run = [atom]
        while run[-1] in joined:
            run.append(joined[run[-1]])
        runs.append(tuple(run))
    return runs


def _only(spread: Spread, atoms: Set[int]) -> Spread:
    """A spread with no other atoms."""
    dimensions = (tuple(atom for atom in each if atom in atoms) for each in spread.dimensions)
    return Spread(tuple(dimensions), spread.unreduced & atoms)


def _followers(spread: Spread) -> dict[int, int]:
    """The atom behind each, where one has to follow: in a dimension, or folded as well."""
    found: dict[int, int] = {}
    for atoms in (*spread.dimensions, tuple(sorted(spread.unreduced))):
        found.update(pairwise(atoms))
    return found
