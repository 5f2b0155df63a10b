"""How dimensions relate: declared for every operation, and as Shardy's own rules say it."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from stablehlo_oracle import with_sharding_rules

from lowerings.driver.program import parse_program, parse_source
from lowerings.driver.source import Source
from tools.input_text import split_chunks
from tools.repository.programs import examples
from xla_dialect.diagnostics import XlaError
from xla_dialect.dimensions import RelationsBuilder, pointwise
from xla_dialect.op import XlaOp
from xla_dialect.ops import OPERATIONS
from xla_dialect.sharding.attributes import ShardingRuleAttr
from xla_dialect.stablehlo.writing import print_stablehlo
from xla_dialect.xdsl.traversal import operations_in

ROOT = Path(__file__).parents[2]


def test_every_class_relates_dimensions_or_says_why_not() -> None:
    for operation in OPERATIONS:
        is_related = operation.contract().relate is not None
        assert is_related == (operation.UNRELATED is None), operation


def test_names_of_factors_go_on_after_z() -> None:
    relations = RelationsBuilder([(2,) * 20], [(2,) * 20])
    pointwise(relations)
    names = [*"ijklmnopqrstuvwxyz", "z_1", "z_2"]
    lists = ", ".join(names)
    sizes = ", ".join(f"{name}=2" for name in names)
    assert str(relations.build()) == f"([{lists}])->([{lists}]) {{{sizes}}}"


OTHERWISE = {
    "xla.bitcast": "StableHLO has bitcast_convert in its place, which knows no layouts",
    "xla.broadcast": "where StableHLO stretches a size of 1, here is a reshape in front",
    "xla.concatenate": "Shardy takes one of slices of an array for a rotation",
    "xla.convolution": "windows that do not move pass through, as do those side by side",
    "xla.dynamic_update_slice": "Shardy looks at the values of constant starts",
    "xla.pad": "padding that gives the same size moves elements nevertheless",
    "xla.scatter": "a whole window is skipped where it does not start at 0",
    "xla.triangular_solve": "each right-hand side is solved by itself",
}
"""Where the relations are not what Shardy says, and why."""


def programs() -> Iterator[str]:
    """Programs of the xla dialect and of StableHLO: all operations, in all their forms."""
    yield from (example.text for example in examples().values())
    for folder in ("run", "programs"):
        for path in sorted((ROOT / "test" / folder).glob("*.mlir")):
            yield from (chunk.shown for chunk in split_chunks(path.read_text()))


@pytest.mark.jax
def test_relations_are_sharding_rules() -> None:
    same = Counter[str]()
    different = defaultdict[str, list[tuple[str, str]]](list)
    rejected = 0
    for program in programs():
        try:
            text = print_stablehlo(parse_source(Source(program)))
        except XlaError:
            continue
        ruled = with_sharding_rules(text)
        if ruled is None:
            rejected += 1
            continue
        module = parse_program(ruled, input_format="stablehlo")
        for op in operations_in(module):
            if isinstance(op, XlaOp) and "sdy.sharding_rule" in op.attributes:
                rule = cast(ShardingRuleAttr, op.attributes["sdy.sharding_rule"]).data
                found = str(rule)
                if found == str(op.dimension_relations()):
                    same[op.name] += 1
                else:
                    different[op.name].append((found, str(op.dimension_relations())))
    assert different.keys() <= OTHERWISE.keys(), different
    assert rejected < 10
    assert len(same) > 70
    assert sum(map(len, different.values())) < 0.05 * same.total()
