"""The plugin in this process: its table of functions, and JAX told about it."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from lowerings.pjrt import buffers, client, events, execution, executables  # noqa: F401
from lowerings.pjrt.buffers import machine
from lowerings.pjrt.c_api import VERSION, Api, ApiVersion
from lowerings.pjrt.functions import as_c_functions

CAPSULE_NAME = b"pjrt_c_api"
"""What JAX expects a capsule with the address of the table to be called."""


class Plugin:
    """The table of functions that clients are given, and what it refers to."""

    def __init__(self) -> None:
        self._python = (as_c_functions(), buffers.give_back)
        python, give_back = self._python
        code = machine()
        code.call_python({name: address_of(each) for name, each in python.items()}, address_of(give_back))
        self.api = Api(ctypes.sizeof(Api), None)
        self.api.version = ApiVersion(ctypes.sizeof(ApiVersion), None, *VERSION)
        for name, address in code.functions.items():
            setattr(self.api, name, address)
        # Clients use the table until the process ends.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def capsule(self) -> Any:
        """The address of the table as JAX takes it."""
        new: Any = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.api), CAPSULE_NAME, None)


def address_of(function: Any) -> int:
    """The address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def plugin() -> Plugin:
    """The plugin, which lives as long as the process."""
    return Plugin()
