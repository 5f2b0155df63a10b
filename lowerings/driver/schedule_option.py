"""The option of tools to run a program by a file of schedules: one of the pass that plans them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.passes import ModulePass

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import Machine

PLANNING = "xla-plan-schedules"
"""The pass, by name: it need not be loaded to be looked for."""


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
