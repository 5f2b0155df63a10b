"""
What callers of the builder give, as they may spell it, and errors that point at their lines.

Arguments of a wrong Python type are found by the annotations of a method once a call has failed: a
call that succeeds is not slowed down by checks, and the signature is the one place that says what a
method takes.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from itertools import islice
from numbers import Complex, Real
from operator import index
from pathlib import Path
from reprlib import repr as shortened
from types import FrameType, UnionType
from typing import (
    Any,
    ForwardRef,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

import numpy as np
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xla_dialect import attributes, types
from xla_dialect.devices import replica_groups
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array, element_type_of, numpy_dtype
from xla_dialect.op import XlaOp, encode
from xla_dialect.shapes.size_arithmetic import DynamicSize, ceil_div, dilated
from xla_dialect.shapes.window import Window
from xla_dialect.spelling import SpellingError
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import (
    BY_NAME,
    BY_TYPE,
    MAX_ELEMENTS,
    ElementClass,
    ElementType,
    TokenType,
    array,
    element_count,
    flatten,
    is_array,
    spell,
)

_OWN_FOLDER = str(Path(__file__).parents[1]) + os.sep


# Locations of operations and errors: the innermost line outside of this package.


class BuildError(LocatedError):
    """A call of the builder that breaks a rule; it points at the line that makes the call."""


def build_error(message: str) -> BuildError:
    """The error at the innermost line outside `xla_dialect` that is being executed."""
    frame = _caller()
    if frame is None:
        return BuildError(message)
    file, line = frame.f_code.co_filename, frame.f_lineno
    source_line = linecache.getline(file, line, frame.f_globals)
    return BuildError(message, file, line, _column(frame, source_line), source_line)


def caller_location() -> FileLineColLoc:
    """The innermost line outside `xla_dialect` that is being executed, column 0."""
    frame = _caller()
    file, line = ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(0))


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
        frame = frame.f_back
    return frame


def _column(frame: FrameType, source_line: str) -> int:
    """The column of the call that a frame is in, from 1; 0 if not known."""
    positions = frame.f_code.co_positions()
    _, _, offset, _ = next(islice(positions, frame.f_lasti // 2, None), (None,) * 4)
    if offset is None:
        return 0
    # Python counts the bytes of UTF-8.
    return len(source_line.encode()[:offset].decode(errors="ignore")) + 1


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
    if found.dtype == object:
        for number in found.flat:
            if not _is_whole(number):
                raise build_error(f"{number} is no {target.name}")
    if found.size:
        for number in (found.min(), found.max()):
            if int(number) not in target.integers:
                raise build_error(f"{int(number)} does not fit {target.name}")
    wide = np.uint64 if target.integers[0] == 0 else np.int64
    return found.astype(wide).astype(numpy_dtype(target.type))


def _is_whole(number: Any) -> bool:
    return isinstance(number, int) or (isinstance(number, float) and number.is_integer())


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


def as_array_type(given: TypeLike) -> types.Array:
    """The array type that is meant; raises BuildError for any other."""
    type_ = as_type(given)
    if not isinstance(type_, TensorType):
        raise build_error(f"{spell(type_)} is not the type of an array")
    return cast(types.Array, type_)


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


def _array(element_type: Attribute, sizes: Sequence[int]) -> types.Array:
    found = as_sizes(sizes)
    if any(size < 0 for size in found):
        raise build_error(f"sizes {list(found)} are negative")
    return cast(types.Array, _checked(array(element_type, found)))


def names_element_type(given: object) -> bool:
    """Whether it is an element type, and not the type of an array, that is given."""
    if isinstance(given, str):
        return given in BY_NAME
    return isinstance(given, np.dtype | type) or (isinstance(given, Attribute) and given in BY_TYPE)


def encoded(operation: type[XlaOp], name: str, given: Any) -> Attribute | None:
    """The property of an operation for what a caller gives; raises BuildError."""
    if given is None:
        return None
    try:
        return encode(given, operation.contract().classes[name])
    except SpellingError as error:
        raise build_error(f"{operation.name}: {name}: {error}") from None


def normalized(dimension: int, rank: int) -> int:
    """A dimension counted from the end (-1 is the last) counted from the start."""
    dimension = index(dimension)
    return dimension + rank if -rank <= dimension < 0 else dimension


def all_normalized(dimensions: Iterable[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the end counted from the start; what is out of range stays so."""
    return tuple(normalized(d, rank) for d in dimensions)


Padding: TypeAlias = Literal["SAME", "VALID", "kSame", "kValid"] | Sequence[tuple[int, int]]
"""A word (the k is optional), or one pair (low, high) per dimension."""


