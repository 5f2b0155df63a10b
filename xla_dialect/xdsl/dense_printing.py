"""Printing dense literals of MLIR, `dense<...>`, with any printer of xDSL.

xDSL 0.74.0 (`xdsl/dialects/builtin.py`) compares elements as numbers, so that `dense<[0.0, -0.0]>`
is printed as `dense<0.0>` and NaN payloads are lost. Here a splat is one by its bits, what is not
finite is printed as its bits, and long lists of i1 in MLIR's form, eight elements to a byte.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ComplexType, DenseIntOrFPElementsAttr, IndexType, IntegerType
from xdsl.printer import Printer

from xla_dialect.xdsl.dense_literals import ScalarType, is_splat

_MAX_LISTED = 100
"""As MLIR: more elements than this, unless all equal, are printed as one hexadecimal string."""

_BINARY_DIGITS = b"0" + b"1" * 255
"""An i1 element of one byte as a binary digit."""


def _packed_bits(data: bytes) -> bytes:
    bits = int(data.translate(_BINARY_DIGITS)[::-1] or b"0", 2)
    return bits.to_bytes((len(data) + 7) // 8, "little")


def _print_scalar(printer: Printer, raw: bytes, type: ScalarType) -> None:
    value = type.unpack(raw, 1)[0]
    if isinstance(type, IntegerType | IndexType):
        printer.print_int(int(value), type)
    elif math.isfinite(value):
        printer.print_float(value, type)
    else:
        printer.print_string(f"0x{raw[::-1].hex().upper()}")


def _print_element(printer: Printer, raw: bytes, type: ScalarType | ComplexType[Any]) -> None:
    if isinstance(type, ComplexType):
        component = cast(ScalarType, type.element_type)
        half = len(raw) // 2
        with printer.in_parens():
            _print_scalar(printer, raw[:half], component)
            printer.print_string(",")
            _print_scalar(printer, raw[half:], component)
    else:
        _print_scalar(printer, raw, type)


def _print_list(
    printer: Printer, data: bytes, shape: Sequence[int], type: ScalarType | ComplexType[Any]
) -> None:
    if not shape:
        _print_element(printer, data, type)
        return
    size = len(data) // shape[0]
    with printer.in_square_brackets():
        printer.print_list(
            range(0, len(data), size),
            lambda start: _print_list(printer, data[start : start + size], shape[1:], type),
        )


def print_dense(attribute: DenseIntOrFPElementsAttr[Any], printer: Printer) -> None:
    """Prints `dense<...> : type`, on any printer."""
    _print_elements(attribute, printer)
    printer.print_string(" : ")
    printer.print_attribute(attribute.get_type())


def _print_elements(attribute: DenseIntOrFPElementsAttr[Any], printer: Printer) -> None:
    type: ScalarType | ComplexType[Any] = attribute.get_element_type()
    data = attribute.data.data
    printer.print_string("dense")
    with printer.in_angle_brackets():
        if not data:
            return
        if is_splat(attribute):
            _print_element(printer, data[: type.compile_time_size], type)
        elif len(attribute) > _MAX_LISTED:
            is_bits = isinstance(type, IntegerType) and type.width.data == 1
            raw = _packed_bits(data) if is_bits else data
            printer.print_string(f'"0x{raw.hex().upper()}"')
        else:
            _print_list(printer, data, attribute.get_shape(), type)
