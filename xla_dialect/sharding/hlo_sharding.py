"""Shardings as HLO has them: tiles of an array, and which device has which.

{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}

And the same over the axes of a mesh: `MeshesOfTiles`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding, Shards
from xla_dialect.sharding.mesh import (
    MAX_DEVICES,
    AxisReference,
    Iota,
    Mesh,
    merged_axes,
    parse_device_ids,
    spelled_at,
)
from xla_dialect.spelling import FIELD, Excerpt, SpellingError, Tokens, shortened


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
    order: Iota | tuple[int, ...]
    """The devices from 0 on, or listed where they are not in such an order."""

    def devices(self) -> NDArray[np.int64]:
        """The array; raises SpellingError where there is none."""
        count = math.prod(self.sizes)
        what = f"devices=[{shortened(','.join(map(str, self.sizes)))}]"
        if not 0 < count <= MAX_DEVICES:
            raise SpellingError(f"{what} are {count} devices, not 1 to {MAX_DEVICES}")
        if isinstance(self.order, Iota):
            fault = self.order.fault(count)
            if fault is not None:
                raise SpellingError(f"{what}: {fault}")
            return self.order.ids().reshape(self.sizes)
        listed = np.array(self.order, np.int64)
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
        tiles = TileAssignment(sizes, Iota.parse(tokens))
    else:
        listed = [tokens.number()]
        while tokens.accept(","):
            listed.append(tokens.number())
        tiles = TileAssignment(sizes, tuple(listed))
    if math.prod(sizes) <= MAX_DEVICES:
        with Excerpt(start):
            tiles.devices()
    return tiles


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
        ids, iota = parse_device_ids(tokens)
        if iota is not None and not ids:
            tokens.fail_with(f"{iota} is no order of devices")
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


def _check_named(
    mesh: Mesh, sharding: Sharding, manual: tuple[AxisReference, ...], start: int
) -> None:
    """The axes are those of the mesh, no part of one is used twice; raises SpellingError."""
    with spelled_at(start):
        mesh.check()
        sharding.check(mesh, sharding.rank)
        # What is manual is used up like what is a sum still.
        replace(sharding, unreduced=manual).check(mesh, sharding.rank)


def _skip_braces(tokens: Tokens) -> None:
    """Steps over metadata: they do not matter here."""
    if not tokens.at("{"):
        tokens.fail("'{'")
    tokens.group()


@irdl_attr_definition
class HloShardingAttr(SpelledAttribute[HloSharding]):
    """`#xla.hlo_sharding<{devices=[2,1]<=[2]}>`"""

    name = "xla.hlo_sharding"

    @classmethod
    def read(cls, text: str) -> HloSharding:
        """The sharding that a text stands for."""
        return HloSharding.read(text)


# Arrays of devices in terms of the axes of a mesh.
#
# Along each dimension of such an array the places of the devices in the mesh grow by steps that
# have the sizes of axes, and parts of axes: that is what tiles of HLO are, and meshes themselves.

Devices = NDArray[np.int64]
"""Ids, each once."""
_Digits = tuple[tuple[int, int], ...]
"""Sizes and strides of a run through places, the most major first."""


def common_mesh(arrays: Iterable[Devices], device_count: int) -> Mesh:
    """
    The mesh `axis_0`, `axis_1` and so on over whose axes all of these are, if there is one.

    Its devices are in order unless an array needs another one. What does not fit to the arrays
    before it is left out.
    """
    given = list(arrays)
    ordered = tuple(range(device_count))
    orders = [ordered] + [
        tuple(devices.flatten().tolist()) for devices in given if devices.size == device_count
    ]
    # The first order in which the most arrays are patterns; mostly that is the first of all.
    best: list[_Digits] = []
    order = ordered
    for each in dict.fromkeys(orders):
        places = {device: place for place, device in enumerate(each)}
        found = [digits for devices in given if (digits := _digits(devices, places)) is not None]
        if len(found) > len(best):
            best, order = found, each
        if len(best) == len(given):
            break
    cuts = {1, device_count}
    for digits in best:
        wanted = cuts | {n for size, stride in digits for n in (stride, stride * size)}
        if all(high % low == 0 for low, high in pairwise(sorted(wanted))):
            cuts = wanted
    sizes = [high // low for low, high in pairwise(sorted(cuts))][::-1]
    axes = tuple((f"axis_{d}", size) for d, size in enumerate(sizes))
    return Mesh(axes, () if order == ordered else order)


def axes_of(mesh: Mesh, devices: Devices) -> list[tuple[AxisReference, ...]] | None:
    """For each dimension of an array the axes of a mesh; None where there are none."""
    digits = _digits(devices, mesh.positions)
    if digits is None:
        return None
    parts: list[AxisReference] = []
    for size, stride in digits:
        product = 1
        for axis in mesh.whole_axes:
            part = _part(mesh, axis, stride, stride * size)
            if part is not None:
                parts.append(part)
                product *= mesh.size((part,))
        if product != size:
            return None
    found: list[tuple[AxisReference, ...]] = []
    for size in devices.shape:
        taken: list[AxisReference] = []
        while size > 1:
            if not parts:
                return None
            part = parts.pop(0)
            mine = mesh.size((part,))
            if size % mine:
                if mine % size:
                    return None
                part, rest = part.split(size, mesh.sizes)
                parts[:0] = [] if rest is None else [rest]
                mine = size
            size //= mine
            taken.append(part)
        found.append(merged_axes(taken, mesh.sizes))
    return found


def _part(mesh: Mesh, axis: AxisReference, low: int, high: int) -> AxisReference | None:
    """The part of an axis with strides from `low` to below `high`; None where there is none."""
    stride = mesh.stride(axis)
    end = stride * mesh.size((axis,))
    low, high = max(low, stride), min(high, end)
    if low >= high or high % low or low % stride or end % high:
        return None
    return axis.between(end // high, end // low, mesh.sizes)


def _digits(devices: Devices, places: dict[int, int]) -> _Digits | None:
    """The pattern of the places of an array's devices; None where there is none."""
    if not all(device in places for device in devices.flat):
        return None
    mine = np.array([places[int(device)] for device in devices.flat], np.int64)
    rest = mine
    digits: list[tuple[int, int]] = []
    for size in reversed(devices.shape):
        # Inside of a dimension, too, the devices may be in several runs.
        while size > 1:
            stride = int(rest[1] - rest[0])
            steps = np.diff(rest[:size]) == stride
            run = size if steps.all() else int(np.argmin(steps)) + 1
            if stride < 1 or size % run:
                return None
            digits.insert(0, (run, stride))
            rest, size = rest[::run], size // run
    built = np.zeros(1, np.int64)
    for size, stride in digits:
        built = (built[:, None] + np.arange(size) * stride).reshape(-1)
    return tuple(digits) if np.array_equal(built, mine) else None


