"""The plugin in this process: the table of functions that clients are given."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from lowerings.execution.capsules import keep_for_ever, new_capsule
from lowerings.pjrt.c_api import EXTENSIONS, FUNCTIONS, VERSION, Api, ApiVersion, extension_struct
from lowerings.pjrt.functions import as_c_functions
from lowerings.pjrt.machine_code import MachineCode, Trampolines
from lowerings.pjrt.profiler import Profiler

CAPSULE_NAME = b"pjrt_c_api"
"""What JAX expects a capsule with the address of the table to be called."""


class Plugin:
    """The table, and what it refers to; clients use it until the process ends."""

    def __init__(self) -> None:
        self._python = as_c_functions()
        self._addresses = {name: address_of(each) for name, each in self._python.items()}
        trampolines = Trampolines()
        trampolines.call_python(self._addresses)
        functions = trampolines.functions
        self.api = Api(ctypes.sizeof(Api), None)
        self.api.version = ApiVersion(ctypes.sizeof(ApiVersion), None, *VERSION)
        for name in FUNCTIONS:
            setattr(self.api, name, functions[name])
        self._extensions: list[Any] = []
        for number, names in EXTENSIONS.items():
            struct: Any = extension_struct(number)
            following = self.api.extension_start
            addresses = (functions[name] for name in names)
            self._extensions.append(struct(ctypes.sizeof(struct), number, following, *addresses))
            self.api.extension_start = ctypes.addressof(self._extensions[-1])
        self._profiler = Profiler()
        self._profiling = self._profiler.extension(self.api.extension_start)
        self.api.extension_start = ctypes.addressof(self._profiling)
        keep_for_ever(self)

    def capsule(self) -> Any:
        """The address of the table as JAX takes it."""
        return new_capsule(ctypes.addressof(self.api), CAPSULE_NAME)

    def machine_code(self) -> MachineCode:
        """Compiles what needs no Python, and puts it into the table."""
        code = MachineCode()
        code.call_python(self._addresses)
        for struct in (self.api, *self._extensions):
            for field in struct._fields_:
                if field[0] in code.functions:
                    setattr(struct, field[0], code.functions[field[0]])
        return code


def address_of(function: Any) -> int:
    """The address of a C function."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def plugin() -> Plugin:
    """The plugin, which lives as long as the process."""
    return Plugin()
