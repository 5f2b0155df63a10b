"""
The LAPACK routines that JAX calls on the CPU, `lapack_<type><routine>_ffi`, through scipy; and
calls that XLA expands into loops, such as `Qr`, which are the same routines.

Each works on the matrices of one problem; the functions of `LAPACK` run it over the batch
dimensions. Operands, attributes and results are those of jaxlib's functions of the same names;
where LAPACK leaves something undefined, such as the matrix that an SVD has used up, the operand is
returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr

from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, numpy_dtype
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.custom_calls import CustomCallFunction
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import flatten, is_array, sizes_of

Matrices: TypeAlias = Sequence[Any]
Solved: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Problem:
    """What a routine needs besides its matrices."""

    letter: str
    """`s`, `d`, `c` or `z`: the element type."""
    configuration: Mapping[str, int]
    """The attributes of the call; characters as their numbers."""
    result_shapes: tuple[tuple[int, ...], ...]
    """The shape of each result for one problem."""

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex."""
        return self.letter in "cz"

    def scipy(self, routine: str, module: str = "lapack") -> Callable[..., Any]:
        """Scipy's function for a routine of LAPACK or BLAS for this element type."""
        return getattr(_scipy(module), self.letter + routine)

    def character(self, name: str) -> str:
        """The value of an attribute that is a character, such as `uplo`: `L` or `U`."""
        return chr(self.configuration[name])


def _scipy(module: str) -> Any:
    try:
        return import_module(f"scipy.linalg.{module}")
    except ImportError:
        raise XlaError("calls of LAPACK need scipy: pip install scipy") from None


def work_length(size: int) -> int:
    """
    The numbers of workspace of a routine that works on so many columns in blocks, as fast as it
    can: with the least that it takes it goes column by column.

    Two blocks of 64 columns, which is what LAPACK asks for at most, and the factors of one.
    """
    return 130 * size + 65 * 64


def _triangular_factor(problem: Problem, matrices: Matrices) -> Solved:
    """
    Cholesky: `L` or `U` in its triangle of the matrix, and info.

    LAPACK takes a matrix by columns. So it is given the transpose, which has its factor in the
    other triangle, and nothing has to be moved.
    """
    lower = problem.character("uplo") == "L"
    factor, info = problem.scipy("potrf")(matrices[0].T, lower=not lower, clean=0)
    return factor.T, info


def _triangular_solve(problem: Problem, matrices: Matrices) -> Solved:
    """
    `x` with `op(a) x = b`, or `x op(a) = b` for side `R`.

    Like Cholesky with the transposes of all three: from the other side, and the other triangle.
    """
    a, b = matrices
    character = problem.character
    lower, diagonal = character("uplo") == "U", character("diag") == "U"
    is_right, transposed = character("side") == "L", "NTC".index(character("trans_x"))
    solution = problem.scipy("trsm", "blas")(
        1.0, a.T, b.T, side=is_right, lower=lower, trans_a=transposed, diag=diagonal
    )
    if is_right and a.dtype == np.float32:
        # OpenBLAS's strsm spoils finite numbers beside others, its strsv does not.
        for row in np.flatnonzero(~np.isfinite(solution).all(axis=1)):
            solution[row] = problem.scipy("trsv", "blas")(
                a.T, b.T[row], lower=lower, trans=not transposed, diag=diagonal
            )
    return (solution.T,)


def _lu(problem: Problem, matrices: Matrices) -> Solved:
    """LU with partial pivoting: both factors, the pivots from 1, and info."""
    factors, pivots, info = problem.scipy("getrf")(matrices[0])
    return factors, pivots + 1, info


def _qr(problem: Problem, matrices: Matrices) -> Solved:
    """QR: R over the Householder vectors, and their factors."""
    factors, tau, _, _ = problem.scipy("geqrf")(
        matrices[0], lwork=work_length(matrices[0].shape[1])
    )
    return factors, tau


