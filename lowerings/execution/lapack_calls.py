"""
Calls of LAPACK straight from machine code, through the addresses that scipy exports to Cython.

Where a routine has no row here, or scipy is missing, the call goes through Python as on the
reference, and says there what is wrong. Both give a routine the same operands in the same order, so
results are the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from math import prod
from typing import cast

from lowerings.execution.capsules import capsule_address, capsule_name
from lowerings.execution.code import LoadedCode
from lowerings.execution.lapack_arguments import (
    TYPES_IN_C,
    ArrayFrom,
    EigenvectorPairs,
    LapackRequest,
    Rearrangement,
    RoutineArgument,
    RoutineCall,
    RoutineConstant,
    RoutineMemory,
    UnusualCall,
)
from lowerings.execution.lapack_functions import LAPACK_TARGETS, VECTOR_FIRST, configuration_of
from lowerings.execution.lapack_routines import CALLS
from lowerings.runtime import careful_strsm
from lowerings.targets.llvm.machine import host
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count, is_array, sizes_of

_ADDRESS = "lapack_routine"
"""The variable of the code that is set to the address of the routine."""


_MAX_SCRATCH = 1 << 28
"""Bytes that are had without asking; with more than that, Python says where memory is short."""


def native_lapack_call(op: CustomCallOp, name: str) -> LoadedCode | None:
    """
    Code whose entry `int name(...)`, given pointers to operands and results, does what a custom
    call does; None for one that is not of LAPACK, or has to go through Python.
    """
    found = LAPACK_TARGETS.get(op.custom_call_target.data)
    if found is None or found[1] not in CALLS:
        return None
    letter, routine = found
    operands, plan = CALLS[routine]
    types = (*op.operand_types, *op.result_types)
    if len(op.operand_types) != operands or not all(map(is_array, types)):
        return None
    arrays = cast("tuple[ArrayType, ...]", types)
    shapes = tuple(sizes_of(each) for each in arrays)
    dtypes = tuple(numpy_dtype(each.element_type).name for each in arrays)
    batch_rank = len(shapes[0]) - (1 if routine in VECTOR_FIRST else 2)
    if batch_rank < 0 or any(len(shape) <= batch_rank for shape in shapes[1:operands]):
        return None
    try:
        call = plan(LapackRequest(letter, configuration_of(op), shapes, dtypes))
    except UnusualCall:
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
    return _linked(
        _module(call, name, sizes, operands, prod(shapes[0][:batch_rank])), name, address
    )


def _exported(call: RoutineCall, routine: str) -> int | None:
    """The address of a routine that takes such arguments; None without a scipy that has it."""
    try:
        exports = import_module(f"scipy.linalg.{call.library}").__pyx_capi__
    except (ImportError, AttributeError):
        return None
    capsule = exports.get(routine)
    if capsule is None:
        return None
    signature = capsule_name(capsule) or b""
    match = _SIGNATURE.fullmatch(signature.decode())
    types = match.group(1).split(", ") if match else []
    if len(types) != len(call.arguments):
        return None
    for type_, argument in zip(types, call.arguments, strict=True):
        if isinstance(argument, RoutineConstant) and type_ != TYPES_IN_C.get(argument.type, type_):
            # Integers of 64 bits, perhaps.
            return None
    address = capsule_address(capsule)
    if routine == "strsm":
        return careful_strsm(address, capsule_address(exports["strsv"]))
    return address


_SIGNATURE = re.compile(r"void \((.*)\)")


@lru_cache(maxsize=64)
def _linked(text: str, name: str, address: int) -> LoadedCode:
    return LoadedCode(host().object_code(text), name, pointers={_ADDRESS: address})


def _module(call: RoutineCall, name: str, sizes: Sequence[int], operands: int, batch: int) -> str:
    """
    LLVM IR that carries out a call for each problem of a batch; `sizes` are the bytes of all,
    operands first.

    Where the first result has no elements the others are zeros, as on the reference.
    """
    read = [each for each in call.arguments if isinstance(each, RoutineConstant)]
    constants: dict[RoutineArgument, str] = {
        each: f"@constant{n}" for n, each in enumerate(dict.fromkeys(read))
    }
    lines = [f"@{_ADDRESS} = global ptr null, align 8"]
    lines += [
        f"{constants[each]} = private global {each.type} {each.value}, align 16"
        for each in dict.fromkeys(read)
    ]
    lines += [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
        f'define i32 @"{name}"({", ".join(f"ptr %array{n}" for n in range(len(sizes)))}) {{',
        "entry:",
    ]
    if not sizes[operands]:
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
    for each in call.arguments:
        if isinstance(each, ArrayFrom):
            start = f"getelementptr i8, ptr %place{each.number}, i64 {each.item_size}"
            lines.append(f"  %from{each.number} = {start}")
    given = ", ".join(f"ptr {constants.get(each) or _place(each)}" for each in call.arguments)
    lines += [*_rearranged(call.before), f"  call void %routine({given})"]
    lines += _rearranged(call.after)
    lines += [
        "  %next = add i64 %number, 1",
        f"  %more = icmp slt i64 %next, {batch}",
        "  br i1 %more, label %problem, label %done",
        "done:",
        *(f"  call void @free(ptr %memory{each.number})" for each in _scratch(call)),
        *("  ret i32 0", "}"),
    ]
    return "\n".join([*lines, *_rearrangement_functions(call)])


def _scratch(call: RoutineCall) -> list[RoutineMemory]:
    return [each for each in call.arguments if isinstance(each, RoutineMemory)]


def _prepared(call: RoutineCall, sizes: Sequence[int]) -> list[str]:
    """What is done once for all problems: memory is had, and results are what they stay."""
    lines: list[str] = []
    for operand, result in call.updated:
        copied = f"ptr %array{result}, ptr %array{operand}, i64 {sizes[operand]}, i1 false"
        lines.append(f"  call void @llvm.memcpy.p0.p0.i64({copied})")
    for result in call.zeroed:
        zeroed = f"ptr %array{result}, i8 0, i64 {sizes[result]}, i1 false"
        lines.append(f"  call void @llvm.memset.p0.i64({zeroed})")
    for each in _scratch(call):
        lines.append(f"  %memory{each.number} = call ptr @malloc(i64 {each.size})")
    return lines


def _place(where: RoutineArgument) -> str:
    if isinstance(where, RoutineMemory):
        return f"%memory{where.number}"
    if isinstance(where, ArrayFrom):
        return f"%from{where.number}"
    return "null" if where is None else f"%place{where}"


def _rearranged(rearrangements: Sequence[Rearrangement]) -> list[str]:
    """Calls of the functions that carry them out, where there are elements."""
    lines: list[str] = []
    for each in rearrangements:
        arrays = f"ptr {_place(each.target)}, ptr {_place(each.source)}"
        if isinstance(each, EigenvectorPairs):
            values = f"ptr {_place(each.imaginary)}"
            lines.append(
                f"  call void {_pairs_name(each.type)}({arrays}, {values}, i64 {each.size})"
            )
        elif each.rows * each.columns:
            sizes = f"i64 {each.rows}, i64 {each.columns}"
            lines.append(f"  call void {_transpose_name(each.type)}({arrays}, {sizes})")
    return lines


def _rearrangement_functions(call: RoutineCall) -> list[str]:
    """The functions that `_rearranged` calls."""
    each = (*call.before, *call.after)
    pairs = {one.type for one in each if isinstance(one, EigenvectorPairs)}
    transposed = {one.type for one in each if not isinstance(one, EigenvectorPairs)}
    return [
        *map(_transpose_function, sorted(transposed)),
        *map(_pairs_function, sorted(pairs)),
    ]


def _transpose_name(type_: str) -> str:
    return f'@"transpose of {type_}"'


_BLOCK = 8
"""
Rows and columns that are transposed at a time: their lines fit the ways of one set of
the first-level cache, where rows are a power of two apart.
"""


def _transpose_function(type_: str) -> str:
    """`target[c, r] = source[r, c]`, both dense, for sizes that are not 0."""
    return f"""
