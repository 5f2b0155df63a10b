"""The processes of `jax.distributed`: the store that they have in common, and how they meet."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import Any

from lowerings.execution.links import Address, Links, Listener, own_host
from lowerings.execution.mpi_links import MpiRanks
from lowerings.pjrt.c_api import ErrorCode, KeyValueGet, KeyValuePut, address
from lowerings.pjrt.functions import PluginError, characters, error_handle, take_error

_SECONDS = 300
"""So long others may take to come, as for JAX itself."""
_clients = itertools.count()
"""How many clients this process has made, as all have: what they publish keeps apart."""

_Callback = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p)
_Delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_MakeError = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)


@_MakeError
def _make_error(code: int, message: int | None, size: int) -> int:
    text = characters(message, size).decode(errors="replace")
    return error_handle(PluginError(ErrorCode(code), text))


class KeyValueStore:
    """The store that JAX has for all processes, as the arguments of `Client_Create` give it."""

    def __init__(self, args: Any):
        self._get, self._get_argument = args.kv_get_callback, args.kv_get_user_arg
        self._put, self._put_argument = args.kv_put_callback, args.kv_put_user_arg
        self._make_error = ctypes.c_void_p(ctypes.cast(_make_error, ctypes.c_void_p).value)

    def get(self, key: str) -> bytes:
        """Waits for a value; raises PluginError."""
        args = self._arguments(KeyValueGet, key, self._get_argument)
        args.timeout_in_ms = _SECONDS * 1000
        self._call(self._get, args)
        found = characters(args.value, args.value_size)
        _Delete(args.value_deleter)(args.value)
        return found

    def put(self, key: str, value: bytes) -> None:
        """Writes a value; raises PluginError where there is one."""
        args = self._arguments(KeyValuePut, key, self._put_argument)
        memory = ctypes.create_string_buffer(value, len(value))
        args.value, args.value_size = address(memory), len(value)
        self._call(self._put, args)

    def _arguments(self, kind: Any, key: str, user: int | None) -> Any:
        spelled = key.encode()
        memory = ctypes.create_string_buffer(spelled, len(spelled))
        args = kind(ctypes.sizeof(kind), None, address(memory), len(spelled))
        args.memory_of_key = memory
        args.callback_error, args.user_arg = address(self._make_error), user
        return args

    def _call(self, callback: int, args: Any) -> None:
        handle = _Callback(callback)(address(args))
        if handle:
            raise take_error(handle)


@dataclass(frozen=True)
class Processes:
    """The processes of a run, as one of them knows them."""

    number: int
    count: int
    coordinator: str
    store: KeyValueStore

    def meet(self, device_count: int) -> tuple[list[int], Links]:
        """
        How many devices each process has, and the links to them; waits for all. Raises PluginError
        and XlaError for those that do not come.
        """
        listener = Listener(own_host(self.coordinator), MpiRanks.of(self.number, self.count))
        prefix = f"xla-dialect/{next(_clients)}"
        self.store.put(f"{prefix}/{self.number}", listener.address.spelled(device_count))
        found = [Address.parse(self.store.get(f"{prefix}/{n}")) for n in range(self.count)]
        links = listener.links(self.number, [each for each, _ in found], _SECONDS)
        return [count for _, count in found], links
