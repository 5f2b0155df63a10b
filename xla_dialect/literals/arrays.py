"""Arrays as numpy has them: element types as dtypes, literals as arrays and back.

A value of the reference is an ndarray (or a numpy scalar for rank 0), a Python tuple of values for
a tuple, and `TOKEN` for a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    TupleType,
)
from xdsl.ir import Attribute

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import (
    NUMPY_TYPES,
    Array,
    DType,
    ElementClass,
    require_rank,
    spell_array,
)
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.types import BY_TYPE, ELEMENT_TYPES, TokenType
from xla_dialect.xdsl.dense_literals import LEFT_OUT, is_elided

Value: TypeAlias = "Array | tuple[Value, ...] | None"
"""An array, a tuple of values, or a token."""

TOKEN = None
"""The one value of a token."""

MEMORY_LIMIT = 1 << 32
"""Bytes of the largest array that the reference makes unless its caller says otherwise."""


class MemoryLimitError(XlaError):
    """An array would be larger than the limit; raised before anything is allocated."""


_DTYPES: dict[Attribute, DType] = {e.type: NUMPY_TYPES[e.name] for e in ELEMENT_TYPES}
ELEMENT_OF_DTYPE: dict[DType, types.ElementType] = {_DTYPES[e.type]: e for e in ELEMENT_TYPES}
"""From the dtype to the row of the table of element types."""


def numpy_dtype(element_type: Attribute) -> DType:
    """The dtype of an element type; raises XlaError for what is no element type of XLA."""
    found = _DTYPES.get(element_type)
    if found is None:
        raise XlaError(f"{element_type} is not an element type of XLA")
    return found


def element_type_of(dtype: DType) -> Attribute:
    """The element type of a dtype, the inverse of `numpy_dtype`; raises XlaError if there is none.

    `int4` and its like are those of ml_dtypes.
    """
    found = ELEMENT_OF_DTYPE.get(dtype)
    if found is None:
        raise XlaError(f"no element type of XLA has the dtype {dtype}")
    return found.type


def check_memory(type_: Attribute, limit: int = MEMORY_LIMIT) -> int:
    """
    The bytes of the arrays of a type; raises MemoryLimitError if one has more than `limit`.

    Bounded dynamic dimensions count with their bounds. Raises XlaError for unbounded ones, and for
    more dimensions than numpy has. Tuples are checked element by element.
    """
    total = 0
    for leaf in types.flatten((type_,)):
        if not types.is_array(leaf):
            continue
        if any(size < 0 for size in types.extents(leaf)):
            raise XlaError(f"the reference does not evaluate dynamic sizes: {types.spell(leaf)}")
        require_rank(len(types.sizes_of(leaf)))
        size = types.byte_size(leaf)
        if size > limit:
            raise MemoryLimitError(
                f"{types.spell(leaf)} has {size} bytes, the limit is {limit} bytes"
            )
        total += size
    return total


def to_numpy(literal: Attribute, limit: int = MEMORY_LIMIT) -> Value:
    """
    The value of a literal: an array for dense elements, a tuple for an array attribute.

    Arrays are read-only views of the literal's bytes; pred is copied (bytes 0x00, 0x01 and 0xff
    occur), and a splat that is stored as one element stays one. Raises XlaError for anything else,
    MemoryLimitError for more than `limit` bytes.
    """
    if isinstance(literal, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", literal).data
        return tuple(to_numpy(element, limit) for element in elements)
    if isinstance(literal, DenseIntOrFPElementsAttr):
        return dense_to_numpy(cast("DenseIntOrFPElementsAttr[Any]", literal), limit)
    raise XlaError(LEFT_OUT if is_elided(literal) else f"{literal} is not a literal")


def dense_to_numpy(literal: DenseIntOrFPElementsAttr[Any], limit: int = MEMORY_LIMIT) -> Array:
    """The array of dense elements; see `to_numpy`."""
    type_ = cast("types.Array", literal.type)
    dtype = numpy_dtype(type_.element_type)
    check_memory(type_, limit)
    data = literal.data.data
    if len(data) % dtype.itemsize:
        raise XlaError(f"{len(data)} bytes are no elements of {types.spell(type_)}")
    flat = elements_of(data, dtype)
    sizes = type_.get_shape()
    count = types.element_count(sizes)
    if flat.size == count:
        return flat.reshape(sizes)
    if flat.size == 1:
        return np.broadcast_to(flat.reshape(()), sizes)
    raise XlaError(f"{flat.size} elements for {types.spell(type_)}")


def elements_of(data: bytes, dtype: DType) -> Array:
    """The elements that bytes of a literal are, read-only."""
    if dtype != np.bool_:
        return np.frombuffer(data, dtype)
    flat = np.frombuffer(data, np.uint8) != 0
    flat.flags.writeable = False
    return flat


def from_numpy(array: Array, type_: types.Array | None = None) -> DenseIntOrFPElementsAttr[Any]:
    """
    The literal that holds an array, of `type_` or else of the array's type in default layout.

    Raises XlaError if element type or sizes are not those of `type_`.
    """
    expected: types.Array = (
        types.array(element_type_of(array.dtype), array.shape) if type_ is None else type_
    )
    if expected.get_shape() != array.shape or numpy_dtype(expected.element_type) != array.dtype:
        raise XlaError(f"a literal of {types.spell(expected)} from {spell_array(array)}")
    return DenseIntOrFPElementsAttr(cast("Any", expected), BytesAttr(bytes_of(array)))


def bytes_of(array: Array) -> bytes:
    """The elements as a literal has them, the inverse of `elements_of`."""
    return _stored(array).tobytes()


def _stored(array: Array) -> Array:
    """The elements as xDSL stores them: true as 0xff, narrow integers sign-extended."""
    element = ELEMENT_OF_DTYPE[array.dtype]
    match element.element_class:
        case ElementClass.PRED:
            return np.where(array, np.uint8(0xFF), np.uint8(0))
        case ElementClass.SIGNED if element.bits < 8:
            return array.astype(np.int8)
        case ElementClass.UNSIGNED if element.bits < 8:
            return array.astype(np.uint8)
        case _:
            return array


def literal_of(value: Value) -> Attribute:
    """The literal of a value, the inverse of `to_numpy`; raises XlaError for a token."""
    if isinstance(value, tuple):
        return ArrayAttr([literal_of(element) for element in value])
    if value is None:
        raise XlaError("a token has no literal")
    return from_numpy(value)


def leaves_of(values: Iterable[object]) -> list[Any]:
    """All values in tuples, at every depth."""
    found: list[object] = []
    for value in values:
        inner = cast("tuple[object, ...]", value)
        found += leaves_of(inner) if isinstance(value, tuple) else [value]
    return found


def flatten_results(values: Sequence[Value]) -> tuple[Array, ...]:
    """All arrays, those in tuples too, in order; tokens are left out."""
    return tuple(leaf for leaf in leaves_of(values) if leaf is not TOKEN)


def copied(value: object) -> Value:
    """An equal value that shares no memory with it; lists count as tuples."""
    elements = _elements(value)
    if elements is not None:
        return tuple(map(copied, elements))
    return TOKEN if value is TOKEN else np.array(value)


def as_argument(value: object, type_: Attribute, name: str) -> Value:
    """
    A value that was passed for a parameter of this type; lists count as tuples.

    `name` is the parameter in messages. Raises XlaError that says what was expected and what was
    found.
    """
    elements = _elements(value)
    if isinstance(type_, TupleType):
        expected = type_.types.data
        if elements is None or len(elements) != len(expected):
            raise _mismatch(name, type_, value)
        return tuple(
            as_argument(element, element_type, f"{name}.{i}")
            for i, (element, element_type) in enumerate(zip(elements, expected, strict=True))
        )
    if isinstance(type_, TokenType):
        if value is not TOKEN:
            raise _mismatch(name, type_, value)
        return TOKEN
    if isinstance(type_, types.OpaqueType | types.BufferType):
        raise XlaError(f"{name}: there are no arguments of type {types.spell(type_)}")
    if value is None or elements is not None:
        raise _mismatch(name, type_, value)
    array = np.asarray(value)
    tensor = cast("types.Array", type_)
    if not _has_sizes(array, tensor) or array.dtype != numpy_dtype(tensor.element_type):
        raise _mismatch(name, type_, array)
    return array


def _has_sizes(array: Array, type_: types.Array) -> bool:
    """Whether an array has the sizes of a type; those of dynamic dimensions are bounds."""
    sizes = types.extents(type_)
    return array.ndim == len(sizes) and all(
        have <= size if isinstance(size, DynamicSize) else have == size
        for have, size in zip(array.shape, sizes, strict=True)
    )


def _elements(value: object) -> Sequence[object] | None:
    """The elements of a tuple or a list, None for any other value."""
    return cast("Sequence[object]", value) if isinstance(value, tuple | list) else None


def _mismatch(name: str, expected: Attribute, found: object) -> XlaError:
    return XlaError(f"{name}: expected {types.spell(expected)}, found {_describe(found)}")


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return spell_array(cast(Array, value))
    elements = _elements(value)
    count = "" if elements is None else f" of {len(elements)}"
    return f"a Python {type(value).__name__}{count}"


def bit_width(dtype: DType) -> int:
    """Bits of a value: 4 for int4, 8 for bool."""
    return ELEMENT_OF_DTYPE[dtype].bits


def bits_of(array: Array) -> Array:
    """
    The bits of the elements as unsigned integers of the same storage size.

    What lies above the width of a sub-byte element is 0. Complex types have no such integers.
    """
    codes = array.view(f"u{array.dtype.itemsize}")
    width = bit_width(array.dtype)
    return codes if width >= 8 else codes & codes.dtype.type((1 << width) - 1)


_WIDE_DTYPES = {
    ElementClass.SIGNED: np.dtype(np.int8),
    ElementClass.UNSIGNED: np.dtype(np.uint8),
    ElementClass.FLOAT: np.dtype(np.float32),
}

COMPUTE_DTYPES: dict[DType, DType] = {
    dtype: _WIDE_DTYPES[row.element_class]
    for dtype, row in ELEMENT_OF_DTYPE.items()
    if row.bits < (32 if row.element_class == ElementClass.FLOAT else 8)
}
"""From the dtype of a narrow type to the one that its arithmetic is done in."""


def accumulator_dtype(lhs: DType, rhs: DType, result: DType) -> DType:
    """f64 (c128) if a part of the dot has it, f32 (c64) for other floats, else the result type."""
    rows = [ELEMENT_OF_DTYPE[d] for d in (lhs, rhs, result)]
    if not any(row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX) for row in rows):
        return COMPUTE_DTYPES.get(result, result)
    kind = "c" if any(row.element_class == ElementClass.COMPLEX for row in rows) else "f"
    parts = [
        row.bits // (2 if row.element_class == ElementClass.COMPLEX else 1)
        for row in rows
        if row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX)
    ]
    size = 8 if max(parts) == 64 else 4
    return np.dtype(f"{kind}{2 * size if kind == 'c' else size}")


# Which of two element types holds what both hold best.


def higher_precision(left: Attribute, right: Attribute) -> Attribute | None:
    """
    The element type that a product of two has in XLA, where none is written.

    Complex comes before real, a float before any integer, more range before more digits, these
    before more bits, signed before unsigned. None where this does not tell two types apart, as
    f8e5m2 and f8e5m2fnuz.
    """
    if left == right:
        return left
    if _rank(left) == _rank(right):
        return None
    return max(left, right, key=_rank)


def _rank(type_: Attribute) -> tuple[int, ...]:
    is_complex = isinstance(type_, ComplexType)
    part = BY_TYPE[cast("ComplexType[Any]", type_).element_type if is_complex else type_]
    exponent, digits = -1, -1
    if part.element_class == ElementClass.FLOAT:
        limits = cast("Any", ml_dtypes.finfo(numpy_dtype(part.type)))
        exponent, digits = int(limits.maxexp), int(limits.nmant)
    bits = 1 if part.element_class == ElementClass.PRED else part.bits
    return (is_complex, exponent, digits, bits, part.element_class == ElementClass.SIGNED)
