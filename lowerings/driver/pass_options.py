"""
What options of tools and of the compiler change in a pipeline: schedules and a machine, fusion, a
script of the transform dialect, and what partitioning tells of itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.passes import ModulePass

from lowerings.driver.pass_manager import (
    PLANNING,
    PipelinePass,
    parse_passes,
    parse_pipeline,
)
from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import Machine


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


FUSION = ("linalg-plan-fusion", "linalg-fuse-producers-and-siblings")
"""The passes that plan, by name: they need not be loaded to be looked for."""


def with_fusion(
    passes: Sequence[ModulePass], file: str | Path | None, *, print_reasons: bool = False
) -> tuple[ModulePass, ...]:
    """Passes, the first of which that plans fusion takes what a file decides; and says why."""
    first = next((each for each in passes if each.name in FUSION), None)
    options = {"file": "" if file is None else str(file), "print_reasons": print_reasons}
    given = {name: value for name, value in options.items() if value}
    return tuple(replace(cast(Any, each), **given) if each is first else each for each in passes)


def with_script(
    passes: Sequence[ModulePass], script: str | Path | None, *, at_the_end: bool = True
) -> tuple[ModulePass, ...]:
    """
    Passes with the one that runs a script before schedules are planned; where they are not, at the
    end or not at all.
    """
    names = [each.name for each in passes]
    if not script or not (at_the_end or PLANNING in names):
        return tuple(passes)
    place = names.index(PLANNING) if PLANNING in names else len(names)
    (interpreter,) = parse_passes("transform-interpreter")
    run = replace(cast(Any, interpreter), script=str(script))
    return (*passes[:place], run, *passes[place:])


REPORT = "xla-report-communication"
BUFFERIZATION = "xla-bufferize"
PROPAGATION = "xla-propagate-shardings"
PARTITIONING = ("xla-partition", "xla-combine-collectives")
"""The passes after which a program is that of one device."""


def with_communication_report(pipeline: Sequence[PipelinePass]) -> tuple[PipelinePass, ...]:
    """Passes with the report, as soon as the program is that of one device: maybe at once."""
    places = [i for i, each in enumerate(pipeline, 1) if each.module_pass.name in PARTITIONING]
    place = max(places, default=0)
    return (*pipeline[:place], *parse_pipeline(REPORT), *pipeline[place:])


def with_explanation(pipeline: Sequence[PipelinePass]) -> tuple[PipelinePass, ...]:
    """Passes of which propagation explains itself; raises XlaError where there is none."""
    return _printing(pipeline, "--explain", PROPAGATION, "explain")


def with_printed_bufferization(pipeline: Sequence[PipelinePass]) -> tuple[PipelinePass, ...]:
    """Passes of which bufferization says what it copies; raises XlaError where there is none."""
    return _printing(pipeline, "--print-bufferization", BUFFERIZATION, "print_decisions")


def _printing(
    pipeline: Sequence[PipelinePass], option: str, name: str, field: str
) -> tuple[PipelinePass, ...]:
    if not any(each.module_pass.name == name for each in pipeline):
        raise XlaError(f"{option} is for pipelines with the pass {name}")
    return tuple(
        replace(each, module_pass=replace(cast(Any, each.module_pass), **{field: True}))
        if each.module_pass.name == name
        else each
        for each in pipeline
    )
