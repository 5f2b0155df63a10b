"""
Programs of a client: compiled, loaded, asked about; with the extensions of the API for layouts of
arrays, and how devices share them.
"""

from __future__ import annotations

import ctypes
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lowerings.backends import DUMP
from lowerings.execution.code import Workspace
from lowerings.execution.executable import Executable
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.pjrt import profiler
from lowerings.pjrt.buffers import TOKEN, Shape, shape_from
from lowerings.pjrt.c_api import (
    NOT_DONATED,
    ErrorCode,
    ExecutableRecord,
    LoadedRecord,
    NamedValue,
    NamedValueType,
    Program,
    address,
)
from lowerings.pjrt.client import CLIENTS, MEMORY_KINDS, Client, Device, array_of
from lowerings.pjrt.functions import (
    Objects,
    PluginError,
    answers,
    characters,
    implements,
    text,
)
from lowerings.pjrt.interfaces import XLA_CLIENT
from lowerings.pjrt.profiler import Trace
from lowerings.pjrt.program_text import CompileOptions, ProgramText
from lowerings.pjrt.programs import LOADED, CompiledProgram
from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.execution.callbacks import Callbacks
    from lowerings.execution.profile import RunEvents
    from lowerings.pjrt.shardings import ArrayDivision
    from lowerings.pjrt.shared_programs import SharedProgram


EXECUTABLES = Objects("executable")
_serialized = Objects("serialized executable")

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@_Deleter
def _forget_serialized(handle: int | None) -> None:
    _serialized.forget(handle)


