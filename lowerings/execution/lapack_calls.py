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
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import TypeAlias, cast

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


_Argument: TypeAlias = _Constant | int
"""A constant, or the number of an operand or result, of which a routine gets one problem."""


@dataclass(frozen=True)
class _Square:
    """A square matrix."""

    type: str
    """Of an element, as LLVM writes it."""
    size: int


@dataclass(frozen=True)
class _Call:
    """A routine of Fortran with what it is given, all by address."""

    library: str
    """The module of scipy that exports it."""
    arguments: tuple[_Argument, ...]
    updated: tuple[int, int]
    """The operand whose elements a result has before, and the number of that result."""
    by_columns: _Square | None = None
    """What this result has in each problem, if the routine wants it by columns."""


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


def _factors(call: _Request) -> _Call:
    """Of a square matrix; in the place of another one LAPACK could not leave its transpose."""
    *batch, _, size = call.shapes[0]
    matrix, (dtype, one) = (*batch, size, size), _ELEMENTS[call.letter]
    shapes = matrix, matrix, (*batch, size), tuple(batch)
    call.require_types(*shapes, dtypes=(dtype, dtype, "int32", "int32"))
    length = _Constant.number(size)
    arguments = (length, length, 1, length, 2, 3)
    return _Call("cython_lapack", arguments, (0, 1), _Square(one.type, size))


_ROUTINES: Mapping[str, tuple[int, Callable[[_Request], _Call]]] = {
    "getrf": (1, _factors),
    "potrf": (1, _triangular_factor),
    "trsm": (2, _triangular_solve),
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
    if any(len(shape) < 2 for shape in shapes[:operands]):
        return None
    try:
        call = plan(_Request(letter, configuration_of(op), shapes, dtypes))
    except _Unusual:
        return None
    address = _exported(call, letter + routine)
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
    if call.by_columns is not None:
        lines += _transposition(call.by_columns)
    lines += [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        f'define i32 @"{name}"({", ".join(f"ptr %array{n}" for n in range(len(sizes)))}) {{',
        "entry:",
    ]
    if not all(sizes[:operands]):
        lines += [
            f"  call void @llvm.memset.p0.i64(ptr %array{number}, i8 0, i64 {size}, i1 false)"
            for number, size in enumerate(sizes[operands:], operands)
        ]
        return "\n".join([*lines, "  ret i32 0", "}"])
    operand, result = call.updated
    copied = f"ptr %array{result}, ptr %array{operand}, i64 {sizes[operand]}, i1 false"
    lines += [
        f"  call void @llvm.memcpy.p0.p0.i64({copied})",
        f"  %routine = load ptr, ptr @{_ADDRESS}",
        "  br label %problem",
        "problem:",
        "  %number = phi i64 [ 0, %entry ], [ %next, %problem ]",
    ]
    given: list[str] = []
    for argument in call.arguments:
        if isinstance(argument, _Constant):
            given.append(f"ptr {constants[argument]}")
            continue
        lines += [
            f"  %offset{argument} = mul i64 %number, {sizes[argument] // batch}",
            f"  %place{argument} = getelementptr i8, ptr %array{argument}, i64 %offset{argument}",
        ]
        given.append(f"ptr %place{argument}")
    turned: list[str] = []
    if call.by_columns is not None:
        turned = [f"  call void @transpose(ptr %place{result})"]
    lines += [
        *turned,
        f"  call void %routine({', '.join(given)})",
        *turned,
        "  %next = add i64 %number, 1",
        f"  %more = icmp slt i64 %next, {batch}",
        "  br i1 %more, label %problem, label %done",
        *("done:", "  ret i32 0", "}"),
    ]
    return "\n".join(lines)


def _transposition(matrix: _Square) -> list[str]:
    """LLVM IR of a function that transposes a matrix in place."""
    size, type_ = matrix.size, matrix.type
    return [
        "define private void @transpose(ptr %matrix) {",
        "entry:",
        "  br label %row",
        "row:",
        "  %i = phi i64 [ 0, %entry ], [ %next_i, %row_end ]",
        f"  %row_start = mul i64 %i, {size}",
        "  %some = icmp ne i64 %i, 0",
        "  br i1 %some, label %column, label %row_end",
        "column:",
        "  %j = phi i64 [ 0, %row ], [ %next_j, %column ]",
        f"  %column_start = mul i64 %j, {size}",
        "  %below = add i64 %row_start, %j",
        "  %above = add i64 %column_start, %i",
        f"  %p = getelementptr {type_}, ptr %matrix, i64 %below",
        f"  %q = getelementptr {type_}, ptr %matrix, i64 %above",
        f"  %x = load {type_}, ptr %p",
        f"  %y = load {type_}, ptr %q",
        f"  store {type_} %y, ptr %p",
        f"  store {type_} %x, ptr %q",
        "  %next_j = add i64 %j, 1",
        "  %more_j = icmp ult i64 %next_j, %i",
        "  br i1 %more_j, label %column, label %row_end",
        "row_end:",
        "  %next_i = add i64 %i, 1",
        f"  %more_i = icmp ult i64 %next_i, {size}",
        "  br i1 %more_i, label %row, label %end",
        *("end:", "  ret void", "}"),
    ]
