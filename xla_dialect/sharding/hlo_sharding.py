"""Shardings as HLO has them: tiles of an array, and which device has which.

{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.mesh import MAX_DEVICES, Mesh
from xla_dialect.sharding.shards import Shards
from xla_dialect.sharding.tokens import Tokens
from xla_dialect.spelling import FIELD, Excerpt, SpellingError, shortened


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


_SUBGROUPS = tuple(
    kind.value
    for kind in (
        HloShardingKind.MAXIMAL,
        HloShardingKind.REPLICATED,
        HloShardingKind.MANUAL,
        HloShardingKind.UNREDUCED,
    )
)
"""What the devices of a subgroup may be to each other; of a whole array, too."""
_REPLICATE_LAST = "last_tile_dim_replicate"
_WORDS = (*_SUBGROUPS, HloShardingKind.UNKNOWN.value, _REPLICATE_LAST)
_GROUPS = ("shard_as", "shard_like")
SHARDING_KEYWORDS = (*_WORDS, *_GROUPS)
REDUCTIONS = ("sum", "max", "min")
"""What is still to be made of the parts of an unreduced array; the first where nothing is said."""


Metadata: TypeAlias = Callable[[Tokens], object]
"""Steps over metadata; raises SpellingError."""


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
    def read(text: str, metadata: Metadata | None = None) -> HloSharding:
        """
        Reads `{replicated}`, or for a tuple `{{replicated}, {manual}}`; raises SpellingError.

        `metadata` reads what has no meaning here; without it, braces are stepped over.
        """
        tokens = Tokens(text)
        found = HloSharding.parse(tokens, metadata)
        tokens.finish("the end of the value")
        return found

    @staticmethod
    def parse(tokens: Tokens, metadata: Metadata | None = None) -> HloSharding:
        """As `read`, from where the tokens are."""
        return _parse(tokens, metadata or _skip_braces, may_be_tuple=True)

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


def _parse(tokens: Tokens, metadata: Metadata, *, may_be_tuple: bool = False) -> HloSharding:
    """Reads one in its braces."""
    start = tokens.position
    tokens.expect("{")
    if may_be_tuple and (tokens.at("{") or tokens.at("}")):
        elements = tuple(tokens.items("}", lambda: _parse(tokens, metadata)))
        text = tokens.text[start : tokens.position].strip()
        return HloSharding(text, HloShardingKind.TUPLE, elements=elements)
    if tokens.accept(HloShardingKind.NAMED.value):
        kind, given = HloShardingKind.NAMED, _parse_named(tokens, metadata)
    elif tokens.accept(HloShardingKind.NAMED_MAXIMAL.value):
        tokens.expect("[", "device_id", "=")
        kind, given = HloShardingKind.NAMED_MAXIMAL, {"device": tokens.number()}
        tokens.expect("]")
        if tokens.accept(","):
            tokens.field({"metadata": metadata}, {})
    else:
        kind, given = _parse_tiled(tokens, metadata)
    tokens.expect("}")
    text = tokens.text[start : tokens.position].strip()
    return HloSharding(text, kind, **given)  # pyright: ignore[reportArgumentType]


def _parse_tiled(
    tokens: Tokens, metadata: Metadata
) -> tuple[HloShardingKind, Mapping[str, object]]:
    """Words and fields, `devices=[2,2]<=[4] last_tile_dim_replicate`: kind and content."""
    start = tokens.position
    fields: Mapping[str, Callable[[Tokens], object]] = {
        "device": Tokens.number,
        "devices": _parse_tiles,
        "last_tile_dims": _parse_subgroups,
        "metadata": metadata,
    }
    known = (*SHARDING_KEYWORDS, *fields, HloShardingKind.NAMED.value)
    found: dict[str, object] = {}
    while not tokens.at("}"):
        if FIELD.match(tokens.text, tokens.position):
            tokens.field(fields, found)
            continue
        word = tokens.one_of(known)
        found[word] = tokens.number() if word in _GROUPS else word
    kinds = [word for word in _WORDS if word in found]
    if len(kinds) > 1:
        raise SpellingError(f"a sharding that is {kinds[0]} is not {kinds[1]}", start)
    word = next(iter(kinds), None)
    if word == HloShardingKind.MAXIMAL.value and "device" not in found:
        raise SpellingError("a maximal sharding needs 'device='", start)
    if word in (None, _REPLICATE_LAST):
        if word is not None and "last_tile_dims" in found:
            raise SpellingError(f"{word} says what last_tile_dims says", start)
        if "devices" not in found:
            raise SpellingError(f"expected one of {', '.join(known)}", start)
    elif word != HloShardingKind.MAXIMAL.value and found.keys() & {"device", "devices"}:
        raise SpellingError(f"a sharding that is {word} has no devices", start)
    is_tiled = word in (None, _REPLICATE_LAST)
    subgroups = (HloShardingKind.REPLICATED.value,) if word == _REPLICATE_LAST else ()
    return HloShardingKind.TILED if is_tiled else HloShardingKind(word), {
        "tiles": found.get("devices"),
        "subgroups": found.get("last_tile_dims", subgroups),
        "device": found.get("device"),
        "group": next(((name, found[name]) for name in _GROUPS if name in found), None),
    }


def _parse_subgroups(tokens: Tokens) -> tuple[str, ...]:
    """`{manual, replicated}`"""
    tokens.expect("{")
    return tuple(tokens.items("}", lambda: tokens.one_of(_SUBGROUPS)))


def _parse_tiles(tokens: Tokens) -> TileAssignment:
    """`[2,2]<=[2,2]T(1,0)` or `[2,2]0,1,2,3`"""
    start = tokens.position
    sizes = tokens.numbers("[", "]")
    if tokens.accept("<="):
        dimensions = tokens.numbers("[", "]")
        tiles = TileAssignment(sizes, dimensions, _parse_permutation(tokens))
    else:
        listed = [tokens.number()]
        while tokens.accept(","):
            listed.append(tokens.number())
        tiles = TileAssignment(sizes, listed=tuple(listed))
    if math.prod(sizes) <= MAX_DEVICES:
        with Excerpt(start):
            tiles.devices()
    return tiles


def _parse_permutation(tokens: Tokens) -> tuple[int, ...]:
    """`T(1,0)`, or nothing"""
    return tokens.numbers("(", ")") if tokens.accept("T") else ()


def _parse_named(tokens: Tokens, metadata: Metadata) -> Mapping[str, object]:
    """
    `['a'=2,'b'=4], [{'a'}, {?}], replicated={'b'}`; the fields of a sharding that it gives.

    Instead of the dimensions it may be a word: `['a'=2], unreduced=max{'a'}`.
    """
    start = tokens.position
    axes = Mesh.parse_axes(tokens)
    names = [name for name, _ in axes]
    ids: tuple[int, ...] = ()
    dimensions: list[DimensionSharding] = []
    reduction = REDUCTIONS[0]
    lists: dict[str, object] = {}

    def axis(tokens: Tokens) -> AxisReference:
        return _parse_axis(tokens, names)

    def dimension() -> DimensionSharding:
        found = DimensionSharding.parse(tokens, axis)
        if found.priority is not None:
            tokens.fail_with("a dimension has no priority in HLO text")
        return found

    def axis_list(tokens: Tokens) -> tuple[AxisReference, ...]:
        tokens.expect("{")
        return tuple(tokens.items("}", lambda: axis(tokens)))

    def unreduced(tokens: Tokens) -> tuple[AxisReference, ...]:
        nonlocal reduction
        if not tokens.at("{"):
            reduction = tokens.one_of(REDUCTIONS)
        return axis_list(tokens)

    if tokens.accept(",") and tokens.accept("device_ids"):
        ids = _parse_device_ids(tokens)
        tokens.accept(",")
    if tokens.accept("["):
        dimensions = tokens.items("]", dimension)
    else:
        word = tokens.one_of(_WHOLE)
        if word == "unreduced" and tokens.accept("="):
            reduction = tokens.one_of(REDUCTIONS)
        if word == "unreduced" and tokens.at("{"):
            lists[word] = axis_list(tokens)
        elif word != "replicated":
            lists[word] = tuple(map(AxisReference, names))
    fields = {
        **dict.fromkeys(("replicated", "manual"), axis_list),
        "unreduced": unreduced,
        "metadata": metadata,
    }
    found: dict[str, object] = {}
    while tokens.accept(","):
        tokens.field(fields, found)
    lists |= found
    mesh = Mesh(axes, ids)
    replicated, unreduced_axes, manual = (
        cast("tuple[AxisReference, ...]", lists.get(name, ())) for name in _WHOLE
    )
    sharding = Sharding(mesh, tuple(dimensions), replicated, unreduced_axes)
    _check_named(mesh, sharding, manual, start)
    return {"named": sharding, "manual": manual, "reduction": reduction}


_WHOLE = ("replicated", "unreduced", "manual")
"""What an array may be along axes that do not split it."""


def _parse_axis(tokens: Tokens, names: Sequence[str]) -> AxisReference:
    """`'a'` or `'a':(1)2`; instead of its name an axis may have its number, `'0'` or `0`."""
    if tokens.peek().isdecimal():
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
        return tuple(tokens.items(")", tokens.number))
    sizes = tokens.numbers("[", "]")
    order = _parse_permutation(tokens)
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
            tokens.skip_blanks()
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
