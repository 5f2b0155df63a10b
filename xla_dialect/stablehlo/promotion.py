"""Reducers of StableHLO that compute in a wider type than their operands have.

XLA's reducers take the element type of the operands. So the operands are converted first to the
type that the computation takes: any float to any float, an integer to one that is as wide or wider.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Region, SSAValue

from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.stablehlo.conversion import Conversion
from xla_dialect.types import BY_TYPE, ElementClass, array_like, as_array

_INTEGERS = ElementClass.INTEGER | ElementClass.PRED


def is_promotable(before: Attribute, after: Attribute) -> bool:
    """Whether a reducer of one element type takes operands of another."""
    source, target = BY_TYPE.get(before), BY_TYPE.get(after)
    if source is None or target is None:
        return False
    if source.element_class & target.element_class & ElementClass.FLOAT:
        return True
    both = source.element_class & _INTEGERS and target.element_class & _INTEGERS
    both = both or source.element_class == target.element_class
    return bool(both) and _width(source.bits, before) <= _width(target.bits, after)


def _width(bits: int, element_type: Attribute) -> int:
    return 1 if BY_TYPE[element_type].element_class == ElementClass.PRED else bits


def promoted(
    conversion: Conversion, values: Sequence[SSAValue], accumulators: Sequence[Attribute]
) -> list[SSAValue]:
    """The arrays, those converted whose accumulator has another element type to go to."""
    return [
        _promoted(conversion, value, accumulator)
        for value, accumulator in zip(values, accumulators, strict=True)
    ]


def _promoted(conversion: Conversion, value: SSAValue, accumulator: Attribute) -> SSAValue:
    found, wanted = as_array(value.type), as_array(accumulator)
    if found is None or wanted is None or found.element_type == wanted.element_type:
        return value
    if not is_promotable(found.element_type, wanted.element_type):
        return value
    type_ = array_like(found, wanted.element_type)
    return conversion.emit(ConvertOp, [value], [type_])[0]


def accumulators_of(region: Region, count: int) -> Sequence[Attribute]:
    """The types of the first parameters of a computation, if it has as many."""
    block = region.first_block
    types = [] if block is None else [argument.type for argument in block.args]
    return types[:count] if len(types) >= count else ()
