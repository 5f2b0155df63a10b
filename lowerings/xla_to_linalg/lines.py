"""Lines of several tensors of equal sizes, whose elements sorts read and write together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from lowerings.xla_to_linalg.scalar_functions.element_functions import elements_of
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder, Values, storage


@dataclass(frozen=True)
class Lines:
    """One line of each tensor: the elements at `prefix` and one more index."""

    tensors: tuple[SSAValue, ...]
    prefix: tuple[SSAValue, ...] = ()

    def read(self, s: ScalarBuilder, place: SSAValue) -> list[SSAValue]:
        """The elements at a place."""
        return [
            s.emit(tensor.ExtractOp, (value, *self.prefix, place), storage(elements_of(value)))
            for value in self.tensors
        ]

    def write(self, s: ScalarBuilder, place: SSAValue, elements: Values) -> Lines:
        """The lines with elements put to a place."""
        return self.of(
            s.emit(tensor.InsertOp, (element, value, *self.prefix, place), value.type)
            for element, value in zip(elements, self.tensors, strict=True)
        )

    def of(self, tensors: Iterable[SSAValue]) -> Lines:
        """The same lines of other tensors."""
        return replace(self, tensors=tuple(tensors))
