"""
What `jax.debug.inspect_array_sharding` asks for within a program for several devices.

JAX leaves a custom call there with the address of a function, for the partitioner to call when it
knows how devices share the array.
"""

from __future__ import annotations

import ctypes
from typing import Any

from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import IR, SDY, SHARDING, XLA_CLIENT, operations
from lowerings.pjrt.shardings import divisions_of, serialized

_TARGET = "InspectSharding"
_Function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class _Listener(ctypes.Structure):
    """The bytes that the custom call has: a function, and its first argument."""

    _fields_ = [("function", ctypes.c_void_p), ("data", ctypes.c_void_p)]


class _Arguments(ctypes.Structure):
    """What its second argument points to."""

    _fields_ = [
        ("sharding", ctypes.c_char_p),
        ("sharding_size", ctypes.c_size_t),
        ("error", ctypes.c_char_p),
        ("error_owner", ctypes.c_void_p),
        ("free_error", ctypes.c_void_p),
    ]


def tell_shardings(module: Any, devices: int) -> None:
    """Calls the functions that a module names, which has been propagated; raises PluginError."""
    for op in _inspections(module):
        listener = _Listener.from_buffer_copy(op.attributes["backend_config"].value_bytes)
        sharding = _sharding_of(module, op, devices)
        arguments = _Arguments(sharding, len(sharding))
        place = ctypes.addressof(arguments)
        _Function(listener.function)(listener.data, place)
        if arguments.error:
            message = arguments.error.decode(errors="replace")
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(arguments.free_error)(place)
            raise PluginError(ErrorCode.INTERNAL, message)


def forget_inspections(module: Any) -> None:
    """Takes the custom calls out of a module: they compute nothing."""
    for op in _inspections(module):
        op.erase()


def _inspections(module: Any) -> list[Any]:
    def is_inspection(op: Any) -> bool:
        name = "stablehlo.custom_call"
        return op.name == name and op.attributes["call_target_name"].value == _TARGET

    return operations(module, is_inspection)


def _sharding_of(module: Any, op: Any, devices: int) -> bytes:
    """XLA's `OpSharding` of an array that is inspected."""
    parent = op.parent
    while parent is not None and parent.name != "sdy.manual_computation":
        parent = parent.parent
    if parent is not None:
        manual = XLA_CLIENT.OpSharding()
        manual.type = XLA_CLIENT.OpSharding.Type.MANUAL
        return manual.SerializeToString()
    said: dict[str, Any] = {}
    if SHARDING in op.attributes:
        said[SHARDING] = SDY.TensorShardingPerValueAttr(op.attributes[SHARDING]).shardings[0]
    shape = list(IR.RankedTensorType(op.operands[0].type).shape)
    (division,) = divisions_of(module, [IR.DictAttr.get(said)], [shape], devices)
    return serialized(division)
