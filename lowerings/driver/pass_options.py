"""
What options of tools and of the compiler change in a pipeline: schedules and a machine, fusion, a
script of the transform dialect, and what passes tell of themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

from lowerings.driver.pass_manager import (
    PLANNING,
    PipelinePass,
    parse_pipeline,
)
from xla_dialect.diagnostics import XlaError

FUSION = ("linalg-plan-fusion", "linalg-fuse-producers-and-siblings")
"""The passes that plan, by name: they need not be loaded to be looked for."""
SCHEDULES = (PLANNING,)
"""The pass that plans schedules."""
REPORT = "xla-report-communication"
PARTITIONING = ("xla-partition", "xla-combine-collectives")
"""The passes after which a program is that of one device."""

Pipeline: TypeAlias = Sequence[PipelinePass]


def with_values(
    pipeline: Pipeline, names: Collection[str], *, needed_by: str = "", **values: Any
) -> tuple[PipelinePass, ...]:
    """
    A pipeline in which the passes of one name have these values of their options: the first of the
    `names` that it has.

    Raises XlaError where it has none of them, if what it is `needed_by` is given.
    """
    name = next((each.module_pass.name for each in pipeline if each.module_pass.name in names), "")
    if needed_by and not name:
        raise XlaError(f"{needed_by} is for pipelines with the pass {' or '.join(names)}")
    return tuple(
        replace(each, module_pass=replace(cast(Any, each.module_pass), **values))
        if each.module_pass.name == name
        else each
        for each in pipeline
    )


def with_script(
    pipeline: Pipeline, script: object, *, at_the_end: bool = True
) -> tuple[PipelinePass, ...]:
    """
    A pipeline with the pass that runs a script before schedules are planned; where they are not, at
    the end or not at all.
    """
    names = [each.module_pass.name for each in pipeline]
    if not script or not (at_the_end or PLANNING in names):
        return tuple(pipeline)
    place = names.index(PLANNING) if PLANNING in names else len(names)
    run = parse_pipeline("transform-interpreter")
    run = with_values(run, ("transform-interpreter",), script=str(script))
    return (*pipeline[:place], *run, *pipeline[place:])


def with_communication_report(pipeline: Pipeline) -> tuple[PipelinePass, ...]:
    """A pipeline with the report, as soon as the program is that of one device: maybe at once."""
    places = [i for i, each in enumerate(pipeline, 1) if each.module_pass.name in PARTITIONING]
    place = max(places, default=0)
    return (*pipeline[:place], *parse_pipeline(REPORT), *pipeline[place:])
