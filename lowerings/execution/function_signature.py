"""What a function of MLIR takes and returns, as its callers see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, NoneAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.execution.signature import ArraySpec, Signature
from lowerings.layouts.memory_order import LayoutNotLowered, MemoryOrder, memory_order
from xla_dialect.diagnostics import XlaError
from xla_dialect.layout import LayoutAttr
from xla_dialect.types import (
    Array,
    TokenType,
    element_name,
    extents,
    is_array,
    sizes_of,
    spell,
    tuple_elements,
    without_bounds,
)


def array_spec(
    type_: Array, name: str | None = None, order: MemoryOrder | None = None
) -> ArraySpec:
    """The spec for an array type, whose layout is not looked at: `order` says it."""
    return ArraySpec(element_name(type_.element_type), sizes_of(type_), name, order)


def signature_of(function: FuncOp, type_: FunctionType | None = None) -> Signature:
    """
    The signature of a function of the xla level: its arrays, those in tuples one by one. Tokens
    are not passed.

    `type_`: that of the function with other layouts, if they are not those of its own type.
    Raises XlaError for what cannot be passed as an array, such as sizes not known.
    """
    name = function.sym_name.data
    blocks = function.body.blocks
    type_ = type_ or function.function_type
    hints = [argument.name_hint for argument in blocks[0].args] if blocks else []
    parameters = (
        _spec(leaf, hint if hint is None else hint + path)
        for number, each in enumerate(type_.inputs)
        for hint in hints[number : number + 1] or [None]
        for path, leaf in _arrays(each, f"@{name}: parameter {number}")
    )
    results = (
        _spec(leaf)
        for number, each in enumerate(type_.outputs)
        for _, leaf in _arrays(each, f"@{name}: result {number}")
    )
    return Signature(tuple(parameters), tuple(results), name)


def _arrays(type_: Attribute, place: str, path: str = "") -> Iterator[tuple[str, Array]]:
    """The arrays of a type, each with its way through tuples, e.g. `.1.0`."""
    elements = tuple_elements(type_)
    if elements is not None:
        for number, element in enumerate(elements):
            yield from _arrays(element, place, f"{path}.{number}")
        return
    if isinstance(type_, TokenType):
        return
    if not is_array(type_):
        raise XlaError(f"{place}: {spell(type_)} cannot be passed as an array")
    if not isinstance(type_.encoding, NoneAttr | LayoutAttr):
        raise XlaError(
            f"{place}: nothing here computes arrays that are encoded as {type_.encoding}"
        )
    if DYNAMIC_INDEX in extents(type_):
        raise XlaError(f"{place}: {spell(type_)} has sizes that are not known")
    yield path, type_


def _spec(type_: Array, name: str | None = None) -> ArraySpec:
    try:
        order = memory_order(cast(Array, without_bounds(type_)))
    except LayoutNotLowered:
        # The pipeline says so, where layouts count.
        return array_spec(type_, name)
    return array_spec(type_, name, None if order.is_default else order)
