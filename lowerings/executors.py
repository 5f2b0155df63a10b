"""
How each executor makes a program of a module, and the text of a program at each level, down to
assembly. All but machine code load theirs when asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from lowerings.backends import INTERPRETED_LEVELS, INTERPRETER, REFERENCE, Options, Program
from lowerings.driver.context import make_context
from lowerings.driver.entry import isolate_entry
from lowerings.driver.levels import level_of, wrong_level
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.function_signature import signature_of
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.observed_values import (
    Observation,
    ObservedProgram,
    observes,
    take_observations,
)
from lowerings.execution.rank_runs import (
    OnCompiled,
    compiled_once,
)
from lowerings.execution.runnable import KeepingArguments, Runnable
from lowerings.execution.signature import Signature
from lowerings.ir.functions import functions_of
from lowerings.kept_programs import loaded
from lowerings.native_lowering import Lowering, signature_in
from lowerings.pipelines import LEVELS
from lowerings.rewriting.levels import ON_BUFFERS
from lowerings.runtime import default_mode
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.linking import release


class ReferenceProgram(Runnable):
    """A program that the numpy reference interpreter runs."""

    def __init__(self, module: ModuleOp, options: Options):
        self.module = module
        self.entry = options.entry
        self.options = options
        self.signature = signature_of(functions_of(module)[options.entry])

    @default_mode()
    def __call__(self, *arguments: Any) -> tuple[NDArray[Any], ...]:
        """Interprets the program on numpy arrays; raises XlaError for unsuitable arguments."""
        from lowerings.execution.process_calls import run_on_reference  # noqa: PLC0415

        return run_on_reference(
            self.module,
            [np.asarray(argument) for argument in arguments],
            self.entry,
            observer=self.options.observer,
            custom_calls=self.options.python_functions(),
            **self.options.limits(),
        )


def compile_native(module: ModuleOp, options: Options) -> Program:
    if options.ranks is None or options.custom_calls:
        return _compile_here(module, options)
    return compiled_once(
        options.ranks,
        lambda on_compiled: _compile_here(module, options, on_compiled),
        lambda compiled: loaded(compiled, options),
    )


def _compile_here(
    module: ModuleOp, options: Options, on_compiled: OnCompiled | None = None
) -> Program:
    cached = options.cached
    if cached is not None and (found := cached.load()) is not None:
        if on_compiled is not None:
            on_compiled(found)
        return loaded(found, options)
    lowering = Lowering(module, options.entry, options.machine, options)
    program = native_program(lowering, options, on_compiled)
    release(module)
    return program


def native_program(
    lowering: Lowering, options: Options, on_compiled: OnCompiled | None = None
) -> Program:
    """Machine code for what is lowered to the last level; `on_compiled` gets what can be kept."""
    cached = options.cached
    machine = options.machine
    lowered, lower = lowering.to_functions()

    def keep(compiled: CompiledCode) -> None:
        # What is kept has no place for what callers of dynamic sizes need to know.
        if lowered.static is lowered.signature and not options.profile:
            counts = lowering.process_counts
            kept = replace(compiled, signature=lowered.signature, process_counts=counts)
            if cached is not None:
                cached.store(kept)
            if on_compiled is not None:
                on_compiled(kept)

    executable = compile_loops_module(
        lowering.module,
        lowered.static.in_memory,
        ENTRY_SYMBOL,
        options.custom_calls,
        options.observer,
        check_bounds=options.check_bounds,
        num_threads=options.num_threads,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
        on_compiled=keep,
        profile=options.profile,
        on_events=options.on_events,
        machine=machine,
        lower=lower,
    )
    program = lowered.program(executable)
    # What text decided that results take the memory of, this caller did not give away.
    keeps = lowering.is_entered_below and not options.donate and lowered.signature.aliases
    return KeepingArguments(program) if keeps else program


def compile_emulated(module: ModuleOp, options: Options) -> Program:
    """What the program observes become results: nothing of ours can be called where it runs."""
    emulation = options.emulated
    signature = signature_in(module, options.entry)
    isolate_entry(module, options.entry)
    observations: list[Observation] = []
    if observes(module):
        manager = PassManager(make_context(), verify_each=False)
        manager.run(module, parse_passes("xla-inline,xla-flatten-tuples"))
        main = functions_of(module)[ENTRY_SYMBOL]
        observations = take_observations(main, len(signature.results))
    lowering = Lowering(module, ENTRY_SYMBOL, options.machine, options, signature.name)
    lowered = lowering.to(LEVELS[-1])
    from lowerings.execution.emulator import compile_for_emulator  # noqa: PLC0415

    in_memory = compile_for_emulator(module, lowered.static.in_memory, emulation)
    program = lowered.program(in_memory)
    if not observations:
        return program
    signature = replace(signature, aliases=lowered.signature.aliases)
    return ObservedProgram(program, signature, observations, options.observer)


def compile_interpreted(module: ModuleOp, options: Options) -> Program:
    found = level_of(module)
    if found != LEVELS[0] and options.pipeline is None and options.level in (None, found):
        return _interpreter(module, options.entry, options)
    return interpreted_program(Lowering(module, options.entry, options.machine, options), options)


def interpreted_program(lowering: Lowering, options: Options) -> Program:
    """
    What the interpreter runs at the level of the options, by default where the function is, or the
    first that the interpreter knows.
    """
    here = lowering.begin()
    level = options.level or (here if here in ON_BUFFERS else INTERPRETED_LEVELS[0])
    lowered = lowering.to(level)
    in_memory = lowered.static.in_memory
    return lowered.program(_interpreter(lowering.module, ENTRY_SYMBOL, options, in_memory))


def compile_reference(module: ModuleOp, options: Options) -> Program:
    pipeline = options.pipeline
    if pipeline is not None:
        isolate_entry(module, options.entry)
        options = replace(options, entry=ENTRY_SYMBOL)
        PassManager(make_context()).run(module, parse_passes(pipeline))
    found = level_of(module)
    if found != LEVELS[0]:
        raise wrong_level(module, found, "the reference runs programs of the level 'xla'")
    return ReferenceProgram(module, options)


def _interpreter(
    module: ModuleOp, entry: str, options: Options, signature: Signature | None = None
) -> Program:
    from lowerings.interpreter import InterpretedProgram  # noqa: PLC0415

    return InterpretedProgram(
        module,
        entry,
        signature,
        custom_calls=options.custom_calls,
        observer=options.observer,
        **options.limits(),
    )


COMPILERS: dict[str, Callable[[ModuleOp, Options], Program]] = {
    "llvm": compile_native,
    REFERENCE: compile_reference,
    INTERPRETER: compile_interpreted,
    "riscv64": compile_emulated,
}
"""By the name of the backend."""


SOURCE_LEVEL = "stablehlo"
"""What JAX prints."""

TARGET_LEVELS = ("llvm", "x86-asm")
"""The targets that print what becomes of the lowest level of the pipeline."""

ALL_LEVELS = (SOURCE_LEVEL, *LEVELS, *TARGET_LEVELS)

LEVEL_OF_DIALECT = {"linalg": "tensors", "memref": "buffers", "scf": "loops", "vector": "loops"}
"""The level for those who ask for a dialect."""


def level_of_name(name: str) -> str:
    """The level of this name, or that of a dialect; raises XlaError where there is none."""
    level = LEVEL_OF_DIALECT.get(name, name)
    if level not in ALL_LEVELS:
        raise XlaError(f"there is no level '{name}' (there are: {', '.join(ALL_LEVELS)})")
    return level


def text_at(module: ModuleOp, level: str, options: Options) -> str:
    """
    A module of the xla level, which is used up, at another level, or for a target.

    Raises XlaError for a program that cannot be lowered so far.
    """
    lowering = Lowering(module, options.entry, options.machine, options)
    lowering.to(LEVELS[-1] if level in TARGET_LEVELS else level)
    if level not in TARGET_LEVELS:
        return print_mlir(module) + "\n"
    output = StringIO()
    toolkit_universe().all_targets[level]()().emit(make_context(), module, output)
    return output.getvalue()
