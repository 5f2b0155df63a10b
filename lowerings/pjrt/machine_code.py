"""
The functions of the API that need no Python, as machine code.

A call through ctypes takes the interpreter's lock and three microseconds; a program with a hundred
arguments makes a thousand of them at each call. Each function here falls back on Python's where it
meets what it does not know.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

import llvmlite.binding as typed_llvm

from lowerings.execution.capsules import keep_for_ever
from lowerings.execution.compile_cache import CompileCache
from lowerings.execution.meeting_records import RunRecord
from lowerings.pjrt.c_api import (
    EXTENSION_FUNCTIONS,
    FUNCTIONS,
    ErrorCode,
    ExecuteOptions,
    HostBufferSemantics,
    MemoryLayout,
    arguments_of,
    required_size,
)
from lowerings.pjrt.functions import COMPILE, end_compilations
from lowerings.pjrt.host_template import FROM_HOST
from lowerings.pjrt.interfaces import compile_cache
from lowerings.pjrt.records import (
    COPIED_BYTES,
    HOST_ALIGNMENT,
    INTERRUPTED,
    NOT_DONATED,
    BufferRecord,
    DeviceRecord,
    ErrorRecord,
    EventRecord,
    ExecutableRecord,
    LayoutRecord,
    LoadedRecord,
    MemoryRecord,
    RunEnd,
    ShapeRecord,
)
from lowerings.pjrt.templates import BUFFERS, EXECUTE, LAYOUTS
from lowerings.runtime import (
    ENTER_DEFAULT_MODE,
    HOLD_INTERRUPT,
    LEAVE_DEFAULT_MODE,
    RELEASE_INTERRUPT,
    RUN,
)
from lowerings.runtime import library as runtime_library

llvm: Any = typed_llvm

_LLVM_TYPES: dict[Any, str] = {
    ctypes.c_char_p: "ptr",
    ctypes.c_void_p: "ptr",
    ctypes.c_size_t: "i64",
    ctypes.c_int64: "i64",
    ctypes.c_int32: "i32",
    ctypes.c_bool: "i8",
}

_CLOSED = b"Python has ended"

_Fields = dict[str, tuple[str, ...]]
"""For each field of the arguments, the way to it: its name, after that of a pointer to a shape."""

_READERS: dict[str, tuple[str, Any, _Fields]] = {
    "Buffer_ElementType": ("buffer", BufferRecord, {"type": ("shape", "element_type")}),
    "Buffer_Dimensions": (
        "buffer",
        BufferRecord,
        {"dims": ("shape", "dimensions"), "num_dims": ("shape", "rank")},
    ),
    "Buffer_UnpaddedDimensions": (
        "buffer",
        BufferRecord,
        {"unpadded_dims": ("shape", "dimensions"), "num_dims": ("shape", "rank")},
    ),
    "Buffer_OnDeviceSizeInBytes": (
        "buffer",
        BufferRecord,
        {"on_device_size_in_bytes": ("shape", "byte_size")},
    ),
    "Buffer_Device": ("buffer", BufferRecord, {"device": ("device",)}),
    "Buffer_Memory": ("buffer", BufferRecord, {"memory": ("memory",)}),
    "Buffer_IsDeleted": ("buffer", BufferRecord, {"is_deleted": ("is_deleted",)}),
    "Buffer_ReadyEvent": ("buffer", BufferRecord, {"event": ("ready",)}),
    "Buffer_UnsafePointer": ("buffer", BufferRecord, {"buffer_pointer": ("data",)}),
    "Layouts_PJRT_Buffer_MemoryLayout": (
        "buffer",
        BufferRecord,
        {"layout": ("shape", "named_layout")},
    ),
    "Buffer_OpaqueDeviceMemoryDataPointer": (
        "buffer",
        BufferRecord,
        {"device_memory_ptr": ("data",)},
    ),
    "Memory_Kind": ("memory", MemoryRecord, {"kind": ("kind",), "kind_size": ("kind_size",)}),
    "Device_DefaultMemory": ("device", DeviceRecord, {"memory": ("default_memory",)}),
    "Executable_NumReplicas": ("executable", ExecutableRecord, {"num_replicas": ("replicas",)}),
    "Executable_NumPartitions": (
        "executable",
        ExecutableRecord,
        {"num_partitions": ("partitions",)},
    ),
    "Executable_NumOutputs": ("executable", ExecutableRecord, {"num_outputs": ("results",)}),
}
"""The functions that read fields: the argument with the handle, what that points to, and which."""

_ERROR_READERS: dict[str, tuple[str, Any, _Fields]] = {
    "Error_Message": (
        "error",
        ErrorRecord,
        {"message": ("message",), "message_size": ("size",)},
    ),
    "Error_GetCode": ("error", ErrorRecord, {"code": ("code",)}),
}
"""As `_READERS`: what is asked of an error, also when Python has ended."""

_CONSTANTS: dict[str, tuple[str, int]] = {
    "Buffer_IsOnCpu": ("is_on_cpu", 1),
    "Buffer_DynamicDimensionIndices": ("num_dynamic_dims", 0),
}
"""The functions that say the same of all buffers: the field of the arguments, and its value."""

_ERROR_DESTROY = """
  %error_at = getelementptr i8, ptr %args, i64 <Args.error>
  %destroyed = load ptr, ptr %error_at
  %is_none = icmp eq ptr %destroyed, null
  br i1 %is_none, label %none, label %python
