"""
Handlers of XLA's FFI, functions of C that custom calls name: its C API as data, what handlers may
ask for while they run, and calls of them.

A handler gets the address of a `CallFrame` and returns the address of an error, or null. Each
struct begins with its size and a pointer to extensions, but for those of `_HEADS`.
"""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import count
from math import prod
from threading import Event
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from lowerings.driver.own_operations import given_by_keyword
from lowerings.execution.arrays import (
    ALIGNMENT,
    AddressCall,
    address_of,
    allocate,
    array_at,
    called_with,
)
from lowerings.runtime.declarations import structure
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, numpy_dtype
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import TokenType, flatten, is_array, sizes_of

VERSION = (0, 3)
"""The version that we implement; handlers made for an older minor version run as well."""

FUNCTIONS: tuple[str, ...] = tuple(
    """
    Error_Create Error_GetMessage Error_Destroy Handler_Register Stream_Get Type_Register
    ExecutionContext_Get State_Set State_Get DeviceMemory_Allocate DeviceMemory_Free
    ThreadPool_Schedule ThreadPool_NumThreads Future_Create Future_SetAvailable Future_SetError
    RunId_Get DeviceOrdinal_Get
    """.split()
)
"""The functions of `XLA_FFI_Api`."""

_TYPES: dict[str, Any] = {
    "": ctypes.c_void_p,
    "char": ctypes.c_char_p,
    "size": ctypes.c_size_t,
    "int32": ctypes.c_int32,
    "uint32": ctypes.c_uint32,
    "int64": ctypes.c_int64,
}

_FIELDS: dict[str, str] = {
    "Error_Create": "message:char code:int32",
    "Error_GetMessage": "error message:char",
    "Error_Destroy": "error",
    "Type_Register": "name:ByteSpan type_id type_info",
    "TypeInfo": "deleter",
    "State_Set": "ctx stage:int32 type_id state",
    "State_Get": "ctx stage:int32 type_id state",
    "DeviceMemory_Allocate": "ctx size:size alignment:size data",
    "DeviceMemory_Free": "ctx size:size data",
    "ThreadPool_Schedule": "ctx task data",
    "ThreadPool_NumThreads": "ctx num_threads",
    "Future_Create": "future",
    "Future_SetAvailable": "future",
    "Future_SetError": "future error",
    "RunId_Get": "ctx run_id:int64",
    "DeviceOrdinal_Get": "ctx device_ordinal:int32",
    "ByteSpan": "ptr len:size",
    "Scalar": "dtype:int32 value",
    "Array": "dtype:int32 size:size data",
    "Api_Version": "major:int32 minor:int32",
    "Metadata": "api_version:Api_Version traits:uint32 state_type_id:int64",
    "Metadata_Extension": "type:int32 next metadata",
    "Api": f"version:Api_Version internal_api {' '.join(FUNCTIONS)}",
}
"""The fields of structs; those named as functions are of their arguments. `ffi.h` has others."""

_SIZE = ("struct_size", ctypes.c_size_t)
_HEAD = [_SIZE, ("extension_start", ctypes.c_void_p)]
_HEADS: dict[str, list[tuple[str, Any]]] = {
    **{name: [] for name in ("ByteSpan", "Scalar", "Array")},
    **{name: [_SIZE] for name in ("Metadata", "Metadata_Extension")},
}


_LAST_FIELDS = {
    "CallFrame": "attrs",
    "Metadata": "traits",
    "Type_Register": "type_id",
    "Future_Create": "extension_start",
}
"""The fields up to which structs have their sizes counted where that is not the last."""


@cache
def struct(name: str) -> Any:
    """A struct as a ctypes structure."""
    if name not in _FIELDS:
        return structure("ffi.h", f"XLA_FFI_{name}")
    named = (field.partition(":") for field in _FIELDS[name].split())
    fields = [(field, _TYPES.get(type_) or struct(type_)) for field, _, type_ in named]
    head = _HEADS.get(name, _HEAD)
    return type(f"XLA_FFI_{name}", (ctypes.Structure,), {"_fields_": head + fields})


@cache
def size_of(name: str) -> int:
    """The bytes of a struct up to the end of its last field, as it says itself."""
    type_ = struct(name)
    last: str = _LAST_FIELDS.get(name) or type_._fields_[-1][0]
    return getattr(type_, last).offset + ctypes.sizeof(dict(type_._fields_)[last])