def _qr_with_column_pivoting(problem: Problem, matrices: Matrices) -> Solved:
    """QR of the matrix with its columns reordered; all columns are free to move."""
    if np.any(matrices[1]):
        raise XlaError("geqp3 with columns that have to stay in front is not supported")
    factors, order, tau, _, _ = problem.scipy("geqp3")(
        matrices[0], lwork=work_length(matrices[0].shape[1])
    )
    return factors, order, tau


def _orthogonal_matrix(problem: Problem, matrices: Matrices) -> Solved:
    """Q out of Householder vectors and their factors."""
    routine = "ungqr" if problem.is_complex else "orgqr"
    return (problem.scipy(routine)(*matrices, lwork=work_length(matrices[0].shape[1]))[0],)


def _orthogonal_product(problem: Problem, matrices: Matrices) -> Solved:
    """Q, or its adjoint, times a matrix from the left or the right."""
    a, tau, c = matrices
    if not tau.size:
        return (c,)
    routine = problem.scipy("unmqr" if problem.is_complex else "ormqr")
    adjoint = "C" if problem.is_complex else "T"
    side = "L" if problem.configuration["left"] else "R"
    transposed = adjoint if problem.configuration["transpose"] else "N"
    work = max(1, 64 * max(c.shape))
    return (routine(side, transposed, a[:, : len(tau)], tau, c, work)[0],)


def _symmetric_eigenvalues(problem: Problem, matrices: Matrices) -> Solved:
    """Eigenvectors in columns (if the mode is `V`), ascending eigenvalues, and info."""
    vectors_wanted = problem.character("mode") == "V"
    routine = problem.scipy("heevd" if problem.is_complex else "syevd")
    # With vectors, what the algorithm needs is more.
    length = {} if vectors_wanted else {"lwork": work_length(len(matrices[0]))}
    lower = problem.character("uplo") == "L"
    values, vectors, info = routine(matrices[0], compute_v=vectors_wanted, lower=lower, **length)
    return vectors if vectors_wanted else matrices[0], values, info


def _singular_values(routine: str) -> Callable[[Problem, Matrices], Solved]:
    def solve(problem: Problem, matrices: Matrices) -> Solved:
        """The used-up matrix, singular values, U, the adjoint of V, and info."""
        mode = problem.character("mode")
        length = {"lwork": work_length(sum(matrices[0].shape))} if routine == "gesvd" else {}
        u, values, vt, info = problem.scipy(routine)(
            matrices[0], compute_uv=mode != "N", full_matrices=mode == "A", **length
        )
        _, _, u_shape, vt_shape, _ = problem.result_shapes
        if mode == "N":
            u, vt = np.zeros(u_shape), np.zeros(vt_shape)
        return matrices[0], values, u, vt, info

    return solve


def _eigenvalues(problem: Problem, matrices: Matrices) -> Solved:
    """Eigenvalues (real and imaginary parts for a real matrix), both eigenvectors, and info."""
    wanted = [problem.character(f"compute_{side}") == "V" for side in ("left", "right")]
    *values, left, right, info = problem.scipy("geev")(
        matrices[0],
        compute_vl=wanted[0],
        compute_vr=wanted[1],
        lwork=work_length(len(matrices[0])),
    )
    vectors = [
        _complex_vectors(found, values) if wanted else np.zeros(matrices[0].shape)
        for found, wanted in zip((left, right), wanted, strict=True)
    ]
    return *values, *vectors, info


def _complex_vectors(packed: Any, values: Sequence[Any]) -> Any:
    """
    The eigenvectors of a real matrix as complex columns.

    A pair of conjugate eigenvalues has real and imaginary part of one vector in two columns.
    """
    if len(values) == 1:
        return packed
    signs, columns = np.sign(values[1]), np.arange(len(values[1]))
    # Eigenvalues that did not converge may be half a pair.
    real = packed[:, np.where(signs < 0, np.maximum(columns - 1, 0), columns)]
    imaginary = packed[:, np.where(signs > 0, np.minimum(columns + 1, len(columns) - 1), columns)]
    vectors = real.astype(np.result_type(packed.dtype, np.complex64))
    vectors.imag = np.where(signs > 0, imaginary, np.where(signs < 0, -imaginary, 0))
    return vectors


