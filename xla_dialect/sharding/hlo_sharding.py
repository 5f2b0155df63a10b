"""Shardings as HLO has them: tiles of an array, and which device has which.

{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.mesh import MAX_DEVICES, Mesh
from xla_dialect.sharding.shards import Shards
from xla_dialect.sharding.tokens import Tokens
from xla_dialect.spelling import Excerpt, SpellingError, shortened


class HloShardingKind(Enum):
    """What a sharding says; the values are the words of HLO text."""

    TILED = "devices"
    REPLICATED = "replicated"
    MAXIMAL = "maximal"
    MANUAL = "manual"
    UNKNOWN = "unknown"
    UNREDUCED = "unreduced"
    NAMED = "mesh"
    """By the axes of a mesh."""
    NAMED_MAXIMAL = "maximal_mesh"
    TUPLE = "tuple"


_OF_ONE_WORD = {
    kind.value: kind
    for kind in (
        HloShardingKind.REPLICATED,
        HloShardingKind.MAXIMAL,
        HloShardingKind.MANUAL,
        HloShardingKind.UNKNOWN,
        HloShardingKind.UNREDUCED,
    )
}
_REPLICATE_LAST = "last_tile_dim_replicate"
_GROUPS = ("shard_as", "shard_like")
REDUCTIONS = ("sum", "max", "min")
"""What is still to be made of the parts of an unreduced array; the first where nothing is said."""


@dataclass(frozen=True)
class TileAssignment:
    """An array of devices: `[4,2]<=[2,4]T(1,0)`, or `[2,2]0,2,1,3`."""

    sizes: tuple[int, ...]
    """Of the array: how many tiles there are along each dimension, and subgroups behind."""
    dimensions: tuple[int, ...] = ()
    """The devices from 0 are an array of these sizes that is transposed."""
    permutation: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()
    """The devices, where they are not in such an order."""

    def devices(self) -> NDArray[np.int64]:
        """The array; raises SpellingError where there is none."""
        count = math.prod(self.sizes)
        what = f"devices=[{shortened(','.join(map(str, self.sizes)))}]"
        if not 0 < count <= MAX_DEVICES:
            raise SpellingError(f"{what} are {count} devices, not 1 to {MAX_DEVICES}")
        listed = np.array(self.listed, np.int64)
        if self.dimensions:
            order = self.permutation or tuple(range(len(self.dimensions)))
            if sorted(order) != list(range(len(self.dimensions))):
                raise SpellingError(f"{what}: {list(order)} is no permutation")
            if math.prod(self.dimensions) != count:
                raise SpellingError(f"{what} of an array of {list(self.dimensions)}")
            listed = np.arange(count).reshape(self.dimensions).transpose(order).flatten()
        if len(listed) != count or len(np.unique(listed)) != count:
            raise SpellingError(f"{what} needs {count} different devices")
        return listed.reshape(self.sizes)


@dataclass(frozen=True)
class HloSharding:
    """A sharding, with the text that it is; all else follows from it."""

    text: str
    kind: HloShardingKind
    tiles: TileAssignment | None = None
    subgroups: tuple[str, ...] = ()
    """What the last dimensions of the tiles are: `replicated`, `manual` and so on."""
    device: int | None = None
    group: tuple[str, int] | None = None
    """`shard_as` or `shard_like`, and a number: arrays that are split alike."""
    elements: tuple[HloSharding, ...] = ()
    """Of a tuple."""
    named: Sharding | None = None
    manual: tuple[AxisReference, ...] = ()
    """Of a named one: axes along which the array is a device's own already."""
    reduction: str = REDUCTIONS[0]
    """Of a named one: over its unreduced axes."""

    @staticmethod
    def read(text: str) -> HloSharding:
        """Reads `{replicated}`, or for a tuple `{{replicated}, {manual}}`; raises SpellingError."""
        tokens = Tokens(text)
        found = _parse(tokens)
        tokens.finish()
        return found

    def __str__(self) -> str:
        return self.text

    @property
    def leaves(self) -> tuple[HloSharding, ...]:
        """The shardings of the arrays: of a tuple its elements, else this one."""
        return self.elements if self.kind is HloShardingKind.TUPLE else (self,)

    def shards(self, rank: int, device_count: int) -> Shards:
        """
        Which part each of the devices has of an array of this rank.

        Raises SpellingError where that is not said: for parts that are a device's own, or tuples.
        """
        match self.kind:
            case HloShardingKind.REPLICATED | HloShardingKind.MAXIMAL:
                return Shards.replicated(rank, device_count)
            case HloShardingKind.NAMED if self.named is not None and not self.manual:
                assert isinstance(self.named.mesh, Mesh)
                return Shards.of_mesh(self.named.mesh, self.named, rank)
            case HloShardingKind.TILED if self.tiles is not None:
                return self._tiles(self.tiles, rank)
            case _:
                raise SpellingError(f"sharding {shortened(self.text)} is not supported")

    def _tiles(self, tiles: TileAssignment, rank: int) -> Shards:
        if len(tiles.sizes) < rank:
            raise SpellingError(f"sharding {shortened(self.text)} for {rank} dimensions")
        devices = tiles.devices()
        places = {
            int(device): tuple(map(int, index[:rank])) for index, device in np.ndenumerate(devices)
        }
        return Shards(tiles.sizes[:rank], places)


