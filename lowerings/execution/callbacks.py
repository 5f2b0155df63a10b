"""Functions outside of a compiled program that it calls: custom calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.custom_calls import CUSTOM_CALL, operation_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.reference.custom_calls import CustomCallFunction, call_function, function_for
from xla_dialect.reference.interpreter import located_error
from xla_dialect.reference.literal import Array, numpy_dtype
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count

CustomCall: TypeAlias = CustomCallFunction | int
"""
A Python function as the reference takes it, or the address of a C function
`void target(void *out, void **in)`: `in` points to the operands' elements, `out` to those of the
result, or with several results to pointers to theirs.
"""

CustomCalls: TypeAlias = Mapping[str, CustomCall]
"""By target."""

_Target = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))


@dataclass
class Callbacks:
    """
    What a program calls, as C functions of one pointer for each operand and result.

    A Python function cannot raise through machine code: its error is kept until the program has
    ended, and further calls do nothing.
    """

    symbols: dict[str, Any] = field(default_factory=dict[str, Any])
    """By the name of the declaration; they have to live as long as the program."""
    _error: BaseException | None = None

    @staticmethod
    def of(module: ModuleOp, registry: CustomCalls) -> Callbacks:
        """What a module of a lower level declares; raises XlaError where there is no function."""
        callbacks = Callbacks()
        for op in module.body.block.ops:
            description = op.attributes.get(CUSTOM_CALL)
            if isinstance(op, FuncOp) and isinstance(description, DictionaryAttr):
                call = operation_of(description)
                call.location = op.location
                try:
                    function = function_for(call.custom_call_target.data, registry)
                except XlaError as error:
                    raise located_error(call, str(error)) from None
                callbacks.symbols[op.sym_name.data] = callbacks._as_c(call, function)
        return callbacks

    def raise_error(self) -> None:
        """Raises the error of a function that was called since the last time."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _as_c(self, op: CustomCallOp, function: CustomCall) -> Any:
        operands = tuple(op.operand_types)
        results = tuple(op.result_types)
        call = _by_address(function, len(results)) if isinstance(function, int) else None

        def run(*pointers: int | None) -> None:
            if self._error is not None:
                return
            try:
                if call is not None:
                    call(pointers)
                    return
                arrays = [_array_at(p, t) for p, t in zip(pointers, operands, strict=False)]
                found = call_function(op, cast(CustomCallFunction, function), arrays)
                for pointer, type_, value in zip(
                    pointers[len(operands) :], results, found, strict=True
                ):
                    _array_at(pointer, type_)[...] = value
            except BaseException as error:
                self._error = error

        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(operands) + len(results)))
        return signature(run)


def _by_address(address: int, results: int) -> Callable[[Sequence[int | None]], None]:
    """Calls a C function with the pointers to operands and results."""
    target = _Target(address)

    def call(pointers: Sequence[int | None]) -> None:
        count = len(pointers) - results
        table = (ctypes.c_void_p * len(pointers))(*pointers)
        outputs = ctypes.addressof(table) + count * ctypes.sizeof(ctypes.c_void_p)
        target(pointers[-1] if results == 1 else outputs, table)

    return call


def _array_at(pointer: int | None, type_: Attribute) -> Array:
    """The array of a type at an address, without a copy."""
    array_type = cast(ArrayType, type_)
    dtype, sizes = numpy_dtype(array_type.element_type), array_type.get_shape()
    count = element_count(sizes)
    if not count:
        return np.empty(sizes, dtype)
    memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(pointer or 0)
    return np.frombuffer(cast(Any, memory), dtype).reshape(sizes)
