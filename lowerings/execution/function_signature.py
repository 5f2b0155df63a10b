"""What a function of MLIR takes and returns, as its callers see it; on buffers with strides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.execution.signature import ArraySpec, Signature
from lowerings.layouts.memory_order import (
    BUFFER_LAYOUT,
    LayoutNotLowered,
    MemoryOrder,
    canonical,
    memory_order,
)
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


def with_memory_orders(signature: Signature, function: FuncOp) -> Signature:
    """
    The signature of a function below the xla level, in logical order, with how its arrays lie in
    memory. Raises XlaError for strides that no order of dimensions, with padding, gives.
    """
    type_ = function.function_type
    strides = list(_strides(type_.inputs.data, function.arg_attrs))
    count = len(signature.parameters)
    # Results of a function on memrefs are arguments after its parameters.
    outputs = strides[count:] or list(_strides(type_.outputs.data, function.res_attrs))
    return replace(
        signature,
        parameters=tuple(map(_ordered, signature.parameters, strides)),
        results=tuple(map(_ordered, signature.results, outputs)),
    )


def _strides(types: Sequence[Attribute], attributes: Any) -> Iterator[StridedLayoutAttr | None]:
    for number, type_ in enumerate(types):
        if isinstance(type_, MemRefType):
            found = cast("MemRefType[Attribute]", type_).layout
        else:
            found = None if attributes is None else attributes.data[number].data.get(BUFFER_LAYOUT)
        yield found if isinstance(found, StridedLayoutAttr) else None


def _ordered(spec: ArraySpec, layout: StridedLayoutAttr | None) -> ArraySpec:
    if layout is None or spec.order is not None:
        return spec
    order = order_of_strides(spec.shape, layout.get_strides())
    if order is None or layout.get_offset() != 0:
        raise XlaError(f"{spec}: an array does not lie in memory as {layout} says")
    return spec if order.is_default else replace(spec, order=order)


def order_of_strides(sizes: Sequence[int], strides: Sequence[int | None]) -> MemoryOrder | None:
    """
    The order, with padding, in which an array of some sizes has these strides; None where there is
    none.
    """
    if None in strides:
        return None
    known = cast("Sequence[int]", strides)
    if 0 in sizes:
        return MemoryOrder.default(len(sizes))
    # Where a dimension of size 1 stands, and its stride, moves no element.
    ones = [d for d, size in enumerate(sizes) if size == 1]
    order = sorted((d for d, size in enumerate(sizes) if size > 1), key=lambda d: -known[d])
    widths = list(sizes)
    for major, minor in pairwise(order):
        if known[minor] <= 0 or known[major] % known[minor]:
            return None
        widths[minor] = known[major] // known[minor]
    if order and known[order[-1]] != 1:
        # Only a dimension of size 1 can be innermost, and padded.
        if not ones:
            return None
        order.append(ones.pop())
        widths[order[-1]] = known[order[-2]]
    if any(width < size for width, size in zip(widths, sizes, strict=True)):
        return None
    padding = tuple(widths) if widths != list(sizes) else ()
    return canonical(MemoryOrder((*ones, *order), (), padding), tuple(sizes))
