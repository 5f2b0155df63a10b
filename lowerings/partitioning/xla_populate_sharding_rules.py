"""The pass `xla-populate-sharding-rules`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block
from xdsl.passes import ModulePass

from lowerings.partitioning.op_rules import rule_of
from lowerings.rewriting.levels import UNLOWERED
from xla_dialect.dimensions import DataFlowEdge
from xla_dialect.op import XlaOp
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
