"""
Where whole arrays become the parts of devices and back: the borders of JAX's `shard_map`.

Between the borders an array is what one device has of it along the manual axes; along the others it
may be split further.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from lowerings.partitioning.reshard_steps import Atoms, Spread
from xla_dialect.ops.custom_calls import GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, CustomCallOp
from xla_dialect.sharding.array_sharding import Sharding, axis_names


@dataclass(frozen=True)
class ManualBorder:
    """A border, and how the whole arrays are split there, one for each value."""

    is_cut: bool
    """From whole arrays to parts, rather than back."""
    shardings: Sequence[Sharding]
    manual_axes: Sequence[str]


def manual_border(op: Operation) -> ManualBorder | None:
    """The border that an operation is; None if it is none. Raises SpellingError."""
    target = op.custom_call_target.data if isinstance(op, CustomCallOp) else ""
    if target not in (GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL):
        return None
    entries = _entries(op)
    is_cut = target == GLOBAL_TO_LOCAL
    shardings = Sharding.read_all(
        entries["xla.sdy.in_shardings" if is_cut else "xla.sdy.out_shardings"]
    )
    return ManualBorder(is_cut, shardings, axis_names(entries["xla.sdy.manual_axes"]))


def _entries(op: Operation) -> Mapping[str, str]:
    for name in ("xla.frontend_attributes", "mhlo.frontend_attributes"):
        found = op.attributes.get(name)
        if isinstance(found, DictionaryAttr):
            strings = {k: v.data for k, v in found.data.items() if isinstance(v, StringAttr)}
            return {key: text.replace("\\", "") for key, text in strings.items()}
    return {}


def inside(spread: Spread, manual: Atoms) -> Spread:
    """How what a device has along manual axes is spread over the others."""
    return Spread(tuple(tuple(a for a in atoms if a not in manual) for atoms in spread.dimensions))