class LoadedProgram:
    """A program on devices of a client."""

    def __init__(self, compiled: CompiledProgram, client: Client):
        self.compiled = compiled
        self.client = client
        options = compiled.options
        count = options.device_count
        numbers = options.devices or range(count)
        self.devices: Sequence[Device] = [client.device(number) for number in numbers]
        places = [n for n, device in enumerate(self.devices) if device.is_own]
        self.own_devices = [self.devices[n] for n in places]
        """Those of this process."""
        self.device_handles = array_of([device.handle for device in self.own_devices])
        self.logical_ids = (ctypes.c_int32 * max(2 * len(places), 1))(
            *(number for n in places for number in divmod(n, options.partitions))
        )
        self.shared: SharedProgram | None = None
        """The part that this process has in it, if others have some, too."""
        self.is_deleted = False
        self._record = LoadedRecord()
        self.take_error: Callable[[], BaseException | None] = lambda: None
        """What has ended the run without Python that comes before this call; then it is gone."""
        self._kept: tuple[Any, ...] = ()
        program = compiled.program
        self.runs_jointly = compiled.runs_in_place and (
            isinstance(program, PartitionedProgram)
            and isinstance(program.local, Executable)
            and program.local.can_run_jointly
        )
        """Whether its devices need no Python while it runs."""
        if client.links is not None and 0 < len(places) < count:
            # Programs of one process know nothing of others.
            from lowerings.pjrt.shared_programs import SharedProgram  # noqa: PLC0415

            self.shared = SharedProgram(compiled, client.links, self.devices)
        self._is_prepared = False
        self._preparing = threading.Lock()
        self._traced: Runnable | None = None
        """What runs it while a trace is taken: C runs nothing then."""
        self.traced_as = ""
        """What a trace has of its calls, where it cannot be compiled once more."""
        self._parts = (LoadedRecord * count)() if count > 1 else None
        self._has_tokens = any(
            shape.element_type == TOKEN for shape in (*compiled.parameters, *compiled.results)
        )
        donors = set(compiled.donors.values())
        is_simple = compiled.runs_in_place and compiled.donated <= donors
        if count == 1 and isinstance(program, Executable) and is_simple and not self._has_tokens:
            workspace = program.detached_workspace()
            if workspace is not None:
                self._prepare(workspace, program.callbacks)
        self.handle = LOADED.keep(self._record, self)

    def _prepare(self, workspace: Workspace, callbacks: Callbacks | None) -> None:
        """Tells the library in C how to run the program, which may call functions of Python."""
        record = self._record
        record.entry, record.state = workspace.code.entry, workspace.state
        if callbacks is not None:
            record.error = address(callbacks.failure)
            self.take_error = callbacks.take_error
        self._describe(record, self.devices[0], workspace.table)
        record.device_count, record.parts = 1, address(record)
        record.runs_without_python = True
        self._kept += (workspace, callbacks)

    @property
    def program(self) -> Runnable:
        """What runs it now."""
        trace = profiler.current()
        return self.compiled.program if trace is None else self._with_events(trace)

    def _with_events(self, trace: Trace) -> Runnable:
        """The program compiled once more, so that it tells when its kernels run."""
        with self._preparing:
            program = self._traced
            if program is None:
                started, devices = time.monotonic_ns(), [device.id for device in self.devices]
                name = self.compiled.name

                def note(events: RunEvents) -> None:
                    found = profiler.current()
                    if found is not None:
                        found.add(name, events, devices)

                try:
                    program = self.compiled.with_events(note)
                except (PluginError, XlaError) as error:
                    program = self.compiled.program
                    self.traced_as = f"{name}, without its kernels: {error}"
                else:
                    trace.remark(name, f"compile {name} with a profile", started, devices)
                self._traced = program
            return program

    def prepare_jointly(self) -> None:
        """
        Tells the library in C how to run the program for all devices in one thread, if that is what
        is done with it.
        """
        program, record, parts = self.compiled.program, self._record, self._parts
        if self._is_prepared or self.is_deleted or self.compiled.donated:
            return
        if self._has_tokens or parts is None or not isinstance(program, PartitionedProgram):
            return
        assert isinstance(program.local, Executable)
        runs = None if self.shared is None else self.shared.runs
        with self._preparing:
            if self._is_prepared or not (runs or program.local.is_short):
                return
            # Once, even if C gives it up: some thread might be about to look.
            self._is_prepared = True
        joint = runs.make() if runs else program.local.new_joint_run()
        for part, device, pointers in zip(parts, self.own_devices, joint.pointers, strict=False):
            self._describe(part, device, pointers)
        record.parameter_count = len(self.compiled.parameters)
        record.device_count, record.parts = len(self.own_devices), address(parts)
        record.joint = joint.address
        record.runs_without_python = True
        self._kept += (joint,)

    def _describe(self, record: Any, device: Device, pointers: int) -> None:
        """What a device takes and gives, and where the pointers to that are to be."""
        compiled = self.compiled
        parameters = _shape_handles(compiled.parameters)
        results = _shape_handles(compiled.results)
        donors = None
        if compiled.donors:
            numbers = [compiled.donors.get(n, NOT_DONATED) for n in range(len(compiled.results))]
            donors = (ctypes.c_int64 * len(numbers))(*numbers)
        record.pointers = pointers
        record.parameter_count = len(compiled.parameters)
        record.parameter_shapes = address(parameters)
        record.result_count = len(compiled.results)
        record.result_shapes = address(results)
        record.donors = None if donors is None else address(donors)
        record.device = device.handle
        memories = array_of([device.memories[kind].handle for kind in compiled.result_memories])
        record.result_memories = address(memories)
        self._kept += (parameters, results, memories, donors)

    def delete(self) -> None:
        """It is not executed any more."""
        self.is_deleted = True
        self._record.runs_without_python = False


def _shape_handles(shapes: Sequence[Shape]) -> Any:
    return array_of([shape.handle for shape in shapes])


def _program_text(handle: int) -> ProgramText:
    program = Program.from_address(handle)
    form = characters(program.format, program.format_size)
    if form != b"mlir":
        raise PluginError(
            ErrorCode.UNIMPLEMENTED, f"programs are taken as mlir, not as {form.decode()}"
        )
    return ProgramText.of_client(characters(program.code, program.code_size))


def _compile(args: Any) -> CompiledProgram:
    options = CompileOptions.parse(characters(args.compile_options, args.compile_options_size))
    return _compiled(_program_text(args.program), options)


def _compiled(text: ProgramText, options: CompileOptions) -> CompiledProgram:
    found = CompiledProgram(text, options)
    if DUMP in options.named:
        _inspection().dump(found, options.named[DUMP])
    return found


