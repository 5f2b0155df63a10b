"""What the functions do that a program only declares: custom calls, checks, prints, probes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from lowerings.communication.process_calls import TARGETS, read_process_call
from lowerings.execution.arrays import AddressCall, array_at, called_with
from lowerings.execution.ffi import FfiHandler
from lowerings.execution.lapack import LAPACK, LapackCall
from lowerings.ir.custom_calls import declared_operation
from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array, DType, Value, numpy_dtype
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.custom_calls import (
    CustomCallFunction,
    built_in_function,
    call_on_arrays,
    function_for,
)
from xla_dialect.runtime.observation import Observer
from xla_dialect.runtime.self_checking import CHECK_CALLS, OBSERVATIONS, require_check
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import TokenType
from xla_dialect.violations import located_error

if TYPE_CHECKING:
    from lowerings.execution.process_calls import ProcessCalls


_Result = TypeVar("_Result")


@dataclass
class ProgramRun:
    """One run of a program, by the thread that has called it."""

    process: Process
    error: BaseException | None = None
    """What has ended it, where that cannot be raised at once."""

    @cached_property
    def calls(self) -> ProcessCalls:
        """What the process does for it; most programs ask for nothing that needs the reference."""
        from lowerings.execution.process_calls import ProcessCalls  # noqa: PLC0415

        return ProcessCalls(self.process)


_CURRENT: ContextVar[ProgramRun] = ContextVar("program_run")


def current_run() -> ProgramRun:
    """The run of this thread."""
    return _CURRENT.get()


def run_program(program: Callable[[], _Result], asks_process: bool) -> _Result:
    """
    The result of a program, which may call what is outside while it runs.

    It is run by the process that this thread runs. Where there is none, and the program asks for
    something, it is the only process of a grid of its own.
    """
    process = Process.current()
    if process is not None or not asks_process:
        return _run(program, process or Process())
    alone = Process()
    return alone.grid.run_alone(lambda: _run(program, alone))


def _run(program: Callable[[], _Result], process: Process) -> _Result:
    run = ProgramRun(process)
    token = _CURRENT.set(run)
    try:
        result = program()
    finally:
        _CURRENT.reset(token)
    if run.error is not None:
        raise run.error
    return result


_Target = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))

CustomCall: TypeAlias = CustomCallFunction | FfiHandler | int
"""
A Python function as the reference takes it, a handler of XLA's FFI, or the address of a C function
`void target(void *out, void **in)`: `in` points to the operands' elements, `out` to those of the
result, or with several results to pointers to theirs. Pointers to tokens are null. All of it is
memory of the running program, or of its caller: what `in` points to may only be read, and no
pointer may be used once the function has returned.
"""

CustomCalls: TypeAlias = Mapping[str, CustomCall]
"""The implementations of custom calls by target."""


@dataclass(frozen=True)
class DeclaredFunction:
    """The operation for which a function is declared."""

    op: Operation
    """The operation, with its place and its tokens."""
    operand_types: tuple[ArrayType, ...]
    """The types of the function's operands, without tokens."""
    result_types: tuple[ArrayType, ...]
    """The types of the function's results, without tokens; none for a print."""
    call: AddressCall
    """Computes results of operands, both of the dtypes of the reference; raises XlaError."""

    def at(self, pointers: Sequence[int | None]) -> None:
        """Makes the call; raises XlaError with the place of the operation."""
        with _located(self.op):
            self.call(pointers)

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """The results, of executors that have arrays."""
        return called_with(self.at, arrays, map(_dtype_and_sizes, self.result_types))

    @property
    def lapack(self) -> LapackCall | None:
        """The call of LAPACK that it is, which machine code makes itself."""
        return self.call if isinstance(self.call, LapackCall) else None

    @property
    def asks_process(self) -> bool:
        """Whether it is something that the process does that runs the program."""
        return isinstance(self.op, CustomCallOp) and self.op.custom_call_target.data in TARGETS


def declared_functions(
    module: ModuleOp, registry: CustomCalls, observer: Observer
) -> dict[str, DeclaredFunction]:
    """
    What the functions are that a module of a lower level declares, by name.

    Raises XlaError, with the place, where the registry has no function for a custom call, or a
    check has not the types of one.
    """
    found: dict[str, DeclaredFunction] = {}
    for declaration in module.body.block.ops:
        if not isinstance(declaration, FuncOp):
            continue
        op = declared_operation(declaration)
        if op is None:
            continue
        operands, results = arrays_of(op.operand_types), arrays_of(op.result_types)
        if not isinstance(op, CustomCallOp):
            call = _on_copies(_observation(op, observer), operands, ())
        elif op.custom_call_target.data in TARGETS:
            call = _process_call(op, [*operands, *results], len(operands))
        else:
            call = _custom_call(op, registry, operands, results)
        found[declaration.sym_name.data] = DeclaredFunction(op, operands, results, call)
    return found


