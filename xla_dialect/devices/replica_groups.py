"""Who takes part in a collective together: `#xla.replica_groups<{{0,2},{1,3}}>`.

HLO text has three spellings of groups of ids: listed, `[2,4]<=[4,2]T(1,0)` (the numbers from 0 in
an array that is transposed and cut into rows), and `mesh['a'=2,'b'=2] {'a'}` (the devices of a mesh
that differ in the named axes only).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index
from typing import ClassVar, Self, TypeAlias

from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.mesh import AxisList, AxisReference, Iota, Mesh, parse_device_ids
from xla_dialect.spelling import SpellingError, Tokens, shortened

Ints = tuple[int, ...]
Groups: TypeAlias = Sequence[Sequence[int]] | str | None
"""
Replica groups: lists of ids, or as HLO spells them, `"[2,4]<=[8]"`. None: one group of all.
"""
Pairs: TypeAlias = Sequence[tuple[int, int]]
"""Pairs of source and target."""
_QUOTE = "'"
MAX_IDS = 1 << 20
"""No collective has more participants."""


class ReplicaGroups(ABC):
    """Groups of ids; the order inside a group is that of the pieces of data."""

    @property
    @abstractmethod
    def id_count(self) -> int:
        """How many ids there are in all groups together."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The size of every group; None where sizes differ, or there are no groups."""

    @abstractmethod
    def expand(self) -> tuple[Ints, ...]:
        """The ids of every group; `fault` has to be None."""

    def fault(self) -> str | None:
        """What contradicts (RG1): no group is empty, and each of 0..n-1 is in exactly one."""
        if self.id_count > MAX_IDS:
            return f"{self.id_count} ids are more than {MAX_IDS}"
        groups = self.expand()
        if not all(groups):
            return "a group is empty"
        ids = sorted(number for group in groups for number in group)
        return (
            None if ids == list(range(len(ids))) else f"{len(ids)} ids are not 0 to {len(ids) - 1}"
        )

    @property
    def is_empty(self) -> bool:
        """Whether no groups are given: one group of all."""
        return not self.id_count

    @staticmethod
    def parse(text: str) -> ReplicaGroups:
        """Reads one of the three spellings; raises SpellingError."""
        tokens = Tokens(text)
        if tokens.accept("mesh"):
            groups = _parse_mesh(tokens)
        elif tokens.accept("["):
            groups = _parse_iota(tokens)
        else:
            groups = ListedGroups(tokens.lists())
        tokens.finish()
        return groups


@dataclass(frozen=True)
class ListedGroups(ReplicaGroups):
    """`{{0,2},{1,3}}`, and `{}` for no groups."""

    groups: tuple[Ints, ...] = ()

    @property
    def id_count(self) -> int:
        """The number of ids listed."""
        return sum(map(len, self.groups))

    @property
    def size(self) -> int | None:
        """The common length of the lists."""
        sizes = set(map(len, self.groups))
        return sizes.pop() if len(sizes) == 1 else None

    @property
    def is_empty(self) -> bool:
        """Whether no groups are listed."""
        return not self.groups

    def expand(self) -> tuple[Ints, ...]:
        """The lists."""
        return self.groups

    def __str__(self) -> str:
        return spell_lists(self.groups)


@dataclass(frozen=True)
class IotaGroups(ReplicaGroups):
    """`[G,S]<=[d0,d1]T(p0,p1)`: G groups of S ids; an identical permutation is left out."""

    count: int
    group_size: int
    iota: Iota

    @property
    def id_count(self) -> int:
        """Groups times their size."""
        return self.count * self.group_size

    @property
    def size(self) -> int | None:
        """S."""
        return self.group_size

    def fault(self) -> str | None:
        """The dimensions have as many ids as the groups, and are permuted by a permutation."""
        return self.iota.fault(self.id_count)

    def expand(self) -> tuple[Ints, ...]:
        """The rows of the transposed array."""
        return tuple(map(tuple, self.iota.ids().reshape(-1, self.group_size).tolist()))

    def __str__(self) -> str:
        return f"[{self.count},{self.group_size}]<={self.iota}"


@dataclass(frozen=True)
class MeshGroups(ReplicaGroups):
    """`mesh['a'=2,'b'=2], device_ids=([4]T(0)) {'a'}`: a group varies in the chosen axes only."""

    mesh: Mesh
    chosen: tuple[AxisReference, ...]
    iota: Iota | None = None
    """The order of the ids of the devices, where that is how they are given."""

    @property
    def is_empty(self) -> bool:
        """Never: there is one group at least."""
        return False

    @property
    def id_count(self) -> int:
        """The number of devices of the mesh."""
        return self.mesh.device_count

    @property
    def size(self) -> int | None:
        """The product of the chosen axes."""
        sizes = self.mesh.sizes
        return math.prod(axis.size or sizes.get(axis.name, 1) for axis in self.chosen)

    def fault(self) -> str | None:
        """The axes exist and divide as they should, and the ids are those of the devices."""
        sizes, ids = self.mesh.sizes, self.mesh.device_ids
        if len(sizes) != len(self.mesh.axes) or not self.id_count:
            return "an axis is named twice, or has size 0"
        for axis in self.chosen:
            part = axis.pre_size * (axis.size or 1)
            if axis.name not in sizes or not part or sizes[axis.name] % part:
                return f"there is no axis {axis.spelled(_QUOTE)} in the mesh"
        ordered = sorted(self.chosen, key=lambda axis: (axis.name, axis.pre_size))
        for first, second in pairwise(ordered):
            if first.name == second.name and second.pre_size % first.end_in(sizes):
                axes = ", ".join(axis.spelled(_QUOTE) for axis in self.chosen)
                return f"axes {axes} overlap"
        if self.iota is not None:
            return self.iota.fault(self.id_count)
        if ids and len(ids) != self.id_count:
            return f"{len(ids)} ids for {self.id_count} devices"
        return super().fault()

    def expand(self) -> tuple[Ints, ...]:
        """The devices that differ in the chosen axes only."""
        return self.mesh.groups(self.chosen)

    def __str__(self) -> str:
        chosen = ",".join(axis.spelled(_QUOTE) for axis in self.chosen)
        return f"{mesh_text(self.mesh, self.iota)} {{{chosen}}}"


