"""
The functions of the API that need no Python, as machine code.

A call through ctypes takes the interpreter's lock and three microseconds; a program with a hundred
arguments makes a thousand of them at each call. Each function here falls back on Python's where it
meets what it does not know.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from lowerings.pjrt.c_api import (
    FUNCTIONS,
    ExecuteOptions,
    MemoryLayout,
    arguments_of,
    required_size,
)
from lowerings.pjrt.records import NOT_DONATED, Buffer, Event, Loaded, Shape
from lowerings.pjrt.templates import BUFFERS, EXECUTE

_LLVM_TYPES: dict[Any, str] = {
    ctypes.c_void_p: "ptr",
    ctypes.c_size_t: "i64",
    ctypes.c_int64: "i64",
    ctypes.c_int32: "i32",
    ctypes.c_bool: "i8",
}

_READERS: dict[str, dict[str, tuple[str, ...]]] = {
    "Buffer_ElementType": {"type": ("shape", "element_type")},
    "Buffer_Dimensions": {"dims": ("shape", "dimensions"), "num_dims": ("shape", "rank")},
    "Buffer_UnpaddedDimensions": {
        "unpadded_dims": ("shape", "dimensions"),
        "num_dims": ("shape", "rank"),
    },
    "Buffer_OnDeviceSizeInBytes": {"on_device_size_in_bytes": ("shape", "byte_size")},
    "Buffer_Device": {"device": ("device",)},
    "Buffer_Memory": {"memory": ("memory",)},
    "Buffer_IsDeleted": {"is_deleted": ("is_deleted",)},
    "Buffer_ReadyEvent": {"event": ("ready",)},
    "Buffer_UnsafePointer": {"buffer_pointer": ("data",)},
    "Buffer_OpaqueDeviceMemoryDataPointer": {"device_memory_ptr": ("data",)},
}
"""The functions that read fields of a buffer: for each field of the arguments, the way to it."""

_CONSTANTS: dict[str, tuple[str, int]] = {
    "Buffer_IsOnCpu": ("is_on_cpu", 1),
    "Buffer_DynamicDimensionIndices": ("num_dynamic_dims", 0),
}
"""The functions that say the same of all buffers: the field of the arguments, and its value."""

_EVENTS: dict[str, str] = {
    "Event_Destroy": "",
    "Event_Error": "",
    "Event_Await": "",
    "Event_IsReady": "  {is_ready}\n  store i8 1, ptr %is_ready",
    "Event_OnReady": (
        "  {callback}\n  %function = load ptr, ptr %callback\n"
        "  {user_arg}\n  %given = load ptr, ptr %user_arg\n"
        "  call void %function(ptr null, ptr %given)"
    ),
}
"""What functions on events do with one that has happened."""

_HEAD = """
@python_functions = global [{count} x ptr] zeroinitializer
@happened = global i64 1
@python_give_back = global ptr null
declare i32 @Py_IsInitialized()
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Calls a function of Python, and nothing when Python has ended: arrays may live longer.
define ptr @call_python(ptr %args, i64 %number) {{
  %running = call i32 @Py_IsInitialized()
  %has_ended = icmp eq i32 %running, 0
  br i1 %has_ended, label %ended, label %call
ended:
  ret ptr null
call:
  %place = getelementptr ptr, ptr @python_functions, i64 %number
  %function = load ptr, ptr %place
  %error = tail call ptr %function(ptr %args)
  ret ptr %error
}}

; The release of data that the host has lent us.
define void @give_back(ptr %data, ptr %argument) {{
  %running = call i32 @Py_IsInitialized()
  %has_ended = icmp eq i32 %running, 0
  br i1 %has_ended, label %ended, label %call
ended:
  ret void
call:
  %function = load ptr, ptr @python_give_back
  call void %function(ptr %data, ptr %argument)
  ret void
}}
"""

_ON_BUFFERS = ("buffer_hold", "buffer_drop", "buffer_delete", "buffer_destroy")
_GLOBALS = ("happened", "python_functions", "python_give_back")
_PLUMBING = ("buffer_new", "free_data", "give_back", *_GLOBALS, *_ON_BUFFERS)


class MachineCode:
    """The compiled functions; their code stays as long as this object, which is for ever."""

    def __init__(self, object_code: bytes):
        self._linker = llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
        library = llvm.JITLibraryBuilder().add_object_img(object_code).add_current_process()
        for name in (*FUNCTIONS, *_PLUMBING):
            library.export_symbol(name)
        self._symbols: Any = library.link(self._linker, "pjrt")
        # Arrays are destroyed when Python's modules are gone.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))
        self.functions: Mapping[str, int] = {name: self._symbols[name] for name in FUNCTIONS}
        """The addresses of the functions of the API."""
        self.happened: int = self._symbols["happened"]
        """The event that has happened."""
        self.free_data: int = self._symbols["free_data"]
        """The `release` of data that `new_buffer` has allocated."""
        pointers = [ctypes.c_void_p] * 4
        self.new_buffer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, *pointers)(
            self._symbols["buffer_new"]
        )
        """Takes a shape, data or null for new ones, a device and a memory; null: no memory."""
        on_buffer = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
        self.hold, self.drop, self.delete, self.destroy = (
            on_buffer(self._symbols[name]) for name in _ON_BUFFERS
        )
        """Functions of a buffer: its memory stays until it is dropped; its data go; all of it."""

    @property
    def give_back(self) -> int:
        """The `release` of data that the host has lent us."""
        return self._symbols["give_back"]

    def call_python(self, functions: Mapping[str, int], give_back: int) -> None:
        """Says what compiled functions call where they need Python."""
        table = (ctypes.c_void_p * len(FUNCTIONS)).from_address(self._symbols["python_functions"])
        table[:] = [functions[name] for name in FUNCTIONS]
        place = ctypes.c_void_p.from_address(self._symbols["python_give_back"])
        place.value = give_back


@cache
def compiled_functions() -> tuple[str, ...]:
    """The names of the functions of the API that do without Python in the usual case."""
    return (*_READERS, *_CONSTANTS, *_EVENTS, *BUFFERS, *EXECUTE, "Buffer_GetMemoryLayout")


def machine_code() -> MachineCode:
    """The functions, compiled for this machine."""
    from lowerings.targets.llvm.machine import host  # noqa: PLC0415

    return MachineCode(host().object_code(module_text()))


def module_text() -> str:
    """The LLVM IR of all functions."""
    parts = [_HEAD.format(count=len(FUNCTIONS))]
    parts += [_function(name, _reader(name, fields)) for name, fields in _READERS.items()]
    parts += [_function(name, _constant(name, *row)) for name, row in _CONSTANTS.items()]
    parts += [_function(name, _on_event(name, body)) for name, body in _EVENTS.items()]
    parts.append(_function("Buffer_GetMemoryLayout", _layout_reader()))
    for templates in (BUFFERS, EXECUTE):
        for name, (plumbing, body) in templates.items():
            parts += [_filled(plumbing, name), _function(name, _filled(body, name))]
    parts += [_in_python(name) for name in FUNCTIONS if name not in compiled_functions()]
    return "\n".join(parts)


def _in_python(name: str) -> str:
    return f"""