none:
  ret ptr null"""
"""There mostly was no error."""

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

_OTHERS = ("Buffer_GetMemoryLayout", "Error_Destroy")

_HEAD = """
@python_functions = global [{count} x ptr] zeroinitializer
@happened = global i64 1
@python_give_back = global ptr null
@interruption = global ptr null
@closed_text = constant [{closed_size} x i8] c"{closed_text}"
@closed = constant {{ ptr, i64, i32 }} {{ ptr @closed_text, i64 {closed_size}, i32 {closed_code} }}
@is_closing = global i64 0
@in_flight = global i64 0
@main_thread = global i64 0
declare i32 @Py_IsInitialized()
declare i64 @pthread_self()
declare i64 @xla_fp_enter()
declare void @xla_fp_leave(i64)
declare i32 @xla_run(ptr, ptr, i64, ptr)
declare i64 @xla_hold_interrupt()
declare void @xla_release_interrupt(i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; Whether Python can be called: arrays may live longer than it does, and while it ends, it would end
; other threads that call it, and with them the process. `leave_python` has to follow.
define i1 @enter_python() {{
  %before = atomicrmw add ptr @in_flight, i64 1 seq_cst
  %running = call i32 @Py_IsInitialized()
  %has_ended = icmp eq i32 %running, 0
  br i1 %has_ended, label %no, label %look
look:
  %closing = load atomic i64, ptr @is_closing seq_cst, align 8
  %is_open = icmp eq i64 %closing, 0
  br i1 %is_open, label %yes, label %compare
compare:
  %thread = call i64 @pthread_self()
  %main = load i64, ptr @main_thread
  %is_main = icmp eq i64 %thread, %main
  ret i1 %is_main
yes:
  ret i1 1
no:
  ret i1 0
}}

define void @leave_python() {{
  %before = atomicrmw sub ptr @in_flight, i64 1 seq_cst
  ret void
}}

; Calls a function of Python; gives back `refusal` where that cannot be.
define ptr @call_python(ptr %args, i64 %number, ptr %refusal) {{
  %can_call = call i1 @enter_python()
  br i1 %can_call, label %call, label %done
call:
  %place = getelementptr ptr, ptr @python_functions, i64 %number
  %function = load ptr, ptr %place
  %mode = call i64 @xla_fp_enter()
  %held = call i64 @xla_hold_interrupt()
  %found = call i64 %function(ptr %args)
  %mark = and i64 %found, <interrupted>
  %is_due = or i64 %held, %mark
  call void @xla_release_interrupt(i64 %is_due)
  call void @xla_fp_leave(i64 %mode)
  %handle = sub i64 %found, %mark
  %error_found = inttoptr i64 %handle to ptr
  br label %done
done:
  %error = phi ptr [ %refusal, %0 ], [ %error_found, %call ]
  call void @leave_python()
  ret ptr %error
}}

; The release of data that the host has lent us.
define void @give_back(ptr %data, ptr %argument) {{
  %can_call = call i1 @enter_python()
  br i1 %can_call, label %call, label %done
call:
  %function = load ptr, ptr @python_give_back
  call void %function(ptr %data, ptr %argument)
  br label %done
done:
  call void @leave_python()
  ret void
}}
"""

_ON_BUFFERS = ("buffer_hold", "buffer_drop", "buffer_delete", "buffer_destroy")
_PYTHON = (
    "python_functions",
    "python_give_back",
    "interruption",
    "is_closing",
    "in_flight",
    "main_thread",
)
_OF_RUNTIME = (
    *(ENTER_DEFAULT_MODE, LEAVE_DEFAULT_MODE, RUN),
    *(HOLD_INTERRUPT, RELEASE_INTERRUPT),
)
_PLUMBING = ("buffer_new", "give_back", "happened", *_ON_BUFFERS)


_PATIENCE = 5.0
"""Seconds that the end of the process waits for calls of other threads."""

_ALL = (*FUNCTIONS, *EXTENSION_FUNCTIONS)


class _Code:
    """Object code in this process, for as long as that lives: arrays outlive Python's modules."""

    def __init__(self, text: str, names: Sequence[str]):
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        object_code = _object_code(text)
        self._linker = llvm.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
        library = llvm.JITLibraryBuilder().add_object_img(object_code).add_current_process()
        for name in _OF_RUNTIME:
            function = getattr(runtime_library(), name)
            library.import_symbol(name, ctypes.cast(function, ctypes.c_void_p).value or 0)
        for name in (*names, *_PYTHON):
            library.export_symbol(name)
        self.symbols: Any = library.link(self._linker, "pjrt")
        self.functions: Mapping[str, int] = {n: self.symbols[n] for n in names if n in _ALL}
        """The addresses of the functions of the API."""
        keep_for_ever(self)
        atexit.register(self._close)
        os.register_at_fork(after_in_child=self._forget_calls)

    def _close(self) -> None:
        """Only this thread calls Python from now on; waits for the calls of others."""
        self._word("main_thread").value = threading.get_ident()
        # The client waits for its threads that compile, as long as that takes.
        end_compilations()
        self._word("is_closing").value = 1
        end = time.monotonic() + _PATIENCE
        while self._word("in_flight").value > 0 and time.monotonic() < end:
            time.sleep(1e-3)

    def _forget_calls(self) -> None:
        """In a child of this process: it has none of the threads whose calls it would wait for."""
        self._word("in_flight").value = 0

    def _word(self, name: str) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.symbols[name])

    def call_python(self, functions: Mapping[str, int]) -> None:
        """Says which functions of Python are called."""
        table = (ctypes.c_void_p * len(_ALL)).from_address(self.symbols["python_functions"])
        table[:] = [functions[name] for name in _ALL]


