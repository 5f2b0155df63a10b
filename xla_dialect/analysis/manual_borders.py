"""
Where whole arrays become the parts of devices and back: the borders of JAX's `shard_map`.

Between the borders an array is what one device has of it along the manual axes; along the others it
may be split further. A border is a custom call, with Shardy's attributes among those of its front
end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, CustomCallOp
from xla_dialect.ops.transfers import KEPT_IN
from xla_dialect.sharding.array_sharding import Sharding, Shardings
from xla_dialect.sharding.attributes import (
    ManualAxesAttr,
    ShardingPerValueAttr,
    parameter_shardings,
    result_shardings,
    returned_shardings,
)
from xla_dialect.sharding.mesh import ManualAxes
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operations_in

_IN_SHARDINGS, _OUT_SHARDINGS = "xla.sdy.in_shardings", "xla.sdy.out_shardings"
_MANUAL_AXES = "xla.sdy.manual_axes"


@dataclass(frozen=True)
class ManualBorder:
    """A border, and how the whole arrays are split there, one for each value."""

    is_cut: bool
    """From whole arrays to parts, rather than back."""
    shardings: Sequence[Sharding]
    manual_axes: Sequence[str]

    @property
    def target(self) -> str:
        """The target of the custom call."""
        return GLOBAL_TO_LOCAL if self.is_cut else LOCAL_TO_GLOBAL

    def entries(self) -> dict[str, Attribute]:
        """What the front end says of it."""
        shardings = ShardingPerValueAttr(Shardings(self.shardings))
        return {
            _IN_SHARDINGS if self.is_cut else _OUT_SHARDINGS: StringAttr(str(shardings)),
            _MANUAL_AXES: StringAttr(str(ManualAxesAttr(ManualAxes(self.manual_axes)))),
        }


def all_shardings(module: ModuleOp) -> Iterator[Sharding]:
    """What functions, operations and borders of manual computations say."""
    for op in operations_in(module):
        if isinstance(op, FuncOp):
            for sharding in (*parameter_shardings(op), *returned_shardings(op)):
                if sharding is not None:
                    yield sharding
            continue
        yield from result_shardings(op) or ()
        border = located_border(op)
        yield from () if border is None else border.shardings


def located_border(op: Operation) -> ManualBorder | None:
    """As `manual_border`, with the operation and its place in errors."""
    try:
        return manual_border(op)
    except XlaError as error:
        target = cast(CustomCallOp, op).custom_call_target.data
        raise XlaError(f"{described(op)}: {target}: {error}") from None


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
        raise XlaError(f"{missing[0]} is missing")
    shardings = ShardingPerValueAttr.read(entries[key])
    if len(shardings) != len(op.operands):
        raise XlaError(f"{key} has {len(shardings)} entries for {len(op.operands)} arrays")
    return ManualBorder(is_cut, shardings, ManualAxesAttr.read(entries[_MANUAL_AXES]))


def set_manual_border(op: Operation, border: ManualBorder) -> None:
    """Makes a custom call this border."""
    assert isinstance(op, CustomCallOp)
    name = next((name for name in KEPT_IN if name in op.attributes), KEPT_IN[0])
    old = op.attributes.get(name)
    kept: Mapping[str, Attribute] = old.data if isinstance(old, DictionaryAttr) else {}
    op.attributes[name] = DictionaryAttr({**kept, **border.entries()})
    op.custom_call_target = StringAttr(border.target)


def _entries(op: Operation) -> Mapping[str, str]:
    """What the front end says, without the escapes of HLO text."""
    for name in KEPT_IN:
        found = op.attributes.get(name)
        if isinstance(found, DictionaryAttr):
            strings = {k: v.data for k, v in found.data.items() if isinstance(v, StringAttr)}
            return {key: text.replace("\\", "") for key, text in strings.items()}
    return {}
