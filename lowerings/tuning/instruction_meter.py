"""What candidates cost on riscv64, in instructions that an emulator counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from lowerings.dialects.schedule import Schedule
from lowerings.execution.emulator import Emulation, compile_for_emulator
from lowerings.execution.runnable import Runnable
from lowerings.tuning.kernel_program import KernelProgram
from lowerings.tuning.measurement import INSTRUCTIONS, CheckingMeter
from lowerings.validation.inputs import InputKind
from xla_dialect.literals.arrays import Array


@dataclass
class EmulatedKernel:
    """A kernel with one schedule, compiled for the emulated processor."""

    program: Runnable
    executed: list[int] = field(default_factory=list[int])
    """The instructions of each run so far."""

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Runs it once; returns the arrays that it writes."""
        return self.program(np.array([1], np.int64), *arrays)


def emulated(program: KernelProgram, schedule: Schedule, emulation: Emulation) -> EmulatedKernel:
    """
    A kernel with a schedule; raises PassFailedException or XlaError for one that it does not admit,
    and EmulatorMissing.
    """
    executed: list[int] = []
    counting = replace(emulation, on_executed=executed.append)
    module = program.lowered(schedule)
    return EmulatedKernel(compile_for_emulator(module, program.signature, counting), executed)


@dataclass
class InstructionMeter(CheckingMeter):
    """
    The meter of an emulated processor; `program` is for its machine.

    A cost is the number of instructions of one run, with the few that the entry takes. It does not
    vary from run to run, so one is enough.
    """

    unit = INSTRUCTIONS
    emulation: Emulation = field(default_factory=Emulation)

    def compiled(self, schedule: Schedule) -> EmulatedKernel:
        """See `Meter`."""
        return emulated(self.program, schedule, self.emulation)

    def ratio(self, candidate: EmulatedKernel, other: EmulatedKernel, turns: int) -> float:
        """See `Meter`."""
        return self.cost(candidate) / self.cost(other)

    def cost(self, candidate: EmulatedKernel) -> float:
        """See `Meter`."""
        if not candidate.executed:
            candidate.run(self._plain)
        return float(candidate.executed[0])

    def results(self, candidate: EmulatedKernel, arrays: Sequence[Array]) -> Sequence[Array]:
        """See `CheckingMeter`."""
        return candidate.run(arrays)

    @cached_property
    def _plain(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)
