"""
The borders of manual computations as GSPMD has them, as those of Shardy.

The whole array is annotated in front of `SPMDFullToShardShape`, and by `SPMDShardToFullShape`; the
part says along which devices it is manual, in `last_tile_dims={manual}`, or `{manual}` for all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from lowerings.partitioning.annotations import HLO_SHARDINGS, hlo_sharding
from lowerings.partitioning.op_rules import rank_of
from xla_dialect.analysis.manual_borders import ManualBorder, set_manual_border
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import (
    FULL_TO_SHARD,
    SHARD_TO_FULL,
    SHARDING_CONSTRAINT,
    CustomCallOp,
)
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.hlo_sharding import HloSharding, MeshesOfTiles
from xla_dialect.violations import described

_OPAQUE = ("xla.backend_config", "mhlo.backend_config", "backend_config")
_OPEN = re.compile(r"unspecified_dims=\[([0-9, ]*)\]")


def is_gspmd_border(op: Operation) -> bool:
    """Whether it is one of the two calls."""
    return isinstance(op, CustomCallOp) and op.custom_call_target.data in (
        FULL_TO_SHARD,
        SHARD_TO_FULL,
    )


def open_dimensions(op: Operation) -> Collection[int]:
    """The dimensions of which an annotation says nothing: `unspecified_dims=[0,1]`."""
    texts = (op.attributes.get(name) for name in _OPAQUE)
    found = (_OPEN.search(text.data) for text in texts if isinstance(text, StringAttr))
    return [
        int(number)
        for match in found
        if match is not None
        for number in match.group(1).split(",")
        if number.strip()
    ]


def import_border(op: Operation, tiles: MeshesOfTiles, name: str) -> None:
    """Makes such a call one of Shardy's; raises XlaError where its annotations are missing."""
    assert isinstance(op, CustomCallOp)
    is_cut = op.custom_call_target.data == FULL_TO_SHARD
    mine, given = hlo_sharding(op.attributes), _annotation_of(op.inputs[0])
    whole, part = (given, mine) if is_cut else (mine, given)
    rank = rank_of(op.inputs[0].type)
    sharding = None if whole is None else tiles.sharding(whole, rank, name, open_dimensions(op))
    if sharding is None:
        raise _fault(op, "nothing says how the whole array is spread over devices")
    # What is annotated by nobody is manual along all devices.
    manual = list(tiles.common.sizes) if part is None else tiles.manual_axes(part)
    if manual is None:
        raise _fault(op, "what is manual is no axis of a mesh with the other shardings")
    for each in HLO_SHARDINGS:
        op.attributes.pop(each, None)
    # An array is whole along what is free, as far as the border says.
    shardings = [_along(sharding, manual.__contains__)]
    set_manual_border(op, ManualBorder(is_cut, shardings, manual))


def _along(sharding: Sharding, is_manual: Callable[[str], bool]) -> Sharding:
    """With manual axes in front, as Shardy wants them; raises nothing."""
    dimensions = tuple(
        DimensionSharding(
            tuple(sorted(each.axes, key=lambda axis: not is_manual(axis.name))), each.is_closed
        )
        for each in sharding.dimensions
    )
    return Sharding(sharding.mesh, dimensions)


def _annotation_of(value: SSAValue) -> HloSharding | None:
    """What an operation says of its result, or a function of its parameter."""
    owner = value.owner
    if isinstance(owner, Block):
        function = owner.parent_op()
        index = cast(BlockArgument, value).index
        if not isinstance(function, FuncOp) or function.arg_attrs is None:
            return None
        return hlo_sharding(function.arg_attrs.data[index].data)
    found = hlo_sharding(owner.attributes)
    is_call = isinstance(owner, CustomCallOp)
    if found is None and is_call and owner.custom_call_target.data == SHARDING_CONSTRAINT:
        return _annotation_of(owner.inputs[0])
    return found


def _fault(op: CustomCallOp, message: str) -> XlaError:
    return XlaError(f"{described(op)}: {op.custom_call_target.data}: {message}")
