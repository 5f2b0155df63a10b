"""Attributes of Shardy as StableHLO programs have them: `#sdy.sharding<@mesh, [{"x"}, {}]>`.

They only parse: what is kept of them are the attributes of the `xla` dialect.
"""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    MeshAttr,
    ShardingAttr,
    ShardingPerValueAttr,
    Shardings,
)
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.sharding.sharding_rule import ShardingRule, ShardingRuleAttr


@irdl_attr_definition
class SdyMesh(SpelledAttribute[Mesh]):
    """`#sdy.mesh<["x"=4, "y"=2]>`"""

    name = "sdy.mesh"

    @classmethod
    def read(cls, text: str) -> Mesh:
        """The mesh that a text stands for."""
        return MeshAttr.read(text)


@irdl_attr_definition
class SdySharding(SpelledAttribute[Sharding]):
    """`#sdy.sharding<@mesh, [{"x"}, {?}]>`"""

    name = "sdy.sharding"

    @classmethod
    def read(cls, text: str) -> Sharding:
        """The sharding that a text stands for."""
        return ShardingAttr.read(text)


@irdl_attr_definition
class SdyShardingPerValue(SpelledAttribute[Shardings]):
    """`#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`"""

    name = "sdy.sharding_per_value"

    @classmethod
    def read(cls, text: str) -> Shardings:
        """The shardings that a text stands for."""
        return ShardingPerValueAttr.read(text)


@irdl_attr_definition
class SdyShardingRule(SpelledAttribute[ShardingRule]):
    """`#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}, custom>`"""

    name = "sdy.op_sharding_rule"

    @classmethod
    def read(cls, text: str) -> ShardingRule:
        """The rule that a text stands for."""
        return ShardingRuleAttr.read(text)


ATTRIBUTES: tuple[type[Attribute], ...] = (
    SdyMesh,
    SdySharding,
    SdyShardingPerValue,
    SdyShardingRule,
)
"""What the `sdy` dialect registers."""


def of_xla(value: Attribute) -> Attribute:
    """The attribute of the `xla` dialect for one of these; any other as it is."""
    match value:
        case SdyMesh():
            return MeshAttr(value.data)
        case SdySharding():
            return ShardingAttr(value.data)
        case SdyShardingPerValue():
            return ShardingPerValueAttr(value.data)
        case SdyShardingRule():
            return ShardingRuleAttr(value.data)
        case _:
            return value