def mesh_text(mesh: Mesh, iota: Iota | None = None) -> str:
    """A mesh as HLO text has it, and the order of its ids if they are given by one."""
    axes = ",".join(f"'{name}'={size}" for name, size in mesh.axes)
    ids = ",".join(map(str, mesh.device_ids))
    if iota is not None:
        ids = f"[{','.join(map(str, iota.dimensions))}]T({','.join(map(str, iota.permutation))})"
    return f"mesh[{axes}]{f', device_ids=({ids})' if ids else ''}"


def _parse_iota(tokens: Tokens) -> IotaGroups:
    """`2,4]<=[4,2]T(1,0)`, the first bracket being read already."""
    count = tokens.number()
    tokens.expect(",")
    size = tokens.number()
    tokens.expect("]", "<=")
    return IotaGroups(count, size, Iota.parse(tokens))


def _parse_mesh(tokens: Tokens) -> MeshGroups:
    """`['a'=4], device_ids=(3,2,1,0) {'a':(1)2}`, the word `mesh` being read already."""
    axes = Mesh.parse_axes(tokens)
    ids: Ints = ()
    iota: Iota | None = None
    if tokens.accept(","):
        tokens.expect("device_ids")
        ids, iota = parse_device_ids(tokens)
    return MeshGroups(Mesh(axes, ids), AxisList.parse(tokens), iota)


def spell_lists(lists: Sequence[Ints]) -> str:
    """Lists of numbers as HLO text has them: `{{0,2},{1,3}}`."""
    return "{" + ",".join("{" + ",".join(map(str, numbers)) + "}" for numbers in lists) + "}"


@irdl_attr_definition
class ReplicaGroupsAttr(SpelledAttribute[ReplicaGroups]):
    """`ReplicaGroups` as a property."""

    name = "xla.replica_groups"
    GIVEN: ClassVar = "Groups"

    @classmethod
    def of(cls, given: Groups | ReplicaGroups) -> Self:
        """The attribute for groups, or for the text of them; raises SpellingError."""
        if not isinstance(given, str | ReplicaGroups):
            given = ListedGroups(tuple(tuple(map(index, group)) for group in given or ()))
        return super().of(given)

    @classmethod
    def read(cls, text: str) -> ReplicaGroups:
        """The groups that a text stands for."""
        return ReplicaGroups.parse(text)


@dataclass(frozen=True)
class SourceTargetPairs:
    """The source and target of each transfer: `{{0,1},{1,2}}`."""

    pairs: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def parse(text: str) -> SourceTargetPairs:
        """Reads lists of two; raises SpellingError."""
        tokens = Tokens(text)
        lists = tokens.lists()
        tokens.finish()
        if any(len(numbers) != 2 for numbers in lists):
            raise SpellingError(f"expected pairs, found '{shortened(text)}'")
        return SourceTargetPairs(tuple((source, target) for source, target in lists))

    def __str__(self) -> str:
        return spell_lists(self.pairs)

    def repeated(self, most: int = 1) -> str | None:
        """`source` or `target`, where more than `most` pairs have the same; else None."""
        sides = zip(("source", "target"), zip(*self.pairs, strict=True), strict=False)
        return next(
            (side for side, ids in sides if max(Counter(ids).values(), default=0) > most), None
        )

    def slices_to(self, target: int) -> list[tuple[int, int, int]]:
        """
        Who sends slices to `target`: the source, which of its slices it is, and which of the
        target's.
        """
        sent, received = Counter[int](), Counter[int]()
        found: list[tuple[int, int, int]] = []
        for source, other in self.pairs:
            if other == target:
                found.append((source, sent[source], received[other]))
            sent[source] += 1
            received[other] += 1
        return found

    def target_of(self, source: int) -> int | None:
        """Whom `source` sends to, None if nobody."""
        return next((target for other, target in self.pairs if other == source), None)

    def source_of(self, target: int) -> int | None:
        """Who sends to `target`, None if nobody does."""
        return next((source for source, other in self.pairs if other == target), None)


@irdl_attr_definition
class SourceTargetPairsAttr(SpelledAttribute[SourceTargetPairs]):
    """`SourceTargetPairs` as a property."""

    name = "xla.source_target_pairs"
    GIVEN: ClassVar = "Pairs"

    @classmethod
    def of(cls, given: Pairs | SourceTargetPairs | str) -> Self:
        """The attribute for pairs, or for the text of them; raises SpellingError."""
        if not isinstance(given, str | SourceTargetPairs):
            given = SourceTargetPairs(tuple((index(s), index(t)) for s, t in given))
        return super().of(given)

    @classmethod
    def read(cls, text: str) -> SourceTargetPairs:
        """The pairs that a text stands for."""
        return SourceTargetPairs.parse(text)
