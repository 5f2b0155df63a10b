"""
Blocks of an array that do not lie as a device has them: halos of neighbours.

`moved_block` is the one function for slices, pads, reversals, concatenations and windows: it
brings the elements from any place to any device, with the fewest bytes by collective-permutes of
the parts that are needed, or by an all-gather where that is less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from lowerings.partitioning.local_builder import LocalBuilder, shape_of
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.shapes.size_arithmetic import ceil_div


@dataclass(frozen=True)
class BlockedDimension:
    """A dimension that atoms cut into equal blocks, the last of them padded or empty."""

    d: int
    size: int
    """Without padding."""
    atoms: Atoms
    parts: int

    @property
    def block(self) -> int:
        """The size of a block."""
        return ceil_div(self.size, self.parts)


@dataclass(frozen=True)
class _Piece:
    """What is needed of the block `delta` places further on, the same for all devices."""

    delta: int
    low: int
    high: int
    receivers: tuple[int, ...]
    """The numbers of the blocks whose devices need any of it."""


def moved_block(
    b: LocalBuilder,
    value: SSAValue,
    dimension: BlockedDimension,
    starts: Sequence[int],
    length: int,
    fill: SSAValue | None = None,
) -> SSAValue:
    """
    For the device of block q the elements `starts[q]` to `starts[q] + length` of the whole array.

    Elements outside of the array are `fill`, or anything where that is None.
    """
    here, pieces = dimension, _pieces(dimension, starts, length)
    if _permuted(pieces) > _gathered(here):
        found, base = b.all_gather(value, here.d, here.atoms), [0] * here.parts
    elif pieces:
        parts = [_received(b, value, here, piece) for piece in pieces]
        found = b.concatenate(parts, here.d)
        first = pieces[0]
        base = [(q + first.delta) * here.block + first.low for q in range(here.parts)]
    else:
        found, base = b.slice(value, here.d, 0, 0), [0] * here.parts
    offsets = [start - at for start, at in zip(starts, base, strict=True)]
    if len(set(offsets)) > 1:
        offsets = [_nearest(o, s, here.size, length) for o, s in zip(offsets, starts, strict=True)]
    low = max(0, -min(offsets))
    high = max(0, max(offsets) + length - shape_of(found)[here.d])
    found = b.pad(found, here.d, low, high)
    if len(set(offsets)) == 1:
        found = b.slice(found, here.d, offsets[0] + low, offsets[0] + low + length)
    else:
        start = b.by_block(here.atoms, [offset + low for offset in offsets])
        found = b.cut(found, here.d, start, length)
    inside = all(0 <= s and s + length <= here.size for s in starts)
    if fill is None or inside:
        return found
    return b.masked(found, here.d, b.by_block(here.atoms, starts), here.size, fill)


def sent_elements(dimension: BlockedDimension, starts: Sequence[int], length: int) -> int:
    """How many elements of a line a device sends for `moved_block`."""
    return min(_permuted(_pieces(dimension, starts, length)), _gathered(dimension))


def _permuted(pieces: Sequence[_Piece]) -> int:
    return sum(piece.high - piece.low for piece in pieces if piece.delta)


def _gathered(here: BlockedDimension) -> int:
    return (here.parts - 1) * here.block


def _nearest(offset: int, start: int, size: int, length: int) -> int:
    """Where nothing of the array is needed it does not matter what is read."""
    return 0 if start >= size or start + length <= 0 else offset


def _pieces(here: BlockedDimension, starts: Sequence[int], length: int) -> list[_Piece]:
    """What has to be received, so that all of it is one run of elements."""
    block = here.block
    needs: dict[int, list[tuple[int, int, int]]] = {}
    for q, start in enumerate(starts):
        first, end = max(start, 0), min(start + length, here.size)
        for r in range(here.parts if first < end else 0):
            low, high = max(first - r * block, 0), min(end - r * block, block)
            if low < high:
                needs.setdefault(r - q, []).append((low, high, q))
    if not needs:
        return []
    deltas = range(min(needs), max(needs) + 1)
    found: list[_Piece] = []
    for delta in deltas:
        spans = needs.get(delta, [])
        low = min((low for low, _, _ in spans), default=0) if delta == deltas[0] else 0
        high = max((high for _, high, _ in spans), default=0) if delta == deltas[-1] else block
        found.append(_Piece(delta, low, high, tuple(q for _, _, q in spans)))
    return found


def _received(b: LocalBuilder, value: SSAValue, here: BlockedDimension, piece: _Piece) -> SSAValue:
    part = b.slice(value, here.d, piece.low, piece.high)
    if not piece.delta:
        return part
    pairs = [
        (group[q + piece.delta], group[q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in piece.receivers
    ]
    return b.permute(part, pairs)


def mirrored(b: LocalBuilder, value: SSAValue, here: BlockedDimension) -> SSAValue:
    """The blocks in opposite order, the elements of each as they are."""
    pairs = [
        (group[q], group[here.parts - 1 - q])
        for group in b.mesh.groups(here.atoms).expand()
        for q in range(here.parts)
    ]
    return b.permute(value, pairs)
