"""Simpler types: smaller sizes, fewer dimensions, other elements, default layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    TensorType,
    TupleType,
    VectorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from lowerings.delta_debugging.edits import Edit, body_of, sign
from lowerings.ir.functions import defined_functions
from lowerings.layouts.entry_layout import ENTRY_LAYOUT
from xla_dialect.dimensions import RESULT, Numbering
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.layouts.type_layouts import with_layout
from xla_dialect.literals.arrays import dense_to_numpy, from_numpy, numpy_dtype
from xla_dialect.op import XlaOp
from xla_dialect.types import BY_TYPE, ElementClass, all_compatible, flatten
from xla_dialect.xdsl.traversal import inventory

Shaped: TypeAlias = TensorType[Attribute] | MemRefType[Attribute] | VectorType[Attribute]


@dataclass
class Retyping:
    """What becomes of types."""

    shaped: Callable[[Shaped], Attribute] = lambda type_: type_
    """Of those with sizes."""
    scalar: Callable[[Attribute], Attribute] = lambda type_: type_
    """Of element types; scalars of the lower levels have them alone."""
    properties: Callable[[XlaOp, Sequence[Attribute]], dict[str, Attribute]] = lambda op, types: {}
    """
    The properties of an operation that change, where the old ones do not fit the new types; the
    types that its operands and results had before.
    """
    size: Callable[[int], int] = lambda size: size
    """Of numbers that are sizes: in the lists and constants of the lower levels."""
    _known: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def type(self, old: Attribute) -> Attribute:
        """What becomes of a type."""
        found = self._known.get(old)
        if found is None:
            found = self._known[old] = self._type(old)
        return found

    def _type(self, old: Attribute) -> Attribute:
        match old:
            case TensorType() | MemRefType() | VectorType():
                return self.shaped(old)
            case TupleType():
                return TupleType(cast(Any, tuple(self.type(part) for part in old.types)))
            case FunctionType():
                return FunctionType.from_lists(
                    [self.type(each) for each in old.inputs],
                    [self.type(each) for each in old.outputs],
                )
            case _:
                return self.scalar(old) if old in BY_TYPE else old

    def attribute(self, old: Attribute) -> Attribute:
        """What becomes of an attribute: the types in it, and constants of them."""
        match old:
            case DenseIntOrFPElementsAttr():
                return _literal(cast("DenseIntOrFPElementsAttr[Any]", old), self)
            case IntegerAttr():
                number = cast("IntegerAttr[Any]", old)
                if isinstance(number.type, IndexType):
                    return IntegerAttr(self.size(number.value.data), number.type)
                return IntegerAttr(number.value.data, cast(Any, self.type(number.type)))
            case FloatAttr():
                number = cast("FloatAttr[Any]", old)
                return FloatAttr(number.value.data, cast(Any, self.type(number.type)))
            case ArrayAttr():
                return ArrayAttr([self.attribute(each) for each in old])
            case _:
                return self.type(old)


def _literal(old: DenseIntOrFPElementsAttr[Any], retyping: Retyping) -> Attribute:
    """The elements of a literal that are in its new type; none are added."""
    type_ = retyping.type(cast(Attribute, old.type))
    if type_ == old.type or not isinstance(type_, TensorType | VectorType):
        return old
    new = cast("TensorType[Attribute]", type_)
    array = dense_to_numpy(old)
    sizes = new.get_shape()
    if len(sizes) == array.ndim:
        array = array[tuple(slice(size) for size in sizes)]
    if array.size != np.prod(sizes, dtype=int):
        raise VerifyException("a literal does not grow")
    with np.errstate(all="ignore"):
        array = array.reshape(sizes).astype(numpy_dtype(new.element_type))
    return from_numpy(array, new)


def retype(module: ModuleOp, retyping: Retyping) -> bool:
    """Gives all values other types; whether there was one to change."""
    changed = _retype_inside(module, retyping)
    for function in defined_functions(module):
        if body_of(function) is not None:
            sign(function, range(len(function.body.block.args)))
    return changed


def _retype_inside(op: Operation, retyping: Retyping) -> bool:
    """What is in the regions of an operation: it comes first, for results follow from it."""
    changed = False
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                changed |= _set_type(argument, retyping.type(argument.type))
            # Of all operations of a block before the first is changed.
            types = {each: [v.type for v in (*each.operands, *each.results)] for each in block.ops}
            for each, old_types in types.items():
                changed |= _retype_inside(each, retyping)
                changed |= _retype_operation(each, old_types, retyping)
    return changed


def _set_type(value: SSAValue, type_: Attribute) -> bool:
    if value.type == type_:
        return False
    Rewriter.replace_value_with_new_type(value, type_)
    return True


_SIZES = ("static_sizes", "static_output_shape")
"""Lists of sizes of the lower levels."""


def _listed(value: Attribute, name: str, retyping: Retyping) -> Attribute:
    if name not in _SIZES or not isinstance(value, DenseArrayBase):
        return value
    numbers = cast("DenseArrayBase[Any]", value)
    return DenseArrayBase.from_list(
        numbers.elt_type, [retyping.size(number) for number in numbers.get_values()]
    )


def _retype_operation(op: Operation, old_types: Sequence[Attribute], retyping: Retyping) -> bool:
    """An operation of XLA infers its results; properties change where it cannot otherwise."""
    changed = False
    for name, value in op.properties.items():
        if name == "value" or not isinstance(op, XlaOp):
            op.properties[name] = _listed(retyping.attribute(value), name, retyping)
    for result in op.results:
        changed |= _set_type(result, retyping.type(result.type))
    if not isinstance(op, XlaOp):
        return changed
    try:
        inferred = op.infer_types()
    except VerifyException:
        op.properties.update(retyping.properties(op, old_types))
        inferred = op.infer_types()
    if not all_compatible(inferred, op.result_types):
        for result, type_ in zip(list(op.results), inferred, strict=True):
            _set_type(result, type_)
    return changed


def array_of(number: int, op: Operation, old_types: Sequence[Attribute]) -> Attribute:
    """The old type of the array that a `Numbering` speaks of."""
    return old_types[len(op.operands) if number == RESULT else number]


def listed_numbers(op: XlaOp, wanted: Callable[[Numbering], bool]) -> dict[str, list[int]]:
    """The properties of an operation that are numbers by dimension, or of dimensions."""
    found: dict[str, list[int]] = {}
    for name, numbering in op.NUMBERING.items():
        value = op.properties.get(name)
        if not wanted(numbering):
            continue
        if isinstance(value, DenseArrayBase):
            found[name] = [int(n) for n in cast("DenseArrayBase[Any]", value).get_values()]
        elif isinstance(value, IntegerAttr):
            found[name] = [cast("IntegerAttr[Any]", value).value.data]
    return found


def encoded_like(old: Attribute, numbers: Sequence[int]) -> Attribute:
    """Numbers as the attribute that a property had."""
    if isinstance(old, IntegerAttr):
        (number,) = numbers
        return IntegerAttr(number, cast("IntegerAttr[Any]", old).type)
    return DenseArrayBase.from_list(i64, list(numbers))


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
