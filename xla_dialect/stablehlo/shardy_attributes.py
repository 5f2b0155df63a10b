"""Attributes of Shardy as StableHLO programs have them: `#sdy.sharding<@mesh, [{"x"}, {}]>`.

They only parse: what is kept of them are the attributes of the `xla` dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Attribute, OpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser

from xla_dialect.attributes import SpelledAttribute
from xla_dialect.sharding.array_sharding import Sharding, axis_names
from xla_dialect.sharding.attributes import (
    MeshAttr,
    ShardingAttr,
    ShardingPerValueAttr,
    Shardings,
)
from xla_dialect.sharding.collectives import AxisList, AxisLists, AxisMoves
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.sharding.sharding_rule import ShardingRule, ShardingRuleAttr
from xla_dialect.sharding.tokens import Tokens

_Content = TypeVar("_Content", covariant=True)


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


class _WithinDialect(SpelledAttribute[_Content], OpaqueSyntaxAttribute):
    """One that is written with its name in the brackets: `#sdy<axis_ref_list{"x"}>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> _Content:
        """Reads what stands behind the name."""
        return cls.parse_text(parser)


@irdl_attr_definition
class SdyAxisList(_WithinDialect[AxisList]):
    """`#sdy<axis_ref_list{"x", "y":(1)2}>`"""

    name = "sdy.axis_ref_list"

    @classmethod
    def read(cls, text: str) -> AxisList:
        """The axes that a text stands for."""
        return _all_of(text, AxisList.parse)


@irdl_attr_definition
class SdyAxisLists(_WithinDialect[AxisLists]):
    """`#sdy<list_of_axis_ref_lists[{"x"}, {}]>`"""

    name = "sdy.list_of_axis_ref_lists"

    @classmethod
    def read(cls, text: str) -> AxisLists:
        """The axes of dimensions that a text stands for."""
        return _all_of(text, AxisLists.parse)


@irdl_attr_definition
class SdyAxisMoves(_WithinDialect[AxisMoves]):
    """`#sdy<all_to_all_param_list[{"x"}: 0->1]>`"""

    name = "sdy.all_to_all_param_list"

    @classmethod
    def read(cls, text: str) -> AxisMoves:
        """The moves that a text stands for."""
        return _all_of(text, AxisMoves.parse)


@irdl_attr_definition
class SdyManualAxes(_WithinDialect[tuple[str, ...]]):
    """`#sdy<manual_axes{"x", "y"}>`"""

    name = "sdy.manual_axes"

    @classmethod
    def read(cls, text: str) -> tuple[str, ...]:
        """The names that a text stands for."""
        return tuple(axis_names(text))


def _all_of(text: str, parse: Callable[[Tokens], _Content]) -> _Content:
    tokens = Tokens(text)
    found = parse(tokens)
    tokens.finish()
    return found


ATTRIBUTES: tuple[type[Attribute], ...] = (
    SdyMesh,
    SdySharding,
    SdyShardingPerValue,
    SdyShardingRule,
    SdyAxisList,
    SdyAxisLists,
    SdyAxisMoves,
    SdyManualAxes,
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
