"""Whether a candidate computes what the default does, and what it costs: seconds, instructions."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
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
    NoneAttr,
)
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from lowerings.bufferize.signatures import ALIASED_PARAMETER
from lowerings.dialects.schedule import Schedule, set_schedule
from lowerings.driver.collector import collector_paused
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import parse_passes
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
from xla_dialect.types import BY_NAME
from xla_dialect.xdsl.traversal import operations_in

ENTRY = "main"


class NotTunable(XlaError):
    """A kernel that cannot be run by itself."""


@dataclass(frozen=True)
class KernelProgram:
    """
    A function that does one computation, and a loop that calls it.

    Its parameters are the number of calls and the arrays, its results those arrays that it writes,
    each in the memory of the parameter.
    """

    function: func.FuncOp
    """Its last nest is what schedules are for."""
    machine: Machine
    num_threads: int = 1

    @cached_property
    def types(self) -> Sequence[MemRefType[Attribute]]:
        """Of its arrays, flat where they do not lie dense."""
        types = (each for each in self.function.function_type.inputs if _is_memref(each))
        return [_flat(cast("MemRefType[Attribute]", each)) for each in types]

    def lowered(self, schedule: Schedule) -> ModuleOp:
        """
        The program at the loops level, with a schedule for its main operation.

        Raises PassFailedException or XlaError for one that it does not admit.
        """
        module = self._module()
        kernel = functions_of(module)[self.function.sym_name.data]
        set_schedule([op for op in operations_in(kernel) if type(op) in NESTS][-1], schedule)
        # Without verification: a fifth of the time to compile.
        with collector_paused():
            for each in _passes_to_loops():
                run_pass(each, make_context(), module)
        return module

    @cached_property
    def signature(self) -> Signature:
        """What the program takes and returns."""
        specs = self._specs
        aliases = tuple((number, 1 + array) for number, array in enumerate(self.written))
        results = tuple(specs[array] for array in self.written)
        return Signature((ArraySpec.of("s64", 1), *specs), results, ENTRY, aliases)

    @property
    def _specs(self) -> tuple[ArraySpec, ...]:
        return tuple(
            ArraySpec.of(_element_name(each.element_type), *each.get_shape()) for each in self.types
        )

    def make_buffers(self, kind: InputKind, seed: int) -> list[Array]:
        """Arrays for the kernel; where it loads by computed positions, integers are zero."""
        arrays = make_input(Signature(self._specs, ()), kind, np.random.default_rng(seed))
        by_position = any(isinstance(op, memref.LoadOp) for op in operations_in(self.function))
        return [
            _aligned(np.zeros_like(array) if by_position and array.dtype.kind in "iu" else array)
            for array in arrays
        ]

    @cached_property
    def written(self) -> list[int]:
        """The arrays that the kernel writes."""
        arguments = [each for each in self.function.body.block.args if _is_memref(each.type)]
        nests = [NESTS[type(op)](op) for op in operations_in(self.function) if type(op) in NESTS]
        targets = {access.memref for nest in nests for access in nest.outputs}
        if not targets <= set(arguments):
            return list(range(len(arguments)))
        return [number for number, each in enumerate(arguments) if each in targets]

    def _module(self) -> ModuleOp:
        module = read_mlir(self._entry_text(), make_context(), "<tuning>")
        functions_of(module)[self.function.sym_name.data].detach()
        module.body.block.add_op(self.function.clone())
        return module

    def _entry_text(self) -> str:
        parameters = ["%count: memref<1xi64>"]
        lines: list[str] = []
        arguments: list[str] = []
        results: list[str] = []
        for number, type_ in enumerate(self.function.function_type.inputs):
            name = f"%a{number}"
            if not _is_memref(type_):
                lines.append(f"{name} = arith.constant {_scalar(type_)} : {type_}")
                arguments.append(name)
                continue
            array = len(parameters) - 1
            flat = self.types[array]
            parameters.append(f"{name}: {flat}")
            if array in self.written:
                name = f"%r{number}"
                results.append(f"{name}: {flat} {{{ALIASED_PARAMETER} = {1 + array} : i64}}")
            arguments.append(name if flat == type_ else f"%v{number}")
            if flat != type_:
                strided = cast("MemRefType[Attribute]", type_)
                lines += _view_lines(name, f"%v{number}", flat, strided)
        inputs = ", ".join(map(str, self.function.function_type.inputs))
        kernel = self.function.sym_name.data
        body = "\n".join(lines)
        return f"""
            func.func private @{kernel}({inputs}) -> ()
            func.func @{ENTRY}({", ".join(parameters + results)}) attributes {{xla.entry}} {{
              %zero = arith.constant 0 : index
              %one = arith.constant 1 : index
              %number = memref.load %count[%zero] : memref<1xi64>
              %times = arith.index_cast %number : i64 to index
              {body}
              scf.for %i = %zero to %times step %one {{
                func.call @{kernel}({", ".join(arguments)}) : ({inputs}) -> ()
              }}
              func.return
            }}
        """


@cache
def _passes_to_loops() -> tuple[ModulePass, ...]:
    return parse_passes(",".join(NATIVE[-1].passes))


def _view_lines(
    name: str, view: str, flat: MemRefType[Attribute], type_: MemRefType[Attribute]
) -> list[str]:
    """A strided view from the start of a flat array."""
    shape, strides = list(type_.get_shape()), list(type_.get_strides() or ())
    sizes = "x".join(map(str, [*shape, type_.element_type]))
    static = f"memref<{sizes}, strided<{strides}>>"
    whole = f"memref.reinterpret_cast {name} to offset: [0], sizes: {shape}, strides: {strides}"
    return [
        f"{view}x = {whole} : {flat} to {static}",
        f'{view} = "memref.cast"({view}x) : ({static}) -> {type_}',
    ]


def _is_memref(type_: Attribute) -> bool:
    return isinstance(type_, MemRefType)


def _scalar(type_: Attribute) -> str:
    if isinstance(type_, IndexType | IntegerType):
        return "0"
    if isinstance(type_, AnyFloat):
        return "1.0"
    raise NotTunable(f"a kernel that takes {type_}")


def _flat(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The type of the dense array that a memref is a part of."""
    if isinstance(type_.layout, NoneAttr):
        return type_
    shape = type_.get_shape()
    strides = [each for each in type_.get_strides() or () if each is not None]
    if len(strides) != len(shape) or min(strides, default=0) < 0:
        raise NotTunable(f"a kernel that takes {type_}")
    span = 1 + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    return MemRefType(type_.element_type, [span if prod(shape) else 0])


