"""The constants and the scratch memory that passes add to a function, and the types of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import copysign
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    IndexType,
    IntegerType,
    LocationAttr,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.ir.scalar_attributes import scalar_attribute
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase

INDEX = IndexType()

SCRATCH_ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""


@cache
def vector_of(element_type: Attribute, lanes: int) -> VectorType[Attribute]:
    """The type of vectors of so many lanes; of complex numbers, both parts of each in turn."""
    if isinstance(element_type, ComplexType):
        return VectorType(part_type(cast(Attribute, element_type)), [2 * lanes])
    return VectorType(element_type, [lanes])


def part_type(element_type: Attribute) -> Attribute:
    """The type of the parts of complex numbers; other types as they are."""
    if type(element_type) is ComplexType:
        return cast("ComplexType[AnyFloat]", element_type).element_type
    return element_type


def element_bits(element_type: Attribute) -> int | None:
    """The width of a type that vectors can hold; None for complex numbers and the like."""
    if _has_bits(type(element_type)):
        return cast(FixedBitwidthType, element_type).bitwidth
    return 64 if type(element_type) is IndexType else None


@cache
def _has_bits(class_: type[Attribute]) -> bool:
    # `isinstance` asks an abstract class, which takes longer than all else.
    return issubclass(class_, FixedBitwidthType)


@lru_cache(4096)
def integer_array(numbers: tuple[int, ...]) -> DenseArrayBase:
    """Integers of 64 bits that say something of an operation: a mask, sizes, strides."""
    return DenseArrayBase.from_list(i64, numbers)


def scratch_memory(memref_type: MemRefType[Attribute]) -> memref.AllocaOp:
    """Memory on the stack, aligned to cache lines."""
    return memref.AllocaOp.get(memref_type.element_type, SCRATCH_ALIGNMENT, memref_type.get_shape())


def _dense(values: Sequence[float], type_: VectorType[Attribute]) -> Attribute:
    element_type = type_.element_type
    if isinstance(element_type, IntegerType):
        width = cast("IntegerType", element_type).bitwidth
        values = [_wrapped(int(value), width) for value in values]
    own = cast("VectorType[IntegerType]", type_)
    return DenseIntOrFPElementsAttr.from_list(own, cast("Sequence[int]", values))


@lru_cache(4096)
def _splat(value: float, _sign: float, type_: VectorType[Attribute]) -> Attribute:
    """A number in all lanes; the sign tells zeros apart. Remembered as numbers of scalars are."""
    return _dense([value] * type_.get_shape()[0], type_)


class FunctionConstants:
    """
    The constants of one function: each once, at the top of the entry block.

    Constants that stand there already are reused.
    """

    def __init__(self, entry: Block):
        self._entry = entry
        self._values: dict[tuple[Attribute, Attribute], SSAValue] = {}
        self._numbers: dict[tuple[float, float, Attribute], SSAValue] = {}
        self._last: Operation | None = None
        self._scratch: dict[tuple[MemRefType[Attribute], int], SSAValue] = {}
        for op in entry.ops:
            if not isinstance(op, arith.ConstantOp):
                break
            self._values.setdefault((op.value, op.result.type), op.result)
            self._last = op

    def attribute(self, value: Attribute, result_type: Attribute) -> SSAValue:
        """The constant `value` of type `result_type`."""
        known = self._values.get((value, result_type))
        if known is not None:
            return known
        op = create(arith.ConstantOp, result_types=[result_type], properties={"value": value})
        self._insert(op)
        self._values[value, result_type] = op.result
        return op.result

    def within(self, value: SSAValue) -> SSAValue:
        """A value of the function; for a constant that stands nowhere the one that is here."""
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and owner.parent is None:
            return self.attribute(owner.value, value.type)
        return value

    def number(self, value: float, value_type: Attribute) -> SSAValue:
        """A number as a scalar, or in all lanes of a vector; integers are taken modulo 2**width."""
        key = (value, copysign(1.0, value), value_type)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = self._number(value, value_type)
        return known

    def _number(self, value: float, value_type: Attribute) -> SSAValue:
        if isinstance(value_type, VectorType):
            own = cast("VectorType[Attribute]", value_type)
            return self.attribute(_splat(value, copysign(1.0, value), own), own)
        return self.attribute(scalar_attribute(value, value_type), value_type)

    def index(self, value: int) -> SSAValue:
        """The constant `value` of type `index`."""
        known = self.number(value, INDEX)
        if known.name_hint is None:
            known.name_hint = f"c{value}" if value >= 0 else f"cm{-value}"
        return known

    def elements(self, values: Sequence[float], element_type: Attribute) -> SSAValue:
        """The vector of `values`; integers are taken modulo 2**width."""
        vector_type = vector_of(element_type, len(values))
        return self.attribute(_dense(values, vector_type), vector_type)

    def scratch(
        self,
        memref_type: MemRefType[Attribute],
        number: int = 0,
        location: LocationAttr = UNKNOWN_LOC,
    ) -> SSAValue:
        """
        Memory on the stack, aligned to cache lines. Asked for again, it is the same: its users
        take turns, but for those of another number. The first of them gives its location.
        """
        known = self._scratch.get((memref_type, number))
        if known is None:
            op = scratch_memory(memref_type)
            op.location = location
            self._insert(op)
            known = self._scratch[memref_type, number] = op.memref
        return known

    def erase_unused(self) -> None:
        """Removes the constants at the top that nothing uses; to be called last."""
        for value in self._values.values():
            if value.first_use is None:
                assert isinstance(value.owner, arith.ConstantOp)
                erase(value.owner)

    def _insert(self, op: Operation) -> None:
        if self._last is not None:
            self._entry.insert_ops_after((op,), self._last)
        elif self._entry.first_op is not None:
            self._entry.insert_ops_before((op,), self._entry.first_op)
        else:
            self._entry.add_op(op)
        self._last = op


def _wrapped(value: int, width: int) -> int:
    """An integer modulo 2**width, as a signed one."""
    half = 1 << (width - 1)
    return (value + half) % (2 * half) - half
