"""
Programs executed by Python: on several devices, with tokens, or in unusual calls.

All others are executed by `pjrt_execute.c` in `lowerings/runtime`, which asks here where it meets
what it does not know.
"""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lowerings.execution.executable import Executable
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.pjrt import plugin, profiler
from lowerings.pjrt.buffers import TOKEN, Shape, buffer_at, new_buffer, require_ready, shape_at
from lowerings.pjrt.c_api import BufferRecord, ErrorCode, ExecuteOptions
from lowerings.pjrt.client import DEVICES, Device, MemorySpace
from lowerings.pjrt.events import interruption
from lowerings.pjrt.executables import LoadedProgram
from lowerings.pjrt.functions import Interrupted, PluginError, implements, numbers, pointers
from lowerings.pjrt.programs import LOADED
from xla_dialect.element_types import Array

if TYPE_CHECKING:
    from lowerings.pjrt.shardings import ArrayDivision


@implements("LoadedExecutable_Execute")
def execute(args: Any) -> None:
    """Runs a program on the arrays of each device; its results are there when this returns."""
    loaded: LoadedProgram = LOADED[args.executable]
    error = loaded.take_error()
    if error is not None and not isinstance(error, KeyboardInterrupt):
        raise error
    if loaded.is_deleted:
        raise PluginError(ErrorCode.FAILED_PRECONDITION, f"{loaded.compiled.name} is deleted")
    count = args.num_devices
    arguments = [pointers(each, args.num_args) for each in pointers(args.argument_lists, count)]
    devices = [DEVICES[args.execute_device]] if args.execute_device else loaded.own_devices
    if len(devices) != count:
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT,
            f"{loaded.compiled.name} runs on {len(devices)} devices, not on {count}",
        )
    if not devices:
        # Other processes have all of its devices.
        return
    kept: frozenset[int] = frozenset()
    if args.options:
        options = ExecuteOptions.from_address(args.options)
        indices = options.non_donatable_input_indices
        kept = frozenset(numbers(indices, options.num_non_donatable_input_indices))
    donated = loaded.compiled.donated - kept
    for buffers in arguments:
        _check_given_once(buffers, donated)
    run = _run if profiler.current() is None else _run_traced
    with _held(arguments):
        was_interrupted = False
        try:
            if error is not None:
                raise error
            results = run(loaded, arguments, devices)
        except KeyboardInterrupt:
            was_interrupted = True
            results = [_interrupted_results(loaded, device) for device in devices]
        for buffers in arguments:
            for number in donated:
                plugin.delete(buffers[number])
    for place, buffers in zip(pointers(args.output_lists, count), results, strict=True):
        (ctypes.c_void_p * len(buffers)).from_address(place)[:] = buffers
    if args.device_complete_events:
        events = (ctypes.c_void_p * count).from_address(args.device_complete_events)
        events[:] = [plugin.HAPPENED] * count
    if was_interrupted:
        raise Interrupted


def _check_given_once(buffers: Sequence[int], donated: Set[int]) -> None:
    """Raises PluginError if an array that is donated is another argument, too."""
    numbers_of: dict[int, int] = {}
    for number, buffer in enumerate(buffers):
        first = numbers_of.setdefault(buffer, number)
        if first != number and not donated.isdisjoint((first, number)):
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT,
                f"arguments {first} and {number} are the same array, which is donated",
            )


@contextmanager
def _held(arguments: Sequence[Sequence[int]]) -> Generator[None]:
    """Keeps the memory of arrays, whoever deletes them."""
    buffers = [buffer for each in arguments for buffer in each]
    for buffer in buffers:
        plugin.hold(buffer)
    try:
        yield
    finally:
        for buffer in buffers:
            plugin.drop(buffer)


def _run(
    loaded: LoadedProgram, arguments: Sequence[Sequence[int]], devices: Sequence[Device]
) -> list[list[int]]:
    """The results of each device, as handles; raises PluginError where other processes fail."""
    compiled, shared, program = loaded.compiled, loaded.shared, loaded.program
    taken = [_arguments(loaded, each) for each in arguments]
    if shared is not None:
        shared.agree()
    run = _run_of_addresses(loaded, program, len(devices)) if compiled.runs_in_place else None
    if run is not None:
        results = _run_in_place(loaded, *run, taken, devices)
        if results is not None:
            return results
        if shared is not None:
            raise shared.error()
    arrays = [[shape.at(data) for shape, data in each] for each in taken]
    if shared is not None:
        found = shared.run(arrays)
    elif len(devices) == 1:
        found = [program(*arrays[0])]
    elif isinstance(program, PartitionedProgram):
        found = program.local.run_processes(arrays)
    else:
        found = _run_on_whole_arrays(loaded, program, arrays)
    return [_results(loaded, values, device) for values, device in zip(found, devices, strict=True)]


_Run = Callable[[Sequence[Sequence[int]]], bool]
"""
Runs a program on the addresses of what each device takes and gives; False where something has gone
wrong, for which others have the words.
"""


def _run_of_addresses(
    loaded: LoadedProgram, program: Runnable, count: int
) -> tuple[Executable, _Run] | None:
    """What each of so many devices runs, and how, where arrays are not moved for it."""
    if loaded.shared is not None:
        runs = loaded.shared.runs
        return None if runs is None else (loaded.shared.program, runs.run)
    if isinstance(program, Executable) and count == 1:
        return program, lambda addresses: program.run_at(addresses[0]) is None
    if loaded.runs_jointly and program is loaded.compiled.program:
        local = cast(Executable, cast(PartitionedProgram, program).local)
        return local, local.run_jointly
    return None


