"""
How values look in LLVM IR: scalars and vectors as registers hold them and as memory holds
them, and memrefs as a pointer with sizes and strides.

Elements narrower than a byte occupy one byte each: an `i1` is 0 or 1 (any other value reads as
1), of an `i2`, `i4` or `i6` only the low bits count and the others are written as 0. Floats that
LLVM has no type for (f8, f6, f4) are bytes, which can be moved and compared for bits only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    BFloat16Type,
    ComplexType,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from lowerings.rewriting.failure import describe_location
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import function_of, shape_of


class UnsupportedType(Exception):
    """A type that has no form here; turned into an EmissionError where the operation is known."""


class EmissionError(XlaError):
    """An operation that cannot be printed as LLVM IR: which one, where, and why."""

    def __init__(self, op: Operation, reason: str):
        self.op = op
        self.reason = reason
        place = describe_location(op.location)
        head = "" if place is None else f"{place}: "
        function = function_of(op)
        around = "" if function is None else f" in @{function}"
        super().__init__(f"{head}cannot emit LLVM IR: {op.name}{around}: {reason}")


POINTER = "ptr"


class Kind(Enum):
    """What arithmetic an element takes part in."""

    INTEGER = auto()
    FLOAT = auto()
    COMPLEX = auto()
    OPAQUE = auto()
    """A float that LLVM does not know."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberType:
    """The type of one number."""

    text: str
    """LLVM's type of the number in a register."""
    memory: str
    """LLVM's type of the number in memory."""
    bits: int
    """The width of `text` in bits."""
    size: int
    """Bytes in memory."""
    kind: Kind
    suffix: str
    """How names of LLVM's intrinsics spell the type."""

    @property
    def alignment(self) -> int:
        """Bytes that an address of one element is a multiple of."""
        return self.size // 2 if self.kind is Kind.COMPLEX else self.size


