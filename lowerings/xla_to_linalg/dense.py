"""Literals as attributes of the lower dialects."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute

from lowerings.ir.scalar_attributes import scalar_attribute
from lowerings.xla_to_linalg.scalar_functions.scalars import storage
from xla_dialect.types import BY_TYPE


def stored(literal: DenseIntOrFPElementsAttr[Any]) -> DenseIntOrFPElementsAttr[Any]:
    """A literal with signless elements and the default layout; the bytes are shared."""
    old = cast("TensorType[Attribute]", literal.type)
    type_ = TensorType(storage(old.element_type), old.shape)
    if type_ == old:
        return literal
    data = literal.data.data
    bits = BY_TYPE[old.element_type].bits
    if isinstance(type_.element_type, IntegerType) and bits < 8:
        # xDSL holds narrow signed values sign-extended to a byte.
        unused = 8 - bits
        values = (np.frombuffer(data, np.uint8) << unused).view(np.int8) >> unused
        data = values.tobytes()
    return DenseIntOrFPElementsAttr(cast("TensorType[Any]", type_), BytesAttr(data))


def scalar_of(literal: DenseIntOrFPElementsAttr[Any]) -> Attribute:
    """The first element of a literal: a number attribute, for complex a pair of floats."""
    element_type = storage(literal.get_element_type())
    value = next(iter(literal.iter_values()))
    if isinstance(element_type, ComplexType):
        part = cast("Any", element_type).element_type
        real, imaginary = cast("tuple[float, float]", value)
        return ArrayAttr([FloatAttr(real, part), FloatAttr(imaginary, part)])
    if isinstance(element_type, IntegerType):
        return scalar_attribute(cast("int", value), cast(Attribute, element_type))
    return FloatAttr(cast("float", value), cast("Any", element_type))
