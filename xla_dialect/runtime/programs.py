"""What the processes of a grid run, each a program of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp

from xla_dialect.devices.process_grid import Host, Process, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Value


@dataclass
class Program:
    """The program, infeeds and outfeeds of one process."""

    module: ModuleOp
    arguments: Sequence[object] = ()
    entry: str = "main"
    host: Host = field(default_factory=Host)
    """What its infeeds read and its outfeeds write."""


Run: TypeAlias = Callable[[], tuple[Value, ...]]
"""A run of a program, to be called in the thread of its process."""

Prepare: TypeAlias = Callable[[ModuleOp, Sequence[object], str, Process], Run]
"""From a module, arguments, an entry and a process to a run; checks the arguments."""


def run_grid(programs: Sequence[Sequence[Program]], prepare: Prepare) -> list[tuple[Value, ...]]:
    """
    The results of processes that run programs of their own, replica by replica.

    `programs` has one row per replica and in each one program per partition. Collectives of
    different programs meet if they are of one kind and have one channel, or none.

    Raises XlaError where the rows differ in length, where any process does, and where the processes
    wait forever.
    """
    if len({len(row) for row in programs}) > 1:
        raise XlaError("replicas have different numbers of partitions")
    grid = ProcessGrid(len(programs), len(programs[0]) if programs else 0)
    in_row = list(chain.from_iterable(programs))
    same_program = len({(program.module, program.entry) for program in in_row}) == 1
    runs = {
        place: prepare(
            program.module,
            program.arguments,
            program.entry,
            Process(grid, place, program.host, same_program),
        )
        for place, program in zip(grid.places, in_row, strict=True)
    }
    return grid.run(runs)
