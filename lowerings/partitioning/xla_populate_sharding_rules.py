"""The pass `xla-populate-sharding-rules`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute, Block, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.diagnostics import XlaError
from xla_dialect.dimensions import DataFlowEdge
from xla_dialect.extensions import SHARDING_RULES, extensions
from xla_dialect.op import XlaOp
from xla_dialect.ops.custom_calls import (
    ANNOTATIONS,
    CustomCallOp,
)
from xla_dialect.sharding.attributes import SHARDING_RULE, ShardingRuleAttr
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.spelling import SpellingError
from xla_dialect.types import Array, extents
from xla_dialect.verification import check_rule
from xla_dialect.violations import described
from xla_dialect.xdsl.traversal import operations_in

ATTRIBUTE = "xla.dimension_relations"


@dataclass(frozen=True)
class XlaPopulateShardingRulesPass(ModulePass):
    """
    Says on each operation how its dimensions relate, in the words of Shardy's sharding rules.

    A letter is a factor of the iteration space; a dimension is a factor, or a product of factors.
    Loops, branches and fusions say their data-flow edges: what is forwarded to which parameters and
    results, dimension by dimension. A rule given with an operation, or by an entry point for the
    target of a call, is shown as it is. Operations whose class declares nothing get no attribute.

    ```
    %0 = xla.dot %x, %y {...} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    // becomes
    %0 = xla.dot %x, %y {...}
        attributes {xla.dimension_relations =
            "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}"} : ...
    ```
    """

    name = "xla-populate-sharding-rules"
    takes = UNLOWERED

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Goes through all operations."""
        for inner in operations_in(op):
            said = relations_text(inner) if isinstance(inner, XlaOp) else None
            if said is not None:
                inner.attributes[ATTRIBUTE] = StringAttr(said)


def relations_text(op: XlaOp) -> str | None:
    """The sharding rule or the data-flow edges of an operation; None where there are none."""
    rule = rule_of(op)
    if rule is not None:
        return str(rule)
    names = dict(_region_names(op))
    return ", ".join(_edge_text(op, edge, names) for edge in op.data_flow_edges()) or None


def _region_names(op: XlaOp) -> Iterator[tuple[Block | None, str]]:
    for name, place in op.contract().structure.regions.segments(len(op.regions)).items():
        if isinstance(place, int):
            yield op.regions[place].block, name
        elif place is not None:
            for i, region in enumerate(op.regions[place]):
                yield region.block, f"{name}[{i}]"


def _edge_text(op: XlaOp, edge: DataFlowEdge, names: Mapping[Block | None, str]) -> str:
    """`(operand 1, body 1)->(condition 1, body 1, result 1)`."""
    sources = (
        f"{'operand' if source.operation is op else names[source.operation.parent]} {source.number}"
        for source in edge.sources
    )
    targets = [f"{names[parameter.block]} {parameter.index}" for parameter in edge.parameters]
    if edge.result is not None:
        targets.append(f"result {edge.result.index}")
    return f"({', '.join(sources)})->({', '.join(targets)})"


def rule_of(op: Operation) -> ShardingRule | None:
    """
    The rule of an operation: given with it, by an entry point, or by its declaration of dimensions.

    Raises XlaError for a rule of an entry point that does not fit the operation; the verifier has
    looked at the others.
    """
    given = op.attributes.get(SHARDING_RULE)
    if isinstance(given, ShardingRuleAttr):
        return given.data
    if isinstance(op, CustomCallOp):
        return _of_custom_call(op)
    relations = op.dimension_relations() if isinstance(op, XlaOp) else None
    return None if relations is None else relations.sharding_rule


Entry: TypeAlias = Callable[[CustomCallOp], ShardingRule | str | None]
"""What an entry point of the group `xla.sharding_rules` is: its name is the target of the call."""


def _of_custom_call(op: CustomCallOp) -> ShardingRule | None:
    target = op.custom_call_target.data
    for entry in cast("Sequence[Entry]", extensions(SHARDING_RULES, target)):
        rule = entry(op)
        try:
            rule = ShardingRuleAttr.read(f"<{rule}>") if isinstance(rule, str) else rule
        except SpellingError as error:
            raise XlaError(f"{described(op)}: its sharding rule: {error}") from None
        if rule is None:
            continue
        try:
            check_rule(ShardingRuleAttr(rule), op)
        except VerifyException as error:
            raise XlaError(f"{described(op)}: {error}") from None
        return rule
    if target in ANNOTATIONS and op.operand_types == op.result_types:
        return identity_rule(_sizes(op.operand_types[0]), 1)
    return None


@lru_cache(4096)
def identity_rule(sizes: tuple[int, ...], operands: int) -> ShardingRule:
    """The rule of operands that are all like the result."""
    dimensions = tuple((factor,) for factor in range(len(sizes)))
    return ShardingRule(sizes, (dimensions,) * operands, (dimensions,))


def _sizes(type_: Attribute) -> tuple[int, ...]:
    return extents(cast(Array, type_)) if isinstance(type_, TensorType) else ()
