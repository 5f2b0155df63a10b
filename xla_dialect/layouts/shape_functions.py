"""Questions about shapes, and shapes made of shapes; named as in XLA's `ShapeUtil`.

A shape is a type of the dialect: a tensor with its layout as encoding, a tuple or a token. Sizes of
bounded dynamic dimensions count as their bounds; where a function counts elements or bytes, an
unbounded one raises Violation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import cast

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.layout import Layout
from xla_dialect.layouts.type_layouts import (
    is_order_only,
    layout_of,
    permuted_layout,
    strides,
    with_layout,
)
from xla_dialect.shapes.dynamic_size import DynamicSize
from xla_dialect.shapes.size_arithmetic import are_dimensions, ceil_div, permuted, without
from xla_dialect.types import (
    BY_TYPE,
    Array,
    array,
    compatible,
    element_count,
    extents,
    flatten,
    sizes_of,
    spell,
    tuple_elements,
)


def make_shape(element_type: Attribute, sizes: Sequence[int]) -> Array:
    """The array of these sizes, dimension 0 first, in the default layout."""
    return array(element_type, sizes)


def make_shape_with_layout(element_type: Attribute, sizes: Sequence[int], layout: Layout) -> Array:
    """The array of these sizes in a layout; raises LayoutError if it does not fit."""
    return with_layout(array(element_type, sizes), layout)


def make_tuple_shape(elements: Sequence[Attribute]) -> TupleType:
    """The tuple of these shapes."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(elements)))


def rank(type_: Array) -> int:
    """The number of dimensions."""
    return len(type_.shape.data)


def true_rank(type_: Array) -> int:
    """The number of dimensions with more than one element."""
    return sum(size > 1 for size in sizes_of(type_))


def get_dimension_number(type_: Array, dimension: int) -> int:
    """
    The number of a dimension that may count from the end: -1 is the last one.

    Raises IndexError if there is no such dimension.
    """
    dimensions = rank(type_)
    if not -dimensions <= dimension < dimensions:
        raise IndexError(f"{spell(type_)} has no dimension {dimension}")
    return dimension % dimensions


def get_dimension(type_: Array, dimension: int) -> int:
    """The size of a dimension, which may count from the end; raises IndexError if there is none."""
    return extents(type_)[get_dimension_number(type_, dimension)]


def elements_in(type_: Array) -> int:
    """The number of elements, 1 for rank 0; padding does not count."""
    return element_count(sizes_of(type_))


def is_zero_element_array(type_: Attribute) -> bool:
    """Whether it is an array without elements."""
    return isinstance(type_, TensorType) and 0 in extents(cast(Array, type_))


def bits_per_element(type_: Array) -> int:
    """The bits an element takes in memory: its layout's element size, or else whole bytes."""
    return layout_of(type_).element_size_in_bits or max(8, BY_TYPE[type_.element_type].bits)


def byte_size_of_elements(type_: Array) -> int:
    """
    The bytes of the buffer: padding of every kind included, of a split array the largest part.

    The sizes of a dynamic array that lie in front of its buffer
    (`dynamic_shape_metadata_prefix_bytes`) do not count, as in XLA.
    """
    elements = layout_of(type_).buffer_elements(sizes_of(type_))
    return ceil_div(elements * bits_per_element(type_), 8)


def byte_size_of_tuple_index_table(type_: TupleType, pointer_size: int) -> int:
    """The bytes of the pointers to the elements of a tuple; `pointer_size` in bytes."""
    return pointer_size * len(type_.types.data)


def byte_size_of(type_: Attribute, pointer_size: int = 8) -> int:
    """
    The bytes of the one buffer of a shape: of an array its elements, of a tuple its pointers.

    A token has none. For all buffers that belong to a tuple see `total_byte_size_of`.
    """
    if isinstance(type_, TensorType):
        return byte_size_of_elements(cast(Array, type_))
    if isinstance(type_, TupleType):
        return byte_size_of_tuple_index_table(type_, pointer_size)
    return 0


def total_byte_size_of(type_: Attribute, pointer_size: int = 8) -> int:
    """The bytes of all buffers of a shape: of a tuple its pointers and those of its elements."""
    stack: list[Attribute] = [type_]
    total = 0
    while stack:
        shape = stack.pop()
        total += byte_size_of(shape, pointer_size)
        if isinstance(shape, TupleType):
            stack.extend(shape.types.data)
    return total


def same_dimensions(a: Array, b: Array) -> bool:
    """Whether two arrays have equal sizes."""
    return extents(a) == extents(b)


def compatible_ignoring_element_type(a: Attribute, b: Attribute) -> bool:
    """Whether two shapes agree in sizes and in the nesting of tuples; see `types.compatible`."""
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        return same_dimensions(cast(Array, a), cast(Array, b))
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        left, right = a.types.data, b.types.data
        return len(left) == len(right) and all(map(compatible_ignoring_element_type, left, right))
    return a == b