def _schur(problem: Problem, matrices: Matrices) -> Solved:
    """The Schur form, its vectors, the eigenvalues, how many were selected, and info."""
    vectors_wanted = problem.character("mode") == "V"
    if problem.character("sort") != "N":
        raise XlaError("gees with sorted eigenvalues is not supported")
    form, selected, *values, vectors, _, info = problem.scipy("gees")(
        _select_none,
        matrices[0],
        compute_v=vectors_wanted,
        sort_t=0,
        lwork=work_length(len(matrices[0])),
    )
    return form, vectors if vectors_wanted else matrices[0], *values, selected, info


def _select_none(*_: complex) -> int:
    return 0


def _hessenberg(problem: Problem, matrices: Matrices) -> Solved:
    """The Hessenberg form over the Householder vectors, their factors, and info."""
    low, high = problem.configuration["low"] - 1, problem.configuration["high"] - 1
    length = work_length(len(matrices[0]))
    return problem.scipy("gehrd")(matrices[0], lo=low, hi=high, lwork=length)


def _tridiagonal_form(problem: Problem, matrices: Matrices) -> Solved:
    """The matrix that was reduced, its diagonals, the factors of the vectors, and info."""
    routine = problem.scipy("hetrd" if problem.is_complex else "sytrd")
    lower = problem.character("uplo") == "L"
    return routine(matrices[0], lower=lower, lwork=work_length(len(matrices[0])))


def _tridiagonal_solve(problem: Problem, matrices: Matrices) -> Solved:
    """The diagonals that were used up, `x`, and info; the outer diagonals have an unused end."""
    lower, diagonal, upper, b = matrices
    n, columns = b.shape
    # Scipy takes neither one row nor no column.
    rows, missing = max(2 - n, 0), max(1 - columns, 0)
    used_up, pivots, outer, x, info = problem.scipy("gtsv")(
        np.pad(lower[1:], (0, rows)),
        np.pad(diagonal, (0, rows), constant_values=1),
        np.pad(upper[:-1], (0, rows)),
        np.pad(b, ((0, rows), (0, missing))),
    )
    below, above = np.append(lower[:1], used_up)[:n], np.append(outer[: n - 1], upper[-1:])
    return below, pivots[:n], above, x[:n, :columns], info


ROUTINES: Mapping[str, Callable[[Problem, Matrices], Solved]] = {
    "geev": _eigenvalues,
    "gees": _schur,
    "gehrd": _hessenberg,
    "geqp3": _qr_with_column_pivoting,
    "geqrf": _qr,
    "gesdd": _singular_values("gesdd"),
    "gesvd": _singular_values("gesvd"),
    "getrf": _lu,
    "gtsv": _tridiagonal_solve,
    "heevd": _symmetric_eigenvalues,
    "hetrd": _tridiagonal_form,
    "orgqr": _orthogonal_matrix,
    "ormqr": _orthogonal_product,
    "potrf": _triangular_factor,
    "syevd": _symmetric_eigenvalues,
    "sytrd": _tridiagonal_form,
    "trsm": _triangular_solve,
    "ungqr": _orthogonal_matrix,
    "unmqr": _orthogonal_product,
}
"""By the name in the target, without the letter of the element type."""

VECTOR_FIRST = {"gtsv"}
"""The routines whose first operand is a vector for each problem, not a matrix."""

LAPACK_TARGETS: Mapping[str, tuple[str, str]] = {
    f"lapack_{letter}{routine}_ffi": (letter, routine) for routine in ROUTINES for letter in "sdcz"
}
"""By target: the letter of the element type, and the routine."""


@dataclass(frozen=True)
class ExpandedCall:
    """A call that XLA expands itself: a routine for whatever element type its operand has."""

    routine: str
    configuration: Callable[[CustomCallOp], Mapping[str, int]]
    """The attributes of the routine."""


def _no_configuration(op: CustomCallOp) -> Mapping[str, int]:
    return {}


