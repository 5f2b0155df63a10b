"""Operations of StableHLO whose shapes are operands, and those on dynamic dimensions.

XLA has no such operations: they become static ones, which is possible where the operands that say
a shape are constants. `Conversion.constant_integers` computes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.stablehlo.source import HloOperation, UnknownShape
from xla_dialect.types import (
    Array,
    ElementClass,
    array,
    as_array,
    element_class,
    fits,
    spell,
)


def take_shape(op: HloOperation, conversion: Conversion, position: int) -> tuple[int, ...]:
    """The integers of an operand that says a shape; an error where they are not constant."""
    value = conversion.operands(op)[position]
    type_ = as_array(value.type)
    if (
        type_ is None
        or len(type_.get_shape()) != 1
        or not element_class(type_.element_type) & ElementClass.INTEGER
    ):
        op.fail(f"operand {position} is {spell(value.type)}, not a list of sizes")
    found = conversion.constant_integers(value)
    if found is None:
        raise UnknownShape(op, position)
    return found


def sized_result(
    op: HloOperation, conversion: Conversion, sizes: Sequence[int], number: int = 0
) -> Array:
    """The type of a result with the sizes that an operand says."""
    declared = conversion.result_types(op)[number]
    element_type = as_array(declared)
    if element_type is None or min(sizes, default=0) < 0:
        op.fail(f"sizes {list(sizes)} for {spell(declared)}")
    result = array(element_type.element_type, sizes)
    if not fits(result, declared):
        op.fail(f"declared {spell(declared)}, the sizes are {list(sizes)}")
    return result
