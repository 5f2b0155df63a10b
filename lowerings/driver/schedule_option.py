"""What passes are told of a machine, and of a file of schedules."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.passes import ModulePass

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import Machine

PLANNING = "xla-plan-schedules"
"""The pass, by name: it need not be loaded to be looked for."""
_FUNCTIONS = "expand-math"


def with_schedules(
    passes: Sequence[ModulePass], file: str | Path, machine: Machine
) -> tuple[ModulePass, ...]:
    """Passes, those of which that plan schedules take what a file has for a machine first."""
    return tuple(
        replace(cast(Any, each), file=str(file), processor=machine.processor)
        if each.name == PLANNING
        else each
        for each in passes
    )


def for_machine(
    passes: Sequence[ModulePass], machine: Machine, *, flush_subnormals: bool = False
) -> tuple[ModulePass, ...]:
    """
    Passes, those of which that have no options work for a machine; with `flush_subnormals`, code
    may take subnormal numbers as zero.
    """
    return tuple(
        planned_for(each, machine, flush_subnormals=flush_subnormals)
        if each.name in (PLANNING, _FUNCTIONS) and each == type(each)()
        else each
        for each in passes
    )


def planned_for(
    module_pass: ModulePass,
    machine: Machine,
    *,
    given: Collection[str] = (),
    flush_subnormals: bool = False,
) -> ModulePass:
    """A pass, with what the machine says of its options, but for those that are `given`."""
    options: dict[str, Any]
    if module_pass.name == PLANNING:
        options = {
            "vector_bits": machine.vector_bits,
            "pair_products": machine.multiplies_pairs,
            "quad_products": machine.multiplies_quads,
            "pair_bfloats": flush_subnormals and machine.multiplies_bfloats,
        }
    elif module_pass.name == _FUNCTIONS:
        options = {"estimated_roots": machine.estimates_roots}
    else:
        return module_pass
    own = {name: value for name, value in options.items() if name not in given}
    return replace(cast(Any, module_pass), **own)
