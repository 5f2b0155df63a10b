"""How the dimensions of an array are split over the axes of a mesh.

    <@mesh, [{"x", "y":(1)2}p1, {?}, {}], replicated={"z"}, unreduced={"w"}>

A dimension is split over its axes, the first the most major. `{}` is closed: it stays so.
`{"x", ?}` is open: propagation may add axes behind. The array is never split over replicated axes,
and it is a sum that is still to be made over unreduced ones. Rules:
docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xla_dialect.sharding.mesh import (
    AxisReference,
    Mesh,
    check_axes,
    check_order,
    spell_axes,
    spelled_at,
)
from xla_dialect.spelling import Excerpt, Tokens, symbol_text
from xla_dialect.violations import require

MAX_PRIORITY = 1 << 31


@dataclass(frozen=True)
class DimensionSharding:
    """The axes that a dimension is split over, most major first."""

    axes: tuple[AxisReference, ...] = ()
    is_closed: bool = True
    """Whether propagation may not add axes."""
    priority: int | None = None
    """When it is propagated: 0 first, and so are those without."""

    @classmethod
    def parse(
        cls, tokens: Tokens, axis: Callable[[Tokens], AxisReference] = AxisReference.parse
    ) -> DimensionSharding:
        """Reads `{"x", "y":(1)2, ?}p1`, axes by a function of theirs; raises SpellingError."""
        tokens.expect("{")
        axes: list[AxisReference] = []
        is_closed = True
        while not tokens.accept("}"):
            if axes:
                tokens.expect(",")
            if tokens.accept("?"):
                is_closed = False
                tokens.expect("}")
                break
            axes.append(axis(tokens))
        found = tokens.peek()
        priority = None
        if found[:1] == "p":
            if not found[1:].isdecimal() or int(found[1:]) >= MAX_PRIORITY:
                tokens.fail("a priority, such as p1")
            priority = int(found[1:])
            if not axes and is_closed:
                tokens.fail_with("(SH8) a dimension that is closed and empty has no priority")
            tokens.accept(found)
        return DimensionSharding(tuple(axes), is_closed, priority)

    def __str__(self) -> str:
        parts = [*map(str, self.axes), *(() if self.is_closed else ("?",))]
        priority = "" if self.priority is None else f"p{self.priority}"
        return f"{{{', '.join(parts)}}}{priority}"


OPEN = DimensionSharding(is_closed=False)
CLOSED = DimensionSharding()


@dataclass(frozen=True)
class Sharding:
    """How one array is split over a mesh."""

    mesh: str | Mesh
    """The name of a mesh of the module, or a mesh in its place."""
    dimensions: tuple[DimensionSharding, ...] = ()
    replicated: tuple[AxisReference, ...] = ()
    """Axes that the array is not to be split over, in the order of the mesh."""
    unreduced: tuple[AxisReference, ...] = ()
    """Axes over which the array is the sum of what devices have, in the order of the mesh."""

    @staticmethod
    def replicated_over(mesh: str | Mesh, rank: int, *, is_closed: bool = True) -> Sharding:
        """Every device has the whole array, of this rank; open: until propagation says more."""
        return Sharding(mesh, (CLOSED if is_closed else OPEN,) * rank)

    @staticmethod
    def of_axes(mesh: str | Mesh, axes: Sequence[Sequence[AxisReference]]) -> Sharding:
        """The closed sharding with these axes for each dimension."""
        return Sharding(mesh, tuple(DimensionSharding(tuple(each)) for each in axes))

    @classmethod
    def parse(cls, tokens: Tokens) -> Sharding:
        """Reads `<@mesh, [...], replicated={...}, unreduced={...}>`; raises SpellingError."""
        tokens.expect("<")
        mesh = Mesh.parse(tokens) if tokens.accept("mesh") else tokens.symbol()
        tokens.expect(",")
        dimensions = tokens.contents("sdy.dimension_sharding", DimensionSharding.parse)
        lists: dict[str, tuple[AxisReference, ...]] = {}
        while tokens.accept(","):
            name = tokens.peek()
            if name not in ("replicated", "unreduced") or name in lists:
                tokens.fail("replicated={...} or unreduced={...}, each once")
            tokens.expect(name, "=", "{")
            lists[name] = tuple(tokens.items("}", lambda: AxisReference.parse(tokens)))
            if not lists[name]:
                tokens.fail_with(f"{name} names no axes")
        tokens.expect(">")
        return Sharding(mesh, dimensions, **lists)

    def __str__(self) -> str:
        mesh = f"mesh<{self.mesh}>" if isinstance(self.mesh, Mesh) else symbol_text(self.mesh)
        parts = [mesh, f"[{', '.join(map(str, self.dimensions))}]"]
        for name in ("replicated", "unreduced"):
            axes: tuple[AxisReference, ...] = getattr(self, name)
            if axes:
                parts.append(f"{name}={spell_axes(axes)}")
        return ", ".join(parts)

    @property
    def rank(self) -> int:
        """The rank of the array."""
        return len(self.dimensions)

    @property
    def axes(self) -> tuple[tuple[AxisReference, ...], ...]:
        """For each dimension the axes that it is split over."""
        return tuple(dimension.axes for dimension in self.dimensions)

    @property
    def split_axes(self) -> Iterator[AxisReference]:
        """The axes that the array is split over."""
        for dimension in self.dimensions:
            yield from dimension.axes

    @property
    def used_axes(self) -> Iterator[AxisReference]:
        """All axes that it names: no two of them overlap."""
        yield from self.split_axes
        yield from self.replicated
        yield from self.unreduced

    def mesh_in(self, meshes: Mapping[str, Mesh]) -> Mesh | None:
        """Its mesh, by the names of a module; None where there is none of that name."""
        return self.mesh if isinstance(self.mesh, Mesh) else meshes.get(self.mesh)

    def settled(self, *, is_closed: bool = True) -> Sharding:
        """The same axes without priorities, with all dimensions closed or open."""
        return replace(
            self, dimensions=tuple(DimensionSharding(each, is_closed) for each in self.axes)
        )

    @property
    def is_bare(self) -> bool:
        """Whether it has no dimensions and names no axes."""
        return not self.dimensions and next(self.used_axes, None) is None

    def check(self, mesh: Mesh, rank: int) -> None:
        """It is one for an array of this rank; raises Violation."""
        if mesh.is_maximal:
            require(self.is_bare, "SH7", "a sharding to one device has no dimensions or axes")
            return
        found = len(self.dimensions)
        require(found == rank, "SH7", "has {} dimensions for an array of rank {}", found, rank)
        check_axes((*self.axes, self.replicated, self.unreduced), mesh.sizes)
        check_order("replicated", self.replicated, mesh.sizes)
        check_order("unreduced", self.unreduced, mesh.sizes)


class Shardings(tuple[Sharding, ...]):
    """The shardings of all results of an operation, in order."""

    @classmethod
    def parse(cls, tokens: Tokens) -> Shardings:
        """Reads `<[<@mesh, [...]>, ...]>`; raises SpellingError."""
        tokens.expect("<")
        found = Shardings.parse_list(tokens)
        tokens.expect(">")
        return found

    @staticmethod
    def parse_list(tokens: Tokens) -> Shardings:
        """Reads `[<@mesh, [...]>, ...]`; raises SpellingError."""
        return Shardings(tokens.contents("sdy.sharding", Sharding.parse))

    def __str__(self) -> str:
        return f"[{', '.join(f'<{sharding}>' for sharding in self)}]"


@dataclass(frozen=True)
class Shards:
    """
    An array cut into parts along its dimensions, and who has which.

    Where sizes are uneven, all parts but the last ones have the same size, rounded up: the last
    ones have less, or nothing. A local array has the full size, and padding behind.
    """

    counts: tuple[int, ...]
    """How many parts there are along each dimension."""
    places: Mapping[int, tuple[int, ...]]
    """For each device the number of its part along each dimension."""

    @staticmethod
    def of_mesh(
        mesh: Mesh, sharding: Sharding, rank: int, manual: Iterable[AxisReference] | None = None
    ) -> Shards:
        """
        The parts of a sharding over a mesh; raises SpellingError where it does not fit the rank.

        `manual`: only these axes split the array. A maximal sharding: one device has all of it.
        """
        with Excerpt(0, f"sharding <{sharding}>"), spelled_at(0):
            sharding.check(mesh, rank)
        if mesh.is_maximal:
            return Shards((1,) * rank, dict.fromkeys(mesh.devices, (0,) * rank))
        chosen = None if manual is None else tuple(manual)
        axes = [
            tuple(
                axis
                for axis in each
                if chosen is None or any(one.contains(axis, mesh.sizes) for one in chosen)
            )
            for each in sharding.axes
        ]
        return Shards(
            tuple(map(mesh.size, axes)),
            {d: tuple(mesh.coordinate(d, names) for names in axes) for d in mesh.devices},
        )

    @staticmethod
    def replicated(rank: int, device_count: int) -> Shards:
        """All devices have all of an array of this rank."""
        return Shards((1,) * rank, dict.fromkeys(range(device_count), (0,) * rank))

    def is_even(self, sizes: Sequence[int]) -> bool:
        """Whether all parts of an array of these sizes are alike."""
        return not any(size % n for size, n in zip(sizes, self.counts, strict=True))

    def local_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The sizes of the arrays that devices have, rounded up where parts are uneven."""
        return tuple(-(-size // n) for size, n in zip(sizes, self.counts, strict=True))

    def slices(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Where the part of a device is in an array of these sizes: less than its local array."""
        found: list[slice] = []
        local = self.local_sizes(sizes)
        for place, size, whole in zip(self.places[device], local, sizes, strict=True):
            start = min(place * size, whole)
            found.append(slice(start, min(start + size, whole)))
        return tuple(found)
