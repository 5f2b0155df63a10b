"""Numbers as LLVM IR spells them: scalars, vectors and the bytes of globals."""

from __future__ import annotations

import math
import re
import struct
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
)
from xdsl.ir import Attribute

from lowerings.targets.llvm.types import (
    BF16,
    F16,
    F32,
    F64,
    I1,
    Kind,
    NumberType,
    UnsupportedType,
    ValueType,
    element_type_of,
)

DenseElements: TypeAlias = "DenseIntOrFPElementsAttr[Any]"

# A float literal is its bits in hexadecimal; a `float` is written as the double of that value. A
# bf16 is a word.
_FLOAT_FORMS = {F16: "0xH{:04X}", BF16: "{}", F64: "0x{:016X}"}
_SINGLE_EXPONENT = 0x7F80_0000


def integer_literal(element: NumberType, value: int) -> str:
    """An integer; i1 is `true` or `false`."""
    if element is I1:
        return "true" if value else "false"
    return str(value)


def float_literal(element: NumberType, bits: int) -> str:
    """The float with these bits."""
    if element is not F32:
        return _FLOAT_FORMS[element].format(bits)
    if bits & _SINGLE_EXPONENT == _SINGLE_EXPONENT:
        # Infinity or NaN: widened by hand, for a conversion may quiet a NaN.
        double = (bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7F_FFFF) << 29
    else:
        (double,) = struct.unpack(
            "<Q", struct.pack("<d", *struct.unpack("<f", bits.to_bytes(4, "little")))
        )
    return _FLOAT_FORMS[F64].format(double)


def _literal(element: NumberType, data: bytes) -> str:
    """The element with these bytes, as xDSL packs them."""
    if element.kind is Kind.FLOAT:
        return float_literal(element, int.from_bytes(data, "little"))
    return integer_literal(element, int.from_bytes(data, "little", signed=True))


def scalar_literal(attribute: Attribute) -> str:
    """The operand (without type) for the value of a scalar constant."""
    if isinstance(attribute, IntegerAttr):
        integer = cast("IntegerAttr[Any]", attribute)
        return integer_literal(element_type_of(integer.type), integer.value.data)
    if isinstance(attribute, FloatAttr):
        number = cast("FloatAttr[AnyFloat]", attribute)
        return _literal(element_type_of(number.type), number.type.pack((number.value.data,)))
    raise UnsupportedType(f"a constant of this form is not supported: {attribute}")


def vector_literal(type_: ValueType, attribute: DenseElements) -> str:
    """The operand (without type) for a constant vector."""
    element, data = type_.element, attribute.data.data
    size = element.size
    first = data[:size]
    if data == first * (len(data) // size):
        return type_.constant(_literal(element, first))
    literals = (
        f"{element.text} {_literal(element, data[start : start + size])}"
        for start in range(0, len(data), size)
    )
    return f"<{', '.join(literals)}>"


def float_constant(type_: ValueType, value: float) -> str:
    """The operand (without type) that holds a number, which the type has exactly, in every lane."""
    pack = {F32: "<f", F64: "<d", F16: "<e"}[type_.element]
    bits = int.from_bytes(struct.pack(pack, value), "little")
    return type_.constant(float_literal(type_.element, bits))


def memory_image(type_: MemRefType[Attribute], attribute: DenseElements) -> bytes:
    """The bytes of a dense array in memory; raises UnsupportedType where they do not fit."""
    element = element_type_of(type_.element_type)
    count = math.prod(type_.get_shape())
    data = attribute.data.data
    if element.bits < 8:
        # xDSL extends the sign of narrow integers; memory holds zeros there.
        mask = (1 << element.bits) - 1
        data = (np.frombuffer(data, np.uint8) & mask).tobytes()
    if len(data) == element.size and count != 1:
        data *= count
    if len(data) != count * element.size:
        raise UnsupportedType(f"{len(data)} bytes of initial values for {type_}")
    return data


def bytes_literal(data: bytes) -> str:
    """A constant of type `[n x i8]`."""
    if not data.strip(b"\0"):
        return "zeroinitializer"
    # A backslash before each byte: to look for those that need none takes far longer.
    return 'c"\\' + data.hex("\\") + '"'


_TO_ESCAPE = re.compile(rb'[^\x20-\x7e]|["\\]')
_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


def symbol(name: str) -> str:
    """The name of a global as LLVM IR writes it, quoted where needed: `@main`, `@"a b"`."""
    if _PLAIN_NAME.fullmatch(name):
        return f"@{name}"
    escaped = _TO_ESCAPE.sub(lambda match: b"\\%02X" % match.group()[0], name.encode())
    return f'@"{escaped.decode("ascii")}"'