define private void {_transpose_name(type_)}(ptr %target, ptr %source, i64 %rows, i64 %columns) {{
entry:
  br label %rows_of_block
rows_of_block:
  %first_row = phi i64 [ 0, %entry ], [ %row_after, %end_of_rows ]
  %row_after = add i64 %first_row, {_BLOCK}
  %fits_rows = icmp slt i64 %row_after, %rows
  %end_row = select i1 %fits_rows, i64 %row_after, i64 %rows
  br label %columns_of_block
columns_of_block:
  %first_column = phi i64 [ 0, %rows_of_block ], [ %column_after, %end_of_block ]
  %column_after = add i64 %first_column, {_BLOCK}
  %fits_columns = icmp slt i64 %column_after, %columns
  %end_column = select i1 %fits_columns, i64 %column_after, i64 %columns
  br label %column
column:
  %c = phi i64 [ %first_column, %columns_of_block ], [ %next_column, %end ]
  %below = mul i64 %c, %rows
  br label %row
row:
  %r = phi i64 [ %first_row, %column ], [ %next_row, %row ]
  %start = mul i64 %r, %columns
  %from_index = add i64 %start, %c
  %from = getelementptr {type_}, ptr %source, i64 %from_index
  %value = load {type_}, ptr %from
  %to_index = add i64 %below, %r
  %to = getelementptr {type_}, ptr %target, i64 %to_index
  store {type_} %value, ptr %to
  %next_row = add i64 %r, 1
  %has_row = icmp slt i64 %next_row, %end_row
  br i1 %has_row, label %row, label %end
end:
  %next_column = add i64 %c, 1
  %has_column = icmp slt i64 %next_column, %end_column
  br i1 %has_column, label %column, label %end_of_block
end_of_block:
  br i1 %fits_columns, label %columns_of_block, label %end_of_rows
end_of_rows:
  br i1 %fits_rows, label %rows_of_block, label %done
done:
  ret void
}}"""


def _pairs_name(type_: str) -> str:
    return f'@"eigenvectors of {type_}"'


def _pairs_function(type_: str) -> str:
    """
    The columns of the source as vectors, by the signs of the imaginary parts of the eigenvalues.

    Of a pair the first has `column + i next`, the second its conjugate. Eigenvalues that did not
    converge may be half a pair: no column is read that is not there.
    """
    return f"""
