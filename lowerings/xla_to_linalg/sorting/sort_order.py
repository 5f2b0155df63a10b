"""
The order of a sort, for code on scalars.

A comparator that compares keys lexicographically (`xla_dialect.analysis.computations`) becomes
unsigned integers in the same order, equal for elements that it does not order: radix sort needs
their digits. So NaN and signed zeros are sorted as in the reference by every algorithm. Any other
comparator is inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, Block, SSAValue

from lowerings.ir.float_formats import Specials, small_float
from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.elementwise import total_order_key
from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import (
    inline_computation,
    inline_value,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import (
    ScalarBuilder,
    Values,
    int_width,
    storage,
)
from lowerings.xla_to_linalg.structured import extract_slice
from xla_dialect.analysis.computations import SortKey, sort_keys
from xla_dialect.attributes import ComparisonType
from xla_dialect.ops.sorting import SortOp
from xla_dialect.types import BY_TYPE, ElementClass

Before = Callable[[ScalarBuilder, Values, Values], SSAValue]
"""Whether the elements at one place come strictly before those at another: an i1."""


@dataclass(frozen=True)
class IntegerKey:
    """An unsigned integer that orders ascending as the elements of one place should."""

    width: int
    """How many bits it has."""
    make: Callable[[ScalarBuilder, Values], SSAValue]
    """The integer from the elements at a place, one of each operand."""
    undo: Callable[[ScalarBuilder, SSAValue], SSAValue] | None = None
    """The bits of an element that has a key, if all keys are those of elements."""


@dataclass(frozen=True)
class SortOrder:
    """The order of a sort."""

    keys: Sequence[IntegerKey] | None
    """The keys in lexicographic order; None if the comparator is not known to compare keys."""
    before: Before

    @staticmethod
    def of(op: SortOp) -> SortOrder:
        """The order that a sort's comparator states."""
        computation = op.to_apply.block
        found = sort_keys(op.to_apply)
        if found is not None:
            return SortOrder.by_keys([_comparator_key(key, computation) for key in found])

        def before(s: ScalarBuilder, first: Values, second: Values) -> SSAValue:
            pairs = [side for pair in zip(first, second, strict=True) for side in pair]
            return inline_computation(s, computation, pairs)[0]

        return SortOrder(None, before)

    @staticmethod
    def by_keys(keys: Sequence[IntegerKey]) -> SortOrder:
        """The lexicographic order of keys."""

        def before(s: ScalarBuilder, first: Values, second: Values) -> SSAValue:
            result: SSAValue | None = None
            for key in reversed(keys):
                mine, theirs = key.make(s, first), key.make(s, second)
                found = s.compare("ult", mine, theirs)
                if result is not None:
                    same = s.compare("eq", mine, theirs)
                    found = s.either(found, s.both(same, result))
                result = found
            return s.constant(False, i1) if result is None else result

        return SortOrder(keys, before)


def element_key(element_type: Attribute, operand: int, is_descending: bool) -> IntegerKey:
    """The elements of one operand as a key; floats in total order."""

    def make(s: ScalarBuilder, elements: Values) -> SSAValue:
        order = ComparisonType.TOTALORDER
        return ordered_bits(s, elements[operand], element_type, order, is_descending)

    return IntegerKey(key_width(element_type), make)


def _comparator_key(key: SortKey, computation: Block) -> IntegerKey:
    element_type = elements_of(key.value)

    def make(s: ScalarBuilder, elements: Values) -> SSAValue:
        both_places = [element for element in elements for _ in range(2)]
        value = inline_value(s, computation, both_places, key.value)
        return ordered_bits(s, value, element_type, key.order, key.is_descending)

    def undo(s: ScalarBuilder, bits: SSAValue) -> SSAValue:
        return bits_in_order(s, bits, element_type, key.is_descending)

    row, width = BY_TYPE[element_type], key_width(element_type)
    can_undo = width == row.bits and row.element_class != ElementClass.PRED
    return IntegerKey(width, make, undo if can_undo else None)


