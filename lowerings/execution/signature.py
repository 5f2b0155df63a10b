"""What a program takes and returns: names, element types and shapes; without MLIR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING

from xla_dialect.element_types import BY_NAME, NUMPY_TYPES, DType
from xla_dialect.shapes.size_arithmetic import DynamicSize

if TYPE_CHECKING:
    from lowerings.layouts.memory_order import MemoryOrder
    from xla_dialect.types import Array as ArrayType


@dataclass(frozen=True)
class ArraySpec:
    """One parameter or result."""

    element_type: str
    """The element type's name in HLO, e.g. `f32`."""
    sizes: tuple[int, ...]
    """Those of the dimensions, dynamic ones as `DynamicSize`."""
    name: str | None = None
    order: MemoryOrder | None = None
    """How it lies in the program's memory; None for dense and row-major."""

    @staticmethod
    def of(
        element_type: str, *sizes: int, name: str | None = None, order: MemoryOrder | None = None
    ) -> ArraySpec:
        """The spec for an element type's name in HLO, e.g. `f32`, else KeyError, and for sizes."""
        checked = (size if isinstance(size, DynamicSize) else index(size) for size in sizes)
        return ArraySpec(BY_NAME[element_type].name, tuple(checked), name, order)

    @property
    def type(self) -> ArrayType:
        """The array type, with the default layout and the bounds of dynamic dimensions."""
        # Who runs a program has no need of MLIR.
        from xla_dialect.types import BY_NAME as ROWS  # noqa: PLC0415
        from xla_dialect.types import array  # noqa: PLC0415

        return array(ROWS[self.element_type].type, self.sizes)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions, the largest possible for dynamic ones."""
        return tuple(map(int, self.sizes))

    @cached_property
    def dynamic_dimensions(self) -> tuple[int, ...]:
        """The dimensions whose size is known at run time only."""
        return tuple(d for d, size in enumerate(self.sizes) if isinstance(size, DynamicSize))

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of these sizes can be passed."""
        if not self.dynamic_dimensions:
            return shape == self.shape
        return len(shape) == len(self.shape) and all(
            have <= size if d in self.dynamic_dimensions else have == size
            for d, (have, size) in enumerate(zip(shape, self.shape, strict=True))
        )

    @property
    def dtype(self) -> DType:
        """The numpy type of the elements."""
        return NUMPY_TYPES[self.element_type]

    @cached_property
    def byte_size(self) -> int:
        """Bytes of all elements, each in whole bytes."""
        return math.prod(self.shape) * BY_NAME[self.element_type].byte_size

    @property
    def in_memory(self) -> ArraySpec:
        """The dense row-major array that the program takes in its place."""
        if self.order is None:
            return self
        return ArraySpec(self.element_type, self.order.physical_sizes(self.shape), self.name)

    def __str__(self) -> str:
        sizes = ",".join(map(repr, self.sizes))
        return f"{self.element_type}[{sizes}]{'' if self.order is None else self.order.layout}"


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
