"""Running programs on a grid of processes: replicas, and partitions of each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from xdsl.dialects.builtin import ModuleOp

from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Value
from xla_dialect.ops.process_groups import process_counts
from xla_dialect.reference.interpreter import prepared
from xla_dialect.reference.self_checking import Program, run_grid
from xla_dialect.runtime.options import RunOptions


def run_replicated(
    module: ModuleOp,
    arguments: Sequence[Sequence[object]] | None = None,
    entry: str = "main",
    *,
    replicas: int = 1,
    partitions: int = 1,
    hosts: Sequence[Host] | None = None,
    **options: Unpack[RunOptions],
) -> list[tuple[Value, ...]]:
    """
    The results of a function on every process, all of which run the same module.

    `arguments`, `hosts` and the results have one entry per process: replica by replica, and inside
    a replica partition by partition. Arguments and results are those of `run`; without `arguments`
    there are none.

    Raises XlaError where any process does, which the error names; where the program waits forever,
    because processes execute a collective unequally often or channels form a cycle, the error says
    who waits for what. A module that says how many processes it is for is run by as many.
    """
    wanted = process_counts(module)
    if wanted not in ((1, 1), (replicas, partitions)):
        raise XlaError(
            f"the module is for {wanted[0]} replicas and {wanted[1]} partitions, "
            f"not for {replicas} and {partitions}"
        )
    count = replicas * partitions
    for name, found in (("arguments", arguments), ("hosts", hosts)):
        if found is not None and len(found) != count:
            raise XlaError(f"{name} for {len(found)} processes, there are {count}")
    grid: list[list[Program]] = []
    for replica in range(replicas):
        numbers = range(replica * partitions, (replica + 1) * partitions)
        grid.append(
            [
                Program(
                    module,
                    () if arguments is None else arguments[number],
                    entry,
                    Host() if hosts is None else hosts[number],
                )
                for number in numbers
            ]
        )
    return run_programs(grid, **options)


def run_programs(
    programs: Sequence[Sequence[Program]], **options: Unpack[RunOptions]
) -> list[tuple[Value, ...]]:
    """
    The results of processes that run programs of their own, replica by replica.

    `programs` has one row per replica and in each one program per partition. Collectives of
    different programs meet if they are of one kind and have one channel, or none. See
    `run_replicated`.
    """
    return run_grid(programs, partial(prepared, **options))
