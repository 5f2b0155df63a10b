"""
Numbers as the interpreter holds them: numpy's dtypes for the scalar types of MLIR.

A scalar is a numpy scalar, a vector or a tensor an array. Where one operation is carried out for
many points of an iteration space at once, all values have the axes of that space in front of their
own; so no function here may count axes from the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FixedBitwidthType,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.complex import ComplexNumberAttr
from xdsl.ir import Attribute
from xdsl.utils.type import get_element_type_or_self

from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, DType, numpy_dtype
from xla_dialect.xdsl.dense_literals import LEFT_OUT, is_elided


class UndefinedBehavior(XlaError):
    """An operation whose result its dialect leaves undefined: out of bounds, a division by zero."""


def is_of_undefined_behavior(error: XlaError) -> bool:
    """Whether an error is `UndefinedBehavior`, or tells the place of one."""
    return isinstance(error, UndefinedBehavior) or isinstance(error.__cause__, UndefinedBehavior)


class IterationLimitReached(XlaError):
    """A loop that runs more often than its caller allows."""


Number: TypeAlias = Any
"""A numpy scalar, or an array."""

INDEX_BITS = 64
_WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class Element:
    """A scalar type."""

    dtype: DType
    """In registers and tensors. Integers of widths that numpy lacks are signed in the next one."""
    storage: DType
    """In memory, where an `i1` is a byte, and of an `i4` only the low bits count."""
    bits: int

    @property
    def is_whole(self) -> bool:
        """Whether every bit of the dtype belongs to the number."""
        return self.dtype.kind != "b" and self.bits == 8 * self.dtype.itemsize

    @property
    def is_integer(self) -> bool:
        """Whether it is an integer or an index."""
        return self.dtype.kind in "bi"

    def wrapped(self, values: Number) -> Number:
        """Integers of a dtype at least as wide, with the bits above the width dropped."""
        if self.dtype.kind == "b":
            return (values & values.dtype.type(1)) != 0
        values = values.astype(self.dtype)
        unused = 8 * self.dtype.itemsize - self.bits
        return (values << unused) >> unused if unused else values

    def signed(self, values: Number) -> Number:
        """Integers as signed ones: a true `i1` is -1."""
        return -values.astype(np.int8) if self.dtype.kind == "b" else values

    def unsigned(self, values: Number) -> Number:
        """The same bits as unsigned integers."""
        if self.dtype.kind == "b":
            return values.astype(np.uint8)
        bits = values.view(f"u{self.dtype.itemsize}")
        return bits if self.is_whole else bits & bits.dtype.type((1 << self.bits) - 1)

    def loaded(self, values: Number) -> Number:
        """What memory holds as a number."""
        if self.dtype == self.storage:
            return values if self.is_whole else self.wrapped(values)
        return values != 0

    def stored(self, values: Number) -> Number:
        """A number as memory holds it."""
        if self.dtype.kind == "b":
            return values.astype(self.storage)
        if self.is_integer and not self.is_whole:
            return values & self.dtype.type((1 << self.bits) - 1)
        return values


@cache
def element_of(type_: Attribute) -> Element:
    """The element of a scalar type, or of a vector, tensor or memref; raises XlaError."""
    # In xDSL, ComplexType is a container type, whose element type is that of the parts.
    is_complex = isinstance(type_, ComplexType)
    scalar: Attribute = cast(Attribute, type_ if is_complex else get_element_type_or_self(type_))
    if isinstance(scalar, IndexType):
        return Element(np.dtype(np.int64), np.dtype(np.int64), INDEX_BITS)
    if isinstance(scalar, IntegerType):
        bits = cast(FixedBitwidthType, scalar).bitwidth
        if bits == 1:
            return Element(np.dtype(np.bool_), np.dtype(np.uint8), 1)
        width = next((width for width in _WIDTHS if bits <= width), None)
        if width is None:
            raise XlaError(f"integers of {bits} bits are not interpreted")
        dtype = np.dtype(f"i{width // 8}")
        return Element(dtype, dtype, bits)
    dtype = numpy_dtype(scalar)
    return Element(dtype, dtype, 8 * dtype.itemsize)


def as_stored(values: Array, element: Element) -> Array:
    """An array of the reference as memory holds it: unsigned integers are bits, i4 bytes."""
    stored = np.array(values, order="C").view(element.storage)
    if element.is_integer and not element.is_whole and element.dtype.kind != "b":
        return element.stored(stored)
    return stored


def as_numbers(stored: Array, element: Element, dtype: DType) -> Array:
    """What memory holds as an array of the reference's dtype, which may be unsigned."""
    if element.dtype.kind == "b":
        return (stored != 0).view(dtype)
    if element.is_integer and not element.is_whole:
        # ml_dtypes keeps the sign of a narrow integer above its bits.
        signed = element.wrapped(stored)
        is_unsigned = dtype.name.startswith("u")
        return (element.unsigned(signed) if is_unsigned else signed).view(dtype)
    return stored.view(dtype)