def spelled_declarations(module: ModuleOp) -> str:
    """The functions that a module of a lower level declares, with their places; empty for none."""
    found = [
        op.clone()
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and declared_operation(op) is not None
    ]
    return print_mlir(ModuleOp(found), locations=True) if found else ""


def arrays_of(types: Sequence[Attribute]) -> tuple[ArrayType, ...]:
    """The types that are no tokens."""
    return tuple(cast(ArrayType, type_) for type_ in types if not isinstance(type_, TokenType))


def _dtype_and_sizes(type_: ArrayType) -> tuple[DType, Sequence[int]]:
    return numpy_dtype(type_.element_type), type_.get_shape()


def _array_at(pointer: int | None, type_: ArrayType) -> Array:
    return array_at(pointer, *_dtype_and_sizes(type_))


def _custom_call(
    op: CustomCallOp,
    registry: CustomCalls,
    operands: Sequence[ArrayType],
    results: Sequence[ArrayType],
) -> AddressCall:
    target = op.custom_call_target.data
    try:
        function = function_for(target, registry, LAPACK)
        if target in CHECK_CALLS:
            require_check(op)
        if isinstance(function, FfiHandler):
            return function.call_of(op)
    except XlaError as error:
        raise located_error(
            op, f"'{target}': {error}" if target in registry else str(error)
        ) from None
    if isinstance(function, int):
        return _c_function(function, op)
    run = partial(call_on_arrays, op, function)
    return _on_copies(run, operands, results)


def _on_copies(
    run: Callable[[Sequence[Array]], Sequence[Value]],
    operands: Sequence[ArrayType],
    results: Sequence[ArrayType],
) -> AddressCall:
    """A function of Python: it may keep or write what it is given, and its error keeps it."""

    def call(pointers: Sequence[int | None]) -> None:
        found = run([np.array(_array_at(p, t)) for p, t in zip(pointers, operands, strict=False)])
        for pointer, type_, value in zip(pointers[len(operands) :], results, found, strict=True):
            _array_at(pointer, type_)[...] = value

    return call


def _c_function(address: int, op: Operation) -> Callable[[Sequence[int | None]], None]:
    """A C function with the addresses of operands and results, null for tokens."""
    target = _Target(address)
    types = [*op.operand_types, *op.result_types]
    places = [place for place, type_ in enumerate(types) if not isinstance(type_, TokenType)]
    first_result = len(op.operands) * ctypes.sizeof(ctypes.c_void_p)
    has_one_result = len(op.results) == 1

    def call(pointers: Sequence[int | None]) -> None:
        table = (ctypes.c_void_p * len(types))()
        for place, pointer in zip(places, pointers, strict=True):
            table[place] = pointer
        outputs = ctypes.addressof(table) + first_result
        target(table[-1] if has_one_result else outputs, table)

    return call


def _process_call(op: CustomCallOp, types: Sequence[ArrayType], operands: int) -> AddressCall:
    """It is made in the memory of the program."""
    try:
        process_call = read_process_call(op)
    except XlaError as error:
        raise located_error(op, str(error)) from None

    def call(pointers: Sequence[int | None]) -> None:
        arrays = [_array_at(p, t) for p, t in zip(pointers, types, strict=True)]
        with _located(process_call.operation):
            current_run().calls.carry_out(process_call, arrays[:operands], arrays[operands:])

    return call


def _observation(op: Operation, observer: Observer) -> Callable[[Sequence[Array]], Sequence[Value]]:
    observe = OBSERVATIONS[type(op)]

    def run(arrays: Sequence[Array]) -> Sequence[Value]:
        observe(op, arrays, observer)
        return ()

    return run


@contextmanager
def _located(op: Operation) -> Generator[None]:
    """Inside, errors say which operation it is, and where."""
    try:
        yield
    except LocatedError:
        raise
    except XlaError as error:
        raise located_error(op, str(error)) from error


_CALL = re.compile(r'custom_call @(?:"([^"]+)"|([\w.$-]+))\(')


def outside_targets(text: str) -> set[str]:
    """The targets of the custom calls in a program, but for those that this toolkit has itself."""
    called = {quoted or plain for quoted, plain in _CALL.findall(text)}
    return {target for target in called if not (target in LAPACK or built_in_function(target))}
