"""What a routine of LAPACK is called with, and the requests that say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np


@dataclass(frozen=True)
class RoutineConstant:
    """What a routine reads from memory, as LLVM writes it."""

    type: str
    value: str

    @staticmethod
    def character(value: str) -> RoutineConstant:
        """What selects one of several ways."""
        return RoutineConstant("i8", f"{ord(value)}")

    @staticmethod
    def number(value: int) -> RoutineConstant:
        """A size."""
        return RoutineConstant("i32", f"{value}")


TYPES_IN_C = {"i8": "char *", "i32": "int *"}
"""How the signature of a routine names the address of a constant that is no matrix element."""

ELEMENTS = {
    "s": ("float32", RoutineConstant("float", "1.0")),
    "d": ("float64", RoutineConstant("double", "1.0")),
    "c": ("complex64", RoutineConstant("{ float, float }", "{ float 1.0, float 0.0 }")),
    "z": ("complex128", RoutineConstant("{ double, double }", "{ double 1.0, double 0.0 }")),
}
"""By the letter of a routine: the dtype of its matrices, and one."""


@dataclass(frozen=True)
class RoutineMemory:
    """Memory that a routine needs for one problem."""

    number: int
    size: int
    """In bytes."""


@dataclass(frozen=True)
class ArrayFrom:
    """An operand or result from its second element on: a first one is there for the form only."""

    number: int
    item_size: int


RoutineArgument: TypeAlias = RoutineConstant | RoutineMemory | ArrayFrom | int | None
"""
A constant, memory, or the number of an operand or result, of which a routine gets one problem. None
is a null pointer, for what a routine does not look at.
"""


@dataclass(frozen=True)
class MatrixTransposition:
    """A matrix of one problem with its rows as columns, which is how Fortran has it."""

    source: RoutineMemory | int
    target: RoutineMemory | int
    rows: int
    columns: int
    """Of the source."""
    letter: str
    """Of the elements, as routines have it."""


@dataclass(frozen=True)
class EigenvectorPairs:
    """
    The eigenvectors of a real matrix as complex columns, of `size` rows and columns.

    A pair of conjugate eigenvalues has real and imaginary part of one vector in two columns.
    """

    source: RoutineMemory
    """By columns."""
    imaginary: int
    """The result with the imaginary parts of the eigenvalues."""
    target: int
    """By rows."""
    size: int
    letter: str
    """Of the elements of the source, as routines have it."""


Rearrangement: TypeAlias = MatrixTransposition | EigenvectorPairs
"""What becomes of a matrix before or after a routine."""


@dataclass(frozen=True)
class RoutineCall:
    """A routine of Fortran with what it is given, all by address."""

    library: str
    """The module of scipy that exports it."""
    arguments: tuple[RoutineArgument, ...]
    updated: tuple[tuple[int, int], ...] = ()
    """The operands whose elements a result has before, and the numbers of those results."""
    before: tuple[Rearrangement, ...] = ()
    after: tuple[Rearrangement, ...] = ()
    routine: str = ""
    """Its name without the letter, if that is not the name of the custom call."""
    zeroed: tuple[int, ...] = ()
    """The results that a routine leaves alone: zeros."""


@dataclass(frozen=True)
class LapackRequest:
    """A custom call with arrays of known sizes: operands and results, in this order."""

    letter: str
    configuration: Mapping[str, int]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]

    def character(self, name: str, among: str) -> str:
        """An attribute that is one of some characters; raises UnusualCall for others."""
        found = chr(self.configuration.get(name, 0))
        if found not in among:
            raise UnusualCall
        return found

    def require_types(self, *shapes: tuple[int, ...], dtypes: Sequence[str]) -> None:
        """Raises UnusualCall for arrays of others, and such as LAPACK cannot count the sizes of."""
        if self.shapes != shapes or self.dtypes != tuple(dtypes):
            raise UnusualCall
        if any(size >= 1 << 31 for shape in shapes for size in shape):
            raise UnusualCall


class UnusualCall(Exception):
    """A call that is left to Python."""


@dataclass
class FortranMemory:
    """The memory and the types that a routine on matrices by columns needs, as they are named."""

    request: LapackRequest
    scratch: list[RoutineMemory] = field(default_factory=list[RoutineMemory])

    @property
    def element(self) -> tuple[str, int]:
        """The dtype of matrices, and its size in bytes."""
        dtype, _ = ELEMENTS[self.request.letter]
        return dtype, np.dtype(dtype).itemsize

    @property
    def real(self) -> str:
        """The dtype of what is real of a complex matrix too."""
        return ELEMENTS[_REAL[self.request.letter]][0]

    @property
    def is_complex(self) -> bool:
        """Whether matrices are."""
        return self.request.letter in "cz"

    def memory(self, count: int, dtype: str) -> RoutineMemory:
        """Memory for so many elements."""
        size = max(count, 1) * np.dtype(dtype).itemsize
        self.scratch.append(RoutineMemory(len(self.scratch), size))
        return self.scratch[-1]

    def by_columns(self, rows: int, columns: int) -> RoutineMemory:
        """Memory for a matrix."""
        return self.memory(rows * columns, self.element[0])

    def transpose(
        self, source: RoutineMemory | int, target: RoutineMemory | int, m: int, n: int
    ) -> MatrixTransposition:
        """From rows of a matrix of `m` times `n` to columns; with `n` and `m`, the other way."""
        return MatrixTransposition(source, target, m, n, self.request.letter)


_REAL = {"s": "s", "d": "d", "c": "s", "z": "d"}
