"""A contender compiled step by step, with what each step took and what it made."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from llvmlite.binding.object_file import ObjectFileRef
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.bufferize.memory_usage import (
    MemoryTraffic,
    MemoryUsage,
    memory_traffic,
    memory_usage,
)
from lowerings.compilation import Lowering
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, PipelinePass
from lowerings.driver.program import parse_source
from lowerings.execution.callbacks import Callbacks
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.declared_functions import declared_functions
from lowerings.execution.emulator import Emulation, EmulatorMissing, compile_for_emulator
from lowerings.execution.executable import Executable, thread_count
from lowerings.execution.loops_compiler import emit_entry
from lowerings.execution.runnable import Runnable
from lowerings.ir.functions import functions_of
from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.module_parts import object_parts
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import Array
from xla_dialect.ops.collectives import process_counts
from xla_dialect.runtime.observation import Observer

from ..command_line import one_line
from .contender import ComparisonEffort, ContenderError, ProgramVariant
from .figures import CompileTime, Memory, PassEffect

READING, LLVM_IR, LLVM, LOADING = "reading", "LLVM IR", "LLVM", "loading"
"""The parts of a compilation beside passes."""
OTHER_PASSES = "passes"
"""The part of passes that are of no level."""


@dataclass(frozen=True)
class Compiled:
    """A contender ready to run."""

    program: Runnable
    machine_code: bytes
    """All that decides how it runs, but for its threads."""
    time: CompileTime
    code_bytes: int
    """Of instructions, without constants."""


@dataclass
class Effects:
    """What each pass did to a module, as events of a pass manager."""

    operations: list[Counter[str]] = field(default_factory=list[Counter[str]])
    """By name, before the first pass and after each."""
    usage: MemoryUsage | None = None
    traffic: tuple[MemoryTraffic, ...] = ()

    def count(self, module: ModuleOp) -> None:
        """Counts the operations of a module."""
        self.operations.append(Counter(op.name for op in module.walk()))

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass. Traffic is that of the last module with linalg operations."""
        self.count(module)
        self.usage = next(iter(memory_usage(module)), None) or self.usage
        self.traffic = memory_traffic(module, ENTRY_SYMBOL) or self.traffic

    @property
    def memory(self) -> Memory:
        """What the program takes in the end."""
        return Memory(self.usage, self.traffic)

    def of(self, passes: Sequence[PipelinePass]) -> tuple[PassEffect, ...]:
        """What each pass did."""
        found: list[PassEffect] = []
        for position, each in enumerate(passes):
            before, now = self.operations[position : position + 2]
            names = sorted(before.keys() | now.keys())
            changes = {
                name: now[name] - before[name] for name in names if now[name] != before[name]
            }
            level = each.group[-1] if each.group else ""
            found.append(PassEffect(each.module_pass.name, level, now.total(), changes))
        return tuple(found)


@dataclass
class _Clock:
    parts: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, part: str, seconds: float) -> None:
        self.parts[part] = self.parts.get(part, 0.0) + seconds

    @contextmanager
    def running(self, part: str) -> Generator[None]:
        start = time.perf_counter()
        yield
        self.add(part, time.perf_counter() - start)


def lowering_of(contender: ProgramVariant, machine: Machine) -> Lowering:
    """
    The function of a contender for a machine, read and verified.

    Raises XlaError where it is not there, and for programs of several processes.
    """
    module = parse_source(contender.source)
    functions = functions_of(module)
    if contender.entry not in functions:
        found = ", ".join(f"@{name}" for name in functions) or "none"
        raise ContenderError(
            f"{contender.label}: there is no function @{contender.entry}; FILE:entry=NAME compares "
            f"another (functions: {found})"
        )
    if process_counts(module) != (1, 1):
        raise ContenderError(f"{contender.label}: programs of several processes are not compared")
    return Lowering(module, contender.entry, machine)


def effects_of(contender: ProgramVariant) -> tuple[tuple[PassEffect, ...], Memory]:
    """What the passes do to a program, and what it takes; the module is verified after each."""
    lowering, effects = lowering_of(contender, host()), Effects()
    passes = contender.passes(host())
    effects.count(lowering.module)
    manager = PassManager(make_context(), after=[effects.after])
    lowering.run([each.module_pass for each in passes], manager)
    return effects.of(passes), effects.memory


def compiled(
    contender: ProgramVariant, time_limit: float | None = None, *, check_bounds: bool = False
) -> Compiled:
    """
    Compiles a contender for this machine as `lowerings.compile` does, without its cache.

    `time_limit`: seconds that a call may take; `check_bounds`: whether machine code checks its
    accesses to memory. Raises XlaError.
    """
    clock, machine = _Clock(), host()
    with clock.running(READING):
        lowering = lowering_of(contender, machine)
    passes = contender.passes(machine)
    manager = PassManager(make_context(), verify_each=False)
    lowered = lowering.run([each.module_pass for each in passes], manager)
    for each, timing in zip(passes, manager.timings, strict=True):
        part = each.group[-1] if each.group else OTHER_PASSES
        clock.add(part, timing.seconds + timing.verification_seconds)
    static = lowered.static.in_memory
    with clock.running(LLVM_IR):
        callbacks = Callbacks.of(declared_functions(lowering.module, {}, Observer()))
        emitted, arena_size = emit_entry(
            lowering.module,
            static,
            ENTRY_SYMBOL,
            machine,
            interruptible=True,
            check_bounds=check_bounds,
            threads=True,
        )
    with clock.running(LLVM):
        objects = object_parts(machine, emitted.text, thread_count(contender.num_threads))
    with clock.running(LOADING):
        code = CompiledCode(
            objects,
            ENTRY_SYMBOL,
            static,
            arena_size,
            emitted.constants,
            emitted.guards,
            emitted.has_tasks,
        )
        executable = Executable(
            code,
            callbacks=callbacks,
            num_threads=contender.num_threads,
            time_limit=time_limit,
        )
    sections = (section for each in objects for section in ObjectFileRef.from_data(each).sections())
    size = sum(section.size() for section in sections if section.is_text())
    time_taken = CompileTime(clock.parts, tuple(each.seconds for each in manager.timings))
    whole = pickle.dumps((objects, emitted.constants, arena_size))
    return Compiled(lowered.program(executable), whole, time_taken, size)


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
