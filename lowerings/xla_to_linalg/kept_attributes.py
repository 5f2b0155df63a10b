"""Attributes that importers keep for round trips, and that are dropped below the xla level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from lowerings.layouts.memory_order import TILED_ARRAY
from xla_dialect.aliasing_attributes import BUFFER_DONOR

FRONT_END_DIALECTS = ("xla", "mhlo", "jax", "sdy")
"""Dialects whose attributes only matter to front ends: names, positions, shardings."""

LOWERED = (BUFFER_DONOR, TILED_ARRAY)
"""Exceptions: attributes that bufferization reads, and who runs a printed level."""


def drop_kept_attributes(module: ModuleOp) -> None:
    """Drops them from a module, its functions, and their arguments and results."""
    module.attributes = _others(module.attributes)
    for op in module.body.block.ops:
        if not isinstance(op, func.FuncOp):
            continue
        op.attributes = _others(op.attributes)
        for name in ("arg_attrs", "res_attrs"):
            each = op.properties.get(name)
            if isinstance(each, ArrayAttr):
                entries = cast("ArrayAttr[DictionaryAttr]", each)
                kept = [_others(entry.data) for entry in entries]
                if any(kept):
                    op.properties[name] = ArrayAttr(map(DictionaryAttr, kept))
                else:
                    del op.properties[name]


def _others(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """The attributes of all other dialects, and what is lowered."""
    return {
        name: value
        for name, value in attributes.items()
        if name.partition(".")[0] not in FRONT_END_DIALECTS or "." not in name or name in LOWERED
    }