def key_width(element_type: Attribute) -> int:
    """The bits of what `ordered_bits` makes."""
    row = BY_TYPE[element_type]
    small = small_float(element_type)
    if small is None or (small.is_signed and not _has_lone_nan(element_type)):
        return row.bits
    return 2 * row.bits


def _has_lone_nan(element_type: Attribute) -> bool:
    """Whether the bits of a negative zero are the only NaN."""
    small = small_float(element_type)
    return small is not None and small.specials is Specials.NEGATIVE_ZERO_IS_NAN


def ordered_bits(
    s: ScalarBuilder,
    value: SSAValue,
    element_type: Attribute,
    order: ComparisonType,
    is_descending: bool,
) -> SSAValue:
    """A real scalar as an unsigned integer, ascending in its order or descending."""
    row = BY_TYPE[element_type]
    if row.element_class == ElementClass.FLOAT:
        if order != ComparisonType.TOTALORDER:
            value = _without_sign_of_zero(s, value, element_type)
        key, is_signed = total_order_key(s, value, row), True
    else:
        key, is_signed = value, row.element_class == ElementClass.SIGNED
    width = int_width(key)
    if is_signed:
        key = s.integers(arith.XOrIOp, key, 1 << (width - 1))
    return s.integers(arith.XOrIOp, key, (1 << width) - 1) if is_descending else key


def bits_in_order(
    s: ScalarBuilder, key: SSAValue, element_type: Attribute, is_descending: bool
) -> SSAValue:
    """The bits of a real number from what `ordered_bits` makes of it, if that is as wide."""
    width, element_class = int_width(key), BY_TYPE[element_type].element_class
    if is_descending:
        key = s.integers(arith.XOrIOp, key, (1 << width) - 1)
    if element_class in ElementClass.SIGNED | ElementClass.FLOAT:
        key = s.integers(arith.XOrIOp, key, 1 << (width - 1))
    if element_class == ElementClass.FLOAT:
        sign = s.integers(arith.ShRSIOp, key, width - 1)
        key = s.integers(arith.XOrIOp, key, s.integers(arith.ShRUIOp, sign, 1))
    return key


def _without_sign_of_zero(s: ScalarBuilder, value: SSAValue, element_type: Attribute) -> SSAValue:
    small = small_float(element_type)
    if small is not None and (not small.is_signed or _has_lone_nan(element_type)):
        return value
    width = BY_TYPE[element_type].bits
    bits = s.bitcast(value, IntegerType(width))
    is_zero = s.compare("eq", s.integers(arith.AndIOp, bits, (1 << (width - 1)) - 1), 0)
    positive = s.select(is_zero, s.constant(0, bits.type), bits)
    return s.bitcast(positive, value.type)


@dataclass(frozen=True)
class Lines:
    """One line of each tensor: the elements at `prefix` and one more index."""

    tensors: tuple[SSAValue, ...]
    prefix: tuple[SSAValue, ...] = ()

    def read(self, s: ScalarBuilder, place: SSAValue) -> list[SSAValue]:
        """The elements at a place."""
        return [
            s.emit(tensor.ExtractOp, (value, *self.prefix, place), storage(elements_of(value)))
            for value in self.tensors
        ]

    def parts(self, builder: ConversionBuilder, start: SSAValue, size: int) -> list[SSAValue]:
        """So many elements of each line from a place on."""
        rank = len(self.prefix)
        sizes = *(1,) * rank, size
        return [
            extract_slice(builder, value, (*self.prefix, start), sizes, dropped=range(rank))
            for value in self.tensors
        ]

    def write(self, s: ScalarBuilder, place: SSAValue, elements: Values) -> Lines:
        """The lines with elements put to a place."""
        return self.of(
            s.emit(tensor.InsertOp, (element, value, *self.prefix, place), value.type)
            for element, value in zip(elements, self.tensors, strict=True)
        )

    def of(self, tensors: Iterable[SSAValue]) -> Lines:
        """The same lines of other tensors."""
        return replace(self, tensors=tuple(tensors))