def to_reference(value: Number, type_: Attribute, dtype: DType) -> Array:
    """A copy of a tensor as an array of the dtype that the reference has."""
    element = element_of(type_)
    stored = np.array(element.stored(np.asarray(value)), order="C")
    return as_numbers(stored, element, dtype).reshape(stored.shape)


def from_reference(values: Array, type_: Attribute) -> Array:
    """An array of the reference as a tensor of a type."""
    element = element_of(type_)
    return element.loaded(as_stored(values, element))


def where(condition: Number, x: Number, y: Number) -> Number:
    """The first where the condition holds, else y, of any dtype."""
    return cast(Any, np.where)(condition, x, y)


def is_vector(type_: Attribute) -> bool:
    """Whether values of a type have axes of their own."""
    return isinstance(type_, VectorType)


def dense_values(literal: DenseIntOrFPElementsAttr[Any]) -> Number:
    """The array of dense elements."""
    element = element_of(literal.type)
    flat = np.frombuffer(literal.data.data, element.storage)
    values = element.loaded(flat)
    sizes = literal.type.get_shape()
    if values.size == 1:
        return np.full(sizes, values[0])
    return values.reshape(sizes)


def constant_value(literal: Attribute, type_: Attribute) -> Number:
    """The value of a constant of a type, as `arith.constant` and `complex.constant` have them."""
    dtype = element_of(type_).dtype
    if isinstance(literal, DenseIntOrFPElementsAttr):
        return dense_values(cast("DenseIntOrFPElementsAttr[Any]", literal))
    if isinstance(literal, ComplexNumberAttr):
        number = cast("ComplexNumberAttr[Any]", literal)
        return dtype.type(complex(number.real.data, number.imag.data))
    if isinstance(literal, ArrayAttr):
        parts = [_float(part) for part in cast("ArrayAttr[Attribute]", literal).data]
        return np.array(parts).view(dtype)[0]
    if isinstance(literal, IntegerAttr):
        value = cast("IntegerAttr[Any]", literal).value.data
        return element_of(type_).wrapped(np.int64(_signed_word(value)))
    return _float(literal)


def _signed_word(value: int) -> int:
    """An integer of at most 64 bits as a signed one of 64."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _float(literal: Attribute) -> Number:
    if is_elided(literal):
        raise XlaError(LEFT_OUT)
    if not isinstance(literal, FloatAttr):
        raise XlaError(f"a constant of this form is not interpreted: {literal}")
    number = cast("FloatAttr[Any]", literal)
    return np.frombuffer(number.type.pack((number.value.data,)), numpy_dtype(number.type))[0]


def require_inside(
    indices: Sequence[Number], sizes: Sequence[int], what: str, lanes: Number = 1
) -> None:
    """
    Raises UndefinedBehavior where an index is outside of an array of these sizes.

    `lanes`: how many elements are accessed from the last index on. `what` names the array.
    """
    for axis, (index, size) in enumerate(zip(indices, sizes, strict=True)):
        last = index if axis + 1 < len(sizes) else index + (lanes - 1)
        if np.ndim(index):
            wrong = (index < 0) | (last >= size)
            if np.any(wrong):
                raise _outside(int(index[wrong][0]), axis, sizes, what, lanes)
        elif index < 0 or last >= size:
            raise _outside(int(index), axis, sizes, what, lanes)


def _outside(
    index: int, axis: int, sizes: Sequence[int], what: str, lanes: int
) -> UndefinedBehavior:
    of = f" of {lanes} elements" if lanes != 1 and axis + 1 == len(sizes) else ""
    return UndefinedBehavior(
        f"index {index}{of} in dimension {axis} is out of bounds of {what}, "
        f"whose sizes are {list(sizes)}"
    )