def _inspection() -> ModuleType:
    """What shows programs needs printers, and passes that no program is compiled with."""
    from lowerings.pjrt import inspection  # noqa: PLC0415

    return inspection


@implements("Client_Compile")
def client_compile(args: Any) -> None:
    """Compiles a program and loads it."""
    args.executable = LoadedProgram(_compile(args), CLIENTS[args.client]).handle


def _executable_handle(compiled: CompiledProgram) -> int:
    options = compiled.options
    record = ExecutableRecord(options.replicas, options.partitions, len(compiled.results))
    return EXECUTABLES.keep(record, compiled)


@implements("LoadedExecutable_Destroy")
def loaded_destroy(args: Any) -> None:
    """Nobody executes it any more."""
    LOADED.forget(args.executable)


@implements("LoadedExecutable_Delete")
def loaded_delete(args: Any) -> None:
    """It cannot be executed any more."""
    LOADED[args.executable].delete()


@implements("LoadedExecutable_GetDeviceAssignment")
def loaded_device_assignment(args: Any) -> None:
    """The ids of the devices, as XLA writes them."""
    loaded = LOADED[args.executable]
    options = loaded.compiled.options
    data = _assignment(
        options.replicas, options.partitions, [device.id for device in loaded.devices]
    )
    return_bytes(args, data, "serialized_bytes", "serialized_device_assignment")


def _assignment(replicas: int, partitions: int, ids: Sequence[int]) -> bytes:
    return XLA_CLIENT.DeviceAssignment.create(np.reshape(ids, (replicas, partitions))).serialize()


def return_bytes(args: Any, data: bytes, field: str, owner: str) -> None:
    """Returns bytes that the client gives back."""
    memory = ctypes.create_string_buffer(data, len(data) or 1)
    setattr(args, owner, _serialized.keep(memory, data))
    setattr(args, f"{owner}_deleter", ctypes.cast(_forget_serialized, ctypes.c_void_p).value)
    setattr(args, field, address(memory))
    setattr(args, f"{field}_size", len(data))


answers(
    LOADED,
    "executable",
    {
        "LoadedExecutable_IsDeleted": lambda loaded: {"is_deleted": loaded.is_deleted},
        # Those of this process that it runs on, replica by replica.
        "LoadedExecutable_AddressableDevices": lambda loaded: {
            "addressable_devices": address(loaded.device_handles),
            "num_addressable_devices": len(loaded.own_devices),
        },
        # Replica and partition of each device.
        "LoadedExecutable_AddressableDeviceLogicalIds": lambda loaded: {
            "addressable_device_logical_ids": address(loaded.logical_ids),
            "num_addressable_device_logical_ids": len(loaded.own_devices),
        },
        "LoadedExecutable_Fingerprint": lambda loaded: {
            "executable_fingerprint": loaded.compiled.fingerprint
        },
    },
)
answers(
    LOADED,
    "loaded_executable",
    {
        "LoadedExecutable_GetExecutable": lambda loaded: {
            "executable": _executable_handle(loaded.compiled)
        }
    },
)
answers(
    EXECUTABLES,
    "executable",
    {
        "Executable_Fingerprint": lambda compiled: {"executable_fingerprint": compiled.fingerprint},
        "Executable_Name": lambda compiled: {"executable_name": compiled.name},
        "Executable_SizeOfGeneratedCodeInBytes": lambda _: {"size_in_bytes": -1},  # Not counted.
    },
)


@implements("Executable_Destroy")
def executable_destroy(args: Any) -> None:
    """Forgets the handle."""
    EXECUTABLES.forget(args.executable)


_Fields: TypeAlias = dict[str, Any]


def _array(compiled: CompiledProgram, name: str, type_: Any, values: Sequence[Any]) -> int:
    """The address of an array that lives as long as the program."""
    value = (type_ * max(len(values), 1))(*values)
    return address(compiled.kept_for_clients.setdefault(name, value))


