"""The search for the schedules of all kernels of a program, within a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt
from random import Random

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.compilation import Lowering
from lowerings.dialects.schedule import Schedule, schedule_of
from lowerings.execution.emulator import Emulation, EmulatorMissing
from lowerings.ir.functions import KERNEL
from lowerings.loops.access import static_memref
from lowerings.loops.nest import NESTS
from lowerings.scheduling.schedule_file import ScheduleEntry, ScheduleFile, operation_key
from lowerings.targets.llvm.machine import Machine, host
from lowerings.tuning.measurement import InstructionMeter, KernelProgram, Meter, TimeMeter
from lowerings.tuning.search import Found, Search, SearchParts
from lowerings.tuning.space import TuningProblem
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class TunableKernel:
    """A kernel whose main operation can be given a schedule."""

    function: func.FuncOp
    op: Operation
    """The main operation, the last nest of the function."""
    key: str
    default: Schedule
    calls: int

    @property
    def name(self) -> str:
        """What the program calls it."""
        return self.function.sym_name.data

    @property
    def description(self) -> str:
        """What it takes: `61x97xf32, 97x53xf32, 61x53xf32`."""
        types = (static_memref(operand.type) for operand in self.op.operands)
        shapes = (
            "x".join(map(str, (*type_.get_shape(), type_.element_type)))
            for type_ in types
            if type_ is not None
        )
        return ", ".join(shapes)

    def default_entry(self, processor: str) -> ScheduleEntry:
        """The planner's schedule as an entry of a file."""
        note = f"{self.name} of {self.description}"
        return ScheduleEntry(self.key, self.default, note, processor)

    def problem(self, machine: Machine, threads: int, known: ScheduleFile) -> TuningProblem:
        """What to tune, with what is known of it."""
        entry = known.entry(self.key, machine.processor)
        return TuningProblem(
            self.op,
            self.default,
            machine.vector_bits,
            threads,
            () if entry is None else (entry.schedule,),
        )


def tunable_kernels(module: ModuleOp, entry: str, machine: Machine) -> list[TunableKernel]:
    """
    The kernels of a function of a module of the xla level, which is used up, those that do most
    first as far as calls tell.

    Raises XlaError for what cannot be lowered.
    """
    lowering = Lowering(module, entry, machine)
    lowering.to("schedules")
    calls: Counter[str] = Counter(
        op.callee.string_value()
        for op in operations_in(lowering.module)
        if isinstance(op, func.CallOp)
    )
    found: dict[str, TunableKernel] = {}
    for function in lowering.module.ops:
        if not isinstance(function, func.FuncOp) or KERNEL not in function.attributes:
            continue
        nests = [op for op in operations_in(function) if type(op) in NESTS]
        default = schedule_of(nests[-1]) if nests else None
        if default is None or not default.steps:
            continue
        op, count = nests[-1], calls[function.sym_name.data]
        kernel = TunableKernel(function, op, operation_key(op), default, count)
        known = found.setdefault(kernel.key, kernel)
        if known is not kernel:
            found[kernel.key] = replace(known, calls=known.calls + count)
    return list(found.values())


@dataclass(frozen=True)
class Limits:
    """When a search ends, and on what it measures."""

    seconds: float = 60.0
    """For all kernels together."""
    candidates: int | None = None
    """For each kernel; as many as there is time for if None."""
    threads: int = 1
    seed: int = 0


@dataclass(frozen=True)
class KernelResult:
    """What came out for one kernel."""

    kernel: TunableKernel
    found: Found | None = None
    """None where it was not searched."""
    reason: str = ""
    """Why it was not."""

    @property
    def is_better(self) -> bool:
        """Whether a schedule was found that is faster than the planner's."""
        return self.found is not None and self.found.schedule != self.kernel.default

    def entry(self, processor: str) -> ScheduleEntry:
        """The entry of a file for what was found."""
        assert self.found is not None
        found, default = self.found, self.kernel.default_entry(processor)
        tuned, cost = map(found.unit.shown, (found.cost * found.ratio, found.cost))
        note = f"{default.note}: {tuned} {found.unit.name}, by default {cost}"
        return replace(default, schedule=found.schedule, note=note)