def _object_code(text: str) -> bytes:
    """Of a module, for any processor of this kind: kept beside programs, if these are kept."""
    cache = CompileCache.of(compile_cache())
    if cache is None:
        return _compiled(text)
    decides = f"{version('llvmlite')} {llvm.get_default_triple()}\n{text}"
    key = hashlib.sha256(decides.encode()).hexdigest()
    found = cache.read(key)
    if found is None:
        found = _compiled(text)
        cache.write(key, found)
    return found


def _compiled(text: str) -> bytes:
    # Optimized, calls take as long, and the first array 60 ms more.
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0, reloc="pic")
    return machine.emit_object(llvm.parse_assembly(text, llvm.create_context()))


class Trampolines(_Code):
    """The functions of the API that call Python's, and nothing when Python has ended."""

    def __init__(self) -> None:
        text = "\n".join([_head(), *map(_in_python, _ALL)])
        super().__init__(text, _ALL)


class MachineCode(_Code):
    """The functions that need no Python in the usual case."""

    def __init__(self) -> None:
        super().__init__(module_text(), (*compiled_functions(), *_PLUMBING))
        symbols = self.symbols
        self.happened: int = symbols["happened"]
        """The event that has happened."""
        self.give_back: int = symbols["give_back"]
        """The `release` of data that the host has lent us."""
        pointers = [ctypes.c_void_p] * 4
        self.new_buffer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, *pointers)(symbols["buffer_new"])
        """Takes a shape, data or null for new ones, a device and a memory; null: no memory."""
        on_buffer = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
        self.hold, self.drop, self.delete, self.destroy = (
            on_buffer(symbols[name]) for name in _ON_BUFFERS
        )
        """Functions of a buffer: its memory stays until it is dropped; its data go; all of it."""

    def set_give_back(self, function: int) -> None:
        """Says which function of Python is told of data that are not needed any more."""
        ctypes.c_void_p.from_address(self.symbols["python_give_back"]).value = function

    def set_interruption(self, event: int) -> None:
        """Says what those wait for who read results of runs that were interrupted."""
        ctypes.c_void_p.from_address(self.symbols["interruption"]).value = event


@cache
def compiled_functions() -> tuple[str, ...]:
    """The names of the functions of the API that do without Python in the usual case."""
    return (
        *_READERS,
        *_ERROR_READERS,
        *_CONSTANTS,
        *_EVENTS,
        *BUFFERS,
        *LAYOUTS,
        *FROM_HOST,
        *EXECUTE,
        *_OTHERS,
    )