def _element_name(type_: Attribute) -> str:
    for name, row in BY_NAME.items():
        if row.type == type_:
            return name
    raise NotTunable(f"a kernel with elements of type {type_}")


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

    @abstractmethod
    def ratio(self, candidate: Any, other: Any, turns: int) -> float:
        """Its cost over that of another one, the median of so many turns."""

    @abstractmethod
    def cost(self, candidate: Any) -> float:
        """Of one run."""

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
    _runs: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        self._runs = max(1, ceil(TURN_SECONDS / max(self.cost(self.reference), 1e-9)))

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

    @cached_property
    def _originals(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)

    @cached_property
    def _buffers(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)

    def _time(self, candidate: Runnable, runs: int) -> float:
        for number in self.program.written:
            np.copyto(self._buffers[number], self._originals[number])
        count = np.array([runs], np.int64)
        start = time.perf_counter()
        candidate(count, *self._buffers)
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

    def ratio(self, candidate: EmulatedKernel, other: EmulatedKernel, turns: int) -> float:
        """See `Meter`."""
        return self.cost(candidate) / self.cost(other)

    def cost(self, candidate: EmulatedKernel) -> float:
        """See `Meter`."""
        if not candidate.executed:
            candidate(ONCE, *self._plain)
        return float(candidate.executed[0])

    @cached_property
    def _plain(self) -> list[Array]:
        return self.program.make_buffers(InputKind.PLAIN, self.seed)
