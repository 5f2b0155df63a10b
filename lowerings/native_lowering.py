"""The way down of a function: from the xla level to that of loops."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.context import make_context
from lowerings.driver.entry import isolate_entry
from lowerings.driver.fusion_option import with_fusion
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.schedule_option import for_machine, with_schedules
from lowerings.driver.script_option import with_script
from lowerings.execution.dynamic_sizes import (
    LoweredSignatures,
    RunTimeCheck,
    run_time_checks,
    static_signature,
)
from lowerings.execution.executable import (
    aliased_results,
)
from lowerings.execution.signature import Signature, signature_of
from lowerings.expand.dynamic_dimensions.xla_expand_dynamic_dimensions import has_dynamic_dimensions
from lowerings.ir.functions import functions_of
from lowerings.layouts.entry_layout import entry_type
from lowerings.pipelines import LEVELS, NATIVE, pass_specs, with_profile
from lowerings.simplify.alias_attributes import donate_only
from lowerings.targets.llvm.machine import Machine
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry.names import ENTRY_SYMBOL
from xla_dialect.ops.process_groups import process_counts


class CompilationError(XlaError):
    """A program or an option that the compiler does not take."""


Donation: TypeAlias = Collection[int] | Literal["aliased"]
"""
The parameters, counted as in the signature, whose arrays callers give away at each call; `aliased`
are those that the program names itself (`input_output_alias`, `tf.aliasing_output`).

Compiled code puts results into their memory: those that the program names, for other parameters
the first result of the same type. `signature.aliases` tells which. No other array is ever changed.
"""


class Lowering:
    """
    A function on its way down the native pipeline, as the `@main` of its module.

    Executors of several levels can share it: each gets its program when the module is at its level,
    and that program is of use until the module is lowered further.
    """

    def __init__(
        self,
        module: ModuleOp,
        entry: str,
        donate: Donation = (),
        name: str | None = None,
        schedules: str | Path | None = None,
        fusion: str | Path | None = None,
        profile: bool = False,
        flush_subnormals: bool = False,
        transform_script: str | Path | None = None,
    ):
        """
        `name`: what callers know the function by, if it is another; `profile`: whether it is
        annotated with what profiles say of kernels; the others are those of `compile`.
        """
        self.module = module
        self._schedules = schedules
        self._fusion = fusion
        self._transform_script = transform_script
        self._options = profile, flush_subnormals
        self.level: str | None = None
        """The level that it has been brought to, if any."""
        self.signature = replace(signature_in(module, entry), name=name or entry)
        """What callers see, before anything is known of aliases."""
        self.process_counts = process_counts(module)
        """How many replicas, and partitions of each, it is for."""
        if donate != "aliased":
            _check_donated(donate, self.signature)
        isolate_entry(module, entry)
        manager = PassManager(make_context(), verify_each=False)
        if profile:
            manager.run(module, parse_passes("xla-name-operations"))
        if donate:
            # Aliases count the parameters and results that the signature has.
            manager.run(module, parse_passes("xla-inline,xla-flatten-tuples"))
        if donate != "aliased":
            donate_only(module, functions_of(module)[ENTRY_SYMBOL], donate)
        self._checks: tuple[RunTimeCheck, ...] = ()
        if has_dynamic_dimensions(module):
            # Callers need to know what the pass finds; nothing is left of it further down.
            manager.run(module, parse_passes(_WITHOUT_DYNAMIC_DIMENSIONS))
            self._checks = run_time_checks(functions_of(module)[ENTRY_SYMBOL])

    def to(self, level: str, machine: Machine) -> LoweredSignatures:
        """Brings the function to a level, which must not be above the one where it is."""
        done = 0 if self.level is None else len(self._passes_to(self.level, machine))
        passes = self._passes_to(level, machine)
        if self._schedules is not None:
            passes = with_schedules(passes, self._schedules, machine)
        if self._fusion is not None:
            passes = with_fusion(passes, self._fusion)
        assert len(passes) >= done, f"the module is at the level '{self.level}', below '{level}'"
        # What is printed for LLVM, LLVM verifies.
        manager = PassManager(make_context(), verify_each=False, verify_last=level != LEVELS[-1])
        lowered = self.run(passes[done:], manager)
        self.level = level
        return lowered

    def _passes_to(self, level: str, machine: Machine) -> tuple[ModulePass, ...]:
        passes = _native_passes(level, machine, *self._options)
        return with_script(passes, self._transform_script, at_the_end=False)

    def run(self, passes: Sequence[ModulePass], manager: PassManager) -> LoweredSignatures:
        """Runs passes, of whatever pipeline, on the function: the next on its way."""
        signature = self.signature
        static = static_signature(signature, has_status=bool(self._checks))
        manager.run(self.module, passes)
        main = functions_of(self.module)[ENTRY_SYMBOL]
        aliases = aliased_results(main, len(static.parameters))
        known = replace(signature, aliases=aliases)
        in_memory = known if static is signature else replace(static, aliases=aliases)
        return LoweredSignatures(known, in_memory, self._checks)


_WITHOUT_DYNAMIC_DIMENSIONS = "xla-inline,xla-flatten-tuples,xla-expand-dynamic-dimensions"
"""The first passes of the native pipeline."""


def _check_donated(donate: Collection[int], signature: Signature) -> None:
    for number in donate:
        if not 0 <= number < len(signature.parameters):
            raise CompilationError(
                f"there is no parameter {number} to give away; the signature is {signature}"
            )


def signature_in(module: ModuleOp, entry: str) -> Signature:
    """The signature of a function, with the layouts that its callers see."""
    function = functions_of(module)[entry]
    return signature_of(function, entry_type(module, function))


@cache
def _native_passes(
    level: str, machine: Machine, profile: bool, flush_subnormals: bool
) -> tuple[ModulePass, ...]:
    """
    The native pipeline down to a level, for the vectors that a machine has, with the passes for a
    profile where it is asked for.
    """
    stages = with_profile(NATIVE) if profile else NATIVE
    passes = parse_passes(",".join(pass_specs(stages, level)))
    return for_machine(passes, machine, flush_subnormals=flush_subnormals)
