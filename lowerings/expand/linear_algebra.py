"""
Cholesky factors and triangular systems, in f32, or f64 where that is the precision.

Both go along the matrices column by column or row by row: a loop whose step is the product of a
matrix with a vector, for all matrices of a batch at once. Large ones are done some columns or rows
at a time, and what those before contribute is a product of matrices. What an operation does not
read of a matrix is replaced by zeros first, so that it has no influence, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan, prod
from typing import cast

from xdsl.dialects.builtin import f32

from xla_dialect.attributes import Transpose
from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.types import BY_TYPE, Array, ElementClass

MATRIX_TIMES_VECTOR = DotDimensionNumbers([2], [1], [0], [0])
MATRIX_TIMES_MATRIX = DotDimensionNumbers([2], [1], [0], [0])
VECTOR_TIMES_MATRIX = DotDimensionNumbers([1], [1], [0], [0])

LEAST_SIZE, LEAST_COLUMNS, MOST_COLUMNS = 128, 8, 32
"""Of a matrix from which on some columns are made at once, and how many."""


@dataclass(frozen=True)
class Matrices:
    """Arithmetic of arrays of sizes `[batch, rows, columns]`."""

    b: XlaBuilder
    is_complex: bool

    def adjoint(self, x: XlaValue) -> XlaValue:
        """The conjugate transposes."""
        return self.conjugate(self.b.transpose(x, [0, 2, 1]))

    def conjugate(self, x: XlaValue) -> XlaValue:
        """The conjugates."""
        return self.b.complex(self.b.real(x), -self.b.imag(x)) if self.is_complex else x

    def lower(self, x: XlaValue, *, strictly: bool) -> XlaValue:
        """The lower triangles, with zeros elsewhere."""
        sizes = f"s32[{','.join(map(str, x.shape))}]"
        row, column = (self.b.iota(sizes, dimension) for dimension in (1, 2))
        return self.b.select(column < row if strictly else column <= row, x, self.zero(x))

    def zero(self, x: XlaValue) -> XlaValue:
        """The scalar of this element type."""
        return self.b.constant(0, x.element_type)

    def line(self, x: XlaValue, index: XlaValue, dimension: int) -> XlaValue:
        """One row (dimension 1) or column (2) of each matrix: `[batch, n]`."""
        sizes = [1 if d == dimension else size for d, size in enumerate(x.shape)]
        starts = [index if d == dimension else 0 for d in range(3)]
        return self.b.reshape(self.b.dynamic_slice(x, starts, sizes), [sizes[0], prod(sizes[1:])])

    def with_line(self, x: XlaValue, line: XlaValue, index: XlaValue, dimension: int) -> XlaValue:
        """The matrices with one row or column replaced."""
        sizes = [1 if d == dimension else size for d, size in enumerate(x.shape)]
        starts = [index if d == dimension else 0 for d in range(3)]
        return self.b.dynamic_update_slice(x, self.b.reshape(line, sizes), starts)

    def element(self, line: XlaValue, index: XlaValue) -> XlaValue:
        """One element of each line: `[batch]`."""
        count = line.shape[0]
        return self.b.reshape(self.b.dynamic_slice(line, [0, index], [count, 1]), [count])

    def along(self, vector: XlaValue, like: XlaValue) -> XlaValue:
        """A vector `[batch]`, broadcast over the elements of each matrix."""
        return self.b.broadcast_in_dim(vector, like.shape, [0])

    def repeated(
        self,
        count: int,
        initial: Sequence[XlaValue],
        step: Callable[..., Sequence[XlaValue]],
    ) -> tuple[XlaValue, ...]:
        """A counted loop: the last `x` of `x = step(index, x)` for every index below `count`."""

        def goes_on(index: XlaValue, *_carried: XlaValue) -> XlaValue:
            return index < count

        def body(index: XlaValue, *carried: XlaValue) -> Sequence[XlaValue]:
            return (index + 1, *step(index, *carried))

        return self.b.while_(goes_on, body, [self.b.constant(0, "s32"), *initial])[1:]

    def at_once(self, size: int) -> int:
        """How many rows or columns are made at once: all of small matrices, one after the other."""
        width = max(n for n in range(1, MOST_COLUMNS + 1) if size % n == 0)
        return size if size < LEAST_SIZE or width < LEAST_COLUMNS else width

    def factor(self, a: XlaValue) -> XlaValue:
        """
        The l of `a = l l^H` from the lower triangles of `a`.

        Of large matrices some columns at a time: what the columns before them contribute is one
        product of matrices.
        """
        b = self.b
        count, size, _ = a.shape
        a = self.lower(a, strictly=False)
        places = b.iota(f"s32[{count},{size}]", 1)
        width = self.at_once(size)

        def columns(number: XlaValue, found: XlaValue, definite: XlaValue) -> Sequence[XlaValue]:
            start = number * width
            rows = b.dynamic_slice(found, [0, start, 0], [count, width, size])
            rest = b.dynamic_slice(a, [0, 0, start], [count, size, width])
            rest = rest - b.dot_general(found, self.adjoint(rows), MATRIX_TIMES_MATRIX)
            done = b.broadcast(self.zero(a), rest.shape)
            step = partial(column, start, rest)
            done, definite = self.repeated(width, [done, definite], step)
            return b.dynamic_update_slice(found, done, [0, 0, start]), definite

        def column(
            start: XlaValue, rest: XlaValue, j: XlaValue, done: XlaValue, definite: XlaValue
        ) -> Sequence[XlaValue]:
            place = start + j
            row = self.conjugate(self.line(done, place, 1))
            own = self.line(rest, j, 2) - b.dot_general(done, row, MATRIX_TIMES_VECTOR)
            pivot = b.real(self.element(own, place))
            root = b.sqrt(pivot)
            divisor = b.complex(root, root * 0.0) if self.is_complex else root
            found = own / self.along(divisor, own)
            found = b.select(places == place, self.along(divisor, own), found)
            found = b.select(places < place, self.zero(found), found)
            return self.with_line(done, found, j, 2), definite & (pivot > 0)

        first = [b.broadcast(self.zero(a), a.shape), b.broadcast(b.constant(True), [count])]
        step = partial(column, b.constant(0, "s32"), a) if width == size else columns
        found, definite = self.repeated(size // width if width < size else size, first, step)
        return b.select(self.along(definite, found), found, b.constant(nan, a.element_type))

    def solve_lower(self, a: XlaValue, x: XlaValue, *, unit_diagonal: bool) -> XlaValue:
        """The y of `a y = x` from the lower triangles of `a`; of large ones some rows at a time."""
        b = self.b
        below = self.lower(a, strictly=True)
        count, size, columns = x.shape
        width = size if columns < LEAST_SIZE else self.at_once(size)

        def rows(number: XlaValue, found: XlaValue) -> Sequence[XlaValue]:
            start = number * width
            factors = b.dynamic_slice(below, [0, start, 0], [count, width, size])
            rest = b.dynamic_slice(x, [0, start, 0], [count, width, columns])
            rest = rest - b.dot_general(factors, found, MATRIX_TIMES_MATRIX)
            factors = b.dynamic_slice(factors, [0, 0, start], [count, width, width])
            step = partial(row, start, factors, rest)
            (done,) = self.repeated(width, [b.broadcast(self.zero(x), rest.shape)], step)
            return (b.dynamic_update_slice(found, done, [0, start, 0]),)

        def row(
            start: XlaValue, factors: XlaValue, rest: XlaValue, i: XlaValue, done: XlaValue
        ) -> Sequence[XlaValue]:
            own = self.line(rest, i, 1)
            own = own - b.dot_general(self.line(factors, i, 1), done, VECTOR_TIMES_MATRIX)
            if not unit_diagonal:
                place = start + i
                own = own / self.along(self.element(self.line(a, place, 1), place), own)
            return (self.with_line(done, own, i, 1),)

        first = [b.broadcast(self.zero(x), x.shape)]
        step = partial(row, b.constant(0, "s32"), below, x) if width == size else rows
        return self.repeated(size // width if width < size else size, first, step)[0]


def _started(b: XlaBuilder, values: Sequence[XlaValue]) -> tuple[Matrices, list[XlaValue]]:
    """The operands as `[batch, rows, columns]` in the type in which they are computed."""
    type_ = values[0].element_type
    row = BY_TYPE[type_]
    is_complex = row.element_class == ElementClass.COMPLEX
    wide = f32 if row.bits < 32 else type_
    found = [
        b.convert_element_type(b.reshape(value, [prod(value.shape[:-2]), *value.shape[-2:]]), wide)
        for value in values
    ]
    return Matrices(b, is_complex), found


def _finished(b: XlaBuilder, x: XlaValue, type_: Array) -> Sequence[XlaValue]:
    return [b.reshape(b.convert_element_type(x, type_.element_type), type_.get_shape())]


def cholesky(b: XlaBuilder, op: CholeskyOp, a: XlaValue) -> Sequence[XlaValue]:
    """l, or u = l^H of the conjugate transpose."""
    type_ = cast(Array, op.result.type)
    if 0 in type_.get_shape():
        return [a]
    matrices, (x,) = _started(b, [a])
    if op.lower.value.data:
        found = matrices.factor(x)
    else:
        found = matrices.adjoint(matrices.factor(matrices.adjoint(x)))
    return _finished(b, found, type_)


def triangular_solve(
    b: XlaBuilder, op: TriangularSolveOp, a: XlaValue, right: XlaValue
) -> Sequence[XlaValue]:
    """Substitution; `x a = b` is `a^T x^T = b^T`, upper triangles are lower ones read backwards."""
    type_ = cast(Array, op.result.type)
    if 0 in type_.get_shape():
        return [right]
    matrices, (matrix, x) = _started(b, [a, right])
    is_left, is_lower = bool(op.left_side.value.data), bool(op.lower.value.data)
    if op.transpose_a.data == Transpose.ADJOINT:
        matrix = matrices.conjugate(matrix)
    if (op.transpose_a.data == Transpose.NO_TRANSPOSE) != is_left:
        matrix, is_lower = b.transpose(matrix, [0, 2, 1]), not is_lower
    if not is_left:
        x = b.transpose(x, [0, 2, 1])
    if not is_lower:
        matrix, x = b.rev(matrix, [1, 2]), b.rev(x, [1])
    found = matrices.solve_lower(matrix, x, unit_diagonal=bool(op.unit_diagonal.value.data))
    if not is_lower:
        found = b.rev(found, [1])
    return _finished(b, found if is_left else b.transpose(found, [0, 2, 1]), type_)
