"""Array types of StableHLO as those of the `xla` dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    NoneAttr,
    TensorType,
    TupleType,
    i64,
)
from xdsl.ir import Attribute, Operation, TypeAttribute

from xla_dialect import types as xla
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.quantized_types import quantization_of, with_element_type
from xla_dialect.stablehlo.attributes import Bounds, FutureType, TokenType
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.source import HloOperation, SourceError, UnknownShape
from xla_dialect.types import (
    MAX_ELEMENTS,
    Array,
    element_class,
    element_count,
    element_name,
    extents,
    spell,
)

NO_ELEMENT_TYPE = "index is not an element type of XLA; operands that say a shape may have it"
"""Why an operation does not take sizes of MLIR's type `index`."""


def is_index(type_: Attribute) -> bool:
    """Whether a type is one of sizes: an array of MLIR's type `index`, or a number in no array."""
    if isinstance(type_, TensorType):
        return isinstance(cast(Array, type_).element_type, IndexType)
    return isinstance(type_, IndexType | IntegerType)


def integers_for_index(type_: Attribute) -> Array:
    """The array type that one of sizes becomes: of 64 bits, as XLA has no type `index`."""
    if isinstance(type_, TensorType):
        array = cast(Array, type_)
        return TensorType(i64, array.get_shape(), array.encoding)
    return TensorType(cast(Attribute, type_) if isinstance(type_, IntegerType) else i64, ())


def literal_of_integers(value: DenseIntOrFPElementsAttr[Any]) -> DenseIntOrFPElementsAttr[Any]:
    """The same elements as 64-bit integers if they are sizes; any other literal as it is."""
    if not is_index(cast(Attribute, value.type)):
        return value
    return DenseIntOrFPElementsAttr(
        cast(Any, integers_for_index(cast(Attribute, value.type))), value.data
    )


def gives_index(op: Operation) -> bool:
    """Whether an operation, or a function by its type, may have values of type `index`."""
    return op.GIVES_INDEX if isinstance(op, HloOperation) else op.name in _PASS_ON


def check_index_operands(op: Operation) -> None:
    """Raises SourceError for an operand of type `index` that is not the shape of a result."""
    if op.name in _PASS_ON:
        return
    first = op.INDEX_OPERANDS if isinstance(op, HloOperation) else None
    for position, operand in enumerate(op.operands):
        if is_index(operand.type) and (first is None or position < first):
            raise SourceError(op, f"operand {position} is {operand.type}: {NO_ELEMENT_TYPE}")


_PASS_ON = ("func.func", "func.call", "func.return")
"""Operations that only forward values."""


def xla_type(type_: Attribute) -> Attribute:
    """The type of the `xla` dialect for one of StableHLO that is legal."""
    if isinstance(type_, TokenType):
        return xla.TokenType()
    if isinstance(type_, TupleType):
        elements = (cast(TypeAttribute, xla_type(element)) for element in type_.types.data)
        return TupleType(tuple(elements))
    if isinstance(type_, TensorType) and isinstance(cast(Array, type_).encoding, Bounds):
        return _with_bounds(cast(Array, type_))
    return cast(Attribute, type_)


def stablehlo_type(type_: Attribute) -> Attribute:
    """The type of StableHLO for one of `xla`, without its layout; raises Inexpressible."""
    if isinstance(type_, TupleType):
        elements = (cast(TypeAttribute, stablehlo_type(element)) for element in type_.types.data)
        return TupleType(tuple(elements))
    if isinstance(type_, xla.TokenType):
        return TokenType()
    if not isinstance(type_, TensorType):
        # A size in no array is in programs whose shapes depend on arguments.
        if isinstance(type_, TokenType | FutureType | IndexType | IntegerType):
            return cast(Attribute, type_)
        raise Inexpressible(f"StableHLO has no type {spell(type_)}")
    array = cast(Array, type_)
    name = element_name(array.element_type)
    if name in _MISSING:
        raise Inexpressible(f"StableHLO has no element type {name}")
    if not isinstance(array.encoding, LayoutAttr):
        return array
    bounds = array.encoding.data.bounds
    is_bounded = any(bound is not None for bound in bounds)
    encoding = Bounds(bounds) if is_bounded else NoneAttr()
    return TensorType(array.element_type, array.get_shape(), encoding)


_MISSING = ("s1", "u1")
"""The element types of XLA that StableHLO has not."""


def has_foreign_encoding(type_: Attribute) -> bool:
    """Whether the elements of an array are kept in a way that XLA does not have."""
    known = NoneAttr | Bounds | LayoutAttr
    return isinstance(type_, TensorType) and not isinstance(cast(Array, type_).encoding, known)


def _with_bounds(type_: Array) -> Array:
    """An array type whose bounds are in its layout, as the `xla` dialect has them."""
    layout = Layout.default(len(type_.get_shape()))
    bounds = cast(Bounds, type_.encoding).data
    return TensorType(
        type_.element_type, type_.get_shape(), LayoutAttr(replace(layout, bounds=bounds))
    )


def array_type(type_: Attribute, op: Operation, drops_encoding: bool) -> Array:
    """
    The array type of the `xla` dialect for one of StableHLO, its bounds in the layout.

    A quantized array is one of the integers that are stored. `drops_encoding`: an encoding of
    another dialect is left out.

    Raises SourceError, at `op`, for what is no array of XLA.
    """

    def fail(reason: str) -> NoReturn:
        raise SourceError(op, f"type {type_} is not supported: {reason}")

    if not isinstance(type_, TensorType):
        fail("it is no array, tuple or token")
    array = cast(Array, type_)
    sizes = array.get_shape()
    quantization = quantization_of(array)
    if quantization is not None:
        fault = quantization.fault_in([None if n == DYNAMIC_INDEX else n for n in sizes])
        if fault is not None:
            fail(fault)
        array = with_element_type(array, quantization.storage)
    if not element_class(array.element_type):
        fail(f"{array.element_type} is not an element type of XLA")
    if isinstance(array.encoding, Bounds):
        array = _with_bounds(array)
    if has_foreign_encoding(array):
        if not drops_encoding:
            raise UnknownShape(
                op, message=f"nothing here computes arrays that are encoded as {array.encoding}"
            )
        array = TensorType(array.element_type, sizes)
    if isinstance(array.encoding, LayoutAttr):
        try:
            array.encoding.data.validate(sizes)
        except LayoutError as error:
            fail(str(error))
    if element_count([size for size in extents(array) if size > 0]) > MAX_ELEMENTS:
        raise SourceError(op, "(Size) an array has more than 2^63 - 1 elements")
    return array
