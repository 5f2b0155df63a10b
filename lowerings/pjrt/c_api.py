"""
The C API of PJRT as data: its functions in the order of their table, the fields of their arguments.

Each function takes the address of a struct, which begins with its size and a pointer to extensions,
and returns the address of an error, or null.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from functools import cache
from typing import Any

VERSION = (0, 104)
"""
The version that we declare. From 105 on, clients read tables of C++ functions in our handles; a
minor version of 29 is the least that jaxlib 0.10 takes.
"""

FUNCTIONS: tuple[str, ...] = tuple(
    """
    Error_Destroy Error_Message Error_GetCode Plugin_Initialize Plugin_Attributes Event_Destroy
    Event_IsReady Event_Error Event_Await Event_OnReady Client_Create Client_Destroy
    Client_PlatformName Client_ProcessIndex Client_PlatformVersion Client_Devices
    Client_AddressableDevices Client_LookupDevice Client_LookupAddressableDevice
    Client_AddressableMemories Client_Compile Client_DefaultDeviceAssignment
    Client_BufferFromHostBuffer DeviceDescription_Id DeviceDescription_ProcessIndex
    DeviceDescription_Attributes DeviceDescription_Kind DeviceDescription_DebugString
    DeviceDescription_ToString Device_GetDescription Device_IsAddressable Device_LocalHardwareId
    Device_AddressableMemories Device_DefaultMemory Device_MemoryStats Memory_Id Memory_Kind
    Memory_DebugString Memory_ToString Memory_AddressableByDevices Executable_Destroy
    Executable_Name Executable_NumReplicas Executable_NumPartitions Executable_NumOutputs
    Executable_SizeOfGeneratedCodeInBytes Executable_GetCostAnalysis Executable_OutputMemoryKinds
    Executable_OptimizedProgram Executable_Serialize LoadedExecutable_Destroy
    LoadedExecutable_GetExecutable LoadedExecutable_AddressableDevices LoadedExecutable_Delete
    LoadedExecutable_IsDeleted LoadedExecutable_Execute Executable_DeserializeAndLoad
    LoadedExecutable_Fingerprint Buffer_Destroy Buffer_ElementType Buffer_Dimensions
    Buffer_UnpaddedDimensions Buffer_DynamicDimensionIndices Buffer_GetMemoryLayout
    Buffer_OnDeviceSizeInBytes Buffer_Device Buffer_Memory Buffer_Delete Buffer_IsDeleted
    Buffer_CopyToDevice Buffer_ToHostBuffer Buffer_IsOnCpu Buffer_ReadyEvent Buffer_UnsafePointer
    Buffer_IncreaseExternalReferenceCount Buffer_DecreaseExternalReferenceCount
    Buffer_OpaqueDeviceMemoryDataPointer CopyToDeviceStream_Destroy CopyToDeviceStream_AddChunk
    CopyToDeviceStream_TotalBytes CopyToDeviceStream_GranuleSize CopyToDeviceStream_CurrentBytes
    TopologyDescription_Create TopologyDescription_Destroy TopologyDescription_PlatformName
    TopologyDescription_PlatformVersion TopologyDescription_GetDeviceDescriptions
    TopologyDescription_Serialize TopologyDescription_Attributes Compile
    Executable_OutputElementTypes Executable_OutputDimensions Buffer_CopyToMemory
    Client_CreateViewOfDeviceBuffer Executable_Fingerprint Client_TopologyDescription
    Executable_GetCompiledMemoryStats Memory_Kind_Id ExecuteContext_Create ExecuteContext_Destroy
    Buffer_CopyRawToHost AsyncHostToDeviceTransferManager_Destroy
    AsyncHostToDeviceTransferManager_TransferData Client_CreateBuffersForAsyncHostToDevice
    AsyncHostToDeviceTransferManager_RetrieveBuffer AsyncHostToDeviceTransferManager_Device
    AsyncHostToDeviceTransferManager_BufferCount AsyncHostToDeviceTransferManager_BufferSize
    AsyncHostToDeviceTransferManager_SetBufferError AsyncHostToDeviceTransferManager_AddMetadata
    Client_DmaMap Client_DmaUnmap Client_CreateUninitializedBuffer Client_UpdateGlobalProcessInfo
    TopologyDescription_Deserialize Client_CreateAliasBuffer Client_FulfillAliasBuffer
    LoadedExecutable_GetDeviceAssignment Client_CreateErrorBuffer
    AsyncHostToDeviceTransferManager_TransferLiteral Buffer_CopyRawToHostFuture
    Device_PoisonExecution Device_CreateAsyncTrackingEvent AsyncTrackingEvent_Destroy
    Executable_GetCompileOptions Buffer_DonateWithControlDependency Event_Create Event_Set
    Device_GetAttributes Client_Load LoadedExecutable_AddressableDeviceLogicalIds Buffer_Bitcast
    Error_ForEachPayload TopologyDescription_Fingerprint Executable_ParameterMemoryKinds
    """.split()
)
"""The functions of version 104, in the order of `PJRT_Api`."""

_ARGUMENTS: dict[str, str] = {
    "Error_Destroy": "error",
    "Error_Message": "error message message_size:size",
    "Error_GetCode": "error code:int32",
    "Plugin_Initialize": "",
    "Plugin_Attributes": "attributes num_attributes:size",
    "Event_Destroy": "event",
    "Event_IsReady": "event is_ready:bool",
    "Event_Error": "event",
    "Event_Await": "event",
    "Event_OnReady": "event callback user_arg",
    "Client_Create": (
        "create_options num_options:size kv_get_callback kv_get_user_arg kv_put_callback "
        "kv_put_user_arg client kv_try_get_callback kv_try_get_user_arg"
    ),
    "Client_Destroy": "client",
    "Client_PlatformName": "client platform_name platform_name_size:size",
    "Client_ProcessIndex": "client process_index:int32",
    "Client_PlatformVersion": "client platform_version platform_version_size:size",
    "Client_Devices": "client devices num_devices:size",
    "Client_AddressableDevices": "client addressable_devices num_addressable_devices:size",
    "Client_LookupDevice": "client id:int32 device",
    "Client_LookupAddressableDevice": "client local_hardware_id:int32 addressable_device",
    "Client_AddressableMemories": "client addressable_memories num_addressable_memories:size",
    "Client_Compile": "client program compile_options compile_options_size:size executable",
    "Client_DefaultDeviceAssignment": (
        "client num_replicas:int32 num_partitions:int32 default_assignment_size:size "
        "default_assignment"
    ),
    "Client_BufferFromHostBuffer": (
        "client data type:int32 dims num_dims:size byte_strides num_byte_strides:size "
        "host_buffer_semantics:int32 device memory device_layout done_with_host_buffer "
        "buffer"
    ),
    "DeviceDescription_Id": "device_description id:int32",
    "DeviceDescription_ProcessIndex": "device_description process_index:int32",
    "DeviceDescription_Attributes": "device_description num_attributes:size attributes",
    "DeviceDescription_Kind": "device_description device_kind device_kind_size:size",
    "DeviceDescription_DebugString": "device_description debug_string debug_string_size:size",
    "DeviceDescription_ToString": "device_description to_string to_string_size:size",
    "Device_GetDescription": "device device_description",
    "Device_IsAddressable": "device is_addressable:bool",
    "Device_LocalHardwareId": "device local_hardware_id:int32",
    "Device_AddressableMemories": "device memories num_memories:size",
    "Device_DefaultMemory": "device memory",
    "Device_MemoryStats": (
        "device bytes_in_use:int64 peak_bytes_in_use:int64 peak_bytes_in_use_is_set:bool "
        "num_allocs:int64 num_allocs_is_set:bool largest_alloc_size:int64 "
        "largest_alloc_size_is_set:bool bytes_limit:int64 bytes_limit_is_set:bool "
        "bytes_reserved:int64 bytes_reserved_is_set:bool peak_bytes_reserved:int64 "
        "peak_bytes_reserved_is_set:bool bytes_reservable_limit:int64 "
        "bytes_reservable_limit_is_set:bool largest_free_block_bytes:int64 "
        "largest_free_block_bytes_is_set:bool pool_bytes:int64 pool_bytes_is_set:bool "
        "peak_pool_bytes:int64 peak_pool_bytes_is_set:bool"
    ),
    "Memory_Id": "memory id:int32",
    "Memory_Kind": "memory kind kind_size:size",
    "Memory_DebugString": "memory debug_string debug_string_size:size",
    "Memory_ToString": "memory to_string to_string_size:size",
    "Memory_AddressableByDevices": "memory devices num_devices:size",
    "Executable_Destroy": "executable",
    "Executable_Name": "executable executable_name executable_name_size:size",
    "Executable_NumReplicas": "executable num_replicas:size",
    "Executable_NumPartitions": "executable num_partitions:size",
    "Executable_NumOutputs": "executable num_outputs:size",
    "Executable_SizeOfGeneratedCodeInBytes": "executable size_in_bytes:int64",
    "Executable_GetCostAnalysis": "executable num_properties:size properties",
    "Executable_OutputMemoryKinds": "executable num_outputs:size memory_kinds memory_kind_sizes",
    "Executable_OptimizedProgram": "executable program",
    "Executable_Serialize": (
        "executable serialized_bytes serialized_bytes_size:size serialized_executable "
        "serialized_executable_deleter"
    ),
    "LoadedExecutable_Destroy": "executable",
    "LoadedExecutable_GetExecutable": "loaded_executable executable",
    "LoadedExecutable_AddressableDevices": (
        "executable addressable_devices num_addressable_devices:size"
    ),
    "LoadedExecutable_Delete": "executable",
    "LoadedExecutable_IsDeleted": "executable is_deleted:bool",
    "LoadedExecutable_Execute": (
        "executable options argument_lists num_devices:size num_args:size output_lists "
        "device_complete_events execute_device"
    ),
    "Executable_DeserializeAndLoad": (
        "client serialized_executable serialized_executable_size:size loaded_executable "
        "overridden_serialized_compile_options "
        "overridden_serialized_compile_options_size:size"
    ),
    "LoadedExecutable_Fingerprint": (
        "executable executable_fingerprint executable_fingerprint_size:size"
    ),
    "Buffer_Destroy": "buffer",
    "Buffer_ElementType": "buffer type:int32",
    "Buffer_Dimensions": "buffer dims num_dims:size",
    "Buffer_UnpaddedDimensions": "buffer unpadded_dims num_dims:size",
    "Buffer_DynamicDimensionIndices": "buffer dynamic_dim_indices num_dynamic_dims:size",
    "Buffer_GetMemoryLayout": "buffer layout:layout",
    "Buffer_OnDeviceSizeInBytes": "buffer on_device_size_in_bytes:size",
    "Buffer_Device": "buffer device",
    "Buffer_Memory": "buffer memory",
    "Buffer_Delete": "buffer",
    "Buffer_IsDeleted": "buffer is_deleted:bool",
    "Buffer_CopyToDevice": "buffer dst_device dst_buffer",
    "Buffer_ToHostBuffer": "src host_layout dst dst_size:size event",
    "Buffer_IsOnCpu": "buffer is_on_cpu:bool",
    "Buffer_ReadyEvent": "buffer event",
    "Buffer_UnsafePointer": "buffer buffer_pointer",
    "Buffer_IncreaseExternalReferenceCount": "buffer",
    "Buffer_DecreaseExternalReferenceCount": "buffer",
    "Buffer_OpaqueDeviceMemoryDataPointer": "buffer device_memory_ptr",
    "TopologyDescription_Create": (
        "topology_name topology_name_size:size create_options num_options:size topology"
    ),
    "TopologyDescription_Destroy": "topology",
    "TopologyDescription_PlatformName": "topology platform_name platform_name_size:size",
    "TopologyDescription_PlatformVersion": "topology platform_version platform_version_size:size",
    "TopologyDescription_GetDeviceDescriptions": "topology descriptions num_descriptions:size",
    "TopologyDescription_Attributes": "topology attributes num_attributes:size",
    "Compile": "topology program compile_options compile_options_size:size client executable",
    "Executable_OutputElementTypes": "executable output_types num_output_types:size",
    "Executable_OutputDimensions": "executable num_outputs:size dims dim_sizes",
    "Buffer_CopyToMemory": "buffer dst_memory dst_buffer",
    "Client_CreateViewOfDeviceBuffer": (
        "client device_buffer_ptr dims num_dims:size element_type:int32 layout device "
        "on_delete_callback on_delete_callback_arg stream buffer memory"
    ),
    "Executable_Fingerprint": "executable executable_fingerprint executable_fingerprint_size:size",
    "Client_TopologyDescription": "client topology",
    "Executable_GetCompiledMemoryStats": (
        "executable generated_code_size_in_bytes:int64 argument_size_in_bytes:int64 "
        "output_size_in_bytes:int64 alias_size_in_bytes:int64 temp_size_in_bytes:int64 "
        "host_generated_code_size_in_bytes:int64 host_argument_size_in_bytes:int64 "
        "host_output_size_in_bytes:int64 host_alias_size_in_bytes:int64 "
        "host_temp_size_in_bytes:int64 peak_memory_in_bytes:int64 "
        "total_size_in_bytes:int64 total_allocation_bytes:int64 "
        "indefinite_allocations:int64 peak_unpadded_heap_bytes:int64"
    ),
    "Memory_Kind_Id": "memory kind_id:int32",
    "ExecuteContext_Create": "context",
    "ExecuteContext_Destroy": "context",
    "Buffer_CopyRawToHost": "buffer dst offset:int64 transfer_size:int64 event",
    "Client_CreateUninitializedBuffer": (
        "client shape_dims shape_num_dims:size shape_element_type:int32 shape_layout "
        "device memory buffer"
    ),
    "LoadedExecutable_GetDeviceAssignment": (
        "executable serialized_bytes serialized_bytes_size:size "
        "serialized_device_assignment serialized_device_assignment_deleter"
    ),
    "Client_CreateErrorBuffer": (
        "client error_code:int32 error_message error_message_size:size shape_dims "
        "shape_num_dims:size shape_element_type:int32 shape_layout memory buffer payload "
        "num_payload:size"
    ),
    "Executable_GetCompileOptions": (
        "executable serialized_bytes serialized_bytes_size:size "
        "serialized_compile_options serialized_compile_options_deleter"
    ),
    "Event_Create": "event",
    "Event_Set": "event error_code:int32 error_message error_message_size:size",
    "Device_GetAttributes": (
        "device attributes num_attributes:size device_attributes attributes_deleter"
    ),
    "Client_Load": "client executable compile_options compile_options_size:size loaded_executable",
    "LoadedExecutable_AddressableDeviceLogicalIds": (
        "executable addressable_device_logical_ids num_addressable_device_logical_ids:size"
    ),
    "Buffer_Bitcast": "buffer element_type:int32 dims num_dims:size device_layout out_buffer",
    "Error_ForEachPayload": "error visitor user_arg",
    "TopologyDescription_Fingerprint": "topology fingerprint:uint64",
    "Executable_ParameterMemoryKinds": (
        "executable num_parameters:size memory_kinds memory_kind_sizes"
    ),
    "Layouts_MemoryLayout_Destroy": "layout",
    "Layouts_MemoryLayout_Serialize": (
        "layout serialized_bytes serialized_bytes_size:size serialized_layout "
        "serialized_layout_deleter"
    ),
    "Layouts_PJRT_Client_GetDefaultLayout": "client type:int32 dims num_dims:size layout",
    "Layouts_PJRT_Buffer_MemoryLayout": "buffer layout",
    "Layouts_PJRT_Topology_GetDefaultLayout": "topology type:int32 dims num_dims:size layout",
    "Layouts_PJRT_Executable_GetOutputLayouts": "executable num_outputs:size layouts",
    "Layouts_PJRT_Executable_GetParameterLayouts": "executable num_parameters:size layouts",
    "Shardings_PJRT_Executable_ParameterShardings": (
        "executable num_parameters:size shardings sharding_sizes"
    ),
    "Shardings_PJRT_Executable_OutputShardings": (
        "executable num_outputs:size shardings sharding_sizes"
    ),
}
"""The fields of the arguments of what we implement: pointers, where no type is said."""


_LAYOUTS = """
    MemoryLayout_Destroy MemoryLayout_Serialize PJRT_Client_GetDefaultLayout
    PJRT_Buffer_MemoryLayout PJRT_Topology_GetDefaultLayout PJRT_Executable_GetOutputLayouts
    PJRT_Executable_GetParameterLayouts
