"""The functions of the API that Python implements, as C functions, and their errors."""

from __future__ import annotations

import ctypes
import importlib
import threading
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeAlias

from lowerings.driver.collector import loading
from lowerings.pjrt.c_api import (
    FUNCTIONS,
    INTERRUPTED,
    ErrorCode,
    ErrorRecord,
    arguments_of,
    required_size,
)
from xla_dialect.diagnostics import XlaError


class Interrupted(Exception):
    """
    Ctrl-C has come, and the function has done what is to be done then: Python raises
    KeyboardInterrupt when the client has got its results.
    """


Implementation = Callable[[Any], None]
"""Reads and writes the arguments of a function, a ctypes structure; raises what has failed."""

_Function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)

_raise_in_thread: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_ulong, ctypes.py_object)(
    ("PyThreadState_SetAsyncExc", ctypes.pythonapi)
)

_implementations: dict[str, Implementation] = {}


class PluginError(Exception):
    """Something that a client asked for and does not get, with the code that it is told."""

    def __init__(self, code: ErrorCode, message: str):
        super().__init__(message)
        self.code = code


_errors: dict[int, tuple[Any, Any]] = {}
"""The records and messages of those that clients have not destroyed, by their handles."""


COMPILE = "Client_Compile"
"""The function of the API that compiles."""
_compiling: set[int] = set()
"""The threads that compile."""


@contextmanager
def _compiling_if(name: str) -> Generator[None]:
    """Inside, `end_compilations` raises KeyboardInterrupt if a function compiles."""
    if name != COMPILE:
        yield
        return
    thread = threading.get_ident()
    _compiling.add(thread)
    try:
        yield
    finally:
        _compiling.discard(thread)


def end_compilations() -> None:
    """
    Has other threads end what they compile, with an error, as nobody is there who wants it. Returns
    when they have.
    """
    while _compiling:
        # Again and again: what is called at any time, as collecting garbage does, swallows it.
        for thread in [*_compiling]:
            _raise_in_thread(thread, KeyboardInterrupt)
        time.sleep(0.01)


def implements(name: str) -> Callable[[Implementation], Implementation]:
    """Says that a function of Python is one of the API."""
    assert name in FUNCTIONS, name

    def register(function: Implementation) -> Implementation:
        _implementations[name] = function
        return function

    return register


_MODULES = ("client", "events", "buffers", "executables", "execution")
"""The modules of this package with functions of the API."""
_LOADED_LATER = _MODULES[2:]
"""
Those that JAX has no use for when it makes the clients of all backends, whoever is asked for; only
the first does without the compiler.
"""


def as_c_functions() -> Sequence[Any]:
    """
    All functions of the API; those that nobody implements say so when they are called, or C does
    without them.
    """
    _load(_MODULES[:2])
    return [_Function(partial(_call, name)) for name in FUNCTIONS]


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        importlib.import_module(f"{__package__}.{module}")


def _load_for(name: str) -> None:
    """Loads modules up to the one with a function: an array can be made without the compiler."""
    with loading():
        for module in _LOADED_LATER:
            _load((module,))
            if name in _implementations:
                break


def _call(name: str, address: int) -> int | None:
    try:
        with _compiling_if(name):
            struct = arguments_of(name)
            args, needed = struct.from_address(address), required_size(struct)
            if args.struct_size < needed:
                raise PluginError(
                    ErrorCode.INVALID_ARGUMENT,
                    f"PJRT_{name}: the arguments have {args.struct_size} bytes, expected {needed}",
                )
            _implementation(name)(args)
    except Interrupted:
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED + error_handle(PluginError(ErrorCode.CANCELLED, "interrupted"))
    except BaseException as error:
        return error_handle(error)
    return None


@cache
def _implementation(name: str) -> Implementation:
    """What computes a function."""
    if name not in _implementations:
        _load_for(name)
    function = _implementations.get(name)
    if function is None:
        raise PluginError(ErrorCode.UNIMPLEMENTED, f"PJRT_{name} is not implemented")
    return function