def _eigen_configuration(op: CustomCallOp) -> Mapping[str, int]:
    """From `lower,sort,iterations,tolerance`; what is not to be sorted may be."""
    found = op.attributes.get("xla.backend_config")
    text = found.data.strip('"') if isinstance(found, StringAttr) else ""
    if _EIGEN_CONFIGURATION.fullmatch(text) is None:
        raise XlaError(f"'Eigh' has the configuration '{text}', not as '1,1,100,1e-6'")
    return {"mode": ord("V"), "uplo": ord("L" if text.startswith("1") else "U")}


_EIGEN_CONFIGURATION = re.compile(r"[01],[01],\d+,[-+.\de]+")

EXPANDED_CALLS: Mapping[str, ExpandedCall] = {
    "Eigh": ExpandedCall("syevd", _eigen_configuration),
    "ProductOfElementaryHouseholderReflectors": ExpandedCall("orgqr", _no_configuration),
    "Qr": ExpandedCall("geqrf", _no_configuration),
}
"""By target."""

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


def _on_batches(
    routine: str, letter: str | None, configuration: Callable[[CustomCallOp], Mapping[str, int]]
) -> CustomCallFunction:
    """
    What a custom call of a routine computes: from the operation and its operands to one array, or
    to a tuple of one per result. Where the first has no elements the others are zeros. Without a
    letter, operands have any of the element types.
    """

    def run(op: CustomCallOp, *operands: Array) -> Array | tuple[Array, ...]:
        types = cast("tuple[ArrayType, ...]", flatten(op.result_types))
        results = tuple(np.zeros(sizes_of(t), numpy_dtype(t.element_type)) for t in types)
        if results[0].size:
            solve(op, operands, results)
        return results[0] if is_array(op.result_types[0]) and len(results) == 1 else results

    def solve(op: CustomCallOp, operands: Sequence[Array], results: Sequence[Array]) -> None:
        own = _LETTERS.get(operands[0].dtype.name) if letter is None else letter
        if own is None:
            target, names = op.custom_call_target.data, ", ".join(_LETTERS)
            raise XlaError(f"'{target}' takes {names}, found {operands[0].dtype.name}")
        batch_rank = operands[0].ndim - (1 if routine in VECTOR_FIRST else 2)
        shapes = tuple(result.shape[batch_rank:] for result in results)
        problem = Problem(own, configuration(op), shapes)
        for index in np.ndindex(*operands[0].shape[:batch_rank]):
            solved = ROUTINES[routine](problem, [operand[index] for operand in operands])
            # Of a call that XLA expands nothing says whether it has succeeded.
            for result, value in zip(results, solved, strict=letter is not None):
                result[index] = value

    return run


_SETTING = re.compile(r"(\w+) = (true|false|-?\d+)")
_WORDS = {"true": 1, "false": 0}
_Number: TypeAlias = "IntegerAttr[Any]"


def configuration_of(op: CustomCallOp) -> dict[str, int]:
    """
    The attributes of a call, characters as their numbers: a dictionary in StableHLO, the text of
    one in HLO text.
    """
    found = op.attributes.get("mhlo.backend_config", op.attributes.get("xla.backend_config"))
    if isinstance(found, StringAttr):
        return {
            name: _WORDS[value] if value in _WORDS else int(value)
            for name, value in _SETTING.findall(found.data)
        }
    if not isinstance(found, DictionaryAttr):
        return {}
    numbers = {k: cast(_Number, v) for k, v in found.data.items() if isinstance(v, IntegerAttr)}
    # xDSL may hold `true : i1` as -1; none of these attributes is negative.
    return {name: abs(value.value.data) for name, value in numbers.items()}


LAPACK: Mapping[str, CustomCallFunction] = {
    **{
        target: _on_batches(routine, letter, configuration_of)
        for target, (letter, routine) in LAPACK_TARGETS.items()
    },
    **{
        target: _on_batches(call.routine, None, call.configuration)
        for target, call in EXPANDED_CALLS.items()
    },
}
"""By target."""