def equal(
    a: Attribute,
    b: Attribute,
    *,
    ignore_layout: bool = False,
    ignore_tiles_in_layout: bool = False,
    ignore_memory_space_in_layout: bool = False,
    ignore_element_type: bool = False,
    ignore_dynamic_dimension: bool = False,
) -> bool:
    """
    Whether two shapes are the same, except for what is ignored.

    A type without encoding equals one whose encoding spells the default layout.
    """
    agree = compatible_ignoring_element_type if ignore_element_type else compatible
    if not agree(a, b):
        return False

    def marks(type_: Array) -> list[bool]:
        return [isinstance(size, DynamicSize) for size in extents(type_)]

    def compared(type_: Array) -> Layout:
        layout = replace(layout_of(type_), bounds=())
        if ignore_tiles_in_layout:
            layout = replace(layout, tiles=())
        return replace(layout, memory_space=0) if ignore_memory_space_in_layout else layout

    leaves = zip(flatten((a,)), flatten((b,)), strict=True)
    arrays = [(cast(Array, x), cast(Array, y)) for x, y in leaves if isinstance(x, TensorType)]
    return all(
        (ignore_layout or compared(x) == compared(y))
        and (ignore_dynamic_dimension or marks(x) == marks(y))
        for x, y in arrays
    )


def change_element_type(type_: Attribute, element_type: Attribute) -> Attribute:
    """The shape with another element type in every array, layouts kept."""
    if isinstance(type_, TupleType):
        elements = type_.types.data
        return make_tuple_shape([change_element_type(each, element_type) for each in elements])
    if not isinstance(type_, TensorType):
        return type_
    type_ = cast(Array, type_)
    return TensorType(element_type, type_.get_shape(), type_.encoding)


def permute_dimensions(permutation: Sequence[int], type_: Array) -> Array:
    """
    The array with dimension `permutation[i]` as dimension `i`, every element at its old place.

    Raises ValueError if it is no permutation of the dimensions.
    """
    sizes = extents(type_)
    if len(permutation) != len(sizes) or not are_dimensions(permutation, len(sizes)):
        raise ValueError(f"{list(permutation)} is no permutation of {len(sizes)} dimensions")
    result = array(type_.element_type, permuted(sizes, permutation))
    return with_layout(result, permuted_layout(layout_of(type_), permutation))


def delete_dimension(dimension: int, type_: Array) -> Array:
    """
    The array without a dimension, which may count from the end; the order of the others is kept.

    Tiles and the other fields of the layout stay as they are. Raises IndexError if there is no such
    dimension.
    """
    number = get_dimension_number(type_, dimension)
    layout = layout_of(type_)
    result = array(type_.element_type, without(extents(type_), [number]))
    order = tuple(d - (d > number) for d in layout.minor_to_major if d != number)
    padded = without(layout.padded_dimensions, [number])
    return with_layout(result, replace(layout, minor_to_major=order, padded_dimensions=padded))


def append_minor_dimension(size: int, type_: Array) -> Array:
    """
    The array with one more dimension at the end, which becomes the most minor one.

    Tiles and the other fields of the layout stay as they are.
    """
    layout = layout_of(type_)
    order = (rank(type_), *layout.minor_to_major)
    padded = (*layout.padded_dimensions, size) if layout.padded_dimensions else ()
    result = array(type_.element_type, (*extents(type_), size))
    return with_layout(result, replace(layout, minor_to_major=order, padded_dimensions=padded))


def human_string(type_: Attribute) -> str:
    """A shape as HLO text spells it, without layouts: `f32[2,<=3]`, `(s32[], token[])`."""
    return spell(type_)


def human_string_with_layout(type_: Attribute) -> str:
    """
    A shape as HLO text spells it, every array of a rank above 0 with its layout: `f32[2]{0}`.

    Padding of the older form has no spelling there and is left out.
    """
    elements = tuple_elements(type_)
    if elements is not None:
        return f"({', '.join(map(human_string_with_layout, elements))})"
    text = spell(type_)
    if not isinstance(type_, TensorType):
        return text
    layout = str(layout_of(cast(Array, type_)))
    return text if layout == "{}" else text + layout


def for_each_index(type_: Array) -> Iterator[tuple[int, ...]]:
    """All indices in row-major order, whatever the layout; one, `()`, for rank 0."""
    return product(*map(range, sizes_of(type_)))


def reshape_is_bitcast(source: Array, target: Array) -> bool:
    """
    Whether a reshape between two arrays of one element type moves nothing in memory.

    False where a layout says more than an order, unless both are equal.
    """
    if source.element_type != target.element_type or elements_in(source) != elements_in(target):
        return False
    if is_zero_element_array(source) or equal(source, target):
        return True
    if not (is_order_only(layout_of(source)) and is_order_only(layout_of(target))):
        return False
    return _steps(source) == _steps(target)


def _steps(type_: Array) -> list[tuple[int, int]]:
    """Sizes and strides; one pair for neighbours that make one dimension in memory."""
    steps: list[tuple[int, int]] = []
    for size, stride in zip(sizes_of(type_), strides(type_), strict=True):
        assert stride is not None
        if size == 1:
            continue
        if steps and steps[-1][1] == size * stride:
            steps[-1] = (int(steps[-1][0] * size), stride)
        else:
            steps.append((int(size), stride))
    return steps


def transpose_is_bitcast(source: Array, target: Array, dimensions: Sequence[int]) -> bool:
    """
    Whether a transpose between two arrays moves nothing in memory.

    Dimension `i` of the target is `dimensions[i]` of the source. Where a layout says more than an
    order, only if the target's is the source's permuted.
    """
    if source.element_type != target.element_type:
        return False
    moved = permute_dimensions(dimensions, source)
    if not same_dimensions(moved, target):
        return False
    if is_zero_element_array(source) or equal(moved, target, ignore_memory_space_in_layout=True):
        return True
    if not (is_order_only(layout_of(source)) and is_order_only(layout_of(target))):
        return False
    sizes = sizes_of(target)
    mine, theirs = strides(moved), strides(target)
    return all(a == b for a, b, size in zip(mine, theirs, sizes, strict=True) if size > 1)
