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

from lowerings.execution.code import LoadedCode
from lowerings.execution.ffi import capsule_address, capsule_name
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
from lowerings.runtime import careful_strsm, library
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
    text = _module(call, name, sizes, operands, prod(shapes[0][:batch_rank]))
    return _linked(text, name, address, tuple(_functions(call)))


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
def _linked(text: str, name: str, address: int, functions: tuple[str, ...]) -> LoadedCode:
    called = {each: getattr(library(), each) for each in functions}
    return LoadedCode(
        host().object_code(text), name, functions=called, pointers={_ADDRESS: address}
    )


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
        *(f"declare void @{each}({types})" for each, types in _functions(call).items()),
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
    return "\n".join(lines)


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
    """Calls of the functions that carry them out."""
    lines: list[str] = []
    for each in rearrangements:
        arrays = f"ptr {_place(each.target)}, ptr {_place(each.source)}"
        if isinstance(each, EigenvectorPairs):
            given = f"{arrays}, ptr {_place(each.imaginary)}, i64 {each.size}"
        else:
            given = f"{arrays}, i64 {each.rows}, i64 {each.columns}"
        lines.append(f"  call void @{_function_of(each)}({given})")
    return lines


def _functions(call: RoutineCall) -> dict[str, str]:
    """The functions that `_rearranged` calls, with the types of their arguments."""
    return {
        _function_of(each): "ptr, ptr, ptr, i64"
        if isinstance(each, EigenvectorPairs)
        else "ptr, ptr, i64, i64"
        for each in (*call.before, *call.after)
    }


def _function_of(rearrangement: Rearrangement) -> str:
    """The function of the library in C that carries it out: see `lapack_matrices.c`."""
    is_of_pairs = isinstance(rearrangement, EigenvectorPairs)
    return f"xla_{'eigenvectors' if is_of_pairs else 'transpose'}_{rearrangement.letter}"
