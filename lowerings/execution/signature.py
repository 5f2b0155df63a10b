"""What a program takes and returns: names, element types and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.layouts.memory_order import LayoutNotLowered, MemoryOrder, memory_order
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import DType, numpy_dtype
from xla_dialect.shapes.dynamic_size import DynamicSize
from xla_dialect.types import (
    BY_NAME,
    Array,
    TokenType,
    array,
    byte_size,
    element_name,
    extents,
    is_array,
    sizes_of,
    spell,
    tuple_elements,
    without_bounds,
    without_layout,
)


@dataclass(frozen=True)
class ArraySpec:
    """One parameter or result."""

    type: Array
    """The array type, with the default layout and the bounds of dynamic dimensions."""
    name: str | None = None
    order: MemoryOrder | None = None
    """How it lies in the program's memory; None for dense and row-major."""

    @staticmethod
    def of(element_type: str, *shape: int, name: str | None = None) -> ArraySpec:
        """The spec for an element type's name in HLO, e.g. `f32`, and a shape."""
        return ArraySpec(array(BY_NAME[element_type].type, shape), name)

    @property
    def element_type(self) -> str:
        """The element type's name in HLO, e.g. `f32`."""
        return element_name(self.type.element_type)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions, the largest possible for dynamic ones."""
        return tuple(map(int, sizes_of(self.type)))

    @cached_property
    def dynamic_dimensions(self) -> tuple[int, ...]:
        """The dimensions whose size is known at run time only."""
        return tuple(d for d, n in enumerate(sizes_of(self.type)) if isinstance(n, DynamicSize))

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of these sizes can be passed."""
        if not self.dynamic_dimensions:
            return shape == self.shape
        return len(shape) == len(self.shape) and all(
            have <= size if d in self.dynamic_dimensions else have == size
            for d, (have, size) in enumerate(zip(shape, self.shape, strict=True))
        )

    @cached_property
    def dtype(self) -> DType:
        """The numpy type of the elements."""
        return numpy_dtype(self.type.element_type)

    @property
    def byte_size(self) -> int:
        """Bytes of all elements, each in whole bytes."""
        return byte_size(self.type)

    @property
    def in_memory(self) -> ArraySpec:
        """The dense row-major array that the program takes in its place."""
        if self.order is None:
            return self
        sizes = self.order.physical_sizes(self.shape)
        return ArraySpec(array(self.type.element_type, sizes), self.name)

    def __str__(self) -> str:
        return f"{spell(self.type)}{'' if self.order is None else self.order.layout}"


@dataclass(frozen=True)
class Signature:
    """A program's parameters and results."""

    parameters: tuple[ArraySpec, ...]
    results: tuple[ArraySpec, ...]
    name: str = "main"
    aliases: tuple[tuple[int, int], ...] = ()
    """The results that take the memory of a parameter which is given away, each with that."""

    @cached_property
    def in_memory(self) -> Signature:
        """The signature of the arrays as they lie in memory; itself if all are row-major."""
        specs = (*self.parameters, *self.results)
        if all(spec.order is None for spec in specs):
            return self
        return Signature(
            tuple(spec.in_memory for spec in self.parameters),
            tuple(spec.in_memory for spec in self.results),
            self.name,
            self.aliases,
        )

    @cached_property
    def is_static(self) -> bool:
        """Whether all arrays have sizes that are known."""
        return not any(spec.dynamic_dimensions for spec in (*self.parameters, *self.results))

    def parameter_name(self, number: int) -> str:
        """How messages call a parameter: `%x`, or `%arg0` if it has no name."""
        return f"%{self.parameters[number].name or f'arg{number}'}"

    def __str__(self) -> str:
        parameters = ", ".join(
            f"{self.parameter_name(number)}: {spec}" for number, spec in enumerate(self.parameters)
        )
        places = dict(self.aliases)
        results = ", ".join(
            f"{spec} in {self.parameter_name(places[number])}" if number in places else str(spec)
            for number, spec in enumerate(self.results)
        )
        return f"{self.name}({parameters}) -> ({results})"


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
    if DYNAMIC_INDEX in extents(type_):
        raise XlaError(f"{place}: {spell(type_)} has sizes that are not known")
    yield path, type_


def _spec(type_: Array, name: str | None = None) -> ArraySpec:
    try:
        order = memory_order(cast(Array, without_bounds(type_)))
    except LayoutNotLowered:
        # The pipeline says so, where layouts count.
        return ArraySpec(without_layout(type_), name)
    return ArraySpec(without_layout(type_), name, None if order.is_default else order)
