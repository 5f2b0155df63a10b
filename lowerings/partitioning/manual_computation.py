"""How arrays are split on both sides of a border between whole arrays and the parts of devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from xdsl.ir import Operation

from lowerings.partitioning.reshard_steps import Atoms, Spread
from xla_dialect.analysis.manual_borders import ManualBorder
from xla_dialect.diagnostics import XlaError
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.mesh import AxisReference
from xla_dialect.sharding.sharding_rule import Dimension, ShardingRule
from xla_dialect.violations import described


@lru_cache(4096)
def border_rule(before: tuple[int, ...], after: tuple[int, ...]) -> ShardingRule:
    """
    The rule of a border between arrays of these sizes: what is free is split alike on both sides.

    A dimension that is larger on one side has a factor more there, for the parts of devices.
    """
    sizes = list(map(min, before, after))
    sides: list[list[Dimension]] = [[], []]
    for d, pair in enumerate(zip(before, after, strict=True)):
        for side, size in zip(sides, pair, strict=True):
            if size == sizes[d]:
                side.append((d,))
            else:
                side.append((len(sizes), d))
                sizes.append(size // max(sizes[d], 1))
    return ShardingRule(tuple(sizes), (tuple(sides[0]),), (tuple(sides[1]),))


def check_border(
    op: Operation,
    border: ManualBorder,
    sharding: Sharding,
    sizes: tuple[Sequence[int], Sequence[int]],
    parts: Callable[[Sequence[AxisReference]], int],
) -> None:
    """
    Raises XlaError where the part of a device has other sizes than follow from those of the whole.

    `sizes`: of what the border takes and gives; `parts`: how many axes make.
    """
    wholes, mine = sizes if border.is_cut else sizes[::-1]
    expected: list[int] = []
    for d, (whole, axes) in enumerate(zip(wholes, sharding.axes, strict=False)):
        count = parts([axis for axis in axes if axis.name in border.manual_axes])
        if whole % count:
            raise XlaError(f"{described(op)}: size {whole} of dimension {d} for {count} devices")
        expected.append(whole // count)
    if expected != list(mine):
        raise XlaError(
            f"{described(op)}: a part of {list(wholes)} by <{sharding}> is {list(mine)}, "
            f"expected {expected}"
        )


def inside(spread: Spread, manual: Atoms) -> Spread:
    """How what a device has along manual axes is spread over the others."""
    return Spread(tuple(tuple(a for a in atoms if a not in manual) for atoms in spread.dimensions))


def outside(
    part: Spread,
    border: Spread,
    manual: Atoms,
    sizes: Sequence[int],
    parts: Callable[[Atoms], int],
) -> Spread:
    """
    How the whole arrays are spread of which devices have parts along manual axes, each part spread
    over others. `sizes`: of the part; what does not divide them stays as the border has it.
    `parts`: how many atoms make.
    """
    found: list[Atoms] = []
    for mine, theirs, size in zip(part.dimensions, border.dimensions, sizes, strict=True):
        cut = tuple(atom for atom in theirs if atom in manual)
        fits = not cut or size % parts(mine) == 0
        found.append((*cut, *mine) if fits else theirs)
    return Spread(tuple(found))
