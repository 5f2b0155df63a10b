"""Programs that say how their arrays are split, run in parts: whole arrays in, whole arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lowerings.execution.arrays import from_argument, wrong_count
from lowerings.execution.processes import Runnable
from lowerings.execution.signature import Signature
from xla_dialect.numpy_types import Array

if TYPE_CHECKING:
    from lowerings.execution.profile import Profile
    from lowerings.execution.program_shards import ProgramShards


class PartitionedProgram(Runnable):
    """A program of one device, which runs on all: called with whole arrays."""

    def __init__(self, local: Runnable, signature: Signature, shards: ProgramShards):
        """`signature`: that of the whole program."""
        self.local = local
        self.signature = signature
        self.shards = shards

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Cuts the arguments, runs a process for each device, and joins what they return."""
        wholes = self._checked(arrays)
        count = self.shards.device_count
        parts = [self.shards.cut(device, wholes) for device in range(count)]
        found = self.local.run_processes(parts)
        return self.shards.joined(found, [spec.shape for spec in self.signature.results])

    def _checked(self, arrays: Sequence[Any]) -> list[Array]:
        if len(arrays) != len(self.signature.parameters):
            raise wrong_count(self.signature, len(arrays))
        return [from_argument(array, self.signature, n) for n, array in enumerate(arrays)]

    def profile(self, *, reset: bool = False) -> Profile:
        """That of the program of one device, on all of them."""
        return self.local.profile(reset=reset)
