"""How each routine of LAPACK is called that has a custom call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lowerings.execution.lapack_arguments import (
    ELEMENTS,
    ArrayFrom,
    EigenvectorPairs,
    FortranMemory,
    LapackRequest,
    Rearrangement,
    RoutineCall,
    RoutineConstant,
    UnusualCall,
)
from lowerings.execution.lapack_functions import work_length

_OTHER = {"L": "U", "U": "L"}


def _triangular_factor(call: LapackRequest) -> RoutineCall:
    """The transpose, which is what lies in memory by columns, has its factor on the other side."""
    *batch, _, size = call.shapes[0]
    matrix, dtype = (*batch, size, size), ELEMENTS[call.letter][0]
    call.require_types(matrix, matrix, tuple(batch), dtypes=(dtype, dtype, "int32"))
    triangle = RoutineConstant.character(_OTHER[call.character("uplo", "LU")])
    length = RoutineConstant.number(size)
    return RoutineCall("cython_lapack", (triangle, length, 1, length, 2), ((0, 1),))


def _triangular_solve(call: LapackRequest) -> RoutineCall:
    """With the transposes of all matrices: from the other side, with the other triangle."""
    *batch, rows, columns = call.shapes[1]
    side, triangle = call.character("side", "LR"), call.character("uplo", "LU")
    size = rows if side == "L" else columns
    dtype, one = ELEMENTS[call.letter]
    solution = (*batch, rows, columns)
    call.require_types((*batch, size, size), solution, solution, dtypes=(dtype,) * 3)
    number = RoutineConstant.number
    arguments = (
        RoutineConstant.character("R" if side == "L" else "L"),
        RoutineConstant.character(_OTHER[triangle]),
        RoutineConstant.character(call.character("trans_x", "NTC")),
        RoutineConstant.character(call.character("diag", "NU")),
        *(number(columns), number(rows), one),
        *(0, number(size), 2, number(columns)),
    )
    return RoutineCall("cython_blas", arguments, ((1, 2),))


def _lu(call: LapackRequest) -> RoutineCall:
    """Both factors, the pivots from 1, and info."""
    *batch, m, n = call.shapes[0]
    k, fortran = min(m, n), FortranMemory(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(
        *(matrix, matrix, (*batch, k), tuple(batch)), dtypes=(dtype, dtype, "int32", "int32")
    )
    number, a = RoutineConstant.number, fortran.by_columns(m, n)
    return RoutineCall(
        "cython_lapack",
        (number(m), number(n), a, number(m), 2, 3),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 1, n, m),),
    )


def _qr(call: LapackRequest) -> RoutineCall:
    """R over the Householder vectors, and their factors."""
    *batch, m, n = call.shapes[0]
    k, fortran = min(m, n), FortranMemory(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(matrix, matrix, (*batch, k), dtypes=(dtype,) * 3)
    number, a = RoutineConstant.number, fortran.by_columns(m, n)
    length = work_length(n)
    work, info = fortran.memory(length, dtype), fortran.memory(1, "int32")
    return RoutineCall(
        "cython_lapack",
        (number(m), number(n), a, number(m), 2, work, number(length), info),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 1, n, m),),
    )


def _orthogonal_matrix(call: LapackRequest) -> RoutineCall:
    """Q out of Householder vectors and their factors."""
    *batch, m, n = call.shapes[0]
    k, fortran = call.shapes[1][-1], FortranMemory(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(matrix, (*batch, k), matrix, dtypes=(dtype,) * 3)
    if not m >= n >= k:
        raise UnusualCall
    number, a = RoutineConstant.number, fortran.by_columns(m, n)
    length = work_length(n)
    work, info = fortran.memory(length, dtype), fortran.memory(1, "int32")
    sizes = (number(m), number(n), number(k))
    return RoutineCall(
        "cython_lapack",
        (*sizes, a, number(m), 1, work, number(length), info),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 2, n, m),),
        routine="ungqr" if fortran.is_complex else "orgqr",
    )


def _symmetric_eigenvalues(call: LapackRequest) -> RoutineCall:
    """Eigenvectors in columns (if the mode is `V`), ascending eigenvalues, and info."""
    *batch, _, n = call.shapes[0]
    fortran, wanted = FortranMemory(call), call.character("mode", "NV") == "V"
    matrix, dtype = (*batch, n, n), fortran.element[0]
    call.require_types(
        *(matrix, matrix, (*batch, n), tuple(batch)),
        dtypes=(dtype, dtype, fortran.real, "int32"),
    )
    number, a = RoutineConstant.number, fortran.by_columns(n, n)
    integers = 3 + 5 * n if wanted else 1
    if fortran.is_complex:
        length, reals = (2 * n + n * n, 1 + 5 * n + 2 * n * n) if wanted else (n + 1, n)
        real_work = (fortran.memory(reals, fortran.real), number(max(reals, 1)))
    else:
        length, real_work = (1 + 6 * n + 2 * n * n if wanted else 2 * n + 1), ()
    if not wanted:
        length = work_length(n)
    work, integer_work = fortran.memory(length, dtype), fortran.memory(integers, "int32")
    return RoutineCall(
        "cython_lapack",
        (
            RoutineConstant.character("V" if wanted else "N"),
            RoutineConstant.character(call.character("uplo", "LU")),
            *(number(n), a, number(max(n, 1)), 2, work, number(length), *real_work),
            *(integer_work, number(integers), 3),
        ),
        updated=() if wanted else ((0, 1),),
        before=(fortran.transpose(0, a, n, n),),
        after=(fortran.transpose(a, 1, n, n),) if wanted else (),
        routine="heevd" if fortran.is_complex else "syevd",
    )


def _singular_values(call: LapackRequest) -> RoutineCall:
    """The used-up matrix, singular values, U, the adjoint of V, and info."""
    *batch, m, n = call.shapes[0]
    k, fortran, mode = min(m, n), FortranMemory(call), call.character("mode", "ANS")
    matrix, (dtype, _) = (*batch, m, n), fortran.element
    rows, columns = (m, n) if mode == "A" else (k, k)
    u_shape, v_shape = call.shapes[3], call.shapes[4]
    expected = ((*batch, m, rows), (*batch, columns, n))
    if mode == "N":
        expected = u_shape, v_shape
    call.require_types(
        *(matrix, matrix, (*batch, k), *expected, tuple(batch)),
        dtypes=(dtype, dtype, fortran.real, dtype, dtype, "int32"),
    )
    number, a = RoutineConstant.number, fortran.by_columns(m, n)
    u, v = fortran.by_columns(m, rows), fortran.by_columns(columns, n)
    large, small, vectors = max(m, n), k, mode != "N"
    if fortran.is_complex:
        length = 2 * small * small * vectors + large + 2 * small
        reals = max(5 * small * small + 7 * small, 2 * small * (large + small) + small)
        real_work = (fortran.memory(reals, fortran.real),)
    else:
        real_work = ()
        length = 4 * small * small + large + 9 * small
        if not vectors:
            length = max(14 * small + 4, 10 * small + 2 + 25 * (25 + 8)) + large
    work, integer_work = fortran.memory(length, dtype), fortran.memory(8 * small, "int32")
    return RoutineCall(
        "cython_lapack",
        (
            RoutineConstant.character(mode),
            *(number(m), number(n), a, number(m), 2, u, number(m), v, number(max(columns, 1))),
            *(work, number(max(length, 1)), *real_work, integer_work, 5),
        ),
        updated=((0, 1),),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(u, 3, rows, m), fortran.transpose(v, 4, n, columns))
        if vectors
        else (),
        zeroed=() if vectors else (3, 4),
    )


def _singular_values_by_qr(call: LapackRequest) -> RoutineCall:
    """As `_singular_values`, in another way."""
    *batch, m, n = call.shapes[0]
    k, fortran, mode = min(m, n), FortranMemory(call), call.character("mode", "ANS")
    matrix, (dtype, _) = (*batch, m, n), fortran.element
    rows, columns = (m, n) if mode == "A" else (k, k)
    expected = ((*batch, m, rows), (*batch, columns, n))
    if mode == "N":
        expected = call.shapes[3], call.shapes[4]
    call.require_types(
        *(matrix, matrix, (*batch, k), *expected, tuple(batch)),
        dtypes=(dtype, dtype, fortran.real, dtype, dtype, "int32"),
    )
    number, a = RoutineConstant.number, fortran.by_columns(m, n)
    u, v = fortran.by_columns(m, rows), fortran.by_columns(columns, n)
    length = work_length(m + n)
    work = fortran.memory(length, dtype)
    real_work = (fortran.memory(5 * k, fortran.real),) if fortran.is_complex else ()
    after = (fortran.transpose(u, 3, rows, m), fortran.transpose(v, 4, n, columns))
    return RoutineCall(
        "cython_lapack",
        (
            *(RoutineConstant.character(mode), RoutineConstant.character(mode)),
            *(number(m), number(n), a, number(m), 2, u, number(m), v, number(max(columns, 1))),
            *(work, number(max(length, 1)), *real_work, 5),
        ),
        updated=((0, 1),),
        before=(fortran.transpose(0, a, m, n),),
        after=after if mode != "N" else (),
        zeroed=() if mode != "N" else (3, 4),
    )


def _qr_with_column_pivoting(call: LapackRequest) -> RoutineCall:
    """R over the Householder vectors, the order of the columns from 1, and the factors."""
    *batch, m, n = call.shapes[0]
    fortran, order = FortranMemory(call), (*batch, n)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(
        *(matrix, order, matrix, order, (*batch, min(m, n))),
        dtypes=(dtype, "int32", dtype, "int32", dtype),
    )
    number, a, length = RoutineConstant.number, fortran.by_columns(m, n), work_length(n)
    work, info = fortran.memory(length, dtype), fortran.memory(1, "int32")
    real_work = (fortran.memory(2 * n, fortran.real),) if fortran.is_complex else ()
    return RoutineCall(
        "cython_lapack",
        (*(number(m), number(n), a, number(m), 3, 4, work, number(length)), *real_work, info),
        updated=((1, 3),),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 2, n, m),),
    )


def _orthogonal_product(call: LapackRequest) -> RoutineCall:
    """Q, or its adjoint, times a matrix from the left or the right."""
    *batch, m, n = call.shapes[2]
    k, fortran = call.shapes[1][-1], FortranMemory(call)
    is_left, is_adjoint = (call.configuration.get(name) for name in ("left", "transpose"))
    size, (dtype, _) = (m if is_left else n), fortran.element
    columns, matrix = call.shapes[0][-1], (*batch, m, n)
    call.require_types((*batch, size, columns), (*batch, k), matrix, matrix, dtypes=(dtype,) * 4)
    if k > min(size, columns):
        raise UnusualCall
    number, a = RoutineConstant.number, fortran.by_columns(size, columns)
    c, length = fortran.by_columns(m, n), max(1, 64 * max(m, n))
    work, info = fortran.memory(length, dtype), fortran.memory(1, "int32")
    adjoint = "C" if fortran.is_complex else "T"
    return RoutineCall(
        "cython_lapack",
        (
            RoutineConstant.character("L" if is_left else "R"),
            RoutineConstant.character(adjoint if is_adjoint else "N"),
            *(number(m), number(n), number(k), a, number(size), 1, c, number(m)),
            *(work, number(length), info),
        ),
        before=(fortran.transpose(0, a, size, columns), fortran.transpose(2, c, m, n)),
        after=(fortran.transpose(c, 3, n, m),),
    )


def _eigenvalues(call: LapackRequest) -> RoutineCall:
    """Eigenvalues (real and imaginary parts for a real matrix), both eigenvectors, and info."""
    *batch, _, n = call.shapes[0]
    fortran, matrix = FortranMemory(call), (*batch, n, n)
    dtype, item_size = fortran.element
    is_complex, vector = fortran.is_complex, (*batch, n)
    found = 1 if is_complex else 2
    vectors_dtype = dtype if is_complex else f"complex{16 * item_size}"
    call.require_types(
        *(matrix, *(vector,) * found, matrix, matrix, tuple(batch)),
        dtypes=(dtype, *(dtype,) * found, vectors_dtype, vectors_dtype, "int32"),
    )
    wanted = [call.character(f"compute_{side}", "NV") for side in ("left", "right")]
    number, character, a = (
        RoutineConstant.number,
        RoutineConstant.character,
        fortran.memory(n * n, dtype),
    )
    vectors = [fortran.by_columns(n, n) if each == "V" else None for each in wanted]
    after: list[Rearrangement] = []
    for result, each in enumerate(vectors, 1 + found):
        if each is not None and is_complex:
            after.append(fortran.transpose(each, result, n, n))
        elif each is not None:
            after.append(EigenvectorPairs(each, 2, result, n, call.letter))
    length = work_length(n)
    work = fortran.memory(length, dtype)
    real_work = (fortran.memory(2 * n, fortran.real),) if is_complex else ()
    return RoutineCall(
        "cython_lapack",
        (
            *(*map(character, wanted), number(n), a, number(n), *range(1, 1 + found)),
            *(vectors[0], number(n), vectors[1], number(n)),
            *(work, number(length), *real_work, 3 + found),
        ),
        before=(fortran.transpose(0, a, n, n),),
        after=tuple(after),
        zeroed=tuple(n for n, each in enumerate(vectors, 1 + found) if each is None),
    )


def _schur(call: LapackRequest) -> RoutineCall:
    """The Schur form, its vectors, the eigenvalues, how many were selected, and info."""
    *batch, _, n = call.shapes[0]
    fortran, matrix = FortranMemory(call), (*batch, n, n)
    dtype, wanted = fortran.element[0], call.character("mode", "NV") == "V"
    call.character("sort", "N")
    found = 1 if fortran.is_complex else 2
    call.require_types(
        *(matrix, matrix, matrix, *((*batch, n),) * found, tuple(batch), tuple(batch)),
        dtypes=(*(dtype,) * (3 + found), "int32", "int32"),
    )
    number, character = RoutineConstant.number, RoutineConstant.character
    a, length = fortran.by_columns(n, n), work_length(n)
    vectors = fortran.by_columns(n, n) if wanted else None
    work = fortran.memory(length, dtype)
    real_work = (fortran.memory(n, fortran.real),) if fortran.is_complex else ()
    after = [fortran.transpose(a, 1, n, n)]
    if vectors is not None:
        after.append(fortran.transpose(vectors, 2, n, n))
    return RoutineCall(
        "cython_lapack",
        (
            *(character("V" if wanted else "N"), character("N"), None, number(n), a, number(n)),
            *(3 + found, *range(3, 3 + found), vectors, number(n)),
            *(work, number(length), *real_work, None, 4 + found),
        ),
        updated=() if wanted else ((0, 2),),
        before=(fortran.transpose(0, a, n, n),),
        after=tuple(after),
    )


def _hessenberg(call: LapackRequest) -> RoutineCall:
    """The Hessenberg form over the Householder vectors, their factors, and info."""
    *batch, _, n = call.shapes[0]
    fortran, matrix = FortranMemory(call), (*batch, n, n)
    dtype = fortran.element[0]
    call.require_types(
        *(matrix, matrix, (*batch, max(n - 1, 0)), tuple(batch)),
        dtypes=(dtype, dtype, dtype, "int32"),
    )
    low, high = (call.configuration.get(name, 0) for name in ("low", "high"))
    if not 1 <= low <= high <= n:
        raise UnusualCall
    number, a, length = RoutineConstant.number, fortran.by_columns(n, n), work_length(n)
    work = fortran.memory(length, dtype)
    return RoutineCall(
        "cython_lapack",
        (*(number(n), number(low), number(high), a, number(n)), 2, work, number(length), 3),
        before=(fortran.transpose(0, a, n, n),),
        after=(fortran.transpose(a, 1, n, n),),
    )


def _tridiagonal_form(call: LapackRequest) -> RoutineCall:
    """The matrix that was reduced, its diagonals, the factors of the vectors, and info."""
    *batch, _, n = call.shapes[0]
    fortran, matrix = FortranMemory(call), (*batch, n, n)
    dtype, real, beside = fortran.element[0], fortran.real, (*batch, max(n - 1, 0))
    call.require_types(
        *(matrix, matrix, (*batch, n), beside, beside, tuple(batch)),
        dtypes=(dtype, dtype, real, real, dtype, "int32"),
    )
    number, a, length = RoutineConstant.number, fortran.by_columns(n, n), work_length(n)
    work = fortran.memory(length, dtype)
    uplo = RoutineConstant.character(call.character("uplo", "LU"))
    return RoutineCall(
        "cython_lapack",
        (uplo, number(n), a, number(n), 2, 3, 4, work, number(length), 5),
        before=(fortran.transpose(0, a, n, n),),
        after=(fortran.transpose(a, 1, n, n),),
    )


def _tridiagonal_solve(call: LapackRequest) -> RoutineCall:
    """The diagonals that were used up, `x`, and info."""
    *batch, n, columns = call.shapes[3]
    fortran, diagonal, b = FortranMemory(call), (*batch, n), (*batch, n, columns)
    dtype, item_size = fortran.element
    arrays = (diagonal, diagonal, diagonal, b)
    call.require_types(*arrays, *arrays, tuple(batch), dtypes=(*(dtype,) * 8, "int32"))
    # The diagonals become the same without a column as with one.
    number = RoutineConstant.number
    is_vector = columns == 1
    x = 7 if is_vector else fortran.by_columns(n, max(columns, 1))
    return RoutineCall(
        "cython_lapack",
        (number(n), number(max(columns, 1)), ArrayFrom(4, item_size), 5, 6, x, number(n), 8),
        updated=((0, 4), (1, 5), (2, 6), *([(3, 7)] if is_vector else ())),
        before=() if is_vector else (fortran.transpose(3, x, n, columns),),
        after=() if is_vector else (fortran.transpose(x, 7, columns, n),),
    )


CALLS: Mapping[str, tuple[int, Callable[[LapackRequest], RoutineCall]]] = {
    "potrf": (1, _triangular_factor),
    "trsm": (2, _triangular_solve),
    "getrf": (1, _lu),
    "geqrf": (1, _qr),
    "orgqr": (2, _orthogonal_matrix),
    "ungqr": (2, _orthogonal_matrix),
    "syevd": (1, _symmetric_eigenvalues),
    "heevd": (1, _symmetric_eigenvalues),
    "gesdd": (1, _singular_values),
    "gesvd": (1, _singular_values_by_qr),
    "geqp3": (2, _qr_with_column_pivoting),
    "ormqr": (3, _orthogonal_product),
    "unmqr": (3, _orthogonal_product),
    "geev": (1, _eigenvalues),
    "gees": (1, _schur),
    "gehrd": (1, _hessenberg),
    "sytrd": (1, _tridiagonal_form),
    "hetrd": (1, _tridiagonal_form),
    "gtsv": (4, _tridiagonal_solve),
}
"""By name: how many operands it has, and how it is called."""