def _parse(tokens: Tokens) -> HloSharding:
    """Reads one in its braces."""
    start = tokens.position
    tokens.expect("{")
    if tokens.at("{") or tokens.at("}"):
        elements = tuple(tokens.list_until("}", lambda: _parse(tokens)))
        text = tokens.text[start : tokens.position].strip()
        return HloSharding(text, HloShardingKind.TUPLE, elements=elements)
    fields: dict[str, object] = {}
    kind: HloShardingKind | None = None
    if tokens.accept("mesh"):
        kind = HloShardingKind.NAMED
        fields |= _parse_named(tokens)
    elif tokens.accept("maximal_mesh"):
        kind = HloShardingKind.NAMED_MAXIMAL
        tokens.expect("[", "device_id", "=")
        fields["device"] = tokens.number()
        tokens.expect("]")
    while not tokens.accept("}"):
        tokens.accept(",")
        found = _parse_field(tokens, fields)
        kind = kind or found
    text = tokens.text[start : tokens.position].strip()
    if kind is None:
        raise SpellingError(f"sharding {shortened(text)} says nothing", start)
    tiles = fields.get("tiles")
    if isinstance(tiles, TileAssignment) and math.prod(tiles.sizes) <= MAX_DEVICES:
        with Excerpt(start):
            tiles.devices()
    return HloSharding(text, kind, **fields)  # pyright: ignore[reportArgumentType]


def _parse_field(tokens: Tokens, fields: dict[str, object]) -> HloShardingKind | None:
    """Reads a word or `field=value`; the kind, if it says that."""
    word = tokens.word()
    if word in _GROUPS:
        fields["group"] = (word, tokens.number())
        return None
    if word == _REPLICATE_LAST:
        fields["subgroups"] = (HloShardingKind.REPLICATED.value,)
        return None
    if not tokens.accept("="):
        if word not in _OF_ONE_WORD:
            raise SpellingError(f"unknown word '{word}' in a sharding", tokens.position)
        return _OF_ONE_WORD[word]
    match word:
        case "devices":
            fields["tiles"] = _parse_tiles(tokens)
            return HloShardingKind.TILED
        case "last_tile_dims":
            tokens.expect("{")
            fields["subgroups"] = tuple(tokens.list_until("}", tokens.word))
        case "device":
            fields["device"] = tokens.number()
        case "metadata":
            _skip_braces(tokens)
        case _:
            raise SpellingError(f"unknown field '{word}' of a sharding", tokens.position)
    return None


def _parse_tiles(tokens: Tokens) -> TileAssignment:
    """`[2,2]<=[2,2]T(1,0)` or `[2,2]0,1,2,3`"""
    sizes = tokens.numbers("[", "]")
    if tokens.accept("<="):
        dimensions = tokens.numbers("[", "]")
        permutation = tokens.numbers("(", ")") if tokens.accept("T") else ()
        return TileAssignment(sizes, dimensions, permutation)
    listed = [tokens.number()]
    while tokens.accept(","):
        listed.append(tokens.number())
    return TileAssignment(sizes, listed=tuple(listed))


