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
from typing import TYPE_CHECKING, Any

import numpy as np

from lowerings.execution.executable import Executable
from lowerings.execution.runnable import PartitionedProgram
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
    from lowerings.pjrt.shared_programs import SharedProgram


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
    """The results of each device, as handles."""
    compiled = loaded.compiled
    taken = [_arguments(loaded, each) for each in arguments]
    if loaded.shared is not None:
        return _run_with_others(loaded, loaded.shared, taken)
    program = loaded.program
    if isinstance(program, Executable) and len(devices) == 1 and compiled.runs_in_place:
        return [_run_in_place(loaded, program, taken[0], devices[0])]
    is_usual = program is compiled.program
    if loaded.runs_jointly and is_usual and isinstance(program, PartitionedProgram):
        local = program.local
        assert isinstance(local, Executable)
        results = _run_jointly(loaded, local, local.run_jointly, taken)
        if results is not None:
            return results
    arrays = [[shape.at(data) for shape, data in each] for each in taken]
    if len(devices) == 1:
        return [_results(loaded, program(*arrays[0]), devices[0])]
    return _run_on_devices(loaded, arrays, devices)


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


def _run_with_others(
    loaded: LoadedProgram,
    shared: SharedProgram,
    arguments: Sequence[Sequence[tuple[Shape, int | None]]],
) -> list[list[int]]:
    """Runs the part of this process in a program; raises PluginError where others fail."""
    program, runs, devices = shared.program, shared.runs, loaded.own_devices
    shared.agree()
    if runs is not None and loaded.compiled.runs_in_place:
        results = _run_jointly(loaded, program, runs.run, arguments)
        if results is None:
            raise shared.error()
        return results
    arrays = [[shape.at(data) for shape, data in each] for each in arguments]
    if runs is None:
        found = [program(*each) for each in arrays]
    else:
        found = program.run_together(arrays, runs.run)
    if found is None:
        raise shared.error()
    return [_results(loaded, values, device) for values, device in zip(found, devices, strict=True)]


def _run_jointly(
    loaded: LoadedProgram,
    program: Executable,
    run: Callable[[Sequence[Sequence[int]]], bool],
    arguments: Sequence[Sequence[tuple[Shape, int | None]]],
) -> list[list[int]] | None:
    """
    Runs a program that needs no Python; None where something has gone wrong, for which others have
    the words.
    """
    results: list[list[int]] = []
    addresses: list[list[int]] = []
    is_well = False
    try:
        for each, device in zip(arguments, loaded.own_devices, strict=True):
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


def _run_on_devices(
    loaded: LoadedProgram, parts: Sequence[Sequence[Array]], devices: Sequence[Device]
) -> list[list[int]]:
    """Runs a program on the parts that devices have, or with whole arrays on each."""
    program = loaded.program
    if isinstance(program, PartitionedProgram):
        found = program.local.run_processes(parts)
    else:
        found = _run_on_whole_arrays(loaded, parts, len(devices))
    return [_results(loaded, values, device) for values, device in zip(found, devices, strict=True)]


def _run_on_whole_arrays(
    loaded: LoadedProgram, parts: Sequence[Sequence[Array]], count: int
) -> list[list[Array]]:
    """Puts the parts of all devices together, runs the program, and gives each device its part."""
    compiled, program = loaded.compiled, loaded.program
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


def _run_in_place(
    loaded: LoadedProgram,
    program: Executable,
    arguments: Sequence[tuple[Shape, int | None]],
    device: Device,
) -> list[int]:
    """Runs a program on the memory of its arguments and results."""
    results: list[int] = []
    try:
        program.run_at(_new_results(loaded, program, arguments, device, results))
    except BaseException:
        for result in results:
            plugin.destroy(result)
        raise
    return results


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
