"""Functions that a compiled program only declares, as C functions that it calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from lowerings.execution.declared_functions import DeclaredFunction
from xla_dialect.diagnostics import XlaError
from xla_dialect.reference.literal import Array, numpy_dtype
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import element_count

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
    on_error: Callable[[], None] | None = None
    """Called when a function has failed, to end the program."""
    _error: BaseException | None = None
    _thread: int | None = None
    """The thread in which a function runs at the moment."""

    @staticmethod
    def of(functions: Mapping[str, DeclaredFunction]) -> Callbacks:
        """Those of the functions that a module of a lower level declares."""
        callbacks = Callbacks()
        for name, function in functions.items():
            callbacks.symbols[name] = callbacks._as_c(function)
        return callbacks

    def require_outside(self, program: str) -> None:
        """Raises XlaError in a function that a program calls: there it cannot be run once more."""
        if self._thread == threading.get_ident():
            raise XlaError(f"{program} is called by a function that it calls itself")

    def take_error(self) -> BaseException | None:
        """The error of a function that was called since the last time."""
        error, self._error = self._error, None
        return error

    def _as_c(self, function: DeclaredFunction) -> Any:
        operands, results = function.operand_types, function.result_types
        python = function.run
        call = _by_address(python, len(results)) if isinstance(python, int) else None

        def run(*pointers: int | None) -> None:
            if self._error is not None:
                return
            try:
                if call is not None:
                    call(pointers)
                    return
                self._thread = threading.get_ident()
                arrays = [_array_at(p, t) for p, t in zip(pointers, operands, strict=False)]
                found = cast("Callable[[Sequence[Array]], Sequence[Any]]", python)(arrays)
                for pointer, type_, value in zip(
                    pointers[len(operands) :], results, found, strict=True
                ):
                    _array_at(pointer, type_)[...] = value
            except BaseException as error:
                self._error = error
                if self.on_error is not None:
                    self.on_error()
            finally:
                self._thread = None

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


def on_arrays(function: DeclaredFunction) -> Callable[[Sequence[Array]], Sequence[Any]]:
    """A declared function from arrays to arrays, also where it is one of C."""
    run = function.run
    if not isinstance(run, int):
        return run
    call = _by_address(run, len(function.result_types))

    def run_c(arrays: Sequence[Array]) -> Sequence[Array]:
        results = [
            np.zeros(type_.get_shape(), numpy_dtype(type_.element_type))
            for type_ in function.result_types
        ]
        operands = [np.ascontiguousarray(array) for array in arrays]
        call([array.ctypes.data for array in (*operands, *results)])
        return results

    return run_c


def _array_at(pointer: int | None, type_: Attribute) -> Array:
    """The array of a type at an address, without a copy."""
    array_type = cast(ArrayType, type_)
    dtype, sizes = numpy_dtype(array_type.element_type), array_type.get_shape()
    count = element_count(sizes)
    if not count:
        return np.empty(sizes, dtype)
    memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(pointer or 0)
    return np.frombuffer(cast(Any, memory), dtype).reshape(sizes)