def _parse_named(tokens: Tokens) -> dict[str, object]:
    """`['a'=2,'b'=4], [{'a'}, {?}], replicated={'b'}`; the fields of a sharding that it gives."""

    start = tokens.position
    axes = Mesh.parse_axes(tokens)
    ids: tuple[int, ...] = ()
    lists: dict[str, tuple[AxisReference, ...]] = {}
    dimensions: list[DimensionSharding] = []
    reduction = REDUCTIONS[0]

    names = [name for name, _ in axes]

    def axis(tokens: Tokens) -> AxisReference:
        return _parse_axis(tokens, names)

    def dimension() -> DimensionSharding:
        return DimensionSharding.parse(tokens, axis)

    while not tokens.at("}"):
        tokens.accept(",")
        if tokens.accept("device_ids"):
            ids = _parse_device_ids(tokens)
        elif tokens.accept("["):
            dimensions = tokens.list_until("]", dimension)
        elif tokens.accept("metadata"):
            tokens.expect("=")
            _skip_braces(tokens)
        else:
            name = tokens.word()
            if tokens.accept("=") and not tokens.at("{"):
                reduction = tokens.word()
            if tokens.accept("{"):
                lists[name] = tuple(tokens.list_until("}", lambda: axis(tokens)))
            elif name != HloShardingKind.REPLICATED.value:
                lists[name] = tuple(map(AxisReference, names))
    mesh = Mesh(axes, ids)
    replicated, unreduced, manual = (
        lists.get(name, ()) for name in ("replicated", "unreduced", "manual")
    )
    sharding = Sharding(mesh, tuple(dimensions), replicated, unreduced)
    _check_named(mesh, sharding, manual, start)
    return {"named": sharding, "manual": manual, "reduction": reduction}


def _parse_axis(tokens: Tokens, names: Sequence[str]) -> AxisReference:
    """`'a'` or `'a':(1)2`; instead of its name an axis may have its number, `'0'` or `0`."""
    if tokens.peek()[0].isdecimal():
        start, number = tokens.position, tokens.number()
        if number >= len(names):
            raise SpellingError(f"there is no axis {number} of {len(names)}", start)
        return AxisReference(names[number])
    found = AxisReference.parse(tokens)
    number = found.name
    if number not in names and number.isdecimal() and int(number) < len(names):
        return replace(found, name=names[int(number)])
    return found


def _parse_device_ids(tokens: Tokens) -> tuple[int, ...]:
    """`=(0,2,1,3)` or `=([2,2]T(1,0))`"""
    tokens.expect("=", "(")
    if not tokens.at("["):
        return tuple(tokens.list_until(")", tokens.number))
    sizes = tokens.numbers("[", "]")
    order = tokens.numbers("(", ")") if tokens.accept("T") else ()
    tokens.expect(")")
    return tuple(TileAssignment(sizes, sizes, order).devices().flatten().tolist())


def _check_named(
    mesh: Mesh, sharding: Sharding, manual: tuple[AxisReference, ...], start: int
) -> None:
    """The axes are those of the mesh, no part of one is used twice; raises SpellingError."""
    fault = mesh.fault() or sharding.fault(mesh, sharding.rank)
    # What is manual is used up like what is a sum still.
    fault = fault or replace(sharding, unreduced=manual).fault(mesh, sharding.rank)
    if fault is not None:
        raise SpellingError(fault, start)


_BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)


def _skip_braces(tokens: Tokens) -> None:
    """Steps over metadata: they do not matter here."""
    if not tokens.at("{"):
        tokens.fail("'{'")
    depth = 0
    for match in _BRACES.finditer(tokens.text, tokens.position):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if not depth:
            tokens.position = match.end()
            return
    tokens.fail("braces that are closed")


@irdl_attr_definition
class HloShardingAttr(SpelledAttribute[HloSharding]):
    """`#xla.hlo_sharding<{devices=[2,1]<=[2]}>`"""

    name = "xla.hlo_sharding"

    @classmethod
    def read(cls, text: str) -> HloSharding:
        """The sharding that a text stands for."""
        return HloSharding.read(text)