def _memory_kinds(compiled: CompiledProgram, side: str, memories: Sequence[int]) -> _Fields:
    texts = [text(MEMORY_KINDS[kind]) for kind in memories]
    kinds = _array(compiled, f"{side} memories", ctypes.c_void_p, [place for _, place, _ in texts])
    sizes = _array(compiled, f"{side} memory sizes", ctypes.c_size_t, [size for *_, size in texts])
    return {f"num_{side}s": len(texts), "memory_kinds": kinds, "memory_kind_sizes": sizes}


def _layouts(compiled: CompiledProgram, side: str, shapes: Sequence[Shape]) -> _Fields:
    layouts = [shape.record.named_layout for shape in shapes]
    places = _array(compiled, f"{side} layouts", ctypes.c_void_p, layouts)
    return {f"num_{side}s": len(shapes), "layouts": places}


def _shardings(
    compiled: CompiledProgram, side: str, count: int, divisions: Sequence[ArrayDivision] | None
) -> _Fields:
    # A program without results is one with an empty tuple, for XLA.
    if not divisions:
        return {f"num_{side}s": count, "shardings": None}
    # Only programs for several devices have any.
    from lowerings.pjrt.shardings import serialized  # noqa: PLC0415

    memories = [serialized(each) for each in divisions]
    kept = compiled.kept_for_clients.setdefault(
        f"{side} sharding bytes",
        [ctypes.create_string_buffer(data, len(data) or 1) for data in memories],
    )
    places = _array(compiled, f"{side} shardings", ctypes.c_void_p, [*map(address, kept)])
    sizes = _array(compiled, f"{side} sharding sizes", ctypes.c_size_t, [*map(len, memories)])
    return {f"num_{side}s": count, "shardings": places, "sharding_sizes": sizes}


def _dimensions(compiled: CompiledProgram) -> _Fields:
    """The sizes of all results behind each other, and how many each has."""
    sizes = [size for shape in compiled.results for size in shape.sizes]
    ranks = [len(shape.sizes) for shape in compiled.results]
    return {
        "num_outputs": len(ranks),
        "dims": _array(compiled, "dims", ctypes.c_int64, sizes),
        "dim_sizes": _array(compiled, "ranks", ctypes.c_size_t, ranks),
    }


def _element_types(compiled: CompiledProgram) -> _Fields:
    types = [shape.record.element_type for shape in compiled.results]
    place = _array(compiled, "types", ctypes.c_int32, types)
    return {"output_types": place, "num_output_types": len(types)}


answers(
    EXECUTABLES,
    "executable",
    {
        "Executable_OutputElementTypes": _element_types,
        "Executable_OutputDimensions": _dimensions,
        "Executable_OutputMemoryKinds": lambda compiled: _memory_kinds(
            compiled, "output", compiled.result_memories
        ),
        "Executable_ParameterMemoryKinds": lambda compiled: _memory_kinds(
            compiled, "parameter", compiled.parameter_memories
        ),
        # Clients do not give layouts back.
        "Layouts_PJRT_Executable_GetOutputLayouts": lambda compiled: _layouts(
            compiled, "output", compiled.results
        ),
        "Layouts_PJRT_Executable_GetParameterLayouts": lambda compiled: _layouts(
            compiled, "parameter", compiled.parameters
        ),
        "Shardings_PJRT_Executable_OutputShardings": lambda compiled: _shardings(
            compiled, "output", len(compiled.results), compiled.result_divisions
        ),
        "Shardings_PJRT_Executable_ParameterShardings": lambda compiled: _shardings(
            compiled, "parameter", len(compiled.parameters), compiled.parameter_divisions
        ),
    },
)


@implements("Layouts_PJRT_Client_GetDefaultLayout")
def default_layout(args: Any) -> None:
    """Row-major."""
    args.layout = shape_from(args.type, args.dims, args.num_dims).record.named_layout


@implements("Executable_OptimizedProgram")
def executable_optimized_program(args: Any) -> None:
    """The program as it can be shown, in two calls: its size, and then its bytes."""
    compiled = EXECUTABLES[args.executable]
    program = Program.from_address(args.program)
    data = compiled.kept_for_clients.get("optimized") or _inspection().hlo_proto(compiled)
    compiled.kept_for_clients["optimized"] = data
    if not program.code:
        program.code_size = len(data)
    else:
        ctypes.memmove(program.code, data, len(data))
    _, program.format, program.format_size = text("hlo_with_config")


