"""Whether a candidate computes what the default does, and what it costs: seconds, instructions."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import ceil, prod
from statistics import median
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from lowerings.bufferize.signatures import ALIASED_PARAMETER
from lowerings.dialects.schedule import Schedule, set_schedule
from lowerings.driver.collector import collector_paused
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import machine_target, parse_passes
from lowerings.execution.arrays import allocate
from lowerings.execution.emulator import Emulation, compile_for_emulator
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.runnable import Runnable
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.ir.functions import functions_of
from lowerings.loops.nest import NESTS
from lowerings.pipelines import NATIVE
from lowerings.rewriting.passes import run_pass
from lowerings.targets.llvm.machine import Machine
from lowerings.validation.allowances import allowance_of
from lowerings.validation.inputs import InputKind, make_input
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.mlir_text import read_mlir
from xla_dialect.types import BY_TYPE
from xla_dialect.xdsl.traversal import operations_in

ENTRY = "main"


class NotTunable(XlaError):
    """A kernel that cannot be run by itself."""


@dataclass(frozen=True)
class KernelProgram:
    """
    A function that does one computation, and a loop that calls it.

    Its parameters are the number of calls and the arrays, its results the arrays again, each in the
    memory of the parameter.
    """

    function: func.FuncOp
    """Its last nest is what schedules are for."""
    machine: Machine
    num_threads: int = 1

    def lowered(self, schedule: Schedule) -> ModuleOp:
        """
        The program at the loops level, with a schedule for its main operation.

        Raises PassFailedException or XlaError for one that it does not admit.
        """
        module = read_mlir(self._entry_text(), make_context(), "<tuning>")
        machine_target(self.machine).attach(module)
        functions_of(module)[self.function.sym_name.data].detach()
        kernel = self.function.clone()
        module.body.block.add_op(kernel)
        set_schedule([op for op in operations_in(kernel) if type(op) in NESTS][-1], schedule)
        # Without verification: a fifth of the time to compile.
        with collector_paused():
            for each in _passes_to_loops():
                run_pass(each, make_context(), module)
        return module

    @cached_property
    def _arrays(self) -> Mapping[int, MemRefType[Attribute]]:
        """The types of the arrays that the function takes, by the numbers of its arguments."""
        return {
            number: _at_the_start(cast("MemRefType[Attribute]", type_))
            for number, type_ in enumerate(self.function.function_type.inputs)
            if isinstance(type_, MemRefType)
        }

    @cached_property
    def signature(self) -> Signature:
        """What the program takes and returns: elements, with what lies between them."""
        specs = tuple(map(_spec, self._arrays.values()))
        aliases = tuple((number, 1 + number) for number in range(len(specs)))
        return Signature((ArraySpec.of("s64", 1), *specs), specs, ENTRY, aliases)

    def make_buffers(self, kind: InputKind, seed: int) -> list[Array]:
        """Arrays for the kernel; where it loads by computed positions, integers are zero."""
        signature = Signature(self.signature.results, ())
        arrays = make_input(signature, kind, np.random.default_rng(seed))
        by_position = any(isinstance(op, memref.LoadOp) for op in operations_in(self.function))
        return [
            _aligned(np.zeros_like(array) if by_position and array.dtype.kind in "iu" else array)
            for array in arrays
        ]

    def _entry_text(self) -> str:
        inputs = self.function.function_type.inputs
        parameters, results, lines = ["%count: memref<1xi64>"], list[str](), list[str]()
        for number, type_ in enumerate(inputs):
            own = self._arrays.get(number)
            if own is None:
                lines.append(f"%a{number} = arith.constant {_scalar(type_)} : {type_}")
                continue
            results.append(f"%r{number}: {own} {{{ALIASED_PARAMETER} = {len(parameters)} : i64}}")
            parameters.append(f"%p{number}: {own}")
            lines.append(f'%a{number} = "memref.cast"(%r{number}) : ({own}) -> {type_}')
        kernel, types = self.function.sym_name.data, ", ".join(map(str, inputs))
        arguments = ", ".join(f"%a{number}" for number in range(len(inputs)))
        body = "\n".join(lines)
        return f"""
            func.func private @{kernel}({types}) -> ()
            func.func @{ENTRY}({", ".join(parameters + results)}) attributes {{xla.entry}} {{
              %zero = arith.constant 0 : index
              %one = arith.constant 1 : index
              %number = memref.load %count[%zero] : memref<1xi64>
              %times = arith.index_cast %number : i64 to index
              {body}
              scf.for %i = %zero to %times step %one {{
                func.call @{kernel}({arguments}) : ({types}) -> ()
              }}
              func.return
            }}
        """


@cache
def _passes_to_loops() -> tuple[ModulePass, ...]:
    return parse_passes(",".join(NATIVE[-1].passes))


def _scalar(type_: Attribute) -> str:
    if not isinstance(type_, IndexType | IntegerType | AnyFloat):
        raise NotTunable(f"a kernel that takes {type_}")
    return "1.0" if isinstance(type_, AnyFloat) else "0"


def _at_the_start(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """A memref with the strides of another one, whose first element is that of its memory."""
    layout = type_.layout
    if isinstance(layout, StridedLayoutAttr):
        layout = StridedLayoutAttr(layout.strides, 0)
    return MemRefType(type_.element_type, type_.shape, layout)


def _spec(type_: MemRefType[Attribute]) -> ArraySpec:
    """Of all that lies from the first to the last element."""
    row, strides = BY_TYPE.get(type_.element_type), type_.get_strides()
    steps = [-1 if stride is None else stride for stride in strides or ()]
    if row is None or strides is None or min(steps, default=0) < 0:
        raise NotTunable(f"a kernel that takes {type_}")
    shape = type_.get_shape()
    last = sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    return ArraySpec.of(row.name, last + 1 if prod(shape) else 0)


def _aligned(array: Array) -> Array:
    """The array at an address that is a multiple of a cache line, as those of programs are."""
    memory = allocate(max(array.nbytes, 1))
    copy = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
    np.copyto(copy, array)
    return copy


ALLOWANCE = allowance_of("convert-linalg-to-vector-loops")
"""How results may differ: sums of floats are taken in the order that the schedule gives them."""

TURN_SECONDS = 0.001
"""What one measurement takes at the least, with so many runs."""


@dataclass(frozen=True)
class Unit:
    """What costs are shown in."""

    name: str
    per_cost: float

    def shown(self, cost: float) -> str:
        """A cost in this unit."""
        return f"{cost * self.per_cost:.4g}" if self.per_cost != 1 else f"{cost:.0f}"


MICROSECONDS = Unit("us", 1e6)
"""For costs in seconds."""
INSTRUCTIONS = Unit("instructions", 1)


ONCE = np.array([1], np.int64)


@dataclass
class Meter(ABC):
    """
    Compiles a kernel with schedules, runs it beside its default schedule on arrays, and compares.

    A candidate takes the number of calls and the arrays; it returns those that it writes.
    """

    program: KernelProgram
    default: Schedule
    seed: int = 0
    unit: ClassVar[Unit]
    """What its costs are shown in."""

    @abstractmethod
    def compiled(self, schedule: Schedule) -> Any:
        """The kernel with a schedule; raises PassFailedException or XlaError if not admitted."""

    def ratio(self, candidate: Any, other: Any, turns: int) -> float:
        """Its cost over that of another one; where it varies, the median of so many turns."""
        return self.cost(candidate) / self.cost(other)

    @abstractmethod
    def cost(self, candidate: Any) -> float:
        """Of one run."""

    @cached_property
    def arrays(self) -> list[Array]:
        """What costs are measured on; they stay as they are."""
        return self.program.make_buffers(InputKind.PLAIN, self.seed)

    @cached_property
    def reference(self) -> Any:
        """What is right: the kernel with its default schedule."""
        return self.compiled(self.default)

    def is_wrong(self, candidate: Any) -> bool:
        """On moderate numbers, and on zeros, infinities and NaN."""
        return any(
            bool(np.any(ALLOWANCE.differing(found, wanted)))
            for arrays, expected in self._expected
            for found, wanted in zip(_results(candidate, arrays), expected, strict=True)
        )

    @cached_property
    def _expected(self) -> list[tuple[list[Array], Sequence[Array]]]:
        cases = [self.program.make_buffers(kind, self.seed + 1) for kind in ALLOWANCE.kinds]
        return [(arrays, _results(self.reference, arrays)) for arrays in cases]


def _results(candidate: Any, arrays: Sequence[Array]) -> Sequence[Array]:
    """What a candidate makes of arrays, which stay as they are, in one call."""
    return candidate(ONCE, *map(_aligned, arrays))


@dataclass
class TimeMeter(Meter):
    """The meter of this machine's time, by turns; costs are seconds."""

    unit = MICROSECONDS

    @cached_property
    def _runs(self) -> int:
        once = min(self._time(self.reference, 1) for _ in range(4))
        return max(1, ceil(TURN_SECONDS / once))

    def compiled(self, schedule: Schedule) -> Runnable:
        """See `Meter`."""
        module, program = self.program.lowered(schedule), self.program
        return compile_loops_module(
            module, program.signature, num_threads=program.num_threads, machine=program.machine
        )

    def ratio(self, candidate: Runnable, other: Runnable, turns: int) -> float:
        """Who goes first alternates as well."""
        ratios: list[float] = []
        for turn in range(turns):
            first, second = (candidate, other) if turn % 2 else (other, candidate)
            times = {id(each): self._time(each, self._runs) for each in (first, second)}
            ratios.append(times[id(candidate)] / times[id(other)])
        return median(ratios)

    def cost(self, candidate: Runnable) -> float:
        """The least of three, after one that warms up."""
        return min([self._time(candidate, self._runs) for _ in range(4)][1:])

    def _time(self, candidate: Runnable, runs: int) -> float:
        count, arrays = np.array([runs], np.int64), [*map(_aligned, self.arrays)]
        start = time.perf_counter()
        candidate(count, *arrays)
        return (time.perf_counter() - start) / runs


@dataclass
class EmulatedKernel:
    """A kernel with one schedule, compiled for the emulated processor."""

    program: Runnable
    executed: list[int] = field(default_factory=list[int])
    """The instructions of each run so far."""

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Runs it; returns the arrays that it writes."""
        return self.program(*arrays)


@dataclass
class InstructionMeter(Meter):
    """
    The meter of an emulated processor; `program` is for its machine.

    A cost is the number of instructions of one run, with the few that the entry takes. It does not
    vary from run to run, so one is enough.
    """

    unit = INSTRUCTIONS
    emulation: Emulation = field(default_factory=Emulation)

    def compiled(self, schedule: Schedule) -> EmulatedKernel:
        """See `Meter`; raises EmulatorMissing, too."""
        executed: list[int] = []
        counting = replace(self.emulation, on_executed=executed.append)
        module = self.program.lowered(schedule)
        program = compile_for_emulator(module, self.program.signature, counting)
        return EmulatedKernel(program, executed)

    def cost(self, candidate: EmulatedKernel) -> float:
        """See `Meter`."""
        if not candidate.executed:
            candidate(ONCE, *self.arrays)
        return float(candidate.executed[0])
