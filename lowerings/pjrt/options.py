"""What clients say of how a program is compiled: XLA's options, and compiler options by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lowerings.backends import Options
from lowerings.compiler_options import compiler_options, fields_of_options
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import XLA_CLIENT
from xla_dialect.diagnostics import XlaError

_DEVICES_OF_PARTITION = re.compile(r"Computation\d+\{([\d ,]*)\}")


@dataclass(frozen=True)
class CompileOptions:
    """What of XLA's options says how a program runs."""

    serialized: bytes
    replicas: int
    partitions: int
    devices: tuple[int, ...]
    """The ids of the devices, replica by replica; none where any device will do."""
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """`COMPILER_OPTIONS` that are given."""

    @property
    def device_count(self) -> int:
        """How many devices run it."""
        return self.replicas * self.partitions

    def compilation(self, **others: Any) -> Options:
        """The options of our compiler, with others."""
        return Options(donate="aliased", **fields_of_options(self.named), **others)

    @staticmethod
    def parse(serialized: bytes) -> CompileOptions:
        """Reads them as XLA writes them; raises PluginError for options that nobody knows."""
        found = XLA_CLIENT.CompileOptions.ParseFromString(serialized)
        try:
            given: dict[str, Any] = dict(found.env_option_overrides or ())
            named = compiler_options(given)
        except XlaError as error:
            raise PluginError(ErrorCode.INVALID_ARGUMENT, str(error)) from error
        assignment = found.device_assignment
        devices: tuple[int, ...] = ()
        if assignment is not None and not found.compile_portable_executable:
            partitions = [
                [int(number) for number in re.findall(r"\d+", each)]
                for each in _DEVICES_OF_PARTITION.findall(str(assignment))
            ]
            devices = tuple(
                number for replica in zip(*partitions, strict=True) for number in replica
            )
        return CompileOptions(serialized, found.num_replicas, found.num_partitions, devices, named)
