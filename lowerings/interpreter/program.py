"""Modules of the tensors, buffers and loops levels as programs: numpy arrays in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack, cast

import numpy as np
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute

from lowerings.bufferize.liveness import WrittenArguments
from lowerings.bufferize.signatures import RESULT_ATTRIBUTE, aliased_parameters
from lowerings.bufferize.xla_plan_buffers import ARENA_ATTRIBUTE
from lowerings.execution.arrays import from_arguments
from lowerings.execution.declared_functions import CustomCalls, declared_functions
from lowerings.execution.function_signature import array_spec
from lowerings.execution.laid_out import to_logical_order, to_memory_order
from lowerings.execution.runnable import Runnable
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.interpreter.arith import ARITH
from lowerings.interpreter.complex import COMPLEX
from lowerings.interpreter.elements import as_numbers, as_stored, element_of
from lowerings.interpreter.func import FUNC
from lowerings.interpreter.linalg import LINALG
from lowerings.interpreter.llvm import LLVM
from lowerings.interpreter.machine import Dialect, ModuleInterpreter
from lowerings.interpreter.math import MATH
from lowerings.interpreter.memory import Memref, argument, dense, extent
from lowerings.interpreter.memref import MEMREF
from lowerings.interpreter.scf import SCF
from lowerings.interpreter.tensor import TENSOR
from lowerings.interpreter.vector import VECTOR
from lowerings.ir.functions import functions_of
from lowerings.layouts.memory_order import BUFFER_LAYOUT, TILED_ARRAY, memory_order
from lowerings.runtime import default_mode
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, numpy_dtype
from xla_dialect.runtime.observation import Observer
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import array

DIALECTS: tuple[Dialect, ...] = (
    ARITH,
    COMPLEX,
    FUNC,
    LINALG,
    LLVM,
    MATH,
    MEMREF,
    SCF,
    TENSOR,
    VECTOR,
)
"""The dialects that the interpreter implements."""


class MachineOptions(TypedDict, total=False):
    """The options of a run; each has a default."""

    seed: int
    """Of the arbitrary bytes in memory that nothing was written to."""
    iteration_limit: int | None
    """How often a `scf.while` may go round; by default there is no limit."""
    memory_limit: int
    """Bytes of the largest array, and of all at the same time; by default `MEMORY_LIMIT` and all
    that this machine has."""
    time_limit: float | None
    """Seconds that a call may take; by default there is no limit."""


class InterpretedProgram(Runnable):
    """A function of a module below the xla level, called with one array per parameter."""

    def __init__(
        self,
        module: ModuleOp,
        entry: str = "main",
        signature: Signature | None = None,
        dialects: Sequence[Dialect] = DIALECTS,
        *,
        custom_calls: CustomCalls | None = None,
        observer: Observer | None = None,
        **options: Unpack[MachineOptions],
    ):
        """
        `signature`: the arrays as they lie in memory, if the caller knows; else those in logical
        order that the types and attributes of the function say, where integers are signed and what
        a buffers level writes are results.
        `custom_calls` are the functions for custom calls, `observer` gets what the program prints.

        Raises XlaError for functions whose arguments are no arrays, and for custom calls that have
        no function.
        """
        declared = declared_functions(module, custom_calls or {}, observer or Observer())
        self._machine = ModuleInterpreter(module, dialects, declared, **options)
        self._entry = entry
        function = self._machine.functions.get(entry)
        if function is None or not function.body.blocks:
            raise XlaError(f"there is no function @{entry}")
        self._types: list[Attribute] = list(function.function_type.inputs)
        self._has_memory = any(isinstance(type_, MemRefType) for type_ in self._types)
        arena = function.attributes.get(ARENA_ATTRIBUTE)
        self._arena: int | None = None
        if isinstance(arena, IntegerAttr):
            self._types.pop()
            self._arena = cast("IntegerAttr[Any]", arena).value.data
        self._in_memory = signature is not None
        self.signature = signature or signature_below(module, entry)
        count = len(self.signature.parameters)
        self._result_types = (
            self._types[count:] if self._has_memory else list(function.function_type.outputs)
        )
        del self._types[count:]
        self._layouts = _layouts(function.arg_attrs, len(self._types))
        self._result_layouts = (
            _layouts(None, len(self._result_types))
            if self._has_memory
            else _layouts(function.res_attrs, len(self._result_types))
        )
        self._aliased = {
            number - count: parameter for number, parameter in aliased_parameters(function).items()
        }
        if len(self._result_types) != len(self.signature.results):
            raise XlaError(
                f"@{entry} has {len(self._result_types)} results, the signature is {self.signature}"
            )

    @default_mode()
    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """
        Runs the program; raises XlaError, with the operation, where its behaviour is undefined.

        Arguments are checked as by `Executable`.
        """
        signature = self.signature
        brought = from_arguments(arrays, signature)
        arguments = [
            self._brought_in(each, spec, type_, layout)
            for each, spec, type_, layout in zip(
                brought, signature.parameters, self._types, self._layouts, strict=True
            )
        ]
        results = [
            self._result(spec, type_, layout)
            for spec, type_, layout in zip(
                signature.results, self._result_types, self._result_layouts, strict=True
            )
        ]
        for number, parameter in self._aliased.items():
            results[number].memory[:] = arguments[parameter].memory
        (self._run_on_memory if self._has_memory else self._run_on_tensors)(arguments, results)
        return tuple(map(self._brought_out, results, signature.results))

    def _brought_in(
        self, array: Array, spec: ArraySpec, type_: Attribute, layout: StridedLayoutAttr | None
    ) -> Memref:
        stored = as_stored(array, element_of(type_))
        if self._in_memory:
            return argument(stored, type_, layout)
        bring = to_memory_order(spec)
        memory = self._machine.arbitrary_bytes(extent(type_, layout))
        brought = argument(memory, type_, layout)
        brought.array[...] = stored if bring is None else bring(stored)
        return brought

    def _result(
        self, spec: ArraySpec, type_: Attribute, layout: StridedLayoutAttr | None
    ) -> Memref:
        size = spec.byte_size if self._in_memory else extent(type_, layout)
        return argument(self._machine.arbitrary_bytes(size), type_, layout)

    def _brought_out(self, result: Memref, spec: ArraySpec) -> Array:
        if self._in_memory:
            stored = result.memory.view(result.element.storage)
            return as_numbers(stored, result.element, spec.dtype).reshape(spec.shape)
        bring = to_logical_order(spec)
        stored = result.array if bring is None else bring(np.ascontiguousarray(result.array))
        return as_numbers(np.ascontiguousarray(stored), result.element, spec.dtype).reshape(
            spec.shape
        )

    def _run_on_tensors(self, arguments: Sequence[Memref], results: Sequence[Memref]) -> None:
        values = [
            each.read() if isinstance(type_, TensorType) else each.read()[()]
            for type_, each in zip(self._types, arguments, strict=True)
        ]
        found = self._machine.call(self._entry, values)
        for result, value in zip(results, found, strict=True):
            result.write(value)

    def _run_on_memory(self, arguments: Sequence[Memref], results: Sequence[Memref]) -> None:
        values: list[Any] = [
            each if isinstance(type_, MemRefType) else each.read()[()]
            for type_, each in zip(self._types, arguments, strict=True)
        ]
        values += results
        if self._arena is not None:
            arena = self._machine.arbitrary_bytes(self._arena)
            values.append(dense(arena, _BYTE, (self._arena,)))
        self._machine.call(self._entry, values)


_BYTE = element_of(IntegerType(8))


def _layouts(attributes: Any, count: int) -> list[StridedLayoutAttr | None]:
    """The strides in memory that attributes give to parameters or results of tensor types."""
    if attributes is None or not count:
        return [None] * count
    found = [each.data.get(BUFFER_LAYOUT) for each in attributes.data[:count]]
    return [each if isinstance(each, StridedLayoutAttr) else None for each in found]


def signature_below(module: ModuleOp, entry: str) -> Signature:
    """
    The signature of a function below the xla level, with arrays in logical order; memrefs from the
    first that it writes on are results. Raises XlaError for arguments that are no arrays.
    """
    functions = functions_of(module)
    function = functions[entry]
    if function.is_declaration:
        raise XlaError(f"@{entry} is only declared")
    name, types = function.sym_name.data, list(function.function_type.inputs)
    if ARENA_ATTRIBUTE in function.attributes:
        types.pop()
    outputs: Sequence[Attribute] = tuple(function.function_type.outputs)
    count = len(types)
    if any(isinstance(type_, MemRefType) for type_ in types):
        written = WrittenArguments(functions).of(name) | aliased_parameters(function).keys()
        written |= _marked(function.arg_attrs, RESULT_ATTRIBUTE).keys()
        count = min((n for n in written if n < len(types)), default=count)
        outputs = types[count:]
    tiled = _marked(function.arg_attrs, TILED_ARRAY)
    tiled_results = (
        {number - count: array_ for number, array_ in tiled.items()}
        if types[count:]
        else _marked(function.res_attrs, TILED_ARRAY)
    )
    hints = [argument_.name_hint for argument_ in function.body.blocks[0].args]
    parameters = (
        _spec(type_, tiled.get(number), f"@{name}: parameter {number}", hints[number])
        for number, type_ in enumerate(types[:count])
    )
    results = (
        _spec(type_, tiled_results.get(number), f"@{name}: result {number}")
        for number, type_ in enumerate(outputs)
    )
    return Signature(tuple(parameters), tuple(results), name)


def _marked(attributes: Any, name: str) -> dict[int, Attribute]:
    """What an attribute says of arguments or results, by their numbers."""
    entries = enumerate(attributes or ())
    return {number: each.data[name] for number, each in entries if name in each.data}


def _spec(
    type_: Attribute, tiled: Attribute | None, place: str, name: str | None = None
) -> ArraySpec:
    """`tiled`: the array that is passed as its tiles, if it is one."""
    if isinstance(type_, TensorType | MemRefType):
        shaped = cast("TensorType[Attribute] | MemRefType[Attribute]", type_)
        sizes, scalar = shaped.get_shape(), shaped.element_type
    else:
        sizes, scalar = (), type_
    if any(size < 0 for size in sizes):
        raise XlaError(f"{place}: {type_} has sizes that are not known")
    try:
        numpy_dtype(scalar)
    except XlaError as error:
        raise XlaError(f"{place}: {type_} cannot be passed as an array") from error
    if not isinstance(tiled, StringAttr):
        return array_spec(array(scalar, sizes), name)
    whole = cast(ArrayType, parse_type(tiled.data))
    order = memory_order(whole)
    if order.physical_sizes(whole.get_shape()) != sizes:
        raise XlaError(f"{place}: {tiled} has other tiles than {type_}")
    return array_spec(array(scalar, whole.get_shape()), name, order)