@dataclass
class ProgramResult:
    """What came out for a program."""

    kernels: list[KernelResult] = field(default_factory=list[KernelResult])
    interrupted: bool = False

    @property
    def searched(self) -> list[tuple[TunableKernel, Found]]:
        """The kernels that were searched, with what was found."""
        return [(each.kernel, each.found) for each in self.kernels if each.found is not None]

    @property
    def geometric_mean(self) -> float:
        """Of the tuned kernels' times over the default ones."""
        ratios = [log(found.ratio) for _, found in self.searched]
        return exp(sum(ratios) / len(ratios)) if ratios else 1.0

    def costs(self) -> tuple[float, float]:
        """Of all calls that stand in the program, by default and tuned."""
        default = [(kernel.calls * found.cost, found.ratio) for kernel, found in self.searched]
        return sum(each for each, _ in default), sum(each * ratio for each, ratio in default)


Progress = Callable[[TunableKernel, Found, int], None]
"""Told after each candidate: the kernel, what was found for it, and how many are left after it."""

MakeMeter = Callable[[TunableKernel], Meter]


@dataclass(frozen=True)
class ProgramSearch:
    """Searches the schedules of a program's kernels, one kernel after the other."""

    limits: Limits = field(default_factory=Limits)
    parts: SearchParts = field(default_factory=SearchParts)
    known: ScheduleFile = field(default_factory=ScheduleFile)
    """Schedules found before, which are tried first."""
    emulation: Emulation | None = None
    """The processor that an emulator counts the instructions of; None for this machine's time."""
    progress: Progress = lambda kernel, found, left: None
    on_result: Callable[[KernelResult], None] = lambda result: None
    """Told when a kernel is done."""
    make_meter: MakeMeter | None = None
    """How kernels are measured, in the place of either."""

    @property
    def machine(self) -> Machine:
        """The processor that schedules are for."""
        return host() if self.emulation is None else self.emulation.machine

    def run(self, module: ModuleOp, entry: str = "main") -> ProgramResult:
        """
        Tunes a module of the xla level, which is used up.

        Interrupted from the keyboard, it returns what it has found. Raises XlaError for a program
        that cannot be lowered.
        """
        result = ProgramResult()
        try:
            self._search_all(tunable_kernels(module, entry, self.machine), result)
        except KeyboardInterrupt:
            result.interrupted = True
        return result

    def _search_all(self, kernels: Sequence[TunableKernel], result: ProgramResult) -> None:
        end = time.monotonic() + self.limits.seconds
        make_meter = self.make_meter or self._meter
        meters: list[tuple[TunableKernel, Meter, float]] = []
        for kernel in kernels:
            try:
                meter = make_meter(kernel)
                cost = kernel.calls * meter.cost(meter.reference)
            except EmulatorMissing:
                raise
            except XlaError as error:
                self._add(result, KernelResult(kernel, reason=str(error)))
                continue
            # A kernel that takes a hundredth of the time gets a tenth of what another one gets.
            meters.append((kernel, meter, sqrt(cost)))
        meters.sort(key=lambda each: -each[2])
        for number, (kernel, meter, weight) in enumerate(meters):
            total = sum(each[2] for each in meters[number:])
            share = (end - time.monotonic()) * weight / total
            found = self._search(kernel, meter, share, len(meters) - number - 1)
            self._add(result, KernelResult(kernel, found))
            if found.interrupted:
                raise KeyboardInterrupt

    def _add(self, result: ProgramResult, one: KernelResult) -> None:
        result.kernels.append(one)
        self.on_result(one)

    def _search(self, kernel: TunableKernel, meter: Meter, seconds: float, left: int) -> Found:
        problem = kernel.problem(self.machine, self.limits.threads, self.known)
        # A kernel's candidates do not depend on which others the program has.
        search = Search(problem, meter, self.parts, Random(f"{self.limits.seed} {kernel.key}"))
        end = time.monotonic() + seconds

        def may_go_on(found: Found) -> bool:
            self.progress(kernel, found, left)
            tried = found.measured + found.not_admitted + found.wrong
            limit = self.limits.candidates
            return (limit is None or tried < limit) and time.monotonic() < end

        return search.run(may_go_on)

    def _meter(self, kernel: TunableKernel) -> Meter:
        limits = self.limits
        if self.emulation is None:
            program = KernelProgram(kernel.function, self.machine, limits.threads)
            return TimeMeter(program, kernel.default, limits.seed)
        program = KernelProgram(kernel.function, self.machine)
        emulation = replace(self.emulation, time_limit=limits.seconds)
        return InstructionMeter(program, kernel.default, limits.seed, emulation)
