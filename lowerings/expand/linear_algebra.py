"""
Cholesky factors and triangular systems, in f32, or f64 where that is the precision.

Both make one row after the other: a loop whose step is the product of a vector with a matrix, for
all matrices of a batch at once. Large ones are done some rows at a time; what those before
contribute are products of matrices, in a loop of their own, so that none with zeros is computed.
What an operation does not read of a matrix has no influence, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan, prod
from typing import cast

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from xla_dialect.attributes import Transpose
from xla_dialect.builder import DotDimensionNumbers, XlaBuilder, XlaValue
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.types import BY_TYPE, Array, ElementClass

MATRIX_TIMES_MATRIX = DotDimensionNumbers([2], [1], [0], [0])
TRANSPOSED_TIMES_MATRIX = VECTOR_TIMES_MATRIX = DotDimensionNumbers([1], [1], [0], [0])

LEAST_SIZE, LEAST_ROWS, MOST_ROWS = 128, 8, 32
"""Of a matrix from which on some rows are made at once, and how many."""


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

    def below(self, x: XlaValue) -> XlaValue:
        """What is below the diagonals, with zeros elsewhere."""
        sizes = f"s32[{','.join(map(str, x.shape))}]"
        row, column = (self.b.iota(sizes, dimension) for dimension in (1, 2))
        return self.b.select(column < row, x, self.zero(x))

    def zero(self, x: XlaValue) -> XlaValue:
        """The scalar of this element type."""
        return self.b.constant(0, x.element_type)

    def line(self, x: XlaValue, index: XlaValue, dimension: int) -> XlaValue:
        """One row (dimension 1) or column (2) of each matrix: `[batch, n]`."""
        sizes = [1 if d == dimension else size for d, size in enumerate(x.shape)]
        starts = [index if d == dimension else 0 for d in range(3)]
        return self.b.reshape(self.b.dynamic_slice(x, starts, sizes), [sizes[0], prod(sizes[1:])])

    def with_row(self, x: XlaValue, row: XlaValue, index: XlaValue) -> XlaValue:
        """The matrices with one row replaced."""
        count, _, columns = x.shape
        return self.b.dynamic_update_slice(
            x, self.b.reshape(row, [count, 1, columns]), [0, index, 0]
        )

    def element(self, line: XlaValue, index: XlaValue) -> XlaValue:
        """One element of each line: `[batch]`."""
        count = line.shape[0]
        return self.b.reshape(self.b.dynamic_slice(line, [0, index], [count, 1]), [count])

    def along(self, vector: XlaValue, like: XlaValue) -> XlaValue:
        """A vector `[batch]`, broadcast over the elements of each matrix."""
        return self.b.broadcast_in_dim(vector, like.shape, [0])

    def repeated(
        self,
        count: int | XlaValue,
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
        """How many rows are made at once: all of small matrices, one after the other."""
        width = max(n for n in range(1, MOST_ROWS + 1) if size % n == 0)
        return size if size < LEAST_SIZE or width < LEAST_ROWS else width

    def less(
        self, x: XlaValue, count: XlaValue, product: Callable[[XlaValue], XlaValue]
    ) -> XlaValue:
        """Matrices less so many products, one for each index below `count`."""

        def step(index: XlaValue, x: XlaValue) -> Sequence[XlaValue]:
            return (x - product(index),)

        return self.repeated(count, [x], step)[0]

    def factor(self, a: XlaValue) -> XlaValue:
        """
        The u of `a = u^H u` from the upper triangles of `a`.

        Of large matrices some rows at a time: what the rows before them contribute are products of
        matrices.
        """
        b = self.b
        count, size, _ = a.shape
        places = b.iota(f"s32[{count},{size}]", 1)
        width = self.at_once(size)

        def rows(number: XlaValue, found: XlaValue, definite: XlaValue) -> Sequence[XlaValue]:
            start = number * width

            def product(before: XlaValue) -> XlaValue:
                right = b.dynamic_slice(found, [0, before * width, 0], [count, width, size])
                left = b.dynamic_slice(right, [0, 0, start], [count, width, width])
                return b.dot_general(self.conjugate(left), right, TRANSPOSED_TIMES_MATRIX)

            rest = b.dynamic_slice(a, [0, start, 0], [count, width, size])
            step = partial(row, start, self.less(rest, number, product))
            return self.repeated(width, [found, definite], step)

        def row(
            start: XlaValue, rest: XlaValue, i: XlaValue, found: XlaValue, definite: XlaValue
        ) -> Sequence[XlaValue]:
            place = start + i
            done = b.dynamic_slice(found, [0, start, 0], [count, width, size])
            column = self.conjugate(self.line(done, place, 2))
            own = self.line(rest, i, 1) - b.dot_general(column, done, VECTOR_TIMES_MATRIX)
            pivot = b.real(self.element(own, place))
            root = b.sqrt(pivot)
            divisor = b.complex(root, root * 0.0) if self.is_complex else root
            own = own / self.along(divisor, own)
            own = b.select(places == place, self.along(divisor, own), own)
            own = b.select(places < place, self.zero(own), own)
            return self.with_row(found, own, place), definite & (pivot > 0)

        first = [b.broadcast(self.zero(a), a.shape), b.broadcast(b.constant(True), [count])]
        step = partial(row, b.constant(0, "s32"), a) if width == size else rows
        found, definite = self.repeated(size // width if width < size else size, first, step)
        return b.select(self.along(definite, found), found, b.constant(nan, a.element_type))

    def solve_lower(self, a: XlaValue, x: XlaValue, *, unit_diagonal: bool) -> XlaValue:
        """The y of `a y = x` from the lower triangles of `a`; of large ones some rows at a time."""
        b = self.b
        count, size, columns = x.shape
        width = self.at_once(size)

        def rows(number: XlaValue, found: XlaValue) -> Sequence[XlaValue]:
            start = number * width

            def product(before: XlaValue) -> XlaValue:
                place = before * width
                left = b.dynamic_slice(a, [0, start, place], [count, width, width])
                right = b.dynamic_slice(found, [0, place, 0], [count, width, columns])
                return b.dot_general(left, right, MATRIX_TIMES_MATRIX)

            rest = b.dynamic_slice(x, [0, start, 0], [count, width, columns])
            factors = b.dynamic_slice(a, [0, start, start], [count, width, width])
            step = partial(row, start, factors, self.below(factors))
            return self.repeated(width, [found], partial(step, self.less(rest, number, product)))

        def row(
            start: XlaValue,
            factors: XlaValue,
            below: XlaValue,
            rest: XlaValue,
            i: XlaValue,
            found: XlaValue,
        ) -> Sequence[XlaValue]:
            done = b.dynamic_slice(found, [0, start, 0], [count, width, columns])
            own = self.line(rest, i, 1)
            own = own - b.dot_general(self.line(below, i, 1), done, VECTOR_TIMES_MATRIX)
            if not unit_diagonal:
                own = own / self.along(self.element(self.line(factors, i, 1), i), own)
            return (self.with_row(found, own, start + i),)

        first = [b.broadcast(self.zero(x), x.shape)]
        step = partial(row, b.constant(0, "s32"), a, self.below(a), x) if width == size else rows
        return self.repeated(size // width if width < size else size, first, step)[0]


def _started(b: XlaBuilder, values: Sequence[XlaValue]) -> tuple[Matrices, list[XlaValue]]:
    """The operands as `[batch, rows, columns]` in the type in which they are computed."""
    type_ = values[0].element_type
    row = BY_TYPE[type_]
    is_complex = row.element_class == ElementClass.COMPLEX
    wide = f32 if row.bits < 32 else type_
    found = [
        _converted(b, b.reshape(value, [prod(value.shape[:-2]), *value.shape[-2:]]), wide)
        for value in values
    ]
    return Matrices(b, is_complex), found


def _finished(b: XlaBuilder, x: XlaValue, type_: Array) -> Sequence[XlaValue]:
    return [b.reshape(_converted(b, x, type_.element_type), type_.get_shape())]


def _converted(b: XlaBuilder, x: XlaValue, element_type: Attribute) -> XlaValue:
    """In an element type; nothing is computed for what is in it, which needs no copy then."""
    return x if x.element_type == element_type else b.convert_element_type(x, element_type)


def cholesky(b: XlaBuilder, op: CholeskyOp, a: XlaValue) -> Sequence[XlaValue]:
    """u, or l = u^H of the conjugate transpose."""
    type_ = cast(Array, op.result.type)
    if 0 in type_.get_shape():
        return [a]
    matrices, (x,) = _started(b, [a])
    if op.lower.value.data:
        found = matrices.adjoint(matrices.factor(matrices.adjoint(x)))
    else:
        found = matrices.factor(x)
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