def same_padding(size: int, window: int, stride: int) -> tuple[int, int]:
    """
    The padding (low, high) with which a window fits `⌈size / stride⌉` times.

    What is left over by halving goes to the high side. `stride >= 1`.
    """
    total = max((ceil_div(size, stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def make_window(
    method: str,
    label: str,
    sizes: Sequence[int],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    base_dilations: Sequence[int] = (),
    window_dilations: Sequence[int] = (),
) -> Window:
    """
    The window over a base of these sizes; an empty list is one of defaults.

    `label`: of the rule that lists have one entry per dimension, by which BuildErrors are raised.
    With dilations, "SAME" pads for the dilated sizes.
    """

    def full(values: Sequence[int]) -> Sequence[int]:
        return values or [1] * len(window_dimensions)

    lists = (window_strides, base_dilations, window_dilations)
    columns = [sizes, window_dimensions, *map(full, lists)]
    if len({len(column) for column in columns}) > 1:
        raise build_error(
            f"{method}: ({label}) {len(sizes)} dimensions, but lists of "
            f"{', '.join(str(len(column)) for column in columns[1:])} entries"
        )
    if padding in ("SAME", "kSame"):
        pairs = [
            (0, 0)
            if stride < 1
            else same_padding(dilated(size, base), dilated(window, dilation), stride)
            for size, window, stride, base, dilation in zip(*columns, strict=True)
        ]
    elif padding in ("VALID", "kValid"):
        pairs = []
    elif any(len(pair) != 2 for pair in padding):
        raise build_error(f"{method}: padding {padding!r} is neither SAME, nor VALID, nor pairs")
    else:
        pairs = [(int(low), int(high)) for low, high in padding]
    try:
        return Window.of(
            window_dimensions,
            stride=window_strides,
            padding=pairs,
            base_dilation=base_dilations,
            window_dilation=window_dilations,
        )
    except SpellingError as error:
        raise build_error(f"{method}: ({label}) {error}") from None


_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def explained(method: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """
    The method, with a BuildError where it fails because an argument is not of the annotated type.

    Any other error passes through: it is one of a function that the caller has passed, or of ours.
    """

    @wraps(method)
    def call(*arguments: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result:
        try:
            return method(*arguments, **keywords)
        except (TypeError, ValueError, AttributeError, VerifyException):
            fault = _fault(method, arguments, keywords)
            if fault is None:
                raise
        raise build_error(f"{method.__name__.lstrip('_')}: {fault}")

    return call


def _fault(
    method: Callable[..., Any], arguments: Sequence[object], keywords: Mapping[str, object]
) -> str | None:
    """The first argument that does not have the type of its parameter, and that type."""
    signature = inspect.signature(method)
    try:
        given = signature.bind(*arguments, **keywords).arguments
    except TypeError:
        # Too many arguments or too few: Python says so.
        return None
    hints = get_type_hints(method, localns=annotation_names())
    for name, value in given.items():
        if name not in hints:
            continue
        kind = signature.parameters[name].kind
        several = kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if not several and not fits(value, hints[name]):
            annotation = signature.parameters[name].annotation
            return f"{name} is {shortened(value)}, not {annotation}"
    return None


def annotation_names() -> dict[str, Any]:
    """What the annotations of methods that follow from operations name."""
    return {**vars(attributes), **vars(replica_groups), **globals()}


def fits(value: object, hint: Any) -> bool:
    """Whether a value has an annotated type; any iterable, and no string, is a sequence."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, TypeVar | ForwardRef | str):
        # A recursive alias refers to itself by a string, which is not resolved.
        return True
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(value is part or value == part for part in parts if isinstance(value, str))
    if hint is None or hint is type(None):
        return value is None
    if hint is int:
        return _is_integer(value)
    if hint in (float, complex):
        return isinstance(value, Real if hint is float else Complex)
    if origin is tuple and parts[-1] is not Ellipsis:
        return isinstance(value, tuple | list) and _all_fit(cast("list[object]", value), parts)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if origin is not None and issubclass(origin, Iterable):
        # Iterating over an `XlaValue` that is not a tuple raises a BuildError of its own.
        return (
            isinstance(value, Iterable)
            and not isinstance(value, str | bytes | Mapping)
            and all(fits(element, parts[0]) for element in cast("Iterable[object]", value))
        )
    if origin is not None:
        return isinstance(value, origin)
    return not isinstance(hint, type) or isinstance(value, hint)


def _all_fit(values: Sequence[object], hints: Sequence[Any]) -> bool:
    return len(values) == len(hints) and all(map(fits, values, hints))


def _is_integer(value: object) -> bool:
    try:
        index(cast("Any", value))
    except TypeError:
        return False
    return True
