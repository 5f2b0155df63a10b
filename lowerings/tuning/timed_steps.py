"""Primitives one after the other, with the loops after each and what a call of the kernel takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lowerings.scheduling.primitives import LoopNest, Primitive
from lowerings.targets.llvm.machine import Machine
from lowerings.tuning.measurement import KernelProgram, TimeMeter
from lowerings.tuning.program_search import TunableKernel


@dataclass(frozen=True)
class TimedStep:
    """A primitive, and what is there after it."""

    primitive: Primitive | None
    """None for plain loops."""
    loops: LoopNest
    microseconds: float
    """What one call takes at the least."""

    def __str__(self) -> str:
        return f"{self.primitive or 'plain loops'}: {self.microseconds:.3g} us\n{self.loops}"


def timed_steps(
    kernel: TunableKernel, primitives: Iterable[Primitive], machine: Machine, threads: int = 1
) -> Iterator[TimedStep]:
    """
    Plain loops of a kernel, then those after each primitive, measured as they are asked for.

    Raises ScheduleError for the first primitive that the kernel refuses.
    """
    program = KernelProgram(kernel.function, machine, threads)
    loops = LoopNest.of(kernel.op)
    meter = TimeMeter(program, loops.schedule)
    for primitive in (None, *primitives):
        if primitive is not None:
            loops = loops.after(primitive.name, *primitive.arguments)
        cost = meter.cost(meter.compiled(loops.schedule))
        yield TimedStep(primitive, loops, 1e6 * cost)
