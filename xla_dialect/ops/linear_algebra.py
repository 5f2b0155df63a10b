"""Fourier transforms, Cholesky and triangular solve."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from xla_dialect.attributes import (
    FALSE,
    FLAG,
    INTEGERS,
    FftType,
    FftTypeAttr,
    Transpose,
    TransposeAttr,
)
from xla_dialect.constraints import ArrayOf, require_same_elements, with_elements
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import PureOp, Types
from xla_dialect.shapes.size_arithmetic import compatible, compatible_sizes, united
from xla_dialect.types import (
    BY_NAME,
    Array,
    ElementClass,
    array,
    component_type,
    sizes_of,
)
from xla_dialect.violations import require

FIELD = ElementClass.FLOAT | ElementClass.COMPLEX


@irdl_op_definition
class FftOp(PureOp):
    """
    The Fourier transform over the last `r = len(fft_length)` dimensions.

    Forward `X[k] = Σ_n x[n] e^(-2πi kn/N)`, inverse `x[n] = (1/N) Σ_k X[k] e^(+2πi kn/N)`, one
    dimension after the other. RFFT takes reals and leaves out what follows by symmetry from the
    first `N div 2 + 1` entries of the last dimension; IRFFT is its inverse.

    (C1) `1 <= r <= 3`. (C2) the operand has at least r dimensions. (C3) lengths are not negative.
    (C4) FFT and IFFT: elements are complex, the last r sizes are `fft_length`. (C5) RFFT: elements
    are f32 or f64, the last r sizes are `fft_length`. (C6) IRFFT: elements are complex, the last r
    sizes are `fft_length`, but the last of them N has size `N div 2 + 1` (0 if N = 0).
    """

    name = "xla.fft"
    operand = operand_def()
    fft_type = prop_def(FftTypeAttr)
    fft_length = prop_def(INTEGERS)

    @staticmethod
    def infer(operand: Attribute, *, fft_type: FftType, fft_length: tuple[int, ...]) -> Types:
        """The operand's sizes; RFFT and IRFFT change the last one, and real to complex or back."""
        rank = len(fft_length)
        require(1 <= rank <= 3, "C1", "fft_length has {} entries", rank)
        label = _FFT_RULES[fft_type]
        source = with_elements(operand, FIELD, "operand", label)
        sizes = sizes_of(source)
        require(len(sizes) >= rank, "C2", "rank {} for {} lengths", len(sizes), rank)
        require(min(fft_length) >= 0, "C3", "fft_length is {}", list(fft_length))
        element = source.element_type
        part = component_type(element)
        if fft_type == FftType.RFFT:
            with_elements(operand, ElementClass.FLOAT, "operand", label)
            require(part in _TRANSFORMED, label, "operand has element type {}", part)
            element = ComplexType(cast("AnyFloat", part))
        else:
            with_elements(operand, ElementClass.COMPLEX, "operand", label)
            element = part if fft_type == FftType.IRFFT else element
        expected = list(fft_length)
        half = expected[-1] // 2 + 1 if expected[-1] else 0
        if fft_type == FftType.IRFFT:
            expected[-1] = half
        require(
            compatible_sizes(sizes[-rank:], expected),
            label,
            "the last sizes are {}, expected {}",
            list(sizes[-rank:]),
            expected,
        )
        last = {FftType.RFFT: half, FftType.IRFFT: fft_length[-1]}.get(fft_type, sizes[-1])
        return (array(element, (*sizes[:-1], last)),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, fft_length: tuple[int, ...]) -> None:
        """The last dimensions stay whole."""
        before, after = relations.operands[0], relations.results[0]
        batch = len(before) - len(fft_length)
        relations.add_each(before[:batch])
        for d in range(batch, len(before)):
            line = Factor(
                before[d],
                FactorType.NEED_REPLICATION,
                Traversal.WHOLE,
                blocked=before[d] != after[d],
            )
            relations.add(line, {0: d}, {0: d})
            relations.static[0, d] = "the length of the transform is fixed"


_FFT_RULES = {FftType.FFT: "C4", FftType.IFFT: "C4", FftType.RFFT: "C5", FftType.IRFFT: "C6"}
_TRANSFORMED = (BY_NAME["f32"].type, BY_NAME["f64"].type)