@dataclass(frozen=True)
class MeshesOfTiles:
    """The meshes over which shardings of HLO can be said."""

    common: Mesh
    """The one for all that are patterns of its devices."""

    @staticmethod
    def of(shardings: Iterable[HloSharding], device_count: int) -> MeshesOfTiles:
        """The mesh `axis_0`, `axis_1` and so on in which all of these are patterns, if any is."""
        tiles = [sharding.tiles.devices() for sharding in shardings if sharding.tiles is not None]
        return MeshesOfTiles(common_mesh(tiles, device_count))

    def fits(self, shardings: Iterable[HloSharding]) -> bool:
        """Whether all of these are patterns."""
        tiles = (each.tiles for each in shardings if each.tiles is not None)
        return all(axes_of(self.common, each.devices()) is not None for each in tiles)

    def sharding(
        self,
        sharding: HloSharding,
        rank: int,
        name: str,
        open_dimensions: Collection[int] = (),
    ) -> Sharding | None:
        """
        What a sharding says of an array of this rank; `name` is that of the common mesh.

        None where it says nothing, or that the array is a device's own. Raises SpellingError where
        it does not fit.
        """
        match sharding.kind:
            case HloShardingKind.REPLICATED:
                found = Sharding.replicated_over(name, rank)
            case HloShardingKind.MAXIMAL | HloShardingKind.NAMED_MAXIMAL:
                device, count = sharding.device or 0, self.common.device_count
                if device >= count > 1:
                    raise SpellingError(
                        f"sharding {shortened(sharding.text)} of a program of {count} devices"
                    )
                return Sharding(Mesh((), (device,)))
            case HloShardingKind.NAMED if sharding.named is not None:
                if sharding.reduction != REDUCTIONS[0]:
                    text = shortened(sharding.text)
                    raise SpellingError(f"sharding {text}: only sums are made of parts")
                return sharding.named
            case HloShardingKind.TILED:
                found = self._of_tiles(sharding, rank, name)
            case _:
                return None
        dimensions = (
            DimensionSharding(each.axes, d not in open_dimensions)
            for d, each in enumerate(found.dimensions)
        )
        return Sharding(found.mesh, tuple(dimensions))

    def manual_axes(self, sharding: HloSharding) -> list[str] | None:
        """
        The names of the axes along which an array is a device's own.

        None where they are no whole axes of the common mesh.
        """
        if sharding.kind is HloShardingKind.MANUAL:
            return list(self.common.sizes)
        if sharding.kind is HloShardingKind.NAMED:
            return [axis.name for axis in sharding.manual]
        if sharding.tiles is None:
            return []
        axes = axes_of(self.common, sharding.tiles.devices())
        rank = len(sharding.tiles.sizes) - len(sharding.subgroups)
        found = [
            axis
            for d, kind in enumerate(sharding.subgroups)
            if kind == HloShardingKind.MANUAL.value and axes is not None
            for axis in axes[rank + d]
        ]
        is_whole = axes is not None and all(axis.size is None for axis in found)
        return [axis.name for axis in found] if is_whole else None

    def _of_tiles(self, sharding: HloSharding, rank: int, name: str) -> Sharding:
        assert sharding.tiles is not None
        sizes = sharding.tiles.sizes
        if len(sizes) != rank + len(sharding.subgroups):
            raise SpellingError(
                f"sharding {shortened(sharding.text)} has {len(sizes) - len(sharding.subgroups)} "
                f"dimensions for an array of rank {rank}"
            )
        devices = sharding.tiles.devices()
        count = self.common.device_count
        if devices.size != count or devices.max() >= count:
            raise SpellingError(
                f"sharding {shortened(sharding.text)} is over {devices.size} devices up to "
                f"{devices.max()}, the program has {count}"
            )
        axes = axes_of(self.common, devices)
        if axes is None:
            mesh = Mesh(
                tuple((f"axis_{d}", size) for d, size in enumerate(sizes) if size > 1),
                tuple(devices.flatten().tolist()),
            )
            found = [(AxisReference(f"axis_{d}"),) if n > 1 else () for d, n in enumerate(sizes)]
            return Sharding.of_axes(mesh, found[:rank])
        return Sharding.of_axes(name, axes[:rank])
