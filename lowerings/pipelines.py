"""The pipelines: which passes lead from which level to which. The compiler's table of contents.

A stage is one level and the passes that reach it from the level before; every stage can be run by
itself, printed, parsed again and verified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Stage:
    """A level of the intermediate representation and the passes that lead to it."""

    level: str
    passes: tuple[str, ...]
    """Pass specifications as on the command line, e.g. `vectorize{lanes=16}`."""


NATIVE: tuple[Stage, ...] = (
    Stage(
        "xla",
        (
            "xla-inline",
            "xla-flatten-tuples",
            "xla-expand-manual-computations",
            "xla-expand-dynamic-dimensions",
            "xla-expand-communication",
            # Whatever is compiled shall be computed by what was compiled, constants too.
            "xla-simplify{max_constant_bytes=0}",
            "xla-expand-compound",
            "xla-expand-bitcast",
            "xla-assign-layouts",
        ),
    ),
    Stage(
        "tensors",
        (
            "xla-expand-layouts",
            "convert-xla-to-scf",
            "convert-xla-to-linalg",
            "linalg-cse",
            "linalg-fold-reshapes-by-expansion",
            "linalg-fold-transposes",
            "linalg-fuse-producers-and-siblings",
        ),
    ),
    Stage("buffers", ("xla-bufferize", "xla-plan-buffers", "xla-outline-kernels")),
    Stage("schedules", ("xla-plan-schedules",)),
    Stage("loops", ("convert-linalg-to-vector-loops", "expand-small-floats", "expand-math")),
)
"""From a program in the xla dialect to the loops that the LLVM target prints."""

PARTITIONING: tuple[str, ...] = (
    "xla-inline",
    "xla-flatten-tuples",
    "xla-propagate-shardings",
    "xla-insert-reshards",
    "xla-reshard-to-collectives",
    "xla-partition",
)
"""From a program that says how its arrays are split to that of one device."""

PROFILE = {"tensors": "linalg-fuse-locations", "buffers": "xla-annotate-work"}
"""The last passes of levels where kernels are to be profiled; `xla-name-operations` comes first."""

PIPELINES: dict[str, tuple[Stage, ...]] = {"native": NATIVE}
"""By name, as `-p native` takes them."""

LEVELS: tuple[str, ...] = tuple(stage.level for stage in NATIVE)
"""The levels in lowering order."""


def with_profile(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """A pipeline with the passes that annotate what profiles say of kernels."""
    return tuple(
        replace(stage, passes=(*stage.passes, PROFILE[stage.level]))
        if stage.level in PROFILE
        else stage
        for stage in stages
    )


def stages_to(stages: tuple[Stage, ...], level: str | None = None) -> tuple[Stage, ...]:
    """The stages of a pipeline, up to and including a level if given."""
    names = [stage.level for stage in stages]
    return stages if level not in names else stages[: names.index(level) + 1]


def pass_specs(stages: tuple[Stage, ...], level: str | None = None) -> tuple[str, ...]:
    """The pass specifications of a pipeline, up to and including a level if given."""
    return tuple(spec for stage in stages_to(stages, level) for spec in stage.passes)
