"""What stays of the attributes of StableHLO: shardings with structure, others as they are."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnregisteredAttr
from xdsl.ir import Attribute, Operation

from xla_dialect.attributes import SpellingError
from xla_dialect.sharding.hlo_sharding import HloSharding, HloShardingAttr
from xla_dialect.stablehlo import attributes, shardy_attributes
from xla_dialect.stablehlo.mesh_groups import AxisRef, DeviceMesh, MeshAxes, MeshAxis
from xla_dialect.stablehlo.source import SourceError

HLO_SHARDING = "mhlo.sharding"


def kept_entries(entries: Mapping[str, Attribute], op: Operation) -> dict[str, Attribute]:
    """
    What stays of the attributes of `op`: shardings, and others as they are.

    Those of foreign dialects become their text.
    """
    kept = {name: _portable(value) for name, value in entries.items()}
    sharding = kept.get(HLO_SHARDING)
    if isinstance(sharding, StringAttr) and sharding.data.startswith("{"):
        try:
            kept[HLO_SHARDING] = HloShardingAttr(HloSharding.read(sharding.data))
        except SpellingError as error:
            raise SourceError(op, f"{HLO_SHARDING}: {error}") from None
    return kept


def _portable(value: Attribute) -> Attribute:
    match value:
        case DictionaryAttr():
            return DictionaryAttr({n: _portable(entry) for n, entry in value.data.items()})
        case ArrayAttr():
            return ArrayAttr(map(_portable, value.data))
        case UnregisteredAttr() | attributes.Word() | attributes.Fields() | attributes.TokenType():
            return StringAttr(str(value))
        case attributes.ConvolutionNumbers() | MeshAxes() | DeviceMesh() | MeshAxis() | AxisRef():
            return StringAttr(str(value))
        case _:
            return shardy_attributes.of_xla(value)
