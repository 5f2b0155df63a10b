"""Python numbers and numpy arrays as arrays of an element type of XLA, without silent loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Attribute

from xla_dialect.builder.caller import build_error
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, element_type_of, numpy_dtype
from xla_dialect.types import BY_NAME, BY_TYPE, ElementClass, ElementType

Number: TypeAlias = bool | int | float | complex
"""A Python number. Where it stands for a value, it is a constant of the element type around it."""

ArrayLike: TypeAlias = Number | np.generic | Array | Sequence["ArrayLike"]
"""A Python number, nested sequences of them, or an array (anything that numpy takes for one)."""

_DEFAULT_TYPES: tuple[tuple[type[Any], str], ...] = (
    (bool, "pred"),
    (int, "s32"),
    (float, "f32"),
    (complex, "c64"),
)
"""Which element type Python numbers have if nobody says: that of the widest of them."""


def as_array(value: object, element_type: Attribute | None = None) -> Array:
    """
    The value as an array of exactly this element type.

    Without one, arrays keep theirs, and Python numbers are pred, s32, f32 or c64. Floats are
    rounded; raises BuildError where an integer does not fit, a fraction or an imaginary part would
    be lost, or what is finite would not stay so.
    """
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        found: Array = np.asarray(cast(Any, value))
        default = _element_type_of_array(found)
    else:
        found, default = _of_numbers(value)
    target = BY_TYPE[default if element_type is None else element_type]
    return found if found.dtype == numpy_dtype(target.type) else _converted(found, target)


def _element_type_of_array(found: Array) -> Attribute:
    try:
        return element_type_of(found.dtype)
    except XlaError as error:
        raise build_error(str(error)) from None


def _of_numbers(value: object) -> tuple[Array, Attribute]:
    """Python numbers as an array of objects, and their default element type."""
    found: Array = np.array(value, dtype=object)
    classes: set[type[object]] = {
        type(number) for number in cast("list[object]", found.ravel().tolist())
    }
    strange = [c for c in classes if not issubclass(c, bool | int | float | complex)]
    if strange:
        raise build_error(
            f"a constant is made of numbers in rectangular lists, not of {strange[0].__name__}"
        )
    # An array without elements is one of floats, as in numpy.
    rank = max((i for i, (c, _) in enumerate(_DEFAULT_TYPES) if c in classes), default=2)
    return found, BY_NAME[_DEFAULT_TYPES[rank][1]].type


def _converted(found: Array, target: ElementType) -> Array:
    """The elements in another element type, if it has them."""
    if target.element_class & (ElementClass.INTEGER | ElementClass.PRED):
        return _integers(found, target)
    dtype = numpy_dtype(target.type)
    wide = np.complex128 if target.element_class == ElementClass.COMPLEX else np.float64
    if wide is np.float64 and _has_imaginary_part(found):
        raise build_error(f"a complex number is no {target.name}")
    try:
        with np.errstate(all="ignore"):
            source = found.astype(wide)
            rounded = found.astype(dtype) if found.dtype != object else source.astype(dtype)
            result = rounded.astype(wide)
    except OverflowError:
        raise build_error(f"an integer does not fit {target.name}") from None
    # The payload of a NaN may be lost.
    lost = (np.isfinite(source) != np.isfinite(result)) | (np.isnan(source) != np.isnan(result))
    if lost.any():
        raise build_error(f"{source[lost].flat[0]} does not fit {target.name}")
    return rounded


def _has_imaginary_part(found: Array) -> bool:
    if found.dtype == object:
        return any(isinstance(number, complex) for number in found.flat)
    return found.dtype.kind == "c"


def _integers(found: Array, target: ElementType) -> Array:
    """The elements as integers or truth values, each of which has to be exactly one."""
    if _has_imaginary_part(found):
        raise build_error(f"a complex number is no {target.name}")
    if found.dtype != object and found.dtype.kind not in "iub":
        found = found.astype(np.float64).astype(object)
    lowest, highest = _range(target)
    if found.dtype == object:
        for number in found.flat:
            if not _is_integer(number):
                raise build_error(f"{number} is no {target.name}")
    if found.size:
        for number in (found.min(), found.max()):
            if not lowest <= int(number) <= highest:
                raise build_error(f"{int(number)} does not fit {target.name}")
    wide = np.uint64 if lowest == 0 else np.int64
    return found.astype(wide).astype(numpy_dtype(target.type))


def _is_integer(number: Any) -> bool:
    return isinstance(number, int) or (isinstance(number, float) and number.is_integer())


def _range(target: ElementType) -> tuple[int, int]:
    match target.element_class:
        case ElementClass.PRED:
            return 0, 1
        case ElementClass.UNSIGNED:
            return 0, 2**target.bits - 1
        case _:
            return -(2 ** (target.bits - 1)), 2 ** (target.bits - 1) - 1