def _head() -> str:
    text = _HEAD.format(
        count=len(_ALL),
        closed_text=_CLOSED.decode(),
        closed_size=len(_CLOSED),
        closed_code=int(ErrorCode.CANCELLED),
    )
    return text.replace("<interrupted>", str(INTERRUPTED))


def module_text() -> str:
    """The LLVM IR of the functions that need no Python in the usual case."""
    parts = [_head()]
    readers = {**_READERS, **_ERROR_READERS}
    parts += [_function(name, _reader(name, *row)) for name, row in readers.items()]
    parts += [_function(name, _constant(name, *row)) for name, row in _CONSTANTS.items()]
    parts += [_function(name, _on_event(name, body)) for name, body in _EVENTS.items()]
    parts.append(_function("Buffer_GetMemoryLayout", _layout_reader()))
    parts.append(_function("Error_Destroy", _filled(_ERROR_DESTROY, "Error_Destroy")))
    for templates in (BUFFERS, LAYOUTS, FROM_HOST, EXECUTE):
        for name, (plumbing, body) in templates.items():
            parts += [_filled(plumbing, name), _function(name, _filled(body, name))]
    return "\n".join(parts)


def _in_python(name: str) -> str:
    if name in _ERROR_READERS:
        return _function(name, _reader(name, *_ERROR_READERS[name]))
    # Clients crash where something cannot be given up; what they compile they have to be denied.
    refusal = "@closed" if name in COMPILE else "null"
    return f"""
define ptr @{name}(ptr %args) {{
  %error = call ptr @call_python(ptr %args, i64 {_ALL.index(name)}, ptr {refusal})
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
  %error = tail call ptr @call_python(ptr %args, i64 {_ALL.index(name)}, ptr null)
  ret ptr %error
body:
{body}
}}
"""


def _names(struct: Any) -> list[str]:
    return [field[0] for field in struct._fields_]


def _field(pointer: str, struct: Any, name: str) -> str:
    return f"getelementptr i8, ptr {pointer}, i64 {getattr(struct, name).offset}"


def _type_of(struct: Any, name: str) -> str:
    return _LLVM_TYPES[dict(struct._fields_)[name]]


def _reader(name: str, handle: str, read: Any, fields: _Fields) -> str:
    args = arguments_of(name)
    lines = [f"%at = {_field('%args', args, handle)}", "%handle = load ptr, ptr %at"]
    for number, (field, path) in enumerate(fields.items()):
        record, struct = "%handle", read
        *way, last = path
        if way:
            lines.append(f"%way{number} = {_field(record, read, way[0])}")
            lines.append(f"%shape{number} = load ptr, ptr %way{number}")
            record, struct = f"%shape{number}", ShapeRecord
        type_ = _type_of(struct, last)
        lines.append(f"%from{number} = {_field(record, struct, last)}")
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
    fields = {field: f"%{field} = {_field('%args', args, field)}" for field, _ in args._fields_[2:]}
    return f"""
  {fields["event"]}
  %record = load ptr, ptr %event
  %state = {_field("%record", EventRecord, "has_happened")}
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
  %way = {_field("%buffer", BufferRecord, "shape")}
  %shape = load ptr, ptr %way
  %from = {_field("%shape", ShapeRecord, "layout")}
  %to = {_field("%args", args, "layout")}
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 {required_size(MemoryLayout)}, i1 0)
  ret ptr null"""


def _filled(template: str, function: str) -> str:
    """A template with `{Record.field of %pointer}` and the like in full."""
    structs: dict[str, Any] = {
        "Buffer": BufferRecord,
        "Shape": ShapeRecord,
        "Loaded": LoadedRecord,
        "Options": ExecuteOptions,
        "Memory": MemoryRecord,
        "Layout": LayoutRecord,
        "Device": DeviceRecord,
        "Run": RunRecord,
        "Args": arguments_of(function),
    }
    filled = template
    for name, struct in structs.items():
        for field in _names(struct):
            filled = filled.replace(f"<{name}.{field}>", str(getattr(struct, field).offset))
    for name, struct in (("Buffer", BufferRecord), ("Loaded", LoadedRecord)):
        filled = filled.replace(f"<{name}>", str(ctypes.sizeof(struct)))
    numbers = {
        "not donated": NOT_DONATED,
        "function": _ALL.index(function),
        "copied bytes": COPIED_BYTES,
        **{end.name: end for end in RunEnd},
        "alignment": HOST_ALIGNMENT,
        "zero copy": HostBufferSemantics.IMMUTABLE_ZERO_COPY,
    }
    for name, number in numbers.items():
        filled = filled.replace(f"<{name}>", str(int(number)))
    return filled
