"""Simpler types: smaller sizes, fewer dimensions, other elements, default layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import (
    ComplexType,
    Float32Type,
    MemRefType,
    ModuleOp,
    NoneAttr,
    TensorType,
    VectorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute

from lowerings.layouts.entry_layout import ENTRY_LAYOUT
from lowerings.reduction.edit import Edit
from lowerings.reduction.retyping import (
    Retyping,
    Shaped,
    array_of,
    encoded_like,
    listed_numbers,
    retype,
)
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.layouts.type_layouts import with_layout
from xla_dialect.op import XlaOp
from xla_dialect.types import BY_TYPE, ElementClass, flatten
from xla_dialect.xdsl.traversal import inventory

SMALL = (1, 2, 3)
"""Sizes that are tried first."""


def _shaped_types(module: ModuleOp) -> Iterator[Shaped]:
    """The types with sizes, in the order in which they occur."""
    for type_ in flatten(inventory(module).types):
        if isinstance(type_, TensorType | MemRefType | VectorType):
            yield cast(Shaped, type_)


def _with_sizes(type_: Shaped, sizes: Sequence[int]) -> Attribute:
    """The type with other sizes, of the same rank or less; layouts go where they do not fit."""
    if isinstance(type_, TensorType):
        keeps = len(sizes) == len(type_.shape)
        return TensorType(type_.element_type, sizes, type_.encoding if keeps else NoneAttr())
    if isinstance(type_, MemRefType):
        layout = type_.layout if len(sizes) == len(type_.shape) else NoneAttr()
        return MemRefType(type_.element_type, list(sizes), layout, type_.memory_space)
    return VectorType(cast(Any, type_.element_type), sizes)


def _resized(module: ModuleOp, change: Callable[[int], int]) -> bool:
    def sizes(type_: Shaped) -> Attribute:
        return _with_sizes(type_, [change(size) for size in type_.get_shape()])

    def properties(op: XlaOp, types: Sequence[Attribute]) -> dict[str, Attribute]:
        return {
            name: encoded_like(op.properties[name], [change(number) for number in numbers])
            for name, numbers in listed_numbers(op, lambda n: n.numbers is None).items()
        }

    return retype(module, Retyping(sizes, properties=properties, size=change))


def smaller_sizes(module: ModuleOp) -> list[Edit]:
    """A size becomes a smaller one wherever it occurs, or wherever a multiple of it does."""
    found = {size for type_ in _shaped_types(module) for size in type_.get_shape() if size > 1}
    edits: list[Edit] = []
    for size in sorted(found, reverse=True):
        multiples = any(other > size and other % size == 0 for other in found)
        for smaller in dict.fromkeys((*SMALL, size // 4, size // 2)):
            if not 0 < smaller < size:
                continue

            def one(number: int, size: int = size, smaller: int = smaller) -> int:
                return smaller if number == size else number

            def all_multiples(number: int, size: int = size, smaller: int = smaller) -> int:
                return number // size * smaller if number > 0 and number % size == 0 else number

            edits.append(partial(_resized, module, one))
            if multiples:
                edits.append(partial(_resized, module, all_multiples))
    return edits


def fewer_dimensions(module: ModuleOp) -> list[Edit]:
    """Dimensions of size 1 go, all of them or all but those of the arrays of some rank."""
    ranks = {len(t.shape) for t in _shaped_types(module) if 1 in t.get_shape()}
    return [partial(_squeezed, module, least) for least in sorted(ranks)]


def _squeezed(module: ModuleOp, least: int) -> bool:
    """Arrays of this rank or more have no dimensions of size 1 any more."""

    def kept(type_: Attribute) -> list[int]:
        sizes = cast(Shaped, type_).get_shape()
        return [d for d, size in enumerate(sizes) if size != 1 or len(sizes) < least]

    def shaped(type_: Shaped) -> Attribute:
        sizes = type_.get_shape()
        return _with_sizes(type_, [sizes[d] for d in kept(type_)])

    def properties(op: XlaOp, types: Sequence[Attribute]) -> dict[str, Attribute]:
        found: dict[str, Attribute] = {}
        for name, numbers in listed_numbers(op, lambda n: True).items():
            numbering = op.NUMBERING[name]
            if numbering.listed is not None:
                rows = kept(array_of(numbering.listed, op, types))
                numbers = [numbers[d] for d in rows]
            if numbering.numbers is not None:
                places = kept(array_of(numbering.numbers, op, types))
                numbers = [places.index(d) for d in numbers if d in places]
            found[name] = encoded_like(op.properties[name], numbers)
        return found

    return retype(module, Retyping(shaped, properties=properties))


def simpler_elements(module: ModuleOp) -> list[Edit]:
    """An element type becomes f32 or s32 wherever it occurs."""
    found: dict[Attribute, None] = {}
    for type_ in flatten(inventory(module).types):
        is_shaped = isinstance(type_, TensorType | MemRefType)
        element = cast(Shaped, type_).element_type if is_shaped else type_
        if element in BY_TYPE and _simpler(element) is not None:
            found[element] = None
    edits: list[Edit] = []
    for element in found:

        def scalar(type_: Attribute, element: Attribute = element) -> Attribute:
            new = _simpler(element)
            return new if type_ == element and new is not None else type_

        def shaped(type_: Shaped, scalar: Callable[[Attribute], Attribute] = scalar) -> Attribute:
            return _with_element(type_, scalar(type_.element_type))

        edits.append(partial(retype, module, Retyping(shaped, scalar)))
    return edits


def _with_element(type_: Shaped, element: Attribute) -> Attribute:
    if isinstance(type_, TensorType):
        return TensorType(element, type_.get_shape(), type_.encoding)
    if isinstance(type_, MemRefType):
        return MemRefType(element, type_.get_shape(), type_.layout, type_.memory_space)
    return VectorType(cast(Any, element), type_.get_shape())


def _simpler(element: Attribute) -> Attribute | None:
    """What is simpler than an element type; None for f32, s32 and pred."""
    if isinstance(element, Float32Type) or element in (i1, i32):
        return None
    if isinstance(element, ComplexType):
        return f32
    return i32 if BY_TYPE[element].element_class in ElementClass.INTEGER else f32


def default_layouts(module: ModuleOp) -> list[Edit]:
    """A layout becomes the default one, wherever arrays of a type have it."""

    def plain(type_: Shaped) -> Attribute:
        if isinstance(type_, MemRefType):
            return MemRefType(type_.element_type, type_.get_shape(), NoneAttr(), type_.memory_space)
        if isinstance(type_, TensorType) and isinstance(type_.encoding, LayoutAttr):
            try:
                return with_layout(type_, Layout.default(len(type_.shape)))
            except LayoutError:
                return replace(type_, encoding=NoneAttr())
        return type_

    def change(old: Shaped) -> bool:
        return retype(module, Retyping(lambda type_: plain(type_) if type_ == old else type_))

    edits: list[Edit] = []
    if ENTRY_LAYOUT in module.attributes:
        edits.append(lambda: module.attributes.pop(ENTRY_LAYOUT, None) is not None)
    found = [type_ for type_ in dict.fromkeys(_shaped_types(module)) if plain(type_) != type_]
    return [*edits, *(partial(change, type_) for type_ in found)]
