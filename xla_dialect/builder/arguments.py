"""Arguments of a wrong Python type, found by the annotations of a method once a call has failed.

A call that succeeds is not slowed down by checks, and the signature is the one place that says what
a method takes.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from numbers import Complex, Real
from operator import index
from reprlib import repr as shortened
from typing import (
    Any,
    ForwardRef,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from xdsl.utils.exceptions import VerifyException

from xla_dialect import attributes
from xla_dialect.builder import properties, type_spelling
from xla_dialect.builder.caller import build_error

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
    return {**vars(attributes), **vars(properties), **vars(type_spelling)}


def fits(value: object, hint: Any) -> bool:
    """Whether a value has an annotated type; any iterable, and no string, is a sequence."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, TypeVar | ForwardRef | str):
        # A recursive alias refers to itself by a string, which is not resolved.
        return True
    if origin in (Union, types.UnionType):
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
