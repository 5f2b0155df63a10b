"""What checks, prints, probes and `run_parallel` do in the reference."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    OpImpl,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Operation

from xla_dialect.devices.process_grid import Host, Process, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Value
from xla_dialect.runtime.observation import Observer
from xla_dialect.runtime.self_checking import OBSERVATIONS
from xla_dialect.self_checking import interpreter

# What the processes of a grid run, each a program of its own.


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


@register_impls
@dataclass
class ParallelFunctions(InterpreterFunctions):
    """`run_parallel`; `prepare` makes a run of a function by a process, `process` runs here."""

    prepare: Prepare
    process: Process

    @impl(interpreter.RunParallelOp)
    def run_parallel(
        self, running: Interpreter, op: interpreter.RunParallelOp, args: PythonValues
    ) -> PythonValues:
        """
        The results of all programs; what infeeds read is computed first.

        What outfeeds write goes, program by program, to the host of the process that runs them.
        """
        functions = {f.sym_name.data: f for f in running.module.ops if isinstance(f, FuncOp)}
        infeed = deque[object](
            item
            for name in op.infeed_names
            for item in Process().grid.run_alone(self.prepare(running.module, (), name, Process()))
        )
        programs: list[list[Program]] = []
        given = iter(args)
        for row in op.program_names:
            programs.append([])
            for name in row:
                count = len(functions[name].function_type.inputs)
                host = Host(infeed)  # the same queue for all
                programs[-1].append(Program(running.module, list(islice(given, count)), name, host))
        results = run_grid(programs, self.prepare)
        for program in chain.from_iterable(programs):
            self.process.host.outfeed.extend(program.host.outfeed)
        return tuple(chain.from_iterable(results))


def _implementation(op_type: type[Operation]) -> OpImpl[InterpreterFunctions, Operation]:
    observation = OBSERVATIONS[op_type]

    def run(
        functions: InterpreterFunctions, _: Interpreter, op: Operation, args: PythonValues
    ) -> PythonValues:
        observer = cast(ObservationFunctions, functions).observer
        observation(op, [np.asarray(value) for value in args], observer)
        return args[: len(op.results)]

    return impl(op_type)(run)


@dataclass
class ObservationFunctions(InterpreterFunctions):
    """Checks, prints and probes, carried out when the interpreter reaches them."""

    observer: Observer


for _op_type in OBSERVATIONS:
    setattr(ObservationFunctions, _op_type.__name__, _implementation(_op_type))
register_impls(ObservationFunctions)
