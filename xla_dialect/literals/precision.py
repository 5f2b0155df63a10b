"""Which of two element types holds what both hold best."""

from __future__ import annotations

from typing import Any, cast

import ml_dtypes
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute

from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_TYPE, ElementClass


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