@irdl_op_definition
class CholeskyOp(PureOp):
    """
    The triangular factor of every Hermitian positive definite matrix `a`.

    `lower`: `a = l * l^H` with l lower triangular; else `a = u^H * u` with u upper triangular. Only
    that triangle of `a` is read, and the imaginary part of its diagonal is not. The other triangle
    of the result is 0. A matrix with a pivot that is not positive gives NaN everywhere.

    (C1) elements are floats or complex numbers. (C2) `a` has at least two dimensions. (C3) the last
    two of them have equal sizes.
    """

    name = "xla.cholesky"
    a = operand_def(ArrayOf(FIELD))
    lower = prop_def(FLAG, default_value=FALSE)

    @staticmethod
    def infer(a: Array) -> Types:
        """The type of the operand."""
        _require_square(a, "C2", "C3")
        *batch, rows, columns = sizes_of(a)
        sizes = (*batch, *united((rows, columns), (columns, rows)))
        return (array(a.element_type, sizes),)

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        """Matrices stay whole."""
        *batch, rows, columns = relations.operands[0]
        row = Factor(rows, FactorType.NEED_REPLICATION, Traversal.WHOLE)
        column = Factor(columns, FactorType.NEED_REPLICATION, Traversal.WHOLE, same_size=len(batch))
        relations.add_each((*batch, row, column))


@irdl_op_definition
class TriangularSolveOp(PureOp):
    """
    The x of `op(a) * x = b` (`left_side`) or `x * op(a) = b`, for triangular matrices `a`.

    `op(a)` is `a`, its transpose, or its conjugate transpose (`transpose_a`). `lower` names the
    triangle of `a` that is read; with `unit_diagonal` the diagonal is 1 and not read. Dividing by a
    zero of the diagonal gives infinity or NaN.

    (C1) elements of both are the same floats or complex numbers. (C2) both have the same number of
    dimensions, at least two. (C3) the last two of `a` have equal sizes M. (C4) M is the size of the
    last but one (`left_side`) or last dimension of `b`. (C5) all other sizes of both are equal.
    """

    name = "xla.triangular_solve"
    a = b = operand_def(ArrayOf(FIELD))
    left_side = prop_def(FLAG, default_value=FALSE)
    lower = prop_def(FLAG, default_value=FALSE)
    unit_diagonal = prop_def(FLAG, default_value=FALSE)
    transpose_a = prop_def(TransposeAttr)

    @staticmethod
    def infer(a: Array, b: Array, *, left_side: bool) -> Types:
        """The type of b."""
        require_same_elements(a, b, "a and b", "C1")
        sizes, others = sizes_of(a), sizes_of(b)
        require(len(sizes) == len(others), "C2", "a has rank {}, b {}", len(sizes), len(others))
        _require_square(a, "C2", "C3")
        solved = others[-2 if left_side else -1]
        require(compatible(solved, sizes[-1]), "C4", "a has {} rows, b has {}", sizes[-1], solved)
        require(
            compatible_sizes(sizes[:-2], others[:-2]),
            "C5",
            "batch sizes are {} and {}",
            list(sizes[:-2]),
            list(others[:-2]),
        )
        rest = list(others[-2:])
        solution = 0 if left_side else 1
        (rest[solution],) = united([rest[solution]], sizes[-2:-1], sizes[-1:])
        return (array(b.element_type, (*united(others[:-2], sizes[:-2]), *rest)),)

    @staticmethod
    def relate(relations: RelationsBuilder, *, left_side: bool, transpose_a: Transpose) -> None:
        """The triangles stay whole; each column (`left_side`) or row of b is solved by itself."""
        *batch, _, _ = relations.operands[1]
        relations.add_each(batch, (0, 1))
        first = len(batch)
        solved, free = (first, first + 1) if left_side else (first + 1, first)
        read, given = (solved, free) if transpose_a == Transpose.NO_TRANSPOSE else (free, solved)
        of_b = Factor(relations.operands[0][-1], FactorType.NEED_REPLICATION, Traversal.WHOLE)
        for d in (first, first + 1):
            if d == solved:
                relations.add(of_b, {0: read, 1: d})
            else:
                relations.add(relations.operands[1][d], {1: d}, {0: d})
        relations.add(replace(of_b, same_size=solved), {0: given}, {0: solved})


def _require_square(matrix: Array, rank_label: str, label: str) -> None:
    sizes = sizes_of(matrix)
    require(len(sizes) >= 2, rank_label, "a has rank {}", len(sizes))
    require(compatible(*sizes[-2:]), label, "matrices have {} rows, {} columns", *sizes[-2:])
