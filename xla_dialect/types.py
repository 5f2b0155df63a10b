"""The types of XLA and their names: element types, arrays, tuples and tokens.

Arrays are builtin `tensor`s: signless `iN` is sN, `uiN` is uN; but `i1` is pred, so `si1` is s1.
The encoding of a tensor, where present, is its `#xla.layout`; it holds the upper bounds of dynamic
dimensions.
`sizes_of` reads a type's sizes and `array` makes the type of sizes, both with the marks of dynamic
dimensions. Tuples are builtin `tuple`s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import index
from typing import TypeAlias, TypeGuard, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E3M4Type,
    Float8E4M3B11FNUZType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E4M3Type,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    NoneAttr,
    Signedness,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from xla_dialect.element_types import ELEMENTS, ElementClass, ElementRow
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.shapes.size_arithmetic import (
    UNKNOWN,
    DynamicSize,
    compatible_sizes,
    is_dynamic,
    is_unknown,
    united,
)
from xla_dialect.xdsl.traversal import shape_of

Array: TypeAlias = TensorType[Attribute]
"""The type of an XLA array."""

MAX_ELEMENTS = 2**63 - 1
"""Element counts and byte sizes of arrays are 64-bit signed integers."""


@dataclass(frozen=True)
class ElementType(ElementRow):
    """One row of the table of element types."""

    type: Attribute
    """The MLIR type, e.g. `f32`, `ui8`."""


def _integer(name: str, bits: int) -> IntegerType:
    """Signless, but for unsigned ones, and s1: `i1` is pred."""
    if name.startswith("u"):
        return IntegerType(bits, Signedness.UNSIGNED)
    return IntegerType(bits, Signedness.SIGNED if name == "s1" else Signedness.SIGNLESS)


_NOT_INTEGERS: dict[str, Attribute] = {
    "pred": IntegerType(1),
    "f4e2m1fn": Float4E2M1FNType(),
    "f6e2m3fn": Float6E2M3FNType(),
    "f6e3m2fn": Float6E3M2FNType(),
    "f8e3m4": Float8E3M4Type(),
    "f8e4m3": Float8E4M3Type(),
    "f8e4m3fn": Float8E4M3FNType(),
    "f8e4m3fnuz": Float8E4M3FNUZType(),
    "f8e4m3b11fnuz": Float8E4M3B11FNUZType(),
    "f8e5m2": Float8E5M2Type(),
    "f8e5m2fnuz": Float8E5M2FNUZType(),
    "f8e8m0fnu": Float8E8M0FNUType(),
    "bf16": BFloat16Type(),
    "f16": Float16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
    "c64": ComplexType(Float32Type()),
    "c128": ComplexType(Float64Type()),
}

ELEMENT_TYPES: tuple[ElementType, ...] = tuple(
    ElementType(
        each.name,
        each.bits,
        each.element_class,
        _NOT_INTEGERS.get(each.name) or _integer(each.name, each.bits),
    )
    for each in ELEMENTS
)
"""The table of element types, with those of MLIR; everything else about them is looked up here."""

BY_NAME: dict[str, ElementType] = {e.name: e for e in ELEMENT_TYPES}
"""From the HLO name to the row."""
BY_TYPE: dict[Attribute, ElementType] = {e.type: e for e in ELEMENT_TYPES}
"""From the MLIR type to the row."""
_FLOATS = {
    row.type: (-row.bits, number)
    for number, row in enumerate(ELEMENT_TYPES)
    if row.element_class == ElementClass.FLOAT
}
"""The order of float types, the widest first."""
_BY_CLASS = {type(e.type): e for e in ELEMENT_TYPES if e.element_class == ElementClass.FLOAT}
# Types without parameters, by the class: hashing a type costs more than all else about it.

PRED: Attribute = BY_NAME["pred"].type
S32: Attribute = BY_NAME["s32"].type
U32: Attribute = BY_NAME["u32"].type
U64: Attribute = BY_NAME["u64"].type


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """An ordering between operations with side effects; carries no data."""

    name = "xla.token"


@irdl_attr_definition
class OpaqueType(ParametrizedAttribute, TypeAttribute):
    """A value that nothing but the custom calls that make and take it knows: `opaque[]`."""

    name = "xla.opaque"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """The memory of an array, which custom calls write in place: `b(f32[2])`."""

    name = "xla.buffer"
    content: TensorType[Attribute]

    def verify(self) -> None:
        """The content is an array of an element type of XLA."""
        if not is_array(self.content):
            raise VerifyException(f"{self.content} is no array of XLA")


def array(
    element_type: Attribute, sizes: Sequence[int], encoding: Attribute | None = None
) -> Array:
    """The array type of these sizes, which may be dynamic; the default layout if none is given."""
    if encoding is None:
        if any(map(is_unknown, sizes)):
            sizes = [DYNAMIC_INDEX if is_unknown(size) else size for size in sizes]
        if not is_dynamic(sizes):
            # 2.0 is no size, but would be found in the cache as 2.
            return _plain_array(element_type, tuple(map(index, sizes)))
        bounds = tuple(int(n) if isinstance(n, DynamicSize) else None for n in sizes)
        encoding = LayoutAttr(replace(Layout.default(len(sizes)), bounds=bounds))
        sizes = [DYNAMIC_INDEX if isinstance(n, DynamicSize) else n for n in sizes]
    return TensorType(element_type, sizes, encoding)


@lru_cache(4096)
def _plain_array(element_type: Attribute, sizes: tuple[int, ...]) -> Array:
    """The array type in the default layout; a program has few types, and many values of each."""
    return TensorType(element_type, sizes)


def sizes_of(type_: Array) -> tuple[int, ...]:
    """
    The sizes of the dimensions, dynamic ones as `DynamicSize`: every shape rule reads them here.

    Of an unbounded dynamic dimension nothing is known; programs of `xla` have none.
    """
    sizes = extents(type_)
    if DYNAMIC_INDEX in sizes:
        return tuple(UNKNOWN if size == DYNAMIC_INDEX else size for size in sizes)
    return sizes


def extents(type_: Array) -> tuple[int, ...]:
    """As `sizes_of`, with DYNAMIC_INDEX for unbounded dynamic dimensions."""
    sizes, encoding = shape_of(type_), type_.encoding
    # Where this answers, no ancestors of a class are looked at.
    if isinstance(encoding, NoneAttr) or not isinstance(encoding, LayoutAttr):
        return sizes
    bounds = encoding.data.bounds
    if len(bounds) != len(sizes):
        return sizes
    return tuple(
        size if bound is None or size != DYNAMIC_INDEX else DynamicSize(bound)
        for size, bound in zip(sizes, bounds, strict=True)
    )


def united_type(first: Array, *others: Array) -> Array:
    """
    The type of arrays of equal sizes, as an elementwise operation has it.

    The element type is that of the first, the layout the default one; a dimension is dynamic where
    it is in one of them.
    """
    if all(
        isinstance(type_.encoding, NoneAttr)
        and (type_ is first or type_.get_shape() == first.get_shape())
        for type_ in (first, *others)
    ):
        return first
    return array(first.element_type, united(*map(sizes_of, (first, *others))))


def element_class(element_type: Attribute) -> ElementClass:
    """The class of an element type; no class (falsy) for what is no element type of XLA."""
    row = _row_of(element_type)
    return _NO_CLASS if row is None else row.element_class


_NO_CLASS = ElementClass(0)


def _row_of(element_type: Attribute) -> ElementType | None:
    return _BY_CLASS.get(type(element_type)) or BY_TYPE.get(element_type)


def element_name(element_type: Attribute) -> str:
    """The HLO name of an element type, e.g. `f32`; the MLIR spelling of any other type."""
    row = BY_TYPE.get(element_type)
    return str(element_type) if row is None else row.name


def component_type(element_type: Attribute) -> Attribute:
    """The type of the real and imaginary part of a complex type; any other type itself."""
    if isinstance(element_type, ComplexType):
        return cast("ComplexType[Float32Type | Float64Type]", element_type).element_type
    return element_type


def is_array(type_: Attribute) -> TypeGuard[Array]:
    """Whether a type is an array of an element type of XLA."""
    return isinstance(type_, TensorType) and _row_of(cast(Array, type_).element_type) is not None


def as_array(type_: Attribute) -> Array | None:
    """A type, if it is that of an array."""
    return cast(Array, type_) if isinstance(type_, TensorType) else None


def is_unbounded(type_: Attribute) -> bool:
    """Whether a type is an array with a dynamic dimension that has no bound, or of any rank."""
    if isinstance(type_, TensorType):
        return DYNAMIC_INDEX in extents(cast(Array, type_))
    return isinstance(type_, UnrankedTensorType)


def fits(found: Attribute, declared: Attribute) -> bool:
    """Whether a type is the declared one, whose unbounded dimensions stand for any size."""
    if isinstance(declared, UnrankedTensorType):
        element_type = cast("UnrankedTensorType[Attribute]", declared).element_type
        is_one = isinstance(found, TensorType) and cast(Array, found).element_type == element_type
        return is_one or found == declared
    return compatible(found, declared)


def float_types(types: Iterable[Attribute]) -> list[Attribute]:
    """The float types of elements of arrays, and of parts of complex ones, the widest first."""
    arrays = (cast(Array, t) for t in flatten(tuple(types)) if isinstance(t, TensorType))
    found = {component_type(each.element_type) for each in arrays}
    return sorted(found & _FLOATS.keys(), key=_FLOATS.__getitem__)


def with_floats(type_: Attribute, element_type: Attribute) -> Attribute:
    """The type with elements of this type in the place of all floats; tuples by element."""

    def changed(leaf: Attribute) -> Attribute:
        if not is_array(leaf) or element_class(leaf.element_type) != ElementClass.FLOAT:
            return leaf
        return TensorType(element_type, leaf.shape, leaf.encoding)

    return map_leaves(changed, type_)


def is_scalar(type_: Attribute, element_type: Attribute | None = None) -> bool:
    """Whether a type is an array of rank 0 (and of that element type, if given)."""
    if not isinstance(type_, TensorType):
        return False
    type_ = cast(Array, type_)
    return not type_.shape.data and (element_type is None or type_.element_type == element_type)


def tuple_elements(type_: Attribute) -> tuple[Attribute, ...] | None:
    """The element types of a tuple type, None for any other type."""
    return tuple(type_.types.data) if isinstance(type_, TupleType) else None


def tuple_of(elements: Iterable[Attribute]) -> TupleType:
    """The type of the tuple of these."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(elements)))