define ptr @{name}(ptr %args) {{
  %error = tail call ptr @call_python(ptr %args, i64 {FUNCTIONS.index(name)})
  ret ptr %error
}}
"""


def _function(name: str, body: str) -> str:
    """A function of the API: calls Python's where the caller's struct is shorter than ours."""
    needed = required_size(arguments_of(name))
    return f"""
define ptr @{name}(ptr %args) {{
  %size = load i64, ptr %args
  %is_short = icmp ult i64 %size, {needed}
  br i1 %is_short, label %python, label %body
python:
  %error = tail call ptr @call_python(ptr %args, i64 {FUNCTIONS.index(name)})
  ret ptr %error
body:
{body}
}}
"""


def _field(pointer: str, struct: Any, name: str) -> str:
    return f"getelementptr i8, ptr {pointer}, i64 {getattr(struct, name).offset}"


def _type_of(struct: Any, name: str) -> str:
    return _LLVM_TYPES[dict(struct._fields_)[name]]


def _reader(name: str, fields: Mapping[str, tuple[str, ...]]) -> str:
    args = arguments_of(name)
    lines = [f"%at = {_field('%args', args, 'buffer')}", "%buffer = load ptr, ptr %at"]
    for number, (field, path) in enumerate(fields.items()):
        record, struct = "%buffer", Buffer
        if len(path) > 1:
            lines.append(f"%way{number} = {_field(record, Buffer, path[0])}")
            lines.append(f"%shape{number} = load ptr, ptr %way{number}")
            record, struct = f"%shape{number}", Shape
        type_ = _type_of(struct, path[-1])
        lines.append(f"%from{number} = {_field(record, struct, path[-1])}")
        lines.append(f"%value{number} = load {type_}, ptr %from{number}")
        lines.append(f"%to{number} = {_field('%args', args, field)}")
        lines.append(f"store {type_} %value{number}, ptr %to{number}")
    return "\n".join(f"  {line}" for line in (*lines, "ret ptr null"))


def _constant(name: str, field: str, value: int) -> str:
    args = arguments_of(name)
    return f"""
  %to = {_field("%args", args, field)}
  store {_type_of(args, field)} {value}, ptr %to
  ret ptr null"""


def _on_event(name: str, body: str) -> str:
    args = arguments_of(name)
    fields = {
        field: f"%{field} = {_field('%args', args, field)}" for field, _ in args._fields_[2:]
    }
    return f"""
  {fields["event"]}
  %record = load ptr, ptr %event
  %state = {_field("%record", Event, "has_happened")}
  %happened = load i64, ptr %state
  %is_ready_now = icmp eq i64 %happened, 1
  br i1 %is_ready_now, label %ready, label %python
ready:
{body.format(**fields)}
  ret ptr null"""


def _layout_reader() -> str:
    args = arguments_of("Buffer_GetMemoryLayout")
    return f"""
  %at = {_field("%args", args, "buffer")}
  %buffer = load ptr, ptr %at
  %way = {_field("%buffer", Buffer, "shape")}
  %shape = load ptr, ptr %way
  %from = {_field("%shape", Shape, "layout")}
  %to = {_field("%args", args, "layout")}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {required_size(MemoryLayout)}, i1 0)
  ret ptr null"""


def _filled(template: str, function: str) -> str:
    """A template with `{Record.field of %pointer}` and the like in full."""
    structs = {
        "Buffer": Buffer,
        "Shape": Shape,
        "Loaded": Loaded,
        "Options": ExecuteOptions,
        "Args": arguments_of(function),
    }
    filled = template
    for name, struct in structs.items():
        for field, _ in struct._fields_:
            filled = filled.replace(f"<{name}.{field}>", str(getattr(struct, field).offset))
    sizes = {"Buffer": ctypes.sizeof(Buffer)}
    for name, size in sizes.items():
        filled = filled.replace(f"<{name}>", str(size))
    return filled.replace("<not donated>", str(NOT_DONATED))