def _interrupted_results(loaded: LoadedProgram, device: Device) -> list[int]:
    """Arrays that are an error for whoever reads them."""
    handles = [new_buffer(shape, memory) for shape, memory in _places(loaded, device)]
    for handle in handles:
        BufferRecord.from_address(handle).ready = interruption()
    return handles


def _run_traced(
    loaded: LoadedProgram, arguments: Sequence[Sequence[int]], devices: Sequence[Device]
) -> list[list[int]]:
    numbers, started = [device.id for device in devices], time.monotonic_ns()
    with profiler.called_on(numbers):
        results = _run(loaded, arguments, devices)
    trace = profiler.current()
    if loaded.traced_as and trace is not None:
        trace.remark(loaded.compiled.name, loaded.traced_as, started, numbers)
    return results


def _run_in_place(
    loaded: LoadedProgram,
    program: Executable,
    run: _Run,
    arguments: Sequence[Sequence[tuple[Shape, int | None]]],
    devices: Sequence[Device],
) -> list[list[int]] | None:
    """Runs a program on the memory of its arguments and results; None as the run says."""
    results: list[list[int]] = []
    addresses: list[list[int]] = []
    is_well = False
    try:
        for each, device in zip(arguments, devices, strict=True):
            results.append([])
            addresses.append(_new_results(loaded, program, each, device, results[-1]))
        is_well = run(addresses)
        if is_well:
            loaded.prepare_jointly()
    finally:
        if not is_well:
            for result in itertools.chain.from_iterable(results):
                plugin.destroy(result)
    return results if is_well else None


def _run_on_whole_arrays(
    loaded: LoadedProgram, program: Runnable, parts: Sequence[Sequence[Array]]
) -> list[list[Array]]:
    """Puts the parts of all devices together, runs the program, and gives each device its part."""
    compiled, count = loaded.compiled, len(parts)
    whole = [
        division.joined([each[number] for each in parts], shape.sizes)
        for number, (shape, division) in enumerate(
            _arrays(compiled.whole_parameters, compiled.parameter_divisions)
        )
    ]
    if program.process_counts == (1, 1):
        found = [program(*whole)] * count
    else:
        found = program.run_processes([whole] * count)
    divisions = [each for _, each in _arrays(compiled.whole_results, compiled.result_divisions)]
    return [
        [division.part(device, value) for value, division in zip(values, divisions, strict=True)]
        for device, values in enumerate(found)
    ]


def _arrays(
    shapes: Sequence[Shape], divisions: Sequence[ArrayDivision] | None
) -> list[tuple[Shape, ArrayDivision]]:
    """What is no token, and how devices share it."""
    assert divisions is not None
    both = zip(shapes, divisions, strict=True)
    return [(shape, division) for shape, division in both if shape.element_type != TOKEN]


def _arguments(loaded: LoadedProgram, handles: Sequence[int]) -> list[tuple[Shape, int | None]]:
    """The arrays of a device: their shapes and where they lie; raises PluginError."""
    compiled = loaded.compiled
    if len(handles) != len(compiled.parameters):
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT,
            f"{compiled.name} takes {len(compiled.parameters)} arrays, found {len(handles)}",
        )
    found: list[tuple[Shape, int | None]] = []
    for number, (handle, expected) in enumerate(zip(handles, compiled.parameters, strict=True)):
        buffer = buffer_at(handle)
        require_ready(buffer)
        shape = shape_at(buffer.shape)
        if expected.element_type == TOKEN:
            continue
        if shape is not expected:
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT,
                f"{compiled.name}: parameter {number}: expected {expected}, found {shape}",
            )
        found.append((shape, buffer.data))
    return found


def _new_results(
    loaded: LoadedProgram,
    program: Executable,
    arguments: Sequence[tuple[Shape, int | None]],
    device: Device,
    results: list[int],
) -> list[int]:
    """Adds the results of a device to others; the addresses of its arguments and results."""
    addresses = [data or 0 for _, data in arguments]
    donors = dict(program.signature.aliases)
    for shape, memory in _places(loaded, device):
        results.append(new_buffer(shape, memory))
        data = BufferRecord.from_address(results[-1]).data
        if shape.element_type != TOKEN:
            donor = donors.get(len(addresses) - len(arguments))
            if donor is not None:
                ctypes.memmove(data, addresses[donor], shape.byte_size)
            addresses.append(data)
    return addresses


def _places(loaded: LoadedProgram, device: Device) -> Iterator[tuple[Shape, MemorySpace]]:
    """The shape of each result, and where it is on a device."""
    memories = (device.memories[kind] for kind in loaded.compiled.result_memories)
    return zip(loaded.compiled.results, memories, strict=True)


def _results(loaded: LoadedProgram, arrays: Sequence[Array], device: Device) -> list[int]:
    """Results as arrays of a device, with tokens among them."""
    values = iter(arrays)
    handles: list[int] = []
    for shape, memory in _places(loaded, device):
        handles.append(new_buffer(shape, memory))
        if shape.element_type != TOKEN:
            np.copyto(shape.at(BufferRecord.from_address(handles[-1]).data), next(values))
    return handles