"""
_SHARDINGS = "PJRT_Executable_ParameterShardings PJRT_Executable_OutputShardings"

EXTENSIONS: dict[int, tuple[str, ...]] = {
    4: tuple(f"Layouts_{name}" for name in _LAYOUTS.split()),
    19: tuple(f"Shardings_{name}" for name in _SHARDINGS.split()),
}
"""The functions of the extensions that we have, by the number of each."""

EXTENSION_FUNCTIONS: tuple[str, ...] = tuple(
    name for names in EXTENSIONS.values() for name in names
)


class MemoryLayout(ctypes.Structure):
    """How an array lies in memory, as `PJRT_Buffer_MemoryLayout` says it in its tiled form."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("tiled_struct_size", ctypes.c_size_t),
        ("tiled_extension_start", ctypes.c_void_p),
        ("minor_to_major", ctypes.c_void_p),
        ("minor_to_major_size", ctypes.c_size_t),
        ("tile_dims", ctypes.c_void_p),
        ("tile_dim_sizes", ctypes.c_void_p),
        ("num_tiles", ctypes.c_size_t),
        ("type", ctypes.c_int32),
    ]


class StridedLayout(ctypes.Structure):
    """The other form of the same struct: the distance of elements in each dimension, in bytes."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("strides_struct_size", ctypes.c_size_t),
        ("strides_extension_start", ctypes.c_void_p),
        ("byte_strides", ctypes.c_void_p),
        ("num_byte_strides", ctypes.c_size_t),
    ]


class LayoutForm(IntEnum):
    """Which form a `MemoryLayout` has."""

    TILED = 0
    STRIDES = 1


_TYPES: dict[str, Any] = {
    "": ctypes.c_void_p,
    "size": ctypes.c_size_t,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "bool": ctypes.c_bool,
    "layout": MemoryLayout,
}


def _struct(name: str, fields: str) -> Any:
    named = (field.partition(":") for field in fields.split())
    types = [(field, _TYPES[type_]) for field, _, type_ in named]
    head = [("struct_size", ctypes.c_size_t), ("extension_start", ctypes.c_void_p)]
    return type(name, (ctypes.Structure,), {"_fields_": head + types})


@cache
def arguments_of(function: str) -> Any:
    """The struct of a function's arguments, a ctypes structure."""
    return _struct(f"PJRT_{function}_Args", _ARGUMENTS[function])


