"""Sorting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import RecursiveMemoryEffect

from xla_dialect.ops import sorting as xla
from xla_dialect.shapes.size_arithmetic import compatible_sizes
from xla_dialect.stablehlo.op import StableHloOp, just_as
from xla_dialect.types import BY_NAME, PRED, Array, array_like, as_array, sizes_of, spell_all
from xla_dialect.violations import check


@just_as(xla.SortOp)
class SortOp(StableHloOp):
    """Sorts the lines along a dimension of all inputs at once; -1 is the last dimension."""

    inputs = var_operand_def()
    dimension = opt_prop_def(IntegerAttr.constr(i64))
    is_stable = opt_prop_def(IntegerAttr.constr(i1))
    comparator = region_def()
    traits = traits_def(RecursiveMemoryEffect())

    def xla_properties(self, operands: Sequence[Attribute] = ()) -> dict[str, Attribute]:
        """The same, the dimension counted from the first one."""
        found = super().xla_properties(operands)
        array = as_array(operands[0]) if operands else None
        rank = 0 if array is None else len(array.get_shape())
        dimension = -1 if self.dimension is None else self.dimension.value.data
        return found | {"dimension": IntegerAttr(dimension + rank * (dimension < 0), i64)}

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """All arrays may be of one shape, whatever is known of it."""
        super().verify_types(operands, declared)
        for pair in combinations([*operands, *declared], 2):
            check(
                compatible_sizes(*(sizes_of(cast(Array, type_)) for type_ in pair)),
                "{} differ in shape",
                spell_all(pair),
            )


class TopKBase(StableHloOp):
    """The first elements of each line in an order, and where they stand."""

    k = prop_def(IntegerAttr.constr(i64))
    values = result_def()
    indices = result_def()
    assembly_format = (
        "`(` $operand `,` `k` `=` $k `)` attr-dict `:` "
        "type($operand) `->` `(` type($values) `,` type($indices) `)`"
    )


@just_as(xla.TopkOp)
class TopKOp(TopKBase):
    """The `k` largest elements of each line, and where they stand; `chlo.top_k(%0, k = 2) : ...`"""

    name = "chlo.top_k"

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """Numbers instead of truth values, which count as 1 and 0."""
        return [with_numbers(type_) for type_ in types]

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """By the rules of `xla`, which has no order of truth values."""
        super().verify_types(operands, list(map(with_numbers, declared)))


def with_numbers(type_: Attribute) -> Attribute:
    """The type of the array that has numbers instead of truth values."""
    found = as_array(type_)
    if found is None or found.element_type != PRED:
        return type_
    return array_like(found, BY_NAME["u8"].type)