def made(name: str, **values: Any) -> Any:
    """A struct of these values; it says its size, if it does at all."""
    found = struct(name)(**values)
    if hasattr(found, "struct_size"):
        found.struct_size = size_of(name)
    return found


class HandlerStage(IntEnum):
    """When a handler is called."""

    INSTANTIATE = 0
    PREPARE = 1
    INITIALIZE = 2
    EXECUTE = 3


class FfiAttributeForm(IntEnum):
    """Which struct an attribute is."""

    ARRAY = 1
    DICTIONARY = 2
    SCALAR = 3
    STRING = 4


BUFFER = 1
"""The only kind of argument and result."""

METADATA = 1
"""The extension of a call frame in which a handler says what it was made for."""

ELEMENT_TYPES: dict[str, int] = {
    "bool": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "uint8": 6,
    "uint16": 7,
    "uint32": 8,
    "uint64": 9,
    "float16": 10,
    "float32": 11,
    "float64": 12,
    "complex64": 15,
    "bfloat16": 16,
    "complex128": 18,
    "float8_e5m2": 19,
    "float8_e4m3fn": 20,
    "float8_e4m3b11fnuz": 23,
    "float8_e5m2fnuz": 24,
    "float8_e4m3fnuz": 25,
    "float8_e4m3": 28,
    "float8_e3m4": 29,
    "float8_e8m0fnu": 33,
}
"""`XLA_FFI_DataType` by dtype; elements of less than a byte have no array in numpy."""

ERROR_CODES: tuple[str, ...] = tuple(
    """
    OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS
    PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED
    INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED
    """.split()
)
"""By number."""


_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class FfiFailure(Exception):
    """What a function of the API could not do."""

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")


_State: TypeAlias = tuple[int, int]
"""The id of a type, and where the state lies."""


@dataclass
class Context:
    """What a call may keep between its stages."""

    instance: dict[int, _State]
    """The state of the call in the program, which all runs share."""
    states: dict[int, _State] = field(default_factory=dict[int, _State])
    memory: dict[int, Array] = field(default_factory=dict[int, Array])

    def of_stage(self, stage: int) -> dict[int, _State]:
        """Where the state of a stage is."""
        return self.states if stage else self.instance


