"""Exchanges of arrays between the members of a group: what every collective consists of.

A member has arrays for each other member, and memory for what each sends to it. Nothing else
passes between processes, so that they need no common memory; where they have it, the receiver
copies out of the memory of the sender, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from xla_dialect.diagnostics import XlaError

LogicalId: TypeAlias = tuple[int, int]
"""The replica and the partition of a process: what XLA calls its logical id."""

Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Arrays: TypeAlias = Sequence[Array]
NOTHING: Arrays = ()
"""What a member has for one to which it sends nothing."""
Condition: TypeAlias = Callable[[], bool]

PIECES_FROM = 1 << 16
"""Bytes from which on each member folds a piece of an array, and not all of it: a second exchange
takes longer than to fold less."""
_PIECE_MULTIPLE = 64
"""Pieces are a multiple of so many elements long: vectors, and lines of a cache, are not shared."""


def piece_length(elements: int, bytes_per_element: int, members: int) -> int | None:
    """
    How many elements of an array each of the members folds; None where each folds all of them.

    The last members have fewer, or none.
    """
    if members < 2 or elements * bytes_per_element < PIECES_FROM:
        return None
    return -(-elements // (members * _PIECE_MULTIPLE)) * _PIECE_MULTIPLE


def pieces(array: Array, length: int, members: int) -> list[Array]:
    """The pieces of an array for members, in order; views of it where its elements lie dense."""
    flat = array.reshape(-1)
    return [flat[number * length : (number + 1) * length] for number in range(members)]


def copy_into(targets: Arrays, sources: Arrays, sender: str) -> None:
    """Copies arrays one by one; raises XlaError where types differ, in which `sender` is named."""
    if [(s.dtype, s.shape) for s in sources] != [(t.dtype, t.shape) for t in targets]:
        sent, expected = (
            " ".join(f"{array.dtype}{list(array.shape)}" for array in each)
            for each in (sources, targets)
        )
        raise XlaError(
            f"{sender} sends {sent or 'nothing'}, and {expected or 'nothing'} is expected"
        )
    for target, source in zip(targets, sources, strict=True):
        np.copyto(_as_builtin(target), _as_builtin(source))


def _as_builtin(array: Array) -> Array:
    """The array with elements of a type that numpy copies without holding the interpreter."""
    return array if array.dtype.isbuiltin == 1 else array.view(f"u{array.dtype.itemsize}")


class Exchange(ABC):
    """An exchange that has begun."""

    number: int
    """How often, with this one, the members have met with its key."""

    @abstractmethod
    def take(self, into: Sequence[Arrays]) -> None:
        """
        Waits for what each member, in their order, has for this one, and copies it into arrays.

        Raises XlaError where they are of other types.
        """


@dataclass
class Offer:
    """What a member has for the others."""

    outgoing: Sequence[Arrays]
    """For each member, in order."""
    borrowed: bool
    """Whether the arrays may change as soon as this member has what it came for."""


@dataclass(eq=False)
class Rendezvous:
    """One execution of an exchange in one memory; all of it under the lock of the grid."""

    members: tuple[LogicalId, ...]
    offers: dict[LogicalId, Offer] = field(default_factory=dict[LogicalId, Offer])
    present: set[LogicalId] = field(default_factory=set[LogicalId])
    """Who waits for what it came for, or has it: others have begun and will come back for it."""
    copying: set[LogicalId] = field(default_factory=set[LogicalId])
    """Who copies out of the memory of others."""
    left: set[LogicalId] = field(default_factory=set[LogicalId])
    """Who has what it came for."""
    failure: BaseException | None = None
    """Why a member has left without."""

    @property
    def missing(self) -> list[LogicalId]:
        """The members that have not come."""
        return [member for member in self.members if member not in self.offers]

    @property
    def is_complete(self) -> bool:
        """Whether all members have come."""
        return len(self.offers) == len(self.members)

    @property
    def is_lent(self) -> bool:
        """Whether someone waits until others have copied its arrays."""
        return any(offer.borrowed for offer in self.offers.values())

    def collect(self, place: LogicalId) -> list[Arrays]:
        """What all members have for one, which copies it; that leaves copies for who is away."""
        if self.failure is not None:
            raise self.failure
        self.copying.add(place)
        own = self.offers[place]
        if own.borrowed:
            own.outgoing = [
                arrays if member in self.present else [array.copy() for array in arrays]
                for member, arrays in zip(self.members, own.outgoing, strict=True)
            ]
        me = self.members.index(place)
        return [self.offers[member].outgoing[me] for member in self.members]

    def leave(self, place: LogicalId, failure: BaseException | None) -> None:
        """Notes that a member has copied, or has failed to."""
        self.copying.discard(place)
        self.left.add(place)
        self.failure = self.failure or failure


def small(outgoing: Sequence[Arrays]) -> bool:
    """Whether arrays are so small that copies of them take less time than to wait for others."""
    seen: dict[int, Any] = {id(array): array for arrays in outgoing for array in arrays}
    return sum(array.nbytes for array in seen.values()) < PIECES_FROM


def copied(outgoing: Sequence[Arrays]) -> list[Arrays]:
    """Copies of all arrays, one of each."""
    copies = {id(array): array.copy() for arrays in outgoing for array in arrays}
    return [[copies[id(array)] for array in arrays] for arrays in outgoing]