define private void {_pairs_name(type_)}(ptr %target, ptr %source, ptr %imaginary, i64 %size) {{
entry:
  %last = sub i64 %size, 1
  br label %column
column:
  %c = phi i64 [ 0, %entry ], [ %next_column, %end ]
  %sign_at = getelementptr {type_}, ptr %imaginary, i64 %c
  %sign = load {type_}, ptr %sign_at
  %is_first = fcmp ogt {type_} %sign, 0.0
  %is_second = fcmp olt {type_} %sign, 0.0
  %next_column = add i64 %c, 1
  %before = sub i64 %c, 1
  %has_before = icmp sgt i64 %c, 0
  %left = select i1 %has_before, i64 %before, i64 0
  %has_after = icmp slt i64 %c, %last
  %right = select i1 %has_after, i64 %next_column, i64 %last
  %real_column = select i1 %is_second, i64 %left, i64 %c
  %imaginary_column = select i1 %is_first, i64 %right, i64 %c
  %real_start = mul i64 %real_column, %size
  %imaginary_start = mul i64 %imaginary_column, %size
  br label %row
row:
  %r = phi i64 [ 0, %column ], [ %next_row, %row ]
  %real_index = add i64 %real_start, %r
  %real_at = getelementptr {type_}, ptr %source, i64 %real_index
  %real = load {type_}, ptr %real_at
  %other_index = add i64 %imaginary_start, %r
  %other_at = getelementptr {type_}, ptr %source, i64 %other_index
  %other = load {type_}, ptr %other_at
  %conjugate = fneg {type_} %other
  %of_pair = select i1 %is_second, {type_} %conjugate, {type_} %other
  %is_pair = or i1 %is_first, %is_second
  %part = select i1 %is_pair, {type_} %of_pair, {type_} 0.0
  %below = mul i64 %r, %size
  %index = add i64 %below, %c
  %double = shl i64 %index, 1
  %to = getelementptr {type_}, ptr %target, i64 %double
  store {type_} %real, ptr %to
  %to_part = getelementptr {type_}, ptr %to, i64 1
  store {type_} %part, ptr %to_part
  %next_row = add i64 %r, 1
  %has_row = icmp slt i64 %next_row, %size
  br i1 %has_row, label %row, label %end
end:
  %has_column = icmp slt i64 %next_column, %size
  br i1 %has_column, label %column, label %done
done:
  ret void
}}"""
