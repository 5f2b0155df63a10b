"""What stays of the attributes of StableHLO: shardings with structure, others as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.source import SourceError

HLO_SHARDING = "mhlo.sharding"


def kept_entries(entries: Mapping[str, Attribute], op: Operation) -> dict[str, Attribute]:
    """What stays of the attributes of `op`: all as they are, shardings of HLO with structure."""
    kept = dict(entries)
    sharding = kept.get(HLO_SHARDING)
    if isinstance(sharding, StringAttr) and sharding.data.startswith("{"):
        try:
            kept[HLO_SHARDING] = HloShardingAttr(HloSharding.read(sharding.data))
        except SpellingError as error:
            raise SourceError(op, f"{HLO_SHARDING}: {error}") from None
    return kept


def attributes_of_values(op: FuncOp, name: str, count: int) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of parameters or results; none where all dictionaries are empty."""
    value = op.properties.get(name)
    if value is None:
        return None
    entries = cast("ArrayAttr[Attribute]", value).data if isinstance(value, ArrayAttr) else ()
    found = [entry for entry in entries if isinstance(entry, DictionaryAttr)]
    if len(found) != count or len(entries) != count:
        raise SourceError(op, f"{name} is not a list of {count} dictionaries")
    if not any(entry.data for entry in found):
        return None
    return ArrayAttr(DictionaryAttr(kept_entries(entry.data, op)) for entry in found)