class Handles:
    """Objects by the numbers that handlers know them by, which are never 0."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._objects: dict[int, Any] = {}

    def add(self, found: Any) -> int:
        """The number of an object from now on."""
        number = next(self._numbers)
        self._objects[number] = found
        return number

    def __getitem__(self, number: int | None) -> Any:
        if number not in self._objects:
            raise FfiFailure("INVALID_ARGUMENT", f"there is no object {number}")
        return self._objects[number]

    def take(self, number: int | None) -> Any:
        """The object, which has no number any more."""
        return self._objects.pop(number or 0, None)


handles = Handles()
"""Errors, futures and contexts."""

_type_names: dict[bytes, int] = {}
_deleters: dict[int, int] = {}


def _create_error(args: Any) -> int:
    code: int = args.code
    name = ERROR_CODES[code] if 0 <= code < len(ERROR_CODES) else f"error {code}"
    return handles.add((name, (args.message or b"")))


def _message(args: Any) -> None:
    args.message = handles[args.error][1]


def _destroy_error(args: Any) -> None:
    handles.take(args.error)


def _register_type(args: Any) -> None:
    name = ctypes.string_at(args.name.ptr, args.name.len)
    known = ctypes.c_int64.from_address(args.type_id)
    number = _type_names.setdefault(name, known.value or 1_000_000 + len(_type_names))
    if known.value not in (0, number):
        raise FfiFailure("INVALID_ARGUMENT", f"the type {name.decode()} has the id {number}")
    known.value = number
    deleter = struct("TypeInfo").from_address(args.type_info).deleter if args.type_info else None
    if deleter:
        _deleters[number] = deleter


def _set_state(args: Any) -> None:
    states = handles[args.ctx].of_stage(args.stage)
    if args.stage in states:
        raise FfiFailure("ALREADY_EXISTS", f"stage {args.stage} has a state already")
    states[args.stage] = ctypes.c_int64.from_address(args.type_id).value, args.state or 0


def _get_state(args: Any) -> None:
    found = handles[args.ctx].of_stage(args.stage).get(args.stage)
    if found is None:
        raise FfiFailure("NOT_FOUND", f"stage {args.stage} has no state")
    if found[0] != ctypes.c_int64.from_address(args.type_id).value:
        raise FfiFailure("INVALID_ARGUMENT", f"the state of stage {args.stage} has another type")
    args.state = found[1]


def delete_states(states: dict[int, _State]) -> None:
    """Ends states, by the deleters of their types where they are known."""
    for type_id, state in states.values():
        if type_id in _deleters:
            _Deleter(_deleters[type_id])(state)
    states.clear()


def _allocate(args: Any) -> None:
    if args.alignment > ALIGNMENT:
        raise FfiFailure("INVALID_ARGUMENT", f"an alignment of {args.alignment} bytes")
    try:
        memory = allocate(max(args.size, 1))
    except XlaError as error:
        raise FfiFailure("RESOURCE_EXHAUSTED", str(error)) from error
    args.data = address_of(memory)
    handles[args.ctx].memory[args.data] = memory


def _free(args: Any) -> None:
    handles[args.ctx].memory.pop(args.data or 0, None)


def _schedule(args: Any) -> None:
    """In this thread: a handler may not rely on having several."""
    _Deleter(args.task)(args.data)


def _thread_count(args: Any) -> None:
    ctypes.c_int64.from_address(args.num_threads).value = 1


class Future:
    """What an asynchronous handler has promised."""

    def __init__(self) -> None:
        self._done = Event()
        self._error: int | None = None

    def set(self, error: int | None = None) -> None:
        """It has come, or this error has."""
        self._error = error
        self._done.set()

    def wait(self) -> int | None:
        """The error that has come, once anything has."""
        self._done.wait()
        return self._error


def _create_future(args: Any) -> None:
    args.future = handles.add(Future())


def _set_available(args: Any) -> None:
    handles[args.future].set()


def _set_error(args: Any) -> None:
    handles[args.future].set(args.error)


def _nothing(args: Any) -> None:
    """There is one run, on one device: the numbers are 0, as they come."""


_FUNCTIONS: dict[str, Callable[[Any], int | None]] = {
    "Error_Create": _create_error,
    "Error_GetMessage": _message,
    "Error_Destroy": _destroy_error,
    "Type_Register": _register_type,
    "State_Set": _set_state,
    "State_Get": _get_state,
    "DeviceMemory_Allocate": _allocate,
    "DeviceMemory_Free": _free,
    "ThreadPool_Schedule": _schedule,
    "ThreadPool_NumThreads": _thread_count,
    "Future_Create": _create_future,
    "Future_SetAvailable": _set_available,
    "Future_SetError": _set_error,
    "RunId_Get": _nothing,
    "DeviceOrdinal_Get": _nothing,
}


def _as_c(name: str) -> Any:
    function = _FUNCTIONS.get(name)

    def call(address: int) -> int | None:
        try:
            if function is None:
                raise FfiFailure("UNIMPLEMENTED", f"{name} is not there on this device")
            return function(struct(name).from_address(address))
        except FfiFailure as error:
            code, _, message = str(error).partition(": ")
            return handles.add((code, message.encode()))

    return _Function(call)


_INTERNAL_FUNCTIONS = 64
"""More than the functions that handlers inside of XLA use, and nobody else may."""


@cache
def api() -> tuple[Any, Sequence[Any]]:
    """The table of functions, and what has to live as long as it."""
    functions = {name: _as_c(name) for name in FUNCTIONS}
    refuse = _as_c("the internal API of XLA")
    internal = (ctypes.c_void_p * _INTERNAL_FUNCTIONS)(
        *[ctypes.cast(refuse, ctypes.c_void_p).value] * _INTERNAL_FUNCTIONS
    )
    addresses = {name: ctypes.cast(each, ctypes.c_void_p).value for name, each in functions.items()}
    version = made("Api_Version", major=VERSION[0], minor=VERSION[1])
    table = made("Api", version=version, internal_api=ctypes.addressof(internal), **addresses)
    return table, (functions, refuse, internal)


class Attributes:
    """A struct of attributes, sorted by name, with all that it points to."""

    def __init__(self, attributes: Mapping[str, Attribute]):
        """Raises XlaError for an attribute of a kind that handlers cannot be given."""
        self._kept: list[Any] = []
        found = [(name, *self._of(name, attributes[name])) for name in sorted(attributes)]
        names = [self._characters(name) for name, _, _ in found]
        self.struct = made(
            "Attrs",
            size=len(found),
            types=self._keep((ctypes.c_int32 * len(found))(*(form for _, form, _ in found))),
            names=self._keep((ctypes.c_void_p * len(found))(*names)),
            attrs=self._keep((ctypes.c_void_p * len(found))(*(place for _, _, place in found))),
        )

    def _keep(self, value: Any) -> int:
        self._kept.append(value)
        return ctypes.addressof(value)

    def _characters(self, text: str | bytes) -> int:
        characters = text if isinstance(text, bytes) else text.encode()
        place = self._keep(ctypes.create_string_buffer(characters))
        return self._keep(made("ByteSpan", ptr=place, len=len(characters)))

    def _of(self, name: str, attribute: Attribute) -> tuple[int, int]:
        """The form of an attribute, and where its struct lies."""
        for kind, read in _READERS.items():
            if isinstance(attribute, kind):
                return read(self, attribute)
        raise XlaError(f"the attribute '{name}' is {attribute}, which FFI handlers cannot be given")

    def _array(self, array: Array) -> tuple[int, int]:
        """Its type and where its elements lie."""
        self._kept.append(array)
        type_ = ELEMENT_TYPES.get(array.dtype.name)
        if type_ is None:
            raise XlaError(f"FFI handlers cannot be given attributes of {array.dtype.name}")
        return type_, array.ctypes.data

    def scalar(self, attribute: Any) -> tuple[int, int]:
        """A number or a truth value."""
        dtype = numpy_dtype(attribute.type)
        # xDSL may hold `true : i1` as -1, and has numbers without signs as either.
        value = np.array(attribute.value.data).astype(dtype).reshape(1)
        type_, place = self._array(value)
        return FfiAttributeForm.SCALAR, self._keep(made("Scalar", dtype=type_, value=place))

    def array(self, attribute: Any) -> tuple[int, int]:
        """Several numbers, in the order of their indices; equal ones may be there once."""
        if isinstance(attribute, DenseArrayBase):
            dtype, count = numpy_dtype(cast(Any, attribute).elt_type), len(cast(Any, attribute))
        else:
            dtype, count = numpy_dtype(attribute.get_element_type()), prod(attribute.get_shape())
        found = np.array(attribute.get_values()).astype(dtype).reshape(-1)
        values = np.array(np.broadcast_to(found, count))
        type_, place = self._array(values)
        array = made("Array", dtype=type_, size=count, data=place)
        return FfiAttributeForm.ARRAY, self._keep(array)

    def string(self, attribute: Any) -> tuple[int, int]:
        """Characters."""
        return FfiAttributeForm.STRING, self._characters(attribute.data)

    def dictionary(self, attribute: Any) -> tuple[int, int]:
        """Attributes again."""
        inner = Attributes(attribute.data)
        self._kept.append(inner)
        return FfiAttributeForm.DICTIONARY, ctypes.addressof(inner.struct)


_READERS: dict[type, Callable[[Attributes, Any], tuple[int, int]]] = {
    IntegerAttr: Attributes.scalar,
    FloatAttr: Attributes.scalar,
    StringAttr: Attributes.string,
    BytesAttr: Attributes.string,
    DictionaryAttr: Attributes.dictionary,
    DenseArrayBase: Attributes.array,
    DenseIntOrFPElementsAttr: Attributes.array,
}


_Handler = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

# The types of these functions are ours alone: attributes of `ctypes.pythonapi` are everybody's.
capsule_name: Any = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
"""What a capsule says of the pointer in it; raises ValueError for what is no capsule."""
_pointer_in: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def capsule_address(capsule: Capsule) -> int:
    """The pointer in it; raises ValueError for what is no capsule."""
    return _pointer_in(capsule, capsule_name(capsule))


Capsule: TypeAlias = Any
"""A PyCapsule with the address of a handler, as `jax.ffi.pycapsule` makes it."""


class FfiHandler:
    """
    Handlers of XLA's FFI in C or C++, as a custom call.

    `lowerings.compile(program, custom_calls={"name": FfiHandler(capsule)})` calls it, without the
    interpreter's lock, perhaps in several threads. What it is given is memory of the running
    program: operands may only be read, but for those that a result has the memory of.
    """

    def __init__(self, execute: Capsule | None = None, **stages: Capsule):
        """
        `execute`, and perhaps `instantiate`, `prepare` and `initialize`: what is called in these
        stages. Raises XlaError for what is no such handler, or was made for another version.
        """
        given = {**stages, "execute": execute}
        try:
            found = {
                HandlerStage[name.upper()]: capsule_address(each) for name, each in given.items()
            }
        except (KeyError, TypeError, ValueError) as error:
            raise XlaError(f"this is no handler of XLA's FFI: {error}") from None
        self._capsules = given
        self.stages = {stage: _Handler(found[stage]) for stage in sorted(found)}
        """What is called in each stage, in order."""
        self.state_type = _require_version(self.stages[HandlerStage.EXECUTE])

    def call_of(self, op: CustomCallOp) -> AddressCall:
        """One call of a program: from the addresses of operands and results, but for tokens."""
        return FfiCall(self, op)

    def __call__(self, op: CustomCallOp, *operands: Any) -> Array | tuple[Array, ...]:
        """The results of a call, for executors that have arrays."""
        types = _arrays(flatten(op.result_types))
        given = [each for each in operands if each is not None]
        made = ((numpy_dtype(each.element_type), sizes_of(each)) for each in types)
        results = called_with(self.call_of(op), given, made)
        is_one = len(results) == 1 and is_array(op.result_types[0])
        return results[0] if is_one else tuple(results)


def _require_version(handler: Any) -> int:
    """Asks a handler what it was made for; the id of the type of its state."""
    found = made("Metadata", api_version=made("Api_Version"))
    extension = made("Metadata_Extension", type=METADATA, metadata=ctypes.addressof(found))
    frame = made("CallFrame", api=ctypes.addressof(api()[0]), stage=HandlerStage.EXECUTE)
    frame.extension_start = ctypes.addressof(extension)
    raise_error(handler(ctypes.addressof(frame)))
    version = found.api_version.major, found.api_version.minor
    if version[0] != VERSION[0] or version[1] > VERSION[1]:
        wanted, has = (".".join(map(str, each)) for each in (VERSION, version))
        raise XlaError(f"the handler was made for version {has} of XLA's FFI, not {wanted}")
    return found.state_type_id


def raise_error(error: int | None) -> None:
    """Raises XlaError for what a handler returns, unless it is null."""
    if error:
        code, message = handles.take(error) or ("UNKNOWN", b"an error of its own")
        raise XlaError(f"{code}: {message.decode(errors='replace')}")


def _arrays(types: Sequence[Any]) -> list[ArrayType]:
    return [each for each in types if not isinstance(each, TokenType)]


class _Frame:
    """The structs of one call, which are used again when it has ended."""

    def __init__(self, call: FfiCall):
        self.context = Context(call.instance)
        self._context = handles.add(self.context)
        weakref.finalize(self, handles.take, self._context)
        self.buffers = [
            made("Buffer", dtype=dtype, rank=len(sizes), dims=ctypes.addressof(sizes))
            for dtype, sizes in zip(call.dtypes, call.dimensions, strict=True)
        ]
        count = call.operand_count
        self._kept = [_Group(self.buffers[:count]), _Group(self.buffers[count:])]
        self.struct = made("CallFrame", api=ctypes.addressof(api()[0]), ctx=self._context)
        self.struct.args, self.struct.rets = (each.struct for each in self._kept)
        self.struct.attrs = call.attributes.struct

    def call(self, stage: HandlerStage, handler: Any) -> None:
        """Calls the handler of a stage, and waits for what it has promised; raises XlaError."""
        self.struct.stage, self.struct.future = stage, None
        error = handler(ctypes.addressof(self.struct))
        if self.struct.future:
            error = error or handles[self.struct.future].wait()
            handles.take(self.struct.future)
        raise_error(error)

    def clear(self) -> None:
        """Ends what is kept for one run."""
        if self.context.states:
            delete_states(self.context.states)
        self.context.memory.clear()


class _Group:
    """Buffers as arguments or results."""

    def __init__(self, buffers: Sequence[Any]):
        size = len(buffers)
        self._types = (ctypes.c_int32 * size)(*[BUFFER] * size)
        self._places = (ctypes.c_void_p * size)(*map(ctypes.addressof, buffers))
        self.struct = made(
            "Args",
            size=size,
            types=ctypes.addressof(self._types),
            args=ctypes.addressof(self._places),
        )


class FfiCall:
    """One custom call of a program: called with the addresses of operands and results."""

    def __init__(self, handler: FfiHandler, op: CustomCallOp):
        """Makes an instance; raises XlaError for arrays or attributes that handlers cannot have."""
        operands, results = _arrays(op.operand_types), _arrays(op.result_types)
        if not all(map(is_array, (*operands, *results))):
            raise XlaError("FFI handlers take and return arrays only")
        types = [*operands, *results]
        names = [numpy_dtype(each.element_type).name for each in types]
        for name in names:
            if name not in ELEMENT_TYPES:
                raise XlaError(f"FFI handlers cannot be given arrays of {name}")
        self._handler = handler  # What its capsules are of has to stay loaded.
        self._run_stages = [
            (stage, each)
            for stage, each in handler.stages.items()
            if stage is not HandlerStage.INSTANTIATE
        ]
        self.operand_count = len(operands)
        self.dtypes = [ELEMENT_TYPES[name] for name in names]
        self.dimensions = [(ctypes.c_int64 * len(sizes_of(t)))(*sizes_of(t)) for t in types]
        self.attributes = Attributes(given_by_keyword(op))
        self._orders = _orders(op, types, len(operands))
        self._types = [(np.dtype(numpy_dtype(t.element_type)), tuple(sizes_of(t))) for t in types]
        self._shared = _shared(op)
        self.instance: dict[int, tuple[int, int]] = {}
        self._frames: list[_Frame] = []
        weakref.finalize(self, delete_states, self.instance)
        instantiate = handler.stages.get(HandlerStage.INSTANTIATE)
        if instantiate is not None:
            self._instantiate(instantiate)

    def _instantiate(self, handler: Any) -> None:
        """Handlers have no buffers then."""
        frame = _Frame(self)
        frame.struct.args, frame.struct.rets = _Group([]).struct, _Group([]).struct
        frame.call(HandlerStage.INSTANTIATE, handler)

    def __call__(self, pointers: Sequence[int | None]) -> None:
        """Raises XlaError where the handler has an error."""
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = _Frame(self)
        try:
            if self._orders:
                self._run_laid_out(frame, pointers)
            else:
                self._run(frame, pointers)
        finally:
            frame.clear()
            self._frames.append(frame)

    def _run(self, frame: _Frame, pointers: Sequence[int | None]) -> None:
        for buffer, pointer in zip(frame.buffers, pointers, strict=True):
            buffer.data = pointer
        for operand, result in self._shared:
            place = pointers[self.operand_count + result]
            dtype, sizes = self._types[operand]
            size = prod(sizes) * dtype.itemsize
            if size and place != pointers[operand]:
                ctypes.memmove(place or 0, pointers[operand] or 0, size)
            frame.buffers[operand].data = place
        for stage, handler in self._run_stages:
            frame.call(stage, handler)

    def _run_laid_out(self, frame: _Frame, pointers: Sequence[int | None]) -> None:
        """With copies in the layouts that the call asks for."""
        arrays = [
            array_at(pointer, dtype, sizes)
            for pointer, (dtype, sizes) in zip(pointers, self._types, strict=True)
        ]
        copies = [
            np.ascontiguousarray(array.transpose(self._orders.get(n, range(array.ndim))))
            for n, array in enumerate(arrays)
        ]
        self._run(frame, [copy.ctypes.data for copy in copies])
        for n in range(self.operand_count, len(arrays)):
            order = self._orders.get(n, range(arrays[n].ndim))
            arrays[n].transpose(order)[...] = copies[n]


def _orders(
    op: CustomCallOp, types: Sequence[ArrayType], operands: int
) -> dict[int, tuple[int, ...]]:
    """The dimensions from major to minor, of the arrays that are not to lie by rows."""
    found: dict[int, tuple[int, ...]] = {}
    for name, start in (("xla.operand_layouts", 0), ("xla.result_layouts", operands)):
        layouts = op.attributes.get(name)
        each = cast("ArrayAttr[Any]", layouts).data if layouts else ()
        for n, layout in enumerate(cast("Sequence[Any]", each)):
            order = tuple(reversed([int(value) for value in layout.get_values()]))
            if order != tuple(range(len(sizes_of(types[start + n])))):
                found[start + n] = order
    return found


_SHARED = re.compile(r"\{(\d*)\}: \((\d+), \{\}")


def _shared(op: CustomCallOp) -> list[tuple[int, int]]:
    """The operands that lie in the memory of a result, with the number of the result."""
    found = op.attributes.get("xla.output_to_operand_aliasing")
    text = found.data if isinstance(found, StringAttr) else ""
    return [(int(operand), int(result or 0)) for result, operand in _SHARED.findall(text)]
