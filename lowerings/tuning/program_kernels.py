"""The kernels of a program, each once, with how often the program calls them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.bufferize.xla_outline_kernels import KERNEL_ATTRIBUTE
from lowerings.compilation import Lowering
from lowerings.dialects.schedule import Schedule, schedule_of
from lowerings.loops.nest import NESTS, static_memref
from lowerings.scheduling.schedule_file import ScheduleEntry, ScheduleFile, operation_key
from lowerings.targets.llvm.machine import Machine
from lowerings.tuning.problem import TuningProblem
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
            machine.multiplies_pairs,
            threads,
            () if entry is None else (entry.schedule,),
        )


def tunable_kernels(module: ModuleOp, entry: str, machine: Machine) -> list[TunableKernel]:
    """
    The kernels of a function of a module of the xla level, which is used up, those that do most
    first as far as calls tell.

    Raises XlaError for what cannot be lowered.
    """
    lowering = Lowering(module, entry)
    lowering.to("schedules", machine)
    calls: Counter[str] = Counter(
        op.callee.string_value()
        for op in operations_in(lowering.module)
        if isinstance(op, func.CallOp)
    )
    found: dict[str, TunableKernel] = {}
    for function in lowering.module.ops:
        if not isinstance(function, func.FuncOp) or KERNEL_ATTRIBUTE not in function.attributes:
            continue
        nests = [op for op in operations_in(function) if type(op) in NESTS]
        default = schedule_of(nests[-1]) if nests else None
        if default is None or not default.steps:
            continue
        key, count = operation_key(nests[-1]), calls[function.sym_name.data]
        known = found.get(key)
        if known is not None:
            count += known.calls
            function, op = known.function, known.op
        else:
            op = nests[-1]
        found[key] = TunableKernel(function, op, key, default, count)
    return list(found.values())