@implements("Executable_GetCostAnalysis")
def executable_cost_analysis(args: Any) -> None:
    """What `costs` counts, as floats by name."""
    compiled = EXECUTABLES[args.executable]
    kept = compiled.kept_for_clients.get("costs")
    if kept is None:
        found = _inspection().costs(compiled)
        kept = (NamedValue * len(found))()
        for each, (name, value) in zip(kept, found.items(), strict=True):
            each.struct_size = ctypes.sizeof(NamedValue)
            _, each.name, each.name_size = text(name)
            each.type, each.size = NamedValueType.FLOAT, 1
            place = address(each) + NamedValue.value.offset
            ctypes.c_float.from_address(place).value = value
        compiled.kept_for_clients["costs"] = kept
    args.properties, args.num_properties = address(kept), len(kept)


@implements("Executable_GetCompileOptions")
def executable_compile_options(args: Any) -> None:
    """As the client gave them."""
    data = EXECUTABLES[args.executable].options.serialized
    return_bytes(args, data, "serialized_bytes", "serialized_compile_options")


@implements("Executable_GetCompiledMemoryStats")
def executable_memory_stats(args: Any) -> None:
    """The bytes of arrays; temporary ones of programs that have an arena of a known size."""
    compiled = EXECUTABLES[args.executable]
    for name, _ in args._fields_[3:]:
        setattr(args, name, 0)
    args.argument_size_in_bytes = sum(shape.byte_size for shape in compiled.parameters)
    args.output_size_in_bytes = sum(shape.byte_size for shape in compiled.results)
    args.alias_size_in_bytes = sum(compiled.results[n].byte_size for n in compiled.donors)
    program = compiled.program
    if isinstance(program, Executable):
        args.temp_size_in_bytes = program.arena_size or 0
    args.peak_memory_in_bytes = (
        args.argument_size_in_bytes
        + args.output_size_in_bytes
        + args.temp_size_in_bytes
        - args.alias_size_in_bytes
    )


_LENGTH = struct.Struct("<Q")


def _parts_of(data: bytes) -> list[bytes]:
    """What is serialized, each part behind its length: options, code, names and constants."""
    parts: list[bytes] = []
    start = 0
    while start < len(data):
        (size,) = _LENGTH.unpack_from(data, start)
        start += _LENGTH.size + size
        parts.append(data[start - size : start])
    return parts


@implements("Executable_Serialize")
def executable_serialize(args: Any) -> None:
    """The program and its options; machine code is in the compile cache, where that is used."""
    compiled = EXECUTABLES[args.executable]
    if not compiled.is_serializable:
        raise PluginError(
            ErrorCode.UNIMPLEMENTED, f"{compiled.name} calls functions of this process"
        )
    options = compiled.options.serialized
    text = compiled.text
    constants = text.constants
    parts = [options, text.code, *(v for k in constants for v in (k.encode(), constants[k]))]
    data = b"".join(piece for part in parts for piece in (_LENGTH.pack(len(part)), part))
    return_bytes(args, data, "serialized_bytes", "serialized_executable")


@implements("Executable_DeserializeAndLoad")
def executable_deserialize_and_load(args: Any) -> None:
    """Compiles what was serialized, and loads it."""
    data = characters(args.serialized_executable, args.serialized_executable_size)
    serialized, artifact, *named = _parts_of(data)
    overriding = characters(
        args.overridden_serialized_compile_options,
        args.overridden_serialized_compile_options_size,
    )
    options = CompileOptions.parse(overriding or serialized)
    constants = {k.decode(): v for k, v in zip(named[::2], named[1::2], strict=True)}
    # Who asked how devices share arrays has been told, perhaps in another process.
    text = replace(ProgramText.of(artifact, constants=constants), listeners=())
    found = _compiled(text, options)
    args.loaded_executable = LoadedProgram(found, CLIENTS[args.client]).handle
