"""
The client, its devices and their memories: threads of processes, and their memory. Of several
processes each has a client, which knows the devices of all, and has its own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from lowerings.pjrt.c_api import (
    DeviceRecord,
    ErrorCode,
    MemoryRecord,
    NamedValue,
    NamedValueType,
    address,
)
from lowerings.pjrt.functions import (
    Objects,
    PluginError,
    answer,
    answers,
    characters,
    implements,
    text,
)

if TYPE_CHECKING:
    from lowerings.execution.links import Links
    from lowerings.pjrt.processes import Processes

PLATFORM = "cpu"
"""
What our client calls its platform. JAX looks lowerings, custom calls and dlpack up by this name,
and our devices are such processors; the backend is known under another, see `lowerings.pjrt`.
"""

VERSION = "xla-dialect 0.1"
"""What tells our client from XLA's; JAX's compilation cache keeps their programs apart by it."""

DEVICE_COUNT = "num_devices"
"""The option for the number of devices."""

PROCESS_COUNT, PROCESS_NUMBER, COORDINATOR = "num_nodes", "node_id", "coordinator_address"
"""The options that JAX gives to one of several processes."""

MEMORY_KINDS = ("device", "pinned_host", "unpinned_host")
"""As XLA names those of a CPU; the first is the default. All are the same memory."""

MAX_DEVICES = 1024


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _give_attributes_back(attributes: int | None) -> None:
    """There is nothing to give back."""


def array_of(handles: Sequence[int]) -> Any:
    """Handles as an array in memory."""
    return (ctypes.c_void_p * max(len(handles), 1))(*handles)


class MemorySpace:
    """One kind of memory of a device."""

    def __init__(self, device: Device, kind_number: int):
        self.device = device
        self.kind_number = kind_number
        self.kind = MEMORY_KINDS[kind_number]
        self.id = device.id * len(MEMORY_KINDS) + kind_number
        _, kind, size = text(self.kind)
        self.handle = MEMORIES.keep(MemoryRecord(kind, size, device.handle), self)

    def __str__(self) -> str:
        return f"XdslMemory(id={self.id}, kind={self.kind})"

    @cached_property
    def devices(self) -> Any:
        """The devices that can access it, as an array in memory."""
        return array_of([self.device.handle])


class Device:
    """A device, which is its own description."""

    def __init__(self, number: int, process: int, local_number: int, is_own: bool):
        self.id = number
        self.process = process
        """The number of the process that has it."""
        self.local_number = local_number
        """Its place among the devices of that."""
        self.is_own = is_own
        """Whether that is this process."""
        self._record = DeviceRecord(None, number)
        self.handle = DEVICES.keep(self._record, self)
        self.memories = [MemorySpace(self, kind) for kind in range(len(MEMORY_KINDS))]
        self._record.default_memory = self.memories[0].handle
        self.memory_handles = array_of([memory.handle for memory in self.memories])

    def __str__(self) -> str:
        return f"XdslDevice(id={self.id})"


class Client:
    """The devices of all processes, of which this process has some."""

    def __init__(self, device_count: int, processes: Processes | None = None):
        if not 1 <= device_count <= MAX_DEVICES:
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT,
                f"{DEVICE_COUNT} is {device_count}, expected 1 to {MAX_DEVICES}",
            )
        self.links: Links | None = None
        """The links to other processes; None if there are none."""
        self.process, counts = 0, [device_count]
        if processes is not None:
            self.process = processes.number
            counts, self.links = processes.meet(device_count)
        places = [(process, n) for process, count in enumerate(counts) for n in range(count)]
        self.devices = [
            Device(number, *place, place[0] == self.process) for number, place in enumerate(places)
        ]
        self.own_devices = [device for device in self.devices if device.is_own]
        memories = [memory for device in self.own_devices for memory in device.memories]
        self.device_handles = array_of([device.handle for device in self.devices])
        self.own_device_handles = array_of([device.handle for device in self.own_devices])
        self.memory_count = len(memories)
        self.memory_handles = array_of([memory.handle for memory in memories])
        self.handle = CLIENTS.keep(ctypes.c_int64(device_count), self)

    def device(self, number: int) -> Device:
        """The device of an id; raises PluginError."""
        if not 0 <= number < len(self.devices):
            raise PluginError(ErrorCode.INVALID_ARGUMENT, f"there is no device {number}")
        return self.devices[number]

    def close(self) -> None:
        """Forgets its handles."""
        for device in self.devices:
            for memory in device.memories:
                MEMORIES.forget(memory.handle)
            DEVICES.forget(device.handle)
        CLIENTS.forget(self.handle)


CLIENTS = Objects("client")
DEVICES = Objects("device")
MEMORIES = Objects("memory")


def options_of(start: int | None, count: int) -> dict[str, str | int | float | bool]:
    """Options by their names; lists of numbers are not among ours."""
    found: dict[str, str | int | float | bool] = {}
    for number in range(count):
        value = NamedValue.from_address((start or 0) + number * ctypes.sizeof(NamedValue))
        name = characters(value.name, value.name_size).decode()
        place = address(value) + NamedValue.value.offset
        match value.type:
            case NamedValueType.STRING:
                found[name] = characters(value.value, value.size).decode()
            case NamedValueType.INT64:
                found[name] = value.value
            case NamedValueType.FLOAT:
                found[name] = ctypes.c_float.from_address(place).value
            case NamedValueType.BOOL:
                found[name] = ctypes.c_bool.from_address(place).value
            case _:
                raise PluginError(ErrorCode.INVALID_ARGUMENT, f"the option '{name}' is a list")
    return found


def client_of(args: Any) -> Client:
    """A client as options say; raises PluginError for options that we do not know."""
    options = options_of(args.create_options, args.num_options)
    coordinator = str(options.pop(COORDINATOR, ""))
    numbers = {DEVICE_COUNT: 1, PROCESS_COUNT: 1, PROCESS_NUMBER: 0}
    for name, value in options.items():
        if name not in numbers:
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT,
                f"there is no option '{name}' (there is: {', '.join((*numbers, COORDINATOR))})",
            )
        try:
            numbers[name] = int(value)
        except ValueError as error:
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT, f"{name} is '{value}', which is no number"
            ) from error
    processes = None
    if numbers[PROCESS_COUNT] > 1 and coordinator:
        # One process alone does without what several need.
        from lowerings.pjrt.processes import KeyValueStore, Processes  # noqa: PLC0415

        store = KeyValueStore(args)
        processes = Processes(numbers[PROCESS_NUMBER], numbers[PROCESS_COUNT], coordinator, store)
    return Client(numbers[DEVICE_COUNT], processes)


_NO_ATTRIBUTES: Mapping[str, Any] = {"attributes": None, "num_attributes": 0}

ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "Plugin_Initialize": {},
    "Plugin_Attributes": _NO_ATTRIBUTES,
    "TopologyDescription_Attributes": _NO_ATTRIBUTES,
    "DeviceDescription_Attributes": _NO_ATTRIBUTES,
    "Client_PlatformName": {"platform_name": PLATFORM},
    "TopologyDescription_PlatformName": {"platform_name": PLATFORM},
    "Client_PlatformVersion": {"platform_version": VERSION},
    "TopologyDescription_PlatformVersion": {"platform_version": VERSION},
    # JAX asks for this name where an array of strings is put.
    "DeviceDescription_Kind": {"device_kind": PLATFORM},
}
"""What functions return in fields of their arguments that is always the same."""


for _function, _fields in ANSWERS.items():
    implements(_function)(partial(answer, _fields))


@implements("Client_Create")
def client_create(args: Any) -> None:
    """A client with as many devices as its options say."""
    args.client = client_of(args).handle


@implements("Client_Destroy")
def client_destroy(args: Any) -> None:
    """Its handles are not used any more."""
    if args.client:
        CLIENTS[args.client].close()


@implements("Client_LookupDevice")
def client_lookup_device(args: Any) -> None:
    """The device of an id."""
    args.device = CLIENTS[args.client].device(args.id).handle


@implements("Client_LookupAddressableDevice")
def client_lookup_addressable_device(args: Any) -> None:
    """The device of this process with a number; raises PluginError."""
    own, number = CLIENTS[args.client].own_devices, args.local_hardware_id
    if not 0 <= number < len(own):
        raise PluginError(ErrorCode.INVALID_ARGUMENT, f"there is no device {number} here")
    args.addressable_device = own[number].handle


@implements("Client_DefaultDeviceAssignment")
def client_default_device_assignment(args: Any) -> None:
    """The devices in order, replica by replica."""
    count = args.num_replicas * args.num_partitions
    if args.default_assignment_size < count:
        raise PluginError(ErrorCode.INVALID_ARGUMENT, "no room for the device assignment")
    (ctypes.c_int * count).from_address(args.default_assignment)[:] = range(count)


answers(
    CLIENTS,
    "client",
    {
        "Client_Devices": lambda client: {
            "devices": address(client.device_handles),
            "num_devices": len(client.devices),
        },
        "Client_ProcessIndex": lambda client: {"process_index": client.process},
        "Client_AddressableDevices": lambda client: {
            "addressable_devices": address(client.own_device_handles),
            "num_addressable_devices": len(client.own_devices),
        },
        "Client_AddressableMemories": lambda client: {
            "addressable_memories": address(client.memory_handles),
            "num_addressable_memories": client.memory_count,
        },
        "Client_TopologyDescription": lambda client: {"topology": client.handle},
    },
)
answers(
    CLIENTS,
    "topology",
    {
        # A client is its own topology.
        "TopologyDescription_GetDeviceDescriptions": lambda client: {
            "descriptions": address(client.device_handles),
            "num_descriptions": len(client.devices),
        },
        # The number of devices is all there is to it.
        "TopologyDescription_Fingerprint": lambda client: {"fingerprint": len(client.devices)},
    },
)
answers(
    DEVICES,
    "device",
    {
        # A device is its own description.
        "Device_GetDescription": lambda device: {"device_description": device.handle},
        "Device_LocalHardwareId": lambda device: {"local_hardware_id": device.local_number},
        "Device_IsAddressable": lambda device: {"is_addressable": device.is_own},
        "Device_AddressableMemories": lambda device: {
            "memories": address(device.memory_handles),
            "num_memories": len(device.memories),
        },
        # Devices have none, but the client wants a function to give them back.
        "Device_GetAttributes": lambda _: {
            "attributes": None,
            "num_attributes": 0,
            "device_attributes": None,
            "attributes_deleter": ctypes.cast(_give_attributes_back, ctypes.c_void_p).value,
        },
    },
)
answers(
    DEVICES,
    "device_description",
    {
        "DeviceDescription_ProcessIndex": lambda device: {"process_index": device.process},
        "DeviceDescription_Id": lambda device: {"id": device.id},
        "DeviceDescription_DebugString": lambda device: {"debug_string": str(device)},
        "DeviceDescription_ToString": lambda device: {"to_string": str(device)},
    },
)
answers(
    MEMORIES,
    "memory",
    {
        "Memory_Id": lambda memory: {"id": memory.id},
        "Memory_Kind_Id": lambda memory: {"kind_id": memory.kind_number},
        "Memory_DebugString": lambda memory: {"debug_string": str(memory)},
        "Memory_ToString": lambda memory: {"to_string": str(memory)},
        "Memory_AddressableByDevices": lambda memory: {
            "devices": address(memory.devices),
            "num_devices": 1,
        },
    },
)
