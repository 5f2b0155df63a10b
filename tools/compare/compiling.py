"""A contender compiled step by step, with what each step took and what it made."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Sequence

from llvmlite.binding.object_file import ObjectFileRef
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.bufferize.memory_usage import memory_traffic, memory_usage
from lowerings.compilation import Lowering
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager
from lowerings.driver.program import parse_source
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.emulator import Emulation, EmulatorMissing, compile_for_emulator
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.runnable import Runnable
from lowerings.ir.functions import functions_of
from lowerings.targets.llvm.machine import Machine, host
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import Array
from xla_dialect.ops.collectives import process_counts

from ..command_line import one_line
from .contender import ComparisonEffort, ProgramVariant
from .figures import Compilation, Memory, PassEffect

READING = "reading"
"""The part of a compilation before passes; the others behind them are steps of the compiler."""
OTHER_PASSES = "passes"
"""The part of passes that are of no level."""


class _Clock:
    """Seconds by part of a compilation."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self._part: str | None = None
        self._start = 0.0

    def begin(self, part: str | None) -> None:
        """A part begins, and the one before ends."""
        now = time.perf_counter()
        if self._part is not None:
            self.add(self._part, now - self._start)
        self._part, self._start = part, now

    def add(self, part: str, seconds: float) -> None:
        self.parts[part] = self.parts.get(part, 0.0) + seconds


def lowering_of(contender: ProgramVariant, machine: Machine) -> Lowering:
    """
    The function of a contender for a machine, read and verified.

    Raises XlaError where it is not there, and for programs of several processes.
    """
    module = parse_source(contender.source)
    functions = functions_of(module)
    if contender.entry not in functions:
        found = ", ".join(f"@{name}" for name in functions) or "none"
        raise XlaError(
            f"{contender.label}: there is no function @{contender.entry}; FILE:entry=NAME compares "
            f"another (functions: {found})"
        )
    if process_counts(module) != (1, 1):
        raise XlaError(f"{contender.label}: programs of several processes are not compared")
    return Lowering(module, contender.entry, machine)


def effects_of(contender: ProgramVariant) -> tuple[tuple[PassEffect, ...], Memory]:
    """What the passes do to a program, and what it takes; the module is verified after each."""
    lowering, passes = lowering_of(contender, host()), contender.passes(host())
    found: list[PassEffect] = []
    memory = Memory(None, ())
    before = _counted(lowering.module)

    def after(module_pass: ModulePass, module: ModuleOp) -> None:
        """Traffic is that of the last module with linalg operations."""
        nonlocal before, memory
        now = _counted(module)
        difference = Counter(now)
        difference.subtract(before)
        changes = {name: difference[name] for name in sorted(difference) if difference[name]}
        level = "".join(passes[len(found)].group[-1:])
        found.append(PassEffect(module_pass.name, level, now.total(), changes))
        usage = next(iter(memory_usage(module)), None) or memory.usage
        memory = Memory(usage, memory_traffic(module, ENTRY_SYMBOL) or memory.traffic)
        before = now

    manager = PassManager(make_context(), after=[after])
    lowering.run([each.module_pass for each in passes], manager)
    return tuple(found), memory


def _counted(module: ModuleOp) -> Counter[str]:
    """The operations of a module by name."""
    return Counter(op.name for op in module.walk())


def compiled(
    contender: ProgramVariant, time_limit: float | None = None, *, check_bounds: bool = False
) -> tuple[Runnable, Compilation]:
    """
    Compiles a contender for this machine as `lowerings.compile` does, without its cache.

    `time_limit`: seconds that a call may take; `check_bounds`: whether machine code checks its
    accesses to memory. Raises XlaError.
    """
    clock, machine = _Clock(), host()
    clock.begin(READING)
    lowering = lowering_of(contender, machine)
    clock.begin(None)
    passes = contender.passes(machine)
    manager = PassManager(make_context(), verify_each=False)
    lowered = lowering.run([each.module_pass for each in passes], manager)
    for each, timing in zip(passes, manager.timings, strict=True):
        part = each.group[-1] if each.group else OTHER_PASSES
        clock.add(part, timing.seconds + timing.verification_seconds)
    found: list[CompiledCode] = []
    executable = compile_loops_module(
        lowering.module,
        lowered.static.in_memory,
        ENTRY_SYMBOL,
        check_bounds=check_bounds,
        time_limit=time_limit,
        num_threads=contender.num_threads,
        on_compiled=found.append,
        on_step=clock.begin,
    )
    clock.begin(None)
    (code,) = found
    objects = map(ObjectFileRef.from_data, code.objects)
    sections = (section for each in objects for section in each.sections())
    compilation = Compilation(
        clock.parts,
        tuple(each.seconds for each in manager.timings),
        pickle.dumps((code.objects, code.constants, code.arena_size)),
        sum(section.size() for section in sections if section.is_text()),
    )
    return lowered.program(executable), compilation


def executed_instructions(
    contender: ProgramVariant,
    inputs: Sequence[Array],
    features: str,
    time_limit: float,
    known: dict[str, int],
) -> int:
    """
    The instructions that a call of a contender takes on riscv64, in an emulator.

    `known` has those of modules at the loops level, and gets this one. Raises XlaError,
    EmulatorMissing among them.
    """
    counted: list[int] = []
    emulation = Emulation(features, time_limit, on_executed=counted.append)
    lowering = lowering_of(contender, emulation.machine)
    passes = [each.module_pass for each in contender.passes(emulation.machine)]
    lowered = lowering.run(passes, PassManager(make_context(), verify_each=False))
    text = str(lowering.module)
    if text not in known:
        static = lowered.static.in_memory
        lowered.program(compile_for_emulator(lowering.module, static, emulation))(*inputs)
        known[text] = counted[-1]
    return known[text]


def instructions_of(
    contender: ProgramVariant,
    inputs: Sequence[Array],
    effort: ComparisonEffort,
    known: dict[str, int],
) -> tuple[int | None, str]:
    """The instructions that a call takes on riscv64, or why nobody knows."""
    if not effort.counts_instructions:
        return None, "not asked for"
    try:
        limit = effort.time_limit
        return executed_instructions(contender, inputs, effort.features, limit, known), ""
    except EmulatorMissing as error:
        return None, one_line(error)
    except XlaError as error:
        return None, f"on riscv64: {one_line(error)}"