def map_leaves(function: Callable[[Attribute], Attribute], type_: Attribute) -> Attribute:
    """What a function makes of a type; tuples by element, at every depth."""
    if not isinstance(type_, TupleType):
        return function(type_)
    return tuple_of(map_leaves(function, element) for element in type_.types.data)


def flatten(types: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """All leaves of the types, tuples taken apart at every depth, in order."""
    leaves: list[Attribute] = []
    stack = list(reversed(types))
    while stack:
        type_ = stack.pop()
        if isinstance(type_, TupleType):
            stack.extend(reversed(type_.types.data))
        else:
            leaves.append(type_)
    return tuple(leaves)


def compatible(a: Attribute, b: Attribute) -> bool:
    """Whether two types agree in element type and sizes (S9).

    Layouts are ignored, and so are the marks of dynamic dimensions: bounds count as sizes.
    """
    if a is b or a == b:
        return True
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        left, right = cast(Array, a), cast(Array, b)
        return same_sizes(left, right) and left.element_type == right.element_type
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return all_compatible(a.types.data, b.types.data)
    if isinstance(a, BufferType) and isinstance(b, BufferType):
        return compatible(a.content, b.content)
    return False


def same_sizes(a: Array, b: Array) -> bool:
    """Whether two arrays have the same sizes, bounds for dynamic ones; marks are ignored."""
    return extents(a) == extents(b) or compatible_sizes(sizes_of(a), sizes_of(b))


def all_compatible(a: Sequence[Attribute], b: Sequence[Attribute]) -> bool:
    """Whether two lists of types have equal length and agree one by one."""
    return len(a) == len(b) and all(compatible(x, y) for x, y in zip(a, b, strict=True))


def keeps_marks(declared: Attribute, inferred: Attribute) -> bool:
    """Whether what is dynamic in the inferred type is so in the declared one, bounded or not."""
    if isinstance(declared, TensorType) and isinstance(inferred, TensorType):
        pairs = zip(extents(cast(Array, declared)), extents(cast(Array, inferred)), strict=True)
        return all(
            not isinstance(theirs, DynamicSize)
            or isinstance(mine, DynamicSize)
            or mine == DYNAMIC_INDEX
            for mine, theirs in pairs
        )
    if isinstance(declared, TupleType) and isinstance(inferred, TupleType):
        pairs = zip(declared.types.data, inferred.types.data, strict=True)
        return all(keeps_marks(mine, theirs) for mine, theirs in pairs)
    return True


def united_marks(first: Attribute, second: Attribute) -> Attribute:
    """The first of two compatible types, dynamic where one of them is; tuples by element."""
    if keeps_marks(first, second):
        return first
    if isinstance(first, TupleType) and isinstance(second, TupleType):
        pairs = zip(first.types.data, second.types.data, strict=True)
        return tuple_of(united_marks(*pair) for pair in pairs)
    mine, theirs = cast(Array, first), cast(Array, second)
    marked_type = array(mine.element_type, united(extents(mine), extents(theirs)))
    if isinstance(mine.encoding, LayoutAttr):
        bounds = cast(LayoutAttr, marked_type.encoding).data.bounds
        encoding = LayoutAttr(replace(mine.encoding.data, bounds=bounds))
        return TensorType(mine.element_type, marked_type.get_shape(), encoding)
    return marked_type


def without_layout(type_: Array) -> Array:
    """The type with the default layout."""
    return type_ if isinstance(type_.encoding, NoneAttr) else array_like(type_)


def without_bounds(type_: Attribute) -> Attribute:
    """
    The type with the bounds of dynamic dimensions as their sizes; tuples by element.

    Unbounded dynamic dimensions, and the rest of the layout, stay.
    """

    def changed(leaf: Attribute) -> Attribute:
        if not isinstance(leaf, TensorType) or not isinstance(leaf.encoding, LayoutAttr):
            return cast(Attribute, leaf)
        tensor = cast(Array, leaf)
        layout = replace(leaf.encoding.data, bounds=())
        encoding = NoneAttr() if layout.is_default else LayoutAttr(layout)
        return TensorType(tensor.element_type, tuple(map(int, extents(tensor))), encoding)

    return map_leaves(changed, type_)


def array_like(type_: Array, element_type: Attribute | None = None) -> Array:
    """The dimensions of `type_` with another element type and the default layout."""
    element_type = type_.element_type if element_type is None else element_type
    if isinstance(type_.encoding, NoneAttr):
        return TensorType(element_type, type_.shape.data)
    return array(element_type, extents(type_))


def element_count(dimensions: Sequence[int]) -> int:
    """The number of elements (1 for rank 0), the largest possible for bounded dynamic sizes."""
    if any(map(is_unknown, dimensions)):
        return 0 if 0 in [size for size in dimensions if not is_unknown(size)] else UNKNOWN
    return math.prod(map(int, dimensions))


def byte_size(type_: Array) -> int:
    """
    Bytes of a dense array, every element in whole bytes (pred and sub-byte types one each).

    Bounded dynamic dimensions count with their bounds. Raises Violation for unbounded ones.
    """
    return element_count(sizes_of(type_)) * BY_TYPE[type_.element_type].byte_size


def spell(type_: Attribute) -> str:
    """A type as HLO text spells it, without layouts: `f32[2,<=3]`, `(s32[], token[])`."""
    if isinstance(type_, TensorType):
        type_ = cast(Array, type_)
        sizes = ",".join("?" if n == DYNAMIC_INDEX else repr(n) for n in extents(type_))
        return f"{element_name(type_.element_type)}[{sizes}]"
    if isinstance(type_, TupleType):
        return f"({', '.join(map(spell, type_.types.data))})"
    if isinstance(type_, TokenType):
        return "token[]"
    if isinstance(type_, OpaqueType):
        return "opaque[]"
    if isinstance(type_, BufferType):
        return f"b({spell(type_.content)})"
    if isinstance(type_, FunctionType):
        return f"{spell_all(type_.inputs.data)} -> {spell_all(type_.outputs.data)}"
    return str(type_)


def spell_all(types: Sequence[Attribute]) -> str:
    """A list of types as HLO text spells them, in parentheses."""
    return f"({', '.join(map(spell, types))})"
