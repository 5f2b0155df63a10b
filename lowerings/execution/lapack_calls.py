"""
Calls of LAPACK straight from machine code, through the addresses that scipy exports to Cython.

Where a routine has no row here, or scipy is missing, the call goes through Python as on the
reference, and says there what is wrong. Both give a routine the same operands in the same order, so
results are the same bits.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import TypeAlias, cast

import numpy as np

from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.machine import host
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.lapack import configuration_of, lapack_routine
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count, is_array, sizes_of

_ADDRESS = "lapack_routine"
"""The variable of the code that is set to the address of the routine."""


@dataclass(frozen=True)
class _Constant:
    """What a routine reads from memory, as LLVM writes it."""

    type: str
    value: str

    @staticmethod
    def character(value: str) -> _Constant:
        return _Constant("i8", f"{ord(value)}")

    @staticmethod
    def number(value: int) -> _Constant:
        return _Constant("i32", f"{value}")


_IN_C = {"i8": "char *", "i32": "int *"}
"""How the signature of a routine names the address of a constant that is no matrix element."""

_ELEMENTS = {
    "s": ("float32", _Constant("float", "1.0")),
    "d": ("float64", _Constant("double", "1.0")),
    "c": ("complex64", _Constant("{ float, float }", "{ float 1.0, float 0.0 }")),
    "z": ("complex128", _Constant("{ double, double }", "{ double 1.0, double 0.0 }")),
}
"""By the letter of a routine: the dtype of its matrices, and one."""


@dataclass(frozen=True)
class _Scratch:
    """Memory that a routine needs for one problem."""

    number: int
    size: int
    """In bytes."""


_Argument: TypeAlias = _Constant | _Scratch | int
"""
A constant, memory, or the number of an operand or result, of which a routine gets one problem.
"""


@dataclass(frozen=True)
class _Transpose:
    """A matrix of one problem with its rows as columns, which is how Fortran has it."""

    source: _Scratch | int
    target: _Scratch | int
    rows: int
    columns: int
    """Of the source."""
    type: str
    """Of the elements, as LLVM writes it."""


@dataclass(frozen=True)
class _Call:
    """A routine of Fortran with what it is given, all by address."""

    library: str
    """The module of scipy that exports it."""
    arguments: tuple[_Argument, ...]
    updated: tuple[int, int] | None = None
    """The operand whose elements a result has before, and the number of that result."""
    before: tuple[_Transpose, ...] = ()
    after: tuple[_Transpose, ...] = ()
    routine: str = ""
    """Its name without the letter, if that is not the name of the custom call."""
    zeroed: tuple[int, ...] = ()
    """The results that a routine leaves alone: zeros."""


@dataclass(frozen=True)
class _Request:
    """A custom call with arrays of known sizes: operands and results, in this order."""

    letter: str
    configuration: Mapping[str, int]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]

    def character(self, name: str, among: str) -> str:
        """An attribute that is one of some characters; raises _Unusual for others."""
        found = chr(self.configuration.get(name, 0))
        if found not in among:
            raise _Unusual
        return found

    def require_types(self, *shapes: tuple[int, ...], dtypes: Sequence[str]) -> None:
        """Raises _Unusual for arrays of others, and such as LAPACK cannot count the sizes of."""
        if self.shapes != shapes or self.dtypes != tuple(dtypes):
            raise _Unusual
        if any(size >= 1 << 31 for shape in shapes for size in shape):
            raise _Unusual


_MAX_SCRATCH = 1 << 28
"""Bytes that are had without asking; with more than that, Python says where memory is short."""


class _Unusual(Exception):
    """A call that is left to Python."""


_OTHER = {"L": "U", "U": "L"}


def _triangular_factor(call: _Request) -> _Call:
    """The transpose, which is what lies in memory by columns, has its factor on the other side."""
    *batch, _, size = call.shapes[0]
    matrix, dtype = (*batch, size, size), _ELEMENTS[call.letter][0]
    call.require_types(matrix, matrix, tuple(batch), dtypes=(dtype, dtype, "int32"))
    triangle = _Constant.character(_OTHER[call.character("uplo", "LU")])
    length = _Constant.number(size)
    return _Call("cython_lapack", (triangle, length, 1, length, 2), (0, 1))


def _triangular_solve(call: _Request) -> _Call:
    """With the transposes of all matrices: from the other side, with the other triangle."""
    *batch, rows, columns = call.shapes[1]
    side, triangle = call.character("side", "LR"), call.character("uplo", "LU")
    size = rows if side == "L" else columns
    dtype, one = _ELEMENTS[call.letter]
    solution = (*batch, rows, columns)
    call.require_types((*batch, size, size), solution, solution, dtypes=(dtype,) * 3)
    number = _Constant.number
    arguments = (
        _Constant.character("R" if side == "L" else "L"),
        _Constant.character(_OTHER[triangle]),
        _Constant.character(call.character("trans_x", "NTC")),
        _Constant.character(call.character("diag", "NU")),
        *(number(columns), number(rows), one),
        *(0, number(size), 2, number(columns)),
    )
    return _Call("cython_blas", arguments, (1, 2))


@dataclass
class _Fortran:
    """The memory and the types that a routine on matrices by columns needs, as they are named."""

    request: _Request
    scratch: list[_Scratch] = field(default_factory=list[_Scratch])

    @property
    def element(self) -> tuple[str, str, int]:
        """The dtype of matrices, their type for LLVM, and their size in bytes."""
        dtype, one = _ELEMENTS[self.request.letter]
        return dtype, one.type, np.dtype(dtype).itemsize

    @property
    def real(self) -> str:
        """The dtype of what is real of a complex matrix too."""
        return _ELEMENTS[_REAL[self.request.letter]][0]

    @property
    def is_complex(self) -> bool:
        return self.request.letter in "cz"

    def memory(self, count: int, dtype: str) -> _Scratch:
        """Memory for so many elements."""
        self.scratch.append(_Scratch(len(self.scratch), max(count, 1) * np.dtype(dtype).itemsize))
        return self.scratch[-1]

    def by_columns(self, rows: int, columns: int) -> _Scratch:
        """Memory for a matrix."""
        return self.memory(rows * columns, self.element[0])

    def transpose(
        self, source: _Scratch | int, target: _Scratch | int, m: int, n: int
    ) -> _Transpose:
        """From rows of a matrix of `m` times `n` to columns; with `n` and `m`, the other way."""
        return _Transpose(source, target, m, n, self.element[1])


_REAL = {"s": "s", "d": "d", "c": "s", "z": "d"}


def _lu(call: _Request) -> _Call:
    """Both factors, the pivots from 1, and info."""
    *batch, m, n = call.shapes[0]
    k, fortran = min(m, n), _Fortran(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(
        *(matrix, matrix, (*batch, k), tuple(batch)), dtypes=(dtype, dtype, "int32", "int32")
    )
    number, a = _Constant.number, fortran.by_columns(m, n)
    return _Call(
        "cython_lapack",
        (number(m), number(n), a, number(m), 2, 3),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 1, n, m),),
    )


def _qr(call: _Request) -> _Call:
    """R over the Householder vectors, and their factors."""
    *batch, m, n = call.shapes[0]
    k, fortran = min(m, n), _Fortran(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(matrix, matrix, (*batch, k), dtypes=(dtype,) * 3)
    number, a = _Constant.number, fortran.by_columns(m, n)
    work, info = fortran.memory(3 * n, dtype), fortran.memory(1, "int32")
    return _Call(
        "cython_lapack",
        (number(m), number(n), a, number(m), 2, work, number(max(3 * n, 1)), info),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 1, n, m),),
    )


def _orthogonal_matrix(call: _Request) -> _Call:
    """Q out of Householder vectors and their factors."""
    *batch, m, n = call.shapes[0]
    k, fortran = call.shapes[1][-1], _Fortran(call)
    matrix, dtype = (*batch, m, n), fortran.element[0]
    call.require_types(matrix, (*batch, k), matrix, dtypes=(dtype,) * 3)
    if not m >= n >= k:
        raise _Unusual
    number, a = _Constant.number, fortran.by_columns(m, n)
    work, info = fortran.memory(3 * n, dtype), fortran.memory(1, "int32")
    sizes = (number(m), number(n), number(k))
    return _Call(
        "cython_lapack",
        (*sizes, a, number(m), 1, work, number(max(3 * n, 1)), info),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(a, 2, n, m),),
        routine="ungqr" if fortran.is_complex else "orgqr",
    )


def _symmetric_eigenvalues(call: _Request) -> _Call:
    """Eigenvectors in columns (if the mode is `V`), ascending eigenvalues, and info."""
    *batch, _, n = call.shapes[0]
    fortran, wanted = _Fortran(call), call.character("mode", "NV") == "V"
    matrix, dtype = (*batch, n, n), fortran.element[0]
    call.require_types(
        *(matrix, matrix, (*batch, n), tuple(batch)),
        dtypes=(dtype, dtype, fortran.real, "int32"),
    )
    number, a = _Constant.number, fortran.by_columns(n, n)
    integers = 3 + 5 * n if wanted else 1
    if fortran.is_complex:
        length, reals = (2 * n + n * n, 1 + 5 * n + 2 * n * n) if wanted else (n + 1, n)
        real_work = (fortran.memory(reals, fortran.real), number(max(reals, 1)))
    else:
        length, real_work = (1 + 6 * n + 2 * n * n if wanted else 2 * n + 1), ()
    work, integer_work = fortran.memory(length, dtype), fortran.memory(integers, "int32")
    return _Call(
        "cython_lapack",
        (
            _Constant.character("V" if wanted else "N"),
            _Constant.character(call.character("uplo", "LU")),
            *(number(n), a, number(max(n, 1)), 2, work, number(length), *real_work),
            *(integer_work, number(integers), 3),
        ),
        updated=None if wanted else (0, 1),
        before=(fortran.transpose(0, a, n, n),),
        after=(fortran.transpose(a, 1, n, n),) if wanted else (),
        routine="heevd" if fortran.is_complex else "syevd",
    )


def _singular_values(call: _Request) -> _Call:
    """The used-up matrix, singular values, U, the adjoint of V, and info."""
    *batch, m, n = call.shapes[0]
    k, fortran, mode = min(m, n), _Fortran(call), call.character("mode", "ANS")
    matrix, (dtype, _, _) = (*batch, m, n), fortran.element
    rows, columns = (m, n) if mode == "A" else (k, k)
    u_shape, v_shape = call.shapes[3], call.shapes[4]
    expected = ((*batch, m, rows), (*batch, columns, n))
    if mode == "N":
        expected = u_shape, v_shape
    call.require_types(
        *(matrix, matrix, (*batch, k), *expected, tuple(batch)),
        dtypes=(dtype, dtype, fortran.real, dtype, dtype, "int32"),
    )
    number, a = _Constant.number, fortran.by_columns(m, n)
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
    return _Call(
        "cython_lapack",
        (
            _Constant.character(mode),
            *(number(m), number(n), a, number(m), 2, u, number(m), v, number(max(columns, 1))),
            *(work, number(max(length, 1)), *real_work, integer_work, 5),
        ),
        updated=(0, 1),
        before=(fortran.transpose(0, a, m, n),),
        after=(fortran.transpose(u, 3, rows, m), fortran.transpose(v, 4, n, columns))
        if vectors
        else (),
        zeroed=() if vectors else (3, 4),
    )


_ROUTINES: Mapping[str, tuple[int, Callable[[_Request], _Call]]] = {
    "potrf": (1, _triangular_factor),
    "trsm": (2, _triangular_solve),
    "getrf": (1, _lu),
    "geqrf": (1, _qr),
    "orgqr": (2, _orthogonal_matrix),
    "ungqr": (2, _orthogonal_matrix),
    "syevd": (1, _symmetric_eigenvalues),
    "heevd": (1, _symmetric_eigenvalues),
    "gesdd": (1, _singular_values),
}
"""By name: how many operands it has, and how it is called."""


def native_lapack_call(op: CustomCallOp, name: str) -> LoadedCode | None:
    """
    Code whose entry `int name(...)`, given pointers to operands and results, does what a custom
    call does; None for one that is not of LAPACK, or has to go through Python.
    """
    found = lapack_routine(op.custom_call_target.data)
    if found is None or found[1] not in _ROUTINES:
        return None
    letter, routine = found
    operands, plan = _ROUTINES[routine]
    types = (*op.operand_types, *op.result_types)
    if len(op.operand_types) != operands or not all(map(is_array, types)):
        return None
    arrays = cast("tuple[ArrayType, ...]", types)
    shapes = tuple(sizes_of(each) for each in arrays)
    dtypes = tuple(numpy_dtype(each.element_type).name for each in arrays)
    if len(shapes[0]) < 2 or any(not shape for shape in shapes[1:operands]):
        return None
    try:
        call = plan(_Request(letter, configuration_of(op), shapes, dtypes))
    except _Unusual:
        return None
    if sum(each.size for each in _scratch(call)) > _MAX_SCRATCH:
        return None
    address = _exported(call, letter + (call.routine or routine))
    if address is None:
        return None
    sizes = tuple(
        element_count(shape) * numpy_dtype(each.element_type).itemsize
        for shape, each in zip(shapes, arrays, strict=True)
    )
    return _linked(_module(call, name, sizes, operands, prod(shapes[0][:-2])), name, address)


def _exported(call: _Call, routine: str) -> int | None:
    """The address of a routine that takes such arguments; None without a scipy that has it."""
    try:
        exports = import_module(f"scipy.linalg.{call.library}").__pyx_capi__
    except (ImportError, AttributeError):
        return None
    capsule = exports.get(routine)
    if capsule is None:
        return None
    signature = _capsule_name(capsule)
    match = _SIGNATURE.fullmatch(signature.decode())
    types = match.group(1).split(", ") if match else []
    if len(types) != len(call.arguments):
        return None
    for type_, argument in zip(types, call.arguments, strict=True):
        if isinstance(argument, _Constant) and type_ != _IN_C.get(argument.type, type_):
            # Integers of 64 bits, perhaps.
            return None
    return _capsule_pointer(capsule, signature)


_SIGNATURE = re.compile(r"void \((.*)\)")

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@lru_cache(maxsize=64)
def _linked(text: str, name: str, address: int) -> LoadedCode:
    return LoadedCode(host().object_code(text), name, pointers={_ADDRESS: address})


def _module(call: _Call, name: str, sizes: Sequence[int], operands: int, batch: int) -> str:
    """
    LLVM IR that carries out a call for each problem of a batch; `sizes` are the bytes of all,
    operands first.

    Where an operand has no elements the results are zeros, as on the reference.
    """
    constants = {each: f"@constant{n}" for n, each in enumerate(dict.fromkeys(call.arguments))}
    lines = [f"@{_ADDRESS} = global ptr null, align 8"]
    lines += [
        f"{symbol} = private global {each.type} {each.value}, align 16"
        for each, symbol in constants.items()
        if isinstance(each, _Constant)
    ]
    lines += [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        f'define i32 @"{name}"({", ".join(f"ptr %array{n}" for n in range(len(sizes)))}) {{',
        "entry:",
    ]
    if not all(sizes[:operands]):
        lines += [
            f"  call void @llvm.memset.p0.i64(ptr %array{number}, i8 0, i64 {size}, i1 false)"
            for number, size in enumerate(sizes[operands:], operands)
        ]
        return "\n".join([*lines, "  ret i32 0", "}"])
    lines += _prepared(call, sizes)
    lines += [
        f"  %routine = load ptr, ptr @{_ADDRESS}",
        "  br label %problem",
        "problem:",
        "  %number = phi i64 [ 0, %entry ], [ %next, %problem ]",
    ]
    lines += [
        line
        for number, size in enumerate(sizes)
        for line in (
            f"  %offset{number} = mul i64 %number, {size // batch}",
            f"  %place{number} = getelementptr i8, ptr %array{number}, i64 %offset{number}",
        )
    ]
    given = ", ".join(
        f"ptr {constants[each] if isinstance(each, _Constant) else _place(each)}"
        for each in call.arguments
    )
    lines += [*map(_transposition, call.before), f"  call void %routine({given})"]
    lines += [*map(_transposition, call.after)]
    lines += [
        "  %next = add i64 %number, 1",
        f"  %more = icmp slt i64 %next, {batch}",
        "  br i1 %more, label %problem, label %done",
        "done:",
        *(f"  call void @free(ptr %memory{each.number})" for each in _scratch(call)),
        *("  ret i32 0", "}"),
    ]
    kinds = {each.type for each in (*call.before, *call.after)}
    return "\n".join([*lines, *map(_transpose_function, sorted(kinds))])


def _scratch(call: _Call) -> list[_Scratch]:
    return [each for each in call.arguments if isinstance(each, _Scratch)]


def _prepared(call: _Call, sizes: Sequence[int]) -> list[str]:
    """What is done once for all problems: memory is had, and results are what they stay."""
    lines: list[str] = []
    if call.updated is not None:
        operand, result = call.updated
        copied = f"ptr %array{result}, ptr %array{operand}, i64 {sizes[operand]}, i1 false"
        lines.append(f"  call void @llvm.memcpy.p0.p0.i64({copied})")
    for result in call.zeroed:
        zeroed = f"ptr %array{result}, i8 0, i64 {sizes[result]}, i1 false"
        lines.append(f"  call void @llvm.memset.p0.i64({zeroed})")
    for each in _scratch(call):
        lines.append(f"  %memory{each.number} = call ptr @malloc(i64 {each.size})")
    return lines


def _place(where: _Scratch | int) -> str:
    return f"%memory{where.number}" if isinstance(where, _Scratch) else f"%place{where}"


def _transposition(transpose: _Transpose) -> str:
    arrays = f"ptr {_place(transpose.target)}, ptr {_place(transpose.source)}"
    sizes = f"i64 {transpose.rows}, i64 {transpose.columns}"
    return f"  call void {_transpose_name(transpose.type)}({arrays}, {sizes})"


def _transpose_name(type_: str) -> str:
    return f'@"transpose of {type_}"'


def _transpose_function(type_: str) -> str:
    """`target[c, r] = source[r, c]`, both dense, for sizes that are not 0."""
    return f"""
define private void {_transpose_name(type_)}(ptr %target, ptr %source, i64 %rows, i64 %columns) {{
entry:
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %next_row, %end ]
  %start = mul i64 %r, %columns
  br label %column
column:
  %c = phi i64 [ 0, %row ], [ %next_column, %column ]
  %from_index = add i64 %start, %c
  %from = getelementptr {type_}, ptr %source, i64 %from_index
  %value = load {type_}, ptr %from
  %below = mul i64 %c, %rows
  %to_index = add i64 %below, %r
  %to = getelementptr {type_}, ptr %target, i64 %to_index
  store {type_} %value, ptr %to
  %next_column = add i64 %c, 1
  %has_column = icmp slt i64 %next_column, %columns
  br i1 %has_column, label %column, label %end
end:
  %next_row = add i64 %r, 1
  %has_row = icmp slt i64 %next_row, %rows
  br i1 %has_row, label %row, label %done
done:
  ret void
}}"""