@cache
def required_size(struct: Any) -> int:
    """The bytes of a struct up to the end of its last field, which callers state at its start."""
    name, type_ = struct._fields_[-1]
    return getattr(struct, name).offset + ctypes.sizeof(type_)


Program = _struct("PJRT_Program", "code code_size:size format format_size:size")
"""A program and the name of its format."""

NamedValue = _struct("PJRT_NamedValue", "name name_size:size type:int32 value:int64 size:size")
"""An option or attribute; `value` is a pointer to characters or numbers, or the value itself."""

ExecuteOptions = _struct(
    "PJRT_ExecuteOptions",
    "send_callbacks recv_callbacks num_send_ops:size num_recv_ops:size launch_id:int32 "
    "non_donatable_input_indices num_non_donatable_input_indices:size",
)
"""How a program is executed; what follows these fields does not concern us."""

ApiVersion = _struct("PJRT_Api_Version", "major_version:int32 minor_version:int32")


class Api(ctypes.Structure):
    """The table of functions that a client is given."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", ApiVersion),
        *((name, ctypes.c_void_p) for name in FUNCTIONS),
    ]


@cache
def extension_struct(number: int) -> Any:
    """The struct of an extension: its size, number, the next one, and its functions."""
    head = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_int32), ("next", ctypes.c_void_p)]
    functions = [(name, ctypes.c_void_p) for name in EXTENSIONS[number]]
    return type(f"Extension{number}", (ctypes.Structure,), {"_fields_": head + functions})


class NamedValueType(IntEnum):
    """What a `NamedValue` holds."""

    STRING = 0
    INT64 = 1
    INT64_LIST = 2
    FLOAT = 3
    BOOL = 4


class HostBufferSemantics(IntEnum):
    """How long the memory of an array that is put onto a device stays as it is."""

    IMMUTABLE_ONLY_DURING_CALL = 0
    IMMUTABLE_UNTIL_TRANSFER_COMPLETES = 1
    IMMUTABLE_ZERO_COPY = 2
    MUTABLE_ZERO_COPY = 3


class ErrorCode(IntEnum):
    """Why a function failed: the codes of `absl::Status`."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


ELEMENT_TYPES: tuple[str, ...] = tuple(
    """
    invalid pred s8 s16 s32 s64 u8 u16 u32 u64 f16 f32 f64 bf16 c64 c128 f8e5m2 f8e4m3fn
    f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz s4 u4 token s2 u2 f8e4m3 f8e3m4 f8e8m0fnu f4e2m1fn s1 u1
    """.split()
)
"""The names in HLO of the element types, in the order of `PJRT_Buffer_Type`."""
