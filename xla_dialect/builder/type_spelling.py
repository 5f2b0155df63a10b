"""Types as callers of the builder give them."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from xla_dialect.builder.caller import build_error
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import element_type_of
from xla_dialect.shapes.size_arithmetic import DynamicSize
from xla_dialect.spelling import SpellingError
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    MAX_ELEMENTS,
    Array,
    TokenType,
    array,
    element_count,
    flatten,
    is_array,
    spell,
)


@runtime_checkable
class HasShape(Protocol):
    """What knows its element type and sizes: numpy and JAX arrays, `jax.ShapeDtypeStruct`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...


ElementTypeLike: TypeAlias = str | Attribute | np.dtype[Any] | type[Any]
"""`"f32"`, `np.float32`, `np.dtype("float32")`, `ml_dtypes.bfloat16`, or an MLIR type."""

TypeLike: TypeAlias = str | Attribute | HasShape | tuple[ElementTypeLike, Sequence[int]]
"""
A type as HLO spells it, `"f32[4,8]"` or `"(s32[], pred[4])"`; an MLIR type; element type and sizes,
`(np.float32, (4, 8))`; or anything with `dtype` and `shape`.
"""


def as_element_type(given: ElementTypeLike) -> Attribute:
    """The element type that is meant; raises BuildError for what is none."""
    if isinstance(given, Attribute):
        if given not in BY_TYPE:
            raise build_error(f"{given} is not an element type of XLA")
        return given
    if isinstance(given, str) and given in BY_NAME:
        return BY_NAME[given].type
    if isinstance(given, np.dtype | type):
        try:
            return element_type_of(np.dtype(given))
        except (TypeError, XlaError):
            pass
    raise build_error(
        f"{given!r} is not an element type (they are {', '.join(BY_NAME)}, "
        "and the dtypes of numpy and ml_dtypes)"
    )


def as_type(given: TypeLike) -> Attribute:
    """The type that is meant: of an array, a tuple or a token. Raises BuildError for any other."""
    if isinstance(given, Attribute):
        return _checked(given)
    if isinstance(given, str):
        try:
            return parse_type(given)
        except SpellingError as error:
            raise build_error(f"type '{given}': {error.message}") from None
    if isinstance(given, tuple) and len(given) == 2:
        return _array(as_element_type(given[0]), given[1])
    found = cast(object, given)
    if isinstance(found, HasShape):
        return _array(as_element_type(found.dtype), found.shape)
    raise build_error(f"{given!r} is not a type; try a string such as 'f32[4,8]'")


def as_array_type(given: TypeLike) -> Array:
    """The array type that is meant; raises BuildError for any other."""
    type_ = as_type(given)
    if not isinstance(type_, TensorType):
        raise build_error(f"{spell(type_)} is not the type of an array")
    return cast(Array, type_)


def as_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes as Python's integers; bounds of dynamic dimensions stay such."""
    return tuple(size if isinstance(size, DynamicSize) else index(size) for size in sizes)


def _checked(type_: Attribute) -> Attribute:
    """The type, if all of its leaves are arrays of XLA element types, or tokens."""
    for leaf in flatten((type_,)):
        if not isinstance(leaf, TokenType) and not is_array(leaf):
            raise build_error(f"{leaf} is not a type of XLA")
        if is_array(leaf):
            sizes = [size for size in leaf.get_shape() if size > 0]
            if element_count(sizes) > MAX_ELEMENTS:
                raise build_error(f"{spell(leaf)} has more than 2^63 - 1 elements")
    return type_


def _array(element_type: Attribute, sizes: Sequence[int]) -> Array:
    found = as_sizes(sizes)
    if any(size < 0 for size in found):
        raise build_error(f"sizes {list(found)} are negative")
    return cast(Array, _checked(array(element_type, found)))


def names_element_type(given: object) -> bool:
    """Whether it is an element type, and not the type of an array, that is given."""
    if isinstance(given, str):
        return given in BY_NAME
    return isinstance(given, np.dtype | type) or (isinstance(given, Attribute) and given in BY_TYPE)