def error_handle(error: BaseException) -> int:
    """The handle of an error: what the user has to know of it."""
    code = ErrorCode.INTERNAL
    text = str(error)
    if isinstance(error, PluginError):
        code = error.code
    elif isinstance(error, MemoryError):
        code = ErrorCode.RESOURCE_EXHAUSTED
    elif isinstance(error, XlaError):
        code = ErrorCode.INVALID_ARGUMENT
    else:
        text = "".join(traceback.format_exception(error)).rstrip()
    data = text.encode()
    message = ctypes.create_string_buffer(data)
    record = ErrorRecord(ctypes.addressof(message), len(data), code)
    _errors[ctypes.addressof(record)] = record, message
    return ctypes.addressof(record)


def take_error(handle: int) -> PluginError:
    """The error behind a handle, which is forgotten."""
    record, message = _errors.pop(handle)
    return PluginError(ErrorCode(record.code), message.value.decode())


@implements("Error_Destroy")
def error_destroy(args: Any) -> None:
    """Forgets an error."""
    _errors.pop(args.error, None)


@implements("Error_ForEachPayload")
def error_for_each_payload(args: Any) -> None:
    """Errors carry nothing but their text."""


@cache
def text(value: str) -> tuple[Any, int, int]:
    """A text for as long as the process lives: its memory, where that is, and its size in bytes."""
    data = value.encode()
    memory = ctypes.create_string_buffer(data)
    return memory, ctypes.addressof(memory), len(data)


def say(args: Any, field: str, value: str) -> None:
    """Returns a text in two fields of the arguments, the second named `field_size`."""
    _, address, size = text(value)
    setattr(args, field, address)
    setattr(args, f"{field}_size", size)


def characters(address: int | None, size: int) -> bytes:
    """The bytes at an address."""
    return ctypes.string_at(address, size) if size and address else b""


def numbers(address: int | None, count: int) -> tuple[int, ...]:
    """The 64-bit numbers at an address."""
    return tuple((ctypes.c_int64 * count).from_address(address)) if count and address else ()


def pointers(address: int | None, count: int) -> list[int]:
    """The pointers at an address."""
    return list((ctypes.c_size_t * count).from_address(address)) if count and address else []


class Objects:
    """
    The Python objects behind handles, by their addresses.

    An object stays until it is forgotten, whoever else knows it.
    """

    def __init__(self, kind: str):
        self.kind = kind
        self._objects: dict[int, tuple[Any, Any]] = {}

    def keep(self, record: Any, value: Any) -> int:
        """The handle of an object: where its record lies."""
        handle = ctypes.addressof(record)
        self._objects[handle] = record, value
        return handle

    def __getitem__(self, handle: int | None) -> Any:
        found = self._objects.get(handle or 0)
        if found is None:
            raise PluginError(ErrorCode.INVALID_ARGUMENT, f"{handle} is no {self.kind}")
        return found[1]

    def values(self) -> list[Any]:
        """All objects that are not forgotten."""
        return [value for _, value in self._objects.values()]

    def forget(self, handle: int | None) -> None:
        """Drops a handle, if there is one."""
        self._objects.pop(handle or 0, None)


FieldsOf: TypeAlias = Callable[[Any], Mapping[str, Any]]
"""From an object to values of fields, by their names."""


def answer(fields: Mapping[str, Any], args: Any) -> None:
    """Returns values in fields of the arguments; of a text, its size as well."""
    for name, value in fields.items():
        if isinstance(value, str):
            say(args, name, value)
        else:
            setattr(args, name, value)


def answers(objects: Objects, argument: str, asked: Mapping[str, FieldsOf]) -> None:
    """
    Says what functions return that ask an object for something, which they have as an argument: the
    values of fields of their arguments.
    """
    for name, fields_of in asked.items():
        implements(name)(partial(_answer_about, objects, argument, fields_of))


def _answer_about(objects: Objects, argument: str, fields_of: FieldsOf, args: Any) -> None:
    answer(fields_of(objects[getattr(args, argument)]), args)
