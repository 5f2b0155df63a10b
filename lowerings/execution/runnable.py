"""Programs that are ready to run, on any executor: by one process, by several, in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lowerings.execution.arrays import from_arguments
from lowerings.execution.signature import Signature
from xla_dialect.devices.process_grid import Host, Process, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import Array

if TYPE_CHECKING:
    from lowerings.execution.profile import Profile
    from lowerings.execution.program_shards import ProgramShards


_LONGEST = 400
"""Characters of a signature that are shown."""


class Runnable(ABC):
    """A program ready to run: call it with one array for each parameter."""

    signature: Signature
    """Parameter and result shapes."""
    process_counts: tuple[int, int] = (1, 1)
    """How many replicas, and partitions of each, it is compiled for."""
    text_at: Callable[[str], str] | None = None
    """The program that it was compiled from, at a level; None where that is not kept."""

    def __repr__(self) -> str:
        signature = str(self.signature)
        cut = signature if len(signature) <= _LONGEST else f"{signature[:_LONGEST]}…"
        return f"<{type(self).__name__} {cut}>"

    def as_text(self, level: str = "loops") -> str:
        """
        The program at a level: `xla`, `tensors`, `buffers`, `schedules`, `loops`, `llvm` or
        `x86-asm`. Each call lowers the program again.

        Raises XlaError for another level, for one above that of the program, and for a program
        that was made of a module, which is used up.
        """
        if self.text_at is None:
            raise XlaError(f"{self.signature.name} was made of a module, whose text is not kept")
        return self.text_at(level)

    @abstractmethod
    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Runs the program; anything with `__array__` or `__dlpack__` is an array."""

    def profile(self, *, reset: bool = False) -> Profile:
        """
        The times of the kernels over all runs so far, or since the last `reset`. Do not call it
        while the program runs. Raises XlaError for a program that was compiled without `profile`.
        """
        raise XlaError(f"{self.signature.name} was compiled without `profile=True`")

    def run_processes(
        self, arguments: Sequence[Sequence[Any]], *, hosts: Sequence[Host] | None = None
    ) -> list[tuple[Array, ...]]:
        """
        The results of every process, replica by replica and in each partition by partition.

        `arguments` has the arrays of each process, `hosts` the source of its infeeds and the sink
        of its outfeeds. Raises XlaError with the name of a process that fails, and for a deadlock:
        the error says which process waits for what.
        """
        grid = ProcessGrid(*self.process_counts)
        hosts = [Host() for _ in grid.places] if hosts is None else hosts
        for name, given in (("arguments", arguments), ("hosts", hosts)):
            if len(given) != len(grid.places):
                raise XlaError(f"{name} for {len(given)} processes, there are {len(grid.places)}")
        runs = {
            place: partial(run_as, Process(grid, place, host), self, arrays)
            for place, host, arrays in zip(grid.places, hosts, arguments, strict=True)
        }
        if len(runs) == 1:
            return [grid.run_alone(run) for run in runs.values()]
        return grid.run(runs)


def run_as(process: Process, program: Runnable, arrays: Sequence[Any]) -> tuple[Array, ...]:
    """The results of a program that a process runs in this thread."""
    with process.running():
        return program(*arrays)


class SurroundedProgram(Runnable):
    """A program that is called through another one, which does something before and behind it."""

    def __init__(self, program: Runnable, signature: Signature | None = None):
        """`signature`: that of callers, if it is another."""
        self.program = program
        self.signature = signature or program.signature

    def profile(self, *, reset: bool = False) -> Profile:
        """That of the program inside, on all devices that run it."""
        return self.program.profile(reset=reset)


class PartitionedProgram(SurroundedProgram):
    """A program of one device, which runs on all: called with whole arrays."""

    def __init__(self, local: Runnable, signature: Signature, shards: ProgramShards):
        """`signature`: that of the whole program."""
        super().__init__(local, signature)
        self.local = local
        self.shards = shards

    def __call__(self, *arrays: Any) -> tuple[Array, ...]:
        """Cuts the arguments, runs a process for each device, and joins what they return."""
        wholes = from_arguments(arrays, self.signature)
        count = self.shards.device_count
        parts = [self.shards.cut(device, wholes) for device in range(count)]
        found = self.local.run_processes(parts)
        return self.shards.joined(found, [spec.shape for spec in self.signature.results])


class KeepingArguments(SurroundedProgram):
    """A program that copies what it would write into: its arguments stay as they are."""

    def __init__(self, program: Runnable):
        super().__init__(program)
        self._written = {parameter for _, parameter in program.signature.aliases}

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """Runs the program; as `Executable`."""
        return self.program(
            *(
                _read_only(array) if number in self._written else array
                for number, array in enumerate(arrays)
            )
        )


def _read_only(array: object) -> Array:
    """A view that cannot be written; programs copy the content of such an argument."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
