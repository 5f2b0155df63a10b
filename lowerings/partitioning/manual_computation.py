"""
Where whole arrays become the parts of devices and back: the borders of JAX's `shard_map`.

Between the borders an array is what one device has of it along the manual axes; along the others it
may be split further.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation

from lowerings.partitioning.reshard_steps import Atoms, Spread
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, CustomCallOp
from xla_dialect.places import described
from xla_dialect.sharding.array_sharding import Sharding, Shardings
from xla_dialect.sharding.attributes import ManualAxesAttr, ShardingPerValueAttr
from xla_dialect.sharding.axes import AxisReference, ManualAxes
from xla_dialect.sharding.sharding_rule import Dimension, ShardingRule

_FRONTEND = ("xla.frontend_attributes", "mhlo.frontend_attributes")
_IN_SHARDINGS, _OUT_SHARDINGS = "xla.sdy.in_shardings", "xla.sdy.out_shardings"
_MANUAL_AXES = "xla.sdy.manual_axes"


@dataclass(frozen=True)
class ManualBorder:
    """A border, and how the whole arrays are split there, one for each value."""

    is_cut: bool
    """From whole arrays to parts, rather than back."""
    shardings: Sequence[Sharding]
    manual_axes: Sequence[str]


def manual_border(op: Operation) -> ManualBorder | None:
    """The border that an operation is; None if it is none. Raises SpellingError and XlaError."""
    target = op.custom_call_target.data if isinstance(op, CustomCallOp) else ""
    if target not in (GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL):
        return None
    entries = _entries(op)
    is_cut = target == GLOBAL_TO_LOCAL
    key = _IN_SHARDINGS if is_cut else _OUT_SHARDINGS
    missing = [name for name in (key, _MANUAL_AXES) if name not in entries]
    if missing:
        raise XlaError(f"{described(op)}: {target}: {missing[0]} is missing")
    shardings = ShardingPerValueAttr.read(entries[key])
    if len(shardings) != len(op.operands):
        raise XlaError(
            f"{described(op)}: {target}: {key} has {len(shardings)} entries for "
            f"{len(op.operands)} arrays"
        )
    return ManualBorder(is_cut, shardings, ManualAxesAttr.read(entries[_MANUAL_AXES]))


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


def set_manual_border(op: Operation, border: ManualBorder) -> None:
    """Makes a custom call this border."""
    assert isinstance(op, CustomCallOp)
    name = next((name for name in _FRONTEND if name in op.attributes), _FRONTEND[0])
    old = op.attributes.get(name)
    key = _IN_SHARDINGS if border.is_cut else _OUT_SHARDINGS
    said = {
        key: StringAttr(str(ShardingPerValueAttr(Shardings(border.shardings)))),
        _MANUAL_AXES: StringAttr(str(ManualAxesAttr(ManualAxes(border.manual_axes)))),
    }
    kept: Mapping[str, Attribute] = old.data if isinstance(old, DictionaryAttr) else {}
    op.attributes[name] = DictionaryAttr({**kept, **said})
    op.custom_call_target = StringAttr(GLOBAL_TO_LOCAL if border.is_cut else LOCAL_TO_GLOBAL)


def _entries(op: Operation) -> Mapping[str, str]:
    for name in _FRONTEND:
        found = op.attributes.get(name)
        if isinstance(found, DictionaryAttr):
            strings = {k: v.data for k, v in found.data.items() if isinstance(v, StringAttr)}
            return {key: text.replace("\\", "") for key, text in strings.items()}
    return {}


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