def _integer(bits: int) -> NumberType:
    size = max(1, bits // 8)
    return NumberType(f"i{bits}", f"i{8 * size}", bits, size, Kind.INTEGER, f"i{bits}")


def _float(text: str, bits: int, suffix: str) -> NumberType:
    return NumberType(text, text, bits, bits // 8, Kind.FLOAT, suffix)


INTEGERS = {bits: _integer(bits) for bits in (1, 2, 4, 6, 8, 16, 32, 64, 128)}
I1 = INTEGERS[1]
I64 = INTEGERS[64]
F16 = _float("half", 16, "f16")
# A word: LLVM for x86 aborts where 2^k + 1 `bfloat` are stored or selected as one vector. What is
# computed with them is computed in f32, see `arith`.
BF16 = NumberType("i16", "i16", 16, 2, Kind.FLOAT, "i16")
F32 = _float("float", 32, "f32")
F64 = _float("double", 64, "f64")
_BY_CLASS: dict[type[Attribute], NumberType] = {
    IndexType: I64,
    Float16Type: F16,
    BFloat16Type: BF16,
    Float32Type: F32,
    Float64Type: F64,
}


def _complex(part: NumberType) -> NumberType:
    text = f"{{ {part.text}, {part.text} }}"
    return NumberType(text, text, 2 * part.bits, 2 * part.size, Kind.COMPLEX, "")


_COMPLEX = {part: _complex(part) for part in (F32, F64)}
OPAQUE = NumberType("i8", "i8", 8, 1, Kind.OPAQUE, "i8")


def element_type_of(type_: Attribute) -> NumberType:
    """The element type for a scalar type of MLIR; raises UnsupportedType."""
    found = _BY_CLASS.get(type(type_))
    if found is not None:
        return found
    if isinstance(type_, IntegerType):
        found = INTEGERS.get(cast(FixedBitwidthType, type_).bitwidth)
    elif isinstance(type_, ComplexType):
        found = _COMPLEX.get(element_type_of(cast("ComplexType[AnyFloat]", type_).element_type))
    elif isinstance(type_, FixedBitwidthType) and type_.bitwidth <= 8:
        found = OPAQUE
    if found is None:
        hint = "; native lowers it" if isinstance(type_, TensorType) else ""
        raise UnsupportedType(f"type {type_} has no form in LLVM IR here{hint}")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class ValueType:
    """The type of a register: a number, or a vector of `lanes` numbers."""

    element: NumberType
    lanes: int | None
    text: str
    """LLVM's type of the value in a register."""
    memory: str
    """LLVM's type of the value in memory."""
    suffix: str
    """How names of LLVM's intrinsics spell the type."""

    def with_element(self, element: NumberType) -> ValueType:
        """As many lanes of another element type."""
        return value_type(element, self.lanes)

    def constant(self, literal: str) -> str:
        """The operand (without type) that holds `literal` in every lane."""
        return literal if self.lanes is None else f"splat ({self.element.text} {literal})"


_value_types: dict[tuple[NumberType, int | None], ValueType] = {}


def value_type(element: NumberType, lanes: int | None = None) -> ValueType:
    """The type of `lanes` numbers, or of one number; the same object each time."""
    key = element, lanes
    found = _value_types.get(key)
    if found is None:
        if lanes is None:
            found = ValueType(element, None, element.text, element.memory, element.suffix)
        else:
            found = ValueType(
                element,
                lanes,
                f"<{lanes} x {element.text}>",
                f"<{lanes} x {element.memory}>",
                f"v{lanes}{element.suffix}",
            )
        _value_types[key] = found
    return found


INDEX = value_type(I64)


def value_type_of(type_: Attribute) -> ValueType:
    """The type of a register for a scalar or one-dimensional vector; raises UnsupportedType."""
    if type(type_) is not VectorType:
        return value_type(element_type_of(type_))
    shape = type_.get_shape()
    if len(shape) != 1 or type_.get_num_scalable_dims():
        raise UnsupportedType(f"only vectors of one fixed dimension are supported, not {type_}")
    element = element_type_of(type_.element_type)
    if element.kind is Kind.COMPLEX:
        raise UnsupportedType(f"vectors of complex numbers are not supported: {type_}")
    return value_type(element, shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class MemRefLayout:
    """
    What the type of a memref says. Sizes, strides and offset count elements; None where they
    are known at run time only.
    """

    element: NumberType
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    offset: int | None
    moving: tuple[int, ...]
    """The dimensions along which elements lie apart: several, not all in one place."""
    step: str | None
    """
    The type of nested arrays that is as large as one step of the first of these dimensions, one
    inside of it as a step of the next; None where strides are unknown, or do not divide each other.
    """

    @property
    def is_static(self) -> bool:
        return None not in self.shape and None not in self.strides

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie side by side in row-major order, of known sizes."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size is None or (size != 1 and stride != step):
                return 0 in self.shape
            step *= size
        return True

    def span(self) -> int:
        """
        Bytes from the first to the end of the last element, of a static layout; 0 where there
        are no elements, or where elements lie before the first.
        """
        last = 0
        for size, stride in zip(self.shape, self.strides, strict=True):
            assert size is not None
            assert stride is not None
            if size == 0 or stride < 0:
                return 0
            last += (size - 1) * stride
        return (last + 1) * self.element.size


def _nested(
    element: NumberType, strides: tuple[int | None, ...], moving: Sequence[int]
) -> str | None:
    """The nested arrays of a layout, e.g. `[64 x float]` for strides 64 and 1."""
    nested, step = element.memory, 1
    for dimension in reversed(moving):
        stride = strides[dimension]
        if stride is None or stride < 0 or stride % step:
            return None
        if stride != step:
            nested = f"[{stride // step} x {nested}]"
            step = stride
        elif dimension != moving[-1]:
            nested = f"[1 x {nested}]"
    return nested


def _static(numbers: tuple[int, ...]) -> tuple[int | None, ...]:
    return tuple(None if number == DYNAMIC_INDEX else number for number in numbers)


def _descending(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """The strides of a dense row-major array."""
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(shape):
        strides.append(step)
        step = None if step is None or size is None else step * size
    return tuple(reversed(strides))


def layout_of(type_: Attribute) -> MemRefLayout:
    """What a memref type says; raises UnsupportedType."""
    if not isinstance(type_, MemRefType):
        raise UnsupportedType(f"expected a memref of known rank, found {type_}")
    memref = cast("MemRefType[Attribute]", type_)
    element = element_type_of(memref.element_type)
    shape = _static(shape_of(memref))
    offset: int | None = 0
    if isinstance(memref.layout, NoneAttr):
        strides = _descending(shape)
    elif isinstance(memref.layout, StridedLayoutAttr):
        strides = tuple(memref.layout.get_strides())
        offset = memref.layout.get_offset()
    else:
        raise UnsupportedType(f"only strided layouts are supported, not {type_}")
    moving = tuple(
        dimension
        for dimension, (size, stride) in enumerate(zip(shape, strides, strict=True))
        if size != 1 and stride != 0
    )
    return MemRefLayout(element, shape, strides, offset, moving, _nested(element, strides, moving))
